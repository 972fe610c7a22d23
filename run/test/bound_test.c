// SPDX-License-Identifier: MIT
/*
 * bound_test.c LIBRARY - closes and moves specialised descriptors by functions that the dynamic
 * linker has found in libc itself, past this library: by a handle, in a namespace of their own, or
 * for LIBRARY (bound.c), which is loaded RTLD_DEEPBIND.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

#include "check.h"
#include "raw.h"
#include "specialised.h"

static const char *library;

static void closes(void *function)
{
	int fd = specialised();

	CHECK(function && !((int (*)(int))function)(fd));
	means_a_pipe(fd);
}

static void seeks(void *function)
{
	int fd = specialised();
	char byte;

	CHECK(function && ((off_t(*)(int, off_t, int))function)(fd, 500, SEEK_SET) == 500);
	CHECK(read(fd, &byte, 1) == 1 && byte == (char)500);
	CHECK(!close(fd));
}

static void handles(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW), *other = dlopen(library, RTLD_NOW);

	CHECK(libc && other);
	closes(dlsym(libc, "close"));
	closes(dlsym(libc, "__close"));
	closes(dlvsym(libc, "close", "GLIBC_2.2.5"));
	closes(dlsym(other, "close"));
	closes(dlsym(other, "bound_close"));
	closes(dlsym(dlopen(NULL, RTLD_NOW), "close"));
	closes(dlsym(RTLD_DEFAULT, "close"));
	closes(dlsym(RTLD_NEXT, "close"));
	closes(dlvsym(RTLD_NEXT, "close", "GLIBC_2.2.5"));
	seeks(dlsym(libc, "lseek"));
	/* Even dlsym can be found so. */
	closes(((__typeof__(&dlsym))dlsym(libc, "dlsym"))(libc, "close"));
}

/* What this library does not wrap is found as ever, and what is not there is not. */
static void other_names_are_found_as_ever(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW);

	CHECK(((pid_t(*)(void))dlsym(libc, "getpid"))() == getpid());
	CHECK(dlsym(RTLD_DEFAULT, "getpid") == dlsym(libc, "getpid"));
	CHECK(!dlerror());
	CHECK(!dlsym(libc, "there_is_no_such_function") && dlerror());
	CHECK(!dlsym(RTLD_DEFAULT, "there_is_no_such_function") && dlerror());
	CHECK(!dlvsym(libc, "close", "GLIBC_1.0") && dlerror());
	CHECK(!dlopen("there/is/no/such/library", RTLD_NOW) && dlerror());
}

static void namespaces(void)
{
	int fd = specialised();
	void *libc = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);

	CHECK(libc);
	CHECK(!((int (*)(int))dlsym(libc, "close"))(fd));
	means_a_pipe(fd);
}

static void deep_bindings(void)
{
	int fd = specialised();
	void *other = dlopen(library, RTLD_NOW | RTLD_DEEPBIND);

	CHECK(other);
	CHECK(!((int (*)(int))dlsym(other, "bound_close"))(fd));
	means_a_pipe(fd);
}

/* Runs a test in a process of its own, since it ends windows. */
static void apart(void (*test)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		test();
		_exit(7);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	library = argv[1];
	path_make("bound");
	apart(namespaces);
	apart(deep_bindings);
	handles();
	other_names_are_found_as_ever();
	unlink(path);
	return 0;
}
