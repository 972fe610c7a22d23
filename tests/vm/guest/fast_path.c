/* SPDX-License-Identifier: MIT */
/*
 * Takes attributes by names of several components, one after the other: results and bytes are those
 * of the calls themselves, whatever has become of the directories on the way.
 */
#include "change.h"
#include "guards.h"
#include <sched.h>
#include <stdatomic.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/syscall.h>

/* mount(2) with it lets no link be followed; older headers do not have it. */
#define NO_LINKS 256

static int dir;

static const char deep[] = "1/2/3/4/5/6/7/8/9/file";
static const char longest[] = "a-component-of-thirty-two-bytes-/a-component-of-thirty-two-bytes-/"
			      "a-component-of-thirty-two-bytes-/a-component-of-thirty-two-bytes-/"
			      "a-component-of-thirty-two-bytes-/a-component-of-thirty-two-bytes-/"
			      "file";
/* Its directories just fill the text that is kept: 192 bytes with their slashes. */
static const char just[] = "a-component-of-thirty-one-bytes/a-component-of-thirty-one-bytes/"
			   "a-component-of-thirty-one-bytes/a-component-of-thirty-one-bytes/"
			   "a-component-of-thirty-one-bytes/a-component-of-thirty-one-bytes/file";
_Static_assert(sizeof(just) == 192 + sizeof("file"), "the text is full");

static void file_make(const char *name, int size)
{
	int fd = open(name, O_CREAT | O_WRONLY, 0644);

	MUST(fd >= 0 && !ftruncate(fd, size) && !close(fd));
}

static void path_make(const char *path)
{
	char part[256];

	strcpy(part, path);
	for (char *at = strchr(part, '/'); at; at = strchr(at + 1, '/')) {
		*at = 0;
		MUST(!mkdir(part, 0755) || errno == EEXIST);
		*at = '/';
	}
	file_make(path, 7);
}

static void path_remove(const char *path)
{
	char part[256];

	strcpy(part, path);
	unlink(part);
	for (char *at = strrchr(part, '/'); at; at = strrchr(part, '/')) {
		*at = 0;
		rmdir(part);
	}
}

/* Compares a call in a region, after others that led to the directories, with one outside. */
static void same_path(int dirfd, const char *path, int flags)
{
	static const char *const others[] = { "a/x",   "a/b/x",		"a/b/c/x", "a/b/c/y",
					      "a/d/x", "a/b/c/missing", "a/b/c/y" };
	struct stat got[3] = { 0 }, want = { 0 }, other;
	long result[3], wanted;

	COSY_START;
	result[0] = fstatat(dirfd, path, &got[0], flags) ? -errno : 0;
	for (int i = 0; i < 7; i++)
		fstatat(dirfd, others[i], &other, 0);
	result[1] = fstatat(dirfd, path, &got[1], flags) ? -errno : 0;
	result[2] = fstatat(dirfd, path, &got[2], flags) ? -errno : 0;
	COSY_END;
	wanted = fstatat(dirfd, path, &want, flags) ? -errno : 0;
	for (int i = 0; i < 3; i++) {
		CHECK(result[i] == wanted, "fstatat(%d, \"%.80s\", %#x), %d: %ld, not %ld", dirfd,
		      path, flags, i, result[i], wanted);
		CHECK(!memcmp(&got[i], &want, sizeof(want)),
		      "fstatat(%d, \"%.80s\", %#x), %d: other attributes", dirfd, path, flags, i);
	}
}

static const char *const paths[] = {
	"a/x", "a/b/x", "a/b/c/x", "a/b/c", "a//x", "a/b/../x", "a/./x", "./a/x", "/", "a/", "a/b/",
	"/a/x", "a/x/y", "a/none/x", "none/x", "a/b/none", "to-b/x", "a/to-c/x", "a/to-c",
	"a/b/to-x", "dangling/x", "mount/x", "a/m/x", "a/m/n/x", "../x", "a/..", "a/b/.", "a/x/",
	deep, longest, "secret/x", "a/closed/x", just, "ab/x", "a/bb/x", "a/bbb/x", "a/b/b/x",
	"a/b/cc", "./ab/x", "./a", "./a/b/c/x", "././a/x", ".//a/x", "./../x", "./.", "./",
	"./none", "./a/.", "./missing/x",
	/* Upwards */
	"a/b/../b/x", "a/b/../../ab/x", "a/b/c/../../x", "a/m/../x", "a/m/n/../x", "a/x/../x",
	"../../../../../../../../x", "a/none/../x", "a/closed/../x", "secret/../a/x", "a/../..",
	"a/b/..x", "a/.../x", "a/b/../none",
	/* Over links and mounts at the end */
	"mount", "a/m", "a/b/to-x", "to-ab", "to-link", "to-itself", "dangling", "a/b/to-none",
	"a/b/../b/to-x", "to-mount", "a/b/to-above", "a/b/to-here", "sticky/to-x", "nolinks/to-x",
	"a/b/absolute"
};

