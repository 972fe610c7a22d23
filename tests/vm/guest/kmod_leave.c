/* SPDX-License-Identifier: MIT */
/*
 * Tests every way of leaving, what is saved then, and going on.
 * Arguments choose parts by name; none runs all.
 */
#include "kmod.h"
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>

static volatile sig_atomic_t under_way;

/* Changes the word; signals that come before the compound runs change nothing. */
static void on_first_signal(int sig)
{
	(void)sig;
	if (under_way)
		signals = 1;
}

static void test_signal_loop(void)
{
	/* Wait until the handler has changed the word, which it does once this runs. */
	const struct bpf_insn waits[] = {
		WIDE(8, (uintptr_t)&signals),
		MOV(6, 0),
		STOREK(BPF_DW, 10, -448, 12345),
		WIDE(7, (uintptr_t)&under_way),
		STOREK(BPF_W, 7, 0, 1),
		ADD(6, 1),
		LOAD(BPF_W, 1, 8, 0),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, -3, 0),
		LOAD(BPF_DW, 0, 10, -448),
		EXIT,
	};
	long ret;

	signals = under_way = 0;
	handle(SIGALRM, on_first_signal, SA_RESTART);
	raw_run_init(&the_run, raw_load(fd, waits, COUNT(waits)), NULL);
	alarm_us(30000, 30000);
	/* Other work than the signal may come first. */
	do
		ret = raw_run(fd, &the_run);
	while (!ret && the_run.run.status == COSY_LEFT_WORK && !signals);
	alarm_us(0, 0);
	handle(SIGALRM, on_signal, SA_RESTART);
	CHECK(!ret && the_run.run.status == COSY_LEFT_WORK && signals == 1,
	      "RUN %ld, status %u, %d signals", ret, the_run.run.status, (int)signals);
	CHECK(the_run.state.frame[0] == 12345 && the_run.state.reg[8] == (uintptr_t)&signals,
	      "saved state");
	ret = raw_run_to_end(fd, &the_run);
	CHECK(!ret && the_run.run.status == COSY_DONE && the_run.run.ret == 12345,
	      "RUN %ld, status %u", ret, the_run.run.status);
	/* The handler of a signal to itself runs before the next instruction. */
	{
		const struct bpf_insn raises[] = {
			CALL(SYS_getpid),
			MOVR(1, 0),
			MOV(2, SIGALRM),
			CALL(SYS_kill),
			WIDE(8, (uintptr_t)&signals),
			LOAD(BPF_W, 0, 8, 0),
			EXIT,
		};

		signals = 0;
		raw_run_init(&the_run, raw_load(fd, raises, COUNT(raises)), NULL);
		CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_LEFT_WORK &&
			      the_run.run.resume == 5,
		      "status %u at %u", the_run.run.status, the_run.run.resume);
		ret = raw_run_to_end(fd, &the_run);
		CHECK(!ret && the_run.run.status == COSY_DONE && the_run.run.ret == 1, "saw %lld",
		      (long long)the_run.run.ret);
	}
}

static volatile uint32_t *restarts;

static void on_restart(int sig)
{
	(void)sig;
	++*restarts;
}

