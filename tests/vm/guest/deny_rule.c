/* SPDX-License-Identifier: MIT */
/*
 * Checks that a security module's new rule bites in a compound as it does natively:
 *
 *	deny_rule				Landlock
 *	deny_rule FILE TEXT DIRECTORY [LABEL]	TEXT is written to FILE, as AppArmor's and SELinux's
 *						profile and domain of a process are changed; it may
 *						not use DIRECTORY/shut then, which has LABEL
 *
 * In a directory with `open` and `shut` the calls are made, the rule begins to hold, and they are
 * made again, in the middle of one region.  What the specialised calls looked up, remembered or
 * read before must not let later calls past the security module.  Each pass runs in processes of
 * its own, natively and as a region, ordinary and specialised, and comes to the same.
 */
#include "guards.h"
#include <cosy/fast.h>
#include <linux/landlock.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#define RESULTS 80
#define ROUNDS	3
/* The bytes that a view has; the files `page` have two views of them. */
#define VIEW 4096

struct outcome {
	int result[2][ROUNDS][RESULTS]; /* before and after */
	int used;			/* of RESULTS */
	int ruled;			/* whether the rule could be set */
	uint64_t calls, fast;
};

/* The descriptor that the rule is written to, or that of Landlock's rules. */
static int rule_fd = -1, landlock_fd = -1;
static const char *rule_text = "";
static size_t rule_size;

/* Descriptors opened before the rule. */
static int open_fd, shut_fd, scanned_fd, write_fd, shut_dir, here;
static int open_page, shut_page, pair[2];

/* The shared buffer: what is read by way of views, and what was read before the rule. */
static char *viewed, *kept;

/* Keeps one call's result, or minus its errno. */
#define RESULT(call)                                                                               \
	do {                                                                                       \
		errno = 0;                                                                         \
		long long_ = (long)(call);                                                         \
		r[i++] = long_ < 0 ? -errno : (int)(long_ > 0);                                    \
	} while (0)

/* Opens and closes again; yields the result. */
#define OPENED(call)                                                                               \
	do {                                                                                       \
		int fd_ = (call);                                                                  \
		r[i++] = fd_ < 0 ? -errno : 0;                                                     \
		if (fd_ >= 0)                                                                      \
			close(fd_);                                                                \
	} while (0)

#define syscall_getdents(fd, to, size) syscall(SYS_getdents64, fd, to, size)

/*
 * Reads files by way of views, and writes, maps and lends what was read.  A denied read leaves the
 * memory as it was; what was read before the rule may be used after it.  Returns how many results
 * there are now.
 */
static inline __attribute__((always_inline)) int make_view_calls(int *r, int i)
{
	void *mapped;

	memset(viewed, 'Z', 2 * VIEW);
	RESULT(cosy_pread(open_page, viewed + VIEW, VIEW, 0));
	RESULT(cosy_pread(shut_page, viewed, VIEW, 0));
	r[i++] = (int)cosy_count(viewed, 2 * VIEW, 'p');
	/* Write bytes of a view: a denied file, and one that is not. */
	RESULT(cosy_pwrite(shut_page, viewed + VIEW, VIEW, 0));
	RESULT(cosy_pwrite(open_page, viewed, VIEW, VIEW));
	/* Read to, at and beyond the end of file, where there is nothing to hold. */
	RESULT(cosy_pread(shut_page, viewed, VIEW, 2 * VIEW - 100));
	RESULT(cosy_pread(shut_page, viewed, VIEW, 2 * VIEW));
	RESULT(lseek(shut_page, VIEW, SEEK_SET));
	RESULT(cosy_read(shut_page, viewed, VIEW));
	r[i++] = (int)lseek(shut_page, 0, SEEK_CUR);
	RESULT(lseek(shut_page, 0, SEEK_SET));
	/* Lend to a socket, and to a denied file. */
	RESULT(cosy_pread(open_page, viewed, VIEW, 0));
	RESULT(cosy_lend(pair[0], viewed, VIEW, MSG_DONTWAIT));
	RESULT(cosy_lend(shut_page, viewed, VIEW, 0));
	RESULT(read(pair[1], viewed, VIEW));
	mapped = mmap(NULL, VIEW, PROT_READ, MAP_SHARED, shut_page, 0);
	r[i++] = mapped == MAP_FAILED ? -errno : 0;
	if (mapped != MAP_FAILED)
		munmap(mapped, VIEW);
	/* Use what the pass before this one read. */
	r[i++] = (int)cosy_count(kept, VIEW, 'p');
	RESULT(cosy_pwrite(open_page, kept, VIEW, VIEW));
	RESULT(cosy_pread(shut_page, kept, VIEW, VIEW));
	return i;
}

