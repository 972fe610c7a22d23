// SPDX-License-Identifier: MIT
/*
 * next_test.c MAP - checks that next_find, in a program of its own, finds what the dynamic linker
 * finds, for each function in the version script MAP and in relax_calls.def, however loaded.c has
 * found the linker's list.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../../tests/filter_arm.h"
#include "check.h"
#include "loaded.h"
#include "next.h"

static int names;

static void same(const char *name)
{
	void *want = dlsym(RTLD_NEXT, name), *got = next_find(name);

	names++;
	if (!want) {
		/* Ask for a function that this libc has not. */
		errno = 0;
		CHECK(((long (*)(void))got)() == -1 && errno == ENOSYS);
	} else if (got != want) {
		fprintf(stderr, "%s is at %p, not %p\n", name, want, got);
		exit(1);
	}
}

static void same_in_map(const char *path)
{
	char word[64] = "";
	FILE *map = fopen(path, "r");
	size_t len = 0;
	int c;

	CHECK(map);
	while ((c = getc(map)) != EOF) {
		if (c == '#')
			while (c != '\n' && c != EOF)
				c = getc(map);
		if (isalnum(c) || c == '_') {
			CHECK(len < sizeof(word) - 1);
			word[len++] = c;
			continue;
		}
		word[len] = 0;
		if (c == ';' && len)
			same(word);
		len = 0;
	}
	fclose(map);
}

static void same_everywhere(const char *map)
{
	names = 0;
	same_in_map(map);
#define CALL(name, class) same(#name);
#include "relax/relax_calls.def"
#undef CALL
	same("there_is_no_such_function");
	CHECK(names > 300);
	CHECK(next_variable("environ") == dlsym(RTLD_DEFAULT, "environ"));
}

/* Nothing may ask the kernel for its description of the process. */
static void forbid_prctl(void)
{
	CHECK(!filter_arm(SYS_prctl, SECCOMP_RET_KILL_PROCESS, 0));
}

static const ElfW(auxv_t) * vector;

/* Has the kernel give a vector as PRoot leaves it: its loader is what the kernel started. */
static void replace_vector(void)
{
	static ElfW(auxv_t) other[64];
	int len = 0;

	for (const ElfW(auxv_t) *entry = vector; entry->a_type != AT_NULL && len < 20; entry++) {
		other[len] = *entry;
		if (entry->a_type == AT_BASE || entry->a_type == AT_PHNUM)
			other[len].a_un.a_val = 0;
		len++;
	}
	if (prctl(PR_SET_MM, PR_SET_MM_AUXV, other, (len + 1) * sizeof(*other), 0))
		printf("not run: a loader other than the kernel: PR_SET_MM: %s\n", strerror(errno));
	loaded_begin(vector);
}

/* Notes the vector as a kernel that cannot be asked puts it on the stack. */
static void note_old_vector(void)
{
	static ElfW(auxv_t) old[64];
	int len = 0;

	for (; vector->a_type != AT_NULL && len < 63; vector++)
		if (vector->a_type != 27)
			old[len++] = *vector;
	loaded_begin(old);
}

static void nothing(void) {}

int main(int argc, char **argv, char **envp)
{
	static void (*const before[])(void) = {nothing, forbid_prctl, note_old_vector,
					       replace_vector};

	CHECK(argc == 2);
	while (*envp)
		envp++;
	vector = (const ElfW(auxv_t) *)(envp + 1);
	loaded_begin(vector);
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		pid_t child = fork();
		int status;

		if (!child) {
			before[i]();
			same_everywhere(argv[1]);
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child && !status);
	}
	return 0;
}
