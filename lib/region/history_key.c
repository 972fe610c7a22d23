/* SPDX-License-Identifier: MIT */
/*
 * history_key.c - see history_key.h.
 */
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "mix.h"
#include "region/history_key.h"
#include "region/region.h"

/* Notes are short; a longer segment, which some tools make, is read up to here. */
#define MAX_NOTES 1024

/* 0: not computed yet.  Threads that compute it at the same time store the same. */
static uint64_t identity;

static uint64_t digest_bytes(uint64_t digest, const unsigned char *bytes, size_t size)
{
	uint64_t word;

	for (; size >= sizeof(word); bytes += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		digest = cosy_mix(digest, word);
	}
	return digest;
}

/* The main program's headers, as the kernel mapped them; `bias` is where its address 0 is. */
struct program {
	const ElfW(Phdr) * headers;
	size_t count;
	uintptr_t bias;
};

static bool is_loaded(const struct program *program, const ElfW(Phdr) * part)
{
	for (size_t i = 0; i < program->count; i++) {
		const ElfW(Phdr) *load = &program->headers[i];

		if (load->p_type == PT_LOAD && part->p_vaddr >= load->p_vaddr &&
		    part->p_vaddr - load->p_vaddr <= load->p_filesz &&
		    part->p_filesz <= load->p_filesz - (part->p_vaddr - load->p_vaddr))
			return true;
	}
	return false;
}

static uint64_t digest_notes(uint64_t digest, const struct program *program)
{
	for (size_t i = 0; i < program->count; i++) {
		const ElfW(Phdr) *part = &program->headers[i];
		size_t size = part->p_filesz < MAX_NOTES ? part->p_filesz : MAX_NOTES;

		if (part->p_type == PT_NOTE && is_loaded(program, part))
			digest =
				digest_bytes(digest,
					     (const unsigned char *)(program->bias + part->p_vaddr),
					     size);
	}
	return digest;
}

/* Returns the main program's identity, or 1 if the kernel did not pass its program headers. */
static uint64_t program_identity(void)
{
	struct program program = {
		.headers = (const ElfW(Phdr) *)getauxval(AT_PHDR),
		.count = getauxval(AT_PHNUM),
	};
	const size_t size = sizeof(*program.headers);
	uint64_t digest = 1;

	if (!program.headers || getauxval(AT_PHENT) != size)
		return digest;
	digest = digest_bytes(digest, (const unsigned char *)program.headers, program.count * size);
	for (size_t i = 0; i < program.count; i++) {
		/* Only this header says where a program is that can be loaded anywhere. */
		if (program.headers[i].p_type != PT_PHDR)
			continue;
		program.bias = (uintptr_t)program.headers - program.headers[i].p_vaddr;
		digest = digest_notes(digest, &program);
	}
	return digest ? digest : 1;
}

struct cosy_history_key libcosy_history_key(const struct cosy_region *region)
{
	uint64_t program = __atomic_load_n(&identity, __ATOMIC_RELAXED);
	struct cosy_history_key key;

	if (!program) {
		program = program_identity();
		__atomic_store_n(&identity, program, __ATOMIC_RELAXED);
	}
	key.words[0] = cosy_mix(region->key[0], program);
	key.words[1] = cosy_mix(region->key[1], program);
	if (!(key.words[0] | key.words[1]))
		key.words[0] = 1;
	return key;
}
