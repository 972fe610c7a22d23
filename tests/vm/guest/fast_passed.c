/* SPDX-License-Identifier: MIT */
/*
 * Makes calls whose guards fail each time: the specialised version is passed over then, and tried
 * again now and then, so that it is back soon once its guards hold.
 */
#include "guards.h"
#include <cosy/fast.h>

#define PARAMETER "/sys/module/cosy/parameters/max_missed"

/* As in kmod/fast/fast.c, which is allowed a few more tries here. */
#define MAX_MISSED 32
#define MAX_PASSED 1024

static void max_missed_set(const char *value)
{
	int fd = open(PARAMETER, O_WRONLY);

	MUST(fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value) && !close(fd));
}

static uint64_t failures(struct cosy_stats now)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(now.guard_failed) / sizeof(*now.guard_failed); i++)
		sum += now.guard_failed[i];
	return sum;
}

/* Both names are asked for at one place of one program.  Returns how often there was that file. */
static __attribute__((noinline)) long ask(const char *name, long turns, ino_t wanted)
{
	struct stat st;
	long found = 0;

	COSY_START;
	for (long i = 0; i < turns; i++) {
		st.st_ino = 0;
		if (!stat(name, &st) && st.st_ino == wanted)
			found++;
	}
	COSY_END;
	return found;
}

static void asked(void)
{
	enum { LINKED = 10000, RELATIVE = 4000 };
	struct cosy_stats then;
	struct stat st;
	uint64_t failed;
	int fd = open("x", O_CREAT | O_WRONLY, 0644);

	MUST(fd >= 0 && !fstat(fd, &st) && !close(fd));
	/* A link on the way is followed by the kernel's own call. */
	MUST(!symlink(".", "link"));
	then = counts();
	CHECK(ask("link/x", LINKED, st.st_ino) == LINKED, "another answer");
	failed = failures(counts()) - failures(then);
	if (kernel_expected())
		CHECK(failed >= MAX_MISSED && failed < 2 * (MAX_MISSED + LINKED / MAX_PASSED),
		      "%llu guards failed for %d calls", (unsigned long long)failed, LINKED);
	then = counts();
	CHECK(ask("x", RELATIVE, st.st_ino) == RELATIVE, "another answer");
	CHECK_FAST(then, RELATIVE - MAX_PASSED - MAX_MISSED);
	CHECK(ask("y", 10, st.st_ino) == 0, "a file that there is not");
	MUST(!unlink("x") && !unlink("link"));
}

/* Guards that hold now and then are not worth the others that fail; those that fail seldom are. */
static void mixed(int failing, int of, bool tried)
{
	enum { TURNS = 6000 };
	struct cosy_stats then = counts();
	uint64_t failed;
	struct stat st;
	long found = 0;
	int fd = open("x", O_CREAT | O_WRONLY, 0644);

	MUST(fd >= 0 && !close(fd) && !symlink(".", "link"));
	COSY_START;
	for (int i = 0; i < TURNS; i++)
		found += !stat(i % of < failing ? "link/x" : "x", &st);
	COSY_END;
	failed = failures(counts()) - failures(then);
	CHECK(found == TURNS, "%ld found", found);
	/* Those of before may still have it passed over once. */
	if (kernel_expected())
		CHECK(tried ? failed >= (uint64_t)(TURNS - 2 * MAX_PASSED) / of * failing
			    : failed < (uint64_t)TURNS / of * failing / 2,
		      "%llu guards failed, %d of %d", (unsigned long long)failed, failing, of);
	MUST(!unlink("x") && !unlink("link"));
}

static void appended(void)
{
	enum { LINES = 5000 };
	static const char line[] = "a line\n";
	int fd = open("log", O_CREAT | O_WRONLY | O_APPEND | O_DSYNC, 0644);
	struct cosy_stats then = counts();
	long written = 0;
	struct stat st;
	uint64_t failed;

	MUST(fd >= 0);
	COSY_START;
	for (int i = 0; i < LINES; i++)
		written += write(fd, line, sizeof(line) - 1);
	COSY_END;
	failed = failures(counts()) - failures(then);
	MUST(!fstat(fd, &st));
	CHECK(written == LINES * (long)(sizeof(line) - 1) && st.st_size == written,
	      "%ld bytes written, %lld there", written, (long long)st.st_size);
	if (kernel_expected())
		CHECK(failed < 4 * (MAX_MISSED + LINES / MAX_PASSED),
		      "%llu guards failed for %d calls", (unsigned long long)failed, LINES);
	close(fd);
	MUST(!unlink("log"));
}

/* --- Composites ------------------------------------------------------------------------------ */

enum { NAMES = 100, TEXT = 7 };

static char private[1 << 16] __attribute__((aligned(8)));

/* Each returns how many calls it made whose guards fail, in one loop of a region. */

static long links_scanned(char *to, long turns)
{
	int fd = open("links", O_RDONLY | O_DIRECTORY);
	long found = 0;

	MUST(fd >= 0);
	COSY_START;
	for (long i = 0; i < turns / NAMES; i++) {
		ssize_t length;

		if (lseek(fd, 0, SEEK_SET))
			break;
		while ((length = cosy_scan_dir(fd, to, sizeof(private), 0)) > 0)
			for (ssize_t at = 0; at < length;) {
				const struct cosy_dirent *entry = (struct cosy_dirent *)(to + at);

				found += !entry->error && entry->type == DT_LNK;
				at += entry->reclen;
			}
	}
	COSY_END;
	close(fd);
	return found;
}

