// SPDX-License-Identifier: MIT
/*
 * Makes everything that cosy.ko asks for and may not get fail once, one after the other: memory,
 * copies from and to the user, the answers of file systems and security modules (by failing.c).
 * Each time there is an error that tells so, or the same result as ever; nothing is left; and the
 * next try works.
 *
 *	step allocation|copy|check	with all that a process does, as an unprivileged user
 *	step hardened			memory, where what the JIT does for a user has to be asked
 *	step module PATH		loading PATH, which is cosy.ko, as root
 *	step types PATH			loading PATH where the kernel does not tell its types
 */
#include "step.h"
#include "step_module.h"
#include "step_move.h"
#include "step_pass.h"
#include "../guest/sockets.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/xattr.h>

#define FILE_SIZE   (300 << 10)
#define NOT_CHANGED ((char)0x55)

static char expected[FILE_SIZE];
static int step_cache_fd = -1, step_background_fd = -1; /* parameters of modules */

/* --- Opening and the buffer ------------------------------------------------------------- */

static void step_open(void)
{
	POINTS("open", 20)
	{
		int fd;

		step_arm();
		fd = open("/dev/cosy", O_RDWR | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
		step_disarm();
		JUDGE("open", fd, fd >= 0);
		if (fd >= 0)
			close(fd);
		step_check_nothing_left();
	}
}

static void step_setbuf(const char *name, uint64_t size, uint64_t front)
{
	POINTS(name, 2000)
	{
		struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = size, .front = front };
		int fd = raw_open();
		char *memory;
		long ret;

		step_arm();
		ret = raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf);
		step_disarm();
		JUDGE("SETBUF", ret, !ret);
		if (ret)
			CHECK(!raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf), "%s, point %d: again; %s",
			      name, step_point, step_last);
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		MUST(memory != MAP_FAILED);
		check_zeros(memory, size);
		munmap(memory, size);
		close(fd);
		step_check_nothing_left();
		check_nothing_charged();
	}
}

/* Lets the front grow under data that are there already. */
static void step_grow(void)
{
	const uint64_t size = 1 << 20;

	POINTS("SETBUF for a larger front", 200)
	{
		struct cosy_setbuf setbuf = { .size = sizeof(setbuf),
					      .len = size,
					      .front = 16 * PAGE };
		int fd = raw_open();
		char *memory;
		long ret;

		MUST(!raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf));
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		MUST(memory != MAP_FAILED);
		for (size_t i = 0; i < size; i += 5 * PAGE)
			memory[i] = (char)(i / PAGE + 1);
		setbuf.front = size / 4;
		step_arm();
		ret = raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf);
		step_disarm();
		JUDGE("SETBUF", ret, !ret);
		if (ret)
			CHECK(!raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf), "point %d: again; %s",
			      step_point, step_last);
		for (size_t i = 0; i < size; i += PAGE)
			CHECK(memory[i] == (i % (5 * PAGE) ? 0 : (char)(i / PAGE + 1)),
			      "point %d: page %zu", step_point, i / PAGE);
		munmap(memory, size);
		close(fd);
		step_check_nothing_left();
	}
}

static void step_map(void)
{
	POINTS("mmap", 20)
	{
		struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = 16 * PAGE };
		int fd = raw_open();
		char *memory;

		MUST(!raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf));
		step_arm();
		memory = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		step_disarm();
		JUDGE("mmap", memory == MAP_FAILED ? -errno : 0, memory != MAP_FAILED);
		if (memory != MAP_FAILED)
			munmap(memory, 16 * PAGE);
		close(fd);
		step_check_nothing_left();
	}
}

/* --- Programs ------------------------------------------------------------------------------- */

static size_t make_program(struct bpf_insn *insns, size_t count)
{
	for (size_t i = 1; i + 4 < count; i++)
		insns[i] = i % 3 == 0	? STORE(BPF_DW, 6, 8, 7)
			   : i % 3 == 1 ? LOAD(BPF_DW, 7, 6, 0)
					: ADD(8, 0x1234567);
	insns[0] = MOVR(6, 1);
	insns[count - 4] = CALL(SYS_getuid);
	insns[count - 3] = MOV(0, 42);
	insns[count - 2] = JUMP_NE(0, 42, -2);
	insns[count - 1] = EXIT;
	return count;
}

