// RUN: not env COSY_CLANG=/nonexistent %cosycc -c %s 2>&1 | FileCheck %s
// CHECK: cosycc: error: cannot run /nonexistent: No such file
int x;
