// SPDX-License-Identifier: MIT
/*
 * shrunk.c - shrunk LIBRARY: calls functions of a library, cuts its file short, and calls others of
 * it, which so need what a recorder has not read yet.  The library itself is this file with
 * SHRUNK_LIBRARY: one page of it is code, which stays in memory.
 */
#include <sys/syscall.h>

#ifdef SHRUNK_LIBRARY

int shrunk_early(int depth);
int shrunk_late(int depth);

static int call(long number)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "0"(number) : "rcx", "r11", "memory");
	return (int)ret;
}

/* Different stacks: each depth is one. */
__attribute__((noinline)) int shrunk_early(int depth)
{
	return depth ? shrunk_early(depth - 1) + 1 : call(SYS_getppid);
}

__attribute__((noinline)) int shrunk_late(int depth)
{
	return depth ? shrunk_late(depth - 1) + 1 : call(SYS_getuid);
}

#else

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#define TURNS 200

int main(int argc, char **argv)
{
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	int (*early)(int) = library ? (int (*)(int))dlsym(library, "shrunk_early") : NULL;
	int (*late)(int) = library ? (int (*)(int))dlsym(library, "shrunk_late") : NULL;
	volatile int sum = 0;

	if (!early || !late) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	sum += late(0);
	for (int i = 0; i < TURNS; i++)
		sum += early(i % 5);
	/* A recorder that does not stop us gets a chance to read the file as it was. */
	usleep(300000);
	/* What is mapped after the code is gone now. */
	if (truncate(argv[argc - 1], 0x2000)) {
		perror(argv[argc - 1]);
		return 1;
	}
	for (int i = 0; i < TURNS; i++)
		sum += late(i % 7) + early(i % 9);
	_exit(0);
}

#endif
