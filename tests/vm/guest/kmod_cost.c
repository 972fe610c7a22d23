/* SPDX-License-Identifier: MIT */
/*
 * Counts what the module costs in instructions: for `vm.py run --icount`, where a
 * nanosecond is one.  Elsewhere it prints times and fails nothing.
 *
 *	kmod_cost		print
 *	kmod_cost check		and fail above the bounds that the project promises
 */
#include "raw.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#define BUFFER_SIZE (1 << 20)
#define FIRST_FRONT (16 << 10) /* as libcosy's, for most programs */
#define TURNS	    256

static int fd;
static char *shared;
static uint64_t private[64] __attribute__((aligned(64)));
static struct raw_run the_run;
static bool checking;
static int serial = 5;

/* Returns a buffer below 2 GB, as libcosy's: its address then fits an instruction. */
static char *low_buffer(void)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = BUFFER_SIZE };
	char *at = (char *)0x10000000;

	MUST(!raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf));
	MUST(mmap(at, BUFFER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd,
		  0) == at);
	return at;
}

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Returns the cost of one call of f, least of many. */
static long least(void (*f)(void *), void *arg)
{
	long best = -1, nothing = -1;

	for (int i = 0; i < 40; i++) {
		long start = now(), end = now();

		if (nothing < 0 || end - start < nothing)
			nothing = end - start;
		start = now();
		f(arg);
		end = now();
		if (best < 0 || end - start < best)
			best = end - start;
	}
	return best - nothing;
}

/* Prints a line, which bench/costs.py reads, and checks it; `unit` is "" for instructions. */
static void line(const char *what, double cost, const char *unit, double most)
{
	printf("%-44s %9.2f%s", what, cost, unit);
	if (most)
		printf("   at most %.2f%s", most, cost > most ? "  ABOVE" : "");
	printf("\n");
	if (checking && most)
		CHECK(cost <= most, "%s", what);
}

static void bound(const char *what, double cost, double most)
{
	line(what, cost, "", most);
}

static void bound_ratio(const char *what, double ratio, double most)
{
	line(what, ratio, " times", most);
}

/* Opens a context with a buffer of that size, maps it, and closes it all. */
static void set_up(void *arg)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = *(size_t *)arg };
	int other = raw_open();
	char *at;

	MUST(!raw_ioctl(other, COSY_IOC_SETBUF, &setbuf));
	at = mmap(NULL, setbuf.len, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);
	MUST(at != MAP_FAILED);
	munmap(at, setbuf.len);
	close(other);
}

static void ask(void *unused)
{
	(void)unused;
	syscall(SYS_ioctl, fd, _IO('C', 0x99), NULL);
}

/* Makes that system call many times. */
static void calls(void *number)
{
	for (int i = 0; i < TURNS; i++)
		syscall(*(long *)number, 022);
}

static void run(void *arg)
{
	struct raw_run *r = arg;

	r->run.resume = 0;
	syscall(SYS_ioctl, fd, COSY_IOC_RUN, &r->run);
}

/* Does so to the end: one that has left in the middle would be the least of many. */
static void run_whole(void *arg)
{
	struct raw_run *r = arg;

	run(arg);
	if (r->run.status != COSY_DONE)
		MUST(!raw_run_to_end(fd, r));
}

/* LOADs and FREEs a compound of that many instructions, which an earlier LOAD has compiled. */
static void load(void *arg)
{
	static struct bpf_insn insns[COSY_MAX_INSNS];
	struct cosy_free free = { .size = sizeof(free) };
	size_t count = *(size_t *)arg;

	for (size_t i = 0; i < count - 1; i++)
		insns[i] = i % 4 ? ADD(2, 5) : LOAD(BPF_DW, 3, 1, 8);
	insns[0] = MOV(2, serial);
	insns[count - 1] = EXIT;
	free.handle = raw_load(fd, insns, count);
	raw_ioctl(fd, COSY_IOC_FREE, &free);
}

/* Does the same with one that no LOAD has seen yet. */
static void load_new(void *arg)
{
	serial++;
	load(arg);
}

/*
 * Does all that a process has to do for its first compound, of 100 instructions, from open to
 * close.
 */
enum { OPEN, VERSION, SETBUF, MMAP, LOADING, RUNNING, CLOSING, PHASES };
static const char *const phases[PHASES] = {
	[OPEN] = "first RUN: open",
	[VERSION] = "first RUN: VERSION",
	[SETBUF] = "first RUN: SETBUF",
	[MMAP] = "first RUN: mmap and a fault",
	[LOADING] = "first RUN: LOAD, seen before",
	[RUNNING] = "first RUN: RUN",
	[CLOSING] = "first RUN: munmap and close",
};
static long phase_cost[PHASES];
static long phase_start;

