/* SPDX-License-Identifier: MIT */
/*
 * Lists and scans directories and reads whole files, each as one operation: the result is that of
 * getdents64, newfstatat, openat, read and close in their order, however memory and names change.
 */
#include "guards.h"
#include "raw.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#define BUFFER 65536
#define FILES  700
#define LARGE  (4 * BUFFER)

static int device, dir;
static char *shared;  /* the shared buffer */
static char *private; /* LARGE bytes of other memory */

/* The programs that were loaded, by the number of their call. */
static uint32_t handles[4];
static int numbers[4];

/* Makes one call or operation with these arguments, in a compound of its own. */
static long call(int number, long a, long b, long c, long d, long e)
{
	static struct raw_run run;
	static uint64_t words[6];
	int i = 0;

	while (numbers[i] != number && handles[i])
		i++;
	MUST(i < 4);
	if (!handles[i]) {
		struct bpf_insn insns[] = {
			MOVR(6, 1),
			LOAD(BPF_DW, 1, 6, 0),
			LOAD(BPF_DW, 2, 6, 8),
			LOAD(BPF_DW, 3, 6, 16),
			LOAD(BPF_DW, 4, 6, 24),
			LOAD(BPF_DW, 5, 6, 32),
			CALL(number),
			STORE(BPF_DW, 6, 40, 0),
			EXIT,
		};

		handles[i] = raw_load(device, insns, COUNT(insns));
		numbers[i] = number;
	}
	memcpy(words,
	       (uint64_t[]){ (uint64_t)a, (uint64_t)b, (uint64_t)c, (uint64_t)d, (uint64_t)e, 1 },
	       sizeof(words));
	raw_run_init(&run, handles[i], words);
	MUST(!raw_run_to_end(device, &run) && run.run.status == COSY_DONE);
	return (long)words[5];
}

static long scan(int fd, void *to, long size, int flags)
{
	return call((int)COSY_OP_BASE + RAW_OP_scan_dir, fd, (long)to, size, flags, 0);
}

static long getdents(int fd, void *to, long size)
{
	return call(SYS_getdents64, fd, (long)to, size, 0, 0);
}

static long write_file(const char *name, const void *from, long size, int flags)
{
	return call((int)COSY_OP_BASE + RAW_OP_write_file, dir, (long)name, (long)from, size,
		    flags);
}

static long read_file(const char *name, void *to, long size, int flags)
{
	return call((int)COSY_OP_BASE + RAW_OP_read_file, dir, (long)name, (long)to, size, flags);
}

/* Compares one entry of a scan with that of the calls, `plain`. */
static void compare(const struct cosy_dirent *entry, const struct dirent64 *plain, int flags)
{
	struct stat st;
	int error;

	CHECK(entry->ino == plain->d_ino && entry->off == plain->d_off &&
		      entry->type == plain->d_type && !strcmp(entry->name, plain->d_name),
	      "entry %s, not %s", entry->name, plain->d_name);
	memset(&st, 0, sizeof(st));
	error = fstatat(dir, plain->d_name, &st, flags) ? -errno : 0;
	CHECK(entry->error == error, "%s, flags %#x: %d, not %d", entry->name, flags, entry->error,
	      error);
	CHECK(!memcmp(entry->stat, &st, sizeof(st)), "%s, flags %#x: other attributes", entry->name,
	      flags);
}

