/* SPDX-License-Identifier: MIT */
/*
 * Checks that the user's next process finds what was compiled, and nobody else does; only by all of
 * its bytes, only while compiling would give the same, and within its limits.
 */
#include "raw.h"
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define PARAMETER(name) "/sys/module/cosy/parameters/" name
#define HARDEN		"/proc/sys/net/core/bpf_jit_harden"
#define ENABLE		"/proc/sys/net/core/bpf_jit_enable"

static int first; /* of the test's process, before it forks */

/* Makes the number of a program of this test run: no other run left it in the cache. */
static int unique(int number)
{
	return first << 10 | number;
}

static struct cosy_stats stats_of(int fd)
{
	struct cosy_stats stats = { .size = sizeof(stats) };

	MUST(!raw_ioctl(fd, COSY_IOC_STATS, &stats));
	return stats;
}

/* Loads by a context of its own.  True if the program was found.  It must give `number`. */
static bool is_found_by(int fd, int number, uint32_t flags)
{
	const struct bpf_insn insns[] = { MOV(0, number), EXIT };
	static struct raw_container c;
	static struct raw_run r;
	struct cosy_stats before = stats_of(fd), after;
	struct cosy_load load = { .size = sizeof(load), .compound = (uintptr_t)&c, .flags = flags };

	raw_container(&c, insns, COUNT(insns));
	load.len = c.header.size;
	MUST(!raw_ioctl(fd, COSY_IOC_LOAD, &load));
	CHECK(load.rewritten && load.jited, "LOAD says %u, %u", load.rewritten, load.jited);
	raw_run_init(&r, load.handle, NULL);
	MUST(!raw_run_to_end(fd, &r));
	CHECK(r.run.status == COSY_DONE && r.run.ret == number, "%d: status %u, %lld", number,
	      r.run.status, (long long)r.run.ret);
	after = stats_of(fd);
	CHECK(after.cache_hits + after.cache_misses == before.cache_hits + before.cache_misses + 1,
	      "a LOAD is neither found nor not");
	return after.cache_hits > before.cache_hits;
}

/* Does the same with a program whose number is far from its beginning. */
static bool long_is_found(int number)
{
	struct bpf_insn insns[200];
	static struct raw_run r;
	int fd = raw_open();
	bool found;

	for (size_t i = 0; i < COUNT(insns) - 2; i++)
		insns[i] = MOV(1, first);
	insns[COUNT(insns) - 2] = MOV(0, number);
	insns[COUNT(insns) - 1] = EXIT;
	raw_run_init(&r, raw_load(fd, insns, COUNT(insns)), NULL);
	CHECK(!raw_run_to_end(fd, &r) && r.run.ret == number, "%d: status %u, %lld", number,
	      r.run.status, (long long)r.run.ret);
	found = stats_of(fd).cache_hits;
	close(fd);
	return found;
}

static bool is_found(int number)
{
	int fd = raw_open();
	bool found = is_found_by(fd, number, 0);

	close(fd);
	return found;
}

/* --- Found, and not ------------------------------------------------------------------- */

static void next_process(void *arg)
{
	CHECK(is_found(*(int *)arg), "the user's next process does not find it");
}

static void found_by_content(void)
{
	int fd;

	CHECK(!is_found(unique(1)), "found before it was loaded");
	CHECK(is_found(unique(1)), "not found by the same process");
	CHECK_CHILD(in_child(next_process, &(int){ unique(1) }));
	CHECK(!is_found(unique(2)), "found by other bytes");
	CHECK(!long_is_found(unique(1)) && long_is_found(unique(1)), "a long one");
	CHECK(!long_is_found(unique(2)), "found by other bytes at the end");
	fd = raw_open();
	CHECK(!is_found_by(fd, unique(1), COSY_ORDINARY_CALLS), "found with other flags");
	CHECK(is_found_by(fd, unique(1), COSY_ORDINARY_CALLS), "not found with the same flags");
	close(fd);
}

