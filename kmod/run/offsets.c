// SPDX-License-Identifier: GPL-2.0
/* offsets.c - offsets and constants of C for assembly (calling.h); becomes offsets.h. */
#include <linux/kbuild.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/unistd.h>
#include "compat/compat.h"
#include "run/activation.h"
#include "run/filter.h"
#include "run/limits.h"

int main(void);

int main(void)
{
	OFFSET(RUN_FUEL, cosy_activation, entry.fuel);
	OFFSET(RUN_REG, cosy_activation, entry.state.reg);
	OFFSET(RUN_FRAME, cosy_activation, entry.state.frame);
	OFFSET(RUN_BASE, cosy_activation, base);
	OFFSET(RUN_STACK_POINTER, cosy_activation, stack_pointer);
	OFFSET(RUN_TASK, cosy_activation, task);
	OFFSET(RUN_ATTENTION, cosy_activation, attention);
	OFFSET(RUN_FRAME_WORDS, cosy_activation, frame_words);
	OFFSET(RUN_CALLS, cosy_activation, calls);
	OFFSET(RUN_PID, cosy_activation, pid);
	OFFSET(RUN_HELD, cosy_activation, held);
	DEFINE(HELD_FAULTS, COSY_HELD_FAULTS);
	OFFSET(RUN_KNOWN, cosy_activation, descriptors.pair);
	DEFINE(KNOWN_NONE, COSY_KNOWN_NONE);
	OFFSET(RUN_DETAIL, cosy_activation, detail);
	OFFSET(RUN_CODE, cosy_activation, code);
	OFFSET(RUN_STATUS, cosy_activation, status);
	OFFSET(RUN_INSN, cosy_activation, insn);
	BLANK();
	DEFINE(SLOT_STATE, COSY_SLOT_STATE);
	DEFINE(SLOT_FUEL, COSY_SLOT_FUEL);
	DEFINE(SLOT_VALUE, COSY_SLOT_VALUE);
	DEFINE(SLOT_INSN, COSY_SLOT_INSN);
	DEFINE(SLOT_SIZE, COSY_SLOT_SIZE);
	DEFINE(SPILL_SIZE, COSY_FRAME_SIZE);
	DEFINE(FETCH_PLACE, COSY_FETCH_PLACE);
	DEFINE(FETCH_WORDS, COSY_FETCH_WORDS);
	BLANK();
	DEFINE(LEFT_CALL, COSY_LEFT_CALL);
	DEFINE(LEFT_FAULT, COSY_LEFT_FAULT);
	BLANK();
	OFFSET(TASK_FLAGS, task_struct, thread_info.flags);
	OFFSET(TASK_SYSCALL_WORK, task_struct, thread_info.syscall_work);
	OFFSET(TASK_NO_FAULTS, task_struct, pagefault_disabled);
	DEFINE(CALL_WORK, COSY_CALL_WORK);
	DEFINE(TRACED, COSY_TRACED);
#ifdef CONFIG_SECCOMP_FILTER
	OFFSET(TASK_FILTER, task_struct, seccomp.filter);
#endif
	DEFINE(FILTERED, SYSCALL_WORK_SECCOMP);
	DEFINE(NR_IOCTL, __NR_ioctl);
	DEFINE(OP_BASE, COSY_OP_BASE);
	BLANK();
	DEFINE(PT_SIZE, sizeof(struct pt_regs));
	OFFSET(PT_DI, pt_regs, di);
	OFFSET(PT_SI, pt_regs, si);
	OFFSET(PT_DX, pt_regs, dx);
	OFFSET(PT_R10, pt_regs, r10);
	OFFSET(PT_R8, pt_regs, r8);
	OFFSET(PT_R9, pt_regs, r9);
	return 0;
}
