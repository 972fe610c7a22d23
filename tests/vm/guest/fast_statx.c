/* SPDX-License-Identifier: MIT */
/*
 * Makes the calls of ls -l for each file: statx and extended attributes by name in the current
 * directory.  Results and bytes are those of the calls themselves; each guard fails once.
 */
#include "guards.h"
#include <sched.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <linux/fs.h>

#define ACCESS	"system.posix_acl_access"
#define DEFAULT "system.posix_acl_default"

#define SAME_FLAGS (AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)
#define MASK	   (STATX_BASIC_STATS | STATX_BTIME)

static int dir;

/* --- statx ---------------------------------------------------------------------------- */

/*
 * Compares statx outside and in a region, there twice after another file, so that the inode may
 * answer.
 */
static void same_statx(int dirfd, const char *name, int flags, unsigned int mask)
{
	struct statx got[3], want;
	long result[3], wanted;

	memset(got, 0x5a, sizeof(got));
	memset(&want, 0x5a, sizeof(want));
	COSY_START;
	syscall(SYS_statx, dirfd, "file", SAME_FLAGS, mask, &got[0]);
	result[0] = syscall(SYS_statx, dirfd, "file", SAME_FLAGS, mask, &got[0]);
	result[1] = result_of(syscall(SYS_statx, dirfd, name, flags, mask, &got[1]));
	syscall(SYS_statx, dirfd, "file", SAME_FLAGS, mask, &got[0]);
	syscall(SYS_statx, dirfd, "file", SAME_FLAGS, mask, &got[0]);
	result[2] = result_of(syscall(SYS_statx, dirfd, name, flags, mask, &got[2]));
	COSY_END;
	(void)result[0];
	wanted = result_of(syscall(SYS_statx, dirfd, name, flags, mask, &want));
	for (int i = 1; i < 3; i++) {
		CHECK(result[i] == wanted, "statx(%d, \"%.40s\", %#x, %#x), %d: %ld, not %ld",
		      dirfd, name, flags, mask, i, result[i], wanted);
		CHECK(!memcmp(&got[i], &want, sizeof(want)),
		      "statx(%d, \"%.40s\", %#x, %#x), %d: mask %#x/%#x, attributes %#llx/%#llx of "
		      "%#llx/%#llx, mount %lld/%lld, other attributes",
		      dirfd, name, flags, mask, i, got[i].stx_mask, want.stx_mask,
		      (long long)got[i].stx_attributes, (long long)want.stx_attributes,
		      (long long)got[i].stx_attributes_mask, (long long)want.stx_attributes_mask,
		      (long long)got[i].stx_mnt_id, (long long)want.stx_mnt_id);
	}
}

static void all_statx(void)
{
	static const unsigned int masks[] = { MASK,	    0,		STATX_TYPE, STATX_BTIME,
					      STATX_MNT_ID, STATX_ALL,	0x4000,	    0x2000,
					      0x10000,	    STATX_SIZE, 1u << 31,   1u << 30,
					      0xfff,	    0x1fff };
	static const int flags[] = { 0,
				     AT_SYMLINK_NOFOLLOW,
				     SAME_FLAGS,
				     AT_STATX_FORCE_SYNC,
				     AT_STATX_DONT_SYNC,
				     AT_STATX_SYNC_TYPE,
				     AT_EMPTY_PATH,
				     AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
				     1 };
	static const char *const names[] = { "file", "sub",  "link", "dangling", "fifo",
					     "gone", ".",    "",     "sub/file", "flagged",
					     "dev",  "char", "mount" };
	struct cosy_stats before = counts();
	int file = open("file", O_RDONLY), path = open("file", O_PATH);

	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++) {
		for (size_t f = 0; f < sizeof(flags) / sizeof(*flags); f++) {
			same_statx(AT_FDCWD, names[n], flags[f], MASK);
			same_statx(dir, names[n], flags[f], MASK);
		}
		for (size_t m = 0; m < sizeof(masks) / sizeof(*masks); m++)
			same_statx(dir, names[n], AT_SYMLINK_NOFOLLOW, masks[m]);
	}
	same_statx(file, "", AT_EMPTY_PATH, MASK);
	same_statx(path, "", AT_EMPTY_PATH, MASK);
	same_statx(-1, "file", 0, MASK);
	same_statx(file, "file", 0, MASK);
	close(file);
	close(path);
	CHECK_FAST(before, 600);
	CHECK_GUARD(before, LIMITED);
	CHECK_GUARD(before, NAME);
}

