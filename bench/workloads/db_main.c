// SPDX-License-Identifier: MIT
/* db_main.c - makes the file of db.h and the processes that work on it. */
#include <sys/wait.h>

#include "compare.h"
#include "content.h"
#include "db.h"

#define MAX_PROCESSES 16

static long processes, records;
static int order[MAX_PROCESSES][2], answer[MAX_PROCESSES][2];

static void serve(int number)
{
	int fd = BENCH_TRY(open("db", O_RDWR));
	long n;

	while (read(order[number][0], &n, sizeof(n)) == sizeof(n)) {
		long moved = db_transact(fd, n, number + 1, records);

		if (write(answer[number][1], &moved, sizeof(moved)) != sizeof(moved))
			break;
	}
	exit(0);
}

void bench_prepare(void)
{
	size_t size = (size_t)bench_number("megabytes", 4) << 20;

	processes = bench_number("processes", 1);
	if (processes > MAX_PROCESSES)
		processes = MAX_PROCESSES;
	records = size / RECORD;
	/* All contenders must begin with the same contents where these are compared. */
	if (bench_number("anew", 0))
		unlink("db");
	bench_file("db", size);
	fflush(stdout);
	for (int i = 0; i < processes; i++) {
		BENCH_TRY(pipe(order[i]));
		BENCH_TRY(pipe(answer[i]));
		if (BENCH_TRY(fork()) == 0) {
			/* Close it, or no reader would see the parent's end. */
			for (int j = 0; j <= i; j++)
				close(order[j][1]);
			serve(i);
		}
	}
}

long bench_work(long n)
{
	long part = n / processes, moved, sum = 0;

	for (int i = 0; i < processes; i++)
		BENCH_TRY(write(order[i][1], &part, sizeof(part)));
	for (int i = 0; i < processes; i++) {
		if (read(answer[i][0], &moved, sizeof(moved)) != sizeof(moved))
			bench_fail("db: a process ended");
		sum += moved;
	}
	return sum;
}

/* --- Bytes ----------------------------------------------------------------------- */

#define WINDOW	32 /* transactions that a contender may have under way at once */
#define CHECKED (2 * WINDOW)

/*
 * True if transactions under way at once touch no record of each other's, so that their order does
 * not matter.
 */
static int is_clean(uint64_t seed)
{
	for (int first = 0; first < CHECKED; first += WINDOW) {
		uint32_t read[WINDOW];

		for (int i = 0; i < WINDOW; i++)
			read[i] = db_random(&seed) % (records - 1);
		for (int i = 1; i < WINDOW; i += 2) {
			for (int j = 0; j < WINDOW; j++) {
				if (read[i] + 1 == read[j] ||
				    (j != i && j & 1 && read[i] == read[j]))
					return 0;
			}
		}
	}
	return 1;
}

/* Returns the value that db_transact should return, with `file` as it should be afterwards. */
static long transact_wanted(char *file, long n, uint64_t seed)
{
	const char *looks_at = bench_text("looks at", "nothing");
	uint64_t sum = 0, word;

	for (long i = 0; i < n; i++) {
		char *record = file + db_random(&seed) % (records - 1) * RECORD;

		if (!strcmp(looks_at, "nothing"))
			sum += i & 1 ? 2 * RECORD : RECORD;
		else if (!strcmp(looks_at, "CRC-32C"))
			sum = compare_crc(sum, record, RECORD);
		else
			for (int at = 0; at < RECORD; at += sizeof(word)) {
				memcpy(&word, record + at, sizeof(word));
				sum += word;
			}
		if (i & 1)
			memcpy(record + RECORD, record, RECORD);
	}
	return sum;
}

static void check_transactions(int fd, char *wanted, long n, uint64_t seed)
{
	uint64_t first = seed;
	const off_t at = (off_t)(db_random(&first) % (records - 1)) * RECORD;
	const long sum = transact_wanted(wanted, n, seed);

	compare_number("what was read of db", n == 1 ? at : 0, db_transact(fd, n, seed, records),
		       sum);
	if (n == CHECKED)
		compare_file("db", wanted, records * RECORD);
}

/*
 * Compares in this process, by sequences whose outcome does not depend on how many are under way at
 * once.
 */
void bench_check(long n, long answer)
{
	char *wanted = malloc(records * RECORD);
	uint64_t seed = 1000;
	int fd;

	(void)n, (void)answer;
	if (!wanted)
		bench_fail("db");
	BENCH_TRY(content_write("db", "db", records * RECORD));
	content_bytes(wanted, "db", 0, records * RECORD);
	fd = BENCH_TRY(open("db", O_RDWR));
	for (uint64_t i = 0; i < 8; i++)
		check_transactions(fd, wanted, 1, i);
	while (!is_clean(seed))
		seed++;
	check_transactions(fd, wanted, 2, seed);
	check_transactions(fd, wanted, CHECKED, seed);
	close(fd);
	free(wanted);
}
