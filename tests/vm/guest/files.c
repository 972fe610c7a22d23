/* SPDX-License-Identifier: MIT */
/*
 * Does a program's worth of work on files, pipes, sockets, epoll and memory, each step by a region;
 * effects and output are the same wherever it runs.
 */
#include "check.h"
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define FILES 60

/* The plain program's result, which is the same on any file system. */
#define PLAIN_DIGEST 0xdfe55f57d895ff27

struct linux_dirent64 {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

static uint64_t digest = 0xcbf29ce484222325;

/* Adds to the digest, which is printed at the end. */
static void note(const char *what, long value)
{
	for (const char *c = what; *c; c++)
		digest = (digest ^ (unsigned char)*c) * 0x100000001b3;
	for (int i = 0; i < 8; i++)
		digest = (digest ^ (unsigned char)(value >> (8 * i))) * 0x100000001b3;
}

static inline void number_name(char *name, int n)
{
	name[0] = 'f';
	name[1] = (char)('0' + n / 10 % 10);
	name[2] = (char)('0' + n % 10);
	name[3] = 0;
}

static void create(void)
{
	struct cosy_stats before = counts();
	char name[8], text[128];
	int made = 0, fd;

	COSY_START;
	for (int n = 0; n < FILES; n++) {
		number_name(name, n);
		fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0640);
		if (fd < 0)
			break;
		for (int i = 0; i < 128; i++)
			text[i] = (char)('a' + (n + i) % 26);
		for (int i = 0; i < n; i++)
			if (write(fd, text, 128) == 128)
				made++;
		close(fd);
	}
	COSY_END;
	CHECK(made == FILES * (FILES - 1) / 2, "create: %d blocks", made);
	note("create", made);
	CHECK_KERNEL(before, 1, made + 2 * FILES);
}

static void shuffle(void)
{
	struct cosy_stats before = counts();
	char from[8], to[16];
	int renamed = 0, linked = 0, removed = 0, wrong = 0;

	COSY_START;
	for (int n = 0; n < FILES; n++) {
		number_name(from, n);
		strcpy(to, "new.");
		strcpy(to + 4, from);
		switch (n % 4) {
		case 0:
			renamed += !rename(from, to);
			break;
		case 1:
			linked += !link(from, to);
			break;
		case 2:
			linked += !symlink(from, to);
			break;
		default:
			removed += !unlink(from);
		}
		if (unlink("nobody") != -1 || errno != ENOENT)
			wrong++;
	}
	COSY_END;
	CHECK(renamed == 15 && linked == 30 && removed == 15 && !wrong,
	      "shuffle: %d renamed, %d linked, %d removed, %d wrong", renamed, linked, removed,
	      wrong);
	note("shuffle", renamed * 10000 + linked * 100 + removed);
	CHECK_KERNEL(before, 1, 2 * FILES);
}

static void list(void)
{
	struct cosy_stats before = counts();
	char entries[1024], target[16];
	long names = 0, size = 0, links = 0, target_bytes = 0, hash = 0, got = 0;
	int dir;

	COSY_START;
	dir = open(".", O_RDONLY | O_DIRECTORY);
	while ((got = syscall(SYS_getdents64, dir, entries, sizeof(entries))) > 0)
		for (long at = 0; at < got;) {
			struct linux_dirent64 *entry = (struct linux_dirent64 *)(entries + at);
			struct stat st;

			at += entry->reclen;
			if (entry->name[0] == '.')
				continue;
			names++;
			if (fstatat(dir, entry->name, &st, AT_SYMLINK_NOFOLLOW))
				continue;
			if (S_ISLNK(st.st_mode)) {
				links++;
				target_bytes += readlink(entry->name, target, sizeof(target));
				hash += target[1] * target[2];
			} else {
				size += st.st_size * (long)st.st_nlink;
				for (const char *c = entry->name; *c;
				     c++) /* the order is the file system's */
					hash += *c * (c - entry->name + 1);
			}
		}
	close(dir);
	COSY_END;
	CHECK(names == 75 && links == 15 && got == 0, "list: %ld names, %ld links, getdents %ld",
	      names, links, got);
	note("names", names);
	note("size", size);
	note("targets", target_bytes);
	note("hash", hash);
	CHECK_KERNEL(before, 1, names + links);
}

