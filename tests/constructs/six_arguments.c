// SPDX-License-Identifier: MIT
// Calls with six arguments, and pointers as results.
// expect: compiled
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
	int pair[2], failed = 0;
	long sent = 0, got = 0, copied = 0;
	char in[32] = "", out[] = "datagram";
	unsigned char *map = NULL;
	int sum = 0;

	COSY_START;
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	sent = sendto(pair[0], out, sizeof(out), 0, NULL, 0);
	got = recvfrom(pair[1], in, sizeof(in), MSG_DONTWAIT, NULL, NULL);
	map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 8192; i += 1000)
		map[i] = i / 100;
	for (int i = 0; i < 8192; i++)
		sum += map[i];
	munmap(map, 8192);
	failed = mmap((void *)1, 4096, PROT_READ, MAP_FIXED | MAP_PRIVATE, pair[0], 1) ==
			 MAP_FAILED &&
		 errno == EINVAL;
	copied = copy_file_range(pair[0], NULL, pair[1], NULL, 10, 0);
	close(pair[0]);
	close(pair[1]);
	COSY_END;
	printf("%ld %ld %s %d %d %ld\n", sent, got, in, sum, failed, copied);
	return 0;
}
