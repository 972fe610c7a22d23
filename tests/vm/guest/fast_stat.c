/* SPDX-License-Identifier: MIT */
/*
 * Takes attributes by name under an open directory: results, errors and bytes are those of the
 * calls themselves; and fails each guard once.
 */
#include "guards.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/syscall.h>

static int dir;

struct answer {
	long result;
	struct stat st;
};

static void compare(const char *what, const char *name, int dirfd, int flags,
		    const struct answer *got, const struct answer *want)
{
	CHECK(got->result == want->result, "%s(%d, \"%.40s\", %#x): %ld, not %ld", what, dirfd,
	      name, flags, got->result, want->result);
	CHECK(!memcmp(&got->st, &want->st, sizeof(got->st)),
	      "%s(%d, \"%.40s\", %#x): other attributes", what, dirfd, name, flags);
}

/* Compares newfstatat in a region and outside. */
static void same_at(int dirfd, const char *name, int flags)
{
	struct answer got = { 0 }, want = { 0 };

	COSY_START;
	got.result = fstatat(dirfd, name, &got.st, flags);
	if (got.result)
		got.result = -errno;
	COSY_END;
	want.result = fstatat(dirfd, name, &want.st, flags) ? -errno : 0;
	compare("fstatat", name, dirfd, flags, &got, &want);
}

static void same_here(const char *name)
{
	struct answer got[2] = { 0 }, want[2] = { 0 };

	COSY_START;
	got[0].result = stat(name, &got[0].st);
	if (got[0].result)
		got[0].result = -errno;
	got[1].result = lstat(name, &got[1].st);
	if (got[1].result)
		got[1].result = -errno;
	COSY_END;
	want[0].result = stat(name, &want[0].st) ? -errno : 0;
	want[1].result = lstat(name, &want[1].st) ? -errno : 0;
	compare("stat", name, 0, 0, &got[0], &want[0]);
	compare("lstat", name, 0, 0, &got[1], &want[1]);
}

static void same_fd(int fd)
{
	struct answer got = { 0 }, want = { 0 };

	COSY_START;
	got.result = fstat(fd, &got.st);
	if (got.result)
		got.result = -errno;
	COSY_END;
	want.result = fstat(fd, &want.st) ? -errno : 0;
	compare("fstat", "", fd, 0, &got, &want);
}

static void make(const char *name)
{
	int fd = openat(dir, name, O_CREAT | O_WRONLY, 0640);

	MUST(fd >= 0 && write(fd, "12345", 5) == 5 && !close(fd));
}

/* Tries every kind of name, directory and flag. */
static void same(void)
{
	static const int flags[] = { 0,
				     AT_SYMLINK_NOFOLLOW,
				     AT_NO_AUTOMOUNT,
				     AT_EMPTY_PATH,
				     AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
				     0x2000,
				     0x4000,
				     1 << 30 };
	char longest[256 + 1], too_long[256 + 2];
	const char *const names[] = { "file",  "sub",	 "link",	"dangling", "fifo",
				      "gone",  ".",	 "..",		"",	    "/",
				      "sub/",  "./file", "sub/../file", "...",	    ".x",
				      longest, too_long, "/dev/null" };
	int fds[] = { dir,
		      AT_FDCWD,
		      -1,
		      999,
		      open("file", O_RDONLY),
		      open(".", O_PATH | O_DIRECTORY),
		      open("file", O_PATH),
		      open("/dev/null", O_RDWR),
		      open("sub", O_RDONLY) };
	struct cosy_stats before = counts();
	int pipes[2];

	memset(longest, 'n', 255);
	longest[255] = 0;
	memset(too_long, 'n', 256);
	too_long[256] = 0;
	make(longest);
	make("...");
	make(".x");
	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++) {
		for (size_t f = 0; f < sizeof(flags) / sizeof(*flags); f++)
			for (size_t d = 0; d < sizeof(fds) / sizeof(*fds); d++)
				same_at(fds[d], names[n], flags[f]);
		same_here(names[n]);
	}
	MUST(!pipe(pipes));
	same_fd(pipes[0]);
	for (size_t d = 0; d < sizeof(fds) / sizeof(*fds); d++) {
		same_fd(fds[d]);
		if (d >= 4)
			close(fds[d]);
	}
	close(pipes[0]);
	close(pipes[1]);
	CHECK(!unlinkat(dir, longest, 0) && !unlinkat(dir, "...", 0) && !unlinkat(dir, ".x", 0),
	      "unlinkat");
	CHECK_FAST(before, 60);
	CHECK_GUARD(before, NAME);
	CHECK_GUARD(before, LIMITED);
}

