/* SPDX-License-Identifier: MIT */
/*
 * Checks that no kernel value is ever seen: random programs leave at random points (limits, faults,
 * a full stack, traps, signals), and after each leave every saved register, spill frame, software
 * stack, context and buffer is looked through.
 *
 * The programs are made so that nothing of their own looks like a kernel
 * address: small numbers, user addresses, and small negative errnos.
 */
#include "raw.h"

#define LENGTH	60
#define AREA	4096
#define SECONDS 4

static struct raw_run r;
static char *buffer;
static uint64_t area[AREA / 8] __attribute__((aligned(16)));
static const struct bpf_insn *program;
static volatile sig_atomic_t ticks;

static void on_tick(int sig)
{
	(void)sig;
	ticks++;
}

static bool kernel_like(uint64_t value)
{
	return value >= 0xffff800000000000u && (int64_t)value < -4095;
}

static void look(const char *where, const void *memory, size_t size)
{
	const uint64_t *words = memory;

	for (size_t i = 0; i < size / 8; i++) {
		if (!kernel_like(words[i]))
			continue;
		CHECK(0, "%s, word %zu: %#llx, left by status %u at %u", where, i,
		      (unsigned long long)words[i], r.run.status, r.run.resume);
		for (int j = 0; j < LENGTH; j++)
			printf("%3d: %02x dst %d src %d off %d imm %d\n", j, program[j].code,
			       program[j].dst_reg, program[j].src_reg, program[j].off,
			       program[j].imm);
		exit(1);
	}
}

/* Returns a register other than r1 (the area), r9 (the buffer) and r8 (nothing mapped). */
static int any(void)
{
	static const int registers[] = { 0, 2, 3, 4, 5, 6, 7 };

	return registers[chance(COUNT(registers))];
}

static int base(void)
{
	return chance(2) ? 1 : 9;
}

static short offset(void)
{
	return (short)(8 * chance(AREA / 8));
}

/* Returns a call that reads and writes little and never blocks. */
static struct bpf_insn some_call(void)
{
	static const int calls[] = {
		SYS_getpid, SYS_gettid, SYS_getuid, SYS_getppid,       SYS_sched_yield,
		SYS_close,  SYS_lseek,	SYS_dup,    SYS_umask,	       SYS_getpgid,
		SYS_fcntl,  SYS_read,	SYS_write,  SYS_clock_gettime, SYS_uname,
	};

	return CALL(chance(100) ? calls[chance(COUNT(calls))] : SYS_nanosleep);
}

static struct bpf_insn some_operation(void)
{
	static const int operations[] = { RAW_OP_ctx, RAW_OP_fence, RAW_OP_alloca, RAW_OP_strlen,
					  RAW_OP_memcpy };

	return CALL_OP(operations[chance(COUNT(operations))]);
}

static struct bpf_insn some_insn(int at, int main_end)
{
	static const int fetches[] = { BPF_ADD,
				       BPF_ADD | BPF_FETCH,
				       BPF_OR | BPF_FETCH,
				       BPF_AND | BPF_FETCH,
				       BPF_XOR | BPF_FETCH,
				       BPF_XCHG,
				       BPF_CMPXCHG };

	switch (chance(20)) {
	case 0:
		return MOV(any(), (int)chance(1000));
	case 1:
		return MOVR(any(), any());
	case 2:
		return LOAD(BPF_DW, any(), base(), offset());
	case 3:
		return LOAD(BPF_W, any(), base(), offset());
	case 4:
		return LOAD(BPF_B, any(), base(), offset());
	case 5:
		return STORE(BPF_DW, base(), offset(), any());
	case 6:
		return STOREK(BPF_DW, base(), offset(), (int)chance(1000));
	case 7:
		return STORE(BPF_DW, 10, (short)(-8 * (1 + (int)chance(COSY_FRAME_SIZE / 8))),
			     any());
	case 8:
		return LOAD(BPF_DW, any(), 10,
			    (short)(-8 * (1 + (int)chance(COSY_FRAME_SIZE / 8))));
	case 9:
		return ATOMIC(BPF_DW, base(), offset(), any(), fetches[chance(COUNT(fetches))]);
	case 10:
		return INSN(BPF_ALU64 | BPF_OR | BPF_X, any(), any(), 0, 0);
	case 11:
		return INSN(BPF_ALU64 | BPF_AND | BPF_K, any(), 0, 0, 0xffff);
	case 12:
		return INSN(BPF_ALU64 | BPF_MOD | BPF_X, any(), any(), 0, 0);
	case 13:
		return INSN(BPF_ALU64 | BPF_DIV | BPF_X, any(), any(), (short)chance(2), 0);
	case 14:
	case 15:
		return some_call();
	case 16:
		return some_operation();
	case 17: /* it leaves, if ever reached */
		switch (chance(8)) {
		case 0:
			return LOAD(BPF_DW, any(), 8, 0);
		case 1:
			return STORE(BPF_DW, 8, 0, any());
		case 2:
			return ATOMIC(BPF_DW, 8, 0, any(), BPF_ADD | BPF_FETCH);
		case 3:
			return CALL_OP(RAW_OP_trap);
		case 4:
			return CALL_OP(RAW_OP_divide_error);
		default:
			return MOV(any(), (int)chance(1000));
		}
	case 18: /* call the function at the end, from anywhere: recursion, too */
		return CALL_LOCAL(main_end - at - 1);
	default:
		return JUMP_LT(any(), (int)chance(1000), (short)((int)chance(9) - 4));
	}
}

