// -w drops warnings, but -Rcosy still reports each region.
// RUN: %cosycc -w -Rcosy -O2 -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %cosycc -Rcosy -w -O2 -fcosy-suggest=silent.c:38 -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=SUGGESTED
// SUGGESTED: silent.c:38:{{.*}}remark: region {{compiled|stays native}}
// RUN: %cosycc -w -O2 -c %s -o %t.o 2>&1 | count 0
// RUN: not %cosycc -w -Werror=cosy -O2 -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=FAILS
// CHECK-DAG: silent.c:{{.*}}: remark: region compiled
// CHECK-DAG: silent.c:{{.*}}: remark: region stays native: a call of 'fclose': libc's streams are in user space
// FAILS: error: {{.*}}stays native
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

void closes(FILE *f)
{
	COSY_START;
	fclose(f);
	COSY_END;
}

long compiled(int n)
{
	long s = 0;

	COSY_START;
	for (int i = 0; i < n; i++)
		s += getppid();
	COSY_END;
	return s;
}

extern int other(int value);

long suggested(int n)
{
	long s = 0;

	for (int i = 0; i < n; i++)
		s += other(getppid());
	return s;
}
