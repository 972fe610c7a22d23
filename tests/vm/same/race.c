// SPDX-License-Identifier: MIT
/*
 * race.c - makes calls in a region while others truncate, extend, punch, write, rename, remove and
 * chmod the same files.  What a call says is not known in advance; it must be something that some
 * order of what happened allows:
 *
 *  - The first half of each word of a block tells where in the file it belongs, or it
 *    is 0 for a hole; nothing else is ever written.  (Words may tear: memory is copied
 *    in any pieces.)
 *  - Files are whole blocks long, so a read ends at a block's end or has all it asked for.
 *  - Only two names come and go, with two modes.
 *  - What is lent to a socket is what is there when it is sent or later.
 *
 * race DIRECTORY; RACE_STEPS (STEPS, scaled by COSY_SCALE) steps of each part: of this, and of race_*.c.
 */
#include "race.h"
#include <cosy/fast.h>
#include <linux/falloc.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum { BLOCK = 4096, BLOCKS = 32, TURNS = 64, ENTRIES = 2048 };
enum { STEPS = 48 }; /* of `make test` */

/* A region's work and findings, in the shared buffer. */
struct finding {
	uint64_t random;
	uint64_t calls, bytes, missing;
	uint64_t bad;	  /* findings that nothing allows */
	const char *what; /* the first of them, and where */
	int64_t where, found;
	char entries[ENTRIES];
	char data[3 * BLOCK], received[3 * BLOCK];
	struct stat st;
};

static inline uint32_t draw(struct finding *f, uint32_t n)
{
	f->random = f->random * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(f->random >> 33) % n;
}

static inline void bad(struct finding *f, const char *what, int64_t where, int64_t found)
{
	if (!f->bad++) {
		f->what = what;
		f->where = where;
		f->found = found;
	}
}

/* Checks `bytes` that belong at `at`, a multiple of 8, in the file. */
static inline void check_content(struct finding *f, const char *data, int64_t at, int64_t bytes)
{
	for (int64_t i = 0; i + 8 <= bytes; i += 8) {
		uint32_t word = *(const volatile uint32_t *)(data + i),
			 right = (uint32_t)((at + i) / 8 + 1);

		if (word & ~right)
			bad(f, "content", at + i, word);
	}
}

/* Checks `result`, of `count` bytes that were asked for at `at`. */
static inline bool check_length(struct finding *f, int64_t at, int64_t count, int64_t result)
{
	f->calls++;
	if (result < 0 || result > count || (result < count && (at + result) % BLOCK && result)) {
		bad(f, "bytes read", at, result);
		return false;
	}
	f->bytes += (uint64_t)result;
	return true;
}

static inline void check_read(struct finding *f, int64_t at, int64_t count, int64_t result)
{
	if (check_length(f, at, count, result))
		check_content(f, f->data, at, result);
}

/* Lends from the file to a socket and reads its other end, with time for others in between. */
static inline void check_lend(struct finding *f, int file, const int *pair, int64_t at,
			      int64_t count)
{
	int64_t bytes = cosy_pread(file, f->data, (size_t)count, at), sent;

	if (!check_length(f, at, count, bytes) || !bytes)
		return;
	sent = cosy_lend(pair[0], f->data, (size_t)bytes, 0);
	fstat(file, &f->st);
	if (sent != bytes ||
	    syscall(SYS_recvfrom, pair[1], f->received, bytes, MSG_WAITALL, NULL, NULL) != bytes)
		bad(f, "lent", sent, bytes);
	else
		check_content(f, f->received, at, bytes);
	f->calls += 3;
}

static inline void check_stat(struct finding *f, int result)
{
	f->calls++;
	if (result)
		f->missing += errno == ENOENT ? 1 : 0;
	if (result ? errno != ENOENT : f->st.st_size % BLOCK || f->st.st_size > BLOCKS * BLOCK)
		bad(f, "stat", result, result ? errno : f->st.st_size);
	else if (!result && (f->st.st_mode & 07777) != 0644 && (f->st.st_mode & 07777) != 0600)
		bad(f, "mode", 0, f->st.st_mode);
}

