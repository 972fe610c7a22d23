// SPDX-License-Identifier: MIT
/*
 * A plugin for QEMU's TCG that counts the instructions of user mode and of kernel mode
 * apart, between the marks that bench.c makes: calls of code at three fixed addresses.
 * Start and stop counting; write both counts as a line, and begin again.
 *
 * Debian packages no qemu-plugin.h, so what is used of it is declared here; it is
 * the same in all versions of the interface.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
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

static uint64_t count[2]; /* user, kernel */
static int counting;
static FILE *out;

static void on_block(unsigned int cpu, void *data)
{
	(void)cpu;
	if (counting)
		count[(uintptr_t)data & 1] += (uintptr_t)data >> 1;
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
		fprintf(out, "%" PRIu64 " %" PRIu64 "\n", count[0], count[1]);
		count[0] = count[1] = 0;
		break;
	}
}

static void on_translation(plugin_id id, struct qemu_plugin_tb *block)
{
	const size_t n = qemu_plugin_tb_n_insns(block);
	const uintptr_t kernel = qemu_plugin_tb_vaddr(block) >> 63;
	uint64_t at;

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, PLUGIN_NO_REGISTERS,
					     (void *)(n << 1 | kernel));
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);

		at = qemu_plugin_insn_vaddr(insn);
		if (at == MARK_START || at == MARK_STOP || at == MARK_REPORT)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, PLUGIN_NO_REGISTERS,
							       (void *)at);
	}
}

VISIBLE int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "w");
	if (!out)
		return 1;
	setvbuf(out, NULL, _IOLBF, 0);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
