// SPDX-License-Identifier: MIT
/* round.c - makes a round: a fresh tree, some batches, and a transcript of them. */
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include "same.h"
#include "../guest/sockets.h"

static void file_make(const char *name, size_t size, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	static char data[131072];

	for (size_t i = 0; i < size; i++)
		data[i] = (char)(i >> 12 ^ i >> 5 ^ i * 31 ^ (unsigned char)name[0]);
	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size && !fchmod(fd, mode) && !close(fd));
}

static void tree_make(struct round *round)
{
	file_make("a", 40000, 0644);
	file_make("b", 131072, 0644);
	file_make("c", 65536, 0666);
	file_make("d", 4096, 0644);
	file_make("e", 1, 0644);
	file_make("f", 10000, 0644);
	file_make("g", 0, 0644);
	MUST(!mkdir("d0", 0755) && !mkdir("d1", 0755));
	file_make("d0/a", 5000, 0644);
	file_make("d0/b", 12288, 0600);
	file_make("d1/a", 300, 0444);
	MUST(!symlink("a", "l0") && !symlink("none", "l1") && !symlink("d0", "ld"));
	if (round->as_root)
		MUST(!chown("d1/a", 65534, 65534));
}

static void clock_tick(struct timespec *ret)
{
	struct timespec then;

	clock_gettime(CLOCK_REALTIME_COARSE, &then);
	do
		clock_gettime(CLOCK_REALTIME_COARSE, ret);
	while (ret->tv_nsec == then.tv_nsec);
}

/* Makes slots 0-7 what they should be, opens 8-13 again, leaves the others as they are. */
static void slots_refresh(struct round *round)
{
	static const struct {
		const char *name;
		int flags;
	} files[] = {
		{ ".", O_RDONLY | O_DIRECTORY },
		{ "d0", O_RDONLY | O_DIRECTORY },
		{ "a", O_RDWR },
		{ "b", O_RDONLY },
		{ 0 },
		{ 0 },
		{ 0 },
		{ 0 },
		{ "d1", O_RDONLY | O_DIRECTORY },
		{ "c", O_RDWR },
		{ "d", O_RDONLY },
		{ "e", O_RDWR | O_APPEND },
		{ "b", O_RDWR },
		{ "d0/b", O_RDONLY },
	};
	int64_t *slot = round->batch->slot;
	int pair[2];

	for (int i = 8; i < 14; i++)
		close((int)slot[i]);
	for (int i = 0; i < 14; i++)
		if (files[i].name && fcntl((int)slot[i], F_GETFD) < 0)
			slot[i] = openat(round->root, files[i].name, files[i].flags);
	if (fcntl((int)slot[4], F_GETFD) < 0 || fcntl((int)slot[5], F_GETFD) < 0) {
		MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
		slot[4] = pair[0];
		slot[5] = pair[1];
	}
	if (fcntl((int)slot[6], F_GETFD) < 0 || fcntl((int)slot[7], F_GETFD) < 0) {
		MUST(!pipe2(pair, O_NONBLOCK));
		slot[6] = pair[0];
		slot[7] = pair[1];
	}
}

/* Closes descriptors that no slot names, so that none are used up. */
static void slots_sweep(struct round *round)
{
	for (int fd = FD_FIRST; fd < FD_LAST; fd++) {
		bool named = false;

		for (int i = 0; i < SLOTS; i++)
			named |= round->batch->slot[i] == fd;
		if (!named)
			close(fd);
	}
}

static void *ordinary_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(memory != MAP_FAILED);
	return memory;
}

/* Allocates as cosy_malloc does, at the start of a page. */
static void *shared_pages(size_t size)
{
	char *memory = cosy_malloc(size + 4096);

	MUST(memory && (!kernel_expected() || cosy_is_shared(memory)));
	return (void *)(((uintptr_t)memory + 4095) & ~4095ul);
}

static void memory_make(struct round *round)
{
	round->batch = shared_pages(sizeof(*round->batch));
	memset(round->batch, 0, sizeof(*round->batch));
	round->shared = shared_pages(MEMORY);
	round->names_shared = shared_pages(8192);
	round->out_shared = shared_pages(STEPS * OUT + sizeof(struct timespec));
	round->ordinary = ordinary_memory(MEMORY);
	round->names_ordinary = ordinary_memory(8192);
	round->out_ordinary = ordinary_memory(STEPS * OUT);
	round->walks_shared = shared_pages(WALKS * sizeof(struct walk));
	round->walks_ordinary = ordinary_memory(WALKS * sizeof(struct walk));
	round->read_only = ordinary_memory(4096);
	MUST(!mprotect(round->read_only, 4096, PROT_READ));
	round->half = ordinary_memory(HALF + 4096);
	MUST(!mprotect(round->half + HALF, 4096, PROT_NONE));
	round->half_out = (char *)ordinary_memory(8192) + 4096 - 24;
	MUST(!mprotect(round->half_out + 24, 4096, PROT_NONE));
	round->text = ordinary_memory(STEPS * sizeof(*round->text));
	round->changes = shared_memory(CHANGES * sizeof(*round->changes));
}

/* Writes the process's charges, as text. */
static void accounts(const struct round *round, char *ret, size_t size)
{
	ssize_t len = pread(round->io, ret, size - 1, 0);

	ret[len < 0 ? 0 : len] = 0;
}

