// SPDX-License-Identifier: MIT
/* step_context.c - steps of a context: its buffer, its compounds, and the ioctls as they are. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../../core/core.h"
#include "execute.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static long device(int fd, unsigned long request, void *argument)
{
	long ret = syscall(SYS_ioctl, fd, request, argument);

	return ret == -1 ? -errno : ret;
}

static int context_of(uint32_t choice)
{
	return value_slots[SLOT_CONTEXT + choice % 4];
}

/* Puts a descriptor into a slot, and closes that which was there. */
static void slot_set(uint32_t slot, int fd)
{
	int old = value_slots[slot];

	if (fd < 0)
		return;
	value_slots[slot] = fd;
	if (old >= 0)
		close(old);
}

void step_open(struct actor *actor, const uint32_t *arg)
{
	(void)actor;
	slot_set(SLOT_CONTEXT + arg[0] % 4, open("/dev/cosy", O_RDWR | O_CLOEXEC));
}

void step_close(struct actor *actor, const uint32_t *arg)
{
	uint32_t slot = arg[0] % SLOT_CNT;

	(void)actor;
	close(value_slots[slot]);
	value_slots[slot] = -1;
}

void step_dup(struct actor *actor, const uint32_t *arg)
{
	(void)actor;
	slot_set(arg[1] % SLOT_CNT, fcntl(value_slots[arg[0] % SLOT_CNT], F_DUPFD_CLOEXEC, 3));
}

/* Takes a power of two mostly. */
static uint64_t buffer_length(uint32_t choice)
{
	switch (choice & 15) {
	case 0 ... 9:
		return 4096ull << (choice >> 4) % 7;
	case 10 ... 12:
		return 0;
	case 13:
		return 4096ull << (choice >> 4) % 20;
	default:
		return value_number(choice >> 4);
	}
}

/* Of the contexts in these slots, when they were set up last. */
static _Atomic uint64_t buffer_lengths[4];

void step_setbuf(struct actor *actor, const uint32_t *arg)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf),
				      .flags = arg[3] & 15 ? 0 : arg[3] >> 4,
				      .len = buffer_length(arg[1]),
				      .front = buffer_length(arg[2]) };

	(void)actor;
	if (!device(context_of(arg[0]), COSY_IOC_SETBUF, &setbuf))
		buffer_lengths[arg[0] % 4] = setbuf.len;
}

/* Maps the whole of the buffer mostly. */
void step_map(struct actor *actor, const uint32_t *arg)
{
	int rights = arg[3] & 7 ? PROT_READ | PROT_WRITE : (int)(arg[3] >> 3 & 7);
	int kind = (arg[3] >> 6 & 7) == 7 ? MAP_PRIVATE : MAP_SHARED;
	off_t offset = arg[1] & 15 ? 0 : (off_t)value_length(arg[1] >> 4);
	char *place = (char *)REGION_PLACE(REGION_BUFFER) + arg[0] % 4 * PART;
	size_t length = buffer_lengths[arg[0] % 4];

	(void)actor;
	if (mmap(place, length ? length : 4096, rights, kind | MAP_FIXED, context_of(arg[0]),
		 offset) != MAP_FAILED)
		return;
	mmap(place, value_length(arg[2]), rights, kind | MAP_FIXED, context_of(arg[0]), offset);
}

/* --- Compounds -------------------------------------------------------------------------------- */

struct container {
	struct cosy_compound header;
	struct bpf_insn insns[MAX_FRAGMENTS + 200];
};

static void container_make(struct container *c, struct builder *b)
{
	builder_end(b);
	memset(&c->header, 0, sizeof(c->header));
	c->header.magic = COSY_MAGIC;
	c->header.version = COSY_ABI_VERSION;
	c->header.header_size = sizeof(c->header);
	c->header.size = (uint32_t)(sizeof(c->header) + b->count * sizeof(b->insns[0]));
	c->header.insn_off = sizeof(c->header);
	c->header.insn_cnt = b->count;
	memcpy(c->insns, b->insns, b->count * sizeof(b->insns[0]));
}

