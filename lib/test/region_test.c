// SPDX-License-Identifier: MIT
/*
 * region_test.c - tests what compiled regions call, as cosycc emits it: activations, nesting,
 * errno, longjmp, threads, signal handlers, forks; in the kernel if there is a module, else in the
 * interpreter.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "region/region.h"
#include "process/settings.h"
#include "process/stats.h"
#include "process/thread.h"

#include "assemble.h"

#define REGION(name, ctx_size_, ...)                                                               \
	static struct cosy_region name = {.ctx_size = (ctx_size_), .version = 1};                  \
	__attribute__((constructor)) static void name##_init(void)                                 \
	{                                                                                          \
		struct bpf_insn insns[] = {__VA_ARGS__};                                           \
                                                                                                   \
		name.compound = assemble(insns, sizeof(insns) / sizeof(*insns), (ctx_size_));      \
	}

/* Does ctx[1] = ctx[0] + 1; exit selector 2. */
REGION(add_one, 16, LOAD(BPF_DW, 2, 1, 0), ALU64_K(BPF_ADD, 2, 1), STORE(BPF_DW, 1, 8, 2),
       MOV_K(0, 2), EXIT())
/*
 * Calls kill(ctx[0], ctx[1]), so a signal handler runs in the middle; then recurses to depth
 * ctx[2].
 */
REGION(interrupted, 24, LOAD(BPF_DW, 6, 1, 16), MOV_X(7, 1), LOAD(BPF_DW, 1, 7, 0),
       LOAD(BPF_DW, 2, 7, 8), MOV_X(8, 6), MOV_X(1, 8), CALL_LOCAL(1), EXIT(),
       JUMP_K(BPF_JEQ, 1, 0, 6), STORE(BPF_DW, 10, -8, 1), ALU64_K(BPF_ADD, 1, -1), CALL_LOCAL(-4),
       LOAD(BPF_DW, 1, 10, -8), ALU64_X(BPF_ADD, 0, 1), EXIT(), CALL(COSY_OP_ctx), MOV_X(6, 0),
       LOAD(BPF_DW, 1, 6, 0), LOAD(BPF_DW, 2, 6, 8), CALL(SYS_kill), EXIT())
REGION(malformed, 16, INSN(0xff, 0, 0, 0, 0), EXIT())

static int64_t run_add_one(uint64_t in, uint64_t *ret)
{
	uint64_t *ctx = __cosy_enter(&add_one);
	int64_t selector;

	if (!ctx)
		return -2;
	CHECK_EQ((uintptr_t)ctx % 16, 0);
	ctx[0] = in;
	selector = __cosy_run(&add_one, ctx);
	*ret = ctx[1];
	__cosy_leave(ctx);
	return selector;
}

static void plain(void)
{
	uint64_t out = 0;

	errno = 99;
	for (int i = 0; i < 1000; i++) {
		CHECK_EQ(run_add_one(i, &out), 2);
		CHECK_EQ(out, i + 1);
	}
	CHECK_EQ(errno, 99);
	CHECK(!__cosy_enter(&malformed));
	CHECK(!__cosy_enter(&malformed));
	CHECK_EQ(errno, 99);
}

/* Returns 1 + 2 + .. + depth, with a handler's run at the bottom. */
static int64_t run_interrupted(int sig, uint64_t depth)
{
	uint64_t *ctx = __cosy_enter(&interrupted);
	int64_t selector;

	MUST(ctx);
	ctx[0] = getpid();
	ctx[1] = sig;
	ctx[2] = depth;
	selector = __cosy_run(&interrupted, ctx);
	__cosy_leave(ctx);
	return selector;
}

static volatile int handled;

static void handler(int sig)
{
	uint64_t out = 0;

	handled++;
	CHECK_EQ(run_add_one(41, &out), 2);
	CHECK_EQ(out, 42);
	/* Recurse again, on top of the recursion that it interrupted. */
	if (sig == SIGUSR1)
		CHECK_EQ(run_interrupted(SIGUSR2, 20), 210);
}

static void nested_in_signal(void)
{
	signal(SIGUSR1, handler);
	signal(SIGUSR2, handler);
	handled = 0;
	for (int i = 0; i < 50; i++)
		CHECK_EQ(run_interrupted(SIGUSR1, 100), 5050);
	CHECK_EQ(handled, 100);
	CHECK(!libcosy_thread_self->running);
}

static sigjmp_buf out_of_region;

static void jump_away(int sig)
{
	siglongjmp(out_of_region, sig);
}

static uint64_t bytes_used(void)
{
	return libcosy_thread_self->slice[0].used + libcosy_thread_self->slice[1].used;
}

/* Lets a handler jump out of a region, again and again, from the same and from deeper frames. */
__attribute__((noinline)) static void abandon(int depth)
{
	volatile char frame[64 * (depth + 1)];

	frame[0] = 0;
	run_interrupted(SIGUSR1, depth);
	CHECK(frame[0]); /* not reached */
}

static void abandoned(void)
{
	volatile uint64_t most = 0;
	volatile int i;
	uint64_t out;

	signal(SIGUSR1, jump_away);
	for (i = 0; i < 10000; i++) {
		if (!sigsetjmp(out_of_region, 1))
			abandon(i % 7);
		if (bytes_used() > most)
			most = bytes_used();
	}
	/* There must be at most what one chain of frames leaves, not ten thousand. */
	CHECK(most < 20000);
	CHECK_EQ(run_add_one(1, &out), 2);
	CHECK_EQ(bytes_used(), 0);
	CHECK(!libcosy_thread_self->running);
}

static void *in_thread(void *arg)
{
	uint64_t out = 0, n = (uintptr_t)arg;

	for (uint64_t i = 0; i < 2000; i++) {
		if (run_add_one(n + i, &out) != 2 || out != n + i + 1)
			return (void *)1;
	}
	return NULL;
}

static void threads(void)
{
	pthread_t thread[8];
	void *bad;

	for (uintptr_t i = 0; i < 8; i++)
		MUST(!pthread_create(&thread[i], NULL, in_thread, (void *)(i * 1000000)));
	for (int i = 0; i < 8; i++) {
		MUST(!pthread_join(thread[i], &bad));
		CHECK(!bad);
	}
}

/* Tests the child of fork(), and of a clone that no library hears of. */
static void forks(bool raw)
{
	uint64_t out = 0;
	int status;
	pid_t pid = raw ? syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) : fork();

	MUST(pid >= 0);
	if (!pid) {
		check_failures = 0;
		CHECK_EQ(run_add_one(7, &out), 2);
		CHECK_EQ(out, 8);
		_exit(check_failures != 0);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(run_add_one(7, &out), 2);
}

int main(void)
{
	/* The settings, once read, are this test's. */
	libcosy_settings_init();
	if (access("/dev/cosy", F_OK))
		libcosy_settings.mode = COSY_MODE_INTERP;
	plain();
	nested_in_signal();
	abandoned();
	threads();
	forks(false);
	forks(true);
	return check_result();
}