/* Scans a whole directory, in bites of `size` bytes. */
static void whole(char *to, long size, int flags)
{
	static char plain[FILES * 300];
	long got = 0, bytes, entries = 0;
	char *next = plain, *end;

	MUST(!lseek(dir, 0, SEEK_SET));
	while ((bytes = syscall(SYS_getdents64, dir, plain + got, sizeof(plain) - got)) > 0)
		got += bytes;
	MUST(!bytes && !lseek(dir, 0, SEEK_SET));
	end = plain + got;
	while ((bytes = scan(dir, to, size, flags)) > 0) {
		CHECK(bytes <= size && bytes % 8 == 0, "%ld bytes of %ld", bytes, size);
		for (char *at = to; at < to + bytes && next < end;) {
			struct cosy_dirent *entry = (struct cosy_dirent *)at;
			struct dirent64 *other = (struct dirent64 *)next;

			compare(entry, other, flags);
			entries++;
			at += entry->reclen;
			next += other->d_reclen;
		}
	}
	CHECK(!bytes && next == end && entries > FILES, "scan ended with %ld after %ld entries",
	      bytes, entries);

	/* The plain listing has entries that begin with the same bytes. */
	MUST(!lseek(dir, 0, SEEK_SET));
	next = plain;
	while ((bytes = getdents(dir, to, size)) > 0)
		for (char *at = to; at < to + bytes; next += ((struct dirent64 *)next)->d_reclen) {
			struct dirent64 *entry = (struct dirent64 *)at,
					*other = (struct dirent64 *)next;

			CHECK(!memcmp(entry, other, offsetof(struct dirent64, d_name)) &&
				      !strcmp(entry->d_name, other->d_name),
			      "listed %s, not %s", entry->d_name, other->d_name);
			at += entry->d_reclen;
		}
	CHECK(!bytes && next == end, "listing ended with %ld", bytes);
}

static void errors(void)
{
	int file = open("f0", O_RDONLY), path = open(".", O_PATH), gone;
	void *zero;
	struct {
		int fd;
		void *to;
		long size;
	} bad[] = {
		{ -1, shared, 4096 },	{ 999, shared, 4096 }, { file, shared, 4096 },
		{ path, shared, 4096 }, { dir, NULL, 4096 },   { dir, (void *)-4096, 4096 },
		{ dir, shared, 16 },	{ dir, shared, 0 },    { dir, shared + BUFFER - 16, 16 },
		{ dir, NULL, 16 },	{ -1, NULL, 4096 },
	};

	for (size_t i = 0; i < COUNT(bad); i++) {
		long want, got, listed;

		lseek(dir, 0, SEEK_SET);
		want = syscall(SYS_getdents64, bad[i].fd, bad[i].to, bad[i].size) < 0 ? -errno : 1;
		lseek(dir, 0, SEEK_SET);
		listed = getdents(bad[i].fd, bad[i].to, bad[i].size);
		lseek(dir, 0, SEEK_SET);
		got = scan(bad[i].fd, bad[i].to, bad[i].size, 0);
		CHECK((listed < 0 ? listed : 1) == want, "getdents64 %zu: %ld, not %ld", i, listed,
		      want);
		CHECK((got < 0 ? got : 1) == want, "scan %zu: %ld, not %ld", i, got, want);
	}
	/* What is not the user's is not at address 0 either, where root may have memory. */
	zero = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		    0);
	if (zero != MAP_FAILED) {
		lseek(dir, 0, SEEK_SET);
		CHECK(getdents(dir, (void *)-4096, 4096) == -EFAULT, "listed to address 0");
		lseek(dir, 0, SEEK_SET);
		CHECK(scan(dir, (void *)-4096, 4096, 0) == -EFAULT, "scanned to address 0");
		MUST(!munmap(zero, 4096));
	}
	MUST(!mkdir("gone", 0700) && (gone = open("gone", O_RDONLY | O_DIRECTORY)) >= 0 &&
	     !rmdir("gone"));
	CHECK(scan(gone, shared, 4096, 0) == -ENOENT, "a directory that was removed");
	close(gone);
	close(file);
	close(path);
}

/* --- Going on with what is left ---------------------------------------------------------------- */

/* Goes on with so many bytes of entries as a scan does that had left. */
static long rest(void *entries, long bytes)
{
	return call((int)COSY_OP_BASE + RAW_OP_scan_dir, dir, (long)entries, bytes,
		    (long)(COSY_UNDER_WAY | AT_SYMLINK_NOFOLLOW), 0);
}