/* Says whose calls fail: the module's thread's, or this one's. */
static void step_background_is(bool on)
{
	MUST(pwrite(step_background_fd, on ? "Y" : "N", 1, 0) == 1);
	/* What nobody may keep is not compiled for later. */
	MUST(pwrite(step_cache_fd, on ? "2097152" : "0", on ? 7 : 1, 0) > 0);
}

/* Drops what is kept, and what is remembered of compounds that did not compile. */
static void step_forget(void)
{
	struct cosy_recall recall = { .size = sizeof(recall), .flags = COSY_RECALL_FORGET };
	int fd = raw_open();

	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &recall));
	close(fd);
}

/*
 * Makes what the thread needs to compile a compound fail.  The compound is then not found, and the
 * next one is compiled.
 */
static void step_compile(const char *name, size_t count)
{
	static struct bpf_insn insns[COSY_MAX_INSNS];
	static struct raw_container c;
	struct cosy_load load = { .size = sizeof(load), .compound = (uintptr_t)&c };

	make_program(insns, count);
	raw_container(&c, insns, count);
	load.len = c.header.size;
	step_background_is(true);
	POINTS(name, 200)
	{
		int fd = raw_open();
		long ret;

		load.flags = COSY_LOAD_SEEN | COSY_LOAD_ASK | COSY_LOAD_BACKGROUND;
		step_arm();
		ret = raw_ioctl(fd, COSY_IOC_LOAD, &load);
		MUST(ret == -EINPROGRESS);
		while (step_live("background "))
			sleep_ms(1);
		step_disarm();
		load.flags = COSY_LOAD_SEEN | COSY_LOAD_ASK;
		ret = raw_ioctl(fd, COSY_IOC_LOAD, &load);
		CHECK(!ret || (ret == -ENOENT && step_hit), "%s, point %d: %ld; %s", name,
		      step_point, ret, step_last);
		step_errors[-ret]++;
		step_forget();
		close(fd);
		step_check_nothing_left();
		check_nothing_charged();
	}
	step_background_is(false);
}

static void step_load(const char *name, size_t count)
{
	static struct bpf_insn insns[COSY_MAX_INSNS];
	static uint64_t words[8];

	make_program(insns, count);
	POINTS(name, 200)
	{
		int fd = raw_open();
		char *memory = raw_buffer(fd, 16 * PAGE);
		struct cosy_load load;
		long ret;

		step_arm();
		ret = raw_try_load(fd, insns, count, &load);
		step_disarm();
		JUDGE("LOAD", ret, !ret);
		if (ret) {
			CHECK(!step_live("programs "),
			      "%s, point %d: a program of a LOAD that failed; %s", name, step_point,
			      step_last);
			ret = raw_try_load(fd, insns, count, &load);
			CHECK(!ret, "%s, point %d: again: %ld, %s", name, step_point, ret, raw_log);
		}
		MUST(!ret);
		raw_run_init(&script_state, load.handle, words);
		ret = raw_run_to_end(fd, &script_state);
		CHECK(!ret && script_state.run.status == COSY_DONE && script_state.run.ret == 42,
		      "%s, point %d: RUN %ld, status %u", name, step_point, ret,
		      script_state.run.status);
		munmap(memory, 16 * PAGE);
		close(fd);
		step_check_nothing_left();
	}
}

static void step_version(void)
{
	POINTS("VERSION", 20)
	{
		struct cosy_version version = { .size = sizeof(version) };
		int fd = raw_open();
		char calls[64];
		long ret;

		step_arm();
		ret = raw_ioctl(fd, COSY_IOC_VERSION, &version);
		if (!ret)
			ret = read(fd, calls, sizeof(calls)) < 0 ? -errno : 0;
		step_disarm();
		JUDGE("VERSION, read", ret, !ret || ret == -ENODATA || ret == -EOPNOTSUPP);
		CHECK(ret || version.features & COSY_FEATURE_JIT,
		      "point %d: it answers that there is no JIT; %s", step_point, step_last);
		close(fd);
	}
}

