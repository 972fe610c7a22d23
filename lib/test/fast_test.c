// SPDX-License-Identifier: MIT
/*
 * fast_test.c - makes the calls of <cosy/fast.h>, and the same operations in the interpreter, each
 * on a file, directory or socket of its own, with the same results.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cosy/fast.h>

#include "interp/interp.h"
#include "interp/interp_ops.h"

#include "assemble.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- An operation by either way, as r0 ------------------------------------------------- */

static u8 stack[8192] __attribute__((aligned(4096)));

/* Interprets one operation; r1-r5 come from the context, which is the five arguments. */
static s64 interpreted(u32 number, const u64 *args)
{
	const struct bpf_insn insns[] = {
		LOAD(BPF_DW, 2, 1, 8),
		LOAD(BPF_DW, 3, 1, 16),
		LOAD(BPF_DW, 4, 1, 24),
		LOAD(BPF_DW, 5, 1, 32),
		LOAD(BPF_DW, 1, 1, 0),
		CALL(number),
		EXIT(),
	};
	struct cosy_validated program = validated(insns, COUNT(insns));
	struct cosy_state state;
	struct libcosy_interp in = {
		.program = &program,
		.state = &state,
		.ctx = (u64)args,
		.stack = stack,
		.stack_size = 4096,
	};

	CHECK_EQ(libcosy_interp_run(&in, 0), COSY_DONE);
	cosy_validated_deinit(&program);
	return in.ret;
}

/* How often the latest operation by_parts left. */
static int parts;

/* Interprets one operation whose time is always up: it leaves after each of its calls. */
static s64 by_parts(u32 number, const u64 *args)
{
	struct cosy_state state = {.reg = {[1] = args[0], args[1], args[2], args[3], args[4]}};
	struct libcosy_interp in = {.state = &state, .max_ns = 1};

	for (parts = 0;; parts++) {
		libcosy_interp_op(&in, number);
		if (!in.left)
			return state.reg[0];
		in.left = false;
	}
}

static s64 from_errno(s64 result)
{
	return result < 0 ? -errno : result;
}

static s64 by_name(u32 number, const u64 *a)
{
	void *p1 = (void *)a[0], *p2 = (void *)a[1], *p3 = (void *)a[2];

	switch (number) {
	case COSY_OP_view_read:
		return from_errno(cosy_read(a[0], p2, a[2]));
	case COSY_OP_view_pread:
		return from_errno(cosy_pread(a[0], p2, a[2], a[3]));
	case COSY_OP_readc:
		return from_errno(cosy_readc(a[0]));
	case COSY_OP_seek_read:
		return from_errno(cosy_seek_read(a[0], p2, a[2], a[3], a[4]));
	case COSY_OP_seek_write:
		return from_errno(cosy_seek_write(a[0], p2, a[2], a[3], a[4]));
	case COSY_OP_read_file:
		return from_errno(cosy_read_file(a[0], p2, p3, a[3], a[4]));
	case COSY_OP_write_file:
		return from_errno(cosy_write_file(a[0], p2, p3, a[3], a[4]));
	case COSY_OP_scan_dir:
		return from_errno(cosy_scan_dir(a[0], p2, a[2], a[3]));
	case COSY_OP_scan_tree:
		return from_errno(cosy_scan_tree((struct cosy_tree *)a[0], p2, a[2]));
	case COSY_OP_epoll_read:
		return from_errno(cosy_epoll_read(a[0], p2, a[2], a[3], a[4]));
	case COSY_OP_lend:
		return from_errno(cosy_lend(a[0], p2, a[2], a[3]));
	case COSY_OP_count:
		return cosy_count(p1, a[1], a[2]);
	case COSY_OP_discard:
		cosy_discard(p1, a[1]);
		return 0;
	default:
		CHECK_EQ(number, COSY_OP_crc32c);
		return cosy_crc32c(a[0], p2, a[2]);
	}
}

typedef s64 make_op(u32 number, const u64 *args);
static make_op *const ways[] = {by_name, interpreted, by_parts};
static make_op *way;

