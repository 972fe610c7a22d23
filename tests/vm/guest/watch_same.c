// SPDX-License-Identifier: MIT
/*
 * watch_same DIR ROUNDS SEED [USER]: another process makes a random change and reports it.  Then this
 * one, as root or as nobody, asks for every name twice, by libc's functions, which a library may
 * stand before, and by the system call.  Both must say the same, the whole structure and errno.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/cosy_watch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { NAMES = 40 };

static char path[64], other[64];
static int access_mode;
static unsigned long asked; /* answers that were compared */
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
	if (!choose(2) || mount(other, path, NULL, MS_BIND, NULL))
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

static void changer(int from, int to, unsigned int *shown)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(from, &byte, 1) == 1) {
		unsigned int i = choose(CHANGES);

		name_of(path, choose(NAMES));
		name_of(other, choose(NAMES));
		changes[i].make();
		*shown = i;
		if (write(to, "x", 1) != 1)
			break;
	}
	_exit(0);
}

static void prepare(void)
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

enum { WAYS = 6 };

/* Asks by statx, by a descriptor or by a path: returns whether the answers differ. */
static int statx_wrong(int fd, int how, unsigned int i)
{
	static const unsigned int masks[] = { STATX_BASIC_STATS, STATX_SIZE | STATX_MODE,
					      STATX_CTIME | STATX_INO,
					      STATX_BASIC_STATS | STATX_MNT_ID,
					      STATX_BASIC_STATS | STATX_BTIME };
	unsigned int mask = masks[i % (sizeof(masks) / sizeof(*masks))];
	int from = how == 3 ? fd : AT_FDCWD, flags = how == 3 ? AT_SYMLINK_NOFOLLOW : 0;
	const char *name = how == 3 ? strrchr(path, '/') + 1 : path;
	struct statx said, is;
	int error, true_error;

	asked++;
	memset(&said, 0x55, sizeof(said));
	memset(&is, 0x55, sizeof(is));
	error = statx(from, name, flags, mask, &said) ? errno : 0;
	true_error = syscall(SYS_statx, from, name, flags, mask, &is) ? errno : 0;
	if (error == true_error && (error || !memcmp(&said, &is, sizeof(is))))
		return 0;
	printf("%s, way %d, mask %x: errno %d, %d; mask %x, %x; attributes %llx of %llx, %llx of "
	       "%llx; mount %llu, %llu\n",
	       path, how, mask, error, true_error, said.stx_mask, is.stx_mask, said.stx_attributes,
	       said.stx_attributes_mask, is.stx_attributes, is.stx_attributes_mask, said.stx_mnt_id,
	       is.stx_mnt_id);
	return 1;
}

/* Asks for extended attributes: returns whether the answers differ. */
static int xattr_wrong(int how)
{
	char said[64], is[64];

	for (int i = 0; i < COSY_WATCH_XATTR_COUNT; i++) {
		const char *name = attributes[i];
		ssize_t length, true_length;
		int error, true_error;

		asked++;
		length = (how == 1 ? lgetxattr : getxattr)(path, name, said, sizeof(said));
		error = length < 0 ? errno : 0;
		true_length = syscall(how == 1 ? SYS_lgetxattr : SYS_getxattr, path, name, is,
				      sizeof(is));
		true_error = true_length < 0 ? errno : 0;
		if (length == true_length && error == true_error &&
		    (error || !memcmp(said, is, length)))
			continue;
		printf("%s, way %d, %s: errno %d, %d\n", path, how, name, error, true_error);
		return 1;
	}
	return 0;
}

/* Asks for the names of extended attributes: returns whether the answers differ. */
static int list_wrong(int how)
{
	char said[256], is[256];
	ssize_t length, true_length;
	int error, true_error;

	asked++;
	length = (how == 1 ? llistxattr : listxattr)(path, said, sizeof(said));
	error = length < 0 ? errno : 0;
	true_length = syscall(how == 1 ? SYS_llistxattr : SYS_listxattr, path, is, sizeof(is));
	true_error = true_length < 0 ? errno : 0;
	if (length == true_length && error == true_error && (error || !memcmp(said, is, length)))
		return 0;
	printf("%s, way %d, names: %zd, %zd, errno %d, %d\n", path, how, length, true_length, error,
	       true_error);
	return 1;
}

