// SPDX-License-Identifier: MIT
/*
 * gen_compounds.c - builds the compounds of <cosy/files.h> by <cosy/builder.h>, and prints them as
 * constants: files_compounds.h.
 *
 * A variable is a word of the compound's context, in the order in which it is made: the structures
 * of compounds.h have the same members in the same order.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cosy/builder.h>
#include <linux/cosy.h>

#include "files/compounds.h"

/* --- The compounds ---------------------------------------------------------------------------- */

/*
 * Closes a directory, opens the next one, and lists it with attributes until it is at its end or
 * the buffer is full.
 */
static void build_list(struct cosy_builder *b)
{
	int closing = cosy_var(b), dirfd = cosy_var(b), name = cosy_var(b);
	int open_flags = cosy_var(b), fd = cosy_var(b), flags = cosy_var(b), to = cosy_var(b);
	int room = cosy_var(b), bytes = cosy_var(b), more = cosy_var(b);

	cosy_if(b, cosy_ref(closing), COSY_GE, cosy_int(0));
	cosy_close(b, COSY_NO_VAR, cosy_ref(closing));
	cosy_end(b);
	cosy_if(b, cosy_ref(name), COSY_NE, cosy_int(0));
	cosy_openat(b, fd, cosy_ref(dirfd), cosy_ref(name), cosy_ref(open_flags), cosy_int(0));
	cosy_end(b);
	cosy_if(b, cosy_ref(fd), COSY_GE, cosy_int(0));
	cosy_do(b);
	cosy_scan_dir(b, more, cosy_ref(fd), cosy_ref(to), cosy_ref(room), cosy_ref(flags));
	cosy_if(b, cosy_ref(more), COSY_LE, cosy_int(0));
	cosy_break(b);
	cosy_end(b);
	cosy_arith(b, bytes, cosy_ref(bytes), COSY_ADD, cosy_ref(more));
	cosy_arith(b, to, cosy_ref(to), COSY_ADD, cosy_ref(more));
	cosy_arith(b, room, cosy_ref(room), COSY_SUB, cosy_ref(more));
	cosy_do_while(b, cosy_ref(room), COSY_GE, cosy_int(MIN_LIST_ROOM));
	cosy_end(b);
}

/* Makes statx of each name, and stores its result. */
static void build_stat(struct cosy_builder *b)
{
	int dirfd = cosy_var(b), flags = cosy_var(b), mask = cosy_var(b), names = cosy_var(b);
	int results = cosy_var(b), end = cosy_var(b), name = cosy_var(b), to = cosy_var(b);
	int error = cosy_var(b);

	cosy_while(b, cosy_ref(results), COSY_ULT, cosy_ref(end));
	cosy_load_from(b, name, cosy_ref(names), cosy_int(0), COSY_64);
	cosy_arith(b, to, cosy_ref(results), COSY_ADD,
		   cosy_int(offsetof(struct cosy_stat_result, statx)));
	cosy_statx(b, error, cosy_ref(dirfd), cosy_ref(name), cosy_ref(flags), cosy_ref(mask),
		   cosy_ref(to));
	cosy_store_to(b, cosy_ref(results), cosy_int(0), COSY_64, cosy_ref(error));
	cosy_arith(b, names, cosy_ref(names), COSY_ADD, cosy_int(sizeof(char *)));
	cosy_arith(b, results, cosy_ref(results), COSY_ADD,
		   cosy_int(sizeof(struct cosy_stat_result)));
	cosy_end(b);
}

/*
 * Reads each file, one after the other in the buffer, until one may not have fitted or a signal
 * interrupts.  That file stays open, because what a FIFO or terminal has given cannot be read
 * again.
 */
