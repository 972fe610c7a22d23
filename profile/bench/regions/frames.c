// SPDX-License-Identifier: MIT
/* frames.c - writes each line of a text as a frame with a header: frames TEXT FILE */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct header {
	uint32_t magic, number;
	uint16_t len, sum;
};

static char *text_read(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY);
	char *text = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st)) {
		text = malloc(st.st_size);
		if (text && read(fd, text, st.st_size) != st.st_size) {
			free(text);
			text = NULL;
		}
		*size = st.st_size;
	}
	close(fd);
	return text;
}

static uint16_t sum_of(const char *text, size_t len)
{
	uint16_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += (unsigned char)text[i];
	return sum;
}

static long frames_write(int fd, const char *text, size_t size)
{
	struct header header = {.magic = 0x4652414d};
	const char *end = text + size;

	while (text < end) {
		const char *newline = memchr(text, '\n', end - text);
		size_t len = (newline ? newline : end) - text;
		struct iovec parts[2] = {
			{&header, sizeof(header)},
			{(void *)text, len},
		};

		header.number++;
		header.len = len;
		header.sum = sum_of(text, len);
		if (writev(fd, parts, 2) != (ssize_t)(sizeof(header) + len))
			return -1;
		text += len + 1;
	}
	return header.number;
}

int main(int argc, char **argv)
{
	size_t size = 0;
	char *text = argc == 3 ? text_read(argv[1], &size) : NULL;
	int fd = text ? open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
	long frames = fd < 0 ? -1 : frames_write(fd, text, size);

	if (frames < 0) {
		perror("frames");
		return 1;
	}
	printf("%ld frames\n", frames);
	free(text);
	return 0;
}
