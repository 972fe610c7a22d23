/* SPDX-License-Identifier: MIT */
/*
 * Makes specialised reads: bytes, positions and errors are those of read(2) itself; and fails each
 * guard once.
 */
#include "guards.h"
#include <cosy/fast.h>
#include <pthread.h>
#include <sys/syscall.h>

#define SIZE 40000

static char original[SIZE];
static char *shared; /* a page and some, in the shared buffer where there is one */

static int make(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	for (int i = 0; i < SIZE; i++)
		original[i] = (char)(i * 31 + i / 256);
	MUST(fd >= 0 && write(fd, original, SIZE) == SIZE && !lseek(fd, 0, SEEK_SET));
	return fd;
}

static void bytes(int fd)
{
	struct cosy_stats before = counts();
	long wrong = 0, got = 0, end = -1;
	char c;

	stale_file_systems();
	COSY_START;
	for (int i = 0; i < SIZE; i++) {
		if (read(fd, &c, 1) != 1)
			break;
		got++;
		wrong += c != original[i];
	}
	end = read(fd, &c, 1);
	COSY_END;
	CHECK(got == SIZE && !wrong && end == 0, "%ld bytes, %ld wrong, then %ld", got, wrong, end);
	CHECK(lseek(fd, 0, SEEK_CUR) == SIZE, "the position is wrong");
	/* The read at the end of the file is a specialised one, too. */
	CHECK_FAST(before, SIZE + 1);
	CHECK_GUARD(before, FRESH);
	CHECK_NO_GUARD(before, READ_ONLY);
}

/* Reads files with buffers that are larger than a specialised read may be, and at their ends. */
static void large_buffers(void)
{
	enum { ROOM = 1 << 20, FILES = 4, AGAIN = 100 };
	/* The last one is more than a specialised read takes. */
	static const long sizes[FILES] = { 0, 100, 8192, (256 << 10) + 1 };
	char *to = malloc(ROOM);
	long fast = 0;

	MUST(to);
	for (int i = 0; i < FILES; i++) {
		int fd = open("sized", O_RDWR | O_CREAT | O_TRUNC, 0600);
		struct cosy_stats before;
		long got = 0, ends = 0, beyond = 0;

		MUST(fd >= 0 && !ftruncate(fd, sizes[i]) && pwrite(fd, "x", 1, 0) == 1);
		MUST(read(fd, to, ROOM) == (sizes[i] ? sizes[i] : 1));
		before = counts();
		COSY_START;
		for (int turn = 0; turn < AGAIN; turn++) {
			lseek(fd, 0, SEEK_SET);
			got += read(fd, to, ROOM);
			ends += read(fd, to, ROOM);
			beyond += pread(fd, to, ROOM, ROOM);
		}
		COSY_END;
		CHECK(got == AGAIN * (sizes[i] ? sizes[i] : 1) && !ends && !beyond,
		      "size %ld: %ld bytes, then %ld and %ld", sizes[i], got, ends, beyond);
		/* A jiffy's first read is not. */
		fast = AGAIN * (i == FILES - 1 ? 3 : 4) - AGAIN / 2;
		CHECK_FAST(before, fast);
		CHECK_NO_GUARD(before, READ_ONLY);
		if (i < FILES - 1)
			CHECK_NO_GUARD(before, LIMITED);
		MUST(!close(fd) && !unlink("sized"));
	}
	free(to);
}

/* Reads sizes that end in the middle of pages, to both kinds of memory. */
static void pieces(int fd)
{
	static const int sizes[] = { 1, 7, 4095, 4096, 4097, 9000, 16384, 39999 };
	char *to[] = { shared, malloc(SIZE) };

	for (int t = 0; t < 2; t++) {
		for (unsigned int s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
			char *buf = to[t];
			long total = 0, wrong = 0, got, size = sizes[s];

			COSY_START;
			lseek(fd, 0, SEEK_SET);
			while ((got = read(fd, buf, size)) > 0) {
				wrong += memcmp(buf, original + total, got) != 0;
				total += got;
			}
			for (long at = SIZE + 3; at > 0; at -= 4999) {
				got = pread(fd, buf, size, at);
				if (at >= SIZE)
					wrong += got != 0;
				else
					wrong += got != (size < SIZE - at ? size : SIZE - at) ||
						 memcmp(buf, original + at, got);
			}
			COSY_END;
			CHECK(total == SIZE && !wrong, "size %ld, memory %d: %ld bytes, %ld wrong",
			      size, t, total, wrong);
		}
	}
	free(to[1]);
}