/* Spoils one field of one instruction, or of the header. */
static void container_break(struct container *c, uint32_t what, uint32_t where, uint32_t how)
{
	struct bpf_insn *insn = &c->insns[where % c->header.insn_cnt];

	switch (what & 15) {
	case 0 ... 7:
		return;
	case 8:
		insn->code ^= (uint8_t)(1 << how % 8);
		break;
	case 9:
		((uint8_t *)insn)[1] = (uint8_t)how;
		break;
	case 10:
		insn->off = (int16_t)how;
		break;
	case 11 ... 12:
		insn->imm = (int32_t)value_number(how);
		break;
	case 13:
		c->header.max_steps = value_number(how) % 1000;
		c->header.max_kernel_ns = value_number(where);
		break;
	case 14:
		c->header.flags = how & 3;
		break;
	default:
		((uint32_t *)&c->header)[where % (sizeof(c->header) / 4)] =
			(uint32_t)value_number(how);
	}
}

/*
 * The instructions (+ 1) from which any compound of this process may go on.  All are taken
 * together, since a descriptor may be another context's by the time of a RUN.
 */
enum { MAX_RESUME = MAX_FRAGMENTS + 256 };
static _Atomic bool resumes[MAX_RESUME];

/* Notes those of a compound before it is loaded: another thread may run it at once. */
static void resumes_note(const struct container *c, uint32_t size)
{
	struct cosy_container container;
	struct cosy_validated program;

	if (cosy_compound_open(c, size, &container, NULL) ||
	    cosy_validate(container.insns, container.insn_cnt, &program, NULL))
		return;
	for (uint32_t i = 0; i < program.insn_cnt && i + 1 < MAX_RESUME; i++)
		if (program.marks[i] & COSY_MARK_RESUME)
			resumes[i + 1] = true;
	cosy_validated_deinit(&program);
}

static bool resumes_from(uint32_t resume)
{
	return !resume || (resume < MAX_RESUME && resumes[resume]);
}

void step_load(struct actor *actor, const uint32_t *arg)
{
	static _Thread_local struct container container;
	static _Thread_local char log[128];
	struct cosy_load load = { .size = sizeof(load),
				  .compound = (uintptr_t)&container,
				  .log = (uintptr_t)log,
				  .log_size = sizeof(log),
				  .flags = arg[2] & 7 ? 0 : arg[2] >> 3 & 1 };

	container_make(&container, &actor->builder);
	load.len = container.header.size;
	container_break(&container, arg[3], arg[4], arg[5]);
	resumes_note(&container, load.len);
	if (device(context_of(arg[0]), COSY_IOC_LOAD, &load))
		return;
	if (!load.handle)
		verdict_is(VERDICT_HANDLE);
	value_handles[arg[1] % HANDLES] = load.handle;
}

/* What RUN must not say, whatever it was given; `resume` is where it was to begin. */
static void run_judge(const struct cosy_run *run, uint32_t resume, long ret)
{
	if (ret >= 0 && !resumes_from(resume))
		verdict_is(VERDICT_RESUMED);
	if (ret <= -512 && ret > -600)
		verdict_is(VERDICT_RESTART);
	if (ret > 0 && run->status != COSY_LEFT_CALL)
		verdict_is(VERDICT_POSITIVE);
	if (ret)
		return;
	if (run->status > COSY_LEFT_FILTERED)
		verdict_is(VERDICT_STATUS);
	if (run->resume > COSY_MAX_INSNS)
		verdict_is(VERDICT_RESUME);
}

/* Writes anything into one place of the state that RUN goes on from. */
static void state_forge(struct cosy_run *run, uint32_t how)
{
	struct cosy_state *state = (struct cosy_state *)run->state;
	uint64_t value = value_number(how >> 8);

	switch (how & 15) {
	case 9:
		state->sp = value;
		break;
	case 10:
		state->fp = value;
		break;
	case 11:
		state->reg[how >> 4 & 7] = value;
		break;
	case 12:
		state->frame[how >> 4 & 15] = value;
		break;
	case 13:
		run->resume = (uint32_t)value;
		break;
	case 14:
		*(uint64_t *)(run->stack + (how >> 4 & 0xfff)) = value;
		break;
	case 15:
		state->steps = state->kernel_ns = value;
		break;
	}
}

/* Goes on as libcosy might: after the call or access that RUN left to it. */
static void run_go_on(struct cosy_run *run, long ret, uint32_t how)
{
	struct cosy_state *state = (struct cosy_state *)run->state;

	if (run->status == COSY_LEFT_CALL || run->status == COSY_LEFT_FAULT ||
	    run->status >= COSY_LEFT_NATIVE) {
		state->reg[0] = run->status == COSY_LEFT_CALL ? (uint64_t)ret : -14ull;
		run->resume++;
	}
	state_forge(run, how);
}

