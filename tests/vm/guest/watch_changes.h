/* SPDX-License-Identifier: MIT */
/* watch_changes.h - random changes of a tree in the current directory, of its names and of the way to them. */
#ifndef WATCH_CHANGES_H
#define WATCH_CHANGES_H

#include <fcntl.h>
#include <linux/cosy_watch.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { NAMES = 40 };

static char path[64], other[64];
static unsigned int seed;

static unsigned int choose(unsigned int count)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % count;
}

static void name_of(char *to, unsigned int i)
{
	sprintf(to, i % 8 == 7 ? "t/m/d/sub%u" : i % 8 == 6 ? "t/m/d/link%u" : "t/m/d/f%u.c", i);
}

static void make_file(const char *name)
{
	int fd = open(name, O_CREAT | O_WRONLY, 0644);

	if (fd >= 0 && write(fd, name, 20) < 0)
		perror(name);
	close(fd);
}

static void append(void)
{
	int fd = open(path, O_WRONLY | O_APPEND);

	if (fd >= 0 && write(fd, "abc", 3) < 0)
		perror(path);
	close(fd);
}
static void cut(void)
{
	if (truncate(path, choose(9000)))
		return;
}
static void mode(void)
{
	chmod(path, 0600 | choose(0177));
}
static void remove_name(void)
{
	unlink(path);
}
static void create(void)
{
	make_file(path);
}
/* As editors and compilers do: a file without a hole comes to be there. */
static void replace(void)
{
	make_file("t/m/d/new");
	if (rename("t/m/d/new", path))
		unlink("t/m/d/new");
}
static void move(void)
{
	rename(path, other);
}
static void exchange(void)
{
	renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE);
}
static void join(void)
{
	if (link(path, other))
		return;
}
static void touch(void)
{
	utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}
static void touch_access(void)
{
	utimensat(AT_FDCWD, path, (struct timespec[2]){ { 0, UTIME_NOW }, { 0, UTIME_OMIT } },
		  AT_SYMLINK_NOFOLLOW);
}
static void read_it(void)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);

	if (fd >= 0 && read(fd, other, 9) < 0)
		other[0] = 0;
	close(fd);
}
static void make_directory(void)
{
	mkdir(path, 0755);
}
static void remove_directory(void)
{
	rmdir(path);
}
static void make_link(void)
{
	if (symlink("f1.c", path))
		return;
}
static void mode_above(void)
{
	chmod("t/m/d", 0711 | choose(8) << 3 | choose(8));
}
static void exchange_directory(void)
{
	renameat2(AT_FDCWD, "t/m/d", AT_FDCWD, "t/m/e", RENAME_EXCHANGE);
}
static void exchange_above(void)
{
	renameat2(AT_FDCWD, "t", AT_FDCWD, "u", RENAME_EXCHANGE);
}
static void mount_over(void)
{
	if (choose(4) || mount(other, path, NULL, MS_BIND, NULL))
		umount2(path, MNT_DETACH);
}
static void change_below(void)
{
	sprintf(other, "%.50s/x", path);
	mkdir(other, 0755);
	rmdir(other);
}
static void store(void)
{
	int fd = open(path, O_RDWR | O_NOFOLLOW);
	struct stat stat_now;
	char *at;

	if (fd < 0)
		return;
	if (!fstat(fd, &stat_now) && S_ISREG(stat_now.st_mode) && stat_now.st_size > 0) {
		at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		at[0]++;
		munmap(at, 4096);
	}
	close(fd);
}
static void write_back(void)
{
	sync();
}

static const char *const attributes[COSY_WATCH_XATTR_COUNT] = COSY_WATCH_XATTRS;

static void set_acl(void)
{
	static const char acl[] =
		"\2\0\0\0\1\0\6\0\377\377\377\377\2\0\7\0\1\0\0\0\4\0\4\0\377\377\377\377"
		"\20\0\7\0\377\377\377\377\40\0\4\0\377\377\377\377";

	if (setxattr(path, attributes[2 + choose(2)], acl, sizeof(acl) - 1, 0))
		return;
}
static void set_capability(void)
{
	static const char none[20] = { 0, 0, 0, 2 };

	if (setxattr(path, attributes[1], none, sizeof(none), 0))
		return;
}
static void remove_attribute(void)
{
	if (removexattr(path, attributes[choose(COSY_WATCH_XATTR_COUNT)]))
		return;
}

static const struct {
	const char *name;
	void (*make)(void);
} changes[] = {
	{ "append", append },
	{ "truncate", cut },
	{ "chmod", mode },
	{ "unlink", remove_name },
	{ "create", create },
	{ "replace", replace },
	{ "replace", replace },
	{ "replace", replace },
	{ "rename", move },
	{ "exchange", exchange },
	{ "link", join },
	{ "utimes", touch },
	{ "utimes of access", touch_access },
	{ "read", read_it },
	{ "mkdir", make_directory },
	{ "rmdir", remove_directory },
	{ "symlink", make_link },
	{ "chmod of the directory", mode_above },
	{ "exchange of the directory", exchange_directory },
	{ "exchange above", exchange_above },
	{ "bind mount", mount_over },
	{ "mkdir and rmdir below", change_below },
	{ "store to a mapping", store },
	{ "sync", write_back },
	{ "access control list", set_acl },
	{ "capability", set_capability },
	{ "removexattr", remove_attribute },
};

enum { CHANGES = sizeof(changes) / sizeof(*changes) };

/* Makes a random change of a random name.  Returns its number. */
static unsigned int change_make(void)
{
	unsigned int i = choose(CHANGES);

	name_of(path, choose(NAMES));
	name_of(other, choose(NAMES));
	changes[i].make();
	return i;
}

static void tree_prepare(void)
{
	static const char *const directories[] = { "t", "t/m", "t/m/d", "t/m/e",
						   "u", "u/m", "u/m/d", "u/m/e" };

	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
		mkdir(directories[i], 0755);
	for (unsigned int i = 0; i < NAMES; i++) {
		name_of(path, i);
		if (i % 8 == 7)
			mkdir(path, 0755);
		else if (i % 8 == 6)
			make_link();
		else
			make_file(path);
	}
	sync();
}

#endif /* WATCH_CHANGES_H */
