/* SPDX-License-Identifier: MIT */
/*
 * Checks that the module cannot be unloaded while a process has a context, and that the program
 * there goes on.  When it is unloaded or not allowed, a program runs as its native twin with the
 * same result.  The test loads the module again at the end.
 */
#include "move.h"
#include "raw.h"

#define MODULE "/vm/cosy.ko"

static long region(void)
{
	long sum = 0;

	COSY_START;
	for (int i = 0; i < 1000; i++)
		sum += i * (getppid() >= 0);
	COSY_END;
	return sum;
}

/* Runs the program itself as nobody, by argv, who may use the device, or not. */
static void as_nobody(void *arg)
{
	bool may_use = arg != NULL;

	become_nobody(may_use);
	execl("/proc/self/exe", "unload", may_use ? "kernel" : "native", (char *)NULL);
	MUST(!"exec");
}

static int run_once(const char *where)
{
	struct cosy_stats before = counts();
	bool in_kernel = !strcmp(where, "kernel");

	setenv("CHECK_EXPECT", where, 1);
	CHECK(region() == 499500, "%s: wrong result", where);
	CHECK_KERNEL(before, 1, 1000);
	if (!in_kernel) {
		CHECK(!counts().runs, "%s: it ran in the kernel", where);
		CHECK(open("/dev/cosy", O_RDWR) < 0 && (errno == EACCES || errno == ENOENT),
		      "%s: /dev/cosy opens", where);
	}
	return check_end();
}

static void load(void)
{
	int fd = open(MODULE, O_RDONLY);
	struct stat st;

	MUST(fd >= 0);
	MUST(!syscall(SYS_finit_module, fd, "", 0));
	close(fd);
	/* Do what the udev rule does. */
	for (int i = 0; i < 100 && stat("/dev/cosy", &st); i++)
		sleep_ms(10);
}

static int unload(void)
{
	return syscall(SYS_delete_module, "cosy", O_NONBLOCK) ? -errno : 0;
}

/* Tries to unload while a child is in its region. */
static void under_a_region(void)
{
	volatile long *shared = shared_memory(4096); /* [0] stop, [1] turns */
	int status;
	long seen;
	pid_t pid;

	pid = child_start();
	if (!pid) {
		struct cosy_stats before = counts();

		COSY_START;
		while (!shared[0])
			if (getppid() > 0)
				shared[1]++;
		COSY_END;
		CHECK_KERNEL(before, 1, shared[1]);
		CHECK(region() == 499500, "wrong result");
		_exit(check_end());
	}
	WAIT_FOR(pid, shared[1]);
	for (int i = 0; i < 20; i++) {
		if (kernel_expected())
			CHECK(unload() == -EAGAIN, "unloaded under a region");
		seen = shared[1];
		WAIT_FOR(pid, shared[1] > seen);
	}
	shared[0] = 1;
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
}

/* Lends a message and ends. */
static void lender(void *to)
{
	char *memory = move_alloc(16);

	move_fill(memory, 16 * PAGE, 1);
	CHECK(cosy_loan(*(int *)to, memory, 16 * PAGE, 0) == (ssize_t)(16 * PAGE), "%s",
	      strerror(errno));
	CHECK(counts().loaned == 16, "%llu pages lent", (unsigned long long)counts().loaned);
	memset(memory, 1, 16 * PAGE);
}

/* Checks that a message under way in a pipe needs no code of the module; `fds` is the pipe. */
static void after_unloading(const int *fds)
{
	static char got[16 * PAGE];

	read_all(fds[0], got, sizeof(got));
	CHECK(move_differs(got, sizeof(got), 1) < 0, "what was lent is lost with the module");
}

/* Hands over more than can be compiled at once, and ends. */
static void hands_over(void *arg)
{
	static struct bpf_insn insns[COSY_MAX_INSNS];
	static struct raw_container c;
	int fd = raw_open();

	for (int i = 0; i < 3; i++) {
		struct cosy_load load = { .size = sizeof(load),
					  .compound = (uintptr_t)&c,
					  .flags = COSY_LOAD_SEEN | COSY_LOAD_ASK |
						   COSY_LOAD_BACKGROUND };
		long ret;

		for (size_t k = 0; k < COUNT(insns) - 1; k++)
			insns[k] = MOV(0, *(int *)arg * 3 + i);
		insns[COUNT(insns) - 1] = EXIT;
		raw_container(&c, insns, COUNT(insns));
		load.len = c.header.size;
		ret = raw_ioctl(fd, COSY_IOC_LOAD, &load);
		CHECK(ret == -EINPROGRESS, "%d is not taken: %ld", i, ret);
	}
	close(fd);
}

/* Unloads the module while its thread compiles, and others wait for it. */
static void while_compiling(void)
{
	int ret;

	for (int i = 0; i < 5; i++) {
		CHECK_CHILD(in_child(hands_over, &i));
		sleep_ms(i);
		ret = unload();
		CHECK(!ret, "unloading while the thread compiles: %s", strerror(-ret));
		load();
	}
}

int main(int argc, char **argv)
{
	struct stat st;
	int fd, ret, fds[2];

	if (argc > 1)
		return run_once(argv[1]);
	/* libcosy has the device open, since this program could arm a filter. */
	MUST(!close_range(3, ~0u, 0));
	if (geteuid())
		SKIP("only root can unload a module");
	if (access(MODULE, R_OK) || stat("/dev/cosy", &st))
		SKIP("not in a machine of vm.py with the module loaded");
	CHECK_CHILD(in_child(as_nobody, "may use"));
	CHECK_CHILD(in_child(as_nobody, NULL));

	fd = open("/dev/cosy", O_RDWR | O_CLOEXEC);
	MUST(fd >= 0);
	CHECK(unload() == -EAGAIN, "unloaded under an open context");
	close(fd);
	under_a_region();
	MUST(!pipe(fds));
	CHECK_CHILD(in_child(lender, &fds[1]));
	ret = unload();
	CHECK(!ret, "unloading with nobody there: %s", strerror(-ret));
	CHECK(region() == 499500, "wrong result without the module");
	CHECK_CHILD(in_child(as_nobody, NULL));
	after_unloading(fds);
	load();
	while_compiling();
	MUST(!chown("/dev/cosy", st.st_uid, st.st_gid) && !chmod("/dev/cosy", st.st_mode & 0777));
	CHECK_CHILD(in_child(as_nobody, "may use"));
	return check_end();
}