#define OP(name, ...) way(COSY_OP_##name, (const u64[5]){__VA_ARGS__})
#define A(value)      ((u64)(value))

/* --- Files ------------------------------------------------------------------------------ */

static int file_with(const char *text)
{
	char name[] = "/tmp/cosy-fast-XXXXXX";
	int fd = mkstemp(name);

	MUST(fd >= 0);
	unlink(name);
	MUST(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	MUST(lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

static void reads(void)
{
	int fd = file_with("abcdef");
	char buf[16] = "";

	CHECK_EQ(OP(view_read, fd, A(buf), 4), 4);
	CHECK(!memcmp(buf, "abcd", 5));
	CHECK_EQ(OP(view_read, fd, A(buf), 4), 2);
	CHECK_EQ(OP(view_read, fd, A(buf), 4), 0);
	CHECK_EQ(OP(view_pread, fd, A(buf), 3, 1), 3);
	CHECK(!memcmp(buf, "bcd", 3));
	CHECK_EQ(OP(view_pread, fd, A(buf), 3, A(-1)), -EINVAL);
	CHECK_EQ(OP(view_read, 999, A(buf), 4), -EBADF);
	CHECK_EQ(OP(view_read, fd, 1, 4), 0);
	close(fd);
}

static void bytes_come_one_by_one(void)
{
	int fd = file_with("a\xff");

	CHECK_EQ(OP(readc, fd), 'a');
	CHECK_EQ(OP(readc, fd), 0xff);
	CHECK_EQ(OP(readc, fd), -ENODATA);
	close(fd);
	CHECK_EQ(OP(readc, fd), -EBADF);
}

static void seeks(void)
{
	int fd = file_with("0123456789"), pipes[2];
	char buf[16] = "";

	CHECK_EQ(OP(seek_read, fd, A(buf), 3, 5, SEEK_SET), 3);
	CHECK(way != by_parts || parts == 1);
	CHECK(!memcmp(buf, "567", 4));
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), 8);
	CHECK_EQ(OP(seek_read, fd, A(buf), 9, A(-4), SEEK_END), 4);
	CHECK_EQ(OP(seek_write, fd, A("xy"), 2, A(-9), SEEK_CUR), 2);
	CHECK(way != by_parts || parts == 1);
	CHECK_EQ(OP(seek_read, fd, A(buf), 4, 0, SEEK_SET), 4);
	CHECK(!memcmp(buf, "0xy3", 4));
	/* If the seek fails, nothing is read. */
	CHECK_EQ(OP(seek_read, fd, A(buf), 4, A(-1), SEEK_SET), -EINVAL);
	CHECK(way != by_parts || !parts);
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), 4);
	MUST(!pipe(pipes));
	CHECK_EQ(OP(seek_write, pipes[1], A("z"), 1, 0, SEEK_SET), -ESPIPE);
	/* The seek succeeds, and the read fails. */
	close(pipes[0]);
	close(pipes[1]);
	CHECK_EQ(OP(seek_read, fd, 1, 4, 2, SEEK_SET), -EFAULT);
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), 2);
	close(fd);
}

