/* SPDX-License-Identifier: MIT */
/*
 * Hands over operations that stand for several calls, between any two of the calls: the kernel ends
 * what it has begun, or libcosy's interpreter does, with the same result.
 */
#include "kmod.h"
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/stat.h>

#include "interp/interp.h"

enum { AT_CALL = 11, AREA = 60000, FILES = 30, PIPES = 5 };

static int directory, file, poll_fd, wire[PIPES][2];
static struct {
	struct cosy_tree head;
	char room[16384];
} tree; /* for scan_tree */

struct operation {
	const char *name;
	int number;
	uint64_t arg[5];
	int memory; /* which argument the memory is */
};

static void put_program(const struct operation *op, void *to, struct bpf_insn insns[AT_CALL + 2])
{
	uint64_t arg[5];

	memcpy(arg, op->arg, sizeof(arg));
	arg[op->memory] = (uintptr_t)to;
	{
		const struct bpf_insn list[] = {
			WIDE(1, arg[0]), WIDE(2, arg[1]), WIDE(3, arg[2]),     WIDE(4, arg[3]),
			WIDE(5, arg[4]), MOV(0, 0),	  CALL_OP(op->number), EXIT,
		};

		memcpy(insns, list, sizeof(list));
	}
}

static void fill(char *to)
{
	for (int i = 0; i < AREA; i++)
		to[i] = (char)(i * 5);
	MUST(!lseek(directory, 0, SEEK_SET) && lseek(file, 100, SEEK_SET) == 100);
	memset(&tree, 0, sizeof(tree));
	tree.head.size = sizeof(tree);
	tree.head.dirfd = directory;
	tree.head.flags = COSY_TREE_POST;
	/* Each pipe has its number once more; the first one, which is not to be read, too. */
	for (int i = 0; i < PIPES; i++)
		MUST(write(wire[i][1], &i, sizeof(i)) == sizeof(i));
}

/* Takes what is left in the pipes: an operation that left out a pipe shows by what it returns. */
static int pipes_drain(void)
{
	char bytes[4096];
	int left = 0;

	for (int i = 0; i < PIPES; i++)
		left += read(wire[i][0], bytes, sizeof(bytes)) > 0;
	return left;
}

static void pipes_make(void)
{
	struct epoll_event event = { .events = EPOLLIN };

	MUST((poll_fd = epoll_create1(0)) >= 0);
	for (int i = 0; i < PIPES; i++) {
		MUST(!pipe2(wire[i], O_NONBLOCK));
		event.data.u64 = (uint32_t)wire[i][0] | (i ? COSY_ARRIVAL_READ : 0);
		MUST(!epoll_ctl(poll_fd, EPOLL_CTL_ADD, wire[i][0], &event));
	}
}

/* Interprets in user mode from where RUN left. */
static int64_t interpret(const struct bpf_insn *insns)
{
	struct cosy_validated program;
	struct libcosy_interp in = {
		.program = &program,
		.state = &the_run.state,
		.stack = (u8 *)the_run.stack,
		.stack_size = sizeof(the_run.stack),
		.resume = the_run.run.resume,
	};

	MUST(!cosy_validate(insns, AT_CALL + 2, &program, NULL));
	CHECK(libcosy_interp_run(&in, 0) == COSY_DONE, "the interpreter did not end");
	cosy_validated_deinit(&program);
	return in.ret;
}

/*
 * Makes `points` calls in the kernel one by one, the rest there or by the interpreter.  Returns the
 * result.
 */
