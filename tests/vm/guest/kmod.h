/* SPDX-License-Identifier: MIT */
/*
 * kmod.h - gives the tests of the module by its ioctls alone (kmod_*.c) a context with a buffer,
 * compounds written by hand, and checks of what each comes to.
 */
#ifndef COSY_GUEST_KMOD_H
#define COSY_GUEST_KMOD_H

#include "raw.h"

#define BUFFER_SIZE (1 << 20)

/* The lowest word of the spill frame. */
#define LOWEST (-(int)COSY_FRAME_SIZE)

/* Set by kmod_main. */
static int fd;
static char *shared;
static uint64_t private[64] __attribute__((aligned(64), unused));
static struct raw_run the_run;

/*
 * Loads and runs once from the start, on whenever task work came between.  Returns the status, with
 * the_run filled in.
 */
static inline uint32_t once(const struct bpf_insn *insns, size_t count, void *ctx)
{
	struct cosy_free free = { .size = sizeof(free) };
	long ret;

	free.handle = raw_load(fd, insns, count);
	raw_run_init(&the_run, free.handle, ctx);
	ret = raw_run_to_end(fd, &the_run);
	CHECK(ret == 0, "RUN: %ld", ret);
	MUST(!raw_ioctl(fd, COSY_IOC_FREE, &free));
	return ret ? ~0u : the_run.run.status;
}

/* The compound ends with this result. */
#define RESULT(want, ...)                                                                          \
	do {                                                                                       \
		const struct bpf_insn insns_[] = { __VA_ARGS__ };                                  \
		uint32_t status_ = once(insns_, COUNT(insns_), private);                           \
                                                                                                   \
		CHECK(status_ == COSY_DONE && (uint64_t)the_run.run.ret == (uint64_t)(want),       \
		      "status %u, result %#llx, wanted %#llx", status_,                            \
		      (unsigned long long)the_run.run.ret, (unsigned long long)(want));            \
	} while (0)

/* Checks that the compound leaves so, at this instruction. */
#define LEAVES(want, insn, ...)                                                                    \
	do {                                                                                       \
		const struct bpf_insn insns_[] = { __VA_ARGS__ };                                  \
		uint32_t status_ = once(insns_, COUNT(insns_), private);                           \
                                                                                                   \
		CHECK(status_ == (want) && the_run.run.resume == (insn) + 1,                       \
		      "status %u at %d, wanted %u at %d", status_, (int)the_run.run.resume - 1,    \
		      (int)(want), (int)(insn));                                                   \
	} while (0)

/* The same at one of these instructions: the access that faults, or the leader of its fetch. */
#define LEAVES_IN(want, first, last, ...)                                                          \
	do {                                                                                       \
		const struct bpf_insn insns_[] = { __VA_ARGS__ };                                  \
		uint32_t status_ = once(insns_, COUNT(insns_), private);                           \
		int insn_ = (int)the_run.run.resume - 1;                                           \
                                                                                                   \
		CHECK(status_ == (want) && insn_ >= (first) && insn_ <= (last),                    \
		      "status %u at %d, wanted %u at %d to %d", status_, insn_, (int)(want),       \
		      (int)(first), (int)(last));                                                  \
	} while (0)

/* Counts the SIGALRMs that were handled. */
static volatile sig_atomic_t signals;

static inline void on_signal(int sig)
{
	(void)sig;
	signals++;
}

/* Returns the shared buffer, without memory next to it. */
static inline char *guarded_buffer(void)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = BUFFER_SIZE };
	char *room = mmap(NULL, 3 * BUFFER_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(room != MAP_FAILED && !raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf));
	room += BUFFER_SIZE;
	MUST(mmap(room, BUFFER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
	     room);
	return room;
}

/* Opens the device and maps a buffer for the parts, then does as part_main. */
static inline int kmod_main(const struct part *parts, size_t count, int argc, char **argv)
{
	fd = raw_open();
	shared = guarded_buffer();
	handle(SIGALRM, on_signal, SA_RESTART);
	return part_main(parts, count, argc, argv);
}

#endif /* COSY_GUEST_KMOD_H */