static void ready_descriptors(void)
{
	enum { MAX = 3, SIZE = MAX * 32 };
	_Alignas(8) char buf[SIZE];
	struct cosy_arrival *arrival = (struct cosy_arrival *)buf;
	struct epoll_event event = {.events = EPOLLIN};
	int epfd = epoll_create1(0), wire[2], marked;

	MUST(epfd >= 0 && !pipe(wire) && (marked = dup(wire[0])) >= 0);
	event.data.u64 = (u64)marked | COSY_ARRIVAL_READ | 7ull << 33;
	MUST(!epoll_ctl(epfd, EPOLL_CTL_ADD, marked, &event));
	CHECK_EQ(OP(epoll_read, epfd, A(buf), SIZE, MAX, 0), 0);
	CHECK_EQ(OP(epoll_read, epfd, A(buf), SIZE, 0, 0), -EINVAL);
	CHECK_EQ(OP(epoll_read, epfd, A(buf), SIZE, COSY_MAX_ARRIVALS + 1, 0), -EINVAL);
	CHECK_EQ(OP(epoll_read, epfd, A(buf), 23, 1, 0), -EINVAL);
	CHECK_EQ(OP(epoll_read, A(-1), A(buf), SIZE, MAX, 0), -EBADF);
	MUST(write(wire[1], "more than a share", 17) == 17);
	CHECK_EQ(OP(epoll_read, epfd, A(buf), SIZE, MAX, A(-1)), 1);
	CHECK_EQ(arrival->data, event.data.u64);
	CHECK_EQ(arrival->events, EPOLLIN);
	CHECK_EQ(arrival->result, 16);
	CHECK(!memcmp(COSY_ARRIVAL_BYTES(buf, SIZE, MAX, 0), "more than a shar", 16));
	event.data.u64 = wire[0];
	MUST(!epoll_ctl(epfd, EPOLL_CTL_ADD, wire[0], &event));
	CHECK_EQ(OP(epoll_read, epfd, A(buf), SIZE, MAX, A(-1)), 2);
	CHECK(way != by_parts || parts == 3);
	CHECK_EQ(arrival[0].result, 1);
	CHECK_EQ(arrival[1].data, wire[0]);
	CHECK_EQ(arrival[1].result, COSY_NOT_READ);
	/* Nobody writes any more: no EPOLLIN. */
	close(wire[1]);
	CHECK_EQ(OP(epoll_read, epfd, A(buf), SIZE, MAX, A(-1)), 2);
	CHECK_EQ(arrival[0].events, EPOLLHUP);
	CHECK_EQ(arrival[0].result, COSY_NOT_READ);
	close(wire[0]);
	close(marked);
	close(epfd);
}

static void whole_files(void)
{
	char name[] = "/tmp/cosy-fast-XXXXXX", buf[64];
	int fd = mkstemp(name), next = dup(fd);
	struct stat stat_buf;

	MUST(fd >= 0 && write(fd, "whole file", 10) == 10);
	CHECK_EQ(OP(read_file, A(AT_FDCWD), A(name), A(buf), sizeof(buf), O_RDONLY), 10);
	CHECK(!memcmp(buf, "whole file", 10));
	/* The open, two reads. */
	CHECK(way != by_parts || parts == 3);
	CHECK_EQ(OP(read_file, A(AT_FDCWD), A(name), A(buf), 5, O_RDONLY), 5);
	CHECK_EQ(OP(read_file, A(AT_FDCWD), A(name), A(buf), 0, O_RDONLY), 0);
	CHECK_EQ(OP(read_file, A(AT_FDCWD), A(name), 1, 5, O_RDONLY), -EFAULT);
	CHECK_EQ(OP(read_file, A(AT_FDCWD), A("/tmp"), A(buf), 5, O_RDONLY), -EISDIR);
	CHECK_EQ(OP(read_file, A(AT_FDCWD), A("/tmp/none/such"), A(buf), 5, O_RDONLY), -ENOENT);
	CHECK_EQ(OP(write_file, A(AT_FDCWD), A(name), A("written anew"), 12, O_WRONLY | O_TRUNC),
		 12);
	CHECK(way != by_parts || parts == 2);
	CHECK_EQ(OP(read_file, A(AT_FDCWD), A(name), A(buf), sizeof(buf), O_RDONLY), 12);
	CHECK(!memcmp(buf, "written anew", 12));
	CHECK_EQ(OP(write_file, A(AT_FDCWD), A(name), A("+"), 1, O_WRONLY | O_APPEND), 1);
	CHECK_EQ(OP(write_file, A(AT_FDCWD), A(name), A(buf), 0, O_WRONLY), 0);
	CHECK_EQ(lseek(fd, 0, SEEK_END), 13);
	CHECK_EQ(OP(write_file, A(AT_FDCWD), A(name), 1, 5, O_WRONLY), -EFAULT);
	CHECK_EQ(OP(write_file, A(AT_FDCWD), A(name), A(buf), 5, O_RDONLY), -EBADF);
	CHECK_EQ(OP(write_file, A(AT_FDCWD), A("/tmp"), A(buf), 5, O_WRONLY), -EISDIR);
	CHECK_EQ(OP(write_file, A(AT_FDCWD), A("/dev/full"), A(buf), 5, O_WRONLY), -ENOSPC);
	/* One that is made has the rights that fopen gives. */
	unlink(name);
	umask(027);
	CHECK_EQ(OP(write_file, A(AT_FDCWD), A(name), A("made"), 4, O_WRONLY | O_CREAT | O_EXCL),
		 4);
	CHECK_EQ(OP(write_file, A(AT_FDCWD), A(name), A("made"), 4, O_WRONLY | O_CREAT | O_EXCL),
		 -EEXIST);
	CHECK(!stat(name, &stat_buf) && (stat_buf.st_mode & 07777) == 0640 &&
	      stat_buf.st_size == 4);
	/* None of these may leave a descriptor open. */
	close(next);
	CHECK_EQ(dup(fd), next);
	close(next);
	close(fd);
	unlink(name);
}

