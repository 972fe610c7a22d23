// SPDX-License-Identifier: MIT
/*
 * watch_mounts DIR: ways to directories across mounts, mounts that come and go, bind mounts and overlays.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "watch.h"
#include "watch_checks.h"
#include "watch_tests.h"

static void directory_that_left_its_mount(void)
{
	struct watcher watcher;

	CHECK(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	CHECK(!mkdir("R", 0755) && !mkdir("R/pwd", 0755) && !mkdir("R/pwd/e", 0755));
	CHECK(!mkdir("out", 0755) && !mkdir("M", 0755));
	close(open("R/pwd/e/c", O_CREAT | O_WRONLY, 0644));
	CHECK(!mount("R", "M", NULL, MS_BIND, NULL));
	CHECK(!chdir("M/pwd"));
	CHECK(!rename("../../R/pwd", "../../out/pwd") || true);
	CHECK(!watcher_open(&watcher));
	/* It comes back; what it says does not matter. */
	read_error(&watcher, AT_FDCWD, "e/", "c");
	CHECK(read_error(&watcher, AT_FDCWD, "e/../e/", "c") == EOPNOTSUPP);
}

/*
 * More directories on the way than a watcher remembers: each that an answer depends on is still
 * among them.
 */
static void many_ways(void)
{
	char here[64], prefix[160], name[32];
	struct watcher watcher;
	int made = 0;

	CHECK(!mkdir("ways", 0755) && !chdir("ways") && getcwd(here, sizeof(here)));
	CHECK(!watcher_open(&watcher));
	for (int fillers = 20; fillers < 36; fillers++) {
		sprintf(name, "a%d", fillers);
		mkdir(name, 0755);
		sprintf(prefix, "%s/n", name);
		make_file(prefix);
		sprintf(prefix, "%s/d", name);
		mkdir(prefix, 0755);
		sprintf(prefix, "%s/d/e", name);
		mkdir(prefix, 0755);
		sprintf(prefix, "%s/d/e/f", name);
		make_file(prefix);
		for (int i = 0; i < fillers; i++) {
			sprintf(prefix, "b%d", made + i);
			mkdir(prefix, 0755);
			sprintf(prefix, "b%d/c", made + i);
			mkdir(prefix, 0755);
			sprintf(prefix, "b%d/c/n", made + i);
			make_file(prefix);
		}
		sync();
		sprintf(prefix, "a%d/x/", fillers);
		*strstr(prefix, "x/") = 0;
		CHECK(read_holds(&watcher, AT_FDCWD, prefix, "n"));
		sprintf(prefix, "a%d/d/e/", fillers);
		CHECK(read_holds(&watcher, AT_FDCWD, prefix, "f"));
		for (int i = 0; i < fillers; i++) {
			sprintf(prefix, "%s/b%d/c/", here, made + i);
			CHECK(read_holds(&watcher, AT_FDCWD, prefix, "n"));
		}
		made += fillers;
		sprintf(prefix, "a%d/d/e/", fillers);
		CHECK(read_holds(&watcher, AT_FDCWD, prefix, "f"));
		sprintf(prefix, "a%d/d", fillers);
		CHECK(!chmod(prefix, 0700));
		CHECK(!answer_holds(&watcher, &answer));
	}
}

static void move_mount_point(void)
{
	CHECK(!rename("point", "point2"));
}