static void test_restart(void)
{
	struct timespec nap = { 0, 200000000 };
	const struct bpf_insn naps[] = {
		WIDE(1, (uintptr_t)&nap),
		MOV(2, 0),
		CALL(SYS_nanosleep),
		EXIT,
	};
	char byte = 0;
	int pipes[2];
	long ret;

	restarts = shared_memory(sizeof(*restarts));
	MUST(!pipe(pipes));
	const struct bpf_insn reads[] = {
		MOV(1, pipes[0]), WIDE(2, (uintptr_t)&byte), MOV(3, 1), CALL(SYS_read), EXIT,
	};

	/* Without SA_RESTART the read itself ends with EINTR. */
	signals = 0;
	handle(SIGALRM, on_signal, 0);
	raw_run_init(&the_run, raw_load(fd, reads, COUNT(reads)), NULL);
	alarm_us(20000, 20000);
	/* A signal that comes before the read waits is work like any other. */
	do
		ret = raw_run(fd, &the_run);
	while (!ret && the_run.run.status == COSY_LEFT_WORK);
	alarm_us(0, 0);
	CHECK(ret == -EINTR && the_run.run.status == COSY_LEFT_CALL && the_run.run.resume == 5 &&
		      signals,
	      "RUN %ld, status %u at %u", ret, the_run.run.status, the_run.run.resume);
	CHECK(the_run.state.reg[1] == (uint64_t)pipes[0] && the_run.state.reg[3] == 1,
	      "arguments at the call");

	/* With SA_RESTART the kernel restarts RUN, which goes on at the read. */
	*restarts = 0;
	handle(SIGALRM, on_restart, SA_RESTART);
	if (!fork()) {
		while (*restarts < 2)
			sleep_ms(1);
		_exit(write(pipes[1], "x", 1) != 1);
	}
	raw_run_init(&the_run, the_run.run.handle, NULL);
	alarm_us(20000, 10000);
	ret = raw_run_to_end(fd, &the_run);
	alarm_us(0, 0);
	CHECK(!ret && the_run.run.status == COSY_DONE && the_run.run.ret == 1 && byte == 'x',
	      "RUN %ld, status %u, result %lld", ret, the_run.run.status,
	      (long long)the_run.run.ret);
	wait(NULL);

	/* After a signal that is ignored restart_syscall ends the sleep, and RUN has its result. */
	signals = 0;
	raw_run_init(&the_run, raw_load(fd, naps, COUNT(naps)), NULL);
	if (!fork()) {
		sleep_ms(50);
		kill(getppid(), SIGSTOP);
		kill(getppid(), SIGCONT);
		_exit(0);
	}
	double start = now_ms();

	ret = raw_run(fd, &the_run);
	CHECK(!ret, "RUN %ld", ret);
	CHECK(now_ms() - start > 190, "slept only %.0f ms", now_ms() - start);
	CHECK(the_run.run.status == COSY_LEFT_CALL || the_run.run.status == COSY_DONE, "status %u",
	      the_run.run.status);
	wait(NULL);
	close(pipes[0]);
	close(pipes[1]);
}

static void endless_child(void *unused)
{
	static const struct bpf_insn endless[] = { JUMP(-1) };

	(void)unused;
	fd = raw_open();
	raw_run_init(&the_run, raw_load(fd, endless, COUNT(endless)), NULL);
	for (;;)
		raw_run(fd, &the_run);
}

static void test_kill(void)
{
	double start;
	int status;
	pid_t pid = fork();

	if (!pid)
		endless_child(NULL);
	sleep_ms(100);
	start = now_ms();
	kill(pid, SIGKILL);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %#x", status);
	printf("died after %.1f ms\n", now_ms() - start);
}

static void seccomp_child(void *unused)
{
	const struct bpf_insn locks[] = {
		MOV(1, PR_SET_NO_NEW_PRIVS),
		MOV(2, 1),
		CALL(SYS_prctl),
		MOV(1, PR_SET_SECCOMP),
		MOV(2, SECCOMP_MODE_STRICT),
		CALL(SYS_prctl),
		MOVR(6, 0),
		CALL(SYS_getpid),
		EXIT,
	};

	(void)unused;
	fd = raw_open();
	raw_run_init(&the_run, raw_load(fd, locks, COUNT(locks)), NULL);
	raw_run(fd, &the_run);
	/* In strict mode read, write, exit and sigreturn are all that is left. */
	if (the_run.run.status == COSY_LEFT_TRACED && the_run.run.resume == 8 &&
	    the_run.state.reg[6] == 0)
		syscall(SYS_exit, 42);
	syscall(SYS_exit, 43);
}

static void test_seccomp(void)
{
	int status = in_child(seccomp_child, NULL);

	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42, "status %#x", status);
}

static void test_nested(void)
{
	static struct raw_run inner;
	static const struct bpf_insn good[] = { MOV(0, 0), EXIT };
	int other = raw_open();

	raw_run_init(&inner, raw_load(fd, good, COUNT(good)), NULL);
	RESULT(-ELOOP, MOV(1, fd), WIDE(2, COSY_IOC_RUN), WIDE(3, (uintptr_t)&inner.run),
	       CALL(SYS_ioctl), EXIT);
	raw_run_init(&inner, raw_load(other, good, COUNT(good)), NULL);
	RESULT(-ELOOP, MOV(1, other), WIDE(2, COSY_IOC_RUN), WIDE(3, (uintptr_t)&inner.run),
	       CALL(SYS_ioctl), EXIT);
	/* The other may run afterwards. */
	CHECK(!raw_run(other, &inner) && inner.run.status == COSY_DONE, "RUN");
	close(other);
}

