// SPDX-License-Identifier: MIT
/* store.c - counts accesses in the records of a file, at random: store FILE UPDATES */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct record {
	uint32_t id, count;
	char name[120];
};

int main(int argc, char **argv)
{
	int updates = argc == 3 ? atoi(argv[2]) : 0, fd = updates ? open(argv[1], O_RDWR) : -1;
	uint32_t random = 1, records;
	struct record record;
	uint64_t counted = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		perror("store");
		return 1;
	}
	records = st.st_size / sizeof(record);
	for (int i = 0; i < updates; i++) {
		off_t at;

		random = random * 1664525 + 1013904223;
		at = (off_t)(random >> 8) % records * sizeof(record);
		if (pread(fd, &record, sizeof(record), at) != sizeof(record))
			break;
		record.count++;
		counted += record.count;
		if (pwrite(fd, &record, sizeof(record), at) != sizeof(record))
			break;
	}
	printf("%lu\n", counted);
	return 0;
}