/* Makes the other ioctls, which ask for nothing, but copy arguments and results. */
static void step_others(void)
{
	static const struct bpf_insn insns[] = { MOV(0, 1), EXIT };

	POINTS("LIMITS, STATS, FREE, close", 20)
	{
		struct cosy_limits limits = { .size = sizeof(limits), .max_steps = 1000 };
		struct cosy_stats stats = { .size = sizeof(stats) };
		struct cosy_free free = { .size = sizeof(free) };
		int fd = raw_open();
		char *memory = raw_buffer(fd, 16 * PAGE);
		long ret[3];

		free.handle = raw_load(fd, insns, COUNT(insns));
		raw_load(fd, insns, COUNT(insns));
		step_arm();
		ret[0] = raw_ioctl(fd, COSY_IOC_LIMITS, &limits);
		ret[1] = raw_ioctl(fd, COSY_IOC_STATS, &stats);
		ret[2] = raw_ioctl(fd, COSY_IOC_FREE, &free);
		munmap(memory, 16 * PAGE);
		close(fd);
		step_disarm();
		JUDGE("LIMITS", ret[0], !ret[0]);
		JUDGE("STATS", ret[1], !ret[1]);
		JUDGE("FREE", ret[2], !ret[2]);
		step_check_nothing_left();
	}
}

/* --- RUN -------------------------------------------------------------------------------------- */

static int make_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	MUST(fd >= 0 && write(fd, expected, FILE_SIZE) == FILE_SIZE);
	return fd;
}

static void drain(int fd)
{
	static char away[1 << 16];

	while (recv(fd, away, sizeof(away), MSG_DONTWAIT) > 0)
		;
}

static struct {
	int in, out, dir, tcp[2], local[2], poll;
} files;
static char private_memory[131072];
static struct statx attributes;
static struct {
	struct cosy_tree head;
	char names[4096];
} tree; /* for scan_tree */

/* Bytes that a step of the script puts at `to`, if it returns `count`. */
static struct {
	int step;
	const char *to;
	size_t position;
	ssize_t count;
} puts_bytes[8];
static size_t puts_cnt;

static void puts_at(int step, const char *to, size_t position, ssize_t count)
{
	MUST(puts_cnt < COUNT(puts_bytes));
	puts_bytes[puts_cnt].step = step;
	puts_bytes[puts_cnt].to = to;
	puts_bytes[puts_cnt].position = position;
	puts_bytes[puts_cnt++].count = count;
}

/* The step whose result depends on how others went. */
static int sums;

/* Writes each kind of specialised call, views that cross pages, that are written from and lent. */
static void script_write(void)
{
	char *b = script_buffer;

	puts_cnt = 0;
	script_begin();
	SYS(read, files.in, b, 16);
	puts_at(OP(view_pread, files.in, b + 65536, 65536, 4096), b + 65536, 4096, 65536);
	puts_at(OP(view_pread, files.in, b + 2 * 65536, 65536, 8197), b + 2 * 65536, 8197, 65536);
	OP(view_pread, files.in, b + 3 * 65536, 4096, 0);
	OP(view_pread, files.in, b + 4 * 65536, 4096, 100);
	puts_at(SYS(pread64, files.in, b + 5 * 65536, 10000, 33), b + 5 * 65536, 33, 10000);
	puts_at(SYS(pread64, files.in, private_memory, 10000, 133), private_memory, 133, 10000);
	OP(view_pread, files.in, b + 8 * 65536, 40000, 4096);
	SYS(pwrite64, files.out, b + 8 * 65536, 40000, 4096);
	sums = OP(crc32c, 0, b + 8 * 65536, 40000);
	OP(view_pread, files.in, b + 8 * 65536, 40000, 4096);
	OP(lend, files.tcp[0], b + 8 * 65536, 40000, MSG_DONTWAIT);
	OP(view_pread, files.in, b + 8 * 65536, 40000, 4096);
	OP(lend, files.local[0], b + 8 * 65536, 40000, MSG_DONTWAIT);
	OP(readc, files.in);
	puts_at(OP(seek_read, files.in, b, 5000, 777, SEEK_SET), b, 777, 5000);
	OP(seek_write, files.out, b + 65536, 5000, 777, SEEK_SET);
	OP(scan_dir, files.dir, b + 9 * 65536, 65536, 0);
	SYS(lseek, files.dir, 0, SEEK_SET);
	memset(&tree, 0, sizeof(tree));
	tree.head.size = sizeof(tree);
	tree.head.dirfd = files.dir;
	OP(scan_tree, &tree, b + 9 * 65536, 65536);
	SYS(lseek, files.dir, 0, SEEK_SET);
	SYS(getdents64, files.dir, b + 10 * 65536, 65536);
	puts_at(OP(read_file, files.dir, "in", b + 11 * 65536, 65536, O_RDONLY), b + 11 * 65536, 0,
		65536);
	OP(write_file, files.dir, "out", b + 11 * 65536, 5000, O_WRONLY);
	OP(epoll_read, files.poll, b + 13 * 65536, 4096, 4, 0);
	SYS(newfstatat, files.dir, "in", b + 12 * 65536, 0);
	SYS(newfstatat, files.dir, "in", b + 12 * 65536, 0);
	SYS(stat, "in", b + 12 * 65536);
	SYS(stat, "./below/it", b + 12 * 65536);
	SYS(fstat, files.in, b + 12 * 65536);
	SYS(statx, files.dir, "in", 0, STATX_BASIC_STATS, &attributes);
	SYS(statx, files.dir, "in", 0, STATX_BASIC_STATS, &attributes);
	SYS(getxattr, "in", "system.posix_acl_access", private_memory + 65536, 100);
	SYS(getxattr, "in", "user.none", private_memory + 65536, 100);
	SYS(clock_gettime, CLOCK_REALTIME, private_memory + 65536);
	OP(memcpy, private_memory + 65536, b + 65536, 10000);
}