/* Runs the same code on two buffers at once, wherever each is. */
static void each_its_buffer(void)
{
	const struct bpf_insn insns[] = {
		LOAD(BPF_DW, 0, 1, 8),
		ADD(0, unique(3)),
		STORE(BPF_DW, 1, 16, 0),
		EXIT,
	};
	static struct raw_run r;
	int fds[3];
	char *buffers[3];
	uint32_t handles[3];
	static const size_t sizes[] = { 1 << 16, 1 << 16, 1 << 17 };
	bool based = jit_is_based();

	for (int i = 0; i < 3; i++) {
		fds[i] = raw_open();
		buffers[i] = raw_buffer(fds[i], sizes[i]);
		handles[i] = raw_load(fds[i], insns, COUNT(insns));
	}
	CHECK(!stats_of(fds[0]).cache_hits, "found in advance");
	CHECK(stats_of(fds[1]).cache_hits == based, "another buffer of that size: %d",
	      (int)stats_of(fds[1]).cache_hits);
	CHECK(!stats_of(fds[2]).cache_hits, "found for a buffer of another size");
	for (int turn = 0; turn < 6; turn++) {
		uint64_t *words = (uint64_t *)(buffers[turn % 3] + sizes[turn % 3] - 32);

		words[1] = (uint64_t)turn << 40;
		raw_run_init(&r, handles[turn % 3], words);
		MUST(!raw_run_to_end(fds[turn % 3], &r) && r.run.status == COSY_DONE);
		CHECK(words[2] == words[1] + (uint64_t)unique(3), "turn %d: %#llx", turn,
		      (unsigned long long)words[2]);
	}
	for (int i = 0; i < 3; i++) {
		close(fds[i]);
		MUST(!munmap(buffers[i], sizes[i]));
	}
}

/* --- Only what is there ------------------------------------------------------------------ */

/* Makes a LOAD of such a program with these flags.  The result; the handle is in *load. */
static long load_with(int fd, int number, uint32_t flags, uint32_t front, struct cosy_load *load)
{
	const struct bpf_insn insns[] = { MOV(0, number), EXIT };
	static _Thread_local struct raw_container c;

	raw_container(&c, insns, COUNT(insns));
	*load = (struct cosy_load){ .size = sizeof(*load),
				    .len = c.header.size,
				    .compound = (uintptr_t)&c,
				    .flags = flags,
				    .front = front };
	return raw_ioctl(fd, COSY_IOC_LOAD, load);
}

static long ask(int number, uint32_t front)
{
	struct cosy_load load;
	int fd = raw_open();
	long ret = load_with(fd, number, COSY_LOAD_SEEN | COSY_LOAD_ASK, front, &load);

	CHECK(!load.handle && !load.rewritten && !load.jited, "a question gives a program");
	CHECK(!stats_of(fd).loads && !stats_of(fd).cache_hits && !stats_of(fd).rejects,
	      "a question counts as a LOAD");
	close(fd);
	return ret;
}

static void next_process_asks(void *arg)
{
	struct cosy_load load;
	int number = *(int *)arg, fd = raw_open();
	static struct raw_run r;

	CHECK(!ask(number, 0), "the user's next process is not told");
	CHECK(!load_with(fd, number, COSY_LOAD_SEEN, 0, &load) && load.handle, "nor has it");
	raw_run_init(&r, load.handle, NULL);
	CHECK(!raw_run_to_end(fd, &r) && r.run.ret == number, "%lld", (long long)r.run.ret);
	close(fd);
}

static void loaded_only_if_seen(void)
{
	struct cosy_load load;
	int fd = raw_open(), number = unique(10);

	CHECK(ask(number, 0) == -ENOENT, "told of what was never loaded");
	CHECK(load_with(fd, number, COSY_LOAD_SEEN, 0, &load) == -ENOENT && !load.handle,
	      "compiled against the flag");
	CHECK(!stats_of(fd).cache_misses && !stats_of(fd).rejects && !stats_of(fd).loads,
	      "compiled, refused or loaded");
	CHECK(!is_found(number), "the question left something in the cache");
	CHECK_CHILD(in_child(next_process_asks, &number));
	CHECK(ask(number, 1 << 16) == -ENOENT, "told of a front that it was not compiled for");
	CHECK(load_with(fd, number, COSY_LOAD_SEEN | COSY_ORDINARY_CALLS, 0, &load) == -ENOENT,
	      "found with other flags");
	close(fd);
}

static void asked_for_a_front(void)
{
	struct cosy_load load;
	int fd = raw_open(), number = unique(11);
	char *buffer = raw_buffer(fd, 1 << 16);

	CHECK(!load_with(fd, number, 0, 0, &load), "LOAD");
	CHECK(ask(number, 1 << 16) == (jit_is_based() ? 0 : -ENOENT), "asked for its front");
	CHECK(ask(number, 1 << 17) == -ENOENT && ask(number, 0) == -ENOENT &&
		      ask(number, 1) == -ENOENT && ask(number, ~0u) == -ENOENT,
	      "told of another front");
	close(fd);
	MUST(!munmap(buffer, 1 << 16));
}