/* Entries that no scan has written: what is wrong with them is found before they are examined. */
static void forged(void)
{
	enum { LENGTH = (offsetof(struct cosy_dirent, name) + 4 + 7) & ~7, FIRST = 0x5a };
	static const struct {
		const char *what;
		int reclen, bytes;
		long wanted;
	} wrong[] = {
		{ "too short", 8, 8, -EINVAL },
		{ "too short for a name", LENGTH - 8, LENGTH - 8, -EINVAL },
		{ "no words", LENGTH + 4, 2 * LENGTH, -EINVAL },
		{ "beyond the end", 2 * LENGTH, LENGTH, -EINVAL },
		{ "too many", LENGTH, BUFFER + 8, -EINVAL },
		{ "of no length", 0, LENGTH, -EINVAL },
	};
	struct stat st;

	for (int k = 0; k < 2; k++) {
		char *to = k ? private : shared;
		struct cosy_dirent *entry = (void *)to, *second = (void *)(to + LENGTH);

		for (size_t i = 0; i < COUNT(wrong) && !check_failures; i++) {
			memset(to, FIRST, 4 * LENGTH);
			strcpy(entry->name, "f0");
			entry->reclen = (unsigned short)wrong[i].reclen;
			CHECK(rest(to, wrong[i].bytes) == wrong[i].wanted, "%s", wrong[i].what);
			CHECK(entry->stat[0] == 0x0101010101010101ull * FIRST, "%s: examined",
			      wrong[i].what);
		}
		memset(to, FIRST, 4 * LENGTH);
		strcpy(entry->name, "f0");
		strcpy(second->name, "no");
		entry->reclen = second->reclen = LENGTH;
		CHECK(rest(to, 2 * LENGTH) == 2 * LENGTH, "two entries");
		MUST(!fstatat(dir, "f0", &st, 0));
		CHECK(!memcmp(entry->stat, &st, sizeof(st)), "other attributes");
		CHECK(second->error == -ENOENT && !second->stat[0], "error %d", second->error);
	}
	CHECK(!rest(shared, 0), "no entries");
	CHECK(rest(NULL, LENGTH) == -EFAULT, "no memory");
}

/* --- While others change things ---------------------------------------------------------- */

static _Atomic bool done;

static void *mover(void *unused)
{
	char from[16], to[16];

	for (unsigned int i = 0; !done; i++) {
		snprintf(from, sizeof(from), "f%u", i % 50);
		snprintf(to, sizeof(to), "g%u", i % 50);
		renameat(dir, from, dir, to);
		unlinkat(dir, "extra", 0);
		close(openat(dir, "extra", O_CREAT | O_RDWR, 0600));
		renameat(dir, to, dir, from);
	}
	return unused;
}

/* Entries may have gone by the time they are examined; nothing else may be wrong with them. */
static void moving(void)
{
	long entries = 0, missing = 0, bytes;
	pthread_t thread;

	done = false;
	MUST(!pthread_create(&thread, NULL, mover, NULL));
	for (int i = 0; i < 20; i++) {
		MUST(!lseek(dir, 0, SEEK_SET));
		while ((bytes = scan(dir, shared, BUFFER, AT_SYMLINK_NOFOLLOW)) > 0)
			for (char *at = shared; at < shared + bytes;) {
				struct cosy_dirent *entry = (struct cosy_dirent *)at;

				entries++;
				missing += entry->error == -ENOENT;
				CHECK(!entry->error || entry->error == -ENOENT, "%s: error %d",
				      entry->name, entry->error);
				CHECK(entry->error || entry->name[0] == '.' ||
					      entry->type ==
						      ((struct stat *)entry->stat)->st_mode >> 12,
				      "%s: type %d, mode %o", entry->name, entry->type,
				      ((struct stat *)entry->stat)->st_mode);
				at += entry->reclen;
			}
		CHECK(!bytes, "%ld", bytes);
	}
	done = true;
	pthread_join(thread, NULL);
	CHECK(entries >= 20 * FILES, "%ld entries, %ld of them missing", entries, missing);
	unlinkat(dir, "extra", 0);
}

static void *scribbler(void *unused)
{
	while (!done)
		for (int at = 0; at < BUFFER; at += 8)
			*(volatile uint64_t *)(shared + at) =
				chance(2) ? chance(0) : (uint64_t)'/' << 8 * chance(8);
	return unused;
}

