// Functions on memory are the C standard's, unless the compiler is told that they are not.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=STANDARD
// RUN: %cosycc -O2 -Rcosy -fno-builtin -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: %cosycc -O2 -Rcosy -ffreestanding -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: %cosycc -O2 -Rcosy -fno-builtin-strlen -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: %cosycc -O2 -Rcosy -fno-builtin -DHEADER -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=STANDARD
// RUN: %if links %{ %cosycc -Wno-cosy -O2 -fno-builtin -DMAIN %s %S/Inputs/own.c -o %t %}
// RUN: %if links %{ env COSY_MODE=interp %t | FileCheck %s --check-prefix=RAN %}
#include <cosy/cosy.h>
#include <stdio.h>
#ifdef HEADER
#include <string.h>
#else
size_t strlen(const char *);
#endif

size_t f(const char *s)
{
	size_t n;

	COSY_START;
	n = strlen(s);
	COSY_END;
	return n;
}
// STANDARD: region compiled
// OWN: freestanding.c:[[@LINE-5]]:6: warning: {{.*}} a call of 'strlen', which no header of the C library declares

#ifdef MAIN
int main(int argc, char **argv)
{
	(void)argv;
	printf("%zu\n", f(argc ? "A" : ""));
	return 0;
}
#endif
// RAN: 65
