// SPDX-License-Identifier: MIT
/* files_test.c - cosy_scan, cosy_stat_many and cosy_read_files against the calls that they stand for. */
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

#include <cosy/cosy.h>
#include <cosy/files.h>

#include "files/compounds.h"
#include "process/stats.h"
#include "tree.h"

#define MANY 1000

/* --- cosy_scan ------------------------------------------------------------------------------- */

/* Scans the directory and compares each entry with readdir and fstatat.  Returns how many. */
static int scan_compare(const char *path, uint32_t flags)
{
	struct cosy_scan *scan = cosy_scan_open(AT_FDCWD, path, flags);
	const struct cosy_dir_entry *entry;
	DIR *dir = opendir(path);
	struct dirent *want;
	struct stat stat;
	int count = 0, failed, more;

	MUST(scan && dir);
	while ((more = cosy_scan_next(scan, &entry)) > 0) {
		do
			MUST((want = readdir(dir)));
		while (!(flags & COSY_SCAN_DOTS) &&
		       (!strcmp(want->d_name, ".") || !strcmp(want->d_name, "..")));
		CHECK(!strcmp(entry->name, want->d_name));
		CHECK(!strcmp(entry->path, want->d_name));
		CHECK_EQ(entry->name_length, strlen(want->d_name));
		CHECK_EQ(entry->inode, want->d_ino);
		CHECK_EQ(entry->event, COSY_WALK_ENTRY);
		CHECK_EQ(entry->depth, 1);
		CHECK_EQ(entry->error, 0);
		count++;
		if (!(flags & COSY_SCAN_STAT)) {
			CHECK(!entry->stat);
			CHECK_EQ(entry->type, want->d_type);
			continue;
		}
		failed = fstatat(dirfd(dir), want->d_name, &stat,
				 flags & COSY_SCAN_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW);
		if (failed)
			MUST(!fstatat(dirfd(dir), want->d_name, &stat, AT_SYMLINK_NOFOLLOW));
		MUST(entry->stat);
		CHECK(!memcmp(entry->stat, &stat, sizeof(stat)));
		CHECK_EQ(entry->type, IFTODT(stat.st_mode));
	}
	CHECK_EQ(more, 0);
	CHECK_EQ(cosy_scan_next(scan, &entry), 0);
	while ((want = readdir(dir)))
		CHECK(!strcmp(want->d_name, ".") || !strcmp(want->d_name, ".."));
	cosy_scan_close(scan);
	closedir(dir);
	return count;
}

static void test_scan(void)
{
	char name[256];

	dir_make("scan");
	CHECK_EQ(scan_compare("scan", COSY_SCAN_STAT), 0);
	for (int i = 0; i < MANY; i++) {
		sprintf(name, "scan/file-%d", i);
		file_make(name, i % 5);
	}
	memset(name, 'n', 255);
	memcpy(name, "scan/", 5);
	name[255] = 0;
	file_make(name, 1);
	dir_make("scan/dir");
	MUST(!symlink("file-1", "scan/link"));
	MUST(!symlink("nowhere", "scan/dangling"));
	MUST(!symlink("loop", "scan/loop"));
	MUST(!mkfifo("scan/fifo", 0600));
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(scan_compare("scan", 0), MANY + 6);
		CHECK_EQ(scan_compare("scan", COSY_SCAN_DOTS), MANY + 8);
		CHECK_EQ(scan_compare("scan", COSY_SCAN_STAT), MANY + 6);
		CHECK_EQ(scan_compare("scan", COSY_SCAN_STAT | COSY_SCAN_FOLLOW), MANY + 6);
		CHECK_EQ(scan_compare("scan", COSY_SCAN_STAT | COSY_SCAN_DOTS), MANY + 8);
	}
}

