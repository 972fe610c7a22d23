// SPDX-License-Identifier: MIT
/*
 * next_test.c MAP - next_find, in a program of its own, finds what the dynamic linker finds, for
 * each function in the version script MAP and in relax_calls.def.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../next.h"
#include "check.h"

static int names;

static void same(const char *name)
{
	void *want = dlsym(RTLD_NEXT, name), *got = next_find(name);

	names++;
	if (!want) {
		/* A function that this libc has not got. */
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

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	same_in_map(argv[1]);
#define CALL(name, class) same(#name);
#include "../relax_calls.def"
#undef CALL
	same("there_is_no_such_function");
	CHECK(names > 300);
	return 0;
}