/* --- Directories ------------------------------------------------------------------------- */

#define FILES 60

/* Reads the rest of a directory in steps of `size`; marks the files seen, with their sizes. */
static void scan(int dir, size_t size, u8 *seen)
{
	_Alignas(8) char buf[32768];
	s64 n;

	while ((n = OP(scan_dir, dir, A(buf), size, AT_SYMLINK_NOFOLLOW)) > 0) {
		CHECK(n <= (s64)size && n % 8 == 0);
		for (s64 at = 0; at < n;) {
			const struct cosy_dirent *entry = (void *)(buf + at);
			struct stat stat, plain;
			int index;

			memcpy(&stat, entry->stat, sizeof(stat));
			CHECK_EQ(entry->error, 0);
			CHECK_EQ(fstatat(dir, entry->name, &plain, AT_SYMLINK_NOFOLLOW), 0);
			/* The parent is /tmp, where others come and go. */
			if (strcmp(entry->name, ".."))
				CHECK(!memcmp(&stat, &plain, sizeof(stat)));
			if (sscanf(entry->name, "file%d", &index) == 1) {
				CHECK_EQ(stat.st_size, index);
				CHECK_EQ(stat.st_ino, entry->ino);
				CHECK_EQ(seen[index]++, 0);
			}
			at += entry->reclen;
		}
	}
	CHECK_EQ(n, 0);
}

static int entries_in(const char *buf, s64 bytes)
{
	int entries = 0;

	for (s64 at = 0; at < bytes; at += ((const struct cosy_dirent *)(buf + at))->reclen)
		entries++;
	return entries;
}

/* Reads names of all lengths from 200 on, each into just enough room, and into 8 bytes less. */
static void longest_names(int dir)
{
	_Alignas(8) char buf[sizeof(struct cosy_dirent) + 256];
	char name[256] = "sub", *last = name + 3;
	int sub;

	MUST(!mkdirat(dir, name, 0700) && (sub = openat(dir, name, O_RDONLY | O_DIRECTORY)) >= 0);
	for (int length = 200; length < 256; length++) {
		size_t size = (sizeof(struct cosy_dirent) + length + 1 + 7) & ~7ul;
		int entries = 0;
		s64 n;

		memset(name, 'n', length);
		name[length] = 0;
		close(openat(sub, name, O_WRONLY | O_CREAT, 0600));
		lseek(sub, 0, SEEK_SET);
		while ((n = OP(scan_dir, sub, A(buf), size - 8, 0)) > 0)
			entries += entries_in(buf, n);
		CHECK_EQ(n, -EINVAL);
		CHECK(entries < 3);
		while ((n = OP(scan_dir, sub, A(buf), size, 0)) > 0)
			entries += entries_in(buf, n);
		CHECK_EQ(n, 0);
		CHECK_EQ(entries, 3);
		unlinkat(sub, name, 0);
	}
	close(sub);
	*last = 0;
	memcpy(name, "sub", 3);
	unlinkat(dir, name, AT_REMOVEDIR);
}