/* Passes names and destinations that are not memory, at its end, or no user's. */
static void memory(void)
{
	struct cosy_stats before = counts();
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stat *bad[] = { NULL, (void *)-4096, (void *)0x7fffffffe000,
			       (void *)(pages + 4096 - 72), (void *)1 };
	const char *name = pages + 4096 - 5;
	long r[5][2], edge = -1;
	struct stat st;

	MUST(pages != MAP_FAILED && !mprotect(pages + 4096, 4096, PROT_NONE));
	for (int i = 0; i < 5; i++) {
		struct stat *to = bad[i];

		COSY_START;
		r[i][0] = fstatat(dir, "file", to, 0);
		r[i][1] = fstat(dir, to);
		COSY_END;
		CHECK(r[i][0] == -1 && r[i][1] == -1, "destination %d: %ld %ld", i, r[i][0],
		      r[i][1]);
	}
	for (int i = 0; i < 3; i++) {
		const char *path = (const char *)bad[i];
		long result;

		COSY_START;
		result = fstatat(dir, path, &st, 0);
		if (result)
			result = -errno;
		COSY_END;
		CHECK(result == -EFAULT, "name at %p: %ld", (const void *)path, result);
	}
	memcpy(pages + 4096 - 5, "file", 5);
	COSY_START;
	edge = fstatat(dir, name, &st, 0);
	COSY_END;
	CHECK(!edge, "a name at the end of memory: %ld", edge);
	/* The page ends with "fil". */
	memmove(pages + 4093, "fil", 3);
	name = pages + 4093;
	COSY_START;
	edge = fstatat(dir, name, &st, 0);
	if (edge)
		edge = -errno;
	COSY_END;
	CHECK(edge == -EFAULT, "a name that does not end: %ld", edge);
	munmap(pages, 8192);
	CHECK_GUARD(before, MEMORY);
}

/* Mounts something on the name between two looks. */
static void mounted(void)
{
	struct cosy_stats before = counts();
	struct stat st[3] = { 0 };
	long r[3] = { 0 };

	if (geteuid())
		return;
	COSY_START;
	r[0] = fstatat(dir, "sub", &st[0], 0);
	if (mount("none", "sub", "tmpfs", 0, NULL))
		r[0] = -1;
	r[1] = fstatat(dir, "sub", &st[1], 0);
	umount2("sub", MNT_DETACH);
	r[2] = fstatat(dir, "sub", &st[2], 0);
	COSY_END;
	CHECK(!r[0] && !r[1] && !r[2], "mounted: %ld %ld %ld", r[0], r[1], r[2]);
	CHECK(st[0].st_dev != st[1].st_dev && st[0].st_ino == st[2].st_ino &&
		      st[0].st_dev == st[2].st_dev,
	      "mounted: what is on top is not seen, or not gone");
	CHECK_FAST(before, 3);
}

/* Looks in a directory whose entries come and go by themselves. */
static void revalidated(void)
{
	struct cosy_stats before = counts();
	int proc = open("/proc/self", O_RDONLY | O_DIRECTORY);
	long result = -1;
	struct stat st;

	MUST(proc >= 0 && !fstatat(proc, "fd", &st, 0));
	COSY_START;
	result = fstatat(proc, "fd", &st, 0);
	COSY_END;
	CHECK(!result, "/proc/self/fd: %ld", result);
	same_at(proc, "exe", 0);
	same_at(proc, "exe", AT_SYMLINK_NOFOLLOW);
	close(proc);
	CHECK_GUARD(before, PLAIN_DENTRY);
}

/* Removes, renames and makes names between two looks. */
static void changes(void)
{
	struct stat st[6] = { 0 };
	long r[6] = { 0 };
	int fd;

	COSY_START;
	r[0] = fstatat(dir, "file", &st[0], 0);
	renameat(dir, "file", dir, "moved");
	r[1] = fstatat(dir, "file", &st[1], 0);
	r[2] = fstatat(dir, "moved", &st[2], 0);
	fd = openat(dir, "file", O_CREAT | O_RDWR, 0600);
	r[3] = fstatat(dir, "file", &st[3], 0);
	ftruncate(fd, 12345);
	r[4] = fstatat(dir, "file", &st[4], 0);
	unlinkat(dir, "file", 0);
	r[5] = fstatat(dir, "file", &st[5], 0);
	close(fd);
	renameat(dir, "moved", dir, "file");
	COSY_END;
	CHECK(!r[0] && r[1] == -1 && !r[2] && !r[3] && !r[4] && r[5] == -1,
	      "changes: %ld %ld %ld %ld %ld %ld", r[0], r[1], r[2], r[3], r[4], r[5]);
	CHECK(st[2].st_ino == st[0].st_ino && st[3].st_ino != st[0].st_ino &&
		      st[4].st_size == 12345,
	      "changes: not what is there");
}

/* --- Against others ------------------------------------------------------------------ */

static _Atomic bool done;

/*
 * Checks that a user who may not search the directory at the moment is told so; another process
 * does the chmod.
 */
