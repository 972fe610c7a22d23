// clang's exit status and diagnostics come through.
// RUN: not %cosycc -c %s -o %t.o 2>&1 | FileCheck %s
// CHECK: errors.c:[[@LINE+1]]:1: error: unknown type name 'nonsense'
nonsense x;