static void all_paths(void)
{
	struct cosy_stats before = counts();
	int fds[] = { AT_FDCWD, dir, open("a", O_RDONLY), open("a", O_PATH), -1 };

	for (size_t p = 0; p < sizeof(paths) / sizeof(*paths); p++)
		for (size_t d = 0; d < sizeof(fds) / sizeof(*fds); d++) {
			same_path(fds[d], paths[p], 0);
			same_path(fds[d], paths[p], AT_SYMLINK_NOFOLLOW);
		}
	close(fds[2]);
	close(fds[3]);
	CHECK_FAST(before, 600);
	CHECK_GUARD(before, NAME);
}

/* Asks for the same path from two directories in turn. */
static void from_two_directories(void)
{
	struct stat st[2][4] = { 0 };
	long failed = 0;
	int one, two;

	path_make("one/a/x");
	path_make("two/a/x");
	one = open("one", O_RDONLY | O_DIRECTORY);
	two = open("two", O_RDONLY | O_DIRECTORY);
	MUST(one >= 0 && two >= 0 && !truncate("one/a/x", 1) && !truncate("two/a/x", 2));
	COSY_START;
	for (int i = 0; i < 4; i++) {
		failed += fstatat(one, "a/x", &st[0][i], 0);
		failed += fstatat(two, "a/x", &st[1][i], 0);
	}
	COSY_END;
	for (int i = 0; i < 4; i++)
		CHECK(!failed && st[0][i].st_size == 1 && st[1][i].st_size == 2,
		      "in turn %d: %ld failed, sizes %lld, %lld", i, failed,
		      (long long)st[0][i].st_size, (long long)st[1][i].st_size);
	close(one);
	close(two);
	path_remove("one/a/x");
	path_remove("two/a/x");
}

/* Runs as a user who may not search some of the directories. */
static void searching(void)
{
	if (geteuid())
		return;
	setfsuid(65534);
	for (size_t p = 0; p < sizeof(paths) / sizeof(*paths); p++)
		same_path(AT_FDCWD, paths[p], 0);
	setfsuid(0);
}

/* --- Changed by another process ---------------------------------------------------------- */

/* Changes the names in turn, so that change/b/x is another file each time: sizes 1, 2, 1, 2 ... */
static void exchange_names(unsigned int turn)
{
	(void)turn;
	if (syscall(SYS_renameat2, AT_FDCWD, "change/b", AT_FDCWD, "change/c", 2))
		_exit(1);
}

static void exchange_above(unsigned int turn)
{
	(void)turn;
	if (syscall(SYS_renameat2, AT_FDCWD, "change", AT_FDCWD, "other", 2))
		_exit(1);
}

static void rename_names(unsigned int turn)
{
	(void)turn;
	if (rename("change/b", "change/old") || rename("change/c", "change/b") ||
	    rename("change/old", "change/c"))
		_exit(1);
}

static void mount_over(unsigned int turn)
{
	if (turn % 2 ? mount("change/c", "change/b", NULL, MS_BIND, NULL)
		     : umount2("change/b", MNT_DETACH))
		_exit(1);
}

/*
 * Checks that a process that has seen that a change is done finds the other file.  Looks at `beside`,
 * a name in another directory, by turns.
 */
static void follow_at(const char *what, void (*make)(unsigned int), int dirfd, const char *name,
		      const char *beside)
{
	struct cosy_stats before = counts();
	unsigned long late = 0, followed = 0, lost = 0;
	pid_t pid;

	pid = changes_start(make);
	for (unsigned int turn = 1; turn <= 40; turn++) {
		unsigned int done = 0;
		struct stat st, aside;

		COSY_START;
		for (int i = 0; i < 4; i++) {
			fstatat(dirfd, name, &st, 0);
			lost += fstatat(AT_FDCWD, beside, &aside, 0) || aside.st_size != 9;
		}
		change->asked = turn;
		for (long i = 0; i < 2000000 && !done; i++) {
			done = change->done == turn;
			lost += fstatat(AT_FDCWD, beside, &aside, 0) || aside.st_size != 9;
			if (fstatat(dirfd, name, &st, 0))
				st.st_size = 0;
		}
		COSY_END;
		followed += done;
		late += done && st.st_size != 1 + turn % 2;
	}
	changes_stop(pid);
	CHECK(followed == 40 && !late && !lost, "%s: %lu followed, %lu late; beside it %lu lost",
	      what, followed, late, lost);
	CHECK_FAST(before, 100);
}