/* Entries of sysfs are looked at again at each use. */
static long attributes_walked(char *to, long turns)
{
	static char memory[1 << 16] __attribute__((aligned(8)));
	struct cosy_tree *tree = (struct cosy_tree *)memory;
	int fd = open("/sys/kernel/mm", O_RDONLY | O_DIRECTORY);
	long found = 0;

	MUST(fd >= 0);
	COSY_START;
	for (long i = 0; i < turns && found < turns; i++) {
		ssize_t length;

		if (lseek(fd, 0, SEEK_SET))
			break;
		memset(tree, 0, sizeof(*tree));
		tree->dirfd = fd;
		tree->size = sizeof(memory);
		while ((length = cosy_scan_tree(tree, to, sizeof(private))) > 0)
			for (ssize_t at = 0; at < length;) {
				const struct cosy_dirent *entry = (struct cosy_dirent *)(to + at);

				found += entry->kind == COSY_TREE_ENTRY && entry->name[0] != '.';
				at += entry->reclen;
			}
		if (length < 0)
			break;
	}
	COSY_END;
	close(fd);
	return found;
}

static long names_read(char *to, long turns)
{
	long made = 0;

	COSY_START;
	for (long i = 0; i < turns / 2; i++) /* two reads each */
		made += 2 * (cosy_read_file(AT_FDCWD, "/proc/self/comm", to, 100, O_RDONLY) > 0);
	COSY_END;
	return made;
}

static long lines_written(char *from, long turns)
{
	long made = 0;

	COSY_START;
	for (long i = 0; i < turns; i++)
		made += cosy_write_file(AT_FDCWD, "log", from, TEXT,
					O_WRONLY | O_APPEND | O_DSYNC) == TEXT;
	COSY_END;
	return made;
}

static long names_sought(char *to, long turns)
{
	int fd = open("/proc/self/comm", O_RDONLY);
	long made = 0;

	COSY_START;
	for (long i = 0; i < turns; i++)
		made += cosy_seek_read(fd, to, 4, 0, SEEK_SET) == 4;
	COSY_END;
	close(fd);
	return made;
}

static long lines_sought(char *from, long turns)
{
	int fd = open("/dev/null", O_WRONLY);
	long made = 0;

	COSY_START;
	for (long i = 0; i < turns; i++)
		made += cosy_seek_write(fd, from, TEXT, 0, SEEK_SET) == TEXT;
	COSY_END;
	close(fd);
	return made;
}

static long lines_lent(char *from, long turns)
{
	int fd = open("/dev/null", O_WRONLY);
	long made = 0;

	COSY_START;
	for (long i = 0; i < turns; i++)
		made += cosy_lend(fd, from, TEXT, 0) == TEXT;
	COSY_END;
	close(fd);
	return made;
}

/* Reads, and writes what was read. */
static long names_passed_on(char *to, long turns)
{
	int from = open("/proc/self/comm", O_RDONLY), null = open("/dev/null", O_WRONLY);
	long made = 0;

	COSY_START;
	for (long i = 0; i < turns; i++) {
		ssize_t length = pread(from, to, 4, 0);

		made += length > 0 && write(null, to, (size_t)length) == length;
	}
	COSY_END;
	close(from);
	close(null);
	return made;
}

static void composed(void)
{
	static const struct {
		const char *what;
		long (*made)(char *memory, long turns);
	} ways[] = {
		{ "scan_dir", links_scanned }, { "scan_tree", attributes_walked },
		{ "read_file", names_read },   { "write_file", lines_written },
		{ "seek_read", names_sought }, { "seek_write", lines_sought },
		{ "lend", lines_lent },	       { "pread", names_passed_on },
	};
	enum { TURNS = 4000 };
	char *shared = cosy_malloc(sizeof(private)), name[32];
	int fd = open("log", O_CREAT | O_WRONLY, 0644);

	MUST(shared && fd >= 0 && !close(fd) && !mkdir("links", 0755));
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "links/link-%d", i);
		MUST(!symlink("../log", name));
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct cosy_stats then = counts();
		long made = ways[i].made(private, TURNS) + ways[i].made(shared, TURNS);
		uint64_t failed = failures(counts()) - failures(then);

		CHECK(made >= 2 * TURNS, "%s: %ld calls", ways[i].what, made);
		/* Seeks of a directory and its dots are tried each time. */
		if (kernel_expected())
			CHECK(failed >= MAX_MISSED && failed < TURNS / 8,
			      "%s: %llu guards failed for %ld calls", ways[i].what,
			      (unsigned long long)failed, made);
	}
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "links/link-%d", i);
		MUST(!unlink(name));
	}
	MUST(!rmdir("links") && !unlink("log"));
	cosy_free(shared);
}

int main(void)
{
	/* Other tests of specialised versions have each call try. */
	if (kernel_expected() && access(PARAMETER, W_OK))
		SKIP("only root sets max_missed");
	if (kernel_expected())
		max_missed_set("32");
	directory_enter();
	asked();
	mixed(2, 3, false);
	mixed(1, 2, false);
	mixed(1, 5, true);
	appended();
	composed();
	directory_leave();
	if (kernel_expected())
		max_missed_set("0");
	return check_end();
}
