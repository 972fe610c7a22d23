// SPDX-License-Identifier: MIT
/*
 * Checks that a region goes on finding names fast over ordinary calls that make, write and copy
 * files, and that nobody can tell: what changes during such a call is seen after it, and mounts and
 * files go when they are to.
 *
 * For the latter a file system of FUSE makes the changes while it is asked for a name.
 */
#include "check.h"
#include "fuse.h"
#include "guards.h"
#include <linux/fs.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

static void file_new(const char *path, off_t size)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0644);

	MUST(fd >= 0 && !ftruncate(fd, size));
	close(fd);
}

static void directory_new(const char *path, off_t size)
{
	char inside[64];

	MUST(!mkdir(path, 0755));
	snprintf(inside, sizeof(inside), "%s/d", path);
	MUST(!mkdir(inside, 0755));
	snprintf(inside, sizeof(inside), "%s/d/f", path);
	file_new(inside, size);
}

/* --- Calls in between --------------------------------------------------------------------------- */

enum kind {
	MAKE,
	REMOVE,
	LINK,
	DIRECTORY,
	COPY,
	WRITE,
	PWRITE,
	TRUNCATE,
	ALLOCATE,
	ADVISE,
	MODE,
	OWNER,
	CLONE,
	QUERY,
	READ_LINK,
	RENAME,
	HARD_LINK,
	CHANGE,
	FLAGS,
	CLOSE,
	KINDS
};

enum { LOOKS = 100 };

/* Returns how many looks found the file, each after a call of that kind. */
static long look_between(enum kind kind, int in, int out)
{
	long found = 0;

	COSY_START;
	for (int i = 0; i < LOOKS; i++) {
		char link[8];
		struct stat st;
		int fd;

		switch (kind) {
		case MAKE:
			fd = openat(AT_FDCWD, "a/new", O_CREAT | O_EXCL | O_WRONLY, 0644);
			if (fd >= 0)
				close(fd);
			break;
		case REMOVE:
			unlinkat(AT_FDCWD, "a/none", 0);
			break;
		case LINK:
			symlinkat("f", AT_FDCWD, "a/d/f");
			break;
		case DIRECTORY:
			mkdirat(AT_FDCWD, "a/d", 0755);
			break;
		case COPY:
			copy_file_range(in, NULL, out, NULL, 1, 0);
			break;
		case WRITE:
			write(out, "ab", 2);
			break;
		case PWRITE:
			pwrite(out, "ab", 2, i << 12);
			break;
		case TRUNCATE:
			ftruncate(out, i);
			break;
		case ALLOCATE:
			fallocate(out, 0, i, 100);
			break;
		case ADVISE:
			posix_fadvise(in, 0, 0, POSIX_FADV_SEQUENTIAL);
			break;
		case MODE:
			fchmod(out, 0600);
			break;
		case OWNER:
			fchown(out, -1, -1);
			break;
		case CLONE:
			ioctl(out, FICLONE, in);
			break;
		case QUERY:
			/* A link to what is in another directory is not followed in the compound. */
			fstatat(AT_FDCWD, "a/over", &st, 0);
			break;
		case READ_LINK:
			readlinkat(AT_FDCWD, "a/new", link, sizeof(link));
			break;
		case RENAME:
			renameat(AT_FDCWD, "a/new", AT_FDCWD, "a/new");
			break;
		case HARD_LINK:
			linkat(AT_FDCWD, "a/new", AT_FDCWD, "a/d/f", 0);
			break;
		case CHANGE:
			fchmodat(AT_FDCWD, "a/new", 0600, 0);
			break;
		case FLAGS:
			fcntl(out, F_GETFL);
			break;
		default:
			fd = openat(AT_FDCWD, "a/d/short", O_CREAT | O_EXCL | O_WRONLY, 0644);
			close(fd);
			unlinkat(AT_FDCWD, "a/d/short", 0);
		}
		found += !fstatat(AT_FDCWD, "a/d/f", &st, 0) && st.st_size == 1;
	}
	COSY_END;
	return found;
}

/*
 * Linux 6.1 gives a file back on the way to user mode, also one that was not opened in the end: the
 * compound leaves or stops for that.
 */
static bool kernel_closes_late(void)
{
	return !kernel_is_from(6, 12);
}

static bool makes_files(enum kind kind)
{
	return kind == MAKE || kind == CLOSE;
}

