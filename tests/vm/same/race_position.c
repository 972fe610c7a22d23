// SPDX-License-Identifier: MIT
/*
 * race_position.c - reads in two processes from one open file, whose words are all different:
 * whichever reads, each word is read once.
 */
#include <cosy/fast.h>
#include "race.h"

enum { WORDS = 4096 };

struct share {
	volatile uint32_t begun;
	uint8_t seen[WORDS + 1];
};

/* The state of the readers, in the shared buffer. */
struct reading {
	uint32_t count, by_view;
	uint64_t word[WORDS + 1];
};

static void read_words(struct reading *reading, int file)
{
	COSY_START;
	while (reading->count <= WORDS) {
		uint64_t *to = &reading->word[reading->count];

		if ((reading->by_view ? cosy_read(file, to, sizeof(*to))
				      : read(file, to, sizeof(*to))) <= 0)
			break;
		reading->count++;
	}
	COSY_END;
}

static void read_plainly(struct share *share, int file)
{
	uint64_t word;

	share->begun = 1;
	while (read(file, &word, sizeof(word)) > 0)
		__atomic_fetch_add(&share->seen[word % (WORDS + 1)], 1, __ATOMIC_RELAXED);
	_exit(0);
}

static void share_once(struct reading *reading, struct share *share)
{
	int file = open("words", O_RDONLY), status;
	uint32_t wrong = 0, at = 0;
	pid_t pid;

	MUST(file >= 0);
	memset(share, 0, sizeof(*share));
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		read_plainly(share, file);
	while (!share->begun)
		;
	reading->count = 0;
	read_words(reading, file);
	MUST(waitpid(pid, &status, 0) == pid && !status && !close(file));
	for (uint32_t i = 0; i < reading->count; i++)
		share->seen[reading->word[i] % (WORDS + 1)]++;
	for (uint32_t i = 0; i < WORDS; i++)
		if (share->seen[i] != 1 && !wrong++)
			at = i;
	CHECK(!wrong, "%u words not read once; the first, %u, %u times%s", wrong, at,
	      share->seen[at], reading->by_view ? " (views)" : "");
}

int race_position(uint64_t steps)
{
	struct reading *reading = cosy_calloc(1, sizeof(*reading));
	struct share *share = shared_memory(sizeof(*share));
	int file = open("words", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	uint64_t rounds = 0, words = 0;

	MUST(reading && file >= 0);
	for (uint64_t i = 0; i < WORDS; i++)
		reading->word[i] = i;
	MUST(write(file, reading->word, WORDS * sizeof(uint64_t)) == WORDS * sizeof(uint64_t) &&
	     !close(file));
	for (; rounds < steps && !check_failures; rounds++) {
		reading->by_view = rounds % 2;
		share_once(reading, share);
		words += reading->count;
	}
	printf("position: %llu rounds, %llu words of %llu read by regions\n",
	       (unsigned long long)rounds, (unsigned long long)words,
	       (unsigned long long)rounds * WORDS);
	/* Both must have taken part. */
	CHECK(words && words < rounds * WORDS, "one alone has read everything");
	unlink("words");
	return check_end();
}
