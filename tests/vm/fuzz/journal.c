// SPDX-License-Identifier: MIT
/*
 * journal.c - a disk whose content outlives this machine.  Each worker has 16 KB, which tell what
 * it executes: as text, or as indices from which fuzz.py makes the text; the corpus comes after
 * them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

enum { NOTE = 16384, KEPT = 1 << 20, BLOCK = 4096 };

static int disk = -1;
static char *note;

void journal_init(void)
{
	disk = open("/dev/vda", O_RDWR | O_DIRECT | O_CLOEXEC);
	if (disk >= 0 && posix_memalign((void **)&note, BLOCK, NOTE))
		exit(2);
}

void journal_note(uint32_t worker, uint64_t index, uint32_t count)
{
	if (disk < 0)
		return;
	memset(note, 0, BLOCK);
	sprintf(note, "# lot %llu %u\n", (unsigned long long)index, count);
	if (pwrite(disk, note, BLOCK, worker * NOTE) < 0)
		perror("journal");
}

void journal_note_text(uint32_t worker, uint64_t index, const struct sequence *sequence)
{
	size_t size;

	if (disk < 0)
		return;
	memset(note, 0, NOTE);
	size = (size_t)sprintf(note, "# sequence %llu\n", (unsigned long long)index);
	size += sequence_write(sequence, note + size, NOTE - size) + 1;
	size = (size + BLOCK - 1) & -(size_t)BLOCK;
	if (pwrite(disk, note, size, worker * NOTE) < 0)
		perror("journal");
}

/* Writes as many whole blocks as there are.  Returns the bytes that are left in the note. */
static size_t blocks_write(size_t used, off_t *at, size_t limit)
{
	while (used >= limit) {
		if (pwrite(disk, note, BLOCK, *at) < 0)
			perror("journal");
		*at += BLOCK;
		used = used > BLOCK ? used - BLOCK : 0;
		memmove(note, note + BLOCK, used);
		memset(note + used, 0, NOTE - used);
		if (!used)
			break;
	}
	return used;
}

void journal_keep(void)
{
	off_t at = KEPT;
	size_t used = 0;

	if (disk < 0)
		return;
	memset(note, 0, NOTE);
	for (uint32_t i = 0; i < shared->corpus_cnt; i++) {
		used += sequence_write(&shared->corpus[i], note + used, NOTE - used);
		note[used++] = '\n';
		used = blocks_write(used, &at, BLOCK);
	}
	blocks_write(used, &at, 1);
	memset(note, 0, NOTE);
	blocks_write(1, &at, 1);
}