/* Runs a compound that takes away what it runs on. */
static void test_own_ground(void)
{
	int other = raw_open();
	char *buffer = raw_buffer(other, 65536);
	struct cosy_free free = { .size = sizeof(free) };
	struct raw_run *r = &the_run;
	const struct bpf_insn closes[] = { MOV(1, other), CALL(SYS_close), MOVR(6, 0),
					   CALL(SYS_getpid), EXIT };
	const struct bpf_insn frees[] = {
		MOV(1, other),
		WIDE(2, COSY_IOC_FREE),
		WIDE(3, (uintptr_t)&free),
		CALL(SYS_ioctl),
		MOVR(6, 0),
		CALL(SYS_getpid),
		EXIT,
	};
	const struct bpf_insn unmaps[] = {
		WIDE(8, (uintptr_t)buffer), STOREK(BPF_DW, 8, 0, 5), MOVR(1, 8), WIDE(2, 65536),
		CALL(SYS_munmap),	    LOAD(BPF_DW, 0, 8, 0),   EXIT,
	};
	uint32_t closing = raw_load(other, closes, COUNT(closes)),
		 unmapping = raw_load(other, unmaps, COUNT(unmaps));
	uint32_t plain;
	long ret;

	free.handle = raw_load(other, frees, COUNT(frees));
	raw_run_init(r, free.handle, NULL);
	CHECK(!raw_run(other, r) && r->run.status == COSY_DONE && r->run.ret == getpid(),
	      "frees itself: %u", r->run.status);
	CHECK(raw_run(other, r) == -ENOENT, "it is gone");

	/* Protection that programs do not see keeps them from running. */
	CHECK(!mprotect(buffer, 65536, PROT_READ), "mprotect");
	raw_run_init(r, unmapping, NULL);
	CHECK(!raw_run(other, r) && r->run.status == COSY_LEFT_BUFFER && !r->run.resume,
	      "read-only: %u", r->run.status);
	CHECK(!mprotect(buffer, 65536, PROT_READ | PROT_WRITE), "mprotect");

	raw_run_init(r, unmapping, NULL);
	CHECK(!raw_run(other, r) && r->run.status == COSY_LEFT_BUFFER && r->run.resume == 8,
	      "unmapped: %u at %u", r->run.status, r->run.resume);
	CHECK(r->state.reg[0] == 0 && r->state.reg[8] == (uintptr_t)buffer, "registers");
	raw_run_init(r, unmapping, NULL);
	CHECK(!raw_run(other, r) && r->run.status == COSY_LEFT_BUFFER && !r->run.resume,
	      "again: %u", r->run.status);
	/* A program loaded now does not know of the buffer: its address is no memory. */
	plain = raw_load(other, unmaps, COUNT(unmaps));
	raw_run_init(r, plain, NULL);
	CHECK(!raw_run(other, r) && r->run.status == COSY_LEFT_FAULT && r->run.resume == 3,
	      "loaded later: %u", r->run.status);

	raw_run_init(r, closing, NULL);
	/* The program was compiled for the buffer that is gone. */
	CHECK(!raw_run(other, r) && r->run.status == COSY_LEFT_BUFFER, "closing: %u",
	      r->run.status);
	raw_run_init(r, raw_load(other, closes, COUNT(closes)), NULL);
	ret = raw_run_to_end(other, r);
	/* It may leave for other work after the close, and cannot be run from there on. */
	CHECK((!ret && r->run.status == COSY_DONE && r->run.ret == getpid()) || ret == -EBADF,
	      "closes itself: %ld, %u", ret, r->run.status);
	CHECK(close(other) && errno == EBADF, "it is closed");
}

