// SPDX-License-Identifier: MIT
/*
 * built.c - makes a batch a compound of its own, by the builder.  Reads into the shared buffer
 * become views, and operations look at their bytes.
 */
#include <cosy/builder.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include "same.h"

static const struct {
	uint32_t number;
	const char *arguments;
} calls[STEP_CALLS] = {
#define STEP(call, arguments, weight) { SYS_##call, arguments },
#include "steps.def"
#define STEP(...)
#define OPERATION(name, arguments, weight) { COSY_OP_BASE + OPERATION_##name, arguments },
/* Numbers in the order of core/ops.def. */
#define OPERATION_view_load  24
#define OPERATION_view_store 25
#define OPERATION_readc	     26
#define OPERATION_seek_read  27
#define OPERATION_seek_write 28
#define OPERATION_read_file  29
#define OPERATION_scan_dir   30
#define OPERATION_lend	     31
#define OPERATION_count	     32
#define OPERATION_crc32c     33
#define OPERATION_scan_tree  35
#define OPERATION_write_file 36
#define OPERATION_epoll_read 42
#include "steps.def"
};

enum { OPERATION_view_read = 22, OPERATION_view_pread = 23 };

struct building {
	struct round *round;
	struct cosy_builder *b;
	int slot[SLOTS], result[STEPS], digest[STEPS];
	int scratch, scratch2, scratch3, again;
};

static void mix(struct building *building, int digest, int word)
{
	struct cosy_builder *b = building->b;

	cosy_arith(b, digest, cosy_ref(digest), COSY_XOR, cosy_ref(word));
	cosy_arith(b, digest, cosy_ref(digest), COSY_MUL, cosy_int((int64_t)MIX));
}

static void build_other(struct building *building, const struct step *step)
{
	struct batch *batch = building->round->batch;
	struct cosy_value word = cosy_ptr(&batch->word), size = cosy_int(sizeof(batch->word));
	struct cosy_builder *b = building->b;

	cosy_store_to(b, word, cosy_int(0), COSY_U32, cosy_int(step->arg[0]));
	cosy_write(b, building->scratch, cosy_int(batch->wires[1]), word, size);
	cosy_read(b, building->scratch, cosy_int(batch->wires[0]), word, size);
}

/* Does what region.c's tick does; a tick is shorter than a second. */
static void build_tick(struct building *building)
{
	struct timespec *time = (void *)(building->round->out_shared + STEPS * OUT);
	struct cosy_value at = cosy_ptr(time), clock = cosy_int(CLOCK_REALTIME_COARSE);
	struct cosy_builder *b = building->b;

	cosy_clock_gettime(b, COSY_NO_VAR, clock, at);
	cosy_load_from(b, building->scratch, at, cosy_int(8), COSY_64);
	cosy_do(b);
	cosy_clock_gettime(b, COSY_NO_VAR, clock, at);
	cosy_load_from(b, building->scratch2, at, cosy_int(8), COSY_64);
	cosy_do_while(b, cosy_ref(building->scratch), COSY_EQ, cosy_ref(building->scratch2));
}

static bool in_shared(const struct round *round, int64_t address)
{
	return address >= (int64_t)round->shared && address < (int64_t)round->shared + MEMORY;
}

/* Does what region.c's lend does. */
static void build_lend(struct building *building, const struct step *step, int result, int digest)
{
	struct batch *batch = building->round->batch;
	const int32_t *pair = batch->pair[step->arg[4]];
	struct cosy_value fd =
		step->slots & 1 ? cosy_ref(building->slot[step->arg[0]]) : cosy_int(step->arg[0]);
	struct cosy_value from = cosy_int(step->arg[1]), zero = cosy_int(0),
			  received = cosy_ptr(batch->received);
	struct cosy_value bytes = cosy_ref(result);
	struct cosy_builder *b = building->b;

	cosy_call(b, result, COSY_OP_BASE + OPERATION_view_pread, 4,
		  (struct cosy_value[]){ fd, from, cosy_int(step->arg[2]),
					 cosy_int(step->arg[3]) });
	cosy_if(b, bytes, COSY_GT, zero);
	cosy_call(b, result, COSY_OP_BASE + OPERATION_lend, 4,
		  (struct cosy_value[]){ cosy_int(pair[0]), from, bytes, cosy_int(step->arg[5]) });
	cosy_end(b);
	cosy_if(b, bytes, COSY_GT, zero);
	cosy_call(b, building->scratch, SYS_recvfrom, 6,
		  (struct cosy_value[]){ cosy_int(pair[1]), received, bytes, cosy_int(MSG_WAITALL),
					 zero, zero });
	mix(building, digest, building->scratch);
	cosy_crc32c(b, building->scratch, zero, received, bytes);
	mix(building, digest, building->scratch);
	cosy_end(b);
}

