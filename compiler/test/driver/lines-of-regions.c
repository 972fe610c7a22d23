// Without -g, line tables are asked for where the program's text may hold a
// region: in the file, in a header of the program's, in one of -include.  A
// file without a region gets clang's object, byte for byte.
// RUN: rm -rf %t && mkdir -p %t/include && cd %t
// RUN: echo 'int x(void) { return 1; }' > none.c
// RUN: echo 'void f(void) { COSY_START; COSY_END; }' > include/marks.h
// RUN: echo '#include "marks.h"' > beside.h && cp include/marks.h marks.h
// RUN: echo '#include "beside.h"' > quoted.c
// RUN: echo '#  include <marks.h>' > folder.c
// RUN: printf '#define H "marks.h"\n#include H\n' > computed.c
// RUN: %cosycc -### -c %s 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: %cosycc -### -c quoted.c 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: rm marks.h
// RUN: %cosycc -### -c quoted.c 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %cosycc -### -c folder.c 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %cosycc -### -Iinclude -c folder.c 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: %cosycc -### -c none.c 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %cosycc -### -include include/marks.h -c none.c 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: %cosycc -### -c computed.c 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: %cosycc -### -c -x c - 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: env CPATH=include %cosycc -### -c none.c 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: %cosycc -### -fcosy-suggest=none.c:1 -c none.c 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: mkdir -p folder/stdlib && echo '#include <stdlib>' > named.c && echo '#import "marks.h"' > imported.c
// RUN: %cosycc -### -Ifolder -c named.c 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %cosycc -### -Iinclude -c imported.c 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: echo 'int z(void) { return 3; }' | %cosycc -x c -c -o piped.o /dev/stdin && nm piped.o | FileCheck %s --check-prefix=PIPED
// PIPED: T z
// LINES: -debug-info-kind=line-tables-only
// NONE-NOT: -debug-info-kind
//
// A name in a comment brings line tables, and the pass drops them, unless
// coverage needs them or the debug information is not cosycc's.
// RUN: echo 'int y(void) { return 2; } /* COSY_START */' > comment.c
// RUN: %clang -O0 -c none.c -o plain.o
// RUN: %cosycc -O0 -c none.c -o cosy.o && cmp plain.o cosy.o
// RUN: %clang -O2 -c none.c -o plain.o
// RUN: %cosycc -O2 -c none.c -o cosy.o && cmp plain.o cosy.o
// RUN: %clang -O0 -c comment.c -o plain.o
// RUN: %cosycc -O0 -c comment.c -o cosy.o && cmp plain.o cosy.o
// RUN: %clang -O2 -c comment.c -o plain.o
// RUN: %cosycc -O2 -c comment.c -o cosy.o && cmp plain.o cosy.o
// RUN: %cosycc -O2 --coverage -c comment.c -o covered.o && test -e covered.gcno
// RUN: echo -g > debug.cfg && %cosycc --config ./debug.cfg -c comment.c -o cosy.o
// RUN: llvm-dwarfdump cosy.o | FileCheck %s --check-prefix=DEBUG
// DEBUG: DW_AT_type
#include <cosy/cosy.h>
void g(void)
{
	COSY_START;
	COSY_END;
}