/* Goes through the tree; keeps the errors of its entries, and the end's. */
static inline __attribute__((always_inline)) int make_tree_call(int *r, int i)
{
	char entries[4096] __attribute__((aligned(8)));
	struct {
		struct cosy_tree head;
		char room[4096];
	} tree;
	long bytes, at;

	r[i] = 0;
	tree.head = (struct cosy_tree){ .size = sizeof(tree), .dirfd = here };
	lseek(here, 0, SEEK_SET);
	while ((bytes = cosy_scan_tree(&tree.head, entries, sizeof(entries))) > 0) {
		for (at = 0; at < bytes; at += ((struct cosy_dirent *)(entries + at))->reclen)
			r[i] += ((struct cosy_dirent *)(entries + at))->error;
	}
	r[i + 1] = bytes ? -errno : 0;
	return i + 2;
}

/* Returns how many results there are. */
static inline __attribute__((always_inline)) int make_calls(int *r)
{
	char byte[64], entries[4096] __attribute__((aligned(8)));
	struct statx stx;
	struct stat st;
	int i = 0;

	/* Calls that are let through come in between. */
	RESULT(fstatat(here, "open/file", &st, 0));
	RESULT(pread(open_fd, byte, 1, 0));
	RESULT(getppid());
	/* Use descriptors from before. */
	RESULT(pread(shut_fd, byte, 1, 0));
	RESULT(read(shut_fd, byte, 1));
	RESULT(lseek(shut_fd, 0, SEEK_SET));
	RESULT(cosy_readc(shut_fd));
	RESULT(cosy_seek_read(shut_fd, byte, 2, 1, SEEK_SET));
	RESULT(pwrite(write_fd, "x", 1, 0));
	/*
	 * The third in a row takes attributes from the inode; the security module must be asked all
	 * the same.
	 */
	for (int same = 0; same < 3; same++)
		fstatat(here, "open/file", &st, 0);
	RESULT(fstat(shut_fd, &st));
	for (int same = 0; same < 3; same++)
		statx(here, "open/file", 0, STATX_BASIC_STATS, &stx);
	RESULT(statx(shut_fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx));
	RESULT(lseek(scanned_fd, 0, SEEK_SET));
	RESULT(syscall_getdents(scanned_fd, entries, sizeof(entries)));
	RESULT(lseek(scanned_fd, 0, SEEK_SET));
	RESULT(cosy_scan_dir(scanned_fd, entries, sizeof(entries), 0));
	r[i++] = ((struct cosy_dirent *)entries)->error;
	RESULT(fstatat(shut_dir, "file", &st, 0));
	RESULT(fstatat(shut_dir, "file", &st, AT_SYMLINK_NOFOLLOW));
	/* The way there is denied, but not the file itself. */
	RESULT(fstatat(shut_dir, "free", &st, 0));
	RESULT(fstatat(here, "shut/free", &st, 0));
	RESULT(statx(shut_dir, "free", 0, STATX_BASIC_STATS, &stx));
	/* Use names. */
	RESULT(fstatat(here, "shut/file", &st, 0));
	RESULT(stat("shut/file", &st));
	RESULT(lstat("shut/file", &st));
	RESULT(statx(here, "shut/file", 0, STATX_BASIC_STATS, &stx));
	RESULT(getxattr("shut/file", "user.none", byte, sizeof(byte)));
	RESULT(lgetxattr("shut/file", "security.capability", byte, sizeof(byte)));
	RESULT(faccessat(here, "shut/file", R_OK, 0));
	OPENED(open("shut/file", O_RDONLY));
	OPENED(openat(shut_dir, "file", O_RDONLY));
	OPENED(openat(here, "shut", O_RDONLY | O_DIRECTORY));
	OPENED(open("shut/made", O_CREAT | O_WRONLY, 0600));
	RESULT(cosy_read_file(here, "shut/file", byte, sizeof(byte), O_RDONLY));
	RESULT(cosy_write_file(here, "shut/file", byte, sizeof(byte), O_WRONLY));
	RESULT(cosy_write_file(here, "shut/new", byte, 1, O_WRONLY | O_CREAT));
	RESULT(unlink("shut/new"));
	RESULT(link("shut/made", "shut/link"));
	RESULT(rename("shut/link", "shut/other"));
	RESULT(unlink("shut/made"));
	RESULT(unlink("shut/other"));
	RESULT(mkdir("shut/made", 0700));
	RESULT(rmdir("shut/made"));
	RESULT(symlink("to", "shut/made"));
	RESULT(unlink("shut/made"));
	RESULT(truncate("shut/file", 10));
	RESULT(chmod("shut/file", 0644));
	RESULT(pread(open_fd, byte, 1, 0));
	i = make_tree_call(r, i);
	return make_view_calls(r, i);
}