static void permission(void *unused)
{
	long ok = 0, denied = 0, other = 0;
	pid_t pid;
	int mine;

	(void)unused;
	become_nobody(true);
	MUST(!mkdir("mine", 0700) && (mine = open("mine", O_RDONLY | O_DIRECTORY)) >= 0);
	close(openat(mine, "file", O_CREAT | O_RDWR, 0600));
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		for (;;) {
			fchmod(mine, 0600);
			usleep(200);
			fchmod(mine, 0700);
			usleep(200);
			if (getppid() == 1)
				_exit(0);
		}
	}
	for (int i = 0; i < 20 || !ok || !denied; i++) {
		COSY_START;
		for (int k = 0; k < 500; k++) {
			struct stat st;

			if (!fstatat(mine, "file", &st, 0))
				ok++;
			else if (errno == EACCES)
				denied++;
			else
				other++;
		}
		COSY_END;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(ok && denied && !other, "%ld allowed, %ld denied, %ld otherwise", ok, denied, other);
	CHECK(!fchmod(mine, 0700) && !unlinkat(mine, "file", 0) && !rmdir("mine"), "cleaning up");
}

/* A number that nobody else takes while it is free. */
#define SLOT 777

struct two {
	int slot, a, b; /* descriptors: a and b are put into slot in turn */
};

static void *closer(void *arg)
{
	struct two *two = arg;

	while (!done) {
		dup2(two->a, two->slot);
		dup2(two->b, two->slot);
		close(two->slot);
	}
	return NULL;
}

/* Another thread closes the directory, or puts another one in its place. */
static void closed(void)
{
	struct two two = { .slot = SLOT };
	long a = 0, b = 0, none = 0, other = 0;
	pthread_t thread;
	struct stat in_a, in_b;

	MUST(!mkdir("a", 0700) && !mkdir("b", 0700));
	two.a = open("a", O_RDONLY | O_DIRECTORY);
	two.b = open("b", O_RDONLY | O_DIRECTORY);
	close(openat(two.a, "x", O_CREAT | O_RDWR, 0600));
	close(openat(two.b, "x", O_CREAT | O_RDWR, 0600));
	MUST(!fstatat(two.a, "x", &in_a, 0) && !fstatat(two.b, "x", &in_b, 0));
	done = false;
	MUST(!pthread_create(&thread, NULL, closer, &two));
	for (int i = 0; i < 400 && (i < 40 || !a || !b || !none); i++) {
		COSY_START;
		for (int k = 0; k < 500; k++) {
			struct stat st;

			if (fstatat(SLOT, "x", &st, 0)) {
				if (errno == EBADF)
					none++;
				else
					other++;
			} else if (st.st_ino == in_a.st_ino) {
				a++;
			} else if (st.st_ino == in_b.st_ino) {
				b++;
			} else {
				other++;
			}
		}
		COSY_END;
	}
	done = true;
	pthread_join(thread, NULL);
	close(SLOT);
	CHECK(!other && a + b, "closed: %ld, %ld, %ld times EBADF, %ld wrong", a, b, none, other);
	CHECK(!unlinkat(two.a, "x", 0) && !unlinkat(two.b, "x", 0) && !rmdir("a") && !rmdir("b"),
	      "cleaning up");
	close(two.a);
	close(two.b);
}

static void *renamer(void *unused)
{
	while (!done) {
		renameat(dir, "file", dir, "moved");
		renameat(dir, "moved", dir, "file");
		renameat2(dir, "link", dir, "sub", RENAME_EXCHANGE);
		renameat2(dir, "link", dir, "sub", RENAME_EXCHANGE);
	}
	return unused;
}

/* Moves names while they are looked for: each is found or not, never something else. */
static void moving(void)
{
	long found = 0, missing = 0, other = 0;
	struct stat file;
	pthread_t thread;

	MUST(!fstatat(dir, "file", &file, 0));
	done = false;
	MUST(!pthread_create(&thread, NULL, renamer, NULL));
	for (int i = 0; i < 100; i++) {
		COSY_START;
		for (int k = 0; k < 300; k++) {
			struct stat st;

			if (!fstatat(dir, "file", &st, 0)) {
				if (st.st_ino == file.st_ino)
					found++;
				else
					other++;
			} else if (errno == ENOENT) {
				missing++;
			} else {
				other++;
			}
			if (fstatat(dir, "link", &st, AT_SYMLINK_NOFOLLOW) ||
			    (!S_ISLNK(st.st_mode) && !S_ISDIR(st.st_mode)))
				other++;
		}
		COSY_END;
	}
	done = true;
	pthread_join(thread, NULL);
	CHECK(found && !other, "moving: %ld found, %ld not, %ld wrong", found, missing, other);
}

int main(void)
{
	directory_enter();
	MUST(!chmod(".", 0777));
	dir = open(".", O_RDONLY | O_DIRECTORY);
	MUST(dir >= 0 && !mkdir("sub", 0750) && !symlink("sub", "link") &&
	     !symlink("nowhere", "dangling") && !mkfifo("fifo", 0600));
	make("file");
	same();
	memory();
	mounted();
	revalidated();
	changes();
	CHECK_CHILD(in_child(permission, NULL));
	closed();
	moving();
	CHECK(!unlink("file") && !unlink("link") && !unlink("dangling") && !unlink("fifo") &&
		      !rmdir("sub"),
	      "cleaning up");
	directory_leave();
	return check_end();
}