static void follow(const char *what, void (*make)(unsigned int))
{
	follow_at(what, make, AT_FDCWD, "change/b/x", "plain");
	follow_at(what, make, AT_FDCWD, "change/b/x", "beside/d/x");
	follow_at(what, make, AT_FDCWD, "change/b/x", "beside/m/x");
}

/* Moves the directory back and forth between two others. */
static void move_directory(unsigned int turn)
{
	if (turn % 2 ? rename("change/b/in", "change/c/in") : rename("change/c/in", "change/b/in"))
		_exit(1);
}

static void link_replace(unsigned int turn)
{
	if (symlink(turn % 2 ? "two" : "one", "change/new") || rename("change/new", "change/link"))
		_exit(1);
}

static void mount_over_file(unsigned int turn)
{
	if (turn % 2 ? mount("change/c/x", "change/b/x", NULL, MS_BIND, NULL)
		     : umount2("change/b/x", MNT_DETACH))
		_exit(1);
}

static void following(void)
{
	int in;

	change = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(change != MAP_FAILED);
	path_make("change/b/x");
	path_make("change/c/x");
	path_make("other/b/x");
	MUST(!truncate("change/b/x", 1) && !truncate("change/c/x", 2) && !truncate("other/b/x", 2));
	path_make("beside/d/x");
	path_make("beside/m/x");
	if (!geteuid())
		MUST(!mount("none", "beside/m", "tmpfs", 0, NULL));
	path_make("beside/m/x");
	file_make("plain", 9);
	MUST(!truncate("beside/d/x", 9) && !truncate("beside/m/x", 9));
	follow("names exchanged", exchange_names);
	follow("renamed", rename_names);
	follow("names exchanged above", exchange_above);
	follow_at("exchanged below", exchange_names, AT_FDCWD, "change/c/../b/x", "plain");
	MUST(!mkdir("change/b/in", 0755));
	in = open("change/b/in", O_RDONLY | O_DIRECTORY);
	follow_at("moved from below", move_directory, in, "../x", "beside/d/x");
	MUST(!close(in) && !rmdir("change/b/in"));
	path_make("change/one");
	path_make("change/two");
	MUST(!truncate("change/one", 1) && !truncate("change/two", 2) &&
	     !symlink("one", "change/link"));
	follow_at("another link", link_replace, AT_FDCWD, "change/link", "plain");
	MUST(!unlink("change/link") && !unlink("change/one") && !unlink("change/two"));
	if (!geteuid()) {
		follow("mounted over", mount_over);
		follow("file mounted over", mount_over_file);
	}
	if (!geteuid())
		MUST(!umount("beside/m"));
	path_remove("beside/m/x");
	path_remove("beside/d/x");
	path_remove("change/c/x");
	path_remove("change/b/x");
	path_remove("other/b/x");
	MUST(!unlink("plain"));
	munmap(change, 4096);
}

/* Unmounts, from within the region, a file system that the process has left. */
static void unmounted(void)
{
	long r = 0, gone = -1;
	struct stat st;
	int outer;

	if (geteuid())
		return;
	MUST(!mkdir("left", 0700) && !mount("none", "left", "tmpfs", 0, NULL));
	path_make("left/a/b/x");
	MUST(!chdir("left"));
	outer = open("a", O_RDONLY | O_DIRECTORY);
	COSY_START;
	for (int i = 0; i < 8; i++)
		r += fstatat(AT_FDCWD, "a/b/x", &st, 0);
	for (int i = 0; i < 8; i++)
		r += fstatat(outer, "b/x", &st, 0);
	r += close(outer);
	r += chdir("..");
	gone = umount2("left", 0);
	COSY_END;
	CHECK(!r && !gone, "fstatat %ld, umount %ld", r, gone);
	CHECK(!rmdir("left"), "rmdir");
}

/*
 * Does the same where nothing but a descriptor leads there: no reference to the directory is held.
 * Goes by `beside`, a descriptor, by turns.
 */
