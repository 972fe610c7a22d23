// SPDX-License-Identifier: MIT
/* crc.c - prints the CRC-32 of files, as gzip has it: crc FILE... */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static uint32_t table[256];

static void table_make(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t value = i;

		for (int bit = 0; bit < 8; bit++)
			value = value & 1 ? value >> 1 ^ 0xedb88320 : value >> 1;
		table[i] = value;
	}
}

static int crc_file(const char *path, uint32_t *crc)
{
	int fd = open(path, O_RDONLY);
	unsigned char block[4096];
	uint32_t value = ~0u;
	ssize_t got;

	if (fd < 0)
		return -1;
	while ((got = read(fd, block, sizeof(block))) > 0)
		for (ssize_t i = 0; i < got; i++)
			value = table[(value ^ block[i]) & 255] ^ value >> 8;
	close(fd);
	*crc = ~value;
	return got < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	table_make();
	for (int i = 1; i < argc; i++) {
		uint32_t crc;

		if (crc_file(argv[i], &crc)) {
			perror(argv[i]);
			return 1;
		}
		printf("%08x %s\n", crc, argv[i]);
	}
	return 0;
}