static void phase_end(int phase)
{
	long cost = now() - phase_start;

	if (!phase_cost[phase] || cost < phase_cost[phase])
		phase_cost[phase] = cost;
	phase_start = now();
}

static void first_run(void *arg)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf),
				      .len = BUFFER_SIZE,
				      .front = FIRST_FRONT };
	struct cosy_version version = { .size = sizeof(version) };
	struct bpf_insn insns[100];
	static struct raw_run r;
	uint32_t handle;
	int other;
	char *at;

	serial += *(int *)arg;
	for (size_t i = 0; i < COUNT(insns); i++)
		insns[i] = i % 4 ? ADD(2, 5) : LOAD(BPF_DW, 3, 1, 8);
	insns[0] = MOV(2, serial);
	insns[COUNT(insns) - 1] = EXIT;
	phase_start = now();
	other = raw_open();
	phase_end(OPEN);
	MUST(!raw_ioctl(other, COSY_IOC_VERSION, &version));
	phase_end(VERSION);
	MUST(!raw_ioctl(other, COSY_IOC_SETBUF, &setbuf));
	phase_end(SETBUF);
	at = mmap(NULL, BUFFER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);
	MUST(at != MAP_FAILED);
	at[FIRST_FRONT / 2] = 1;
	phase_end(MMAP);
	handle = raw_load(other, insns, COUNT(insns));
	phase_end(LOADING);
	raw_run_init(&r, handle, at);
	MUST(!raw_run_to_end(other, &r) && r.run.status == COSY_DONE);
	phase_end(RUNNING);
	MUST(!munmap(at, BUFFER_SIZE));
	close(other);
	phase_end(CLOSING);
}

/* Asks, as libcosy does before it makes a context, for 100 instructions that were never loaded. */
static void ask_unseen(void *arg)
{
	struct cosy_version version = { .size = sizeof(version) };
	static struct raw_container c;
	struct bpf_insn insns[100];
	struct cosy_load load = { .size = sizeof(load),
				  .compound = (uintptr_t)&c,
				  .flags = COSY_LOAD_SEEN | COSY_LOAD_ASK,
				  .front = FIRST_FRONT };
	int other = raw_open();

	(void)arg;
	for (size_t i = 0; i < COUNT(insns); i++)
		insns[i] = ADD(2, 5);
	insns[0] = MOV(2, -1);
	insns[COUNT(insns) - 1] = EXIT;
	raw_container(&c, insns, COUNT(insns));
	load.len = c.header.size;
	MUST(!raw_ioctl(other, COSY_IOC_VERSION, &version));
	MUST(raw_ioctl(other, COSY_IOC_LOAD, &load) == -ENOENT);
	close(other);
}

/* Returns the cost of LOAD of that instruction `count` times. */
static double load_of(struct bpf_insn insn, size_t count)
{
	static struct bpf_insn insns[COSY_MAX_INSNS];
	struct cosy_free free = { .size = sizeof(free) };
	long start, took;

	for (size_t i = 0; i < count - 1; i++)
		insns[i] = insn;
	insns[count - 1] = EXIT;
	start = now();
	free.handle = raw_load(fd, insns, count);
	took = now() - start;
	raw_ioctl(fd, COSY_IOC_FREE, &free);
	return (double)took;
}

/*
 * Checks that LOAD's time grows as the program does; if it grew with the square this would be 16.
 */
static void grows(const char *what, struct bpf_insn insn)
{
	bound_ratio(what, load_of(insn, COSY_MAX_INSNS) / load_of(insn, COSY_MAX_INSNS / 4), 6);
}

/* RUNs a compound that makes `turns` turns of `body`; r8 is the buffer, r9 private memory. */
static long looped(const struct bpf_insn *body, size_t count, int turns)
{
	struct cosy_free free = { .size = sizeof(free) };
	struct bpf_insn insns[64] = { MOV(7, turns + 1), WIDE(8, (uintptr_t)shared),
				      WIDE(9, (uintptr_t)private), MOV(0, 0) };
	size_t n = 6;
	long cost;

	insns[n++] = JUMP((int16_t)count);
	memcpy(insns + n, body, count * sizeof(*body));
	n += count;
	insns[n++] = ADD(7, -1);
	insns[n] = JUMP_NE(7, 0, (int16_t)(7 - (int)n - 1));
	n++;
	insns[n++] = EXIT;
	free.handle = raw_load(fd, insns, n);
	raw_run_init(&the_run, free.handle, private);
	cost = least(run_whole, &the_run);
	MUST(the_run.run.status == COSY_DONE);
	raw_ioctl(fd, COSY_IOC_FREE, &free);
	return cost;
}

