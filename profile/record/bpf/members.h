/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * members.h - members of the kernel's structures that the BPF programs read; libbpf looks up where
 * they are in this kernel.
 */
#ifndef COSY_PROFILE_MEMBERS_H
#define COSY_PROFILE_MEMBERS_H

#define KERNELS __attribute__((preserve_access_index))

typedef struct {
	__u32 val;
} kernel_id;

struct cred {
	kernel_id uid, gid, suid, sgid, euid, egid;
	struct {
		__u64 bits;
	} cap_permitted;
	struct user_namespace *user_ns;
} KERNELS;

struct mm_struct {
	unsigned long flags;
	unsigned long start_code, end_code;
	unsigned long saved_auxv[1];
} KERNELS;

/* Since Linux 6.18 a bitmap. */
typedef struct {
	unsigned long bits[1];
} mm_flags_t___bitmap;

struct mm_struct___bitmap {
	mm_flags_t___bitmap flags;
} KERNELS;

struct signal_struct {
	struct {
		int counter;
	} live;
} KERNELS;

struct task_struct {
	__u64 start_boottime;
	int pid, tgid;
	unsigned int flags;
	int exit_state;
	int on_cpu;
	char comm[16];
	struct files_struct *files;
	const struct cred *real_cred;
	struct mm_struct *mm;
	struct signal_struct *signal;
} KERNELS;

struct linux_binprm {
	const char *interp;
	unsigned int secureexec : 1;
} KERNELS;

struct pt_regs {
	unsigned long r10, r9, r8, bp, dx, si, di, ip, sp;
} KERNELS;

struct bpf_iter__task {
	void *meta;
	struct task_struct *task;
} KERNELS;

#endif /* COSY_PROFILE_MEMBERS_H */