static int64_t handed_over(const struct operation *op, char *to, int points, bool by_interpreter,
			   bool *all)
{
	struct cosy_free free = { .size = sizeof(free) };
	struct bpf_insn insns[AT_CALL + 2];
	int64_t result;

	fill(to);
	put_program(op, to, insns);
	free.handle = raw_load(fd, insns, COUNT(insns));
	raw_run_init(&the_run, free.handle, NULL);
	raw_limits(fd, 0, points ? 1 : 0);
	for (int i = 0; i < points; i++) {
		the_run.state.kernel_ns = 0;
		MUST(!raw_run(fd, &the_run));
		*all = the_run.run.status == COSY_ENDED_TIME && the_run.run.resume == AT_CALL + 2;
		if (*all)
			break;
		CHECK(the_run.run.status == COSY_ENDED_TIME && the_run.run.resume == AT_CALL + 1,
		      "%s, %d of %d: status %u at %d", op->name, i, points, the_run.run.status,
		      (int)the_run.run.resume - 1);
	}
	raw_limits(fd, 0, 0);
	if (by_interpreter) {
		result = interpret(insns);
	} else {
		MUST(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_DONE);
		result = the_run.run.ret;
	}
	MUST(!raw_ioctl(fd, COSY_IOC_FREE, &free));
	CHECK(pipes_drain() == (op->number == RAW_OP_epoll_read ? 1 : PIPES),
	      "%s, %d: not each pipe was read once", op->name, points);
	return result;
}

static int free_descriptor(void)
{
	int number = dup(0);

	close(number);
	return number;
}

static void everywhere(const struct operation *op, int least)
{
	static char want[AREA], private_area[AREA];
	char *areas[] = { shared, private_area };
	int descriptor = free_descriptor();
	bool all = false;
	int points = 0;

	for (size_t k = 0; k < COUNT(areas); k++) {
		char *to = areas[k];
		int64_t result = handed_over(op, to, 0, false, &all), other;
		off_t position = lseek(file, 0, SEEK_CUR), entries = lseek(directory, 0, SEEK_CUR);

		memcpy(want, to, AREA);
		all = false;
		for (points = 1; !all && points < 1000; points++)
			for (int by = 0; by < 2; by++) {
				other = handed_over(op, to, points, by, &all);
				CHECK(other == result, "%s, %d: %lld, not %lld", op->name, points,
				      (long long)other, (long long)result);
				CHECK(!memcmp(to, want, AREA), "%s, %d: other bytes", op->name,
				      points);
				CHECK(lseek(file, 0, SEEK_CUR) == position &&
					      lseek(directory, 0, SEEK_CUR) == entries,
				      "%s, %d: other positions", op->name, points);
				CHECK(free_descriptor() == descriptor,
				      "%s, %d: a descriptor was left", op->name, points);
			}
		CHECK(all && points > least, "%s: %d points", op->name, points);
	}
}

static void test_everywhere(void)
{
	const struct operation ops[] = {
		{ "read_file",
		  RAW_OP_read_file,
		  { (uint64_t)AT_FDCWD, (uintptr_t)"file", 0, AREA, O_RDONLY },
		  2 },
		{ "read_file of a part",
		  RAW_OP_read_file,
		  { (uint64_t)AT_FDCWD, (uintptr_t)"file", 0, 777, O_RDONLY },
		  2 },
		{ "read_file of nothing",
		  RAW_OP_read_file,
		  { (uint64_t)AT_FDCWD, (uintptr_t)"file", 0, 0, O_RDONLY },
		  2 },
		{ "read_file of none",
		  RAW_OP_read_file,
		  { (uint64_t)AT_FDCWD, (uintptr_t)"none", 0, 777, O_RDONLY },
		  2 },
		{ "read_file of a directory",
		  RAW_OP_read_file,
		  { (uint64_t)AT_FDCWD, (uintptr_t)".", 0, 777, O_RDONLY },
		  2 },
		{ "read_file for writing",
		  RAW_OP_read_file,
		  { (uint64_t)AT_FDCWD, (uintptr_t)"file", 0, 777, O_WRONLY },
		  2 },
		{ "write_file",
		  RAW_OP_write_file,
		  { (uint64_t)AT_FDCWD, (uintptr_t)"written", 0, AREA,
		    O_WRONLY | O_CREAT | O_TRUNC },
		  2 },
		{ "write_file of none",
		  RAW_OP_write_file,
		  { (uint64_t)AT_FDCWD, (uintptr_t)"none", 0, 777, O_WRONLY },
		  2 },
		{ "scan_dir",
		  RAW_OP_scan_dir,
		  { (uint64_t)directory, 0, AREA, AT_SYMLINK_NOFOLLOW, 0 },
		  1 },
		{ "scan_dir through links",
		  RAW_OP_scan_dir,
		  { (uint64_t)directory, 0, AREA, 0, 0 },
		  1 },
		{ "scan_dir of a part",
		  RAW_OP_scan_dir,
		  { (uint64_t)directory, 0, 1000, 0, 0 },
		  1 },
		{ "scan_dir of a file", RAW_OP_scan_dir, { (uint64_t)file, 0, AREA, 0, 0 }, 1 },
		{ "scan_tree", RAW_OP_scan_tree, { (uintptr_t)&tree, 0, AREA }, 1 },
		{ "seek_read", RAW_OP_seek_read, { (uint64_t)file, 0, 500, 50, SEEK_CUR }, 1 },
		{ "seek_write", RAW_OP_seek_write, { (uint64_t)file, 0, 500, 50, SEEK_CUR }, 1 },
		{ "seek_read before the start",
		  RAW_OP_seek_read,
		  { (uint64_t)file, 0, 500, (uint64_t)-500, SEEK_SET },
		  1 },
		{ "epoll_read",
		  RAW_OP_epoll_read,
		  { (uint64_t)poll_fd, 0, AREA, 2 * PIPES, 0 },
		  1 },
	};
	const int least[] = {
		4, 3, 2, 1, 3, 3, 3, 1, FILES, FILES, 4, 1, FILES + 40, 1, 1, 1, PIPES
	};

	for (size_t i = 0; i < COUNT(ops); i++)
		everywhere(&ops[i], least[i]);
}