static double each(const struct bpf_insn *body, size_t count)
{
	return (double)(looped(body, count, TURNS) - looped(body, count, 0)) / TURNS;
}

/* RUNs a compound that makes `turns` local calls of a function which does nothing. */
static long looped_calls(int turns)
{
	const struct bpf_insn insns[] = {
		MOV(7, turns),
		CALL_LOCAL(3),
		ADD(7, -1),
		JUMP_NE(7, 0, -3),
		EXIT,
		/* 5 */
		EXIT,
	};
	struct cosy_free free = { .size = sizeof(free) };
	long cost;

	free.handle = raw_load(fd, insns, COUNT(insns));
	raw_run_init(&the_run, free.handle, NULL);
	cost = least(run, &the_run);
	MUST(the_run.run.status == COSY_DONE);
	raw_ioctl(fd, COSY_IOC_FREE, &free);
	return cost;
}

#define EACH(...)                                                                                  \
	({                                                                                         \
		const struct bpf_insn body_[] = { __VA_ARGS__ };                                   \
		each(body_, COUNT(body_));                                                         \
	})

/* Returns the instructions per byte of one operation over `size` bytes. */
static double per_byte(int number, uint64_t a, uint64_t b, uint64_t c, uint64_t size)
{
	struct cosy_free free = { .size = sizeof(free) };
	const struct bpf_insn insns[] = { WIDE(1, a), WIDE(2, b), WIDE(3, c), CALL_OP(number),
					  EXIT };
	double cost;

	free.handle = raw_load(fd, insns, COUNT(insns));
	raw_run_init(&the_run, free.handle, NULL);
	cost = (double)least(run, &the_run);
	MUST(the_run.run.status == COSY_DONE);
	raw_ioctl(fd, COSY_IOC_FREE, &free);
	return cost / (double)size;
}

static void on_signal(int sig)
{
	(void)sig;
}

static long thread_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/*
 * Returns the time of RUNs that leave within a tick of the scheduler's, divided by what is counted
 * of it towards a limit.
 */
static double short_runs(void)
{
	const struct bpf_insn insns[] = {
		MOV(7, 3000), ADD(7, -1),      JUMP_NE(7, 0, -2), CALL(SYS_getpid),
		MOVR(1, 0),   MOV(2, SIGALRM), CALL(SYS_kill),	  JUMP(-8),
	};
	struct cosy_free free = { .size = sizeof(free) };
	long start, all;

	handle(SIGALRM, on_signal, 0);
	raw_limits(fd, 0, 3600000000000);
	free.handle = raw_load(fd, insns, COUNT(insns));
	raw_run_init(&the_run, free.handle, NULL);
	start = thread_now();
	for (int i = 0; i < 500; i++)
		MUST(!raw_run(fd, &the_run) && the_run.run.status == COSY_LEFT_WORK);
	all = thread_now() - start;
	raw_limits(fd, 0, 0);
	raw_ioctl(fd, COSY_IOC_FREE, &free);
	return (double)all / (double)the_run.state.kernel_ns;
}

static const struct bpf_insn empty[] = { MOV(0, 0), EXIT };

static void run_costs(void)
{
	bound("an ioctl that does nothing", (double)least(ask, NULL), 0);
	raw_run_init(&the_run, raw_load(fd, empty, COUNT(empty)), NULL);
	bound("RUN of an empty compound", (double)least(run, &the_run), 850);
}