static void test_scan_errors(void)
{
	struct cosy_scan *scan;
	int fds = fds_open();

	errno = 0;
	CHECK(!cosy_scan_open(AT_FDCWD, "nothing", 0) && errno == ENOENT);
	CHECK(!cosy_scan_open(AT_FDCWD, "scan/file-1", 0) && errno == ENOTDIR);
	CHECK(!cosy_scan_open(AT_FDCWD, "scan/loop", 0) && errno == ELOOP);
	CHECK(!cosy_scan_open(99, "scan", 0) && errno == EBADF);
	CHECK(!cosy_scan_open(AT_FDCWD, "scan", 8) && errno == EINVAL);
	CHECK(!cosy_scan_open(AT_FDCWD, "scan", COSY_SCAN_FOLLOW) && errno == EINVAL);
	scan = cosy_scan_open(AT_FDCWD, "scan", 0);
	MUST(scan);
	CHECK(fcntl(cosy_scan_fd(scan), F_GETFD) == FD_CLOEXEC);
	errno = ENOTTY;
	cosy_scan_close(scan);
	cosy_scan_close(NULL);
	CHECK_EQ(errno, ENOTTY);
	CHECK_EQ(fds_open(), fds);
}

/*
 * While half of the files vanish, none of the others is passed over or comes twice.  Those that
 * vanish may have been examined before.
 */
static void test_scan_changing(void)
{
	const struct cosy_dir_entry *entry;
	struct cosy_scan *scan;
	char name[64], seen[MANY] = "";
	bool gone = false;
	int number, more;

	dir_make("changing");
	for (int i = 0; i < MANY; i++) {
		sprintf(name, "changing/%d", i);
		file_make(name, 0);
	}
	scan = cosy_scan_open(AT_FDCWD, "changing", COSY_SCAN_STAT);
	MUST(scan);
	while ((more = cosy_scan_next(scan, &entry)) > 0) {
		number = atoi(entry->name);
		CHECK(!seen[number]);
		seen[number] = 1;
		CHECK_EQ(entry->type, DT_REG);
		CHECK_EQ(entry->error, entry->stat ? 0 : ENOENT);
		if (number % 2 == 0)
			CHECK(entry->stat != NULL);
		for (int i = 1; i < MANY && !gone; i += 2) {
			sprintf(name, "%d", i);
			MUST(!unlinkat(cosy_scan_fd(scan), name, 0));
		}
		gone = true;
	}
	CHECK_EQ(more, 0);
	for (int i = 0; i < MANY; i += 2)
		CHECK(seen[i]);
	cosy_scan_close(scan);
}

static void test_scan_denied(void)
{
	const struct cosy_dir_entry *entry;
	struct cosy_scan *scan;
	bool dropped = user_drop();

	/* To be listed, but not to be entered. */
	dir_make("denied");
	file_make("denied/file", 1);
	MUST(!chmod("denied", 0444));
	scan = cosy_scan_open(AT_FDCWD, "denied", COSY_SCAN_STAT);
	MUST(scan);
	CHECK_EQ(cosy_scan_next(scan, &entry), 1);
	CHECK(!strcmp(entry->name, "file") && entry->error == EACCES && !entry->stat);
	CHECK_EQ(cosy_scan_next(scan, &entry), 0);
	cosy_scan_close(scan);
	MUST(!chmod("denied", 0));
	CHECK(!cosy_scan_open(AT_FDCWD, "denied", 0) && errno == EACCES);
	MUST(!chmod("denied", 0755));
	user_restore(dropped);
}

/* --- cosy_stat_many ---------------------------------------------------------------------------- */

static void stat_many_compare(const char **names, size_t count, int flags, uint32_t mask)
{
	struct cosy_stat_result *results = malloc(count * sizeof(*results));
	struct statx want;
	ssize_t failed = 0;
	int error;

	MUST(results);
	memset(results, 0xa5, count * sizeof(*results));
	errno = ENOTTY;
	failed = cosy_stat_many(AT_FDCWD, names, count, flags, mask, results);
	CHECK_EQ(errno, ENOTTY);
	for (size_t i = 0; i < count; i++) {
		memset(&want, 0, sizeof(want));
		error = statx(AT_FDCWD, names[i], flags, mask, &want) ? errno : 0;
		CHECK_EQ(results[i].error, error);
		CHECK_EQ(results[i].reserved, 0);
		CHECK(!memcmp(&results[i].statx, &want, sizeof(want)));
		failed -= error != 0;
	}
	CHECK_EQ(failed, 0);
	free(results);
}

