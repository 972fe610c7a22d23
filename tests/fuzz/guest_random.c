// SPDX-License-Identifier: MIT
/*
 * guest_random.c - the fuzzers' programs in the real module: what the kernel's JIT
 * and the thunks make of a program is what the reference makes of it.
 *
 *	guest_random [SECONDS [SEED]]
 *
 * The process's own memory is laid out as the model's, so that both worlds have
 * the same addresses.  Calls are those whose answer does not change.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "generate.h"
#include "reference.h"

enum { BUFFER_SIZE = 8192, LIMIT = 400, MAX_LEAVES = 10000 };
#define BUFFER_BASE 0x10000000ull

struct guest {
	int fd;
	struct cosy_state state;
	u64 leaves, faults_repaired, outcomes[RUN_ON];
};

static void must(bool condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(1);
}

static void *map_at(u64 base, size_t size, int fd)
{
	void *at = mmap((void *)base, size, PROT_READ | PROT_WRITE,
			MAP_FIXED_NOREPLACE | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED),
			fd, 0);

	must(at == (void *)base, "mmap");
	return at;
}

static void open_device(struct guest *g)
{
	struct cosy_setbuf setbuf = {.size = sizeof(setbuf), .len = BUFFER_SIZE};
	struct cosy_limits limits = {.size = sizeof(limits), .max_ops = LIMIT};

	g->fd = open("/dev/cosy", O_RDWR | O_CLOEXEC);
	if (g->fd < 0) {
		perror("SKIP: /dev/cosy");
		exit(77);
	}
	must(!ioctl(g->fd, COSY_IOC_SETBUF, &setbuf), "SETBUF");
	must(!ioctl(g->fd, COSY_IOC_LIMITS, &limits), "LIMITS");
	map_at(BUFFER_BASE, BUFFER_SIZE, g->fd);
	map_at(WORLD_HEAP_BASE, WORLD_HEAP_SIZE, -1);
	map_at(WORLD_STACK_BASE, WORLD_STACK_SIZE, -1);
}

static void on_alarm(int number)
{
	(void)number;
}

/* Signals at any time, so that programs leave and go on behind their calls. */
static void start_alarms(void)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 300}, {0, 300}};

	must(!sigaction(SIGALRM, &action, NULL), "sigaction");
	must(!setitimer(ITIMER_REAL, &often, NULL), "setitimer");
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
			 insns[at].imm != COSY_OP_trap)
			insns[at].imm = settled[(u32)insns[at].imm % 4];
	}
}

/* --- The two worlds ------------------------------------------------------------------- */

/* The same content as a model world, at the real addresses. */
static void real_world_init(struct world *real, const struct world *model)
{
	u32 i;

	*real = *model;
	for (i = 0; i < WORLD_AREAS; i++) {
		real->area[i].bytes = (u8 *)real->area[i].base;
		memcpy(real->area[i].bytes, model->area[i].bytes, model->area[i].size);
	}
}

static u32 load(struct guest *g, const struct bpf_insn *insns, u32 count)
{
	static struct {
		struct cosy_compound header;
		struct bpf_insn insns[GENERATE_MAX];
	} container;
	char log[200] = "";
	struct cosy_load load = {.size = sizeof(load), .log_size = sizeof(log)};

	container.header = (struct cosy_compound){
		.magic = COSY_MAGIC,
		.version = COSY_ABI_VERSION,
		.header_size = sizeof(container.header),
		.size = sizeof(container.header) + count * sizeof(*insns),
		.insn_off = sizeof(container.header),
		.insn_cnt = count,
	};
	memcpy(container.insns, insns, count * sizeof(*insns));
	load.len = container.header.size;
	load.compound = (unsigned long)&container;
	load.log = (unsigned long)log;
	if (ioctl(g->fd, COSY_IOC_LOAD, &load)) {
		fprintf(stderr, "LOAD: %m: %s\n", log);
		return 0;
	}
	return load.handle;
}

static void unload(struct guest *g, u32 handle)
{
	struct cosy_free argument = {.size = sizeof(argument), .handle = handle};

	must(!ioctl(g->fd, COSY_IOC_FREE, &argument), "FREE");
}

static enum outcome outcome_of(u32 status)
{
	switch (status) {
	case COSY_DONE:
		return RUN_DONE;
	case COSY_LEFT_FAULT:
		return RUN_FAULT;
	case COSY_LEFT_STACK:
		return RUN_STACK;
	case COSY_LEFT_TRAP:
		return RUN_TRAP;
	case COSY_ENDED_OPS:
		return RUN_LIMIT;
	case COSY_LEFT_WORK:
		return RUN_LEFT;
	default:
		return RUN_VIOLATION;
	}
}

/* In the kernel to the end; what only the interpreter can do is done by the reference. */
static enum outcome run_real(struct guest *g, const struct cosy_program *program,
			     struct world *real, u32 handle, u32 start, u32 *at, u64 *result)
{
	struct cosy_run run = {
		.size = sizeof(run),
		.handle = handle,
		.ctx = real->ctx,
		.state = (unsigned long)&g->state,
		.stack = WORLD_STACK_BASE,
		.stack_size = WORLD_STACK_SIZE,
		.resume = start,
	};
	enum outcome outcome;
	u32 leaves;

