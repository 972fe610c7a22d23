// Without -g there are line tables, where COSY_START may be; a -g that is given holds.
// RUN: %cosycc -### -c %s 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: %cosycc -### -g -c %s 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: %cosycc -### -g0 -c %s 2>&1 | FileCheck %s --check-prefix=NONE
// LINES: -debug-info-kind=line-tables-only
// FULL: -debug-info-kind=constructor
// NONE-NOT: -debug-info-kind
int x;