/* Runs in a context of its own, which has no memory for views yet.  Returns the RUN's result. */
static long script_turn(void)
{
	int tries = 1000;
	uint32_t handle;
	long ret;

	script_init();
	memset(script_buffer, NOT_CHANGED, SCRIPT_BUFFER);
	for (int i = 0; i < 2; i++)
		lseek((&files.in)[i], 0, SEEK_SET);
	lseek(files.dir, 0, SEEK_SET);
	script_write();
	handle = script_load();
	memset(script_result, 0xee, sizeof(script_result));
	raw_run_init(&script_state, handle, script_result);
	if (step_point)
		step_arm();
	/* On a busy machine an operation that cannot stop in the middle is left to user mode. */
	do
		ret = raw_run_to_end(script_fd, &script_state);
	while (!ret && script_state.run.status == COSY_LEFT_NATIVE && tries--);
	if (step_point)
		step_disarm();
	return ret;
}

static void script_close(void)
{
	drain(files.tcp[1]);
	drain(files.local[1]);
	munmap(script_buffer, SCRIPT_BUFFER);
	close(script_fd);
}

/* True if the step may have had another result than without failures. */
static bool depends(int step, const int64_t *good)
{
	/*
	 * A step that reads from, or seeks in, a failed call's file position or view follows that
	 * call.
	 */
	return step == sums || (step_hit && script_result[step] >= 0 && good[step] < 0) ||
	       (step_kind == STEP_CHECK && script_result[step] >= 0);
}

static void check_script(const int64_t *good, int count)
{
	for (int i = 0; i < count; i++)
		JUDGE("a step", script_result[i],
		      script_result[i] == good[i] || (step_hit && depends(i, good)));
	for (size_t i = 0; i < puts_cnt; i++) {
		int step = puts_bytes[i].step;

		if (script_result[step] == puts_bytes[i].count)
			CHECK(!memcmp(puts_bytes[i].to, expected + puts_bytes[i].position,
				      (size_t)puts_bytes[i].count),
			      "point %d: bytes of step %d; %s", step_point, step, step_last);
	}
}