/* Forges addresses that are no entry any more, or never were. */
static void test_forged_scan(void)
{
	static const uint64_t sizes[] = { 0, 8, 168, 175, 177, 184, 65528, 65535 };
	static char area[AREA];
	const struct operation op = {
		"", RAW_OP_scan_dir, { (uint64_t)directory, 0, AREA, 0, 0 }, 1
	};
	struct bpf_insn insns[AT_CALL + 2];
	struct cosy_dirent *entry = (struct cosy_dirent *)area;
	uint64_t before;
	uint32_t handle;
	bool ok;

	put_program(&op, area, insns);
	handle = raw_load(fd, insns, COUNT(insns));
	raw_run_init(&the_run, handle, NULL);
	for (size_t i = 0; i < 4 * COUNT(sizes); i++) {
		uint64_t left = i / COUNT(sizes) == 0	? 184
				: i / COUNT(sizes) == 1 ? 65536
				: i / COUNT(sizes) == 2 ? 65537
							: ~0ull;

		memset(area, 0, sizeof(area));
		entry->reclen = (uint16_t)sizes[i % COUNT(sizes)];
		strcpy(entry->name, "/etc");
		for (int by = 0; by < 2; by++) {
			memset(&the_run.state, 0, sizeof(the_run.state));
			the_run.state.fp = ~0ull;
			the_run.run.resume = AT_CALL + 1;
			the_run.state.reg[1] = (uint64_t)directory;
			the_run.state.reg[2] = (uintptr_t)area;
			the_run.state.reg[3] = left;
			the_run.state.reg[4] = COSY_UNDER_WAY;
			the_run.state.reg[5] = before = 5;
			ok = left == 184 && sizes[i % COUNT(sizes)] == 184;
			if (by)
				the_run.run.ret = interpret(insns);
			else
				CHECK(!raw_run_to_end(fd, &the_run) &&
					      the_run.run.status == COSY_DONE,
				      "status %u", the_run.run.status);
			CHECK(the_run.run.ret == (ok ? (int64_t)(before + left) : -EINVAL),
			      "%llu of %llu: %lld", (unsigned long long)sizes[i % COUNT(sizes)],
			      (unsigned long long)left, (long long)the_run.run.ret);
		}
	}
	/* Forge addresses and numbers that mean nothing. */
	for (int i = 0; i < 64; i++) {
		the_run.run.resume = AT_CALL + 1;
		the_run.state.reg[1] = i % 2 ? 999 : ~0ull << (i % 64);
		the_run.state.reg[2] = ~0ull << i;
		the_run.state.reg[3] = 4096;
		the_run.state.reg[4] = COSY_UNDER_WAY | (uint32_t)(1u << i % 32);
		CHECK(!raw_run_to_end(fd, &the_run) && the_run.run.status == COSY_DONE, "status %u",
		      the_run.run.status);
	}
}