static void load_costs(void)
{
	double once;

	bound("open, SETBUF of 4 KB, mmap, close", (double)least(set_up, &(size_t){ 4096 }), 0);
	bound("open, SETBUF of 1 MB, mmap, close", (double)least(set_up, &(size_t){ 1 << 20 }), 0);
	bound("LOAD and FREE of 2 instructions", (double)least(load_new, &(size_t){ 2 }), 0);
	bound("LOAD and FREE of 100 instructions", (double)least(load_new, &(size_t){ 100 }), 0);
	bound("LOAD and FREE of 4000 instructions", (double)least(load_new, &(size_t){ 4000 }), 0);
	bound("LOAD, FREE of 2 instructions, seen before", (double)least(load, &(size_t){ 2 }), 0);
	bound("LOAD, FREE of 100 instructions, seen before", (double)least(load, &(size_t){ 100 }),
	      0);
	bound("LOAD, FREE of 4000 instructions, seen before",
	      (double)least(load, &(size_t){ 4000 }), 0);
	once = (double)now();
	load_new(&(size_t){ 100 });
	bound("LOAD and FREE of 100 instructions, once", (double)now() - once, 0);

	bound("open to first RUN and close", (double)least(first_run, &(int){ 1 }), 0);
	memset(phase_cost, 0, sizeof(phase_cost));
	bound("open, ask for 100 instructions in vain, close", (double)least(ask_unseen, NULL), 0);
	bound("open to first RUN and close, seen before", (double)least(first_run, &(int){ 0 }),
	      60000);
	for (int i = 0; i < PHASES; i++)
		bound(phases[i], (double)phase_cost[i], 0);

	grows("LOAD of four times as many back jumps", JUMP_NE(2, 0, -1));
	grows("LOAD of four times as many stores", STORE(BPF_DW, 1, 8, 2));
}

static void call_costs(void)
{
	double plain, compound;

	plain = (double)least(calls, &(long){ SYS_getpid }) / TURNS;
	compound = EACH(CALL(SYS_getpid));
	bound("getpid in a plain loop", plain, 0);
	bound("getpid in a compound", compound, plain * 0.62);
	/* This call has no specialised version. */
	plain = (double)least(calls, &(long){ SYS_umask }) / TURNS;
	compound = EACH(MOV(1, 022), CALL(SYS_umask));
	bound("umask in a plain loop", plain, 0);
	bound("umask in a compound", compound, plain * 0.62);
}

/* Descriptors that calls of guard_costs are made on. */
static int ends[2], log_end, file;
/* The kernel validates names of procfs at each use, so no specialised version looks them up. */
static char path[] = "/proc/version";

static void pipe_calls(void *unused)
{
	(void)unused;
	for (int i = 0; i < TURNS; i++) {
		syscall(SYS_write, ends[1], shared, 1);
		syscall(SYS_read, ends[0], shared, 1);
	}
}

static void log_calls(void *unused)
{
	(void)unused;
	for (int i = 0; i < TURNS; i++)
		syscall(SYS_write, log_end, shared, 64);
}

static void stat_calls(void *unused)
{
	(void)unused;
	for (int i = 0; i < TURNS; i++)
		syscall(SYS_stat, path, shared);
}

static void byte_calls(void *unused)
{
	(void)unused;
	lseek(file, 0, SEEK_SET);
	for (int i = 0; i < TURNS; i++)
		syscall(SYS_read, file, shared, 1);
}

static void guard_costs_prepare(void)
{
	/* Accesses that are in the future are not written by reads. */
	struct timespec times[2] = { { .tv_sec = time(NULL) + 3600 }, { .tv_nsec = UTIME_OMIT } };

	MUST(!pipe(ends));
	log_end = open("/tmp/log", O_WRONLY | O_CREAT | O_APPEND, 0600);
	file = open("/tmp/bytes", O_WRONLY | O_CREAT, 0600);
	MUST(log_end >= 0 && pwrite(file, shared, BUFFER_SIZE, 0) == BUFFER_SIZE);
	MUST(!futimens(file, times) && !close(file));
	file = open("/tmp/bytes", O_RDONLY);
	MUST(file >= 0);
	strcpy(shared + TURNS, path);
}

/*
 * Measures calls that are not what the specialised versions are made for: of a pipe, at a log's
 * end, of a path below /proc; and a byte that needs no memory.
 */
static void guard_costs(void)
{
	guard_costs_prepare();
	bound("a byte by a pipe in a plain loop", (double)least(pipe_calls, NULL) / TURNS, 0);
	bound("a byte by a pipe in a compound",
	      EACH(MOV(1, ends[1]), MOVR(2, 8), MOV(3, 1), CALL(SYS_write), MOV(1, ends[0]),
		   MOVR(2, 8), MOV(3, 1), CALL(SYS_read)),
	      0);
	bound("a line at a log's end in a plain loop", (double)least(log_calls, NULL) / TURNS, 0);
	bound("a line at a log's end in a compound",
	      EACH(MOV(1, log_end), MOVR(2, 8), MOV(3, 64), CALL(SYS_write)), 0);
	bound("stat of a path in a plain loop", (double)least(stat_calls, NULL) / TURNS, 0);
	bound("stat of a path in a compound",
	      EACH(MOVR(1, 8), ADD(1, TURNS), MOVR(2, 8), CALL(SYS_stat)), 0);
	bound("a byte of a file in a plain loop", (double)least(byte_calls, NULL) / TURNS, 0);
	bound("a byte of a file in a compound, by readc", EACH(MOV(1, file), CALL_OP(RAW_OP_readc)),
	      0);
	close(ends[0]);
	close(ends[1]);
	close(log_end);
	close(file);
	memset(shared, 'x', BUFFER_SIZE);
}