struct entry {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

static inline void check_entries(struct finding *f, int directory)
{
	long len;

	lseek(directory, 0, SEEK_SET);
	len = syscall(SYS_getdents64, directory, f->entries, sizeof(f->entries));
	f->calls++;
	if (len < 0)
		bad(f, "getdents64", 0, errno);
	for (long at = 0; at < len;) {
		const struct entry *entry = (const struct entry *)(f->entries + at);

		if (entry->name[0] != '.' && strcmp(entry->name, "one") &&
		    strcmp(entry->name, "two"))
			bad(f, "name", at, entry->name[0]);
		at += entry->reclen;
	}
}

/* Makes some turns of everything; `file` may be unlinked by now. */
static void turns(struct finding *f, int directory, int file, const int *pair)
{
	COSY_START;
	for (int turn = 0; turn < TURNS; turn++) {
		int64_t at = draw(f, BLOCKS * BLOCK / 8) * 8,
			count = draw(f, sizeof(f->data) / 8 + 1) * 8;
		int fd;

		check_read(f, at, count, pread(file, f->data, (size_t)count, at));
		if (lseek(file, at, SEEK_SET) != at)
			bad(f, "lseek", at, errno);
		check_read(f, at, count / 2 & ~7, read(file, f->data, (size_t)(count / 2 & ~7)));
		at += count / 2 & ~7;
		if (turn % 4 == 0)
			check_lend(f, file, pair, at, count);
		check_stat(f, fstat(file, &f->st));
		check_stat(f, fstatat(directory, "one", &f->st, 0));
		check_stat(f, fstatat(directory, turn % 2 ? "two" : "one", &f->st,
				      AT_SYMLINK_NOFOLLOW));
		if (turn % 8 == 0)
			check_entries(f, directory);
		fd = openat(directory, "one", O_RDONLY);
		if (fd < 0) {
			f->missing++;
			if (errno != ENOENT)
				bad(f, "openat", 0, errno);
			continue;
		}
		check_read(f, 0, BLOCK, read(fd, f->data, BLOCK));
		check_read(f, 4 * BLOCK, 2 * BLOCK, cosy_pread(fd, f->data, 2 * BLOCK, 4 * BLOCK));
		close(fd);
	}
	COSY_END;
}

/* --- Those who change ------------------------------------------------------------------- */

static void block_write(int fd, int64_t block, uint32_t generation)
{
	uint32_t words[BLOCK / 4];

	for (uint32_t i = 0; i < BLOCK / 8; i++) {
		words[2 * i] = (uint32_t)(block * (BLOCK / 8)) + i + 1;
		words[2 * i + 1] = generation * 0x01010101;
	}
	pwrite(fd, words, BLOCK, block * BLOCK);
}

/*
 * Changes files.  No two writers are at one file's end at once: a block written after a truncation
 * leaves a hole before it, which is a whole block, too.
 */
static void disturb(uint64_t seed)
{
	static struct finding own;
	const char *names[] = { "one", "two" };

	own.random = seed;
	for (uint32_t generation = 0;; generation++) {
		const char *name = names[draw(&own, 2)];
		int fd = open(name, O_RDWR | O_CREAT, 0644);

		if (fd < 0)
			continue;
		for (uint32_t n = draw(&own, 12); n; n--)
			switch (draw(&own, 6)) {
			case 0:
				ftruncate(fd, draw(&own, BLOCKS + 1) * BLOCK);
				break;
			case 1:
				fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					  draw(&own, BLOCKS) * BLOCK, BLOCK);
				break;
			default:
				block_write(fd, draw(&own, BLOCKS), generation);
			}
		switch (draw(&own, 12)) {
		case 0:
			rename("one", "two");
			break;
		case 1:
			rename("two", "one");
			break;
		case 2:
			unlink(name);
			break;
		case 3:
			fchmod(fd, draw(&own, 2) ? 0600 : 0644);
			break;
		case 4:
			fdatasync(fd);
			posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
			break;
		}
		close(fd);
	}
}

int main(int argc, char **argv)
{
	const char *asked = getenv("RACE_STEPS");
	uint64_t steps = asked && *asked ? strtoull(asked, NULL, 0) : scale_steps(STEPS);
	struct finding *f = cosy_calloc(1, sizeof(*f));
	uint64_t calls = 0, all = 0;
	struct cosy_stats before, after;
	pid_t others[2];
	int directory, file, pair[2];

	MUST(argc == 2 && f && !chdir(argv[1]) && (!mkdir("race", 0755) || errno == EEXIST) &&
	     !chdir("race"));
	directory = open(".", O_RDONLY | O_DIRECTORY);
	MUST(directory >= 0 && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	for (int i = 0; i < 2; i++) {
		others[i] = fork();
		MUST(others[i] >= 0);
		if (!others[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			disturb((uint64_t)i + 1);
		}
	}
	before = counts();
	f->random = 3;
	while (all < steps && !f->bad) {
		file = openat(directory, "one", O_RDWR | O_CREAT, 0644);
		MUST(file >= 0);
		turns(f, directory, file, pair);
		close(file);
		all++;
	}
	calls = f->calls;
	CHECK(!f->bad, "%s at %lld: %lld, and %llu more that nothing allows", f->what,
	      (long long)f->where, (long long)f->found, (unsigned long long)f->bad - 1);
	after = counts();
	for (int i = 0; i < 2; i++) {
		kill(others[i], SIGKILL);
		waitpid(others[i], NULL, 0);
	}
	printf("%llu regions, %llu calls, %llu bytes, %llu times nothing there; in the kernel "
	       "%llu, specialised %llu\n",
	       (unsigned long long)all, (unsigned long long)calls, (unsigned long long)f->bytes,
	       (unsigned long long)f->missing, (unsigned long long)(after.calls - before.calls),
	       (unsigned long long)(after.fast - before.fast));
	CHECK_KERNEL(before, all, calls);
	CHECK(!race_model(steps), "see above");
	CHECK(!race_position(steps), "see above");
	CHECK(!race_tree(steps), "see above");
	return check_end();
}
