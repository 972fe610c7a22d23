// SPDX-License-Identifier: MIT
/* real.c - makes the model's world real. */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interp/interp.h"
#include "real.h"

static sigjmp_buf stopped;
static void *fault_address;

static void on_stop(int number, siginfo_t *info, void *context)
{
	(void)context;
	fault_address = info->si_addr;
	siglongjmp(stopped, number);
}

static void map_at(u64 base, size_t size, int device)
{
	int flags = device < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *at = mmap((void *)base, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE,
			device, 0);

	if (at != (void *)base) {
		perror("mmap");
		exit(1);
	}
}

void real_map(int device)
{
	struct sigaction action = {.sa_sigaction = on_stop, .sa_flags = SA_SIGINFO | SA_NODEFER};

	map_at(REAL_BUFFER_BASE, REAL_BUFFER_SIZE, device);
	map_at(WORLD_HEAP_BASE, WORLD_HEAP_SIZE, -1);
	map_at(WORLD_STACK_BASE, WORLD_STACK_SIZE, -1);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
}

/* --- Calls with one answer ----------------------------------------------------------- */

static u64 answer(struct world *world, u32 number, const u64 reg[6])
{
	(void)reg;
	world->calls++;
	switch (number) {
	case SYS_getpid:
		return getpid();
	case SYS_getppid:
		return getppid();
	case COSY_OP_ctx:
		return world->ctx;
	default:
		return 0;
	}
}

static void settle_calls(struct bpf_insn *insns, u32 count)
{
	static const s32 settled[] = {SYS_getpid, SYS_getppid, COSY_OP_ctx, COSY_OP_fence};
	u32 at;

	for (at = 0; at < count; at++) {
		if (insns[at].code == (BPF_LD | BPF_IMM | BPF_DW))
			at++;
		else if (insns[at].code == (BPF_JMP | BPF_CALL) && !insns[at].src_reg &&
			 insns[at].imm != COSY_OP_trap && insns[at].imm != COSY_OP_divide_error)
			insns[at].imm = settled[(u32)insns[at].imm % 4];
	}
}

u32 real_program(const u8 *bytes, size_t size, struct differential *setting,
		 struct bpf_insn insns[GENERATE_MAX])
{
	struct source source = {bytes, size};
	bool mutated;
	u32 count;

	generate_setting(&source, setting);
	setting->how.user_base = REAL_BUFFER_BASE;
	setting->how.size = REAL_BUFFER_SIZE;
	count = generate_program(&source, setting, insns, &mutated);
	settle_calls(insns, count);
	return mutated ? 0 : count;
}

void real_worlds(const struct differential *setting, struct world *model, struct world *real)
{
	u32 i;

	world_init(model, REAL_BUFFER_BASE, REAL_BUFFER_SIZE, setting->seed);
	model->answer = answer;
	*real = *model;
	for (i = 0; i < WORLD_AREAS; i++) {
		real->area[i].bytes = (u8 *)real->area[i].base;
		memcpy(real->area[i].bytes, model->area[i].bytes, model->area[i].size);
	}
}

/* --- libcosy's interpreter ------------------------------------------------------------- */

/*
 * Sorts a signal.  The interpreter overflows onto the first byte after the stack, where an access
 * may end, too.
 */
static enum outcome stopped_by(int number)
{
	if (number == SIGILL || number == SIGFPE)
		return RUN_TRAP;
	return (u64)fault_address == WORLD_STACK_BASE + WORLD_STACK_SIZE ? RUN_STACK : RUN_FAULT;
}

enum outcome real_interpret(const struct cosy_validated *program, struct world *real,
			    struct cosy_state *state, u32 *at, u32 stop)
{
	struct libcosy_interp in = {
		.program = program,
		.state = state,
		.ctx = real->ctx,
		.stack = real->area[WORLD_STACK].bytes,
		.stack_size = WORLD_STACK_SIZE,
		.resume = *at + 1,
		.max_steps = REAL_LIMIT,
	};
	enum cosy_status status;
	int number = sigsetjmp(stopped, 1);

	if (number)
		return stop ? RUN_FAULT : stopped_by(number);
	status = libcosy_interp_run(&in, stop);
	*at = in.resume - 1;
	return status == COSY_DONE ? RUN_DONE : status == COSY_ENDED_STEPS ? RUN_LIMIT : RUN_LEFT;
}