static void build_read(struct cosy_builder *b)
{
	int dirfd = cosy_var(b), flags = cosy_var(b), paths = cosy_var(b), results = cosy_var(b);
	int end = cosy_var(b), to = cosy_var(b), limit = cosy_var(b), fd = cosy_var(b);
	int bytes = cosy_var(b), some = cosy_var(b), scratch = cosy_var(b);

	cosy_while(b, cosy_ref(results), COSY_ULT, cosy_ref(end));
	cosy_assign(b, bytes, cosy_int(0));
	cosy_load_from(b, scratch, cosy_ref(paths), cosy_int(0), COSY_64);
	cosy_openat(b, fd, cosy_ref(dirfd), cosy_ref(scratch), cosy_ref(flags), cosy_int(0));
	cosy_if(b, cosy_ref(fd), COSY_EQ, cosy_int(-EINTR));
	cosy_break(b);
	cosy_end(b);
	cosy_if(b, cosy_ref(fd), COSY_LT, cosy_int(0));
	cosy_assign(b, bytes, cosy_ref(fd));
	cosy_else(b);
	cosy_do(b);
	cosy_arith(b, scratch, cosy_ref(limit), COSY_SUB, cosy_ref(to));
	cosy_read(b, some, cosy_ref(fd), cosy_ref(to), cosy_ref(scratch));
	cosy_if(b, cosy_ref(some), COSY_LE, cosy_int(0));
	cosy_break(b);
	cosy_end(b);
	cosy_arith(b, bytes, cosy_ref(bytes), COSY_ADD, cosy_ref(some));
	cosy_arith(b, to, cosy_ref(to), COSY_ADD, cosy_ref(some));
	cosy_do_while(b, cosy_ref(to), COSY_ULT, cosy_ref(limit));
	cosy_if(b, cosy_ref(some), COSY_GT, cosy_int(0));
	cosy_break(b);
	cosy_end(b);
	cosy_if(b, cosy_ref(some), COSY_EQ, cosy_int(-EINTR));
	cosy_break(b);
	cosy_end(b);
	cosy_close(b, COSY_NO_VAR, cosy_ref(fd));
	cosy_assign(b, fd, cosy_int(-1));
	cosy_if(b, cosy_ref(some), COSY_LT, cosy_int(0));
	cosy_arith(b, to, cosy_ref(to), COSY_SUB, cosy_ref(bytes));
	cosy_assign(b, bytes, cosy_ref(some));
	cosy_end(b);
	cosy_end(b);
	cosy_store_to(b, cosy_ref(results), cosy_int(0), COSY_64, cosy_ref(bytes));
	cosy_arith(b, results, cosy_ref(results), COSY_ADD, cosy_int(sizeof(int64_t)));
	cosy_arith(b, paths, cosy_ref(paths), COSY_ADD, cosy_int(sizeof(char *)));
	cosy_arith(b, to, cosy_ref(to), COSY_ADD, cosy_int(7));
	cosy_arith(b, to, cosy_ref(to), COSY_AND, cosy_int(~7ll));
	cosy_arith(b, scratch, cosy_ref(limit), COSY_SUB, cosy_ref(to));
	cosy_if(b, cosy_ref(scratch), COSY_LT, cosy_int(MIN_READ_ROOM));
	cosy_break(b);
	cosy_end(b);
	cosy_end(b);
}

/* --- Printing --------------------------------------------------------------------------------- */

/* Returns a digest by FNV-1a, with another start for each of two words. */
static uint64_t digest(const unsigned char *bytes, size_t count, uint64_t start)
{
	for (size_t i = 0; i < count; i++)
		start = (start ^ bytes[i]) * 0x100000001b3;
	return start;
}

/* The hash of DT_GNU_HASH. */
static uint32_t name_hash(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

/* Prints struct cosy_premises as words: names, of at most 15 bytes, follow the calls. */
static void print_premises(const char *compound, const char *functions)
{
	char copy[128], *name, *rest;
	char names[8][16] = {0};
	uint32_t words[4], count = 0;

	strcpy(copy, functions);
	for (name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
		strcpy(names[count++], name);
	printf("static const uint32_t premises_%s[] = {0, %u,\n", compound, count);
	for (uint32_t i = 0; i < count; i++)
		printf("\t0x%08x, %u, 0,\n", name_hash(names[i]),
		       (count - i) * 12 - 4 + i * (uint32_t)sizeof(names[i]));
	for (uint32_t i = 0; i < count; i++) {
		memcpy(words, names[i], sizeof(words));
		printf("\t0x%08x, 0x%08x, 0x%08x, 0x%08x, /* %s */\n", words[0], words[1], words[2],
		       words[3], names[i]);
	}
	printf("};\n");
}

static void print_compound(const char *name, void (*build)(struct cosy_builder *b),
			   const char *functions)
{
	char title[64];
	struct cosy_builder *b;
	struct cosy_error error;
	uint64_t *words;
	size_t size;

	snprintf(title, sizeof(title), "cosy/files.h: %s", name);
	b = cosy_builder_create(title);
	build(b);
	if (cosy_compile(b, (void **)&words, &size, &error)) {
		fprintf(stderr, "gen_compounds: %s: statement %u: %s\n", name, error.statement,
			error.reason);
		exit(1);
	}
	printf("\nstatic const uint64_t compound_%s[] = {", name);
	for (size_t i = 0; i < size / 8; i++)
		printf("%s0x%016llx,", i % 4 ? " " : "\n\t", (unsigned long long)words[i]);
	printf("\n};\n");
	printf("#define COMPOUND_%s_KEY {0x%016llx, 0x%016llx}\n", name,
	       (unsigned long long)digest((unsigned char *)words, size, 0xcbf29ce484222325),
	       (unsigned long long)digest((unsigned char *)words, size, 0x6c62272e07bb0142));
	printf("#define COMPOUND_%s_CTX %u\n", name, ((struct cosy_compound *)words)->ctx_size);
	print_premises(name, functions);
	free(words);
	cosy_builder_destroy(b);
}

int main(void)
{
	printf("/* SPDX-License-Identifier: MIT */\n"
	       "/* files_compounds.h - generated by lib/files/gen_compounds.c. */\n");
	/* With each, the functions of libc's in whose place it makes system calls. */
	print_compound("list", build_list, "openat close getdents64 fstatat");
	print_compound("stat", build_stat, "statx");
	print_compound("read", build_read, "openat read close");
	return ferror(stdout) || fflush(stdout);
}