/* Changes the file between two reads of one region. */
static void changes(int fd)
{
	long r[8] = { 0 };
	char c[8] = { 0 };

	COSY_START;
	r[0] = pread(fd, &c[0], 1, 100);
	pwrite(fd, "X", 1, 100);
	r[1] = pread(fd, &c[1], 1, 100);
	ftruncate(fd, 50);
	r[2] = pread(fd, &c[2], 1, 100);
	r[3] = pread(fd, &c[3], 1, 49);
	ftruncate(fd, SIZE);
	r[4] = pread(fd, &c[4], 1, 100);
	r[5] = pread(fd, &c[5], 1, SIZE - 1);
	COSY_END;
	CHECK(r[0] == 1 && c[0] == original[100], "before: %ld %d", r[0], c[0]);
	CHECK(r[1] == 1 && c[1] == 'X', "written: %ld %d", r[1], c[1]);
	CHECK(r[2] == 0 && r[3] == 1 && c[3] == original[49], "truncated: %ld %ld %d", r[2], r[3],
	      c[3]);
	CHECK(r[4] == 1 && !c[4] && r[5] == 1 && !c[5], "extended: %ld %d %ld %d", r[4], c[4], r[5],
	      c[5]);
}

/* Makes a descriptor name another file at the second of two reads of one region. */
static void descriptors(int fd)
{
	struct cosy_stats before = counts();
	int other = open("other", O_RDWR | O_CREAT | O_TRUNC, 0600), number = dup(fd), e = 0;
	char c[5] = { 0 };
	long r[5] = { 0 };

	MUST(other >= 0 && number >= 0 && write(other, "other", 5) == 5);
	COSY_START;
	r[0] = pread(number, &c[0], 1, 1);
	r[1] = pread(number, &c[1], 1, 1);
	dup2(other, number);
	r[2] = pread(number, &c[2], 1, 1);
	r[3] = pread(number, &c[3], 1, 1);
	close(number);
	r[4] = pread(number, &c[4], 1, 1);
	e = errno;
	COSY_END;
	CHECK(r[0] == 1 && r[1] == 1 && c[0] == original[1] && c[1] == original[1],
	      "before: %ld %ld", r[0], r[1]);
	CHECK(r[2] == 1 && r[3] == 1 && c[2] == 't' && c[3] == 't', "dup2: %ld %ld, %d %d", r[2],
	      r[3], c[2], c[3]);
	CHECK(r[4] == -1 && e == EBADF, "closed: %ld %d", r[4], e);
	CHECK_FAST(before, 2);
	close(other);
	unlink("other");
}

/* Reads whole files, each by a descriptor that is closed behind it, and then by that number. */
static void whole_files(int fd)
{
	struct cosy_stats before = counts();
	int other = open("other", O_RDWR | O_CREAT | O_TRUNC, 0600), number = dup(fd), wrong = 0;
	char c[5], unread;

	MUST(other >= 0 && number >= 0 && write(other, "other", 5) == 5 && !close(number));
	COSY_START;
	for (int i = 0; i < 5; i++) {
		memset(c, 0, sizeof(c));
		wrong += cosy_read_file(AT_FDCWD, "plain", c, 5, O_RDONLY) != 5;
		wrong += memcmp(c, original, 5) != 0;
		wrong += pread(number, &unread, 1, 1) != -1 || errno != EBADF;
		wrong += cosy_read_file(AT_FDCWD, "other", c, 5, O_RDONLY) != 5;
		wrong += memcmp(c, "other", 5) != 0;
		wrong += pread(number, &unread, 1, 1) != -1 || errno != EBADF;
	}
	COSY_END;
	CHECK(!wrong, "%d results are wrong", wrong);
	CHECK_KERNEL(before, 1, 20);
	close(other);
	unlink("other");
}