static void fork_child(void *unused)
{
	struct cosy_stats stats = { .size = sizeof(stats) };
	struct cosy_version version = { .size = sizeof(version) };

	(void)unused;
	CHECK(raw_run(fd, &the_run) == -EXDEV, "RUN in a child");
	CHECK(raw_ioctl(fd, COSY_IOC_STATS, &stats) == -EXDEV, "STATS in a child");
	CHECK(!raw_ioctl(fd, COSY_IOC_VERSION, &version), "VERSION in a child");
	CHECK(!memcmp(shared, "the parent's", 13), "the child's copy");
	strcpy(shared, "the child's");
	shared[BUFFER_SIZE - 1] = 'c';
	if (!fork()) {
		CHECK(!strcmp(shared, "the child's"), "the grandchild's copy");
		_exit(check_failures);
	}
	int status;

	wait(&status);
	_exit(check_failures || status);
}

static void test_fork(void)
{
	int status;

	strcpy(shared, "the parent's");
	shared[BUFFER_SIZE - 1] = 'p';
	status = in_child(fork_child, NULL);
	CHECK(!status, "status %#x", status);
	CHECK(!strcmp(shared, "the parent's") && shared[BUFFER_SIZE - 1] == 'p',
	      "the parent's buffer");
}

/*
 * Checks that nothing in what a leave saves looks like a kernel address.  Where a load has faulted,
 * its register may have the address's distance from the shared buffer.
 */
static void scan_state(const char *what)
{
	const uint64_t *words = (const uint64_t *)&the_run.state;

	for (size_t i = 0; i < sizeof(the_run.state) / 8; i++) {
		if (i == 11 && words[i] == ~0ull)
			continue; /* fp: none */
		CHECK(words[i] >> 47 == 0 || (words[i] + (uintptr_t)shared) >> 47 == 0,
		      "%s: word %zu is %#llx", what, i, (unsigned long long)words[i]);
	}
}

static void test_kernel_values(void)
{
	/*
	 * A frame as deep as can be, of which nothing was written, in a program of two functions.
	 */
	static const struct bpf_insn deep_trap[] = {
		CALL(SYS_getpid),	   CALL_LOCAL(1),	 EXIT,
		LOAD(BPF_DW, 6, 10, -448), CALL_OP(RAW_OP_trap), EXIT,
	};
	/* Stores to the buffer, then leaves in every way. */
	const struct bpf_insn store_trap[] = {
		WIDE(8, (uintptr_t)shared),
		STORE(BPF_DW, 8, 0, 8),
		STOREK(BPF_W, 8, 8, 7),
		LOAD(BPF_DW, 7, 8, 0),
		ATOMIC(BPF_DW, 8, 0, 7, BPF_ADD | BPF_FETCH),
		CALL_OP(RAW_OP_trap),
		EXIT,
	};
	const struct bpf_insn strings[] = {
		WIDE(1, (uintptr_t)shared),
		CALL_OP(RAW_OP_strlen),
		CALL_OP(RAW_OP_trap),
		EXIT,
	};

	memset(&the_run.state, 0xff, sizeof(the_run.state));
	CHECK(once(deep_trap, COUNT(deep_trap), NULL) == COSY_LEFT_TRAP, "status %u",
	      the_run.run.status);
	scan_state("deep frame");
	memset(&the_run.state, 0xff, sizeof(the_run.state));
	CHECK(once(store_trap, COUNT(store_trap), NULL) == COSY_LEFT_TRAP, "status %u",
	      the_run.run.status);
	scan_state("stores");
	memset(&the_run.state, 0xff, sizeof(the_run.state));
	CHECK(once(strings, COUNT(strings), NULL) == COSY_LEFT_TRAP, "status %u",
	      the_run.run.status);
	scan_state("strings");
	LEAVES(COSY_LEFT_FAULT, 1, MOV(1, 0), LOAD(BPF_DW, 0, 1, 0), EXIT);
	scan_state("fault");
	/* All of a frame is saved, deeper than the last function's. */
	LEAVES(COSY_LEFT_TRAP, 1, STOREK(BPF_DW, 10, LOWEST, 12345), CALL_OP(RAW_OP_trap),
	       CALL_LOCAL(1), EXIT, EXIT);
	CHECK(the_run.state.frame[0] == 12345, "the lowest word is %#llx",
	      (unsigned long long)the_run.state.frame[0]);
}