static void wrong_questions(void)
{
	/* A caller of before these flags gives less, and what is above it stays as it is. */
	struct {
		struct cosy_load load;
		uint64_t above;
	} old;
	struct cosy_load load;
	int fd = raw_open(), number = unique(12);
	const size_t size = offsetof(struct cosy_load, front);

	CHECK(!is_found(number), "found in advance");
	for (uint32_t flags = 0; flags < 32; flags++) {
		bool seen = flags & COSY_LOAD_SEEN, asks = flags & COSY_LOAD_ASK;
		bool background = flags & COSY_LOAD_BACKGROUND;
		bool fine = flags < 16 && (seen || !asks) && (asks || !background);
		long ret = load_with(fd, number, flags, 0, &load);

		CHECK((ret != -EINVAL) == fine, "flags %#x: %ld", flags, ret);
		CHECK(!asks || !load.handle, "flags %#x: handle %u", flags, load.handle);
		if (!asks)
			CHECK(load_with(fd, number, flags, 4096, &load) == -EINVAL,
			      "flags %#x with a front", flags);
	}
	load_with(fd, number, COSY_LOAD_SEEN | COSY_LOAD_ASK, 0, &load);
	load.reserved = 1;
	CHECK(raw_ioctl(fd, COSY_IOC_LOAD, &load) == -EINVAL, "a reserved field");
	load.reserved = 0;
	load.compound = 4096;
	CHECK(raw_ioctl(fd, COSY_IOC_LOAD, &load) == -EFAULT, "no bytes to compare");
	load_with(fd, number, 0, 0, &old.load);
	memset((char *)&old + size, 0x5a, sizeof(old) - size);
	old.load.size = (uint32_t)size;
	CHECK(!raw_ioctl(fd, COSY_IOC_LOAD, &old.load), "the size of before");
	for (size_t i = size; i < sizeof(old); i++)
		CHECK(((char *)&old)[i] == 0x5a, "byte %zu is written", i);
	old.load.size = (uint32_t)size - 4;
	CHECK(raw_ioctl(fd, COSY_IOC_LOAD, &old.load) == -EINVAL, "a size of no time");
	close(fd);
}

/* --- Whose it is ---------------------------------------------------------------------- */

static void other_user(void *arg)
{
	become_nobody(true);
	CHECK(ask(*(int *)arg, 0) == -ENOENT, "told to another user");
	CHECK(!is_found(*(int *)arg), "found by another user");
	CHECK(is_found(*(int *)arg), "not found by him when it is his own");
}

static void other_effective_user(void *arg)
{
	struct cosy_load load;
	int fd = raw_open();

	MUST(!seteuid(65534));
	CHECK(load_with(fd, *(int *)arg, COSY_LOAD_SEEN | COSY_LOAD_ASK, 0, &load) == -ENOENT,
	      "told to who is two users");
	CHECK(!is_found_by(fd, *(int *)arg, 0), "found by who is two users");
	CHECK(!is_found_by(fd, unique(5), 0), "found in advance");
	MUST(!seteuid(0));
	CHECK(!is_found_by(fd, unique(5), 0), "found as left by who is two users");
}

static void other_effective_group(void *arg)
{
	MUST(!setegid(65534));
	CHECK(ask(*(int *)arg, 0) == -ENOENT, "told to who is of two groups");
	CHECK(!is_found(*(int *)arg), "found by who is of two groups");
}

static void other_users_descriptor(void *arg)
{
	struct cosy_load load;
	int fd = raw_open();

	become_nobody(true);
	CHECK(load_with(fd, *(int *)arg, COSY_LOAD_SEEN | COSY_LOAD_ASK, 0, &load) == -ENOENT,
	      "told by the descriptor of another user");
	CHECK(!is_found_by(fd, *(int *)arg, 0), "found by the descriptor of another user");
}

static void only_the_users(void)
{
	int number = unique(4);

	CHECK(!is_found(number), "found in advance");
	CHECK_CHILD(in_child(other_user, &number));
	CHECK_CHILD(in_child(other_effective_user, &number));
	CHECK_CHILD(in_child(other_effective_group, &number));
	CHECK_CHILD(in_child(other_users_descriptor, &number));
	CHECK(is_found(number), "not found any more");
}