/* A directory on which this namespace alone has a mount is moved in another one. */
static void mount_point_that_moves(void)
{
	struct helper helper;
	struct watcher watcher;
	char prefix[96];

	CHECK(!mkdir("point", 0755));
	helper = helper_begin(move_mount_point);
	CHECK(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	CHECK(!mount("t", "point", "tmpfs", 0, NULL));
	make_file("point/f");
	CHECK(getcwd(prefix, sizeof(prefix) - 8));
	strcat(prefix, "/point/");
	CHECK(!watcher_open(&watcher));
	CHECK(read_holds(&watcher, AT_FDCWD, prefix, "f"));
	helper_run(&helper);
	CHECK(access("point/f", F_OK) && errno == ENOENT);
	CHECK(!answer_holds(&watcher, &answer));
}

/* Changes of mounts are seen whatever stands for the file of /proc that shows them. */
static void foreign_mountinfo(void)
{
	struct watcher watcher;

	CHECK(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	CHECK(!mount("/dev/null", "/proc/thread-self/mountinfo", NULL, MS_BIND, NULL));
	CHECK(!watcher_open(&watcher));
	mkdir("covered", 0755);
	CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f"));
	CHECK(!mount("t", "covered", "tmpfs", 0, NULL));
	CHECK(!answer_holds(&watcher, &answer));
}

/* Makes the mounts of this process its own. */
static void own_mounts(void)
{
	CHECK(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

/* Tells whether the answer for a name is what stat(2) returns. */
static bool read_is_right(const struct watcher *watcher, const char *prefix, const char *name)
{
	char path[64];
	struct stat is;

	snprintf(path, sizeof(path), "%s%s", prefix, name);
	return read_holds(watcher, AT_FDCWD, prefix, name) && !stat_ask(AT_FDCWD, path, &is) &&
	       stat_is(&is, answer.entry->stat);
}

/* One directory by two mounts: a change by either ends the answers of both. */
static void bind_mounts(void)
{
	struct watcher watcher;

	own_mounts();
	mkdir("source", 0755);
	mkdir("source/d", 0755);
	mkdir("bound", 0755);
	make_file("source/d/n");
	sync();
	CHECK(!mount("source", "bound", NULL, MS_BIND, NULL));
	CHECK(!watcher_open(&watcher));
	CHECK(read_is_right(&watcher, "bound/d/", "n"));
	CHECK(!chmod("source/d/n", 0600) && !answer_holds(&watcher, &answer));
	CHECK(read_is_right(&watcher, "source/d/", "n"));
	CHECK(!chmod("bound/d/n", 0644) && !answer_holds(&watcher, &answer));
	CHECK(read_is_right(&watcher, "bound/d/", "n"));
	CHECK(!rename("source/d", "source/e") && !answer_holds(&watcher, &answer));
	CHECK(read_error(&watcher, AT_FDCWD, "bound/d/", "n") == ENOENT);
	CHECK(read_is_right(&watcher, "bound/e/", "n"));
	/* The mount point goes: with it the way by which the answer was found. */
	CHECK(!umount("bound") && !answer_holds(&watcher, &answer));
	CHECK(read_error(&watcher, AT_FDCWD, "bound/e/", "n") == ENOENT);
	/* A mount on a directory of the way. */
	CHECK(read_is_right(&watcher, "source/e/", "n"));
	CHECK(!mount("bound", "source/e", NULL, MS_BIND, NULL));
	CHECK(!answer_holds(&watcher, &answer));
	CHECK(read_error(&watcher, AT_FDCWD, "source/e/", "n") == ENOENT);
	make_file("bound/k");
	sync();
	CHECK(read_is_right(&watcher, "source/e/", "k"));
	CHECK(!umount("source/e") && !answer_holds(&watcher, &answer));
	CHECK(read_error(&watcher, AT_FDCWD, "source/e/", "k") == ENOENT);
}

static void open_for_writing(void)
{
	close(open("over/merged/m", O_WRONLY | O_APPEND));
}

static void open_for_reading(void)
{
	close(open("over/merged/m", O_RDONLY));
}

static void change_mode(void)
{
	CHECK(!chmod("over/merged/m", 0600));
}

static void change_name(void)
{
	CHECK(!rename("over/merged/m", "over/merged/k"));
}

/* Names of an overlay are refused.  What the overlay does to its layers ends answers about them. */
static void overlay(void)
{
	static void (*const changes[])(void) = { open_for_reading, open_for_writing, change_mode,
						 change_name };
	struct watcher watcher;
	int fd;

	own_mounts();
	CHECK(!mkdir("over", 0755) && !mkdir("over/lower", 0755) && !mkdir("over/upper", 0755) &&
	      !mkdir("over/work", 0755) && !mkdir("over/merged", 0755));
	make_file("over/lower/n");
	write_text("over/lower/n", "read when it is copied");
	make_file("over/upper/m");
	sync();
	if (mount("overlay", "over/merged", "overlay", 0,
		  "lowerdir=over/lower,upperdir=over/upper,workdir=over/work")) {
		CHECK(!"an overlay can be mounted");
		return;
	}
	CHECK(!watcher_open(&watcher));
	CHECK(read_error(&watcher, AT_FDCWD, "over/merged/", "n") == EOPNOTSUPP);
	fd = open("over/merged", O_RDONLY | O_DIRECTORY);
	CHECK(read_error(&watcher, fd, NULL, "n") == EOPNOTSUPP);
	close(fd);
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		CHECK(read_is_right(&watcher, "over/upper/", "m"));
		changes[i]();
		CHECK(!answer_holds(&watcher, &answer));
		sync();
	}
	CHECK(read_is_right(&watcher, "over/lower/", "n"));
	/* Reads the lower file, and copies it. */
	CHECK(!chmod("over/merged/n", 0600) && !answer_holds(&watcher, &answer));
	sync();
	CHECK(read_is_right(&watcher, "over/upper/", "n"));
	CHECK(!unlink("over/merged/n") && !answer_holds(&watcher, &answer));
}

/* Huge pages are split, and fill holes, while nobody has the file open. */
static void huge_pages(void)
{
	struct watcher watcher;

	CHECK(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	CHECK(!mkdir("huge", 0755) && !mount("none", "huge", "tmpfs", 0, "huge=always"));
	make_file("huge/f");
	CHECK(!watcher_open(&watcher));
	CHECK(read_error(&watcher, AT_FDCWD, "huge/", "f") == EOPNOTSUPP);
	CHECK(!mount(NULL, "huge", NULL, MS_REMOUNT, "huge=never"));
	CHECK(read_holds(&watcher, AT_FDCWD, "huge/", "f"));
}

/* Goes into a namespace and a root of its own, a mounted tmpfs, in which `new` is another one. */
static void root_make(void)
{
	CHECK(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	CHECK(!mkdir("root", 0755) || errno == EEXIST);
	CHECK(!mount("none", "root", "tmpfs", 0, NULL) && !chdir("root"));
	CHECK(!mkdir("dev", 0755) && !mount("/dev", "dev", NULL, MS_BIND, NULL));
	CHECK(!mkdir("proc", 0755) && !mount("none", "proc", "proc", 0, NULL));
	CHECK(!mkdir("new", 0755) && !mount("none", "new", "tmpfs", 0, NULL));
	CHECK(!mkdir("new/old", 0755) && !mkdir("d", 0755));
	make_file("d/f");
	CHECK(!chroot(".") && !chdir("/"));
}

static void pivot_root(void)
{
	CHECK(!syscall(SYS_pivot_root, "new", "new/old"));
	fflush(stdout);
}

/* Another process of the namespace changes this one's root. */
static void root_that_another_one_changes(void)
{
	struct watcher watcher;
	struct helper helper;

	root_make();
	helper = helper_begin(pivot_root);
	CHECK(!watcher_open(&watcher));
	CHECK(read_holds(&watcher, AT_FDCWD, "/d/", "f"));
	helper_run(&helper);
	CHECK(access("/old/d/f", F_OK) == 0);
	CHECK(has_ended(&watcher) && !answer_holds(&watcher, &answer));
}

static void root_that_the_process_changes(void)
{
	struct watcher watcher;

	root_make();
	CHECK(!watcher_open(&watcher));
	CHECK(read_holds(&watcher, AT_FDCWD, "/d/", "f"));
	CHECK(!chroot("new"));
	CHECK(has_ended(&watcher) && !answer_holds(&watcher, &answer));
}

int main(int argc, char **argv)
{
	static void (*const tests[])(void) = {
		directory_that_left_its_mount,
		many_ways,
		mount_point_that_moves,
		foreign_mountinfo,
		bind_mounts,
		overlay,
		huge_pages,
		root_that_another_one_changes,
		root_that_the_process_changes,
	};

	return tests_main(argc, argv, tests, sizeof(tests) / sizeof(*tests));
}
