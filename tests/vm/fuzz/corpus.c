// SPDX-License-Identifier: MIT
/* corpus.c - the sequences that are mutated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

void corpus_add(const struct sequence *sequence)
{
	uint32_t unlocked = 0, at;

	while (!atomic_compare_exchange_weak(&shared->corpus_lock, &unlocked, 1))
		unlocked = 0;
	/* When it is full, another makes room. */
	at = shared->corpus_cnt < MAX_CORPUS ? shared->corpus_cnt
					     : (uint32_t)chance_below(MAX_CORPUS);
	shared->corpus[at] = *sequence;
	if (at == shared->corpus_cnt)
		shared->corpus_cnt++;
	shared->corpus_lock = 0;
}

void corpus_read(const char *path)
{
	static struct sequence sequence;
	static char text[8 << 20];
	FILE *file = fopen(path, "r");
	const char *at = text;

	if (!file) {
		perror(path);
		exit(2);
	}
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	while (sequence_read(&at, &sequence))
		corpus_add(&sequence);
}

void corpus_next(uint64_t index, bool guided, struct sequence *ret)
{
	uint32_t count = guided ? shared->corpus_cnt : 0;
	struct sequence other;

	chance_seed(options.seed, index);
	if (!count || !chance_below(4)) {
		sequence_generate(ret);
		return;
	}
	*ret = shared->corpus[chance_below(count)];
	other = shared->corpus[chance_below(count)];
	if (other.count)
		sequence_mutate(ret, &other);
}
