// SPDX-License-Identifier: MIT
/*
 * random_real.c - runs the fuzzers' programs for real.  The kernel's JIT, the thunks and libcosy's
 * interpreter have to come to the same as the reference.
 *
 *	random_real kernel|interp [PROGRAMS [SEED]]
 *
 * COSY_FUZZ_SECONDS in the environment is a time instead of PROGRAMS.
 * With `kernel` the module runs the program, leaves at any signal, fault and
 * limit, and libcosy's interpreter takes it from there to where RUN may go on.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "../scale.h"
#include "real.h"
#include "reference.h"

enum { MAX_LEAVES = 10000 };

struct counts {
	u64 programs, leaves, handed_over, outcomes[RUN_ON];
};

static int device = -1;
static struct counts counts;

static void must(bool condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(1);
}

/* --- The module ------------------------------------------------------------------------- */

static void open_device(void)
{
	struct cosy_setbuf setbuf = {.size = sizeof(setbuf), .len = REAL_BUFFER_SIZE};
	struct cosy_limits limits = {.size = sizeof(limits), .max_steps = REAL_LIMIT};

	device = open("/dev/cosy", O_RDWR | O_CLOEXEC);
	if (device < 0) {
		perror("SKIP: /dev/cosy");
		exit(77);
	}
	must(!ioctl(device, COSY_IOC_SETBUF, &setbuf), "SETBUF");
	must(!ioctl(device, COSY_IOC_LIMITS, &limits), "LIMITS");
}

static void on_alarm(int number)
{
	(void)number;
}

/* Sends signals at any time, so that programs leave, and go on after their calls. */
static void start_alarms(void)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 300}, {0, 300}};

	must(!sigaction(SIGALRM, &action, NULL), "sigaction");
	must(!setitimer(ITIMER_REAL, &often, NULL), "setitimer");
}

static u32 load(const struct bpf_insn *insns, u32 count)
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
	if (ioctl(device, COSY_IOC_LOAD, &load)) {
		fprintf(stderr, "LOAD: %m: %s\n", log);
		exit(1);
	}
	return load.handle;
}

static void unload(u32 handle)
{
	struct cosy_free argument = {.size = sizeof(argument), .handle = handle};

	must(!ioctl(device, COSY_IOC_FREE, &argument), "FREE");
}

static enum outcome outcome_of(u32 status)
{
	switch (status) {
	case COSY_DONE:
		return RUN_DONE;
	case COSY_LEFT_WORK:
		return RUN_LEFT;
	case COSY_LEFT_FAULT:
	case COSY_LEFT_NATIVE: /* handed over alike */
		return RUN_FAULT;
	case COSY_LEFT_STACK:
		return RUN_STACK;
	case COSY_LEFT_TRAP:
		return RUN_TRAP;
	case COSY_ENDED_STEPS:
		return RUN_LIMIT;
	default:
		return RUN_VIOLATION;
	}
}

/* Interprets from the access at *at to a resume point or the end. */
static enum outcome hand_over(const struct cosy_validated *program, struct world *real,
			      struct cosy_state *state, u32 *at, bool by_reference)
{
	enum outcome outcome;

	counts.handed_over++;
	if (by_reference)
		return reference_run(program, real, state, at, REAL_LIMIT + 1, 1);
	do
		outcome = real_interpret(program, real, state, at,
					 COSY_MARK_RESUME | COSY_MARK_LEAVE);
	while (outcome == RUN_LEFT && !(program->marks[*at] & COSY_MARK_RESUME));
	return outcome;
}

/*
 * Runs from `start` (an instruction + 1) or the beginning (0) to the end.  A fault is handed over,
 * since the thunks leave at unaligned atomics, too.  A forged state is not handed over: libcosy's
 * interpreter need not stand one.
 */
static enum outcome run_kernel(const struct cosy_validated *program, struct world *real, u32 handle,
			       u32 start, struct cosy_state *state, u32 *at)
{
	struct cosy_run run = {
		.size = sizeof(run),
		.handle = handle,
		.ctx = real->ctx,
		.state = (unsigned long)state,
		.stack = WORLD_STACK_BASE,
		.stack_size = WORLD_STACK_SIZE,
		.resume = start,
	};
	enum outcome outcome;
	u32 leaves;

	for (leaves = 0; leaves < MAX_LEAVES; leaves++) {
		must(!ioctl(device, COSY_IOC_RUN, &run), "RUN");
		outcome = outcome_of(run.status);
		*at = run.resume - 1;
		if (outcome == RUN_DONE)
			state->reg[0] = run.ret;
		if (outcome != RUN_LEFT && outcome != RUN_FAULT)
			return outcome;
		counts.leaves++;
		if (outcome == RUN_LEFT)
			continue;
		outcome = hand_over(program, real, state, at, start);
		if (outcome != RUN_LEFT)
			return outcome;
		run.resume = *at + 1;
	}
	return RUN_VIOLATION;
}

/* --- Comparing ---------------------------------------------------------------------------- */