static void directories(void)
{
	char name[] = "/tmp/cosy-fast-XXXXXX";
	_Alignas(8) char buf[512];
	u8 seen[FILES];
	int dir, fd;

	MUST(mkdtemp(name));
	dir = open(name, O_RDONLY | O_DIRECTORY);
	MUST(dir >= 0);
	for (int i = 0; i < FILES; i++) {
		char file[16];

		snprintf(file, sizeof(file), "file%d", i);
		fd = openat(dir, file, O_WRONLY | O_CREAT, 0600);
		MUST(fd >= 0 && !ftruncate(fd, i));
		close(fd);
	}
	/* An access an hour ahead is later than every change: relatime has no listing set it. */
	MUST(!futimens(dir, (struct timespec[]){{.tv_sec = time(NULL) + 3600},
						{.tv_nsec = UTIME_OMIT}}));
	/* Read one entry at a time, a few, all: each is seen once. */
	for (size_t size = 192; size <= 32768; size = size * 4 + 8) {
		memset(seen, 0, sizeof(seen));
		lseek(dir, 0, SEEK_SET);
		scan(dir, size, seen);
		for (int i = 0; i < FILES; i++)
			CHECK_EQ(seen[i], 1);
	}
	/* Where not one fits nothing is lost. */
	memset(seen, 0, sizeof(seen));
	lseek(dir, 0, SEEK_SET);
	CHECK_EQ(OP(scan_dir, dir, A(buf), 100, 0), -EINVAL);
	scan(dir, 4096, seen);
	CHECK_EQ(seen[0], 1);
	longest_names(dir);
	/* The error of stat for a link that leads nowhere is the entry's own. */
	for (int i = 0; i < FILES; i++) {
		char file[16];

		snprintf(file, sizeof(file), "file%d", i);
		unlinkat(dir, file, 0);
	}
	MUST(!symlinkat("nowhere", dir, "link"));
	lseek(dir, 0, SEEK_SET);
	s64 n = 0;
	int errors = 0;
	while ((n = OP(scan_dir, dir, A(buf), sizeof(buf), 0)) > 0)
		for (s64 at = 0; at < n; at += ((struct cosy_dirent *)(buf + at))->reclen)
			errors += ((struct cosy_dirent *)(buf + at))->error == -ENOENT;
	CHECK_EQ(errors, 1);
	unlinkat(dir, "link", 0);
	close(dir);
	rmdir(name);
	CHECK_EQ(OP(scan_dir, dir, A(buf), sizeof(buf), 0), -EBADF);
	fd = file_with("");
	CHECK_EQ(OP(scan_dir, fd, A(buf), sizeof(buf), 0), -ENOTDIR);
	close(fd);
}

/* --- Trees of directories ------------------------------------------------------------------ */

/*
 * Walks the tree below `dir` by calls with `size` bytes; writes a letter and a name for each entry.
 */
static void walk_tree(int dir, u32 flags, u64 size, char *told)
{
	static struct {
		struct cosy_tree head;
		char names[8192];
	} tree;
	_Alignas(8) static char buf[16384];
	s64 n;

	memset(&tree, 0, sizeof(tree));
	tree.head = (struct cosy_tree){.size = sizeof(tree), .dirfd = dir, .flags = flags};
	lseek(dir, 0, SEEK_SET);
	while ((n = OP(scan_tree, A(&tree), A(buf), size)) > 0)
		for (s64 at = 0; at < n; at += ((struct cosy_dirent *)(buf + at))->reclen) {
			const struct cosy_dirent *entry = (void *)(buf + at);

			if (entry->kind || entry->name[0] != '.')
				told += sprintf(told, "%c%s ", "e><!"[entry->kind], entry -> name);
		}
	*told = 0;
	CHECK_EQ(n, 0);
	CHECK_EQ(OP(scan_tree, A(&tree), A(buf), size), 0);
}