static void found_over_calls(void)
{
	int in = open("in", O_RDONLY | O_CLOEXEC), out = open("out", O_RDWR | O_CLOEXEC);

	MUST(in >= 0 && out >= 0);
	for (enum kind kind = 0; kind < KINDS; kind++) {
		struct cosy_stats before = counts(), after;
		long found = look_between(kind, in, out);

		after = counts();
		CHECK(found == LOOKS, "kind %d: %ld looks found the file", kind, found);
		CHECK_KERNEL(before, 1, (kind == CLOSE ? 4 : 2) * LOOKS);
		CHECK(!kernel_expected() || (makes_files(kind) && kernel_closes_late()) ||
			      after.fast - before.fast >= LOOKS - 4,
		      "kind %d: %llu specialised calls", kind,
		      (unsigned long long)(after.fast - before.fast));
	}
	close(in);
	close(out);
}

/* --- The file system that makes changes --------------------------------------------------------- */

static struct shared {
	volatile int change, error; /* of the last change: 0 or a negative errno */
	volatile long freed;	    /* inodes that it freed */
	volatile bool leaves, left; /* a process is to leave its directory, and did */
} *shared;

enum change { EXCHANGE = 1, UNMOUNT, UNLINK, UNMOUNT_LEFT, CHANGES };

static long inodes_free(void)
{
	struct statvfs fs;

	MUST(!statvfs(".", &fs));
	return (long)fs.f_ffree;
}

static int change_make(enum change change)
{
	long before = inodes_free();
	int ret = 0;

	switch (change) {
	case EXCHANGE:
		ret = (int)syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "x", RENAME_EXCHANGE);
		break;
	case UNLINK:
		ret = unlink("a/d/g");
		break;
	case UNMOUNT_LEFT:
		shared->leaves = true;
		while (!shared->left)
			sched_yield();
		/* fall through */
	case UNMOUNT:
		ret = umount2("m", UMOUNT_NOFOLLOW);
		break;
	default:
		break;
	}
	ret = ret ? -errno : 0;
	shared->freed = inodes_free() - before;
	return ret;
}

static void serve(int fd)
{
	static char request[FUSE_REQUEST] __attribute__((aligned(8)));
	const struct fuse_in_header *in = (const void *)request;
	struct fuse_attr_out root = { .attr = { .ino = 1, .mode = S_IFDIR | 0777, .nlink = 1 } };

	while (read(fd, request, sizeof(request)) > 0 || errno == EINTR || errno == ENOENT)
		switch (in->opcode) {
		case FUSE_INIT:
			fuse_reply_init(fd, in);
			break;
		case FUSE_GETATTR:
			fuse_reply(fd, in, 0, &root, sizeof(root));
			break;
		case FUSE_LOOKUP:
			shared->error = change_make(shared->change);
			fuse_reply(fd, in, -ENOENT, NULL, 0);
			break;
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
			break;
		default:
			fuse_reply(fd, in, -ENOSYS, NULL, 0);
		}
}

/* --- Changes during a call ---------------------------------------------------------------------- */

/*
 * Looks for a name three times, by turns with `beside`, then once more after a call during which a
 * change is made.
 */
static int look_around(const char *beside, const char *name, const char *asked, off_t sizes[4],
		       bool again)
{
	struct stat first;
	int made = 0;

	COSY_START;
	/* The first call by name is ordinary. */
	fstatat(AT_FDCWD, beside, &first, 0);
	for (int i = 0; i < 4; i++) {
		struct stat st;

		if (i == 3)
			made = mkdirat(AT_FDCWD, asked, 0755);
		else
			fstatat(AT_FDCWD, beside, &st, 0);
		if (i < 3 || again)
			sizes[i] = fstatat(AT_FDCWD, name, &st, 0) ? -1 : st.st_size;
	}
	COSY_END;
	return made;
}

static void changes_beside(const char *beside, enum change change, const char *name,
			   const char *asked, off_t before, off_t after, bool again)
{
	off_t sizes[4] = { 0 };

	shared->change = change;
	shared->error = 1;
	/* FUSE does not make directories here. */
	CHECK(look_around(beside, name, asked, sizes, again) == -1, "change %d: a directory",
	      change);
	CHECK(!shared->error, "change %d: error %d", change, -shared->error);
	CHECK(sizes[0] == before && sizes[1] == before && sizes[2] == before, "change %d: before",
	      change);
	CHECK(!again || sizes[3] == after, "change %d: %ld after it", change, (long)sizes[3]);
}