/* Reads pages that are not there, also in the middle of a read. */
static void holes(void)
{
	struct cosy_stats before = counts();
	int fd = make("holes");
	long got = 0, wrong = 0;

	MUST(!ftruncate(fd, 0) && !ftruncate(fd, SIZE) && pwrite(fd, original, 5000, 0) == 5000 &&
	     pwrite(fd, original + 20000, 100, 20000) == 100);
	memset(shared, 1, SIZE);
	COSY_START;
	for (int i = 0; i < 3; i++) {
		/* The first read after a safepoint goes the ordinary way. */
		pread(fd, shared, 1, 0);
		got = pread(fd, shared, SIZE, 0);
		for (int k = 0; k < SIZE; k++)
			wrong += shared[k] !=
				 (k < 5000 || (k >= 20000 && k < 20100) ? original[k] : 0);
	}
	COSY_END;
	CHECK(got == SIZE && !wrong, "holes: %ld bytes, %ld wrong", got, wrong);
	CHECK_GUARD(before, NO_HOLES);
	close(fd);
	unlink("holes");
}

static void other_files(void)
{
	struct cosy_stats before = counts();
	int proc = open("/proc/self/status", O_RDONLY), zero = open("/dev/zero", O_RDONLY), ends[2];
	int write_only = open("plain", O_WRONLY), directory = open(".", O_RDONLY);
	long r[7] = { 0 };
	int e[7] = { 0 };
	char text[16] = "";

	MUST(proc >= 0 && zero >= 0 && !pipe(ends) && write_only >= 0 && directory >= 0);
	COSY_START;
	r[0] = read(proc, text, 5);
	r[1] = read(zero, text + 8, 4);
	r[2] = write(ends[1], "pipe", 4) == 4 ? read(ends[0], text + 10, 4) : 0;
	r[3] = read(write_only, text, 1);
	e[3] = errno;
	r[4] = read(directory, text, 1);
	e[4] = errno;
	r[5] = read(-1, text, 1);
	e[5] = errno;
	r[6] = lseek(ends[0], 0, SEEK_SET);
	e[6] = errno;
	COSY_END;
	CHECK(r[0] == 5 && !memcmp(text, "Name:", 5), "procfs: %ld %s", r[0], text);
	CHECK(r[1] == 4 && r[2] == 4 && !memcmp(text + 10, "pipe", 4), "zero %ld, pipe %ld", r[1],
	      r[2]);
	CHECK(r[3] == -1 && e[3] == EBADF && r[4] == -1 && e[4] == EISDIR && r[5] == -1 &&
		      e[5] == EBADF && r[6] == -1 && e[6] == ESPIPE,
	      "errors: %d %d %d %d", e[3], e[4], e[5], e[6]);
	CHECK_GUARD(before, FS_CONSTANT);
	CHECK_GUARD(before, LIMITED);
	close(proc), close(zero), close(ends[0]), close(ends[1]), close(write_only),
		close(directory);
}

/* Reads into memory that is not there, not all there, or not the user's. */
static void bad_memory(int fd)
{
	struct cosy_stats before = counts();
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *kernel = (char *)0xffff888000000000;
	long r[5] = { 0 }, position;
	int e[5] = { 0 };

	MUST(page != MAP_FAILED && !mprotect(page + 4096, 4096, PROT_NONE) &&
	     !lseek(fd, 0, SEEK_SET));
	COSY_START;
	r[0] = read(fd, page + 4096, 10);
	e[0] = errno;
	r[1] = read(fd, page + 4000, 200);
	position = lseek(fd, 0, SEEK_CUR);
	r[2] = read(fd, kernel, 10);
	e[2] = errno;
	r[3] = read(fd, kernel, 1);
	e[3] = errno;
	r[4] = pread(fd, page, 1, -1);
	e[4] = errno;
	COSY_END;
	CHECK(r[0] == -1 && e[0] == EFAULT, "no memory: %ld %d", r[0], e[0]);
	CHECK(r[1] == position && (r[1] == 96 || r[1] == -1), "half of it: %ld, position %ld", r[1],
	      position);
	CHECK(r[2] == -1 && e[2] == EFAULT && r[3] == -1 && e[3] == EFAULT, "the kernel's: %d %d",
	      e[2], e[3]);
	CHECK(r[4] == -1 && e[4] == EINVAL, "before the file: %d", e[4]);
	CHECK_GUARD(before, MEMORY);
	munmap(page, 8192);
}

/* Reads more than the specialised read reads at once. */
static void long_read(void)
{
	struct cosy_stats before = counts();
	const long size = 1 << 20;
	char *to = malloc(size);
	int fd = open("long", O_RDWR | O_CREAT | O_TRUNC, 0600);
	long got = 0;

	MUST(fd >= 0 && to && !ftruncate(fd, size));
	COSY_START;
	got = read(fd, to, size);
	COSY_END;
	CHECK(got == size, "long: %ld", got);
	CHECK_GUARD(before, LIMITED);
	close(fd);
	unlink("long");
	free(to);
}