static void step_run(void)
{
	struct epoll_event always = { .events = EPOLLIN };
	int64_t good[SCRIPT_STEPS];

	files.in = make_file("in");
	files.out = make_file("out");
	MUST(!mkdir("below", 0755));
	close(make_file("below/it"));
	files.dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tcp_pair(files.tcp);
	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, files.local));
	/* Is always ready: each read takes one from it. */
	MUST((always.data.fd = eventfd(1 << 30, EFD_SEMAPHORE)) >= 0);
	always.data.u64 |= COSY_ARRIVAL_READ;
	MUST((files.poll = epoll_create1(0)) >= 0);
	MUST(!epoll_ctl(files.poll, EPOLL_CTL_ADD, always.data.fd, &always));
	step_point = 0;
	CHECK(!script_turn() && script_state.run.status == COSY_DONE, "status %u",
	      script_state.run.status);
	memcpy(good, script_result, sizeof(good));
	script_close();
	POINTS("RUN", 1000)
	{
		long ret = script_turn();

		JUDGE("RUN", ret, !ret);
		/* A program whose state cannot be written is left where it was. */
		CHECK(ret || script_state.run.status == COSY_DONE ||
			      (step_kind == STEP_COPY &&
			       script_state.run.status == COSY_LEFT_FAULT),
		      "point %d: status %u at %u; %s", step_point, script_state.run.status,
		      script_state.run.resume, step_last);
		if (!ret && script_state.run.status == COSY_DONE)
			check_script(good, script_count);
		script_close();
		step_check_nothing_left();
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(int); i++)
		close((&files.in)[i]);
	MUST(!unlink("in") && !unlink("out") && !unlink("below/it") && !rmdir("below"));
}

/*
 * --- Fork ---------------------------------------------------------------------------------------
 */

/* Checks that the child has all of it, whatever fails in the fork; or that there is no child. */
static void step_fork(const char *name, size_t size)
{
	POINTS(name, 2000)
	{
		int fd = raw_open(), status;
		char *memory = raw_buffer(fd, size);
		pid_t pid;

		for (size_t i = 0; i < size; i += PAGE)
			memory[i] = (char)(i / PAGE | 1);
		step_arm();
		pid = fork();
		if (!pid) {
			for (size_t i = 0; i < size; i += PAGE)
				if (memory[i] != (char)(i / PAGE | 1))
					_exit(3);
			memory[0] = 99;
			_exit(0);
		}
		step_disarm();
		JUDGE("fork", pid < 0 ? -errno : 0, pid > 0);
		if (pid > 0) {
			MUST(waitpid(pid, &status, 0) == pid);
			CHECK(!status, "%s, point %d: the child ended with %#x; %s", name,
			      step_point, status, step_last);
			CHECK(memory[0] == 1, "%s, point %d: the parent's memory", name,
			      step_point);
		}
		munmap(memory, size);
		close(fd);
		step_check_nothing_left();
	}
}

/*
 * --- A region by libcosy
 * ----------------------------------------------------------------------------
 */

static __attribute__((noinline)) long copy_file(const char *from, const char *to)
{
	char bytes[4096];
	long total = 0;
	ssize_t now;

	COSY_START;
	int in = open(from, O_RDONLY);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (in < 0 || out < 0)
		return -1;
	while ((now = read(in, bytes, sizeof(bytes))) > 0)
		total += write(out, bytes, (size_t)now);
	close(in);
	close(out);
	COSY_END;
	return total;
}

static bool is_copied(const char *path)
{
	static char back[FILE_SIZE];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ret = read(fd, back, FILE_SIZE) == FILE_SIZE && !memcmp(back, expected, FILE_SIZE);

	close(fd);
	return ret;
}

/* Exit statuses of a child whose point failed, or that had none. */
enum { ALL_WELL, HIT, WRONG, WRONG_LATER, NEVER_IN_KERNEL };

static int region_in_child(void)
{
	uint64_t before;
	bool good, hit, lacks;
	int turns = 0;

	step_arm();
	errno = 0;
	good = copy_file("source", "target") == FILE_SIZE;
	lacks = !good && errno == ENOMEM;
	step_disarm();
	hit = step_hit;
	/* A call that the region makes may fail as it would natively: open wants memory for the file. */
	if (step_kind == STEP_ALLOCATION && !(hit && lacks) && !(good && is_copied("target")))
		return WRONG;
	/* It is loaded again each time that it fails, after more and more calls. */
	before = counts().runs;
	do
		good = copy_file("source", "target") == FILE_SIZE && is_copied("target");
	while (good && counts().runs == before && turns++ < 100);
	/* EFAULT is not a want of memory, which passes. */
	if (!good)
		return WRONG_LATER;
	if (step_kind == STEP_ALLOCATION && counts().runs == before)
		return NEVER_IN_KERNEL;
	return hit ? HIT : ALL_WELL;
}

static void step_region(void)
{
	close(make_file("source"));
	POINTS("a region by libcosy", 500)
	{
		int said = step_in_child(region_in_child);

		step_hit = said != ALL_WELL;
		CHECK(said <= HIT, "point %d: the child says %d", step_point, said);
		step_check_nothing_left();
	}
	MUST(!unlink("source") && !unlink("target"));
}

