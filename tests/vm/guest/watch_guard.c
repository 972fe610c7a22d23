// SPDX-License-Identifier: MIT
/*
 * watch_guard DIR: makes each kind of change to a file or a directory whose attributes were read
 * ahead.  Fails if stat(2) then says something else than an answer that its words call valid, and if
 * the answer of an untouched file was never valid.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>

#include "watch_cases.h"

#define EXT4_IOC_SETVERSION _IOW('f', 4, long)

static void map_file(int flags, int rights, size_t size)
{
	int fd = open(FILE_PATH, flags);

	map_size = size;
	map = mmap(NULL, size, rights, MAP_SHARED, fd, 0);
	close(fd);
}

/* Before the READ. */
static void open_to_write(void)
{
	before_fd = open(FILE_PATH, O_WRONLY);
}
static void open_to_read(void)
{
	before_fd = open(FILE_PATH, O_RDONLY);
}
static void map_to_write(void)
{
	map_file(O_RDWR, PROT_READ | PROT_WRITE, 4096);
}
static void make_other(void)
{
	if (link(FILE_PATH, "top/other"))
		perror("link");
}
static void make_holes(void)
{
	if (truncate(FILE_PATH, 65536))
		perror("truncate");
}
static void make_new(void)
{
	file_put("top/new", 77);
}
static void make_other_and_new(void)
{
	make_other();
	make_new();
}
static void make_dirty(void)
{
	static char bytes[65536];
	int fd;

	/* A file that was truncated would be written back when it is closed. */
	unlink(FILE_PATH);
	fd = open(FILE_PATH, O_CREAT | O_WRONLY, 0644);
	for (int i = 0; i < 20; i++)
		if (pwrite(fd, bytes, sizeof(bytes), i * 262144l) < 0)
			perror("pwrite");
	close(fd);
}
static void mount_directory(void)
{
	if (mount("t", DIRECTORY, "tmpfs", 0, NULL))
		perror("mount");
	file_put(FILE_PATH, 5);
}
/* Listed later than it was changed, so that listing it again leaves its time of access. */
static void list_lately(void)
{
	char bytes[4096];
	int fd;

	usleep(12000);
	fd = open(DIRECTORY, O_RDONLY);
	if (syscall(SYS_getdents64, fd, bytes, sizeof(bytes)) < 0)
		perror("getdents64");
	close(fd);
}
static void list_then_change(void)
{
	list_lately();
	usleep(12000);
	chmod(DIRECTORY, 0700);
}
static void modify_in_future(void)
{
	struct timespec times[2] = { { 0, UTIME_OMIT }, { time(NULL) + 3600, 0 } };

	if (utimensat(AT_FDCWD, DIRECTORY, times, 0))
		perror("utimensat");
	list_lately();
}
static void clock_move(time_t seconds)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += seconds;
	if (clock_settime(CLOCK_REALTIME, &now))
		perror("clock_settime");
}
/* Two days ago the directory was made and listed. */
static void list_days_ago(void)
{
	clock_move(-2 * 24 * 60 * 60);
	if (rename(DIRECTORY, "top/mid/young") || mkdir(DIRECTORY, 0755))
		perror(DIRECTORY);
	list_lately();
	clock_move(2 * 24 * 60 * 60);
}
static void bind_with(unsigned long flags)
{
	mkdir("bound", 0755);
	if (mount(DIRECTORY, "bound", NULL, MS_BIND, NULL) ||
	    mount(NULL, "bound", NULL, MS_BIND | MS_REMOUNT | flags, NULL))
		perror("mount");
}
static void bind_strictly(void)
{
	list_lately();
	bind_with(MS_STRICTATIME);
}
static void bind_without_times(void)
{
	bind_with(MS_NOATIME);
}
static void make_executable(void)
{
	chmod(FILE_PATH, 0755);
}

