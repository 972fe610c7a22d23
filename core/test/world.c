// SPDX-License-Identifier: GPL-2.0 OR MIT
/* world.c - a process as a compound sees it. */
#include "world.h"

u64 world_mix(u64 state, u64 value)
{
	state = (state ^ value) * 0x9e3779b97f4a7c15ull;
	return state ^ (state >> 29);
}

static void area_init(struct world *world, u32 which, u64 base, u32 size)
{
	u64 word;
	u32 i;

	world->area[which].base = base;
	world->area[which].size = size;
	world->area[which].bytes = malloc(size ? size : 1);
	if (!world->area[which].bytes)
		abort();
	for (i = 0; i < size; i += sizeof(word)) {
		word = world_mix(world->seed, (u64)which << 32 | i);
		memcpy(world->area[which].bytes + i, &word, sizeof(word));
	}
}

void world_init(struct world *world, u64 buffer_base, u32 buffer_size, u64 seed)
{
	memset(world, 0, sizeof(*world));
	world->seed = seed;
	area_init(world, WORLD_BUFFER, buffer_base, buffer_size);
	area_init(world, WORLD_HEAP, WORLD_HEAP_BASE, WORLD_HEAP_SIZE);
	area_init(world, WORLD_STACK, WORLD_STACK_BASE, WORLD_STACK_SIZE);
	world->ctx = buffer_size ? buffer_base + 64 : WORLD_HEAP_BASE + 64;
}

void world_deinit(struct world *world)
{
	u32 i;

	for (i = 0; i < WORLD_AREAS; i++)
		free(world->area[i].bytes);
}

u8 *world_bytes(struct world *world, u64 address, u32 size)
{
	u32 i;

	for (i = 0; i < WORLD_AREAS; i++) {
		u64 offset = address - world->area[i].base;

		if (world->area[i].size >= size && offset <= world->area[i].size - size)
			return world->area[i].bytes + offset;
	}
	return NULL;
}

/* Answers: small numbers, errors, addresses, noise; some calls fill memory. */
u64 world_call(struct world *world, u32 number, const u64 reg[6])
{
	const u32 args = strlen(cosy_call_find(number)->args);
	u64 noise;
	u8 *bytes;
	u32 i;

	if (world->answer)
		return world->answer(world, number, reg);
	world->log = world_mix(world->log, number);
	for (i = 0; i < args; i++)
		world->log = world_mix(world->log, reg[i < 5 ? i + 1 : 0]);
	world->calls++;
	noise = world_mix(world->log, world->seed);

	/* A register that is no argument may hold anything. */
	bytes = args >= 2 ? world_bytes(world, reg[2], 16) : NULL;
	if (bytes && noise & 0x100)
		memcpy(bytes, &noise, sizeof(noise));
	switch (noise >> 60) {
	case 0 ... 5:
		return noise & 0xff;
	case 6 ... 8:
		return -(noise & 0x7f);
	case 9 ... 10:
		return world->area[WORLD_BUFFER].base + (noise & 0x7ff);
	case 11 ... 12:
		return WORLD_HEAP_BASE + (noise & 0x7ff);
	default:
		return noise;
	}
}

const char *world_difference(const struct world *a, const struct world *b)
{
	static const char *const names[] = {"the shared buffer", "the heap", "the software stack"};
	u32 i;

	if (a->calls != b->calls || a->log != b->log)
		return "the calls made";
	for (i = 0; i < WORLD_AREAS; i++) {
		if (memcmp(a->area[i].bytes, b->area[i].bytes, a->area[i].size))
			return names[i];
	}
	return NULL;
}

static u64 frame_size(u32 words)
{
	return (sizeof(struct cosy_frame) + 8 * words + 15) / 16 * 16;
}

bool frame_push(struct world *world, struct cosy_state *state, u32 at, u32 caller_words,
		u32 callee_words)
{
	struct cosy_frame *frame;
	u32 i;

	if (state->sp > WORLD_STACK_SIZE || WORLD_STACK_SIZE - state->sp < frame_size(caller_words))
		return false;
	frame = (void *)(world->area[WORLD_STACK].bytes + state->sp);
	frame->call = at;
	frame->fp = state->fp;
	memcpy(frame->reg, &state->reg[6], sizeof(frame->reg));
	for (i = 1; i <= caller_words; i++)
		frame->spill[caller_words - i] = *frame_word(state, i);
	state->fp = state->sp;
	state->sp += frame_size(caller_words);
	for (i = 1; i <= callee_words; i++)
		*frame_word(state, i) = 0;
	return true;
}

s64 frame_pop(struct world *world, struct cosy_state *state, const struct cosy_validated *program)
{
	const struct cosy_frame *frame;
	const struct bpf_insn *call;
	u32 i, words, at;

	if (state->fp % 8 || state->fp > WORLD_STACK_SIZE - sizeof(*frame))
		return -1;
	frame = (void *)(world->area[WORLD_STACK].bytes + state->fp);
	/* A ring of frames would return forever. */
	if (frame->fp != ~0ull && frame->fp >= state->fp) {
		world->forged = true;
		return -1;
	}
	if (frame->call >= program->insn_cnt)
		return -1;
	at = frame->call;
	call = &program->insns[at];
	if (!(program->marks[at] & COSY_MARK_HEAD) || call->code != (BPF_JMP | BPF_CALL) ||
	    call->src_reg != BPF_PSEUDO_CALL)
		return -1;
	words = cosy_function_of(program, at)->frame_words;
	if (state->fp + frame_size(words) > WORLD_STACK_SIZE)
		return -1;
	memcpy(&state->reg[6], frame->reg, sizeof(frame->reg));
	for (i = 1; i <= words; i++)
		*frame_word(state, i) = frame->spill[words - i];
	state->sp = state->fp;
	state->fp = frame->fp;
	return at;
}