/* Does what region.c's poll_make does. */
static void build_poll(struct building *building, const struct step *step, int result, int digest)
{
	struct batch *batch = building->round->batch;
	struct cosy_value poll = cosy_int(batch->poll), event = cosy_ptr(&batch->events);
	struct cosy_value fd =
		step->slots & 1 ? cosy_ref(building->slot[step->arg[0]]) : cosy_int(step->arg[0]);
	struct cosy_value size = cosy_int(step->arg[5]);
	int done = building->scratch;
	struct cosy_builder *b = building->b;

	cosy_store_to(b, event, cosy_int(0), COSY_U32, cosy_int((uint32_t)step->arg[4]));
	cosy_store_to(b, event, cosy_int(4), COSY_U32, fd);
	cosy_store_to(b, event, cosy_int(8), COSY_U32, cosy_int(step->arg[4] >> 32));
	cosy_call(b, done, SYS_epoll_ctl, 4,
		  (struct cosy_value[]){ poll, cosy_int(EPOLL_CTL_ADD), fd, event });
	mix(building, digest, done);
	cosy_if(b, cosy_ref(done), COSY_EQ, cosy_int(-EEXIST));
	cosy_call(b, done, SYS_epoll_ctl, 4,
		  (struct cosy_value[]){ poll, cosy_int(EPOLL_CTL_MOD), fd, event });
	mix(building, digest, done);
	cosy_end(b);
	for (uint32_t i = 4; i < 8; i++) {
		cosy_write(b, done, cosy_ref(building->slot[i]), cosy_ptr(batch->received), size);
		mix(building, digest, done);
	}
	cosy_call(b, result, COSY_OP_BASE + OPERATION_epoll_read, 5,
		  (struct cosy_value[]){ poll, cosy_int(step->arg[1]), cosy_int(step->arg[2]),
					 cosy_int(step->arg[3]), cosy_int(0) });
}

/* Does what region.c's walk_make does. */
static void build_walk(struct building *building, const struct step *step, int result, int digest)
{
	struct walk *walk = (struct walk *)step->arg[1];
	struct cosy_value tree = cosy_ptr(&walk->tree), stream = cosy_ptr(walk->stream),
			  size = cosy_int(step->arg[2]), zero = cosy_int(0);
	int told = building->scratch, call = building->scratch2, at = building->scratch3;
	struct cosy_builder *b = building->b;

	cosy_store_to(b, tree, cosy_int(offsetof(struct cosy_tree, dirfd)), COSY_U32,
		      step->slots & 1 ? cosy_ref(building->slot[step->arg[0]])
				      : cosy_int(step->arg[0]));
	cosy_assign(b, told, zero);
	cosy_assign(b, call, zero);
	cosy_do(b);
	cosy_arith(b, at, stream, COSY_ADD, cosy_ref(told));
	cosy_call(b, result, COSY_OP_BASE + OPERATION_scan_tree, 3,
		  (struct cosy_value[]){ tree, cosy_ref(at), size });
	cosy_if(b, cosy_ref(result), COSY_LE, zero);
	cosy_break(b);
	cosy_end(b);
	cosy_store_to(b, cosy_ptr(walk->length), cosy_ref(call), COSY_U32, cosy_ref(result));
	cosy_arith(b, told, cosy_ref(told), COSY_ADD, cosy_ref(result));
	cosy_arith(b, call, cosy_ref(call), COSY_ADD, cosy_int(sizeof(walk->length[0])));
	cosy_arith(b, at, cosy_ref(told), COSY_LE, cosy_int(WALK_STREAM - step->arg[2]));
	cosy_if(b, cosy_ref(call), COSY_EQ,
		cosy_int(step->arg[3] * (int64_t)sizeof(walk->length[0])));
	cosy_break(b);
	cosy_end(b);
	cosy_do_while(b, cosy_ref(at), COSY_NE, zero);
	cosy_if(b, cosy_ref(result), COSY_GT, zero);
	cosy_call(b, call, COSY_OP_BASE + OPERATION_scan_tree, 3,
		  (struct cosy_value[]){ tree, stream, zero });
	mix(building, digest, call);
	cosy_end(b);
}

