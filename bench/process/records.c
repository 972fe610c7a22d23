// SPDX-License-Identifier: MIT
/* records.c - appends COUNT records of 128 bytes, reads them back at random, and changes them. */
#include "process.h"

struct record {
	unsigned long number, visits;
	char text[112];
};

int main(int argc, char **argv)
{
	int fd = process_open(argv[1], "records", O_RDWR | O_CREAT | O_TRUNC);
	long count = argc > 2 ? atol(argv[2]) : 0;
	unsigned long sum = 0, at = 1;
	struct record record;

	memset(&record, 'r', sizeof(record));
	COSY_START;
	for (long i = 0; i < count; i++) {
		record.number = i;
		record.visits = 0;
		write(fd, &record, sizeof(record));
	}
	for (long i = 0; i < count; i++) {
		at = at * 6364136223846793005ul + 1442695040888963407ul;
		lseek(fd, (at >> 33) % count * sizeof(record), SEEK_SET);
		read(fd, &record, sizeof(record));
		sum += record.number + ++record.visits;
		lseek(fd, -(off_t)sizeof(record), SEEK_CUR);
		write(fd, &record, sizeof(record));
	}
	COSY_END;
	printf("%lu\n", sum);
	return 0;
}