static void test_stat_many(void)
{
	static char paths[MANY][32];
	const char *names[MANY];

	for (int i = 0; i < MANY; i++) {
		sprintf(paths[i], i % 7 ? "scan/file-%d" : "scan/none-%d", i);
		names[i] = paths[i];
	}
	names[3] = "scan/link";
	names[4] = "scan/dangling";
	names[5] = "scan/file-1/below";
	names[6] = "";
	for (int i = 0; i < 3; i++) {
		stat_many_compare(names, MANY, 0, STATX_BASIC_STATS);
		stat_many_compare(names, MANY, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS);
		stat_many_compare(names, MANY, AT_SYMLINK_NOFOLLOW, STATX_SIZE);
		stat_many_compare(names, MANY, AT_STATX_DONT_SYNC, STATX_ALL);
	}
	stat_many_compare(names, 0, 0, STATX_BASIC_STATS);
	names[0] = "";
	stat_many_compare(names, 1, AT_EMPTY_PATH, STATX_BASIC_STATS);
	errno = 0;
	CHECK(cosy_stat_many(AT_FDCWD, names, 1, AT_SYMLINK_FOLLOW, 0, NULL) == -1 &&
	      errno == EINVAL);
	CHECK(cosy_stat_many(AT_FDCWD, names, 1, AT_STATX_SYNC_TYPE, 0, NULL) == -1 &&
	      errno == EINVAL);
	CHECK(cosy_stat_many(AT_FDCWD, names, 1, 0, STATX__RESERVED, NULL) == -1 &&
	      errno == EINVAL);
}

/* --- cosy_read_files ------------------------------------------------------------------------------ */

static bool file_equals(const struct cosy_file *file)
{
	int fd = open(file->path, O_RDONLY);
	char *want = malloc(file->size + 1);
	size_t done = 0;
	ssize_t n;

	MUST(fd >= 0 && want);
	while ((n = read(fd, want + done, file->size + 1 - done)) > 0)
		done += n;
	n = done == file->size && !memcmp(want, file->data, done);
	close(fd);
	free(want);
	return n;
}

static void test_read_files(void)
{
	const char *paths[] = {
		"read/empty",	     "read/1",	   "read/none",	    "read/4096", "read/65536",
		"read/200000",	     "read",	   "read/link",	    "read/1",	 "read/4095",
		"/proc/self/status", "read/65535", "read/dangling", "read/1",
	};
	const size_t sizes[] = {1, 4095, 4096, 65535, 65536, 200000};
	const size_t count = sizeof(paths) / sizeof(paths[0]);
	const char *many[MANY];
	const struct cosy_file *file;
	struct cosy_read_files *files;
	struct cosy_read_options options = {.size = sizeof(options)};
	char name[64];
	int fds;

	dir_make("read");
	file_make("read/empty", 0);
	for (int i = 0; i < 6; i++) {
		sprintf(name, "read/%zu", sizes[i]);
		file_make(name, sizes[i]);
	}
	MUST(!symlink("4096", "read/link"));
	MUST(!symlink("nothing", "read/dangling"));
	fds = fds_open();
	files = cosy_read_files_open(AT_FDCWD, paths, count, NULL);
	MUST(files);
	for (size_t i = 0; i < count; i++) {
		MUST(cosy_read_files_next(files, &file) == 1);
		CHECK_EQ(file->index, i);
		CHECK(file->path == paths[i]);
		if (!strcmp(paths[i], "read/none") || !strcmp(paths[i], "read/dangling"))
			CHECK_EQ(file->error, ENOENT);
		else if (!strcmp(paths[i], "read"))
			CHECK_EQ(file->error, EISDIR);
		else if (paths[i][1] == 'p')
			CHECK(file->size > 100 && !memcmp(file->data, "Name:", 5));
		else
			CHECK(!file->error && file_equals(file));
		CHECK(!file->error || !file->size);
	}
	CHECK_EQ(cosy_read_files_next(files, &file), 0);
	cosy_read_files_close(files);
	CHECK_EQ(fds_open(), fds);

	options.flags = COSY_READ_NOFOLLOW;
	options.max_size = 4096;
	files = cosy_read_files_open(AT_FDCWD, paths, count, &options);
	MUST(files);
	for (size_t i = 0; cosy_read_files_next(files, &file); i++)
		if (!strcmp(paths[i], "read/link") || !strcmp(paths[i], "read/dangling"))
			CHECK_EQ(file->error, ELOOP);
		else if (strstr(paths[i], "655") || strstr(paths[i], "200000"))
			CHECK(file->error == EFBIG && !file->size);
		else if (!strcmp(paths[i], "read/4096"))
			CHECK(!file->error && file_equals(file));
	cosy_read_files_close(files);

	for (int i = 0; i < MANY; i++)
		many[i] = paths[i * 5 % count];
	files = cosy_read_files_open(AT_FDCWD, many, MANY, NULL);
	MUST(files);
	for (int i = 0; i < MANY; i++) {
		MUST(cosy_read_files_next(files, &file) == 1);
		CHECK(file->path == many[i] &&
		      (file->error || many[i][1] == 'p' || file_equals(file)));
	}
	CHECK_EQ(cosy_read_files_next(files, &file), 0);
	cosy_read_files_close(files);
	cosy_read_files_close(NULL);
	CHECK_EQ(fds_open(), fds);

	options.flags = 2;
	CHECK(!cosy_read_files_open(AT_FDCWD, paths, 1, &options) && errno == EINVAL);
	options.flags = 0;
	options.size = 4;
	CHECK(!cosy_read_files_open(AT_FDCWD, paths, 1, &options) && errno == EINVAL);
}

