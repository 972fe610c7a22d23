// SPDX-License-Identifier: GPL-2.0 OR MIT
/* ops_test.c - the table of calls is whole and says what the kernel relies on. */
#include <sys/syscall.h>

#include "core.h"
#include "check.h"

struct wrap {
	const char *libc, *call, *args;
};

static const struct wrap wraps[] = {
#define COSY_WRAP(libc, call, args) {#libc, #call, args},
#include "ops.def"
};

static const struct wrap wrap_ops[] = {
#define COSY_WRAP_OP(libc, op, args) {#libc, #op, args},
#include "ops.def"
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct cosy_call *find_name(u32 from, u32 to, const char *name)
{
	u32 number;

	for (number = from; number < to; number++) {
		const struct cosy_call *call = cosy_call_find(number);

		if (call && !strcmp(call->name, name))
			return call;
	}
	return NULL;
}

static void every_number_is_classified(void)
{
	u32 number;

	for (number = 0; number <= 466; number++) {
		const struct cosy_call *call = cosy_call_find(number);

		if (number >= 337 && number < 424) {
			CHECK(!call);
			continue;
		}
		MUST(call);
		CHECK_EQ(call->number, number);
		CHECK(!(call->flags & COSY_CALL_ALLOWED) == !!call->denied);
		CHECK(call->denied ? strlen(cosy_call_denied(call)) > 10 : strlen(call->args) <= 6);
		CHECK(strspn(call->args, "iudlprsP") == strlen(call->args));
		CHECK(!(call->flags & COSY_CALL_PATH) || strchr(call->args, 's'));
	}
	CHECK(!cosy_call_denied(cosy_call_find(SYS_read)));
	CHECK(!cosy_call_find(512)); /* x32 */
	CHECK(!cosy_call_find(0xffff));
	CHECK(!cosy_call_find(~0u));
}

static void numbers_are_this_machines(void)
{
	CHECK(find_name(0, 500, "read") == cosy_call_find(SYS_read));
	CHECK(find_name(0, 500, "openat") == cosy_call_find(SYS_openat));
	CHECK(find_name(0, 500, "statx") == cosy_call_find(SYS_statx));
	CHECK(find_name(0, 500, "close_range") == cosy_call_find(SYS_close_range));
}

static void what_needs_the_real_entry_is_denied(void)
{
	static const char *const denied[] = {
		"fork",	    "vfork",	  "clone",	"clone3",	"execve",
		"execveat", "exit",	  "exit_group", "rt_sigreturn", "restart_syscall",
		"ptrace",   "arch_prctl", "modify_ldt", "iopl",		"ioperm",
		"rseq",	    "uretprobe",
	};
	static const char *const allowed[] = {
		"prctl",    "seccomp", "io_uring_enter", "mmap",  "munmap",	 "mremap",
		"mprotect", "brk",     "rt_sigaction",	 "ppoll", "close_range", "setuid",
	};
	u32 i;

	for (i = 0; i < COUNT(denied); i++) {
		MUST(find_name(0, 500, denied[i]));
		CHECK(find_name(0, 500, denied[i])->denied);
	}
	for (i = 0; i < COUNT(allowed); i++) {
		MUST(find_name(0, 500, allowed[i]));
		CHECK(!find_name(0, 500, allowed[i])->denied);
	}
	CHECK(find_name(0, 500, "read")->flags & COSY_CALL_BLOCKS);
	CHECK(find_name(0, 500, "futex")->flags & COSY_CALL_BLOCKS);
	CHECK(!(find_name(0, 500, "getpid")->flags & COSY_CALL_BLOCKS));
}

/* Checks that a wrapper passes as many values as the call takes, constants included. */
static void check_wrap(const struct wrap *wrap, const struct cosy_call *call, u32 missing)
{
	if (!call || call->denied) {
		fprintf(stderr, "%s wraps %s\n", wrap->libc, wrap->call);
		CHECK(call && !call->denied);
		return;
	}
	CHECK(strspn(wrap->args, "iulprP0") == strlen(wrap->args));
	if (strlen(wrap->args) + missing != strlen(call->args)) {
		fprintf(stderr, "%s passes \"%s\", %s takes \"%s\"\n", wrap->libc, wrap->args,
			wrap->call, call->args);
		CHECK(strlen(wrap->args) + missing == strlen(call->args));
	}
}

static void wrappers_fit_their_calls(void)
{
	u32 i;

	for (i = 0; i < COUNT(wraps); i++) {
		/* They do not pass the high half of the position, which x86-64 ignores. */
		bool vector = !strncmp(wraps[i].call, "preadv", 7) ||
			      !strncmp(wraps[i].call, "pwritev", 8);
		u32 missing = vector && strlen(wraps[i].call) < 8 ? 1 : 0;

		check_wrap(&wraps[i], find_name(0, 500, wraps[i].call), missing);
	}
	for (i = 0; i < COUNT(wrap_ops); i++)
		check_wrap(&wrap_ops[i],
			   find_name(COSY_OP_BASE, COSY_OP_BASE + 100, wrap_ops[i].call), 0);
}

static void broadcasting_wrappers_stay_native(void)
{
	static const char *const broadcast[] = {
		"setuid",    "setgid",	    "seteuid",	 "setegid",   "setreuid",
		"setregid",  "setresuid",   "setresgid", "setgroups", "ppoll",
		"sigaction", "sigprocmask", "getcwd",	 "nanosleep",
	};
	u32 i, j;

	for (i = 0; i < COUNT(broadcast); i++) {
		for (j = 0; j < COUNT(wraps); j++)
			CHECK(strcmp(broadcast[i], wraps[j].libc));
	}
}

static void operations_have_their_numbers(void)
{
	CHECK_EQ(COSY_OP_ctx, 0x10000);
	CHECK_EQ(COSY_OP_trap, 0x10001);
	CHECK_EQ(COSY_OP_alloca, 0x10003);
	CHECK_EQ(COSY_OP_memmove, 0x10005);
	CHECK(cosy_call_find(COSY_OP_memmove)->flags & COSY_CALL_RESUMES);
	CHECK(cosy_call_find(COSY_OP_read_file)->flags & COSY_CALL_RESUMES);
	CHECK(cosy_call_find(COSY_OP_write_file)->flags & COSY_CALL_RESUMES);
	CHECK(!(cosy_call_find(COSY_OP_view_read)->flags & COSY_CALL_RESUMES));
	CHECK(!strcmp(cosy_call_find(COSY_OP_rawmemchr)->name, "rawmemchr"));
	CHECK(cosy_call_find(COSY_OP_look)->flags & COSY_CALL_RESUMES);
	CHECK(cosy_call_find(COSY_OP_epoll_read)->flags & COSY_CALL_RESUMES);
	CHECK_EQ(COSY_OP_divide_error, 0x1002b);
	CHECK_EQ(COSY_OP_format, 0x1002c);
	CHECK_EQ(COSY_OP_call_out, 0x1002d);
	CHECK_EQ(COSY_OP_strstr, 0x1002e);
	CHECK_EQ(COSY_OP_strcasestr, 0x10030);
	CHECK(cosy_call_find(COSY_OP_strstr)->flags & COSY_CALL_POINTS);
	CHECK(!(cosy_call_find(COSY_OP_strncasecmp)->flags & COSY_CALL_POINTS));
	CHECK(!cosy_call_find(COSY_OP_strcasestr + 1));
}

int main(void)
{
	every_number_is_classified();
	numbers_are_this_machines();
	what_needs_the_real_entry_is_denied();
	wrappers_fit_their_calls();
	broadcasting_wrappers_stay_native();
	operations_have_their_numbers();
	return check_result();
}
