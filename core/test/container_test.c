// SPDX-License-Identifier: GPL-2.0 OR MIT
/* container_test.c - what is a container, and what is refused in which words. */
#include "assemble.h"

/* A container with everything, and room to spoil it. */
struct whole {
	struct cosy_compound header;
	struct bpf_insn insns[4];
	struct cosy_line lines[2];
	char strings[16];
} __attribute__((aligned(8)));

static struct whole whole(void)
{
	struct whole w = {
		.header =
			{
				.magic = COSY_MAGIC,
				.version = COSY_ABI_VERSION,
				.header_size = sizeof(struct cosy_compound),
				.size = sizeof(struct whole),
				.insn_off = offsetof(struct whole, insns),
				.insn_cnt = 4,
				.line_off = offsetof(struct whole, lines),
				.line_cnt = 2,
				.str_off = offsetof(struct whole, strings),
				.str_size = 16,
				.name = 8,
				.ctx_size = 64,
			},
		.insns = {MOV_K(0, 1), MOV_K(0, 2), MOV_K(0, 3), EXIT()},
		.lines = {{.insn = 1, .line = 10}, {.insn = 3, .line = 12, .column = 5}},
		.strings = "app.c",
	};

	strcpy(w.strings + 8, "copy");
	return w;
}

static void everything_is_found(void)
{
	struct whole w = whole();
	struct cosy_container container;

	MUST(!cosy_compound_open(&w, sizeof(w), &container, NULL));
	CHECK(container.insns == w.insns);
	CHECK_EQ(container.insn_cnt, 4);
	CHECK_EQ(container.line_cnt, 2);
	CHECK(!strcmp(container.strings + container.header->name, "copy"));
	CHECK(!cosy_line_find(&container, 0));
	CHECK_EQ(cosy_line_find(&container, 1)->line, 10);
	CHECK_EQ(cosy_line_find(&container, 2)->line, 10);
	CHECK_EQ(cosy_line_find(&container, 3)->line, 12);
}

static void parts_may_be_missing(void)
{
	struct bpf_insn insns[] = {MOV_K(0, 1), EXIT()};
	struct cosy_compound *compound = assemble(insns, 2, 0);
	struct cosy_container container;

	CHECK(!cosy_compound_open(compound, compound->size, &container, NULL));
	CHECK(!container.lines && !container.strings);
	CHECK(!cosy_line_find(&container, 0));
	free(compound);
}

static void parts_lie_in_any_order(void)
{
	struct {
		struct cosy_compound header;
		char strings[8];
		struct cosy_line lines[1];
		struct bpf_insn insns[1];
	} __attribute__((aligned(8))) turned = {
		.header = whole().header,
		.lines = {{.insn = 0, .line = 1}},
		.insns = {EXIT()},
	};
	struct cosy_container container;

	turned.header.size = sizeof(turned);
	turned.header.str_off = offsetof(typeof(turned), strings);
	turned.header.str_size = sizeof(turned.strings);
	turned.header.name = 0;
	turned.header.line_off = offsetof(typeof(turned), lines);
	turned.header.line_cnt = 1;
	turned.header.insn_off = offsetof(typeof(turned), insns);
	turned.header.insn_cnt = 1;
	CHECK(!cosy_compound_open(&turned, sizeof(turned), &container, NULL));
	CHECK(container.insns == turned.insns);
	/* One that is empty is nowhere. */
	turned.header.line_cnt = 0;
	turned.header.line_off = turned.header.str_off + 4;
	CHECK(!cosy_compound_open(&turned, sizeof(turned), &container, NULL));
	CHECK(!container.lines);
}

static void the_largest_is_fine(void)
{
	struct bpf_insn *insns = calloc(COSY_MAX_INSNS, sizeof(*insns));
	struct cosy_compound *compound, *large;
	struct cosy_container container;

	MUST(insns);
	compound = assemble(insns, COSY_MAX_INSNS, 0);
	large = realloc(compound, COSY_MAX_COMPOUND);
	MUST(large);
	large->size = COSY_MAX_COMPOUND;
	large->flags = COSY_ORDINARY_CALLS;
	CHECK(!cosy_compound_open(large, COSY_MAX_COMPOUND, &container, NULL));
	CHECK_EQ(container.insn_cnt, COSY_MAX_INSNS);
	free(large);
	free(insns);
}

static void refused(struct whole w, size_t len, int error, const char *words)
{
	struct cosy_reject why = {0};
	struct cosy_container container;

	CHECK_EQ(cosy_compound_open(&w, len, &container, &why), error);
	CHECK_EQ(why.insn, ~0u);
	if (!strstr(why.reason, words)) {
		fprintf(stderr, "\"%s\" does not say \"%s\"\n", why.reason, words);
		CHECK(strstr(why.reason, words));
	}
}

#define REFUSED(change, error, words)                                                              \
	do {                                                                                       \
		struct whole w = whole();                                                          \
                                                                                                   \
		change;                                                                            \
		refused(w, sizeof(w), error, words);                                               \
	} while (0)

static void damage_is_named(void)
{
	refused(whole(), sizeof(struct cosy_compound) - 1, -EINVAL, "too few");
	refused(whole(), sizeof(struct whole) - 8, -EINVAL, "the header says");
	REFUSED(w.header.magic++, -EINVAL, "magic");
	REFUSED(w.header.version++, -EINVAL, "version 2");
	REFUSED(w.header.header_size += 8, -EINVAL, "version");
	REFUSED(w.header.size -= 8, -EINVAL, "the header says");
	REFUSED(w.header.flags = 2, -EINVAL, "unknown flags");
	REFUSED(w.header.size = COSY_MAX_COMPOUND + 1, -E2BIG, "the limit is");
	REFUSED(w.header.insn_cnt = 0, -EINVAL, "no instructions");
	REFUSED(w.header.insn_cnt = COSY_MAX_INSNS + 1, -E2BIG, "the limit is 16384");
	REFUSED(w.header.insn_cnt = 1000, -EINVAL, "instructions lie outside");
	REFUSED(w.header.insn_cnt = 5, -EINVAL, "line table overlap the instructions");
	REFUSED(w.header.insn_off = 0, -EINVAL, "instructions lie outside");
	REFUSED(w.header.insn_off += 4, -EINVAL, "not 8-byte aligned");
	REFUSED(w.header.line_off = ~7u, -EINVAL, "line table lie outside");
	REFUSED(w.header.line_cnt = ~0u, -EINVAL, "line table lie outside");
	REFUSED(w.header.line_cnt = 3, -EINVAL, "strings overlap the line table");
	REFUSED(w.header.str_off = w.header.line_off, -EINVAL, "strings overlap");
	REFUSED(w.header.str_size = ~0u, -EINVAL, "strings lie outside");
	REFUSED(w.strings[15] = 'x', -EINVAL, "does not end in NUL");
	REFUSED(w.header.name = 16, -EINVAL, "name lies outside");
	REFUSED(w.lines[1].insn = 1, -EINVAL, "out of order");
	REFUSED(w.lines[1].insn = 4, -EINVAL, "out of order");
	REFUSED(w.lines[0].file = 16, -EINVAL, "its file lies outside");
	REFUSED((w.header.str_size = 0, w.header.name = 0), -EINVAL, "its file lies outside");
	REFUSED((w.header.str_size = 0, w.header.name = 1, w.header.line_cnt = 0), -EINVAL,
		"name lies outside");
}

int main(void)
{
	everything_is_found();
	parts_may_be_missing();
	parts_lie_in_any_order();
	the_largest_is_fine();
	damage_is_named();
	return check_result();
}
