// SPDX-License-Identifier: MIT
/*
 * fuzz_elf.c - a hostile ELF file in a recorded program: its copies are made, stacks are unwound
 * through it, and its code is looked at.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "advise/code.h"
#include "record/functions.h"
#include "record/image.h"
#include "record/space.h"

#define BASE  0x10000000
#define SIZE  0x4000
#define WORDS 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];

static void path_remove(void)
{
	unlink(path);
}

static bool file_write(const uint8_t *data, size_t size)
{
	int fd;
	bool ret;

	if (!*path) {
		snprintf(path, sizeof(path), "/dev/shm/fuzz-elf-%d", (int)getpid());
		atexit(path_remove);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ret = fd >= 0 && write(fd, data, size) == (ssize_t)size;
	if (fd >= 0)
		close(fd);
	return ret;
}

static void event_take(void *context, const struct event *event)
{
	(void)context;
	if (event_check(event, event->size))
		abort();
}

/* Takes stacks whose words are addresses in the file, from many places in it. */
static void stacks_take(void)
{
	static uint64_t words[WORDS];
	struct record_sink sink = {event_take, NULL};
	struct objects *objects = objects_create(&sink);
	struct space *space = objects ? space_create(objects, getpid()) : NULL;

	if (!space)
		abort();
	space_code(space, path, BASE, SIZE, 0);
	space_program(space, path, BASE + 64, 0);
	space_program(space, path, BASE + 64, BASE + 0x100000);
	for (unsigned int i = 0; i < WORDS; i++)
		words[i] = BASE + i * 61 % SIZE;
	for (uint64_t at = 0; at < SIZE; at += 29) {
		struct space_registers registers = {.ip = BASE + at,
						    .sp = 0x7fff0000,
						    .bp = 0x7fff0000 + at % 512 * 8,
						    .words = words,
						    .n_words = WORDS};

		space_stack(space, &registers);
	}
	space_destroy(space);
	objects_destroy(objects);
}

/* Looks at all functions that the file says it has, and at some that it has not. */
static void code_take(void)
{
	struct codes *codes = codes_create();
	struct functions functions = {NULL, 0, 0};
	int copy = image_copy_path(path, IMAGE_FRAMES);
	Elf *elf = copy >= 0 ? elf_begin(copy, ELF_C_READ_MMAP, NULL) : NULL;

	if (!codes)
		abort();
	if (elf && elf_kind(elf) == ELF_K_ELF && functions_find(elf, &functions))
		for (size_t i = 0; i < functions.n && i < 64; i++) {
			uint64_t function = functions_at(&functions, i);

			for (unsigned int j = 1; j < 40; j += 3)
				code_look(codes, path, function, function + j);
		}
	code_look(codes, path, 0, UINT64_MAX);
	code_look(codes, path, UINT64_MAX - 8, 4);
	if (elf)
		elf_end(elf);
	if (copy >= 0)
		close(copy);
	codes_destroy(codes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int copy;

	if (!file_write(data, size))
		return 0;
	stacks_take();
	code_take();
	copy = image_copy_path(path, IMAGE_NAMES);
	if (copy >= 0)
		close(copy);
	return 0;
}