/* The changes. */
static void write_before(void)
{
	DO(write(before_fd, "hello", 5));
}
static void write_open(void)
{
	later_fd = open(FILE_PATH, O_WRONLY | O_APPEND);
	DO(write(later_fd, "hello", 5));
}
static void write_closed(void)
{
	write_open();
	close(later_fd);
	later_fd = -1;
}
static void write_child(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		write_open();
		_exit(!done);
	}
	waitpid(child, &status, 0);
	done = !status;
}
static void truncate_file(void)
{
	DO(truncate(FILE_PATH, 3));
}
static void open_truncate(void)
{
	DO(later_fd = open(FILE_PATH, O_RDONLY | O_TRUNC));
}
static void chmod_file(void)
{
	DO(chmod(FILE_PATH, 0600));
}
static void fchmod_before(void)
{
	DO(fchmod(before_fd, 0600));
}
static void chown_file(void)
{
	DO(chown(FILE_PATH, 1, 1));
}
static void touch(void)
{
	DO(utimensat(AT_FDCWD, FILE_PATH, NULL, 0));
}
static void touch_access(void)
{
	DO(utimensat(AT_FDCWD, FILE_PATH,
		     (struct timespec[2]){ { 0, UTIME_NOW }, { 0, UTIME_OMIT } }, 0));
}
static void link_file(void)
{
	DO(link(FILE_PATH, "top/other"));
}
static void unlink_other(void)
{
	DO(unlink("top/other"));
}
static void unlink_file(void)
{
	DO(unlink(FILE_PATH));
}
static void rename_away(void)
{
	DO(rename(FILE_PATH, "top/moved"));
}
static void rename_here(void)
{
	DO(rename(FILE_PATH, DIRECTORY "/renamed"));
}
static void rename_over(void)
{
	DO(rename("top/new", FILE_PATH));
}
static void rename_over_other(void)
{
	DO(rename("top/new", "top/other"));
}
static void rename_other(void)
{
	DO(rename("top/other", "top/other2"));
}
static void rename_exchange(void)
{
	DO(renameat2(AT_FDCWD, "top/new", AT_FDCWD, FILE_PATH, RENAME_EXCHANGE));
}
static void rename_directory(void)
{
	DO(rename(DIRECTORY, "top/mid/dir2"));
}
static void rename_middle(void)
{
	DO(rename("top/mid", "top/mid2"));
}
static void rename_top(void)
{
	DO(rename("top", "top2"));
}
static void create_entry(void)
{
	close(DO(later_fd = open(DIRECTORY "/new", O_CREAT | O_WRONLY, 0600)) ? dup(later_fd) : -1);
}
static void make_directory(void)
{
	DO(mkdir(DIRECTORY "/newdir", 0700));
}
static void make_symlink(void)
{
	DO(symlink("x", DIRECTORY "/newlink"));
}
static void make_fifo(void)
{
	DO(mknod(DIRECTORY "/fifo", S_IFIFO | 0600, 0));
}
static void bind_socket(void)
{
	struct sockaddr_un address = { AF_UNIX, DIRECTORY "/socket" };

	later_fd = socket(AF_UNIX, SOCK_STREAM, 0);
	DO(bind(later_fd, (struct sockaddr *)&address, sizeof(address)));
}
static void link_unnamed(void)
{
	char path[64];

	later_fd = open(DIRECTORY, O_TMPFILE | O_RDWR, 0600);
	sprintf(path, "/proc/self/fd/%d", later_fd);
	DO(linkat(AT_FDCWD, path, AT_FDCWD, DIRECTORY "/new", AT_SYMLINK_FOLLOW));
}
static void store_mapped(void)
{
	map[0]++;
	done = true;
}
static void set_xattr(void)
{
	DO(setxattr(FILE_PATH, "trusted.a", "b", 1, 0));
}
static void set_acl(void)
{
	static const char acl[] =
		"\2\0\0\0\1\0\6\0\377\377\377\377\2\0\6\0\1\0\0\0\4\0\4\0\377\377\377"
		"\377\20\0\6\0\377\377\377\377 \0\4\0\377\377\377\377";

	DO(setxattr(FILE_PATH, "system.posix_acl_access", acl, sizeof(acl) - 1, 0));
}
static void set_flags(void)
{
	int flags = FS_NODUMP_FL, fd = open(FILE_PATH, O_RDONLY);

	DO(ioctl(fd, FS_IOC_SETFLAGS, &flags));
	close(fd);
}
static void set_flags_before(void)
{
	int flags = FS_NODUMP_FL;

	DO(ioctl(before_fd, FS_IOC_SETFLAGS, &flags));
}
static void chmod_directory(void)
{
	DO(chmod(DIRECTORY, 0700));
}
static void mount_over_directory(void)
{
	DO(mount("t", DIRECTORY, "tmpfs", 0, NULL));
}
static void mount_over_file(void)
{
	DO(mount("top/new", FILE_PATH, NULL, MS_BIND, NULL));
}
static void mount_over_top(void)
{
	DO(mount("t", "top", "tmpfs", 0, NULL));
}
static void unmount(void)
{
	DO(umount2(DIRECTORY, MNT_DETACH));
}
static void read_file(void)
{
	char byte;

	later_fd = open(FILE_PATH, O_RDONLY);
	DO(read(later_fd, &byte, 1));
}
static void read_closed(void)
{
	read_file();
	close(later_fd);
	later_fd = -1;
}
static void read_before(void)
{
	char byte;

	DO(read(before_fd, &byte, 1));
}
static void map_before(void)
{
	volatile char *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, before_fd, 0);

	done = at != MAP_FAILED && (*at || true);
}
static void send_before(void)
{
	int fd = open("/dev/null", O_WRONLY);

	DO(sendfile(fd, before_fd, NULL, 100));
	close(fd);
}
static void list_directory(void)
{
	char bytes[4096];

	later_fd = open(DIRECTORY, O_RDONLY);
	DO(syscall(SYS_getdents64, later_fd, bytes, sizeof(bytes)));
}
static void list_before(void)
{
	char bytes[4096];

	DO(syscall(SYS_getdents64, before_fd, bytes, sizeof(bytes)));
}
static void list_closed(void)
{
	list_directory();
	close(later_fd);
	later_fd = -1;
}
/* Through a mount of the directory whose flags are its own. */
static void list_bound(void)
{
	char bytes[4096];

	later_fd = open("bound", O_RDONLY);
	DO(syscall(SYS_getdents64, later_fd, bytes, sizeof(bytes)));
	close(later_fd);
	later_fd = -1;
}
static void set_version(void)
{
	int version = 7;

	later_fd = open(DIRECTORY, O_RDONLY);
	DO(ioctl(later_fd, EXT4_IOC_SETVERSION, &version));
}
static void execute(void)
{
	pid_t child = fork();

	if (!child) {
		execl(FILE_PATH, "x", NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	done = true;
}
static void read_hole(void)
{
	map_file(O_RDONLY, PROT_READ, 65536);
	done = *(volatile char *)(map + 40000) == 0;
}
/* A hole that was read is a clean page, which counts as a block until it is dropped. */
static void make_read_hole(void)
{
	make_holes();
	read_hole();
	munmap(map, map_size);
	map = NULL;
	close(later_fd);
	later_fd = -1;
}
/*
 * Makes as many blocks as the size needs, each of which is a hole that was read: a clean page, which
 * counts until it is dropped.
 */
static void read_all_holes(int pages)
{
	if (truncate(FILE_PATH, 0) || truncate(FILE_PATH, 4096 * pages))
		perror("truncate");
	map_file(O_RDONLY, PROT_READ, 4096 * pages);
	done = true;
	for (int i = 0; i < pages; i++)
		done = done && !((volatile char *)map)[4096 * i];
	munmap(map, map_size);
	map = NULL;
}
static void make_read_holes(void)
{
	read_all_holes(2);
}
static void make_one_read_hole(void)
{
	read_all_holes(1);
}
static void drop_caches(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	DO(write(fd, "1", 1));
	close(fd);
}
static void write_back(void)
{
	sync();
	done = true;
}
static void read_link(void)
{
	char bytes[100];

	DO(readlink(LINK_PATH, bytes, sizeof(bytes)));
}
static void change_directory(void)
{
	done = !chdir("top") && !chdir("mid") && !chdir("..");
}
static void close_and_reuse(void)
{
	close(before_fd);
	before_fd = open("top", O_RDONLY);
	done = true;
}
static void new_mounts(void)
{
	done = !unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("t", DIRECTORY, "tmpfs", 0, NULL);
}
static void lose_rights(void)
{
	chmod("top", 0700);
	DO(syscall(SYS_setfsuid, 1));
}

static const struct change_case cases[] = {
	{ "write, opened before", open_to_write, write_before, BY_PATH, 0 },
	{ "open, write, close", nothing, write_closed, BY_PATH, 0 },
	{ "open, write", nothing, write_open, BY_PATH, 0 },
	{ "write by another process", nothing, write_child, BY_PATH, 0 },
	{ "truncate", nothing, truncate_file, BY_PATH, 0 },
	{ "open with O_TRUNC", nothing, open_truncate, BY_PATH, 0 },
	{ "chmod", nothing, chmod_file, BY_PATH, 0 },
	{ "chmod, by number", open_directory, chmod_file, BY_NUMBER, 0 },
	{ "fchmod, opened before", open_to_read, fchmod_before, BY_PATH, 0 },
	{ "chown", nothing, chown_file, BY_PATH, 0 },
	{ "utimes", nothing, touch, BY_PATH, 0 },
	{ "utimes of access", nothing, touch_access, BY_PATH, 0 },
	{ "link", nothing, link_file, BY_PATH, 0 },
	{ "unlink of another name", make_other, unlink_other, BY_PATH, 0 },
	{ "unlink", nothing, unlink_file, BY_PATH, 0 },
	{ "unlink, by number", open_directory, unlink_file, BY_NUMBER, 0 },
	{ "rename away", nothing, rename_away, BY_PATH, 0 },
	{ "rename in the directory", nothing, rename_here, BY_PATH, 0 },
	{ "rename over it", make_new, rename_over, BY_PATH, 0 },
	{ "rename of another name", make_other, rename_other, BY_PATH, 0 },
	{ "exchange", make_new, rename_exchange, BY_PATH, 0 },
	{ "rename of its directory", nothing, rename_directory, BY_PATH, 0 },
	{ "rename of the one above", nothing, rename_middle, BY_PATH, 0 },
	{ "rename two above", nothing, rename_top, BY_PATH, 0 },
	{ "create in a directory", nothing, create_entry, THE_DIRECTORY, 0 },
	{ "mkdir in a directory", nothing, make_directory, THE_DIRECTORY, 0 },
	{ "symlink in a directory", nothing, make_symlink, THE_DIRECTORY, 0 },
	{ "mknod in a directory", nothing, make_fifo, THE_DIRECTORY, 0 },
	{ "bind in a directory", nothing, bind_socket, THE_DIRECTORY, 0 },
	{ "linkat of O_TMPFILE", nothing, link_unnamed, THE_DIRECTORY, 0 },
	{ "list a directory", nothing, list_directory, THE_DIRECTORY, 0 },
	{ "list, opened before", open_directory, list_before, THE_DIRECTORY, 0 },
	{ "list, listed before", list_lately, list_closed, THE_DIRECTORY, KEPT },
	{ "list, changed since", list_then_change, list_directory, THE_DIRECTORY, 0 },
	{ "list, of the future", modify_in_future, list_directory, THE_DIRECTORY, 0 },
	{ "list, listed days ago", list_days_ago, list_directory, THE_DIRECTORY, 0 },
	{ "list, strictatime", bind_strictly, list_bound, THE_DIRECTORY, 0 },
	{ "list, noatime", bind_without_times, list_bound, THE_DIRECTORY, KEPT },
	{ "SETVERSION, listed before", list_lately, set_version, THE_DIRECTORY, 0 },
	{ "store to a mapping", map_to_write, store_mapped, BY_PATH, 0 },
	{ "setxattr", nothing, set_xattr, BY_PATH, 0 },
	{ "access control list", nothing, set_acl, BY_PATH, 0 },
	{ "SETFLAGS", nothing, set_flags, BY_PATH, 0 },
	{ "SETFLAGS, opened before", open_to_read, set_flags_before, BY_PATH, 0 },
	{ "chmod of its directory", nothing, chmod_directory, THE_DIRECTORY, 0 },
	{ "mount over its directory", nothing, mount_over_directory, BY_PATH, 0 },
	{ "mount over it", make_new, mount_over_file, BY_PATH, 0 },
	{ "mount over it, by number", make_new, mount_over_file, BY_NUMBER, 0 },
	{ "mount two above", nothing, mount_over_top, BY_PATH, 0 },
	{ "umount", mount_directory, unmount, BY_PATH, 0 },
	{ "read", nothing, read_file, BY_PATH, 0 },
	{ "open, read, close", nothing, read_closed, BY_PATH, 0 },
	{ "read, opened before", open_to_read, read_before, BY_PATH, 0 },
	{ "mmap, opened before", open_to_read, map_before, BY_PATH, 0 },
	{ "sendfile, opened before", open_to_read, send_before, BY_PATH, 0 },
	{ "exec", make_executable, execute, BY_PATH, 0 },
	{ "read of a hole", make_holes, read_hole, BY_PATH, 0 },
	{ "drop of a hole's page", make_read_hole, drop_caches, BY_PATH, 0 },
	{ "drop of all pages", make_read_holes, drop_caches, BY_PATH, 0 },
	{ "drop of the only page", make_one_read_hole, drop_caches, BY_PATH, 0 },
	{ "writeback", make_dirty, write_back, BY_PATH, DIRTY },
	{ "readlink", nothing, read_link, THE_LINK, 0 },
	{ "chdir", nothing, change_directory, BY_PATH, ALONE },
	{ "close, and open another", open_directory, close_and_reuse, BY_NUMBER, 0 },
	{ "unshare, mount", nothing, new_mounts, BY_PATH, ALONE },
	{ "setfsuid", nothing, lose_rights, BY_PATH, ALONE },
	{ "rename over another name", make_other_and_new, rename_over_other, BY_PATH, 0 },
};

int main(int argc, char **argv)
{
	return cases_main(argc, argv, cases, sizeof(cases) / sizeof(*cases), 30);
}