/*
 * --- A tracer that comes in the middle ---------------------------------------------------------
 */

static void traced_child(void)
{
	static char to[4096];
	const struct operation op = { "",
				      RAW_OP_read_file,
				      { (uint64_t)AT_FDCWD, (uintptr_t)"traced", 0, sizeof(to),
					O_RDONLY },
				      2 };
	struct bpf_insn insns[AT_CALL + 2];
	int64_t result;
	long ret;

	fd = raw_open();
	put_program(&op, to, insns);
	raw_run_init(&the_run, raw_load(fd, insns, COUNT(insns)), NULL);
	do
		ret = raw_run(fd, &the_run);
	while (!ret && the_run.run.status == COSY_LEFT_WORK);
	if (ret || the_run.run.status != COSY_LEFT_TRACED ||
	    !COSY_IS_UNDER_WAY(the_run.state.reg[5]))
		_exit(2);
	result = interpret(insns);
	_exit(result == 5 && !memcmp(to, "abcde", 5) ? 0 : 3);
}

static void test_tracer(void)
{
	struct __ptrace_syscall_info info;
	int status, writer, left = 1, reads = 0, closes = 0, sent = 1;
	uint64_t number = 0;
	pid_t pid;

	MUST(!mkfifo("traced", 0600));
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		traced_child();
	MUST((writer = open("traced", O_WRONLY)) >= 0 && write(writer, "a", 1) == 1);
	WAIT_FOR(pid, !ioctl(writer, FIONREAD, &left) && !left);
	MUST(!ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	MUST(!ptrace(PTRACE_INTERRUPT, pid, 0, 0));
	MUST(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	for (;;) {
		MUST(!ptrace(PTRACE_SYSCALL, pid, 0, 0));
		MUST(waitpid(pid, &status, 0) == pid);
		if (!WIFSTOPPED(status))
			break;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80))
			continue;
		MUST(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0);
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
			continue;
		if (info.entry.nr == SYS_read) {
			number = info.entry.args[0];
			reads++;
			/* Send one byte for each read that is seen, then the end. */
			if (sent < 5)
				MUST(write(writer, &"abcde"[sent++], 1) == 1);
			else
				close(writer);
		}
		closes += info.entry.nr == SYS_close && reads && info.entry.args[0] == number;
	}
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "the child: %#x", status);
	CHECK(reads == 5 && closes == 1, "%d reads and %d closes seen", reads, closes);
	MUST(!unlink("traced"));
}

int main(int argc, char **argv)
{
	static const struct part parts[] = {
		{ "everywhere", .run = test_everywhere },
		{ "forged_scan", .run = test_forged_scan },
		{ "tracer", .run = test_tracer },
	};
	char name[64];
	int status;

	directory_enter();
	MUST(!mkdir("d", 0755) && (directory = open("d", O_RDONLY | O_DIRECTORY)) >= 0);
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "d/%d", i);
		MUST(i % 7 ? !close(open(name, O_CREAT | O_RDWR, 0600))
			   : !symlink(i ? "nowhere" : "..", name));
	}
	/* A tree that is deeper than scan_tree keeps directories open. */
	strcpy(name, "d/down");
	for (int i = 0; i < COSY_TREE_OPEN + 4; i++) {
		MUST(!mkdir(name, 0755));
		strcat(name, "/d");
		if (i < 2)
			MUST(!mkdir(name, 0755) && !strcpy(name + strlen(name) - 1, "e")[1]);
	}
	listings_leave_times("d");
	file = open("file", O_CREAT | O_RDWR, 0600);
	for (int i = 0; i < 20000; i++)
		MUST(write(file, &"0123456789"[i % 10], 1) == 1);
	pipes_make();
	status = kmod_main(parts, COUNT(parts), argc, argv);
	MUST(!system("rm -rf ./*"));
	directory_leave();
	return status | check_end();
}