/* What a FIFO has given cannot be read again, even if it is more than the buffer holds. */
static void test_read_fifo(void)
{
	const size_t size = 1000000;
	const char *paths[] = {"read/1", "read/fifo", "read/4096"};
	const struct cosy_file *file;
	struct cosy_read_files *files;
	char *want = malloc(size);
	pid_t child;
	int fd, status;

	MUST(want && !mkfifo("read/fifo", 0600));
	for (size_t i = 0; i < size; i++)
		want[i] = i * 7 + i / 251;
	child = fork();
	MUST(child >= 0);
	if (!child) {
		signal(SIGPIPE, SIG_IGN);
		fd = open("read/fifo", O_WRONLY);
		for (size_t done = 0, some; done < size; done += some) {
			some = write(fd, want + done, size - done);
			if ((ssize_t)some < 0)
				_exit(1);
		}
		_exit(0);
	}
	files = cosy_read_files_open(AT_FDCWD, paths, 3, NULL);
	MUST(files && cosy_read_files_next(files, &file) == 1 && file->size == 1);
	MUST(cosy_read_files_next(files, &file) == 1);
	CHECK_EQ(file->error, 0);
	CHECK_EQ(file->size, size);
	CHECK(file->size == size && !memcmp(file->data, want, size));
	MUST(cosy_read_files_next(files, &file) == 1 && file_equals(file));
	cosy_read_files_close(files);
	MUST(waitpid(child, &status, 0) == child);
	CHECK_EQ(status, 0);
	free(want);
}

/* Where the kernel runs regions, it has run these. */
static void test_tier(void)
{
	const char *tier = getenv("COSY_TIER");
	struct cosy *cosy;

	MUST(!cosy_init(&cosy));
	if (tier && !strcmp(tier, "always") && !cosy_native_reason(cosy)) {
		CHECK(libcosy_files_ready(FILES_LIST) && libcosy_files_ready(FILES_STAT) &&
		      libcosy_files_ready(FILES_READ));
		CHECK(libcosy_counts.runs > 30);
		CHECK(libcosy_counts.native < libcosy_counts.regions / 4);
	}
	cosy_release(cosy);
}

int main(void)
{
	setenv("COSY_STATS", "1", 1);
	tree_begin();
	test_scan();
	test_scan_errors();
	test_scan_changing();
	test_scan_denied();
	test_stat_many();
	test_read_files();
	test_read_fifo();
	test_tier();
	tree_end();
	return check_result();
}