static void not_in_another_container(void *arg)
{
	(void)arg;
	CHECK(!is_found(unique(6)), "found in another container");
}

static void in_another_user_namespace(void *arg)
{
	(void)arg;
	if (unshare(CLONE_NEWUSER))
		printf("another user namespace: not tried, %s\n", strerror(errno));
	else
		CHECK(!is_found(unique(6)), "found in another user namespace");
}

static void containers(void)
{
	CHECK(!is_found(unique(6)), "found in advance");
	CHECK_CHILD(in_child(in_another_user_namespace, NULL));
	fflush(stdout);
	if (!unshare(CLONE_NEWPID))
		CHECK_CHILD(in_child(not_in_another_container, NULL));
	else
		printf("another container: not tried, %s\n", strerror(errno));
}

/* --- Settings of the kernel's ------------------------------------------------------------ */

/* Returns how many instructions the JIT gets of such a program that is not in the cache. */
static uint32_t rewritten_of(int number)
{
	struct cosy_load load;
	int fd = raw_open();

	MUST(!load_with(fd, number, 0, 0, &load) && stats_of(fd).cache_misses == 1);
	close(fd);
	return load.rewritten;
}

static void settings(void)
{
	struct cosy_load load;
	uint32_t open_size = rewritten_of(unique(20));
	const struct bpf_insn insns[] = { MOV(0, unique(7)), EXIT };
	int fd = raw_open();

	CHECK(!is_found(unique(7)), "found in advance");
	MUST(file_write(HARDEN, "2"));
	CHECK(!is_found(unique(7)), "found with its constants open");
	CHECK(is_found(unique(7)), "not found with its constants hidden");
	CHECK(rewritten_of(unique(21)) > open_size, "its constants are not hidden");
	MUST(file_write(HARDEN, "0"));
	CHECK(!is_found(unique(7)), "found with its constants hidden");
	if (file_write(ENABLE, "0")) {
		CHECK(raw_try_load(fd, insns, COUNT(insns), &load) == -EOPNOTSUPP,
		      "run without the JIT");
		MUST(file_write(ENABLE, "1"));
	}
	CHECK(is_found(unique(7)), "not found again");
	close(fd);
}

/* --- Limits ---------------------------------------------------------------------------- */

static void eviction(void)
{
	int fd = raw_open();

	MUST(file_write(PARAMETER("max_user_cache"), "65536"));
	for (int i = 0; i < 40; i++)
		CHECK(!is_found_by(fd, unique(100 + i), 0), "%d found in advance", i);
	printf("evicted %llu of 40\n", (unsigned long long)stats_of(fd).cache_evicted);
	CHECK(stats_of(fd).cache_evicted > 10, "nothing is evicted");
	CHECK(is_found(unique(139)), "the last one is not found");
	CHECK(!is_found(unique(100)), "the first one is found");
	/* An image that is used again and again stays while others come and go. */
	for (int i = 0; i < 40; i++) {
		CHECK(is_found(unique(139)), "not found after %d others", i);
		CHECK(!is_found(unique(200 + i)), "%d found in advance", i);
	}
	/* Not even an empty cache has room for an image that is larger. */
	MUST(file_write(PARAMETER("max_user_cache"), "100"));
	CHECK(!is_found(unique(140)) && !is_found(unique(140)), "found though it is too large");
	MUST(file_write(PARAMETER("max_user_cache"), "0"));
	CHECK(!is_found(unique(139)) && !is_found(unique(139)), "found though there is no cache");
	MUST(file_write(PARAMETER("max_user_cache"), "2097152"));
	close(fd);
}

/* Checks that an image that is only cached makes room for one that is loaded. */
static void quota(void)
{
	MUST(file_write(PARAMETER("max_user_code"), "100000"));
	for (int i = 0; i < 60; i++)
		CHECK(!is_found(unique(300 + i)), "%d found in advance", i);
	MUST(file_write(PARAMETER("max_user_code"), "16777216"));
}