static void unmounted_by_descriptor(int beside)
{
	long r = 0, gone = -1;
	struct stat st;
	int outer;

	if (geteuid())
		return;
	MUST(!mkdir("left", 0700) && !mount("none", "left", "tmpfs", 0, NULL));
	path_make("left/a/b/x");
	outer = open("left/a", O_RDONLY | O_DIRECTORY);
	MUST(outer >= 0);
	COSY_START;
	r += fstatat(beside, "a/b/x", &st, 0);
	for (int i = 0; i < 8; i++) {
		r += fstatat(beside, "a/b/x", &st, 0);
		r += fstatat(outer, "b/x", &st, 0);
	}
	r += close(outer);
	gone = umount2("left", 0);
	COSY_END;
	CHECK(!r && !gone, "fstatat %ld, umount %ld", r, gone);
	CHECK(!rmdir("left"), "rmdir");
}

/* Looks at the root of a mount by the name that it is mounted on, and unmounts it meanwhile. */
static void onto_mounts(void)
{
	struct cosy_stats before = counts();
	struct stat above, below, want;
	long r = 0, gone = 0;

	if (geteuid())
		return;
	path_make("over/a/x");
	MUST(!mount("none", "over/a", "tmpfs", 0, NULL) && !stat("over/a", &want));
	COSY_START;
	for (int i = 0; i < 100; i++)
		r += fstatat(AT_FDCWD, "over/a", &above, 0);
	gone += umount2("over/a", 0);
	for (int i = 0; i < 100; i++)
		r += fstatat(AT_FDCWD, "over/a", &below, 0);
	COSY_END;
	CHECK(!r && !gone, "fstatat %ld, umount %ld", r, gone);
	CHECK(above.st_ino == want.st_ino && above.st_dev == want.st_dev &&
		      below.st_dev != want.st_dev,
	      "another directory");
	CHECK_FAST(before, 190);
	path_remove("over/a/x");
}

/* The root of the process has no parent, and a part of a file system none outside its mount. */
static void above_roots(void)
{
	int root = open("/", O_RDONLY | O_DIRECTORY), inside;

	if (geteuid())
		return;
	MUST(root >= 0 && !chroot("."));
	same_path(AT_FDCWD, "../a/x", 0);
	same_path(AT_FDCWD, "a/../../a/x", 0);
	same_path(AT_FDCWD, "/../a/x", 0);
	MUST(!fchdir(root) && !chroot(".") && !fchdir(dir));
	path_make("part/one/in/x");
	path_make("part/x");
	MUST(!mkdir("bound", 0755) && !mount("part/one", "bound", NULL, MS_BIND, NULL));
	inside = open("bound/in", O_RDONLY | O_DIRECTORY);
	MUST(inside >= 0);
	same_path(inside, "../in/x", 0);
	MUST(!rename("part/one/in", "part/in"));
	same_path(inside, "../x", 0);
	MUST(!close(inside) && !close(root) && !umount("bound") && !rmdir("bound"));
	path_remove("part/in/x");
	MUST(!unlink("part/x") && !rmdir("part/one") && !rmdir("part"));
}