static void limited_costs(void)
{
	/*
	 * With limited time the compound looks at the clock after every call, and at every 64th
	 * turn.
	 */
	raw_limits(fd, 0, 3600000000000);
	bound("umask in a compound, time limited", EACH(MOV(1, 022), CALL(SYS_umask)), 0);
	bound("a turn of a loop, time limited", EACH(MOV(0, 0)), 0);
	bound("RUN of an empty compound, time limited", ({
		      raw_run_init(&the_run, raw_load(fd, empty, COUNT(empty)), NULL);
		      (double)least(run, &the_run);
	      }),
	      0);
	raw_limits(fd, 0, 0);
	bound_ratio("time of short RUNs, by what is counted of it", short_runs(), 1.5);
}

/*
 * Costs under a filter of system calls that allows all, as every process in a container has one.  A
 * loop's safepoints come as seldom as without it.  Stays for the rest of the process.
 */
static void filtered_costs(double loop)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog filter = { .len = 1, .filter = &allow };

	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
	bound("a turn of a loop, under a filter", EACH(MOV(0, 0)), loop + 2);
	bound("umask in a compound, under a filter", EACH(MOV(1, 022), CALL(SYS_umask)), 0);
}

/* Takes off what a turn of the loop costs in which each access is made. */
/* Eight loads from `base` on, `step` bytes apart. */
#define EIGHT(size, base, step)                                                                    \
	LOAD(size, 0, base, 0), LOAD(size, 0, base, step), LOAD(size, 0, base, 2 * (step)),        \
		LOAD(size, 0, base, 3 * (step)), LOAD(size, 0, base, 4 * (step)),                  \
		LOAD(size, 0, base, 5 * (step)), LOAD(size, 0, base, 6 * (step)),                  \
		LOAD(size, 0, base, 7 * (step))

static void access_costs(double loop)
{
	/* A native load or store is one instruction, the move. */
	bound("shared buffer: load of 8", EACH(LOAD(BPF_DW, 0, 8, 8)) - loop, 7);
	bound("shared buffer: load of 1", EACH(LOAD(BPF_B, 0, 8, 8)) - loop, 7);
	bound("shared buffer: store of 8", EACH(STORE(BPF_DW, 8, 8, 0)) - loop, 7);
	bound("shared buffer: store of 1", EACH(STORE(BPF_B, 8, 8, 0)) - loop, 7);
	bound("shared buffer: store of an immediate", EACH(STOREK(BPF_W, 8, 8, 5)) - loop, 7);
	bound("shared buffer: a second load near it",
	      EACH(LOAD(BPF_DW, 0, 8, 8), LOAD(BPF_DW, 2, 8, 16)) - EACH(LOAD(BPF_DW, 0, 8, 8)), 1);
	bound("other memory: load of 8", EACH(LOAD(BPF_DW, 0, 9, 8)) - loop, 22);
	bound("other memory: load of 1", EACH(LOAD(BPF_B, 0, 9, 8)) - loop, 22);
	bound("other memory: store of 8", EACH(STORE(BPF_DW, 9, 8, 0)) - loop, 22);
	bound("other memory: store of 1", EACH(STORE(BPF_B, 9, 8, 0)) - loop, 22);
	bound("other memory: store of an immediate", EACH(STOREK(BPF_W, 9, 8, 5)) - loop, 22);
	/* The fields of a struct, or an unrolled loop's bytes. */
	bound("shared buffer: each of 8 loads of 64 bytes", (EACH(EIGHT(BPF_DW, 8, 8)) - loop) / 8,
	      2);
	bound("other memory: each of 8 loads of 64 bytes", (EACH(EIGHT(BPF_DW, 9, 8)) - loop) / 8,
	      6);
	bound("other memory: each of 8 loads of 8 bytes", (EACH(EIGHT(BPF_B, 9, 1)) - loop) / 8, 4);
	bound("other memory: each of 2 loads of 16 bytes",
	      (EACH(LOAD(BPF_DW, 0, 9, 0), LOAD(BPF_DW, 2, 9, 8)) - loop) / 2, 0);
	bound("atomic add", EACH(ATOMIC(BPF_DW, 8, 8, 0, BPF_ADD)) - loop, 0);
}