/* Returns from a frame whose second half cannot be read any more. */
static void test_half_frame(void)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct bpf_insn insns[] = {
		MOV(6, 6),
		MOV(7, 70),
		MOV(8, 800),
		MOV(9, 9000),
		STOREK(BPF_DW, 10, -8, 10000),
		CALL_LOCAL(6),
		LOAD(BPF_DW, 0, 10, -8),
		ADDR(0, 6),
		ADDR(0, 7),
		ADDR(0, 8),
		ADDR(0, 9),
		EXIT,
		WIDE(1, (uintptr_t)pages + 4096),
		MOV(2, 4096),
		MOV(3, PROT_NONE),
		CALL(SYS_mprotect),
		MOV(6, 1),
		MOV(7, 1),
		MOV(8, 1),
		MOV(9, 1),
		EXIT,
	};
	uint32_t left;

	MUST(pages != MAP_FAILED);
	raw_run_init(&the_run, raw_load(fd, insns, COUNT(insns)), NULL);
	/* Call and frame pointer on the first page, registers on the second. */
	the_run.run.stack = (uintptr_t)pages + 4096 - 2 * sizeof(uint64_t);
	the_run.run.stack_size = 4096;
	memset(&the_run.state, 0xff, sizeof(the_run.state));
	CHECK(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_LEFT_FAULT,
	      "status %u at %d", the_run.run.status, (int)the_run.run.resume - 1);
	scan_state("half a frame");
	/* Registers that could not be read must not be made up. */
	for (int i = 6; i < 10; i++)
		CHECK(!the_run.state.reg[i], "r%d is %#llx", i,
		      (unsigned long long)the_run.state.reg[i]);
	left = the_run.run.resume;
	CHECK(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_LEFT_FAULT &&
		      the_run.run.resume == left,
	      "status %u at %d", the_run.run.status, (int)the_run.run.resume - 1);
	MUST(!mprotect(pages, 8192, PROT_READ | PROT_WRITE));
	CHECK(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_DONE &&
		      the_run.run.ret == 19876,
	      "status %u, result %lld", the_run.run.status, (long long)the_run.run.ret);
	munmap(pages, 8192);
}

/* Checks that a long operation that cannot stop in the middle goes on in user mode: no fault. */
static void test_native(void)
{
	const uint64_t size = 64ull << 30;
	char *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	const struct bpf_insn searches[] = {
		WIDE(1, (uintptr_t)at), MOV(2, 1), WIDE(3, size), CALL_OP(RAW_OP_memchr), EXIT,
	};
	struct cosy_stats before, after;
	int zero = open("/dev/zero", O_RDONLY);

	MUST(at != MAP_FAILED && zero >= 0);
	before = counts();
	raw_run_init(&the_run, raw_load(fd, searches, COUNT(searches)), NULL);
	signals = 0;
	handle(SIGALRM, on_signal, SA_RESTART);
	alarm_us(20000, 0);
	do
		CHECK(!raw_run(fd, &the_run), "RUN");
	while (the_run.run.status == COSY_LEFT_WORK);
	CHECK(the_run.run.status == COSY_LEFT_NATIVE && the_run.run.resume == 6 && signals == 1,
	      "status %u at %u, %d signals", the_run.run.status, the_run.run.resume, (int)signals);
	CHECK(the_run.state.reg[1] == (uintptr_t)at && the_run.state.reg[3] == size, "arguments");
	/* Bytes of such a file go to a user's memory only. */
	LEAVES(COSY_LEFT_NATIVE, 1, MOV(1, zero), CALL_OP(RAW_OP_readc), EXIT);
	LEAVES(COSY_LEFT_NATIVE, 3, MOV(1, 0), MOV(2, 0), MOV(3, 0), CALL_OP(RAW_OP_call_out),
	       EXIT);
	after = counts();
	CHECK(after.left[COSY_LEFT_NATIVE] - before.left[COSY_LEFT_NATIVE] == 3, "%llu counted",
	      (unsigned long long)(after.left[COSY_LEFT_NATIVE] - before.left[COSY_LEFT_NATIVE]));
	CHECK(after.left[COSY_LEFT_FAULT] == before.left[COSY_LEFT_FAULT], "counted as faults");
	munmap(at, size);
	close(zero);
}

/* Checks that a loop goes back to user mode now and then, though nothing is due there. */
static void test_stay(void)
{
	static const struct bpf_insn endless[] = { JUMP(-1) };

	raw_run_init(&the_run, raw_load(fd, endless, COUNT(endless)), NULL);
	signals = 0;
	handle(SIGALRM, on_signal, SA_RESTART);
	alarm_us(30000000, 0);
	CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_LEFT_WORK && !signals,
	      "status %u, %d signals", the_run.run.status, (int)signals);
	alarm_us(0, 0);
}