static inline bool is_after(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

/* A link that is followed was accessed: at each call, not only by the first, which is ordinary. */
static void links_accessed(void)
{
	struct cosy_stats before = counts();
	struct timespec start, now;
	struct stat st, link;
	long r = 0;

	if (geteuid())
		return;
	path_make("accessed/x");
	MUST(!mount("none", "accessed", "tmpfs", 0, NULL) &&
	     !mount(NULL, "accessed", NULL, MS_REMOUNT | MS_STRICTATIME, NULL));
	path_make("accessed/x");
	MUST(!symlink("x", "accessed/link"));
	COSY_START;
	for (int i = 0; i < 200; i++)
		r += stat("accessed/link", &st);
	r += clock_gettime(CLOCK_REALTIME_COARSE, &start);
	now = start;
	for (long i = 0; i < 2000000 && !is_after(&now, &start); i++) {
		r += stat("accessed/link", &st);
		r += clock_gettime(CLOCK_REALTIME_COARSE, &now);
	}
	r += stat("accessed/link", &st);
	r += lstat("accessed/link", &link);
	COSY_END;
	CHECK(!r && st.st_size == 7, "%ld, size %lld", r, (long long)st.st_size);
	CHECK(is_after(&link.st_atim, &start), "accessed at %lld.%09ld, not after %lld.%09ld",
	      (long long)link.st_atim.tv_sec, link.st_atim.tv_nsec, (long long)start.tv_sec,
	      start.tv_nsec);
	CHECK_FAST(before, 190);
	MUST(!umount("accessed"));
	path_remove("accessed/x");
}

/* Whether links in shared directories are protected is the system's to say. */
static void protected_links(const char *protect)
{
	int fd = open("/proc/sys/fs/protected_symlinks", O_WRONLY);

	if (geteuid())
		return;
	MUST(fd >= 0 && write(fd, protect, 1) == 1 && !close(fd));
	setfsuid(65534);
	same_path(AT_FDCWD, "sticky/to-x", 0);
	same_path(AT_FDCWD, "sticky/own", 0);
	setfsuid(0);
	same_path(AT_FDCWD, "sticky/own", 0);
}

/* Looks through file systems that are mounted one on the other, and unmounts them meanwhile. */
static void through_mounts(void)
{
	struct cosy_stats before = counts();
	struct stat below, middle, above;
	long r = 0, gone = 0;

	if (geteuid())
		return;
	path_make("over/a/x");
	MUST(!mount("none", "over/a", "tmpfs", 0, NULL));
	path_make("over/a/x");
	MUST(!truncate("over/a/x", 2) && !mount("none", "over/a", "tmpfs", 0, NULL));
	path_make("over/a/x");
	MUST(!truncate("over/a/x", 3));
	COSY_START;
	for (int i = 0; i < 100; i++)
		r += fstatat(AT_FDCWD, "over/a/x", &above, 0);
	gone += umount2("over/a", 0);
	for (int i = 0; i < 100; i++)
		r += fstatat(AT_FDCWD, "over/a/x", &middle, 0);
	gone += umount2("over/a", 0);
	for (int i = 0; i < 100; i++)
		r += fstatat(AT_FDCWD, "over/a/x", &below, 0);
	COSY_END;
	CHECK(!r && !gone, "fstatat %ld, umount %ld", r, gone);
	CHECK(above.st_size == 3 && middle.st_size == 2 && below.st_size == 7,
	      "sizes %lld, %lld, %lld", (long long)above.st_size, (long long)middle.st_size,
	      (long long)below.st_size);
	CHECK_FAST(before, 290);
	path_remove("over/a/x");
}

static void unmount_over(unsigned int turn)
{
	(void)turn;
	/* EBUSY would mean that the region still keeps it. */
	if (umount2("over/a", 0))
		_exit(1);
}

/* A mount that no name led through lately is not kept: another process can unmount it. */
static void mount_given_back(void)
{
	unsigned int done = 0;
	struct stat st;
	long r = 0;
	pid_t pid;

	if (geteuid())
		return;
	change = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(change != MAP_FAILED);
	path_make("over/a/x");
	path_make("one/a/x");
	MUST(!mount("none", "over/a", "tmpfs", 0, NULL));
	path_make("over/a/x");
	pid = changes_start(unmount_over);
	COSY_START;
	for (int i = 0; i < 4; i++)
		r += fstatat(AT_FDCWD, "over/a/x", &st, 0);
	for (int i = 0; i < 100; i++)
		r += fstatat(AT_FDCWD, "one/a/x", &st, 0);
	change->asked = 1;
	for (long i = 0; i < 2000000 && !done; i++) {
		done = change->done == 1;
		r += fstatat(AT_FDCWD, "one/a/x", &st, 0);
	}
	COSY_END;
	changes_stop(pid);
	CHECK(done && !r, "unmounted: %u, fstatat %ld", done, r);
	umount2("over/a", MNT_DETACH);
	path_remove("over/a/x");
	path_remove("one/a/x");
	munmap(change, 4096);
}

static void tree_make(void)
{
	path_make("a/x");
	path_make("a/b/x");
	path_make("a/b/c/x");
	path_make("a/b/c/y");
	path_make("a/d/x");
	path_make("a/m/n/x");
	path_make("a/m/x");
	path_make(deep);
	path_make(longest);
	path_make(just);
	/* Names that begin as others do, each of a size of its own. */
	path_make("ab/x");
	path_make("a/bb/x");
	path_make("a/bbb/x");
	path_make("a/b/b/x");
	MUST(!truncate("ab/x", 1) && !truncate("a/bb/x", 2) && !truncate("a/bbb/x", 3) &&
	     !truncate("a/b/b/x", 4));
	path_make("secret/x");
	path_make("a/closed/x");
	path_make("mount/x");
	MUST(!chmod("secret", 0700) && !chmod("a/closed", 0));
	MUST(!symlink("a/b", "to-b") && !symlink("b/c", "a/to-c") && !symlink("x", "a/b/to-x") &&
	     !symlink("nowhere", "dangling"));
	MUST(!symlink("ab", "to-ab") && !symlink("to-ab", "to-link") &&
	     !symlink("to-itself", "to-itself") && !symlink("none", "a/b/to-none") &&
	     !symlink("mount", "to-mount") && !symlink("..", "a/b/to-above") &&
	     !symlink(".", "a/b/to-here") && !symlink("/", "a/b/absolute"));
	path_make("sticky/x");
	path_make("nolinks/x");
	MUST(!chmod("sticky", 01777) && !symlink("x", "sticky/to-x") &&
	     !symlink("x", "sticky/own") && (geteuid() || !lchown("sticky/own", 65534, 65534)));
	mount("none", "nolinks", "tmpfs", NO_LINKS, NULL);
	path_make("nolinks/x");
	MUST(!symlink("x", "nolinks/to-x"));
	mount("none", "mount", "tmpfs", 0, NULL);
	mount("none", "a/m", "tmpfs", 0, NULL);
}

static void tree_remove(void)
{
	static const char *const links[] = { "to-b",	     "a/to-c",	    "a/b/to-x",
					     "dangling",     "to-ab",	    "to-link",
					     "to-itself",    "a/b/to-none", "to-mount",
					     "a/b/to-above", "a/b/to-here", "sticky/to-x",
					     "sticky/own",   "a/b/absolute" };

	umount("a/m");
	umount("mount");
	umount("nolinks");
	unlink("nolinks/to-x");
	chmod("a/closed", 0700);
	for (size_t l = 0; l < sizeof(links) / sizeof(*links); l++)
		unlink(links[l]);
	path_remove("sticky/x");
	path_remove("nolinks/x");
	for (size_t p = 0; p < sizeof(paths) / sizeof(*paths); p++)
		if (!strstr(paths[p], "..") && paths[p][0] != '/')
			path_remove(paths[p]);
	path_remove("a/b/c/y");
	path_remove("a/b/c/x");
	path_remove("a/d/x");
	path_remove("a/m/n/x");
	path_remove("a/m/x");
	path_remove("a/closed/x");
	CHECK(access("a", F_OK), "cleaning up");
}

#define LENGTHS 18

/* Names whose slash lies at each place in a word; those that begin with a dot look like one. */
static void slashes(void)
{
	char(*names)[LENGTHS][40] = cosy_malloc(LENGTHS * sizeof(*names));
	struct cosy_stats before;
	long wrong = 0;

	MUST(names);
	for (int d = 1; d < LENGTHS; d++)
		for (int n = 1; n < LENGTHS; n++) {
			char *at = names[d][n];

			memset(at, 'd', d);
			at[d] = '/';
			memset(at + d + 1, n % 2 ? 'x' : '.', n);
			strcpy(at + d + n, "f");
			path_make(at);
			MUST(!truncate(at, d * LENGTHS + n));
		}
	before = counts();
	COSY_START;
	for (int d = 1; d < LENGTHS; d++)
		for (int n = 1; n < LENGTHS; n++) {
			struct stat st = { 0 };

			if (fstatat(AT_FDCWD, names[d][n], &st, 0) || st.st_size != d * LENGTHS + n)
				wrong++;
		}
	COSY_END;
	CHECK(!wrong, "%ld of %d names led elsewhere", wrong, (LENGTHS - 1) * (LENGTHS - 1));
	/* The first calls of a RUN are ordinary. */
	CHECK_FAST(before, (LENGTHS - 2) * (LENGTHS - 1));
	for (int d = 1; d < LENGTHS; d++)
		for (int n = 1; n < LENGTHS; n++)
			path_remove(names[d][n]);
	cosy_free(names);
}

int main(void)
{
	directory_enter();
	dir = open(".", O_RDONLY | O_DIRECTORY);
	MUST(dir >= 0);
	tree_make();
	all_paths();
	slashes();
	from_two_directories();
	searching();
	onto_mounts();
	above_roots();
	links_accessed();
	protected_links("1");
	protected_links("0");
	following();
	unmounted();
	unmounted_by_descriptor(dir);
	unmounted_by_descriptor(AT_FDCWD);
	through_mounts();
	mount_given_back();
	tree_remove();
	close(dir);
	directory_leave();
	return check_end();
}
