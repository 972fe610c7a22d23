// A region stays native if a function that it has a system call for is not libc's but that of a preloaded
// or linked library, or of the program itself, exported, hidden or by --wrap, also if all is
// linked statically.  Another region goes on being a compound.
// REQUIRES: links
// DEFINE: %{check} = FileCheck %s --check-prefix=
// RUN: %cosycc -O2 -fPIC -shared %S/Inputs/preload.c -o %t.so
// RUN: %cosycc -O2 -fPIC -shared -Wl,--hash-style=sysv %S/Inputs/preload.c -o %t.sysv.so
// RUN: %cosycc -O2 -Werror=cosy -c %s -o %t.o
// RUN: %cosycc -O2 -Werror=cosy -fno-pie -c %s -o %t.nopie.o

// RUN: %cosycc %t.o -o %t && %cosycc -no-pie %t.nopie.o -o %t.nopie
// RUN: %cosycc -fno-plt -O2 %s -Wl,-z,now -o %t.now && %cosycc -static %t.o -o %t.static
// RUN: %cosycc -static-pie %t.o -o %t.staticpie
// RUN: %if gold %{ %cosycc -fuse-ld=gold %t.o -o %t.gold %}
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t 2>&1 | %{check}PLAIN
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.nopie 2>&1 | %{check}PLAIN
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.now 2>&1 | %{check}PLAIN
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.static 2>&1 | %{check}PLAIN
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.staticpie 2>&1 | %{check}PLAIN
// RUN: %if gold %{ env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.gold 2>&1 | %{check}PLAIN %}
// PLAIN-NOT: stays native
// PLAIN: 2 0
// PLAIN: regions=2{{ }}
// PLAIN-SAME: native=0

// RUN: env LD_PRELOAD=%t.so COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t 2>&1 | %{check}LIBRARY
// RUN: env LD_PRELOAD=%t.sysv.so COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t 2>&1 | %{check}LIBRARY
// RUN: env LD_PRELOAD=%t.so COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.nopie 2>&1 | %{check}LIBRARY
// RUN: %cosycc %t.o %t.so -o %t.linked
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.linked 2>&1 | %{check}LIBRARY
// LIBRARY: cosy: interposed.c:[[#]] whose stays native: getuid() is that of {{.*}}.so here, not libc's
// LIBRARY: 2 1
// LIBRARY: regions=2{{ }}
// LIBRARY-SAME: native=1

// RUN: %cosycc %t.o %S/Inputs/preload.c -o %t.own
// RUN: %cosycc %t.o %S/Inputs/hidden.c -o %t.hidden
// RUN: %cosycc %t.o %S/Inputs/wrap.c -Wl,--wrap=getuid -o %t.wrap
// RUN: %cosycc -no-pie %t.nopie.o %S/Inputs/hidden.c -o %t.hidden.nopie
// RUN: %cosycc -static %t.o %S/Inputs/preload.c -o %t.own.static
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.own 2>&1 | %{check}OWN
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.hidden 2>&1 | %{check}OWN
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.wrap 2>&1 | %{check}OWN
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.hidden.nopie 2>&1 | %{check}OWN
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.own.static 2>&1 | %{check}OWN
// A function of the program's may be a jump through memory, as a PLT entry is, or a library's under
// another name.
// RUN: %cosycc -O2 -c %S/Inputs/jump.c -o %t.jump.o
// RUN: %cosycc -O2 -fcf-protection -c %S/Inputs/jump.c -o %t.jump.ibt.o
// RUN: %cosycc -O2 -fPIC -shared %S/Inputs/wrap.c -o %t.wrap.so
// RUN: %cosycc %t.o %t.jump.o -o %t.jump && %cosycc -no-pie %t.nopie.o %t.jump.ibt.o -o %t.jump.nopie
// RUN: %cosycc -static %t.o %t.jump.o -o %t.jump.static
// RUN: %cosycc -static-pie %t.o %t.jump.ibt.o -o %t.jump.staticpie
// RUN: %cosycc %t.o %t.wrap.so -Wl,--wrap=getuid -o %t.wrap.linked
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.jump 2>&1 | %{check}OWN
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.jump.nopie 2>&1 | %{check}OWN
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.jump.static 2>&1 | %{check}OWN
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.jump.staticpie 2>&1 | %{check}OWN
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.wrap.linked 2>&1 | %{check}OWN
// RUN: %if gold %{ %cosycc -fuse-ld=gold %t.o %t.jump.o -o %t.jump.gold %}
// RUN: %if gold %{ env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.jump.gold 2>&1 | %{check}OWN %}
// OWN: cosy: interposed.c:[[#]] whose stays native: getuid() is the program's own here, not libc's
// OWN: 2 1
// OWN: regions=2{{ }}
// OWN-SAME: native=1

// It may even jump through the GOT.
// RUN: %cosycc -O2 -fno-plt -DGOT -c %S/Inputs/jump.c -o %t.got.o
// RUN: %cosycc %t.o %t.got.o -o %t.got && %cosycc -Wl,-z,now %t.o %t.got.o -o %t.got.now
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.got 2>&1 | %{check}GOT
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.got.now 2>&1 | %{check}GOT
// GOT: cosy: interposed.c:[[#]] whose stays native: getuid() is the program's own here, not libc's
// GOT: regions=2{{ }}
// GOT-SAME: native=1

// A sanitizer's read() means libc's.
// RUN: %cosycc -O1 -fsanitize=address -DREAD %s -o %t.asan
// RUN: env ASAN_OPTIONS=detect_leaks=0 COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.asan 2>&1 | %{check}PLAIN
// Unless another definition comes after it, which it calls.
// RUN: %cosycc -O2 -fPIC -shared -DREAD %S/Inputs/preload.c -o %t.read.so
// RUN: env LD_PRELOAD=%t.read.so ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.asan 2>&1 | %{check}READ
// READ: cosy: interposed.c:[[#]] whose stays native: read() is that of {{.*}}.read.so here, not libc's
// READ: regions=2{{ }}
// READ-SAME: native=1
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static int processes(void)
{
	int n = 0;

	COSY_START;
	n = (getpid() > 0) + (getppid() > 0);
	COSY_END;
	return n;
}

static int whose(void)
{
	int n = 0;

	COSY_START;
#ifdef READ
	char byte;

	n = read(-1, &byte, 1) + 1;
#else
	n = getuid();
#endif
	COSY_END;
	return n;
}

int main(void)
{
	int a = processes(), b = whose();

	printf("%d %d\n", a, b == 4711);
	fflush(stdout);
	return 0;
}