/* Asks for fields that were not asked for before, and for stat's attributes before statx's. */
static void masks_mixed(void)
{
	static const unsigned int masks[] = {
		STATX_BASIC_STATS, STATX_BASIC_STATS, MASK, MASK, STATX_BASIC_STATS, MASK
	};
	struct statx got[8], want;
	struct stat st;

	COSY_START;
	for (int i = 0; i < 6; i++)
		syscall(SYS_statx, AT_FDCWD, "file", 0, masks[i], &got[i]);
	getppid();
	for (int i = 0; i < 3; i++)
		fstatat(dir, "file", &st, 0);
	for (int i = 6; i < 8; i++)
		syscall(SYS_statx, dir, "file", 0, MASK, &got[i]);
	COSY_END;
	for (int i = 0; i < 8; i++) {
		MUST(!statx(dir, "file", 0, i < 6 ? masks[i] : MASK, &want));
		CHECK(!memcmp(&got[i], &want, sizeof(want)), "mixed, %d: mask %#x, not %#x", i,
		      got[i].stx_mask, want.stx_mask);
	}
}

/* Sets flags of an inode, which statx tells, between two calls. */
static void flags_change(void)
{
	int fd = open("file", O_RDONLY), flags = 0, with = FS_NODUMP_FL;
	struct statx got[6], want;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags)) {
		close(fd);
		return;
	}
	with |= flags;
	COSY_START;
	for (int i = 0; i < 4; i++)
		syscall(SYS_statx, AT_FDCWD, "file", 0, MASK, &got[i]);
	ioctl(fd, FS_IOC_SETFLAGS, &with);
	for (int i = 4; i < 6; i++)
		syscall(SYS_statx, AT_FDCWD, "file", 0, MASK, &got[i]);
	COSY_END;
	MUST(!statx(AT_FDCWD, "file", 0, MASK, &want));
	CHECK(got[5].stx_attributes == want.stx_attributes, "flags set: %#llx, not %#llx",
	      (long long)got[5].stx_attributes, (long long)want.stx_attributes);
	ioctl(fd, FS_IOC_SETFLAGS, &flags);
	close(fd);
}

/* Another process sets an inode's flags: a process still in its region has to see them. */
static void flags_change_elsewhere(void)
{
	int fd = open("file", O_RDONLY), flags = 0, with;
	unsigned int seen = 0, unseen = 0;
	struct statx got;
	pid_t pid;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags)) {
		close(fd);
		return;
	}
	with = flags | FS_NODUMP_FL;
	if (ioctl(fd, FS_IOC_SETFLAGS, &with) || ioctl(fd, FS_IOC_SETFLAGS, &flags)) {
		close(fd);
		return;
	}
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		while (getppid() != 1)
			ioctl(fd, FS_IOC_SETFLAGS, &with), ioctl(fd, FS_IOC_SETFLAGS, &flags);
		_exit(0);
	}
	for (int round = 0; round < 2000 && (round < 50 || !seen || !unseen); round++) {
		COSY_START;
		for (int i = 0; i < 100; i++) {
			if (!syscall(SYS_statx, AT_FDCWD, "file", 0, MASK, &got)) {
				if (got.stx_attributes & STATX_ATTR_NODUMP)
					seen++;
				else
					unseen++;
			}
		}
		COSY_END;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ioctl(fd, FS_IOC_SETFLAGS, &flags);
	CHECK(seen && unseen, "flags of another process: %u times set, %u not", seen, unseen);
	close(fd);
}