/* Writes over the entries while the scan goes through them: it gives nonsense, and does no harm. */
static void scribbled(void)
{
	pthread_t thread;
	long bytes;

	done = false;
	MUST(!pthread_create(&thread, NULL, scribbler, NULL));
	for (int i = 0; i < 40; i++) {
		MUST(!lseek(dir, 0, SEEK_SET));
		while ((bytes = scan(dir, shared, 8192, AT_SYMLINK_NOFOLLOW)) > 0)
			;
		/* A scan that left in the middle finds no entry where it goes on. */
		CHECK(!bytes || bytes == -EINVAL, "%ld", bytes);
	}
	done = true;
	pthread_join(thread, NULL);
}

/* Runs as a user who may list but not search a directory: gets the names, and an error for each. */
static void unsearchable(void *unused)
{
	long bytes, entries = 0;
	int mine;

	(void)unused;
	become_nobody(true);
	device = raw_open();
	memset(handles, 0, sizeof(handles));
	shared = raw_buffer(device, BUFFER);
	MUST(!mkdir("mine", 0700) && (mine = open("mine", O_RDONLY | O_DIRECTORY)) >= 0);
	close(openat(mine, "a", O_CREAT | O_RDWR, 0600));
	close(openat(mine, "b", O_CREAT | O_RDWR, 0600));
	MUST(!fchmod(mine, 0600));
	bytes = scan(mine, shared, BUFFER, 0);
	for (char *at = shared; at < shared + bytes; entries++) {
		struct cosy_dirent *entry = (struct cosy_dirent *)at;

		CHECK(entry->error == -EACCES, "%s: %d", entry->name, entry->error);
		at += entry->reclen;
	}
	CHECK(entries == 4, "%ld bytes, %ld entries", bytes, entries);
	CHECK(!fchmod(mine, 0700) && !unlinkat(mine, "a", 0) && !unlinkat(mine, "b", 0) &&
		      !rmdir("mine"),
	      "cleaning up");
}

/* Scans a directory whose names have to be revalidated: each is examined the ordinary way. */
static void revalidated(void)
{
	struct cosy_stats before = counts();
	int proc = open("/proc/self", O_RDONLY | O_DIRECTORY);
	long bytes = scan(proc, shared, BUFFER, AT_SYMLINK_NOFOLLOW), entries = 0;

	for (char *at = shared; at < shared + bytes; entries++) {
		struct cosy_dirent *entry = (struct cosy_dirent *)at;

		CHECK(!entry->error, "/proc/self/%s: %d", entry->name, entry->error);
		at += entry->reclen;
	}
	CHECK(entries > 10, "/proc/self: %ld bytes, %ld entries", bytes, entries);
	close(proc);
	CHECK_GUARD(before, PLAIN_DENTRY);
}

/* --- Whole files ------------------------------------------------------------------------- */

static long free_descriptor(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* Writes the file from the shared buffer and from other memory, longer, shorter and at its end. */
static void written(const char *content, size_t size)
{
	static const struct {
		size_t size;
		int flags;
		size_t whole;
	} ways[] = {
		{ 20000, O_WRONLY | O_TRUNC, 20000 },
		{ 20000, O_WRONLY, 20000 },
		{ 5000, O_WRONLY, 20000 },
		{ 5000, O_WRONLY | O_TRUNC, 5000 },
		{ 7000, O_WRONLY | O_APPEND, 12000 },
		{ 0, O_WRONLY, 12000 },
		{ 300, O_RDWR | O_CREAT | O_TRUNC, 300 },
	};

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < COUNT(ways); i++) {
			char *from = k ? private : shared;
			long r;

			memset(from, 0, BUFFER);
			memcpy(from, content + i,
			       ways[i].size + i < size ? ways[i].size : size - i);
			r = write_file("whole", from, ways[i].size, ways[i].flags);
			CHECK(r == (long)ways[i].size, "written: %ld, not %zu", r, ways[i].size);
			memcpy(private + BUFFER / 2, from, ways[i].size);
			r = read_file("whole", private, BUFFER / 2, O_RDONLY);
			CHECK(r == (long)ways[i].whole, "way %zu: %ld long", i, r);
			CHECK(!memcmp(private + (ways[i].flags & O_APPEND ? r - ways[i].size : 0),
				      private + BUFFER / 2, ways[i].size),
			      "way %zu: other bytes", i);
		}
	CHECK(write_file("whole", NULL, 100, O_WRONLY) == -EFAULT, "from no memory");
	CHECK(write_file("whole", shared, 100, O_RDONLY) == -EBADF, "not for writing");
	CHECK(write_file("none", shared, 100, O_WRONLY) == -ENOENT, "no file to write");
	CHECK(write_file(".", shared, 100, O_WRONLY) == -EISDIR, "writing a directory");
	CHECK(write_file("whole", shared, 1, O_WRONLY | O_CREAT | O_EXCL) == -EEXIST,
	      "there already");
}

