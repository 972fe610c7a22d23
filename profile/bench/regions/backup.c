// SPDX-License-Identifier: MIT
/* backup.c - copies many small files into a directory, with their modes: backup DIRECTORY FILE... */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char block[65536];

static int file_copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out, status = -1;
	struct stat st;
	ssize_t got;

	if (in < 0)
		return -1;
	if (fstat(in, &st) || !S_ISREG(st.st_mode)) {
		close(in);
		return -1;
	}
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC, st.st_mode & 0777);
	if (out >= 0) {
		while ((got = read(in, block, sizeof(block))) > 0)
			if (write(out, block, got) != got)
				break;
		status = got ? -1 : 0;
		if (close(out))
			status = -1;
	}
	close(in);
	return status;
}

int main(int argc, char **argv)
{
	int copied = 0, failed = 0;

	for (int i = 2; i < argc; i++) {
		const char *name = strrchr(argv[i], '/');
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", argv[1], name ? name + 1 : argv[i]);
		if (file_copy(argv[i], path)) {
			perror(argv[i]);
			failed++;
		} else {
			copied++;
		}
	}
	printf("%d copied, %d failed\n", copied, failed);
	return failed != 0;
}