/* Compares two states of which a program goes on at instruction `at`. */
static bool same_state(const struct cosy_validated *program, u32 at,
		       const struct cosy_state *expected, const struct cosy_state *got)
{
	u32 i, words = 0;

	for (i = 0; i < program->function_cnt; i++) {
		if (program->functions[i].frame_words > words)
			words = program->functions[i].frame_words;
	}
	for (i = 0; i < 10; i++) {
		if (expected->reg[i] == got->reg[i] || !differential_reads_later(program, at, i))
			continue;
		fprintf(stderr, "r%u is 0x%llx instead of 0x%llx\n", i, got->reg[i],
			expected->reg[i]);
		return false;
	}
	for (i = 1; i <= words; i++) {
		u64 want = expected->frame[COSY_FRAME_SIZE / 8 - i];
		u64 have = got->frame[COSY_FRAME_SIZE / 8 - i];

		if (want == have)
			continue;
		fprintf(stderr, "r10-%u is 0x%llx instead of 0x%llx\n", 8 * i, have, want);
		return false;
	}
	return true;
}

/* True if the state can be compared, and where it stands. */
static bool is_known(enum outcome outcome)
{
	return outcome == RUN_LIMIT || (device >= 0 && outcome != RUN_DONE);
}

static bool run_both(const struct differential *setting, const struct cosy_validated *program,
		     u32 handle, struct world *model, struct world *real)
{
	u32 start = 0, at = 0, real_at = 0;
	struct cosy_state state, real_state;
	u64 leaves = counts.leaves;
	enum outcome expected, got;
	const char *difference;

	reference_start(&state, model);
	if (setting->hostile && handle) {
		start = differential_hostile(setting, program, &state, model);
		differential_hostile(setting, program, &state, real);
		at = real_at = start ? start - 1 : 0;
	}
	real_state = state;
	expected = reference_run(program, model, &state, &at, REAL_LIMIT + 1, 0);
	if (handle)
		got = run_kernel(program, real, handle, start, &real_state, &real_at);
	else
		got = real_interpret(program, real, &real_state, &real_at, 0);
	if (model->forged)
		return true;
	counts.outcomes[expected]++;
	/* Work that is due at the limit comes first; then RUN goes on for one operation more. */
	if (expected == RUN_LIMIT && got == RUN_LIMIT && counts.leaves != leaves)
		return true;
	if (!handle && expected == RUN_FAULT && got == RUN_STACK)
		got = RUN_FAULT;
	if (expected != got || (is_known(expected) && at != real_at)) {
		fprintf(stderr, "%s at %u instead of %s at %u\n", outcome_name(got), real_at,
			outcome_name(expected), at);
		return false;
	}
	if (expected == RUN_DONE && state.reg[0] != real_state.reg[0]) {
		fprintf(stderr, "0x%llx instead of 0x%llx\n", real_state.reg[0], state.reg[0]);
		return false;
	}
	if (is_known(expected) && !same_state(program, at, &state, &real_state))
		return false;
	real->calls = model->calls;
	difference = world_difference(model, real);
	if (difference)
		fprintf(stderr, "%s differ\n", difference);
	return !difference;
}

static void print_program(const struct bpf_insn *insns, u32 count)
{
	char text[96];
	u32 at;

	for (at = 0; at < count;) {
		u32 slots = cosy_disasm(insns, count, at, text, sizeof(text));

		fprintf(stderr, "%4u: %s\n", at, text);
		at += slots;
	}
}

static bool run_one(const u8 *bytes, size_t size)
{
	struct bpf_insn insns[GENERATE_MAX];
	struct differential setting;
	struct cosy_validated program;
	struct world model, real;
	u32 count = real_program(bytes, size, &setting, insns), handle = 0;
	bool fine;

	if (!count)
		return true;
	must(!cosy_validate(insns, count, &program, NULL), "validate");
	if (device >= 0)
		handle = load(insns, count);
	real_worlds(&setting, &model, &real);
	fine = run_both(&setting, &program, handle, &model, &real);
	world_deinit(&model);
	if (handle)
		unload(handle);
	cosy_validated_deinit(&program);
	if (!fine)
		print_program(insns, count);
	counts.programs++;
	return fine;
}

int main(int argc, char **argv)
{
	const char *seconds = getenv("COSY_FUZZ_SECONDS");
	time_t end = seconds && *seconds ? time(NULL) + atol(seconds) : 0;
	u64 programs = scale_steps(argc > 2 ? strtoul(argv[2], NULL, 0) : 10000);
	u64 seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
	u64 index, noise;
	u8 bytes[1024];
	u32 i;

	if (argc > 1 && !strcmp(argv[1], "kernel")) {
		open_device();
		start_alarms();
	}
	real_map(device);
	printf("seed %llu\n", (unsigned long long)seed);
	for (index = 0; end ? time(NULL) < end : index < programs; index++) {
		noise = world_mix(world_mix(seed, 1), index);
		for (i = 0; i < sizeof(bytes); i++)
			bytes[i] = (noise = world_mix(noise, i)) >> 32;
		if (run_one(bytes, sizeof(bytes)))
			continue;
		fprintf(stderr, "program %llu of seed %llu\n", (unsigned long long)index,
			(unsigned long long)seed);
		return 1;
	}
	printf("%llu programs, %llu leaves, %llu handed over\n",
	       (unsigned long long)counts.programs, (unsigned long long)counts.leaves,
	       (unsigned long long)counts.handed_over);
	for (i = 0; i < RUN_LEFT; i++) {
		printf("%s %llu\n", outcome_name(i), (unsigned long long)counts.outcomes[i]);
		/* An outcome that no program had proves nothing. */
		if (!counts.outcomes[i] && counts.programs > 2000)
			return 1;
	}
	return 0;
}
