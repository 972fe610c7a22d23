/* SPDX-License-Identifier: MIT */
/*
 * Checks that a user who takes all there is gets errors; programs of the same user then run
 * natively, other users are not touched, and what was taken comes back.
 */
#include "raw.h"
#include <sys/mman.h>
#include <sys/resource.h>

#define GREED 20000 /* more than any quota gives */

static const struct bpf_insn forty_two[] = { MOV(0, 42), EXIT };

static bool good_error(long ret)
{
	return ret == -EDQUOT || ret == -ENOMEM || ret == -EMFILE || ret == -ENFILE;
}

static bool can_run(void)
{
	static struct raw_run r;
	int fd = open("/dev/cosy", O_RDWR | O_CLOEXEC);
	struct cosy_load load;
	bool fine;

	if (fd < 0)
		return false;
	fine = !raw_try_load(fd, forty_two, 2, &load);
	if (fine) {
		raw_run_init(&r, load.handle, NULL);
		fine = !raw_run_to_end(fd, &r) && r.run.ret == 42;
	}
	close(fd);
	return fine;
}

static void many_programs(void)
{
	int fd = raw_open(), loads;
	struct cosy_load load;
	long ret = 0;

	for (loads = 0; loads < GREED && !ret; loads++)
		ret = raw_try_load(fd, forty_two, 2, &load);
	printf("programs: %d, then %s\n", loads - 1, strerror((int)-ret));
	/* What is refused is not charged. */
	for (int i = 0; i < loads; i++)
		raw_try_load(fd, forty_two, 2, &load);
	CHECK(good_error(ret), "programs: %ld after %d", ret, loads);
	close(fd);
	CHECK(can_run(), "programs: nothing runs after they are gone");
}

static void large_programs(void)
{
	static struct bpf_insn insns[1024]; /* as rewritten, within any JIT's reach */
	int fd = raw_open(), loads;
	struct cosy_load load;
	char *buffer;
	long ret = 0;

	buffer = raw_buffer(fd, 4096);
	for (unsigned i = 0; i < COUNT(insns) - 1; i++)
		insns[i] = STORE(BPF_DW, 1, 8, 2);
	insns[COUNT(insns) - 1] = EXIT;
	for (loads = 0; loads < 2000 && !ret; loads++) {
		/* Change the number each time: equal programs share their code. */
		insns[0] = MOV(2, loads);
		ret = raw_try_load(fd, insns, COUNT(insns), &load);
	}
	printf("large programs: %d, then %s\n", loads - 1, strerror((int)-ret));
	CHECK(good_error(ret), "large programs: %ld after %d", ret, loads);
	close(fd);
	MUST(!munmap(buffer, 4096)); /* else it would count in what the user has locked */
	CHECK(can_run(), "large programs: nothing runs after they are gone");
}

/* Takes contexts in many processes, too: children keep descriptors as well. */
static void many_contexts(void)
{
	struct rlimit files = { GREED + 100, GREED + 100 };
	int opened = 0, last = 0, first = -1, fd;
	bool fewer = setrlimit(RLIMIT_NOFILE, &files);

	if (fewer) {
		getrlimit(RLIMIT_NOFILE, &files);
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	while (opened < GREED && (fd = open("/dev/cosy", O_RDWR | O_CLOEXEC)) >= 0) {
		if (first < 0)
			first = fd;
		last = fd;
		opened++;
	}
	printf("contexts: %d, then %s\n", opened, strerror(errno));
	CHECK(opened < GREED && (errno == EDQUOT || (fewer && errno == EMFILE)),
	      "contexts: %d, errno %d", opened, errno);
	close_range((unsigned)first, (unsigned)last, 0);
	CHECK(can_run(), "contexts: nothing runs after they are gone");
}

static void locked_memory(void *unused)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = 1 << 18 };
	int made;
	long ret = 0;

	(void)unused;
	become_nobody(true);
	MUST(!setrlimit(RLIMIT_MEMLOCK, &limit));
	for (made = 0; made < 100 && !ret; made++) {
		int fd = open("/dev/cosy", O_RDWR | O_CLOEXEC);

		MUST(fd >= 0);
		ret = raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf);
	}
	printf("buffers of 256 KB with 1 MB to lock: %d, then %s\n", made - 1, strerror((int)-ret));
	CHECK(made - 1 == 4 && ret == -ENOMEM, "RLIMIT_MEMLOCK: %d buffers, then %ld", made - 1,
	      ret);
}

/* Runs a region as its native twin while another process of the user has used the quota up. */
static void greedy(int ready, int done)
{
	struct rlimit files = { GREED, GREED };
	struct cosy_load load;
	int fd = raw_open();
	char c;

	setrlimit(RLIMIT_NOFILE, &files);
	for (int i = 0; i < GREED && !raw_try_load(fd, forty_two, 2, &load); i++)
		;
	for (int i = 0; i < GREED && open("/dev/cosy", O_RDWR | O_CLOEXEC) >= 0; i++)
		;
	MUST(write(ready, "x", 1) == 1);
	read(done, &c, 1);
	_exit(0);
}

static long region(void)
{
	long sum = 0;

	COSY_START;
	for (int i = 0; i < 1000; i++)
		sum += i + (getppid() >= 0);
	COSY_END;
	return sum;
}

static void victim(void *unused)
{
	long sum = region();

	(void)unused;
	CHECK(sum == 500500, "a region without quota: %ld", sum);
}

static void neighbours(void)
{
	int ready[2], done[2], status;
	pid_t pid;
	char c;

	MUST(!pipe(ready) && !pipe(done));
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		close(done[1]);
		become_nobody(true);
		greedy(ready[1], done[0]);
	}
	MUST(read(ready[0], &c, 1) == 1);
	if (!geteuid())
		CHECK(can_run(), "another user's greed reaches root");
	CHECK_CHILD(in_child(victim, NULL));
	MUST(write(done[1], "x", 1) == 1);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(can_run(), "the greedy process is gone and nothing runs");
}

int main(void)
{
	close(raw_open());
	neighbours();
	many_programs();
	large_programs();
	CHECK_CHILD(in_child(locked_memory, NULL));
	many_contexts();
	return check_end();
}