static void build_call(struct building *building, const struct step *step, int result)
{
	struct cosy_value args[6];
	uint32_t number = calls[step->op].number;
	size_t count = strlen(calls[step->op].arguments);

	for (size_t i = 0; i < count; i++)
		args[i] = step->slots >> i & 1 ? cosy_ref(building->slot[step->arg[i]])
					       : cosy_int(step->arg[i]);
	/* Take three in four, always the same ones. */
	if (in_shared(building->round, step->arg[1]) && (step->arg[2] ^ step->arg[1] >> 12) % 4) {
		if (step->op == STEP_read)
			number = COSY_OP_BASE + OPERATION_view_read;
		if (step->op == STEP_pread64)
			number = COSY_OP_BASE + OPERATION_view_pread;
	}
	cosy_call(building->b, step->op == STEP_view_store ? COSY_NO_VAR : result, number,
		  (unsigned int)count, args);
}

static void build_step(struct building *building, uint32_t index)
{
	const struct step *step = &building->round->batch->step[index];
	int result = building->result[index], digest = building->digest[index];
	struct cosy_builder *b = building->b;

	cosy_for(b, building->again, cosy_int(0), COSY_LT, cosy_int(step->times), 1);
	if (step->op == STEP_other)
		build_other(building, step);
	else if (step->op == STEP_tick)
		build_tick(building);
	else if (step->op == STEP_lend)
		build_lend(building, step, result, digest);
	else if (step->op == STEP_epoll_read)
		build_poll(building, step, result, digest);
	else if (step->op == STEP_scan_tree)
		build_walk(building, step, result, digest);
	else
		build_call(building, step, result);
	mix(building, digest, result);
	if (step->look) {
		cosy_crc32c(b, building->scratch, cosy_int(0), cosy_ptr((void *)step->look),
			    cosy_int((int64_t)step->look_len));
		mix(building, digest, building->scratch);
	}
	if (step->into >= 0) {
		cosy_if(b, cosy_ref(result), COSY_GE, cosy_int(0));
		cosy_assign(b, building->slot[step->into], cosy_ref(result));
		cosy_end(b);
	}
	cosy_end(b);
}

void batch_built(struct round *round)
{
	struct building building = { .round = round, .b = cosy_builder_create("batch") };
	struct batch *batch = round->batch;
	struct cosy_loaded *loaded;
	struct cosy_error error;
	int64_t ctx[SLOTS + 2 * STEPS + 4] = { 0 };
	int result;

	MUST(building.b);
	for (uint32_t i = 0; i < SLOTS; i++) {
		building.slot[i] = cosy_var(building.b);
		ctx[building.slot[i]] = batch->slot[i];
	}
	for (uint32_t i = 0; i < batch->count; i++) {
		building.result[i] = cosy_var(building.b);
		building.digest[i] = cosy_var(building.b);
	}
	building.scratch = cosy_var(building.b);
	building.scratch2 = cosy_var(building.b);
	building.scratch3 = cosy_var(building.b);
	building.again = cosy_var(building.b);
	for (uint32_t i = 0; i < batch->count; i++)
		build_step(&building, i);
	result = cosy_build(round->cosy, building.b, &loaded, &error);
	CHECK(!result, "building: %d, %s", result, error.reason);
	if (result)
		return;
	result = cosy_run(round->cosy, loaded, ctx, sizeof(ctx), NULL, &error);
	CHECK(!result, "running: %d, %s", result, error.reason);
	for (uint32_t i = 0; i < SLOTS; i++)
		batch->slot[i] = ctx[building.slot[i]];
	for (uint32_t i = 0; i < batch->count; i++) {
		batch->step[i].result = ctx[building.result[i]];
		batch->step[i].digest = (uint64_t)ctx[building.digest[i]];
	}
	cosy_unload(loaded);
	cosy_builder_destroy(building.b);
}
