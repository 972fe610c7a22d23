// SPDX-License-Identifier: MIT
/*
 * late_test.c - tests files that get a number while calls are under way that another thread made by
 * that number, on what had it before.
 *
 * Two FIFOs and a file have the number one after the other.  A thread's read of each FIFO ends when
 * the next has the number.
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "specialised.h"

/* A thread in a call that does not end before somebody lets it. */
struct caller {
	pthread_t thread;
	int32_t id; /* 0: not yet known */
	int fd;
};

static char fifos[2][220];
static int full[2]; /* a pipe */

static void *caller_reads(void *argument)
{
	struct caller *caller = argument;
	char byte;

	__atomic_store_n(&caller->id, (int32_t)RAW(gettid, 0), __ATOMIC_SEQ_CST);
	CHECK(read(caller->fd, &byte, 1) == 1);
	return NULL;
}

static void *caller_sends(void *argument)
{
	struct caller *caller = argument;

	__atomic_store_n(&caller->id, (int32_t)RAW(gettid, 0), __ATOMIC_SEQ_CST);
	CHECK(sendfile(full[1], caller->fd, NULL, 1) == 1);
	return NULL;
}

static long caller_call(const struct caller *caller)
{
	int32_t id = __atomic_load_n(&caller->id, __ATOMIC_SEQ_CST);
	char name[64];
	long call = -1;
	FILE *file;

	if (!id)
		return -1;
	snprintf(name, sizeof(name), "/proc/self/task/%d/syscall", id);
	file = fopen(name, "r");
	CHECK(file);
	if (fscanf(file, "%ld", &call) != 1)
		call = -1;
	fclose(file);
	return call;
}

/* Has a thread make the call, and waits until it sleeps there. */
static void caller_begin(struct caller *caller, int fd, void *(*run)(void *), long call)
{
	*caller = (struct caller){.fd = fd};
	CHECK(!pthread_create(&caller->thread, NULL, run, caller));
	while (caller_call(caller) != call)
		RAW(sched_yield, 0);
}

static void caller_end(struct caller *caller, int writable)
{
	CHECK(write(writable, "x", 1) == 1);
	CHECK(!pthread_join(caller->thread, NULL));
}

static void fill_pipe(void)
{
	char byte = 0;

	CHECK(!pipe(full) && fcntl(full[1], F_SETPIPE_SZ, 4096) >= 0);
	CHECK(!fcntl(full[1], F_SETFL, O_NONBLOCK));
	while (write(full[1], &byte, 1) == 1)
		;
	CHECK(!fcntl(full[1], F_SETFL, 0));
}

static void empty_pipe(void)
{
	char bytes[4096];

	CHECK(read(full[0], bytes, sizeof(bytes)) > 0);
}

/* Opens what has the number next. */
static int open_as(int fd, const char *name)
{
	CHECK(open(name, O_RDONLY) == fd);
	return fd;
}

static bool is_specialised(int fd, int from)
{
	read_on(fd, from, from + READS);
	return RAW(lseek, fd, 0, SEEK_CUR) < from + READS;
}

int main(void)
{
	struct caller readers[2], sender;
	int writable[2], fd;

	path_make("late");
	for (int i = 0; i < 2; i++) {
		snprintf(fifos[i], sizeof(fifos[i]), "%s.%d", path, i);
		CHECK(!mkfifo(fifos[i], 0600));
		writable[i] = open(fifos[i], O_RDWR);
		CHECK(writable[i] >= 0);
	}
	fill_pipe();
	fd = specialised();
	close(fd);

	caller_begin(&readers[0], open_as(fd, fifos[0]), caller_reads, SYS_read);
	close(fd);
	caller_begin(&readers[1], open_as(fd, fifos[1]), caller_reads, SYS_read);
	caller_end(&readers[0], writable[0]);
	close(fd);
	open_as(fd, path);
	caller_end(&readers[1], writable[1]);

	/* While this call is about to move the kernel's position, that one counts. */
	caller_begin(&sender, fd, caller_sends, SYS_sendfile);
	CHECK(!is_specialised(fd, 0));
	empty_pipe();
	CHECK(!pthread_join(sender.thread, NULL));
	close(fd);

	/* When all are back the number is as good as any. */
	CHECK(is_specialised(open_as(fd, path), 0));

	for (int i = 0; i < 2; i++)
		unlink(fifos[i]);
	unlink(path);
	return 0;
}
