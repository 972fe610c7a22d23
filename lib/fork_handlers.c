// SPDX-License-Identifier: MIT
/* fork_handlers.c - the list of what is done around a fork: see process/fork.h. */
#include "memory/heap.h"
#include "move/ranges.h"
#include "process/context.h"
#include "process/fork.h"
#include "process/thread.h"
#include "region/program.h"

/*
 * In a child the heap comes before the threads, whose slices go back to it, and both come before
 * the context, which may open the device.
 */
const struct libcosy_fork_handler libcosy_fork_handlers[] = {
	{libcosy_program_lock, libcosy_program_unlock, libcosy_program_child},
	{libcosy_context_lock, libcosy_context_unlock, libcosy_context_child},
	{libcosy_thread_lock, libcosy_thread_unlock, libcosy_thread_child},
	{libcosy_heap_lock, libcosy_heap_unlock, libcosy_heap_child},
	{libcosy_ranges_lock, libcosy_ranges_unlock, libcosy_ranges_child},
};