/* Makes the calls, sets the rule, makes the calls again. */
static inline __attribute__((always_inline)) void pass(struct outcome *out)
{
	for (int when = 0; when < 2; when++) {
		for (int round = 0; round < ROUNDS; round++)
			out->used = make_calls(out->result[when][round]);
		if (when)
			break;
		if (landlock_fd >= 0)
			out->ruled = !syscall(SYS_landlock_restrict_self, landlock_fd, 0);
		else
			out->ruled = write(rule_fd, rule_text, rule_size) == (ssize_t)rule_size;
	}
}

static void pass_natively(struct outcome *out)
{
	pass(out);
}

static void pass_in_region(struct outcome *out)
{
	COSY_START;
	pass(out);
	COSY_END;
}

/*
 * --- The rule ----------------------------------------------------------------------------------
 */

/* Denies all that this kernel's Landlock knows, below `shut`. */
static void landlock_prepare(void)
{
	struct landlock_ruleset_attr attr = { 0 };
	const char *const allowed[] = { "open", "/proc", "/dev" };
	int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, 1);

	if (abi < 1)
		SKIP("this kernel runs without Landlock");
	attr.handled_access_fs = (1ull << 13) - 1;
	if (abi >= 2)
		attr.handled_access_fs |= LANDLOCK_ACCESS_FS_REFER;
	if (abi >= 3)
		attr.handled_access_fs |= 1ull << 14; /* truncation */
	landlock_fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	MUST(landlock_fd >= 0);
	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++) {
		struct landlock_path_beneath_attr beneath = {
			.allowed_access = attr.handled_access_fs,
			.parent_fd = open(allowed[i], O_PATH | O_CLOEXEC),
		};

		MUST(beneath.parent_fd >= 0 && !syscall(SYS_landlock_add_rule, landlock_fd,
							LANDLOCK_RULE_PATH_BENEATH, &beneath, 0));
		close(beneath.parent_fd);
	}
	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

static void prepare(char **argv)
{
	if (argv[1]) {
		MUST((rule_fd = open(argv[1], O_WRONLY | O_CLOEXEC)) >= 0);
		rule_text = argv[2];
		rule_size = strlen(rule_text);
	} else {
		landlock_prepare();
	}
	MUST((here = open(".", O_RDONLY | O_DIRECTORY)) >= 0);
	MUST((shut_dir = open("shut", O_RDONLY | O_DIRECTORY)) >= 0);
	MUST((scanned_fd = open("shut", O_RDONLY | O_DIRECTORY)) >= 0);
	MUST((open_fd = open("open/file", O_RDONLY)) >= 0);
	MUST((shut_fd = open("shut/file", O_RDONLY)) >= 0);
	MUST((write_fd = open("shut/file", O_WRONLY)) >= 0);
	MUST((open_page = open("open/page", O_RDWR)) >= 0);
	MUST((shut_page = open("shut/page", O_RDWR)) >= 0);
	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	MUST((viewed = cosy_malloc(3 * VIEW)) != NULL);
	kept = memset(viewed, 'Z', 3 * VIEW) + 2 * VIEW;
}

/*
 * --- Twice each --------------------------------------------------------------------------------
 */

