// SPDX-License-Identifier: MIT
/* writers.c - changes the file, from this process and from another one. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz.h"

_Thread_local int writer_commands, writer_answers;

void do_write(void)
{
	int fd = open(path, O_WRONLY | (chance(4) ? 0 : O_APPEND) | (chance(4) ? 0 : O_NONBLOCK));

	if (fd < 0)
		return;
	lseek(fd, chance(size), SEEK_SET);
	same(write(fd, text + chance(1000), chance(3000)) >= 0, 1, "a write");
	if (chance(2))
		do_reads();
	close(fd);
}

void do_truncate(void)
{
	int fd;

	if (chance(2)) {
		same(truncate(path, chance(2) ? chance(size) : 4096 * chance(size / 4096)), 0,
		     "truncate");
		return;
	}
	fd = open(path, O_WRONLY | (chance(9) ? 0 : O_TRUNC));
	same(ftruncate(fd, size - 20000 + chance(40000)), 0, "ftruncate");
	close(fd);
}

void do_rename(void)
{
	same(rename(path, other), 0, "rename");
	do_read();
	same(rename(other, path), 0, "rename");
}

/* Replaces a file by another: the open one stays what it was, with one name less. */
void do_replace(void)
{
	int fd = open(other, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	same(write(fd, text + chance(1000), size / 2) > 0, 1, "a write");
	close(fd);
	same(rename(other, path), 0, "rename");
	do_reads();
}

/* Keeps the file's size about `size`. */
void do_tidy(void)
{
	struct stat st;

	if (!stat(path, &st) && st.st_size < size / 4) {
		int fd = open(path, O_WRONLY);

		same(write(fd, text, size), size, "a write");
		close(fd);
	} else if (st.st_size > 2 * size) {
		same(truncate(path, size), 0, "truncate");
	}
}

/* Does, in the other process, what a byte asks for, then answers. */
static void write_as_asked(char command)
{
	int fd;

	switch (command) {
	case 0:
		fd = open(path, O_WRONLY);
		lseek(fd, chance(size), SEEK_SET);
		break;
	case 1:
		fd = open(path, O_RDWR | O_APPEND);
		break;
	case 2:
		same(truncate(path, chance(size)), 0, "truncate");
		return;
	default:
		same(rename(path, other), 0, "rename");
		same(rename(other, path), 0, "rename");
		return;
	}
	same(write(fd, text + chance(1000), 3000), 3000, "a write");
	close(fd);
}

void writer_start(void)
{
	int commands[2], answers[2];
	char command;

	if (pipe(commands) || pipe(answers))
		exit(1);
	writer_commands = commands[1];
	writer_answers = answers[0];
	if (fork()) {
		close(commands[0]);
		close(answers[1]);
		return;
	}
	close(commands[1]);
	close(answers[0]);
	while (read(commands[0], &command, 1) == 1) {
		write_as_asked(command);
		if (write(answers[1], &command, 1) != 1)
			break;
	}
	_exit(0);
}

void do_writer(void)
{
	char command = chance(4);

	same(write(writer_commands, &command, 1), 1, "a command");
	/* The lease's signal comes in the middle of this call. */
	same(read(writer_answers, &command, 1), 1, "an answer");
	do_reads();
}