static void changes_during(enum change change, const char *name, const char *asked, off_t before,
			   off_t after, bool again)
{
	changes_beside(name, change, name, asked, before, after, again);
}

static void m_mount(void)
{
	MUST(!mount("none", "m", "tmpfs", 0, NULL));
	directory_new("m/d", 4);
}

/* What else has the mount, in a process that shares it: the directory or a descriptor. */
static int leaver(void *descriptor)
{
	while (!shared->leaves)
		sched_yield();
	shared->left = descriptor ? !close(*(const int *)descriptor) : !chdir("/");
	return !shared->left;
}

/* Looks for a name while a process that shares `flags` leaves the mount, which then goes. */
static void sharer_leaves(int flags, int *descriptor, const char *name)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	char asked[100];
	int status;
	pid_t pid;

	shared->leaves = shared->left = false;
	snprintf(asked, sizeof(asked), "%s/fuse/left", check_directory);
	pid = clone(leaver, stack + sizeof(stack), flags | SIGCHLD, descriptor);
	MUST(pid > 0);
	changes_during(UNMOUNT_LEFT, name, asked, 4, -1, false);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
}

static void sharers_leave(void)
{
	int open_one;

	m_mount();
	MUST(!chdir("m"));
	sharer_leaves(CLONE_FS, NULL, "d/d/f");
	MUST(!chdir(check_directory));
	m_mount();
	open_one = open("m", O_RDONLY | O_DIRECTORY);
	MUST(open_one >= 0);
	sharer_leaves(CLONE_FILES, &open_one, "m/d/d/f");
}

/* Names that go over a mount on which the process has something open. */
static void found_over_mount(void)
{
	struct cosy_stats before, after;
	long found = 0;
	int fd;

	m_mount();
	fd = open("m/d", O_RDONLY | O_DIRECTORY);
	MUST(fd >= 0);
	before = counts();
	COSY_START;
	for (int i = 0; i < LOOKS; i++) {
		struct stat st;

		renameat(AT_FDCWD, "a", AT_FDCWD, "a");
		found += !fstatat(AT_FDCWD, "m/d/d/f", &st, 0) && st.st_size == 4;
	}
	COSY_END;
	after = counts();
	CHECK(found == LOOKS, "over a mount: %ld looks found the file", found);
	CHECK(!kernel_expected() || after.fast - before.fast >= LOOKS - 4,
	      "over a mount: %llu specialised calls",
	      (unsigned long long)(after.fast - before.fast));
	close(fd);
	MUST(!umount2("m", UMOUNT_NOFOLLOW));
}

static void changes_are_seen(void)
{
	pid_t server;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		printf("SKIP: changes during calls: no mounts: %s\n", strerror(errno));
		return;
	}
	MUST(!mkdir("t", 0755) && !mount("none", "t", "tmpfs", 0, NULL) && !chdir("t"));
	MUST(getcwd(check_directory, sizeof(check_directory)));
	MUST(!mkdir("m", 0755));
	directory_new("a", 1);
	directory_new("x", 2);
	file_new("a/d/g", 3);
	found_over_mount();
	shared = shared_memory(sizeof(*shared));
	MUST(!mkdir("fuse", 0755));
	server = fuse_mount("fuse", serve);
	if (!server) {
		printf("SKIP: changes during calls: this kernel has no FUSE: %s\n",
		       strerror(errno));
		return;
	}
	/* The entry found last is the file that goes: natively nobody has it. */
	changes_during(UNLINK, "a/d/g", "fuse/unlink", 3, -1, true);
	CHECK(shared->freed == 1, "the unlink freed %ld inodes", shared->freed);
	changes_during(EXCHANGE, "a/d/f", "fuse/exchange", 1, 2, true);
	m_mount();
	changes_during(UNMOUNT, "m/d/d/f", "fuse/unmount", 4, -1, true);
	m_mount();
	changes_beside("a/d/f", UNMOUNT, "m/d/d/f", "fuse/unmount", 4, -1, true);
	sharers_leave();
	fuse_unmount("fuse", server);
}

static void names_kept(void *unused)
{
	(void)unused;
	directory_new("a", 1);
	file_new("a/new", 0);
	MUST(!symlink("d/f", "a/over"));
	file_new("in", 4096);
	file_new("out", 0);
	found_over_calls();
	changes_are_seen();
}

int main(void)
{
	int status;

	directory_enter();
	status = in_child(names_kept, NULL);
	MUST(!system("rm -rf a in out t"));
	directory_leave();
	CHECK_CHILD(status);
	return check_end();
}