static void trees(void)
{
	char name[] = "/tmp/cosy-tree-XXXXXX", told[1000], again[1000];
	static const char *const dirs[] = {"a", "a/b", "a/b/c"};
	int top, free, after;

	MUST(mkdtemp(name));
	top = open(name, O_RDONLY | O_DIRECTORY);
	free = dup(0);
	MUST(top >= 0 && free >= 0);
	close(free);
	for (unsigned int i = 0; i < COUNT(dirs); i++)
		MUST(!mkdirat(top, dirs[i], 0700));
	close(openat(top, "a/b/file", O_WRONLY | O_CREAT, 0600));
	walk_tree(top, 0, 16384, told);
	CHECK(!strcmp(told, ">. ea >a eb >b ec efile >c ") ||
	      !strcmp(told, ">. ea >a eb >b efile ec >c "));
	walk_tree(top, 0, COSY_TREE_MIN_BUFFER, again);
	CHECK(!strcmp(told, again));
	walk_tree(top, COSY_TREE_POST, 16384, told);
	CHECK(!strcmp(told + strlen(told) - 12, "<c <b <a <. "));
	for (unsigned int i = COUNT(dirs); i--;) {
		if (i == 1)
			unlinkat(top, "a/b/file", 0);
		MUST(!unlinkat(top, dirs[i], AT_REMOVEDIR));
	}
	after = dup(0);
	CHECK_EQ(after, free);
	close(after);
	close(top);
	rmdir(name);
}

/* --- Sockets and memory -------------------------------------------------------------------- */

static void lending(void)
{
	char buf[8] = "";
	int ends[2], fd = file_with("");

	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	CHECK_EQ(OP(lend, ends[0], A("abc"), 3, MSG_NOSIGNAL), 3);
	CHECK_EQ(recv(ends[1], buf, sizeof(buf), 0), 3);
	CHECK(!memcmp(buf, "abc", 4));
	close(ends[1]);
	CHECK_EQ(OP(lend, ends[0], A("abc"), 3, MSG_NOSIGNAL), -EPIPE);
	close(ends[0]);
	CHECK_EQ(OP(lend, fd, A("file"), 4, 0), 4);
	CHECK_EQ(OP(view_pread, fd, A(buf), 8, 0), 4);
	CHECK(!memcmp(buf, "file", 4));
	close(fd);
}

static void passes_over_memory(void)
{
	static u8 zeros[32], data[1000];

	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = i * 7;
	CHECK_EQ(OP(count, A("a\nb\n\n"), 5, '\n'), 3);
	CHECK_EQ(OP(count, A("a\nb\n\n"), 0, '\n'), 0);
	CHECK_EQ(OP(count, A("\xff"), 1, A(-1)), 1);
	CHECK_EQ(OP(crc32c, 0, A("123456789"), 9), 0xe3069283);
	/* The value is of RFC 3720, appendix B.4. */
	CHECK_EQ(OP(crc32c, 0, A(zeros), 32), 0x8a9136aa);
	CHECK_EQ(OP(crc32c, 0, A(data), 0), 0);
	for (unsigned int i = 0; i < sizeof(data); i += 37)
		CHECK_EQ(OP(crc32c, OP(crc32c, 0, A(data), i), A(data + i), sizeof(data) - i),
			 OP(crc32c, 0, A(data), sizeof(data)));
	CHECK_EQ(OP(discard, A(data), sizeof(data)), 0);
}

/* Only the interpreter has these. */
static void views_are_memory(void)
{
	u64 word = 0x8877665544332211, args[5] = {A(&word), 8};

	way = interpreted;
	for (u64 size = 1; size <= 8; size *= 2) {
		CHECK_EQ(OP(view_load, A(&word), size), (s64)(word & ~0ull >> (64 - 8 * size)));
		CHECK_EQ(OP(view_load, A(&word) + 8 - size, size), (s64)(word >> (64 - 8 * size)));
	}
	args[1] = 0xabcd;
	args[2] = 1;
	CHECK_EQ(interpreted(COSY_OP_view_store, args), 0);
	CHECK_EQ(word, 0x88776655443322cd);
	args[2] = 4;
	CHECK_EQ(interpreted(COSY_OP_view_store, args), 0);
	CHECK_EQ(word, 0x887766550000abcd);
}

#define MB (1ul << 20)

