// A region of a library stays native if the dynamic linker has bound a function of it elsewhere than
// to libc: to the library's own or its dependency's, under RTLD_DEEPBIND, or to what an auditor
// names.  Other libraries and programs have compounds as ever.
// REQUIRES: links
// DEFINE: %{run} = env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1
// DEFINE: %{check} = FileCheck %s --check-prefix=
// RUN: %clang -O2 %S/Inputs/plugin.c -o %t.host
// RUN: %clang -O2 -fPIC -shared %S/Inputs/preload.c -o %t.other.so
// RUN: %cosycc -O2 -fPIC -Werror=cosy -c %s -o %t.o

// RUN: %cosycc -shared %t.o -o %t.plain.so && %cosycc -shared -Wl,-z,now %t.o -o %t.now.so
// RUN: %{run} %t.host %t.plain.so now flat 2>&1 | %{check}PLAIN
// RUN: %{run} %t.host %t.plain.so lazy flat 2>&1 | %{check}PLAIN
// RUN: %{run} %t.host %t.plain.so now deep 2>&1 | %{check}PLAIN
// RUN: %{run} %t.host %t.plain.so lazy deep 2>&1 | %{check}PLAIN
// PLAIN-NOT: stays native
// PLAIN: 0
// PLAIN: regions=1{{ }}
// PLAIN-SAME: native=0

// Libraries after libc, of which one has the function.
// RUN: %cosycc -shared -fPIC %t.o %S/Inputs/preload.c -o %t.own.so
// RUN: %cosycc -shared %t.o %t.other.so -o %t.linked.so
// RUN: %{run} %t.host %t.own.so now flat 2>&1 | %{check}PLAIN
// RUN: %{run} %t.host %t.linked.so now flat 2>&1 | %{check}PLAIN
// RUN: %{run} %t.host %t.own.so now deep 2>&1 | %{check}DEEP
// RUN: %{run} %t.host %t.own.so lazy deep 2>&1 | %{check}DEEP
// RUN: %{run} %t.host %t.linked.so now deep 2>&1 | %{check}DEEP
// RUN: %{run} %t.host %t.linked.so lazy deep 2>&1 | %{check}DEEP
// DEEP: cosy: bound.c:[[#]] regions stays native: getuid() is that of {{.*}}.so here, not libc's
// DEEP: 1
// DEEP: regions=1{{ }}
// DEEP-SAME: native=1

// A library that was there at the start is bound as the program is.
// RUN: %cosycc -O2 -DMAIN %s %t.plain.so -o %t.main && %cosycc -O2 -DMAIN %s %t.now.so -o %t.main.now
// RUN: %{run} %t.main 2>&1 | %{check}PLAIN
// RUN: %{run} %t.main.now 2>&1 | %{check}PLAIN

// Auditors.  A program that is bound when it starts shows what its auditor has done.
// RUN: %clang -O2 -fPIC -shared -DREDIRECT %S/Inputs/audit.c -o %t.redirect.so
// RUN: %clang -O2 -fPIC -shared %S/Inputs/audit.c -o %t.audit.so
// RUN: %cosycc -O2 -DMAIN -DREGIONS %s -o %t.audited && %cosycc -O2 -DMAIN -DREGIONS %s -Wl,-z,now -o %t.audited.now
// RUN: env LD_AUDIT=%t.redirect.so %{run} %t.audited 2>&1 | %{check}AUDITED
// RUN: env LD_AUDIT=%t.redirect.so %{run} %t.audited.now 2>&1 | %{check}AUDITED
// RUN: env LD_AUDIT=%t.redirect.so %{run} %t.main 2>&1 | %{check}AUDITED
// RUN: env LD_AUDIT=%t.audit.so %{run} %t.audited.now 2>&1 | %{check}PLAIN
// RUN: env LD_AUDIT=%t.audit.so %{run} %t.main.now 2>&1 | %{check}PLAIN
// AUDITED: cosy: bound.c:[[#]] regions stays native: getuid() may be an auditor's here (LD_AUDIT), not libc's
// AUDITED: 1
// AUDITED: regions=1{{ }}
// AUDITED-SAME: native=1
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int regions(void);

#if !defined(MAIN) || defined(REGIONS)
int regions(void)
{
	int n = 0;

	COSY_START;
	n = getuid();
	COSY_END;
	printf("%d\n", n == 4711);
	fflush(stdout);
	return 0;
}
#endif

#ifdef MAIN
int main(void)
{
	return regions();
}
#endif