/* Makes a program: main is [0, end), and the function that it and itself call is [end, LENGTH). */
static void make(struct bpf_insn *insns)
{
	const int end = LENGTH * 2 / 3;

	for (int i = 0; i < LENGTH; i++) {
		int start = i < end ? 0 : end, stop = (i < end ? end : LENGTH) - 1;

		insns[i] = some_insn(i, end);
		if (insns[i].code == (BPF_JMP | BPF_JLT | BPF_K) &&
		    (i + 1 + insns[i].off < start + 3 || i + 1 + insns[i].off > stop))
			insns[i].off = 0;
	}
	/*
	 * ctx[0] is the buffer's address, ctx[1] the area's: r0 = ctx, then r9 and r1 through it.
	 */
	for (int f = 0; f < 2; f++) {
		int start = f ? end : 0;

		insns[start] = CALL_OP(RAW_OP_ctx);
		insns[start + 1] = LOAD(BPF_DW, 9, 0, 0);
		insns[start + 2] = LOAD(BPF_DW, 1, 0, 8);
		insns[start + 3] = MOV(8, 8);
		insns[(f ? LENGTH : end) - 1] = EXIT;
	}
	/* Get r1 back, which a call may have zeroed. */
	for (int i = 4; i < LENGTH - 3; i++) {
		if (i >= end - 4 && i < end + 4)
			continue;
		if (insns[i].code == (BPF_JMP | BPF_CALL) && insns[i].src_reg == 0 &&
		    insns[i].imm != (int)COSY_OP_BASE + RAW_OP_ctx && chance(16)) {
			insns[i + 1] = CALL_OP(RAW_OP_ctx);
			insns[i + 2] = LOAD(BPF_DW, 1, 0, 8);
			i += 2;
		}
	}
}

static void fill(void)
{
	for (unsigned i = 0; i < COUNT(area); i++) {
		area[i] = chance(1000);
		((uint64_t *)buffer)[i] = chance(1000);
	}
	memset(&r.state, 0x11, sizeof(r.state));
	memset(r.stack, 0x22, sizeof(r.stack));
}

/* True once there were enough programs, and every way of leaving. */
static bool seen_all(int programs, const int *left)
{
	return programs > 20 && left[COSY_LEFT_FAULT] && left[COSY_ENDED_STEPS] &&
	       left[COSY_LEFT_STACK] && left[COSY_LEFT_WORK];
}

int main(void)
{
	int fd = raw_open(), programs = 0, runs = 0, refused = 0, left[16] = { 0 };
	struct bpf_insn insns[LENGTH];
	double start = now_ms();
	uint64_t ctx[2];

	chance_init();
	buffer = raw_buffer(fd, 1 << 16);
	ctx[0] = (uintptr_t)buffer;
	ctx[1] = (uintptr_t)area;
	program = insns;
	handle(SIGALRM, on_tick, SA_RESTART);
	alarm_us(1000, 1000);
	while (now_ms() - start < SECONDS * 1000 || !seen_all(programs, left)) {
		struct cosy_load load;

		make(insns);
		if (raw_try_load(fd, insns, LENGTH, &load)) {
			if (!refused++)
				printf("first refusal: instruction %u: %s\n", load.bad_insn,
				       raw_log);
			continue;
		}
		programs++;
		for (int i = 0; i < 12; i++) {
			struct cosy_free free = { .size = sizeof(free), .handle = load.handle };
			int again = 0;
			long ret;

			fill();
			raw_limits(fd, 1 + chance(i < 6 ? 60 : 3000), 0);
			raw_run_init(&r, load.handle, ctx);
			if (chance(4) == 0)
				r.run.stack_size = chance(400) & -16u;
			do {
				ret = raw_run(fd, &r);
				runs++;
				CHECK(ret == 0 || (r.run.status == COSY_LEFT_CALL && ret >= -4095),
				      "RUN is %ld, status %u", ret, r.run.status);
				if (!ret && r.run.status < 16)
					left[r.run.status]++;
				look("state", &r.state, sizeof(r.state));
				look("argument", &r.run, sizeof(r.run));
				look("stack", r.stack, sizeof(r.stack));
				look("area", area, sizeof(area));
				look("buffer", buffer, AREA);
			} while (!ret && r.run.status == COSY_LEFT_WORK && again++ < 100);
			if (i == 11)
				MUST(!raw_ioctl(fd, COSY_IOC_FREE, &free));
		}
	}
	alarm_us(0, 0);
	printf("%d programs (%d refused), %d runs; left by status:", programs, refused, runs);
	for (int i = 0; i < 10; i++)
		printf(" %d", left[i]);
	printf("\n");
	CHECK(refused < programs, "%d programs, %d refused", programs, refused);
	return check_end();
}