static struct outcome *outcome_of(char **argv, bool region)
{
	struct outcome *out = shared_memory(sizeof(*out));
	int status;
	pid_t pid;

	fflush(stdout);
	MUST((pid = fork()) >= 0);
	if (!pid) {
		struct cosy_stats then, now;

		prepare(argv);
		then = counts();
		if (region)
			pass_in_region(out);
		else
			pass_natively(out);
		now = counts();
		out->calls = now.calls - then.calls;
		out->fast = now.fast - then.fast;
		_exit(check_end());
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(!status, "status %#x", status);
	return out;
}

static void make_files(const char *name, const char *label)
{
	static char page[2 * VIEW];
	char path[32];
	int fd;

	MUST(!mkdir(name, 0755));
	snprintf(path, sizeof(path), "%s/file", name);
	MUST((fd = open(path, O_CREAT | O_WRONLY, 0644)) >= 0);
	MUST(write(fd, "some bytes", 10) == 10 && !close(fd));
	snprintf(path, sizeof(path), "%s/free", name);
	MUST((fd = open(path, O_CREAT | O_WRONLY, 0644)) >= 0 && !close(fd));
	snprintf(path, sizeof(path), "%s/page", name);
	memset(page, 'p', sizeof(page));
	MUST((fd = open(path, O_CREAT | O_WRONLY, 0644)) >= 0);
	MUST(write(fd, page, sizeof(page)) == (ssize_t)sizeof(page) && !close(fd));
	if (!label)
		return;
	MUST(!setxattr(path, "security.selinux", label, strlen(label), 0));
	snprintf(path, sizeof(path), "%s/file", name);
	MUST(!setxattr(path, "security.selinux", label, strlen(label), 0) &&
	     !setxattr(name, "security.selinux", label, strlen(label), 0));
}

/* Returns how many calls were denied, and prints which. */
static int denied(const struct outcome *out, int when)
{
	int count = 0;

	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < out->used; i++)
			count += out->result[when][round][i] == -EACCES;
	printf("denied %s the rule:", when ? "after" : "before");
	for (int i = 0; i < out->used; i++)
		if (out->result[when][0][i] == -EACCES)
			printf(" %d", i);
	printf("\n");
	return count;
}

static void compare(const struct outcome *native, const struct outcome *region)
{
	for (int when = 0; when < 2; when++)
		for (int round = 0; round < ROUNDS; round++)
			for (int i = 0; i < native->used; i++)
				CHECK(native->result[when][round][i] ==
					      region->result[when][round][i],
				      "%s the rule, round %d: call %d is %d, natively %d",
				      when ? "after" : "before", round, i,
				      region->result[when][round][i],
				      native->result[when][round][i]);
}

int main(int argc, char **argv)
{
	const struct outcome *native, *region;

	if (argc > 3)
		MUST(!chdir(argv[3]));
	else
		directory_enter();
	make_files("open", NULL);
	make_files("shut", argc > 4 ? argv[4] : NULL);
	native = outcome_of(argv, false);
	region = outcome_of(argv, true);
	CHECK(native->ruled && region->ruled, "the rule could not be set");
	CHECK(native->used > 30 && native->used == region->used, "%d calls", region->used);
	compare(native, region);
	printf("of %d calls %d denied before the rule, %d after it; %llu in the kernel, %llu "
	       "specialised\n",
	       ROUNDS * native->used, denied(native, 0), denied(native, 1),
	       (unsigned long long)region->calls, (unsigned long long)region->fast);
	CHECK(!denied(native, 0) && denied(native, 1) >= 5 * ROUNDS, "the rule does not bite");
	if (kernel_expected()) {
		CHECK(region->calls >= (uint64_t)(2 * ROUNDS * native->used * 9 / 10),
		      "%llu calls in the kernel", (unsigned long long)region->calls);
		CHECK(region->fast >= 18 * ROUNDS, "%llu specialised calls",
		      (unsigned long long)region->fast);
	}
	if (argc <= 3) {
		MUST(!unlink("open/file") && !unlink("shut/file") && !unlink("open/free") &&
		     !unlink("shut/free") && !unlink("open/page") && !unlink("shut/page") &&
		     !rmdir("open") && !rmdir("shut"));
		directory_leave();
	}
	return check_end();
}
