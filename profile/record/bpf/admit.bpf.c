// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * admit.bpf.c - counts the confined copies of cosy-observe on this machine, also those in other PID
 * namespaces: see admit.h.
 */
#include <linux/types.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "members.h"
#include "admit.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define CAPABILITY_PERFMON 38
#define CAPABILITY_BPF	   39
#define NEEDED		   (1ULL << CAPABILITY_PERFMON | 1ULL << CAPABILITY_BPF)

/* Results: other copies of the caller's user, and the number of other users with copies. */
__u32 own_copies, other_users;
__u32 others[ADMIT_USERS]; /* their user ids + 1; 0: none */

/* True for a copy: no other program with these capabilities takes this name. */
static bool is_observer(const struct task_struct *task, const struct cred *cred)
{
	const char wanted[ADMIT_COMM] = ADMIT_NAME;
	char name[ADMIT_COMM] = "";
	__u64 capabilities = 0;

	bpf_core_read(&capabilities, sizeof(capabilities), &cred->cap_permitted);
	if ((capabilities & NEEDED) != NEEDED || bpf_core_read(name, sizeof(name), &task->comm))
		return false;
	for (int i = 0; i < ADMIT_COMM; i++)
		if (name[i] != wanted[i])
			return false;
	return true;
}

static void other_add(__u32 user)
{
	for (__u32 i = 0; i < ADMIT_USERS; i++) {
		if (others[i] == user + 1)
			return;
		if (!others[i]) {
			others[i] = user + 1;
			other_users++;
			return;
		}
	}
}

/*
 * Called for each task.  A task without files is exiting and observes no longer.  Tasks of other
 * user namespaces do not count, since their capabilities cannot load programs here.  So nobody can
 * take places under subordinate user ids.
 */
SEC("iter/task")
int admit_task(struct bpf_iter__task *context)
{
	struct task_struct *self = (void *)bpf_get_current_task(), *task = context->task;
	const struct cred *cred;
	__u32 user;

	if (!task || task->pid != task->tgid || !BPF_CORE_READ(task, files) ||
	    task->tgid == BPF_CORE_READ(self, tgid))
		return 0;
	cred = BPF_CORE_READ(task, real_cred);
	if (BPF_CORE_READ(cred, user_ns) != BPF_CORE_READ(self, real_cred, user_ns) ||
	    !is_observer(task, cred))
		return 0;
	user = BPF_CORE_READ(cred, uid.val);
	if (user == BPF_CORE_READ(self, real_cred, uid.val))
		own_copies++;
	else
		other_add(user);
	return 0;
}