static void files(void)
{
	static char content[20000];
	long before = free_descriptor(), r;
	int fd = openat(dir, "whole", O_CREAT | O_RDWR, 0600);

	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (char)(i * 7 + i / 251);
	MUST(write(fd, content, sizeof(content)) == sizeof(content) && !close(fd));
	for (int k = 0; k < 2; k++) {
		char *to = k ? private : shared;

		memset(to, 0, BUFFER);
		r = read_file("whole", to, BUFFER, O_RDONLY);
		CHECK(r == sizeof(content) && !memcmp(to, content, sizeof(content)), "whole: %ld",
		      r);
		memset(to, 0, BUFFER);
		r = read_file("whole", to, 5000, O_RDONLY);
		CHECK(r == 5000 && !memcmp(to, content, 5000) && !to[5000], "a part: %ld", r);
	}
	CHECK(!read_file("whole", shared, 0, O_RDONLY), "nothing wanted");
	CHECK(read_file("whole", NULL, 100, O_RDONLY) == -EFAULT, "no memory");
	CHECK(read_file("whole", shared, 100, O_WRONLY) == -EBADF, "not for reading");
	CHECK(read_file("none", shared, 100, O_RDONLY) == -ENOENT, "no file");
	CHECK(read_file(".", shared, 100, O_RDONLY) == -EISDIR, "a directory");
	CHECK(read_file("link", shared, 100, O_RDONLY | O_NOFOLLOW) == -ELOOP, "a link");
	CHECK(read_file("/proc/self/stat", shared, 100, O_RDONLY) == 100, "a file of procfs");

	written(content, sizeof(content));
	CHECK(free_descriptor() == before, "a descriptor was left: %ld, before %ld",
	      free_descriptor(), before);
	CHECK(!unlinkat(dir, "whole", 0), "cleaning up");
}

int main(void)
{
	char name[256];

	chance_init();
	device = raw_open();
	shared = raw_buffer(device, BUFFER);
	private = malloc(LARGE);
	directory_enter();
	MUST(!chmod(".", 0777) && private);
	dir = open(".", O_RDONLY | O_DIRECTORY);
	MUST(dir >= 0 && !mkdir("sub", 0750) && !symlink("sub", "link") &&
	     !symlink("nowhere", "dangling"));
	/* Take names of all lengths, so that they end at each place in a word. */
	for (int i = 0; i < FILES; i++) {
		int length = snprintf(name, sizeof(name), "f%d", i);

		if (i >= 100 && i < 350) {
			memset(name + length, 'x', (size_t)(i - 100));
			name[i - 100 + length < 255 ? i - 100 + length : 255] = 0;
		}
		close(openat(dir, name, O_CREAT | O_RDWR, 0600));
	}
	for (int k = 0; k < 2; k++) {
		char *to = k ? private : shared;

		whole(to, BUFFER, AT_SYMLINK_NOFOLLOW);
		whole(to, BUFFER, 0);
		whole(to, 1000, AT_SYMLINK_NOFOLLOW);
		whole(to, 4096, 1 << 30);
	}
	/* More than one call lists. */
	whole(private, LARGE, AT_SYMLINK_NOFOLLOW);
	errors();
	forged();
	moving();
	scribbled();
	revalidated();
	CHECK_CHILD(in_child(unsearchable, NULL));
	files();
	MUST(!system("rm -rf ./*"));
	directory_leave();
	return check_end();
}
