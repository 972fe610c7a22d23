// SPDX-License-Identifier: MIT
/*
 * A plugin for QEMU's TCG that counts the instructions of user mode and of kernel mode
 * apart, between the marks that bench.c makes: calls of code at three fixed addresses.
 * Start and stop counting; write both counts as a line, and begin again.  With blocks=1
 * lines of the kernel's blocks come before that, each a block's address and its instructions.
 *
 * Debian packages no qemu-plugin.h, so what is used of it is declared here; it is
 * the same in all versions of the interface.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/marks.h"

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t plugin_id;
enum plugin_registers { PLUGIN_NO_REGISTERS };

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
					   void (*call)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *,
					  void (*call)(unsigned int, void *), enum plugin_registers,
					  void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *,
					    void (*call)(unsigned int, void *),
					    enum plugin_registers, void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);

#define VISIBLE __attribute__((visibility("default")))

VISIBLE int qemu_plugin_version = INTERFACE;

/* Blocks of one address and length: code that is translated again keeps its count. */
struct block {
	struct block *next;
	uint64_t address;
	uint64_t instructions;
	uint64_t executions; /* since the last report */
};

static struct block *blocks[1 << 16];
static int counting, tells_blocks;
static FILE *out;

static struct block *block_find(uint64_t address, uint64_t instructions)
{
	const size_t lists = sizeof(blocks) / sizeof(*blocks);
	struct block **list = &blocks[(address ^ address >> 16) % lists];
	struct block *b;

	for (b = *list; b; b = b->next)
		if (b->address == address && b->instructions == instructions)
			return b;
	b = calloc(1, sizeof(*b));
	if (!b)
		abort();
	b->address = address;
	b->instructions = instructions;
	b->next = *list;
	return *list = b;
}

static void on_block(unsigned int cpu, void *data)
{
	struct block *b = data;

	(void)cpu;
	b->executions += counting;
}

static void report(void)
{
	uint64_t count[2] = {0}; /* user, kernel */

	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		for (struct block *b = blocks[i]; b; b = b->next) {
			const uint64_t instructions = b->instructions * b->executions;
			const int kernel = b->address >> 63;

			if (instructions && kernel && tells_blocks)
				fprintf(out, "%" PRIx64 " %" PRIu64 "\n", b->address, instructions);
			count[kernel] += instructions;
			b->executions = 0;
		}
	}
	fprintf(out, "%" PRIu64 " %" PRIu64 " .\n", count[0], count[1]);
	fflush(out);
}

static void on_mark(unsigned int cpu, void *data)
{
	(void)cpu;
	switch ((uintptr_t)data) {
	case MARK_START:
		counting = 1;
		break;
	case MARK_STOP:
		counting = 0;
		break;
	case MARK_REPORT:
		report();
		break;
	}
}

static void on_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
	const size_t n = qemu_plugin_tb_n_insns(tb);
	uint64_t at;

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, PLUGIN_NO_REGISTERS,
					     block_find(qemu_plugin_tb_vaddr(tb), n));
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		at = qemu_plugin_insn_vaddr(insn);
		if (at == MARK_START || at == MARK_STOP || at == MARK_REPORT)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, PLUGIN_NO_REGISTERS,
							       (void *)at);
	}
}

VISIBLE int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "w");
		if (!strcmp(argv[i], "blocks=1"))
			tells_blocks = 1;
	}
	if (!out)
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