/* Has operations that change much memory leave between pieces, and go on. */
static void changes_memory_in_pieces(void)
{
	u8 *a = calloc(5, MB), *b = calloc(4, MB);

	MUST(a && b);
	way = by_parts;
	for (u64 i = 0; i < 4 * MB / sizeof(u64); i++)
		((u64 *)b)[i] = i;
	CHECK_EQ(OP(memcpy, A(a), A(b), 4 * MB), 0);
	CHECK(parts == 3 && !memcmp(a, b, 4 * MB));
	CHECK_EQ(OP(memmove, A(a + 1000), A(a), 4 * MB), 0);
	CHECK(parts == 3 && !memcmp(a + 1000, b, 4 * MB));
	CHECK_EQ(OP(memmove, A(a), A(a + 1000), 4 * MB), 0);
	CHECK(parts == 3 && !memcmp(a, b, 4 * MB));
	CHECK_EQ(OP(look, A(a + MB), A(b), 4 * MB), 0);
	CHECK(parts == 3 && !memcmp(a, b, MB) && !memcmp(a + MB, b, 4 * MB));
	CHECK_EQ(OP(memset, A(a), 7, 4 * MB), 0);
	CHECK(parts == 3 && a[0] == 7 && !memcmp(a, a + 1, 4 * MB - 1));
	CHECK_EQ(OP(memset, A(a), 8, MB), 0);
	CHECK(!parts && a[MB - 1] == 8 && a[MB] == 7);
	free(a);
	free(b);
}

/* Makes an operation once; returns whether it left. */
static bool leaves(u64 max_ns, u32 number, const u64 *args, s64 *result)
{
	struct cosy_state state = {.reg = {[1] = args[0], args[1], args[2]}};
	struct libcosy_interp in = {.state = &state, .max_ns = max_ns};

	libcosy_interp_op(&in, number);
	*result = state.reg[0];
	return in.left;
}

/* Has operations that only look at much memory leave, and checks their results when time suffices. */
static void looks_at_memory_in_pieces(const u8 *a, const u8 *b)
{
	const u64 an_hour = 3600ull * 1000000000;
	const struct {
		u32 number;
		u64 args[3];
		s64 result;
	} all[] = {
		{COSY_OP_memchr, {A(a), 2, 4 * MB}, A(a + 4 * MB - 1)},
		{COSY_OP_memchr, {A(a), 4, 4 * MB}, 0},
		{COSY_OP_memrchr, {A(a), 9, 4 * MB}, A(a)},
		{COSY_OP_strnlen, {A(a), 4 * MB}, 4 * MB},
		{COSY_OP_strnlen, {A(a), 3 * MB + 7}, 3 * MB + 7},
		{COSY_OP_count, {A(a), 4 * MB, 1}, 4 * MB - 2},
		{COSY_OP_crc32c, {5, A(a), 4 * MB}, cosy_crc32c(5, a, 4 * MB)},
		{COSY_OP_memcmp, {A(a), A(b), 4 * MB}, memcmp(a, b, 4 * MB)},
	};
	s64 result;

	for (unsigned int i = 0; i < COUNT(all); i++) {
		CHECK(leaves(1, all[i].number, all[i].args, &result));
		CHECK(!leaves(an_hour, all[i].number, all[i].args, &result));
		CHECK_EQ(result, all[i].result);
	}
}

static void looks_at_memory(void)
{
	u8 *a = malloc(4 * MB), *b = malloc(4 * MB);

	MUST(a && b);
	memset(a, 1, 4 * MB);
	memset(b, 1, 4 * MB);
	a[0] = b[0] = 9;
	a[4 * MB - 1] = 2;
	b[4 * MB - 1] = 3;
	looks_at_memory_in_pieces(a, b);
	free(a);
	free(b);
}

int main(void)
{
	for (unsigned int i = 0; i < COUNT(ways); i++) {
		way = ways[i];
		reads();
		bytes_come_one_by_one();
		seeks();
		trees();
		whole_files();
		ready_descriptors();
		directories();
		lending();
		passes_over_memory();
	}
	views_are_memory();
	changes_memory_in_pieces();
	looks_at_memory();
	return check_result();
}
