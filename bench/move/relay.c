// SPDX-License-Identifier: MIT
/*
 * relay.c - measures a relay between two pipes that looks at 64 bytes of each message, in
 * instructions per message under `vm.py run --icount`; least of many.  Built by cosycc: the last
 * ways are regions.
 *
 * The same process fills the one pipe before and empties the other one after what is timed, and
 * compares the bytes that came and the sums of what was looked at.
 */
#include <fcntl.h>

#include <cosy/cosy.h>

#include "move.h"

#define MESSAGES 8
#define ROUNDS	 6
#define WORDS	 8 /* 64 bytes */

static int in[2], out[2];
static char *memory, *plain;

static inline uint64_t words_sum(const uint64_t *words)
{
	uint64_t sum = 0;

	for (int i = 0; i < WORDS; i++)
		sum += words[i];
	return sum;
}

/* --- Ways: each passes on MESSAGES of `bytes`, and returns the sum of their heads ------------- */

static uint64_t read_write(size_t bytes)
{
	uint64_t sum = 0;

	for (int k = 0; k < MESSAGES; k++) {
		read_all(in[0], plain, bytes);
		sum += words_sum((const uint64_t *)plain);
		write_all(out[1], plain, bytes);
	}
	return sum;
}

/* Cannot look. */
static uint64_t splices(size_t bytes)
{
	for (int k = 0; k < MESSAGES; k++)
		for (size_t done = 0; done < bytes;)
			done += (size_t)TRY(splice(in[0], NULL, out[1], NULL, bytes - done, 0));
	return 0;
}

static uint64_t moves(size_t bytes)
{
	uint64_t sum = 0;

	for (int k = 0; k < MESSAGES; k++) {
		transfer_all(in[0], memory, bytes, 0);
		sum += words_sum((const uint64_t *)memory);
		loan_all(out[1], memory, bytes);
	}
	return sum;
}

static uint64_t region_read_write(size_t bytes)
{
	uint64_t sum = 0;

	COSY_START;
	for (int k = 0; k < MESSAGES; k++) {
		if (read(in[0], plain, bytes) != (ssize_t)bytes)
			break;
		for (int i = 0; i < WORDS; i++)
			sum += ((const uint64_t *)plain)[i];
		if (write(out[1], plain, bytes) != (ssize_t)bytes)
			break;
	}
	COSY_END;
	return sum;
}

static uint64_t region_moves(size_t bytes)
{
	uint64_t sum = 0;

	COSY_START;
	for (int k = 0; k < MESSAGES; k++) {
		if (cosy_transfer(in[0], memory, bytes, 0) != (ssize_t)bytes)
			break;
		for (int i = 0; i < WORDS; i++)
			sum += ((const uint64_t *)memory)[i];
		if (cosy_loan(out[1], memory, bytes, 0) != (ssize_t)bytes)
			break;
	}
	COSY_END;
	return sum;
}

static uint64_t region_looks(size_t bytes)
{
	uint64_t sum = 0;

	COSY_START;
	for (int k = 0; k < MESSAGES; k++) {
		uint64_t words[WORDS];

		if (cosy_transfer(in[0], memory, bytes, 0) != (ssize_t)bytes)
			break;
		cosy_look(words, memory, sizeof(words));
		for (int i = 0; i < WORDS; i++)
			sum += words[i];
		if (cosy_loan(out[1], memory, bytes, 0) != (ssize_t)bytes)
			break;
	}
	COSY_END;
	return sum;
}

static const struct {
	const char *name;
	uint64_t (*pass)(size_t bytes);
	bool looks;
} relays[] = {
	{"read, write", read_write, true},
	{"splice (cannot look)", splices, false},
	{"transfer, touched, loan", moves, true},
	{"region: read, write", region_read_write, true},
	{"region: transfer, touched, loan", region_moves, true},
	{"region: transfer, look, loan", region_looks, true},
};

/* --- Measuring -------------------------------------------------------------------------------- */

/* Returns the instructions of one round, per message. */
static long round_measure(size_t way, size_t bytes, char *from)
{
	uint64_t want = 0, sum;
	long start, took;

	for (uint64_t k = 0; k < MESSAGES; k++) {
		fill(from + k * bytes, bytes, k);
		want += words_sum((const uint64_t *)(from + k * bytes));
		loan_all(in[1], from + k * bytes, bytes);
	}
	start = now();
	sum = relays[way].pass(bytes);
	took = now() - start;
	if (relays[way].looks && sum != want) {
		printf("FAIL %s: another sum\n", relays[way].name);
		_exit(1);
	}
	for (uint64_t k = 0; k < MESSAGES; k++) {
		read_all(out[0], plain, bytes);
		compare(relays[way].name, plain, bytes, k);
	}
	TRY(cosy_flush(memory, bytes));
	return took / MESSAGES;
}

int main(void)
{
	static const size_t sizes[] = {8 << 10, 16 << 10, 64 << 10, 256 << 10};
	char *from = cosy_move_alloc(MESSAGES * sizes[3], 0);

	memory = cosy_move_alloc(sizes[3], 0);
	if (!from || !memory)
		fail("cosy_move_alloc");
	plain = memory_new();
	pipe_new(in);
	pipe_new(out);
	printf("Relay between two pipes that looks at 64 bytes of each message; per message\n%-40s",
	       "KB");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		printf("%8zu", sizes[i] >> 10);
	for (size_t way = 0; way < sizeof(relays) / sizeof(*relays); way++) {
		printf("\n%-40s", relays[way].name);
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			long least = -1;

			for (int k = 0; k < ROUNDS; k++) {
				long took = round_measure(way, sizes[i], from);

				if (least < 0 || took < least)
					least = took;
			}
			printf("%8ld", least);
		}
	}
	printf("\n");
	return 0;
}
