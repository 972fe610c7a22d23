// -fcosy-suggest marks the loop at a line, or the innermost around it, as one is marked by hand.
// RUN: %ir -fcosy-suggest=suggest.c:35 %s -Rcosy 2>&1 | FileCheck %s
// RUN: %ir -fcosy-suggest=%s:36 %s -Rcosy 2>&1 | FileCheck %s
// RUN: %ir -DBY_HAND %s -Rcosy 2>&1 | FileCheck %s
// CHECK: suggest.c:35:{{.*}}remark: region compiled
// RUN: %ir -fcosy-suggest=suggest.c:34 %s -Rcosy 2>&1 | FileCheck --check-prefix=OUTER %s
// OUTER: suggest.c:34:{{.*}}remark: region compiled
// A program's other files are compiled with the same option; -fno-cosy takes no notice of it.
// RUN: %cosycc -fcosy-suggest=other.c:30 %s -Rcosy -c -o %t.o 2>&1 | count 0
// RUN: %cosycc -fno-cosy -fcosy-suggest=suggest.c:35 %s -Rcosy -c -o %t.o 2>&1 | count 0
// RUN: not %cosycc -fcosy-suggest=suggest.c:32 %s -c -o %t.o 2>&1 | FileCheck --check-prefix=NONE %s
// NONE: error: -fcosy-suggest=suggest.c:32: no loop begins there, or is around it, that can be marked
// RUN: not %cosycc -fcosy-suggest=suggest.c %s -c -o %t.o 2>&1 | FileCheck --check-prefix=FORM %s
// FORM: error: -fcosy-suggest=suggest.c: FILE:LINE is wanted
// RUN: not %cosycc -fcosy-suggest=suggest.c:50 %s -c -o %t.o 2>&1 | FileCheck --check-prefix=LABEL %s
// LABEL: suggest.c:50:{{.*}}error: -fcosy-suggest=suggest.c:50: a label is in it, to which a goto outside of it jumps
// RUN: not %cosycc -fcosy-suggest=suggest.c:64 %s -c -o %t.o 2>&1 | FileCheck --check-prefix=CASE %s
// CASE: suggest.c:64:{{.*}}error: -fcosy-suggest=suggest.c:64: a case of a switch around it is in it
#include <cosy/cosy.h>
#ifdef BY_HAND
#define BEGIN COSY_START;
#define END COSY_END;
#else
#define BEGIN
#define END
#endif
#include <unistd.h>

long total(int fd, int turns)
{
	char buffer[16];
	long all = 0, n;

	for (int i = 0; i < turns; i++) {
		BEGIN while ((n = read(fd, buffer, sizeof(buffer))) > 0)
			all += n;
		END
	}
	return all;
}

long jumps(int fd, int turns)
{
	char buffer[16];
	long n = 0;

	if (turns)
		goto inside;

	while (turns--) {
inside:
		n += read(fd, buffer, sizeof(buffer));
	}
	return n;
}

long duff(int fd, int turns)
{
	char buffer[16];

	switch (turns % 2)
	{
	case 0:
		do {
			read(fd, buffer, sizeof(buffer));
	case 1:
			read(fd, buffer, sizeof(buffer));
		} while ((turns -= 2) > 0);
	}
	return 0;
}
