/* SPDX-License-Identifier: MIT */
/*
 * Checks that LOAD refuses a call that a compound may not make, with its place and the reason in
 * words.
 */
#include "raw.h"

static const struct {
	int number;
	const char *name;
} denied[] = {
	{ SYS_fork, "fork" },
	{ SYS_vfork, "vfork" },
	{ SYS_clone, "clone" },
	{ SYS_clone3, "clone3" },
	{ SYS_execve, "execve" },
	{ SYS_execveat, "execveat" },
	{ SYS_exit, "exit" },
	{ SYS_exit_group, "exit_group" },
	{ SYS_rt_sigreturn, "rt_sigreturn" },
	{ SYS_restart_syscall, "restart_syscall" },
	{ SYS_ptrace, "ptrace" },
	{ SYS_arch_prctl, "arch_prctl" },
	{ SYS_rseq, "rseq" },
	{ SYS_modify_ldt, "modify_ldt" },
	{ SYS_iopl, "iopl" },
	{ SYS_ioperm, "ioperm" },
};

int main(void)
{
	int fd = raw_open(), allowed = 0, refused = 0;
	struct cosy_stats then = counts();
	struct cosy_load load;
	static struct raw_run r;
	long ret;

	for (unsigned i = 0; i < COUNT(denied); i++) {
		/* Put it after a jump over it: it counts even where it is never reached. */
		const struct bpf_insn insns[] = { MOV(0, 1), MOV(1, 0), JUMP(1),
						  CALL(denied[i].number), EXIT };

		ret = raw_try_load(fd, insns, COUNT(insns), &load);
		if (i == 0 || ret != -EINVAL)
			printf("%s: %s, instruction %u: %s\n", denied[i].name, strerror((int)-ret),
			       load.bad_insn, raw_log);
		CHECK(ret == -EINVAL && load.bad_insn == 3, "%s: LOAD is %ld, instruction %u",
		      denied[i].name, ret, load.bad_insn);
		CHECK(strstr(raw_log, denied[i].name), "%s: the reason does not name it: %s",
		      denied[i].name, raw_log);
		CHECK(strlen(raw_log) > strlen(denied[i].name) + 10, "%s: no reason in words: %s",
		      denied[i].name, raw_log);
	}
	/* Every other number is taken, or refused at its place with a reason. */
	for (int number = 0; number < 1024; number++) {
		const struct bpf_insn insns[] = { MOV(0, 0), CALL(number), EXIT };

		ret = raw_try_load(fd, insns, COUNT(insns), &load);
		if (!ret) {
			struct cosy_free free = { .size = sizeof(free), .handle = load.handle };

			MUST(!raw_ioctl(fd, COSY_IOC_FREE, &free));
			allowed++;
		} else {
			CHECK(ret == -EINVAL && load.bad_insn == 1 && raw_log[0],
			      "call %d: LOAD is %ld, instruction %u: %s", number, ret,
			      load.bad_insn, raw_log);
			refused++;
		}
	}
	printf("%d numbers allowed, %d refused\n", allowed, refused);
	CHECK(allowed > 250 && refused > 600, "%d allowed, %d refused", allowed, refused);
	for (int i = 0; i < 32; i++) {
		const struct bpf_insn x32[] = { CALL(0x40000000 | 1 << i), EXIT };
		const struct bpf_insn negative[] = { CALL(-1 - i), EXIT };

		CHECK(raw_try_load(fd, x32, 2, &load) == -EINVAL && load.bad_insn == 0,
		      "an x32 call was taken");
		CHECK(raw_try_load(fd, negative, 2, &load) == -EINVAL && load.bad_insn == 0,
		      "a negative number was taken");
	}
	/* A program without such a call still works. */
	const struct bpf_insn fine[] = { CALL(SYS_getpid), EXIT };

	raw_run_init(&r, raw_load(fd, fine, 2), NULL);
	ret = raw_run_to_end(fd, &r);
	CHECK(!ret && r.run.status == COSY_DONE && r.run.ret == getpid(), "getpid is %lld",
	      (long long)r.run.ret);
	struct cosy_stats now = counts();
	CHECK(now.calls - then.calls == 1 && now.rejects - then.rejects >= (uint64_t)refused,
	      "the counters say %llu calls, %llu refused",
	      (unsigned long long)(now.calls - then.calls),
	      (unsigned long long)(now.rejects - then.rejects));
	return check_end();
}
