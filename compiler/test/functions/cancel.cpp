// A thread that is cancelled in a region runs the clean-ups around it: a region that has some stays native
// where threads are cancelled, others go on being compounds, and where no object of the process refers to
// pthread_cancel all do.
// REQUIRES: links
// RUN: %cosycc -x c++ -O2 -DPLUGIN -fPIC -shared %s -o %t.so
// RUN: %cosyc++ -O2 -Werror=cosy %s -o %t && %cosyc++ -O2 -static %s -o %t.static
// RUN: %cosyc++ -O2 -DLATER='"%t.so"' %s -o %t.later
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t 2>&1 | FileCheck %s
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.static 2>&1 | FileCheck %s
// RUN: env COSY_MODE=interp COSY_DEBUG=1 COSY_STATS=1 %t.later 2>&1 | FileCheck %s --check-prefix=LATER
// CHECK: cancel.cpp:[[#]] {{.*}}guarded{{.*}} stays native: a thread cancelled in it has handlers or clean-ups to run
// CHECK: guarded: cancelled, cleaned 1
// CHECK-NOT: stays native
// CHECK: inlined: cancelled, cleaned 1
// CHECK: regions=2{{ }}
// CHECK-SAME: native=1{{ }}
// A plugin that cancels is loaded when the region with the clean-up has run as a compound already.
// LATER-NOT: stays native
// LATER: guarded: cancelled, cleaned 1
// LATER: inlined: cancelled, cleaned 1
// LATER: regions=3{{ }}
// LATER-SAME: native=1{{ }}
#include <cosy/cosy.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#ifdef PLUGIN
extern "C" int cancel(pthread_t thread) { return pthread_cancel(thread); }
#else

static int wire[2];
static volatile int cleaned;

struct guard {
	~guard() { cleaned = cleaned + 1; }
};

static void __attribute__((noinline)) guarded(int fd)
{
	char c;
	guard g;

	COSY_START;
	while (read(fd, &c, 1) >= 0)
		;
	COSY_END;
}

/* The clean-up is of the function that this one is inlined into. */
static inline __attribute__((always_inline)) void region(int fd)
{
	char c;

	COSY_START;
	while (read(fd, &c, 1) >= 0)
		;
	COSY_END;
}

static void __attribute__((noinline)) inlined(int fd)
{
	guard g;

	region(fd);
}

static void *job(void *f)
{
	((void (*)(int))f)(wire[0]);
	return NULL;
}

static int (*cancel)(pthread_t);

static void try_one(const char *name, void (*f)(int))
{
	pthread_t thread;
	void *result;

	cleaned = 0;
	pthread_create(&thread, NULL, job, (void *)f);
	cancel(thread);
	pthread_join(thread, &result);
	printf("%s: %s, cleaned %d\n", name, result == PTHREAD_CANCELED ? "cancelled" : "ended", cleaned);
	fflush(stdout);
}

int main()
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (pipe(wire))
		return 1;
#ifdef LATER
	guarded(-1);
	cancel = (int (*)(pthread_t))dlsym(dlopen(LATER, RTLD_NOW), "cancel");
#else
	cancel = pthread_cancel;
#endif
	try_one("guarded", guarded);
	try_one("inlined", inlined);
	return 0;
}
#endif