	for (leaves = 0; leaves < MAX_LEAVES; leaves++, g->leaves++) {
		must(!ioctl(g->fd, COSY_IOC_RUN, &run), "RUN");
		outcome = outcome_of(run.status);
		*at = run.resume - 1;
		*result = run.ret;
		if (outcome == RUN_LEFT)
			continue;
		if (outcome != RUN_FAULT)
			return outcome;
		/* The thunk leaves atomics that are not aligned, too. */
		outcome = reference_run(program, real, &g->state, at, LIMIT + 1, 1);
		*result = g->state.reg[0];
		if (outcome != RUN_LEFT)
			return outcome;
		run.resume = *at + 1;
		g->faults_repaired++;
	}
	return RUN_VIOLATION;
}

/* --- One program ------------------------------------------------------------------------ */

static bool same_state(const struct cosy_program *program, const struct cosy_state *a,
		       const struct cosy_state *b)
{
	u32 i, words = 0;

	for (i = 0; i < program->function_cnt; i++) {
		if (program->functions[i].frame_words > words)
			words = program->functions[i].frame_words;
	}
	for (i = 0; i < 10; i++) {
		if (a->reg[i] != b->reg[i]) {
			fprintf(stderr, "r%u is 0x%llx instead of 0x%llx\n", i, b->reg[i],
				a->reg[i]);
			return false;
		}
	}
	for (i = COSY_FRAME_SIZE / 8 - words; i < COSY_FRAME_SIZE / 8; i++) {
		if (a->frame[i] != b->frame[i]) {
			fprintf(stderr, "frame word %u is 0x%llx instead of 0x%llx\n", i,
				b->frame[i], a->frame[i]);
			return false;
		}
	}
	return true;
}

static bool run_worlds(struct guest *g, const struct differential *setting,
		       const struct cosy_program *program, u32 handle, struct world *model,
		       struct world *real)
{
	u32 at = 0, real_at = 0, start = 0;
	struct cosy_state state;
	enum outcome expected, got;
	u64 result = 0, leaves = g->leaves;
	const char *difference;

	reference_start(&state, model);
	if (setting->hostile) {
		start = differential_hostile(setting, program, &state, model);
		differential_hostile(setting, program, &state, real);
		at = start ? start - 1 : 0;
	}
	g->state = state;
	expected = reference_run(program, model, &state, &at, LIMIT + 1, 0);
	got = run_real(g, program, real, handle, start, &real_at, &result);
	if (model->forged)
		return true;
	g->outcomes[expected]++;
	/* Work that is due at the limit comes first, and going on does one operation more. */
	if (expected == RUN_LIMIT && got == RUN_LIMIT && g->leaves != leaves)
		return true;
	if (expected != got || (expected != RUN_DONE && at != real_at)) {
		fprintf(stderr, "%s at %u instead of %s at %u\n", outcome_name(got), real_at,
			outcome_name(expected), at);
		return false;
	}
	if (expected == RUN_DONE && result != state.reg[0]) {
		fprintf(stderr, "0x%llx instead of 0x%llx\n", result, state.reg[0]);
		return false;
	}
	if (expected != RUN_DONE && !same_state(program, &state, &g->state))
		return false;
	real->calls = model->calls;
	difference = world_difference(model, real);
	if (difference)
		fprintf(stderr, "%s differ\n", difference);
	return !difference;
}

static bool run_one(struct guest *g, const u8 *bytes, size_t size)
{
	struct source source = {bytes, size};
	struct bpf_insn insns[GENERATE_MAX];
	struct differential setting;
	struct cosy_program program;
	struct world model, real;
	bool mutated, fine;
	u32 count, handle;

	generate_setting(&source, &setting);
	setting.how.user_base = BUFFER_BASE;
	setting.how.size = BUFFER_SIZE;
	count = generate_program(&source, &setting, insns, &mutated);
	if (mutated)
		return true;
	settle_calls(insns, count);
	if (cosy_validate(insns, count, &program, NULL))
		return false;
	handle = load(g, insns, count);
	if (handle) {
		world_init(&model, BUFFER_BASE, BUFFER_SIZE, setting.seed);
		model.answer = answer;
		real_world_init(&real, &model);
		fine = run_worlds(g, &setting, &program, handle, &model, &real);
		world_deinit(&model);
		unload(g, handle);
	} else {
		fine = false;
	}
	if (!fine) {
		char text[96];
		u32 insn;

		for (insn = 0; insn < count;) {
			u32 slots = cosy_disasm(insns, count, insn, text, sizeof(text));

			fprintf(stderr, "%4u: %s\n", insn, text);
			insn += slots;
		}
	}
	cosy_program_deinit(&program);
	return fine;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atol(argv[1]) : 20);
	u64 seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (u64)time(NULL);
	struct guest guest = {0};
	unsigned long programs;
	u8 bytes[1024];
	u32 i;

	open_device(&guest);
	start_alarms();
	printf("seed %llu\n", (unsigned long long)seed);
	for (programs = 0; time(NULL) < end; programs++) {
		u64 noise = world_mix(world_mix(seed, 1), programs);

		for (i = 0; i < sizeof(bytes); i++)
			bytes[i] = (noise = world_mix(noise, i)) >> 32;
		if (!run_one(&guest, bytes, sizeof(bytes))) {
			fprintf(stderr, "program %lu of seed %llu\n", programs,
				(unsigned long long)seed);
			return 1;
		}
	}
	printf("%lu programs, %llu leaves, %llu by the reference\n", programs,
	       (unsigned long long)guest.leaves, (unsigned long long)guest.faults_repaired);
	for (i = 0; i < RUN_LEFT; i++)
		printf("%s %llu\n", outcome_name(i), (unsigned long long)guest.outcomes[i]);
	/* Every end must have been met, or nothing is proven of it. */
	for (i = 0; i < RUN_LEFT; i++) {
		if (!guest.outcomes[i])
			return 1;
	}
	return 0;
}
