// RUN: not env COSY_PLUGIN=/nonexistent.so %cosycc -c %s -o %t.o 2>&1 | FileCheck %s
// CHECK: cosycc: error: no plugin at /nonexistent.so (set COSY_PLUGIN)
int x;