/* Has the shared buffer hold a directory's path, a name, and the pieces of "%s/%s". */
static void path_prepare(void)
{
	struct cosy_text_piece *pieces = (struct cosy_text_piece *)(void *)(shared + 256);

	strcpy(shared + 128, "some/directory");
	strcpy(shared + 192, "name.c");
	memset(pieces, 0, 3 * sizeof(*pieces));
	pieces[0].kind = pieces[2].kind = COSY_PIECE_STRING;
	pieces[0].value = (uintptr_t)shared + 128;
	pieces[2].value = (uintptr_t)shared + 192;
	pieces[1].width = 1;
	pieces[1].value = '/';
}

static void operation_costs(double loop)
{
	bound("a local call and its return",
	      (double)(looped_calls(TURNS + 1) - looped_calls(1)) / TURNS - loop, 0);
	bound("operation: ctx", EACH(CALL_OP(RAW_OP_ctx)) - loop, 0);
	bound("operation: strlen of 3, shared buffer", ({
		      shared[3] = 0;
		      double cost = EACH(MOVR(1, 8), CALL_OP(RAW_OP_strlen)) - loop;
		      shared[3] = 'x';
		      cost;
	      }),
	      0);
	bound("operation: memcpy of 64, shared buffer",
	      EACH(MOVR(1, 8), MOVR(2, 8), ADD(2, 64), MOV(3, 64), CALL_OP(RAW_OP_memcpy)) - loop,
	      0);
	bound("operation: format of a path, shared buffer", ({
		      path_prepare();
		      EACH(MOVR(1, 8), ADD(1, 1024), MOV(2, 100), MOVR(3, 8), ADD(3, 256),
			   MOV(4, 3), CALL_OP(RAW_OP_format)) -
			      loop;
	      }),
	      420);
	bound("operation: memcpy of 64, other memory",
	      EACH(MOVR(1, 9), MOVR(2, 9), ADD(2, 64), MOV(3, 64), CALL_OP(RAW_OP_memcpy)) - loop,
	      0);
}

static void byte_costs(void)
{
	enum { MANY = 64 << 10 };
	static char text[MANY];

	memset(text, 'x', sizeof(text));
	bound("memchr per byte, shared buffer", per_byte(8, (uintptr_t)shared, 'y', MANY, MANY),
	      0.85);
	bound("memchr per byte, other memory", per_byte(8, (uintptr_t)text, 'y', MANY, MANY), 0);
	bound("strnlen per byte, shared buffer", per_byte(12, (uintptr_t)shared, MANY, 0, MANY), 0);
	bound("strchr per byte, shared buffer", ({
		      shared[MANY] = 0;
		      per_byte(15, (uintptr_t)shared, 'y', 0, MANY);
	      }),
	      0);
	bound("memcmp per byte, shared buffer",
	      per_byte(7, (uintptr_t)shared, (uintptr_t)shared + MANY + 8, MANY - 8, MANY), 0);
	bound("memcpy per byte, shared buffer",
	      per_byte(4, (uintptr_t)shared, (uintptr_t)shared + MANY, MANY, MANY), 0);
	bound("memcpy per byte, from other memory",
	      per_byte(4, (uintptr_t)shared, (uintptr_t)text, MANY, MANY), 0);
	bound("memset per byte, shared buffer", per_byte(6, (uintptr_t)shared, 1, MANY, MANY), 0);
	bound("memset per byte, other memory", per_byte(6, (uintptr_t)text, 1, MANY, MANY), 0);
}

int main(int argc, char **argv)
{
	double loop;

	checking = argc > 1 && !strcmp(argv[1], "check");
	fd = raw_open();
	shared = low_buffer();
	memset(shared, 'x', BUFFER_SIZE);
	run_costs();
	load_costs();
	call_costs();
	guard_costs();
	loop = EACH(MOV(0, 0));
	bound("a turn of a loop", loop, 0);
	limited_costs();
	access_costs(loop);
	operation_costs(loop);
	byte_costs();
	filtered_costs(loop);
	return check_end();
}
