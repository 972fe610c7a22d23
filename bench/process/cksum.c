// SPDX-License-Identifier: MIT
/* cksum.c - prints checksums of files, COUNT of them, read in blocks of 4 KB. */
#include "process.h"

static unsigned int table[256];

static void table_fill(void)
{
	for (unsigned int i = 0; i < 256; i++) {
		unsigned int c = i;

		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
		table[i] = c;
	}
}

static unsigned int file_sum(const char *path)
{
	unsigned int crc = ~0u;
	unsigned char block[4096];
	ssize_t got;

	COSY_START;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return 0;
	while ((got = read(fd, block, sizeof(block))) > 0)
		for (ssize_t i = 0; i < got; i++)
			crc = table[(crc ^ block[i]) & 255] ^ crc >> 8;
	close(fd);
	COSY_END;
	return ~crc;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0;
	unsigned int sum = 0;
	char path[512];

	table_fill();
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/part%d", argv[1], i);
		int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

		for (int k = 0; k < 300; k++)
			if (write(fd, path, strlen(path)) < 0)
				return 1;
		close(fd);
	}
	for (long i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/part%ld", argv[1], i % 4);
		sum += file_sum(path);
	}
	printf("%x\n", sum);
	return 0;
}