static void locked_memory(void *unused)
{
	struct rlimit limit = { 1 << 20, 1 << 20 }, none = { 0, 1 << 20 };
	struct rlimit little = { 40 << 10, 1 << 20 };
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = 1 << 18 };
	int fds[4];

	(void)unused;
	/*
	 * Images kept of other programs count, too, so take a user who has none, or a limit above
	 * that.
	 */
	if (geteuid())
		limit.rlim_cur = little.rlim_max = none.rlim_max = limit.rlim_max = 8 << 20;
	else
		become(4242, true);
	MUST(!setrlimit(RLIMIT_MEMLOCK, &none));
	CHECK(!is_found(unique(8)) && !is_found(unique(8)), "kept by who may lock nothing");
	MUST(!setrlimit(RLIMIT_MEMLOCK, &limit));
	for (int i = 0; i < 8; i++)
		is_found(unique(400 + i));
	CHECK(is_found(unique(407)), "not kept by who may lock %d MB", (int)(limit.rlim_cur >> 20));
	/* Under a small limit older images make room, but not for one that would never fit. */
	MUST(!setrlimit(RLIMIT_MEMLOCK, &little));
	CHECK(!is_found(unique(450)) && is_found(unique(450)), "not kept in place of older ones");
	MUST(!setrlimit(RLIMIT_MEMLOCK, &none));
	CHECK(!is_found(unique(451)) && !is_found(unique(451)), "kept by who may lock nothing");
	CHECK(is_found(unique(450)), "dropped for nothing");
	MUST(!setrlimit(RLIMIT_MEMLOCK, &limit));
	for (int i = 0; i < 4; i++) {
		fds[i] = raw_open();
		CHECK(!raw_ioctl(fds[i], COSY_IOC_SETBUF, &setbuf),
		      "buffer %d: the cache is in its way", i);
	}
	for (int i = 0; i < 4; i++)
		close(fds[i]);
}

/* --- All at once ------------------------------------------------------------------------- */

static void *racer(void *arg)
{
	struct bpf_insn insns[] = { MOV(0, 0), EXIT };
	static _Thread_local struct raw_run r;
	struct cosy_load load;
	unsigned seed = (unsigned)(uintptr_t)arg;

	for (int i = 0; i < 60; i++) {
		int fd = raw_open(), number;

		for (int k = 0; k < 4; k++) {
			number = unique(500 + (int)(rand_r(&seed) % 6));
			insns[0] = MOV(0, number);
			if (rand_r(&seed) % 2) {
				uint32_t flags = rand_r(&seed) % 2 ? COSY_LOAD_ASK : 0;
				long ret = load_with(fd, number, COSY_LOAD_SEEN | flags, 0, &load);

				if (ret == -ENOENT || (!ret && flags))
					continue;
				if (ret)
					return "LOAD of what is there";
				raw_run_init(&r, load.handle, NULL);
				if (raw_run_to_end(fd, &r) || r.run.ret != number)
					return "RUN of what was there";
				continue;
			}
			if (raw_try_load(fd, insns, COUNT(insns), &load))
				return "LOAD";
			raw_run_init(&r, load.handle, NULL);
			if (raw_run_to_end(fd, &r) || r.run.status != COSY_DONE ||
			    r.run.ret != number)
				return "RUN";
		}
		close(fd);
	}
	return NULL;
}

static void race(void *unused)
{
	pthread_t threads[6];
	void *problem;

	(void)unused;
	for (uintptr_t i = 0; i < COUNT(threads); i++)
		MUST(!pthread_create(&threads[i], NULL, racer,
				     (void *)(i * 77 + (uintptr_t)getpid())));
	for (int i = 0; !geteuid() && i < 40; i++) {
		MUST(file_write(PARAMETER("max_user_cache"), i % 3 ? "20000" : "0"));
		usleep(2000);
	}
	for (size_t i = 0; i < COUNT(threads); i++) {
		MUST(!pthread_join(threads[i], &problem));
		CHECK(!problem, "%s", (char *)problem);
	}
}

int main(void)
{
	first = getpid();
	close(raw_open());
	found_by_content();
	each_its_buffer();
	loaded_only_if_seen();
	asked_for_a_front();
	wrong_questions();
	if (!geteuid()) {
		only_the_users();
		settings();
		eviction();
		quota();
	}
	CHECK_CHILD(in_child(locked_memory, NULL));
	CHECK_CHILD(in_child(race, NULL));
	if (!geteuid()) {
		MUST(file_write(PARAMETER("max_user_cache"), "2097152"));
		containers();
	}
	return check_end();
}