static void tell_accounts(struct round *round, const char *before, const char *after)
{
	static const char *const names[] = { "rchar", "wchar", "syscr", "syscw" };

	for (int i = 0; i < 4; i++) {
		const char *a = strstr(before, names[i]), *b = strstr(after, names[i]);

		/* To read `before` was itself charged for, by its length. */
		if (a && b)
			TELL(round, "%s %lld\n", names[i],
			     atoll(b + 7) - atoll(a + 7) - (i ? 0 : (long long)strlen(before)));
	}
}

/*
 * Confines the steps: wherever they go by "..", they come no further than to what is around the
 * tree, which is as new as the tree.  (Users who may not do this have a few such directories; see
 * main.c.)
 */
static void confine(const struct round *round)
{
	if (round->as_root)
		MUST(!fchdir(round->around) && !chroot(".") && !fchdir(round->root));
}

static void release(const struct round *round)
{
	if (round->as_root)
		MUST(!fchdir(round->outside) && !chroot("."));
}

static void batch_make(struct round *round, void (*make)(struct round *))
{
	char before[512], after[512];

	if (round->number == 1 || draw(round, 4) == 0) {
		slots_refresh(round);
		if (round->number == 1)
			others_start(round);
	}
	slots_sweep(round);
	batch_generate(round);
	memory_fill(round);
	scans_expect(round);
	clock_tick(&round->start[round->number]);
	confine(round);
	accounts(round, before, sizeof(before));
	make(round);
	accounts(round, after, sizeof(after));
	setfsuid(0);
	umask(022);
	release(round);
	/* Open the root again: the steps may have shut their owner out. */
	MUST(!fchdir(round->root) || (!fchmod(round->root, 0755) && !fchdir(round->root)));
	tell_accounts(round, before, after);
	tell_batch(round);
	scans_note(round);
	fflush(round->told);
}

static void tell_counters(struct round *round)
{
	struct cosy_stats now = counts();

	TELL(round, "# calls %llu fast %llu", (unsigned long long)now.calls,
	     (unsigned long long)now.fast);
	for (size_t i = 0; i < sizeof(now.guard_failed) / sizeof(*now.guard_failed); i++)
		TELL(round, " %llu", (unsigned long long)now.guard_failed[i]);
	TELL(round, "\n");
}

/* Opens a descriptor's file once more. */
static int open_again(int fd, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags);
}

/* Opens descriptors that no step knows, below those that steps may have. */
static void descriptors_make(struct round *round, const char *directory)
{
	int empty = memfd_create("empty", MFD_CLOEXEC), in = open_again(empty, O_RDONLY);

	/*
	 * Descriptor 0, which steps come to by a number of more than 32 bits, is a file of this
	 * way's own: nothing that another way did to it, nor a time of access that only the first
	 * sets, is to be seen.
	 */
	MUST(empty >= 0 && in >= 0 && dup2(in, 0) == 0 && !close(in) && !close(empty));
	round->outside = open("/", O_RDONLY | O_DIRECTORY);
	MUST(round->outside >= 0 && !chdir(directory));
	round->around = open("..", O_RDONLY | O_DIRECTORY);
	round->root = open(".", O_RDONLY | O_DIRECTORY);
	round->io = open("/proc/thread-self/io", O_RDONLY);
	MUST(round->around >= 0 && round->root >= 0 && round->io >= 0);
	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, round->batch->pair[0]));
	tcp_pair(round->batch->pair[1]);
	MUST((round->batch->poll = epoll_create1(0)) >= 0);
	others_prepare();
}

static void notes_open(struct round *round, const char *notes, bool plain)
{
	if (plain)
		round->notes = fopen(notes, "r");
	if (!round->notes)
		round->noted = fopen(notes, "w");
	MUST(round->notes || round->noted);
}

int round_make(const char *way, uint64_t seed, const char *directory, const char *out,
	       const char *notes)
{
	struct rlimit size = { FILE_LIMIT, FILE_LIMIT };
	struct round round = { .seed = seed, .random = seed, .as_root = !geteuid() };
	const char *atime = getenv("SAME_ATIME");
	bool plain = !strcmp(way, "plain"), built = !strcmp(way, "built");
	struct cosy_stats before;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	round.direct = !getenv("SAME_NO_DIRECT");
	round.limited = seed % 3 == 0;
	round.ticks = atime && !strcmp(atime, "relatime");
	round.told = fopen(out, "w");
	MUST(round.told && !cosy_init(&round.cosy));
	notes_open(&round, notes, plain);
	memory_make(&round);
	descriptors_make(&round, directory);
	before = counts();
	clock_tick(&round.start[0]);
	tree_make(&round);
	if (draw(&round, 2))
		watch_start(&round, draw(&round, 8));
	for (int fd = 0; fd < FD_FIRST - 1;)
		fd = dup(0);
	if (round.limited)
		MUST(!setrlimit(RLIMIT_FSIZE, &size));
	memset(round.batch->slot, 0xff, sizeof(round.batch->slot));
	for (round.number = 1; round.number <= BATCHES; round.number++)
		batch_make(&round, plain ? batch_plain : built ? batch_built : batch_region);
	round.number--;
	unmount_all(directory);
	tell_tree(&round);
	if (!plain) {
		CHECK_KERNEL(before, BATCHES, BATCHES);
		tell_counters(&round);
	}
	/* The next round must not see what the others close when they end. */
	for (int i = 0; i < 2; i++)
		if (round.child[i]) {
			kill(round.child[i], SIGKILL);
			waitpid(round.child[i], NULL, 0);
		}
	TELL(&round, "end\n");
	fclose(round.told);
	if (round.noted)
		fclose(round.noted);
	return check_end();
}