static void in_place(void)
{
	struct cosy_stats before = counts();
	char a[512], b[512];
	struct iovec parts[2] = { { a, 100 }, { b, 50 } };
	long sum = 0, moved = 0;
	int fd, grown, cut;
	struct stat st;

	COSY_START;
	fd = open("new.f40", O_RDWR);
	grown = ftruncate(fd, 100000);
	for (int i = 0; i < 100; i++) {
		for (int j = 0; j < 512; j++)
			a[j] = (char)(i + j);
		moved += pwrite(fd, a, 512, i * 1000);
		moved += pread(fd, b, 512, i * 1000);
		for (int j = 0; j < 512; j++)
			sum += a[j] == b[j];
	}
	cut = ftruncate(fd, 5000);
	moved += lseek(fd, -150, SEEK_END);
	moved += readv(fd, parts, 2);
	moved += read(fd, a, 1);
	fstat(fd, &st);
	fsync(fd);
	close(fd);
	COSY_END;
	CHECK(!grown && !cut && sum == 51200 && moved == 102400 + 4850 + 150 && st.st_size == 5000,
	      "in place: %d %d, %ld equal, %ld moved, size %ld", grown, cut, sum, moved,
	      (long)st.st_size);
	note("in place", moved + sum);
	CHECK_KERNEL(before, 1, 200);
}

static void wires(void)
{
	struct cosy_stats before = counts();
	int pipes[2], pair[2], poll, ready = 0, n = 0;
	char text[64], back[64];
	long bytes = 0, same = 0;

	COSY_START;
	if (pipe2(pipes, O_CLOEXEC) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) {
		ready = -1000;
	} else {
		struct epoll_event want = { .events = EPOLLIN, .data = { .u32 = 1 } }, got[4];

		poll = epoll_create1(0);
		epoll_ctl(poll, EPOLL_CTL_ADD, pipes[0], &want);
		want.data.u32 = 2;
		epoll_ctl(poll, EPOLL_CTL_ADD, pair[1], &want);
		for (int i = 0; i < 50; i++) {
			for (int j = 0; j < 64; j++)
				text[j] = (char)(i * j);
			if (i % 2)
				bytes += write(pipes[1], text, 64);
			else
				bytes += send(pair[0], text, 64, 0);
			n = epoll_wait(poll, got, 4, 1000);
			for (int k = 0; k < n; k++) {
				ready += (int)got[k].data.u32;
				bytes += read(got[k].data.u32 == 1 ? pipes[0] : pair[1], back, 64);
				same += !memcmp(text, back, 64);
			}
		}
		close(poll);
		close(pipes[0]);
		close(pipes[1]);
		shutdown(pair[0], SHUT_RDWR);
		bytes += read(pair[1], back, 64);
		close(pair[0]);
		close(pair[1]);
	}
	COSY_END;
	CHECK(ready == 75 && bytes == 6400 && same == 50, "wires: ready %d, %ld bytes, %ld same",
	      ready, bytes, same);
	note("wires", ready + bytes + same);
	CHECK_KERNEL(before, 1, 150);
}

static void memory(void)
{
	struct cosy_stats before = counts();
	uint64_t sum = 0;
	long moved = 0;
	int fd, bad = 0;

	COSY_START;
	fd = open("mapped", O_RDWR | O_CREAT | O_TRUNC, 0600);
	ftruncate(fd, 65536);
	for (int round = 0; round < 10; round++) {
		uint32_t *words = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		uint32_t word = 0;

		if (words == MAP_FAILED) {
			bad++;
			break;
		}
		for (int i = 0; i < 16384; i++)
			words[i] += (uint32_t)(i * (round + 1));
		moved += pread(fd, &word, 4, 4 * (round + 100));
		sum = sum * 31 + word;
		bad += mprotect(words, 65536, PROT_READ) != 0;
		sum += words[16383];
		bad += munmap(words, 65536) != 0;
	}
	close(fd);
	unlink("mapped");
	COSY_END;
	CHECK(!bad && moved == 40, "memory: %d errors, %ld bytes", bad, moved);
	note("memory", (long)sum);
	CHECK_KERNEL(before, 1, 44);
}

static void clean(void)
{
	struct cosy_stats before = counts();
	char name[16];
	int removed = 0;

	COSY_START;
	for (int n = 0; n < FILES; n++) {
		number_name(name, n);
		removed += !unlink(name);
		strcpy(name, "new.");
		number_name(name + 4, n);
		removed += !unlink(name);
	}
	COSY_END;
	CHECK(removed == 75, "clean: %d removed", removed);
	note("clean", removed);
	CHECK_KERNEL(before, 1, 2 * FILES);
}

int main(void)
{
	directory_enter();
	create();
	shuffle();
	list();
	in_place();
	wires();
	memory();
	clean();
	directory_leave();
	printf("digest %016llx\n", (unsigned long long)digest);
	CHECK(digest == PLAIN_DIGEST, "another digest than the plain program's");
	return check_end();
}
