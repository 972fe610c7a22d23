// Without -g there are line tables, where COSY_START may be; a -g that is given holds.
// RUN: %cosycc -### -c %s 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: %cosycc -### -g -c %s 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: %cosycc -### -g0 -c %s 2>&1 | FileCheck %s --check-prefix=NONE
// How debug information is written does not matter.
// RUN: %cosycc -### -gz -gsplit-dwarf -gcolumn-info -c %s 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: %cosycc -### -gdwarf-4 -c %s 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: %cosycc -### -gz -ggdb3 -c %s 2>&1 | FileCheck %s --check-prefix=FULL
// LINES: -debug-info-kind=line-tables-only
// FULL: -debug-info-kind=constructor
// NONE-NOT: -debug-info-kind
int x;