/* Passes destinations that are no memory, or end too early. */
static void statx_memory(void)
{
	struct cosy_stats before = counts();
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *bad[] = { NULL, (void *)-4096, (void *)0x7fffffffe000, pages + 4096 - 72, (void *)1 };
	struct statx got;
	long r[5];

	MUST(pages != MAP_FAILED && !mprotect(pages + 4096, 4096, PROT_NONE));
	COSY_START;
	for (int i = 0; i < 5; i++) {
		syscall(SYS_statx, AT_FDCWD, "file", 0, MASK, &got);
		syscall(SYS_statx, AT_FDCWD, "file", 0, MASK, &got);
		r[i] = result_of(syscall(SYS_statx, AT_FDCWD, "file", 0, MASK, bad[i]));
	}
	COSY_END;
	for (int i = 0; i < 5; i++)
		CHECK(r[i] == -EFAULT, "statx to %p: %ld", bad[i], r[i]);
	CHECK_GUARD(before, MEMORY);
	munmap(pages, 8192);
}

/* --- Extended attributes -------------------------------------------------------------- */

static void same_xattr(const char *path, const char *name, size_t size, bool link)
{
	struct {
		long result;
		char value[512];
	} got[2], want;

	memset(got, 0x5a, sizeof(got));
	memset(&want, 0x5a, sizeof(want));
	COSY_START;
	for (int i = 0; i < 2; i++) {
		if (link)
			got[i].result = result_of(lgetxattr(path, name, got[i].value, size));
		else
			got[i].result = result_of(getxattr(path, name, got[i].value, size));
	}
	COSY_END;
	want.result = result_of(link ? lgetxattr(path, name, want.value, size)
				     : getxattr(path, name, want.value, size));
	for (int i = 0; i < 2; i++) {
		CHECK(got[i].result == want.result, "%sgetxattr(%s, %.40s, %zu): %ld, not %ld",
		      link ? "l" : "", path, name, size, got[i].result, want.result);
		CHECK(!memcmp(got[i].value, want.value, sizeof(want.value)),
		      "%sgetxattr(%s, %.40s, %zu): another value", link ? "l" : "", path, name,
		      size);
	}
}

static void all_xattrs(void)
{
	static const char *const paths[] = { "file", "sub",    "link", "dangling", "fifo",
					     "gone", "listed", ".",    "sub/file", "" };
	char long_name[300];
	const char *const names[] = { "security.capability",
				      "security.selinux",
				      ACCESS,
				      DEFAULT,
				      "user.a",
				      "user.none",
				      "trusted.a",
				      "none",
				      "",
				      "user.",
				      long_name };
	static const size_t sizes[] = { 0, 1, 3, 255, 256, 257, 511 };

	memset(long_name, 'n', 299);
	memcpy(long_name, "user.", 5);
	long_name[299] = 0;
	for (size_t p = 0; p < sizeof(paths) / sizeof(*paths); p++)
		for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
			for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
				same_xattr(paths[p], names[n], sizes[s], false);
				same_xattr(paths[p], names[n], sizes[s], true);
			}
}

/* Bytes of a list with one user more than the mode has. */
static const unsigned char listed[] = {
	2,  0, 0, 0,			   /* version */
	1,  0, 6, 0, 255,  255,	 255, 255, /* its owner: rw */
	2,  0, 4, 0, 0x39, 0x30, 0,   0,   /* user 12345: r */
	4,  0, 4, 0, 255,  255,	 255, 255, /* its group: r */
	16, 0, 4, 0, 255,  255,	 255, 255, /* mask: r */
	32, 0, 0, 0, 255,  255,	 255, 255, /* others: none */
};

/* Makes and removes a list in a region, and from another process while one runs. */
static void lists_change(void)
{
	long r[6];

	if (setxattr("file", ACCESS, listed, sizeof(listed), 0)) {
		printf("no access control lists: not tested\n");
		return;
	}
	same_xattr("file", ACCESS, 0, false);
	same_xattr("file", ACCESS, 256, false);
	COSY_START;
	r[0] = result_of(getxattr("file", ACCESS, NULL, 0));
	removexattr("file", ACCESS);
	r[1] = result_of(getxattr("file", ACCESS, NULL, 0));
	r[2] = result_of(getxattr("file", ACCESS, NULL, 0));
	setxattr("file", ACCESS, listed, sizeof(listed), 0);
	r[3] = result_of(getxattr("file", ACCESS, NULL, 0));
	r[4] = result_of(getxattr("file", ACCESS, NULL, 0));
	removexattr("file", ACCESS);
	r[5] = result_of(getxattr("file", ACCESS, NULL, 0));
	COSY_END;
	CHECK(r[0] == sizeof(listed) && r[3] == r[0] && r[4] == r[0], "a list: %ld, %ld, %ld", r[0],
	      r[3], r[4]);
	CHECK(r[1] == -ENODATA && r[2] == -ENODATA && r[5] == -ENODATA, "no list: %ld, %ld, %ld",
	      r[1], r[2], r[5]);
}