/* Asks by access(2), by a descriptor or by a path: returns whether the answers differ. */
static int access_wrong(int fd, unsigned int i)
{
	int mode = access_mode, from = i & 8 ? fd : AT_FDCWD, error, true_error;
	const char *name = i & 8 ? strrchr(path, '/') + 1 : path;

	asked++;
	error = (i & 8 ? faccessat(from, name, mode, 0) : access(name, mode)) ? errno : 0;
	true_error = syscall(SYS_faccessat, from, name, mode) ? errno : 0;
	if (error == true_error)
		return 0;
	printf("%s, access %o: errno %d, %d\n", path, mode, error, true_error);
	return 1;
}

/* Asks by one of six functions: returns whether the answers differ. */
static int asked_wrong(int fd, int how, unsigned int i)
{
	struct stat said, is;
	int error, true_error;
	const char *base;

	name_of(path, i);
	if (how == 5)
		return access_wrong(fd, i);
	if (how >= 3)
		return statx_wrong(fd, how, i);
	asked++;
	base = strrchr(path, '/') + 1;
	memset(&said, 0, sizeof(said));
	memset(&is, 0, sizeof(is));
	if (how == 0) {
		error = fstatat(fd, base, &said, AT_SYMLINK_NOFOLLOW) ? errno : 0;
		true_error =
			syscall(SYS_newfstatat, fd, base, &is, AT_SYMLINK_NOFOLLOW) ? errno : 0;
	} else {
		error = (how == 1 ? lstat(path, &said) : stat(path, &said)) ? errno : 0;
		true_error = syscall(SYS_newfstatat, AT_FDCWD, path, &is,
				     how == 1 ? AT_SYMLINK_NOFOLLOW : 0)
				     ? errno
				     : 0;
	}
	if (error == true_error && (error || !memcmp(&said, &is, sizeof(is))))
		return how && (xattr_wrong(how) || list_wrong(how));
	printf("%s, way %d: errno %d, %d; size %ld, %ld; mode %o, %o; inode %lu, %lu; links %lu, "
	       "%lu; access %ld, %ld; change %ld, %ld\n",
	       path, how, error, true_error, said.st_size, is.st_size, said.st_mode, is.st_mode,
	       said.st_ino, is.st_ino, said.st_nlink, is.st_nlink, said.st_atim.tv_nsec,
	       is.st_atim.tv_nsec, said.st_ctim.tv_nsec, is.st_ctim.tv_nsec);
	return 1;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000, wrong = 0;
	unsigned int *shown =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int there[2], back[2], fd;
	pid_t child;
	char byte;

	seed = argc > 3 ? strtoul(argv[3], NULL, 0) : 1;
	if (argc < 2 || (mkdir(argv[1], 0755) && errno != EEXIST) || chdir(argv[1]) ||
	    pipe(there) || pipe(back))
		return 1;
	prepare();
	child = fork();
	if (!child) {
		close(there[1]);
		changer(there[0], back[1], shown);
	}
	if (argc > 4 && !strcmp(argv[4], "nobody") &&
	    (chmod("/dev/cosy", 0666) || setgid(65534) || setuid(65534)))
		return 1;
	fd = open("t/m/d", O_RDONLY | O_DIRECTORY);
	for (unsigned long k = 0; k < rounds; k++) {
		if (write(there[1], "x", 1) != 1 || read(back[0], &byte, 1) != 1)
			return 1;
		/* Several times in a row the same, so that some are served. */
		access_mode = k / 8 & 7;
		for (int how = 0; how < WAYS; how++) {
			for (unsigned int i = 0; i < NAMES; i++) {
				if (!asked_wrong(fd, how, i))
					continue;
				if (++wrong < 10)
					printf("  after %s\n", changes[*shown].name);
			}
		}
	}
	printf("seed %s: %lu changes, %lu asked, %lu wrong\n", argc > 3 ? argv[3] : "1", rounds,
	       asked, wrong);
	/* It may be another user's process. */
	close(there[1]);
	waitpid(child, NULL, 0);
	return wrong != 0;
}