/* Counts the reads of each number: one description has several readers, each byte goes to one. */
static int taken[SIZE];

static void *take(void *arg)
{
	int fd = *(int *)arg;
	unsigned char block[8];
	long got;

	do {
		COSY_START;
		for (int i = 0; i < 50; i++) {
			got = read(fd, block, 8);
			if (got != 8)
				break;
			__atomic_fetch_add(&taken[*(int *)block], 1, __ATOMIC_RELAXED);
		}
		COSY_END;
	} while (got == 8);
	return NULL;
}

static void shared_position(void)
{
	struct cosy_stats before = counts();
	pthread_t threads[3];
	int fd = open("numbers", O_RDWR | O_CREAT | O_TRUNC, 0600), fds[3], missing = 0;

	MUST(fd >= 0);
	for (int i = 0; i < SIZE; i++) {
		int pair[2] = { i, i };

		MUST(write(fd, pair, 8) == 8);
	}
	MUST(!lseek(fd, 0, SEEK_SET));
	fds[0] = fd, fds[1] = dup(fd), fds[2] = fd;
	for (int i = 0; i < 3; i++)
		MUST(!pthread_create(&threads[i], NULL, take, &fds[i]));
	for (int i = 0; i < 3; i++)
		MUST(!pthread_join(threads[i], NULL));
	for (int i = 0; i < SIZE; i++)
		missing += taken[i] != 1;
	CHECK(!missing, "%d blocks were read twice or not at all", missing);
	CHECK_GUARD(before, NO_FP_SHARE);
	close(fds[1]), close(fd);
	unlink("numbers");
}

static void pure(void)
{
	struct cosy_stats before = counts();
	long r[8] = { 0 };
	struct timespec outside, inside = { 0 }, after;
	struct timeval wall, tv = { 0 }, wall_after;
	int bad = 0;

	clock_gettime(CLOCK_MONOTONIC, &outside);
	wall.tv_sec = time(NULL); /* of the last tick: never later than the others */
	COSY_START;
	for (int i = 0; i < 3; i++) {
		r[0] = getpid();
		r[1] = syscall(SYS_gettid);
		r[2] = getppid();
		r[3] = getuid();
		r[4] = geteuid();
		r[5] = getgid();
		r[6] = getegid();
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &inside);
		syscall(SYS_gettimeofday, &tv, NULL);
		r[7] = syscall(SYS_time, NULL);
	}
	bad = syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (void *)8) == -1 ? errno : 0;
	COSY_END;
	CHECK(r[0] == getpid() && r[1] == syscall(SYS_gettid) && r[2] == getppid(), "%ld %ld %ld",
	      r[0], r[1], r[2]);
	CHECK(r[3] == getuid() && r[4] == geteuid() && r[5] == getgid() && r[6] == getegid(),
	      "%ld %ld", r[3], r[5]);
	clock_gettime(CLOCK_MONOTONIC, &after);
	gettimeofday(&wall_after, NULL);
	CHECK(inside.tv_sec >= outside.tv_sec && inside.tv_sec <= after.tv_sec, "clock %ld",
	      (long)inside.tv_sec);
	CHECK(tv.tv_sec >= wall.tv_sec && tv.tv_sec <= wall_after.tv_sec && tv.tv_usec < 1000000,
	      "time of day %ld", (long)tv.tv_sec);
	CHECK(r[7] >= wall.tv_sec && r[7] <= wall_after.tv_sec, "time %ld", r[7]);
	CHECK(bad == EFAULT, "a clock into nothing: %d", bad);
	CHECK_FAST(before, 3 * 9);
}

int main(void)
{
	const char *directory = getenv("TMPDIR");
	int fd;

	pure(); /* opens the context */
	shared = cosy_malloc(SIZE);
	if (!shared)
		shared = malloc(SIZE);
	MUST(shared && !chdir(directory ? directory : "/tmp"));
	fd = make("plain");
	bytes(fd);
	pieces(fd);
	other_files();
	bad_memory(fd);
	descriptors(fd);
	whole_files(fd);
	changes(fd);
	holes();
	large_buffers();
	long_read();
	shared_position();
	close(fd);
	unlink("plain");
	return check_end();
}