static void xattr_counts(void)
{
	struct cosy_stats before = counts();
	long r = 0;

	COSY_START;
	for (int i = 0; i < 50; i++) {
		r += getxattr("file", "security.capability", NULL, 0);
		r += lgetxattr("file", ACCESS, NULL, 0);
	}
	COSY_END;
	CHECK(r == -100, "missing attributes: %ld", r);
	CHECK_FAST(before, 95);
}

/* --- The current directory ------------------------------------------------------------- */

/* Changes the current directory, in the region or by another thread: calls follow at once. */
static void directory_change(void)
{
	struct stat here, there;
	struct statx got[4];
	long r = 0;

	MUST(!stat("file", &here) && !stat("sub/file", &there));
	COSY_START;
	for (int i = 0; i < 4; i++)
		r += syscall(SYS_statx, AT_FDCWD, "file", 0, MASK, &got[0]);
	r += chdir("sub");
	for (int i = 0; i < 4; i++)
		r += syscall(SYS_statx, AT_FDCWD, "file", 0, MASK, &got[1]);
	r += chdir("..");
	r += syscall(SYS_statx, AT_FDCWD, "file", 0, MASK, &got[2]);
	COSY_END;
	CHECK(!r && got[0].stx_ino == here.st_ino && got[1].stx_ino == there.st_ino &&
		      got[2].stx_ino == here.st_ino,
	      "the current directory's file: %ld", r);
}

/* Unmounts, from within the region, a file system that the process has left. */
static void unmounted(void)
{
	struct statx got;
	long r = 0, gone = -1;

	if (geteuid())
		return;
	MUST(!mkdir("left", 0700) && !mount("none", "left", "tmpfs", 0, NULL) && !chdir("left"));
	MUST(!close(open("file", O_CREAT | O_WRONLY, 0600)));
	COSY_START;
	for (int i = 0; i < 8; i++)
		r += syscall(SYS_statx, AT_FDCWD, "file", 0, MASK, &got);
	r += chdir("..");
	gone = umount2("left", 0);
	COSY_END;
	CHECK(!r && !gone, "statx %ld, umount %ld", r, gone);
	CHECK(!rmdir("left"), "rmdir");
}

/* --- Another root, by another process -------------------------------------------------- */

enum { MARKS = 8 };

static char marks[MARKS][8];
static struct {
	_Atomic int asked, turned, stop;
} *root_shared;

/* Makes the file system at `new` everybody's root and current directory. */
static void root_turn(void)
{
	while (root_shared->asked < 2000)
		sched_yield();
	if (syscall(SYS_pivot_root, "new", "new/old"))
		_exit(1);
	root_shared->turned = 1;
	_exit(0);
}