/*
 * Checks that a file that a compound closes is released before its next call: the kernel does that
 * as work on the way to user mode, where the descriptor is given to another file.
 */
static void test_release(void)
{
	int pipes[2];
	char byte;

	MUST(!pipe(pipes));
	const struct bpf_insn closes[] = {
		MOV(1, pipes[0]),	   MOV(2, pipes[1]), CALL(SYS_dup2), MOV(1, pipes[0]),
		WIDE(2, (uintptr_t)&byte), MOV(3, 1),	     CALL(SYS_read), EXIT,
	};

	raw_run_init(&the_run, raw_load(fd, closes, COUNT(closes)), NULL);
	signals = 0;
	handle(SIGALRM, on_signal, 0);
	alarm_us(20000000, 0);
	CHECK(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_DONE &&
		      the_run.run.ret == 0 && !signals,
	      "status %u, result %lld, %d signals", the_run.run.status, (long long)the_run.run.ret,
	      (int)signals);
	alarm_us(0, 0);
	handle(SIGALRM, on_signal, SA_RESTART);
	close(pipes[0]);
	close(pipes[1]);
}

/*
 * Has the compound move its thread to another processor.  The kernel tells user mode its number
 * (rseq) as work on the way there, which may be put off until the end of RUN, no longer.
 */
static void test_put_off(void)
{
	uint64_t all, mask;
	const struct bpf_insn moves[] = {
		MOV(1, 0), MOV(2, 8), WIDE(3, (uintptr_t)&mask), CALL(SYS_sched_setaffinity), EXIT,
	};
	uint32_t handle = raw_load(fd, moves, COUNT(moves));

	if (syscall(SYS_sched_getaffinity, 0, sizeof(all), &all) < 0 || (all & 3) != 3) {
		printf("work that is put off: not tried, one processor\n");
		return;
	}
	for (int i = 0; i < 20; i++) {
		mask = 1u << i % 2;
		raw_run_init(&the_run, handle, NULL);
		CHECK(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_DONE &&
			      !the_run.run.ret,
		      "status %u, result %lld", the_run.run.status, (long long)the_run.run.ret);
		CHECK(sched_getcpu() == i % 2, "turn %d: told of processor %d", i, sched_getcpu());
	}
	MUST(!syscall(SYS_sched_setaffinity, 0, sizeof(all), &all));
}

/* Checks that a signal interrupts an operation that can go on from its middle. */
static void test_operation(void)
{
	enum { LONG = 64 << 20, TRIES = 500 };
	char *at = mmap(NULL, LONG, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	const struct bpf_insn fills[] = {
		WIDE(1, (uintptr_t)at), MOV(2, 1), MOV(3, LONG), CALL_OP(RAW_OP_memset), JUMP(-6),
	};
	bool seen = false;

	MUST(at != MAP_FAILED);
	raw_run_init(&the_run, raw_load(fd, fills, COUNT(fills)), NULL);
	handle(SIGALRM, on_signal, SA_RESTART);
	alarm_us(1000, 1000);
	for (int i = 0; i < TRIES && !seen; i++) {
		MUST(!raw_run(fd, &the_run) && the_run.run.status == COSY_LEFT_WORK);
		seen = the_run.run.resume == 4 + 1 && the_run.state.reg[3] < LONG;
	}
	alarm_us(0, 0);
	CHECK(seen, "always between two operations");
	munmap(at, LONG);
}

int main(int argc, char **argv)
{
	static const struct part parts[] = {
		{ "signal_loop", .run = test_signal_loop },
		{ "restart", .run = test_restart },
		{ "kill", .run = test_kill },
		{ "seccomp", .run = test_seccomp },
		{ "nested", .run = test_nested },
		{ "own_ground", .run = test_own_ground },
		{ "fork", .run = test_fork },
		{ "kernel_values", .run = test_kernel_values },
		{ "half_frame", .run = test_half_frame },
		{ "native", .run = test_native },
		{ "stay", .run = test_stay },
		{ "release", .run = test_release },
		{ "put_off", .run = test_put_off },
		{ "operation", .run = test_operation },
	};

	return kmod_main(parts, COUNT(parts), argc, argv);
}