void step_run(struct actor *actor, const uint32_t *arg)
{
	struct cosy_run *run = &actor->run;
	uint32_t times = 1 + arg[4] % 6;
	bool goes_on = run->resume && arg[5] >> 31;
	long ret;

	/* Goes on from anywhere, with the state that is there. */
	if (!goes_on)
		run->resume = arg[3] >> 28 < 4 ? (uint32_t)value_number(arg[3] >> 11) : 0;
	run->size = arg[5] >> 30 & 1 ? sizeof(*run) : 72;
	run->handle = arg[1] & 0x80 ? (uint32_t)value_number(arg[1] >> 8)
				    : value_handles[arg[1] % HANDLES];
	run->ctx = value_pointer('p', arg[2]);
	run->state = STATE_PLACE(actor->thread);
	run->stack = STACK_PLACE(actor->thread);
	run->stack_size = arg[3] & 7 ? STACK_SIZE : value_number(arg[3] >> 3) % STACK_SIZE & ~15ull;
	if ((arg[3] & 0x700) == 0x700)
		run->stack = value_pointer('p', arg[3] >> 11) & ~15ull;
	run->interp_calls = arg[4] >> 16;
	do {
		uint32_t resume = run->resume;

		ret = device(context_of(arg[0]), COSY_IOC_RUN, run);
		run_judge(run, resume, ret);
		if (ret && run->status != COSY_LEFT_CALL)
			return;
		if (run->status == COSY_DONE)
			return;
		/* Its own stack is not ours to write where it is any pointer. */
		run_go_on(run, ret, run->stack == STACK_PLACE(actor->thread) ? arg[5] : 0);
	} while (--times && time_is_left());
}

/* --- Other ioctls ----------------------------------------------------------------------------- */

void step_free(struct actor *actor, const uint32_t *arg)
{
	struct cosy_free argument = { .size = sizeof(argument),
				      .handle = value_handles[arg[1] % HANDLES] };

	(void)actor;
	device(context_of(arg[0]), COSY_IOC_FREE, &argument);
}

void step_limits(struct actor *actor, const uint32_t *arg)
{
	struct cosy_limits limits = { .size = sizeof(limits),
				      .max_steps = arg[1] & 1 ? 0 : value_number(arg[1] >> 1),
				      .max_kernel_ns = arg[2] & 1 ? 0 : value_number(arg[2] >> 1) };

	(void)actor;
	device(context_of(arg[0]), COSY_IOC_LIMITS, &limits);
}

void step_stats(struct actor *actor, const uint32_t *arg)
{
	struct cosy_stats stats = { .size = sizeof(stats) };

	(void)actor;
	device(context_of(arg[0]), COSY_IOC_STATS, &stats);
}

void step_version(struct actor *actor, const uint32_t *arg)
{
	struct cosy_version version = { .size = sizeof(version) };

	(void)actor;
	device(context_of(arg[0]), COSY_IOC_VERSION, &version);
}

/* Makes any of the ioctls, with an argument of any size at any place. */
void step_ioctl(struct actor *actor, const uint32_t *arg)
{
	static const unsigned long requests[] = {
		COSY_IOC_VERSION, COSY_IOC_SETBUF, COSY_IOC_LOAD,	  COSY_IOC_RUN,
		COSY_IOC_LIMITS,  COSY_IOC_FREE,   COSY_IOC_STATS,	  COSY_IOC_ARENA,
		COSY_IOC_MOVE,	  COSY_IOC_PARCEL, 0x541b /* FIONREAD */, COSY_IOC_MOVING,
		COSY_IOC_PORT,	  COSY_IOC_RECALL,
	};
	uint64_t place = value_pointer(arg[2] & 0x10000000 ? 'P' : 'p', arg[2]);
	unsigned long request = requests[arg[1] % COUNT(requests)];
	uint32_t size = (uint32_t)value_number(arg[3]);

	(void)actor;
	if (arg[1] >> 28 == 3)
		request ^= 1ul << (arg[1] >> 8) % 32;
	if (place >= REGION_PLACE(REGION_PLAIN) + 0x3000 &&
	    place < REGION_PLACE(REGION_PLAIN) + PART - 4)
		memcpy((void *)place, &size, sizeof(size));
	device(arg[0] & 0x100 ? value_descriptor(arg[0] >> 9) : context_of(arg[0]), request,
	       (void *)place);
}

void step_read_device(struct actor *actor, const uint32_t *arg)
{
	(void)actor;
	if (syscall(SYS_read, context_of(arg[0]), value_pointer('p', arg[1]),
		    value_length(arg[2])) < 0)
		return;
}
