/* SPDX-License-Identifier: GPL-2.0 */
/* trace.h - tracepoints: events/cosy in tracefs. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM cosy

#if !defined(COSY_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define COSY_TRACE_H

#include <linux/tracepoint.h>
#include <linux/cosy.h>
#include "status.def"

/* Events are laid out as kernel code has them. */
/* clang-format off */

/* A LOAD: a handle, or the error and the instruction that it is about. */
TRACE_EVENT(cosy_load,
	TP_PROTO(const struct cosy_load *load, int error),
	TP_ARGS(load, error),
	TP_STRUCT__entry(
		__field(u32, handle)
		__field(u32, rewritten)
		__field(u32, jited)
		__field(u32, bad_insn)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->handle = load->handle;
		__entry->rewritten = load->rewritten;
		__entry->jited = load->jited;
		__entry->bad_insn = load->bad_insn;
		__entry->error = error;
	),
	TP_printk("handle=%u insns=%u bytes=%u error=%d bad_insn=%d", __entry->handle,
		  __entry->rewritten, __entry->jited, __entry->error, (int)__entry->bad_insn)
);

#undef COSY_TRACE_STATUS
#define COSY_TRACE_STATUS(status, counter, count) { COSY_##status, #status }

/* A RUN has ended or left. */
TRACE_EVENT(cosy_run,
	TP_PROTO(u32 handle, u32 status, u32 insn, u64 calls),
	TP_ARGS(handle, status, insn, calls),
	TP_STRUCT__entry(
		__field(u32, handle)
		__field(u32, status)
		__field(u32, insn)
		__field(u64, calls)
	),
	TP_fast_assign(
		__entry->handle = handle;
		__entry->status = status;
		__entry->insn = status == COSY_DONE ? ~0u : insn;
		__entry->calls = calls;
	),
	TP_printk("handle=%u status=%s insn=%d calls=%llu", __entry->handle,
		  __print_symbolic(__entry->status,
				   COSY_STATUSES(COSY_TRACE_STATUS)),
		  (int)__entry->insn, __entry->calls)
);

/* clang-format on */

#endif /* COSY_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
