// RUN: cp %plugin %t.so
// RUN: env COSY_PLUGIN=%t.so %cosycc -### -c %s 2>&1 | FileCheck %s
// CHECK: "-fpass-plugin={{.*}}plugin-given.c.tmp.so"
int x;
