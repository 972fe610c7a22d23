// SPDX-License-Identifier: MIT
/* code.c - see code.h. */
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/by_path.h"
#include "advise/code.h"
#include "advise/insn.h"
#include "record/functions.h"
#include "record/image.h"

/* Longest function that is looked through. */
#define MAX_FUNCTION (1 << 18)

struct code_file {
	struct by_path by_path;
	int fd;	  /* of a copy */
	Elf *elf; /* NULL: it cannot be read */
};

struct codes {
	struct by_path *files;
	struct decoder *decoder;
};

/* Branches whose other way is still to be gone. */
#define MAX_BRANCHES 4096

/* A function's code. */
struct code {
	const uint8_t *bytes;
	struct decoder *decoder;
	uint64_t start;
	size_t size;
	const struct code_range *ranges; /* the parts to be decoded; none: all of it */
	unsigned int n_ranges;
};

struct codes *codes_create(void)
{
	struct codes *codes = calloc(1, sizeof(*codes));

	if (!codes)
		return NULL;
	elf_version(EV_CURRENT);
	codes->decoder = decoder_create();
	if (codes->decoder)
		return codes;
	free(codes);
	return NULL;
}

static void code_close(void *dropped)
{
	struct code_file *file = dropped;

	if (file->elf)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
}

void codes_destroy(struct codes *codes)
{
	if (!codes)
		return;
	by_path_drop(&codes->files, code_close);
	decoder_destroy(codes->decoder);
	free(codes);
}

static void code_open(void *made, void *context)
{
	struct code_file *file = made;
	const char *path = file->by_path.path;

	(void)context;
	file->fd = *path == '/' ? image_copy_path(path, IMAGE_CODE) : -1;
	if (file->fd < 0)
		return;
	file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	if (file->elf && elf_kind(file->elf) != ELF_K_ELF) {
		elf_end(file->elf);
		file->elf = NULL;
	}
}

static struct code_file *code_file(struct codes *codes, const char *path)
{
	return by_path_get(&codes->files, path, sizeof(struct code_file), code_open, NULL);
}

/*
 * True if memory at `address` is read-only once all names are bound, as entries of the GOT may be.
 */
static bool code_fixed(const struct code_file *file, uint64_t address)
{
	GElf_Phdr segment;
	size_t n;

	if (elf_getphdrnum(file->elf, &n))
		return false;
	for (size_t i = 0; i < n && gelf_getphdr(file->elf, i, &segment); i++)
		if (segment.p_type == PT_GNU_RELRO && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_memsz)
			return true;
	return false;
}

/* Returns where the next function begins; of the last, where the longest would end.  0: unknown. */
static uint64_t code_end(const struct code_file *file, uint64_t function)
{
	struct functions functions;
	size_t next;

	if (!functions_find(file->elf, &functions) || !functions.n)
		return 0;
	next = functions_below(&functions, function);
	return next < functions.n ? functions_at(&functions, next) : function + MAX_FUNCTION;
}

/* Ways through a function that are still to be gone, and bytes that were there. */
struct walk {
	const struct code *code;
	uint32_t branches[MAX_BRANCHES];
	unsigned int n;
	bool lost; /* it may lead anywhere */
	bool been[MAX_FUNCTION];
};

static bool code_has(const struct code *code, uint64_t at)
{
	for (unsigned int i = 0; i < code->n_ranges; i++)
		if (code->start + at >= code->ranges[i].from &&
		    code->start + at < code->ranges[i].to)
			return true;
	return !code->n_ranges;
}

/* Keeps a branch for later.  One out of the function is a call at its end. */
static void walk_later(struct walk *walk, int64_t to)
{
	if (to < 0 || (uint64_t)to >= walk->code->size || walk->been[to])
		return;
	if (walk->n == MAX_BRANCHES)
		walk->lost = true;
	else
		walk->branches[walk->n++] = to;
}

/*
 * Goes straight on from a place until the function ends or was there.  The way of a call that was
 * interrupted is not gone: to make it again is no loop.
 */
static void walk_on(struct walk *walk, int64_t at)
{
	const struct code *code = walk->code;
	bool interrupted = false;

	while (at >= 0 && (uint64_t)at < code->size && !walk->been[at] && code_has(code, at)) {
		struct insn insn;
		unsigned int len =
			insn_decode(code->decoder, code->bytes + at, code->size - at, &insn);
		int64_t next = at + len, to = at + insn.target;

		walk->been[at] = true;
		if (!len || insn.kind == INSN_END)
			return;
		if (insn.kind == INSN_POINTER_JUMP)
			walk->lost = true;
		if (insn.kind == INSN_JUMP || (interrupted && insn.kind == INSN_BRANCH_UNEQUAL))
			next = to;
		else if (insn.kind == INSN_BRANCH || insn.kind == INSN_BRANCH_UNEQUAL ||
			 (insn.kind == INSN_BRANCH_EQUAL && !interrupted))
			walk_later(walk, to);
		interrupted = insn.kind == INSN_COMPARE_EINTR;
		at = next;
	}
}

/* True if control in the function may pass from one place to the other. */
static bool code_reaches(const struct code *code, uint32_t from, uint32_t to)
{
	struct walk *walk = calloc(1, sizeof(*walk));
	bool ret;

	if (!walk)
		return true;
	walk->code = code;
	walk->branches[walk->n++] = from;
	while (walk->n && !walk->lost && !walk->been[to])
		walk_on(walk, walk->branches[--walk->n]);
	ret = walk->lost || walk->been[to];
	free(walk);
	return ret;
}

/* Finds how the call that returns to `address` is made, and whether it is in a loop. */
static enum code_call code_scan(const struct code_file *file, const struct code *code,
				uint64_t address)
{
	size_t at = 0, end = address - code->start;
	struct insn insn;
	unsigned int len;

	for (; at < end; at += len) {
		len = insn_decode(code->decoder, code->bytes + at, code->size - at, &insn);
		if (!len || at + len > end)
			return CODE_UNKNOWN;
		if (at + len == end)
			break;
	}
	if (at >= end)
		return CODE_UNKNOWN;
	if (insn.kind == INSN_POINTER_CALL ||
	    (insn.kind == INSN_MEMORY_CALL && !code_fixed(file, code->start + at + insn.target)))
		return CODE_POINTER;
	if (insn.kind != INSN_CALL && insn.kind != INSN_MEMORY_CALL)
		return CODE_UNKNOWN;
	return code_reaches(code, end, at) ? CODE_LOOP : CODE_ONCE;
}

static enum code_call code_look_within(struct codes *codes, const char *path, struct code code,
				       uint64_t address)
{
	struct code_file *file = code_file(codes, path);
	uint64_t function = code.start;
	uint64_t end = file && file->elf ? code_end(file, function) : 0;

	if (!end || address < function || address > end)
		return CODE_UNKNOWN;
	code.decoder = codes->decoder;
	code.bytes = elf_bytes(file->elf, function, &code.size);
	if (!code.bytes)
		return CODE_UNKNOWN;
	if (code.size > end - function)
		code.size = end - function;
	return code.size > MAX_FUNCTION ? CODE_UNKNOWN : code_scan(file, &code, address);
}

enum code_call code_look(void *codes, const char *path, uint64_t function, uint64_t address)
{
	return code_look_within(codes, path, (struct code){.start = function}, address);
}

bool code_loops_within(struct codes *codes, const char *path, uint64_t function, uint64_t address,
		       const struct code_range *ranges, unsigned int n)
{
	struct code code = {.start = function, .ranges = ranges, .n_ranges = n};

	return code_look_within(codes, path, code, address) == CODE_LOOP;
}
