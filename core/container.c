// SPDX-License-Identifier: GPL-2.0 OR MIT
/* container.c - from bytes to header, instructions, line table and strings. */
#include "reject.h"

struct part {
	const char *name;
	u64 start, end;
};

static int container_check_header(const struct cosy_compound *header, size_t len,
				  struct cosy_reject *why)
{
	if (len < sizeof(*header))
		return cosy_refuse(why, -EINVAL, COSY_REJECT_CONTAINER,
				   "%zu bytes are too few for a compound's header", len);
	if (header->magic != COSY_MAGIC)
		return cosy_refuse(why, -EINVAL, COSY_REJECT_CONTAINER,
				   "not a compound: wrong magic");
	if (header->version != COSY_ABI_VERSION || header->header_size != sizeof(*header))
		return cosy_refuse(why, -EINVAL, COSY_REJECT_CONTAINER,
				   "compound format version %u, this is version %u",
				   header->version, COSY_ABI_VERSION);
	if (header->size > COSY_MAX_COMPOUND)
		return cosy_refuse(why, -E2BIG, COSY_REJECT_CONTAINER,
				   "the compound has %u bytes, the limit is %u", header->size,
				   COSY_MAX_COMPOUND);
	if (header->size != len)
		return cosy_refuse(why, -EINVAL, COSY_REJECT_CONTAINER,
				   "the header says %u bytes, there are %zu", header->size, len);
	if (header->flags & ~COSY_ORDINARY_CALLS)
		return cosy_refuse(why, -EINVAL, COSY_REJECT_CONTAINER, "unknown flags 0x%x",
				   header->flags);
	if (!header->insn_cnt)
		return cosy_refuse(why, -EINVAL, COSY_REJECT_CONTAINER, "no instructions");
	if (header->insn_cnt > COSY_MAX_INSNS)
		return cosy_refuse(why, -E2BIG, COSY_REJECT_CONTAINER,
				   "%u instructions, the limit is %u", header->insn_cnt,
				   COSY_MAX_INSNS);
	return 0;
}

/* Checks that every part lies above the header, within the container and apart from the others. */
static int container_check_parts(const struct cosy_compound *header, struct cosy_reject *why)
{
	const struct part parts[] = {
		{"instructions", header->insn_off,
		 header->insn_off + (u64)header->insn_cnt * sizeof(struct bpf_insn)},
		{"line table", header->line_off,
		 header->line_off + (u64)header->line_cnt * sizeof(struct cosy_line)},
		{"strings", header->str_off, header->str_off + (u64)header->str_size},
	};
	u32 i, j;

	for (i = 0; i < 3; i++) {
		if (parts[i].start == parts[i].end)
			continue;
		if (parts[i].start % 8)
			return cosy_refuse(why, -EINVAL, COSY_REJECT_CONTAINER,
					   "the %s are not 8-byte aligned", parts[i].name);
		if (parts[i].start < sizeof(*header) || parts[i].end > header->size)
			return cosy_refuse(why, -EINVAL, COSY_REJECT_CONTAINER,
					   "the %s lie outside the compound", parts[i].name);
		for (j = 0; j < i; j++) {
			if (parts[j].start != parts[j].end && parts[i].start < parts[j].end &&
			    parts[j].start < parts[i].end)
				return cosy_refuse(why, -EINVAL, COSY_REJECT_CONTAINER,
						   "the %s overlap the %s", parts[i].name,
						   parts[j].name);
		}
	}
	return 0;
}

static int container_check_strings(const struct cosy_container *container, struct cosy_reject *why)
{
	if (container->str_size && container->strings[container->str_size - 1])
		return cosy_refuse(why, -EINVAL, COSY_REJECT_CONTAINER,
				   "the last string does not end in NUL");
	if (container->header->name && container->header->name >= container->str_size)
		return cosy_refuse(why, -EINVAL, COSY_REJECT_CONTAINER,
				   "the name lies outside the strings");
	return 0;
}

static int container_check_lines(const struct cosy_container *container, struct cosy_reject *why)
{
	u32 i;

	for (i = 0; i < container->line_cnt; i++) {
		const struct cosy_line *line = &container->lines[i];

		if (line->insn >= container->insn_cnt || (i && line->insn <= line[-1].insn))
			return cosy_refuse(why, -EINVAL, COSY_REJECT_CONTAINER,
					   "line table entry %u: instruction %u is out of order", i,
					   line->insn);
		if (line->file >= container->str_size)
			return cosy_refuse(why, -EINVAL, COSY_REJECT_CONTAINER,
					   "line table entry %u: its file lies outside the strings",
					   i);
		if (i % 4096 == 4095)
			core_yield();
	}
	return 0;
}

int cosy_compound_open(const void *data, size_t len, struct cosy_container *container,
		       struct cosy_reject *why)
{
	const struct cosy_compound *header = data;
	const char *bytes = data;
	int error;

	error = container_check_header(header, len, why);
	if (error)
		return error;
	error = container_check_parts(header, why);
	if (error)
		return error;

	memset(container, 0, sizeof(*container));
	container->header = header;
	container->insns = (const void *)(bytes + header->insn_off);
	container->insn_cnt = header->insn_cnt;
	if (header->line_cnt) {
		container->lines = (const void *)(bytes + header->line_off);
		container->line_cnt = header->line_cnt;
	}
	if (header->str_size) {
		container->strings = bytes + header->str_off;
		container->str_size = header->str_size;
	}

	error = container_check_strings(container, why);
	if (error)
		return error;
	return container_check_lines(container, why);
}

const struct cosy_line *cosy_line_find(const struct cosy_container *container, u32 insn)
{
	u32 low = 0, high = container->line_cnt;

	/* Finds the last entry that is not above the instruction. */
	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (container->lines[middle].insn <= insn)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &container->lines[low - 1] : NULL;
}
