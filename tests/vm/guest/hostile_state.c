/* SPDX-License-Identifier: MIT */
/*
 * Makes RUN resume from states that no compound ever left: random registers, spill frames, stack
 * pointers and software stacks, some of them nearly right.  The worst that may happen is a fault or
 * a trap of the compound's own.
 */
#include "raw.h"
#include <pthread.h>

#define SIZE	(1 << 16)
#define SECONDS 4

/* Recurses with saved registers and spills, loads, stores, a loop, a call, an operation. */
static const struct bpf_insn program[] = {
	/* 0 */ MOVR(6, 1),
	MOV(7, 9),
	STORE(BPF_DW, 10, -8, 6),
	STORE(BPF_DW, 10, -64, 7),
	MOV(1, 5),
	/* 5 */ CALL_LOCAL(6),
	LOAD(BPF_DW, 2, 10, -8),
	STORE(BPF_DW, 2, 0, 0),
	ADD(7, -1),
	JUMP_NE(7, 0, -6),
	MOVR(0, 7),
	/* 11 */ EXIT,
	/* 12 */ STORE(BPF_DW, 10, -16, 1),
	MOVR(8, 1),
	CALL(SYS_getpid),
	LOAD(BPF_DW, 1, 10, -16),
	ADD(1, -1),
	/* 17 */ JUMP_LT(1, 1, 1),
	CALL_LOCAL(-7),
	MOVR(0, 8),
	CALL_OP(RAW_OP_fence),
	MOV(1, 16),
	CALL_OP(RAW_OP_alloca),
	/* 23 */ ATOMIC(BPF_DW, 6, 8, 8, BPF_ADD | BPF_FETCH),
	EXIT,
};

/* Lie in a wide space of their own: wild stores of the program must not hit the test itself. */
static struct raw_run *runs;
static char *buffer;

#define SPACE (5ul << 30)

static void space_reserve(int fd)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = SIZE };
	const size_t front = 1 << 20;
	char *space =
		mmap(NULL, SPACE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	MUST(space != MAP_FAILED);
	runs = (struct raw_run *)(space + front);
	MUST(!mprotect(runs, 2 * sizeof(*runs), PROT_READ | PROT_WRITE));
	MUST(!raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf));
	buffer = space + 2 * front;
	MUST(mmap(buffer, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == buffer);
}

static uint64_t odd_value(void)
{
	static const uint64_t odd[] = {
		0,
		1,
		8,
		16,
		~0ull,
		0x7fffffffffffffff,
		0x8000000000000000,
		0xffffffff81000000,
		0xffff888000000000,
		0x0000800000000000,
		0x00007fffffffffff,
		0xffffffff,
		0x100000000,
		RAW_STACK,
		RAW_STACK - 16,
		RAW_STACK + 16,
	};

	switch (chance(5)) {
	case 0:
		return odd[chance(COUNT(odd))];
	case 1:
		return chance(0);
	case 2:
		return (uintptr_t)buffer + chance(SIZE - 64);
	case 3:
		return chance(64) * 16;
	default:
		return chance(RAW_STACK);
	}
}

/* Writes the frame that a local call pushes, with anything in it. */
static void odd_frame(struct raw_run *r, uint64_t at)
{
	struct cosy_frame *frame =
		(struct cosy_frame *)(r->stack + at % (RAW_STACK - 1024) / 16 * 16);

	frame->call = chance(4) ? (chance(2) ? 5 : 18) : chance(2) ? chance(40) : odd_value();
	frame->fp = chance(2) ? chance(RAW_STACK) & -16ull : odd_value();
	for (int i = 0; i < 4; i++)
		frame->reg[i] = odd_value();
	for (int i = 0; i < 16; i++)
		frame->spill[i] = odd_value();
}

static void odd_run(struct raw_run *r, uint32_t handle, uint32_t resume)
{
	raw_run_init(r, handle, buffer);
	r->run.resume = resume;
	for (int i = 0; i < 10; i++)
		r->state.reg[i] = odd_value();
	for (unsigned i = 0; i < COUNT(r->state.frame); i++)
		r->state.frame[i] = odd_value();
	r->state.sp = odd_value();
	r->state.fp = chance(3) ? chance(RAW_STACK) & -16ull : odd_value();
	r->state.steps = odd_value();
	r->state.kernel_ns = odd_value();
	for (int i = 0; i < 20; i++)
		odd_frame(r, chance(RAW_STACK));
	if (chance(2))
		odd_frame(r, r->state.fp);
	if (chance(8) == 0)
		r->run.stack_size = (uint32_t)odd_value();
	if (chance(16) == 0)
		r->run.stack = odd_value() & -16ull;
	if (chance(16) == 0)
		r->run.ctx = odd_value();
}

/* Changes the stack under the compound all the time. */
static volatile bool stop;

static void *scribble(void *arg)
{
	raw_seed = (uintptr_t)arg;
	while (!stop)
		odd_frame(&runs[1], chance(RAW_STACK));
	return NULL;
}

int main(void)
{
	int fd = raw_open(), left[16] = { 0 }, errors = 0;
	uint32_t handle, resume[COUNT(program)];
	unsigned points = 0, tried = 0;
	double start = now_ms();
	pthread_t thread;

	chance_init();
	space_reserve(fd);
	handle = raw_load(fd, program, COUNT(program));
	raw_limits(fd, 2000, 0);
	MUST(!pthread_create(&thread, NULL, scribble, (void *)(uintptr_t)chance(0)));
	while (now_ms() - start < SECONDS * 1000) {
		struct raw_run *r = &runs[chance(2)];
		long ret;

		/* Try every number first, to find the resume points; then those. */
		odd_run(r, handle,
			tried < 30 * COUNT(program) ? 1 + tried % COUNT(program)
						    : resume[chance(points)]);
		if (tried % 1000 == 999)
			r->run.resume = (uint32_t)odd_value();
		ret = raw_run(fd, r);
		CHECK(ret == 0 || ret == -EINVAL || ret == -EFAULT || ret == -EINTR, "RUN is %ld",
		      ret);
		CHECK(ret || r->run.status < 10, "status %u", r->run.status);
		if (!ret)
			left[r->run.status & 15]++;
		else
			errors++;
		if (!ret && tried < 30 * COUNT(program)) {
			uint32_t point = 1 + tried % COUNT(program);
			unsigned i;

			for (i = 0; i < points && resume[i] != point; i++)
				;
			if (i == points)
				resume[points++] = point;
		}
		if (++tried == 30 * COUNT(program))
			MUST(points > 0);
	}
	stop = true;
	MUST(!pthread_join(thread, NULL));
	printf("%u tried, %u resume points, %d errors; left by status:", tried, points, errors);
	for (int i = 0; i < 10; i++)
		printf(" %d", left[i]);
	printf("\n");
	CHECK(left[COSY_LEFT_STACK] && left[COSY_LEFT_TRAP] && left[COSY_LEFT_FAULT],
	      "not every end was seen");
	return check_end();
}