/*
 * --- All of it
 * ------------------------------------------------------------------------------------------
 */

static void step_begin(enum step_kind kind)
{
	struct rlimit limit = { LOCK_LIMIT, LOCK_LIMIT };

	step_init(kind);
	/* Turn the user's cache off, which would be counted with what is left. */
	step_cache_fd = open("/sys/module/cosy/parameters/max_user_cache", O_RDWR | O_CLOEXEC);
	step_background_fd = open(STEP_PARAMETERS "background", O_RDWR | O_CLOEXEC);
	MUST(step_cache_fd >= 0 && step_background_fd >= 0);
	step_write("/sys/module/cosy/parameters/max_user_cache", "0");
	/* Each point compiles once more than a user may. */
	step_write("/sys/module/cosy/parameters/background_insns", "65536");
	MUST(!setrlimit(RLIMIT_MEMLOCK, &limit));
	directory_enter();
	MUST(!chmod(".", 0777));
	become_nobody(true);
}

static void step_hardened(void)
{
	step_version();
	step_load("LOAD of 10 instructions", 10);
}

static void step_all(void)
{
	step_open();
	step_setbuf("SETBUF of a page", PAGE, 0);
	step_setbuf("SETBUF of 64 KB", 16 * PAGE, 0);
	step_setbuf("SETBUF of 4 MB", LOCK_LIMIT, 16 * PAGE);
	step_grow();
	step_map();
	step_load("LOAD of 10 instructions", 10);
	step_load("LOAD of 4000 instructions", 4000);
	if (step_kind == STEP_ALLOCATION) {
		step_compile("10 instructions, in the background", 10);
		step_compile("1000 instructions, in the background", 1000);
	}
	step_version();
	step_others();
	step_run();
	step_all_that_follows(true);
	step_fork("fork with a buffer of a page", PAGE);
	step_fork("fork with a buffer of 1 MB", 1 << 20);
	step_fork_arena();
	step_all_that_follows(false);
	step_arena();
	step_move("LOAN, READY, TRANSFER", 0, COSY_MOVE_POPULATE);
	step_move("LOAN of what is given, FLUSH, TRANSFER", COSY_MOVE_GIVE, COSY_MOVE_WILL_WRITE);
	step_parcel("SHARE, IMPORT", COSY_MOVE_SHARE, 0);
	step_parcel("COPY, IMPORT", COSY_MOVE_COPY, COSY_MOVE_POPULATE);
	step_parcel("DONATE, IMPORT", COSY_MOVE_DONATE, COSY_MOVE_WILL_WRITE);
	step_parcel("DONATE_ZERO, IMPORT", COSY_MOVE_DONATE_ZERO, 0);
	step_parcel_read();
	step_port("PORT, PASS of a copy, TAKE", COSY_MOVE_COPY, COSY_MOVE_POPULATE);
	step_port("PORT, PASS of what is given, TAKE", COSY_MOVE_DONATE_ZERO, 0);
	step_port_written();
	step_region();
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "allocation", "copy", "check" };

	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Close the device that libcosy opens at the start: it is a context. */
	close_range(3, ~0u, 0);
	for (int i = 0; i < FILE_SIZE; i++)
		expected[i] = (char)(i * 7 + i / 4096 * 13);
	if (argc == 3 && !strcmp(argv[1], "module")) {
		step_init(STEP_ALLOCATION);
		step_module(argv[2]);
		return check_end();
	}
	if (argc == 3 && !strcmp(argv[1], "types")) {
		step_init(STEP_TYPE);
		close(step_statistics);
		step_types(argv[2]);
		return check_end();
	}
	if (argc == 2 && !strcmp(argv[1], "hardened")) {
		step_write("/proc/sys/net/core/bpf_jit_harden", "2");
		step_begin(STEP_ALLOCATION);
		step_hardened();
		return check_end();
	}
	for (size_t i = 0; argc == 2 && i < COUNT(kinds); i++) {
		if (strcmp(argv[1], kinds[i]))
			continue;
		step_begin((enum step_kind)(1 << i));
		step_all();
		return check_end();
	}
	printf("usage: step allocation|copy|check|hardened|module PATH|types PATH\n");
	return 2;
}
