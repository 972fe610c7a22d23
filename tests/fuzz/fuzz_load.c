// SPDX-License-Identifier: MIT
/*
 * fuzz_load.c - takes arbitrary bytes as a container: opening, validating, printing and sandboxing
 * never go wrong, and an accepted program passes the oracle.
 */
#include "generate.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* Programs that were rewritten, executed from their start to their end, and compared. */
unsigned long fuzz_executions;

/* Gives every other input a header that fits it, so that the parts after it are reached. */
static void repair(u8 *bytes, size_t size)
{
	struct cosy_compound *header = (void *)bytes;
	u32 room = size - sizeof(*header);

	header->magic = COSY_MAGIC;
	header->version = COSY_ABI_VERSION;
	header->header_size = sizeof(*header);
	header->size = size;
	header->flags = 0;
	if (header->name & 1) {
		header->insn_off = sizeof(*header);
		header->insn_cnt = room / 8;
		header->line_cnt = header->str_size = header->name = 0;
	}
}

static void print_all(const struct cosy_container *container)
{
	char text[40];
	u32 at;

	for (at = 0; at < container->insn_cnt;) {
		u32 slots =
			cosy_disasm(container->insns, container->insn_cnt, at, text, sizeof(text));
		const struct cosy_line *line = cosy_line_find(container, at);

		if (slots < 1 || slots > 2 || at + slots > container->insn_cnt || !text[0] ||
		    strlen(text) >= sizeof(text))
			abort();
		/* Check the promise of cosy_compound_open: a file name can be printed. */
		if (line && strlen(container->strings + line->file) >= container->str_size)
			abort();
		at += slots;
	}
}

static void run(const struct cosy_container *container, u8 choice)
{
	struct source source = {&choice, 1};
	struct cosy_validated program;
	struct differential setting;
	struct cosy_reject why = {0};

	if (cosy_validate(container->insns, container->insn_cnt, &program, &why)) {
		if (!why.reason[0] || (why.insn >= container->insn_cnt && why.insn != ~0u))
			abort();
		return;
	}
	generate_setting(&source, &setting);
	setting.leave_every = choice % 7;
	setting.max_grant = 1 + choice % 5;
	fuzz_executions++;
	if (!differential_run(&setting, &program)) {
		fprintf(stderr, "PROBLEM: %s\n", setting.problem);
		abort();
	}
	cosy_validated_deinit(&program);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct cosy_reject why = {0};
	struct cosy_container container;
	u8 *bytes;

	if (size < 1 || size > 4096)
		return 0;
	/* Take a copy of just this size, so that a read past it is seen. */
	size--;
	bytes = malloc(size ? size : 1);
	if (!bytes)
		abort();
	memcpy(bytes, data + 1, size);
	if (data[0] & 1 && size >= sizeof(struct cosy_compound))
		repair(bytes, size);
	if (!cosy_compound_open(bytes, size, &container, &why)) {
		print_all(&container);
		run(&container, data[0]);
	} else if (!why.reason[0]) {
		abort();
	}
	free(bytes);
	return 0;
}