/* Checks that a process that has seen the change finds files of the new root. */
static void root_follow(void)
{
	unsigned long late = 0, seen = 0;
	struct cosy_stats start;
	struct statx got;
	pid_t pid;

	/* The new root needs the device and the module's counters, too. */
	MUST(!mount("none", "turn", "tmpfs", 0, NULL) && !mkdir("turn/dev", 0700) &&
	     !mkdir("turn/proc", 0700) && !mount("/dev", "turn/dev", NULL, MS_BIND, NULL) &&
	     !mount("/proc", "turn/proc", NULL, MS_BIND, NULL));
	MUST(!chdir("turn") && !chroot("."));
	MUST(!mkdir("new", 0700) && !mount("none", "new", "tmpfs", 0, NULL) &&
	     !mkdir("new/old", 0700));
	for (int i = 0; i < MARKS; i++) {
		snprintf(marks[i], sizeof(*marks), "mark%d", i);
		MUST(!close(open(marks[i], O_CREAT | O_WRONLY, 0600)) && !chdir("new") &&
		     !close(open(marks[i], O_CREAT | O_WRONLY, 0600)) &&
		     !truncate(marks[i], 1000) && !chdir(".."));
	}
	start = counts();
	COSY_START;
	for (int i = 0; i < 20; i++)
		syscall(SYS_statx, AT_FDCWD, marks[i % MARKS], 0, STATX_SIZE, &got);
	COSY_END;
	CHECK_FAST(start, 15);
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		root_turn();
	for (int round = 0; round < 100000 && !seen && !root_shared->stop; round++) {
		COSY_START;
		for (int i = 0; i < 1000 && !seen; i++) {
			int turned = root_shared->turned;

			root_shared->asked++;
			/* Mostly the neighbour of the one before it. */
			if (syscall(SYS_statx, AT_FDCWD, marks[i % MARKS], 0, STATX_SIZE, &got))
				late += 1000;
			if (turned && got.stx_size != 1000)
				late++;
			seen += turned;
		}
		COSY_END;
		if (waitpid(pid, NULL, WNOHANG) == pid && !root_shared->turned)
			root_shared->stop = 1;
	}
	CHECK(seen && !late, "another root: %lu times seen, %lu times too late", seen, late);
}

static void root_changes(void)
{
	int status;
	pid_t pid;

	if (geteuid())
		return;
	root_shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(root_shared != MAP_FAILED && !mkdir("turn", 0700));
	for (int round = 0; round < 5; round++) {
		root_shared->asked = root_shared->turned = root_shared->stop = 0;
		pid = fork();
		MUST(pid >= 0);
		if (!pid) {
			MUST(!unshare(CLONE_NEWNS) &&
			     !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
			root_follow();
			_exit(check_end());
		}
		MUST(waitpid(pid, &status, 0) == pid);
		CHECK(!status, "another root: status %#x", status);
	}
	CHECK(!rmdir("turn"), "rmdir");
	munmap(root_shared, 4096);
}

static void tree_make(void)
{
	int fd = open("file", O_CREAT | O_RDWR, 0640);
	int flags = FS_NODUMP_FL;

	MUST(fd >= 0 && write(fd, "12345", 5) == 5 && !close(fd));
	MUST(!mkdir("sub", 0755) && !symlink("file", "link") && !symlink("nowhere", "dangling"));
	MUST(!close(open("sub/file", O_CREAT | O_WRONLY, 0600)) && !mkfifo("fifo", 0600));
	fd = open("listed", O_CREAT | O_RDWR, 0640);
	setxattr("listed", ACCESS, listed, sizeof(listed), 0);
	setxattr("listed", "user.a", "value", 5, 0);
	setxattr("sub", "user.a", "another value", 13, 0);
	close(fd);
	fd = open("flagged", O_CREAT | O_RDWR, 0640);
	ioctl(fd, FS_IOC_SETFLAGS, &flags);
	close(fd);
	mknod("dev", S_IFBLK | 0600, makedev(7, 0));
	mknod("char", S_IFCHR | 0600, makedev(1, 3));
	mkdir("mount", 0700);
	mount("none", "mount", "tmpfs", 0, NULL);
}

static void tree_remove(void)
{
	static const char *const files[] = { "file",	 "listed",  "link", "dangling", "fifo",
					     "sub/file", "flagged", "dev",  "char" };

	umount("mount");
	rmdir("mount");
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		unlink(files[i]);
	CHECK(!rmdir("sub"), "cleaning up");
}

int main(void)
{
	directory_enter();
	dir = open(".", O_RDONLY | O_DIRECTORY);
	MUST(dir >= 0);
	tree_make();
	all_statx();
	masks_mixed();
	flags_change();
	flags_change_elsewhere();
	statx_memory();
	all_xattrs();
	lists_change();
	xattr_counts();
	directory_change();
	unmounted();
	root_changes();
	tree_remove();
	close(dir);
	directory_leave();
	return check_end();
}
