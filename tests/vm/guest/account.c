/* SPDX-License-Identifier: MIT */
/*
 * Checks memory: two hundred processes open, map, load, run and are killed, and nothing is left; a
 * context's memory is charged to its memory cgroup.
 */
#include "raw.h"

#define ROUNDS 200
#define SIZE   (1 << 18)

/* An endless compound, with its work in the buffer and enough instructions for a leak to show. */
static struct bpf_insn big[600];

static void big_init(void)
{
	big[0] = MOVR(6, 1);
	for (unsigned i = 1; i < COUNT(big) - 2; i++)
		big[i] = STORE(BPF_DW, 6, (short)(i % 1000 * 8), 6);
	big[COUNT(big) - 2] = CALL(SYS_getpid);
	big[COUNT(big) - 1] = JUMP(1 - (int)COUNT(big));
}

static void lives_until_killed(int ready)
{
	static struct raw_run r;
	int fd = raw_open();
	char *buffer = raw_buffer(fd, SIZE);

	memset(buffer, 1, SIZE);
	raw_load(fd, big, COUNT(big));
	raw_run_init(&r, raw_load(fd, big, COUNT(big)), buffer);
	MUST(write(ready, "x", 1) == 1);
	raw_run_to_end(fd, &r);
	_exit(3);
}

static void round_of(int n)
{
	int ready[2], status;
	pid_t pid;
	char c;

	MUST(!pipe2(ready, O_CLOEXEC));
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		lives_until_killed(ready[1]);
	close(ready[1]);
	MUST(read(ready[0], &c, 1) == 1);
	close(ready[0]);
	if (n % 2)
		sleep_ms(1); /* in the middle of the compound, more often than not */
	MUST(!kill(pid, SIGKILL));
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "round %d: status %#x", n,
	      status);
}

static long value_of(const char *path, const char *key)
{
	FILE *f = fopen(path, "r");
	char line[256];
	long value = -1;

	if (!f)
		return -1;
	while (value < 0 && fgets(line, sizeof(line), f))
		if (!*key)
			value = atol(line);
		else if (!strncmp(line, key, strlen(key)))
			value = atol(line + strlen(key));
	fclose(f);
	return value;
}

/*
 * Returns the kB of free pages that the processors keep for some seconds: MemFree leaves them out.
 */
static long kept_by_processors(void)
{
	FILE *f = fopen("/proc/zoneinfo", "r");
	long pages, sum = 0;
	char line[256];

	MUST(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " count: %ld", &pages) == 1)
			sum += pages;
	fclose(f);
	return sum * (sysconf(_SC_PAGESIZE) / 1024);
}

static long memory_in_use(void)
{
	const char *info = "/proc/meminfo";

	return value_of(info, "MemTotal:") - value_of(info, "MemFree:") -
	       value_of(info, "Buffers:") - value_of(info, "Cached:") -
	       value_of(info, "SReclaimable:") - kept_by_processors();
}

/* Waits until the module counts none, once the kernel has done what it puts off. */
static void wait_for_none(void)
{
	const char *stats = "/sys/kernel/debug/cosy/stats";

	if (geteuid())
		return;
	MUST(value_of(stats, "runs") > 0);
	while (value_of(stats, "contexts") || value_of(stats, "programs"))
		sleep_ms(20);
}

/* Bounds in kB.  One leaked page for each process would be 800 kB, one buffer 50 MB. */
enum { MAX_MEMORY = 4096, MAX_VMALLOC = 512 };

static void no_leak(void)
{
	long before, after, vmalloc_before, vmalloc_after;

	for (int i = 0; i < 20; i++) /* caches fill */
		round_of(i);
	wait_for_none();
	sleep_ms(500);
	before = memory_in_use();
	vmalloc_before = value_of("/proc/meminfo", "VmallocUsed:");
	for (int i = 0; i < ROUNDS; i++)
		round_of(i);
	wait_for_none();
	/* Memory that the kernel frees late does become free; leaked memory does not. */
	for (int i = 0; i < 40; i++) {
		sleep_ms(500);
		after = memory_in_use();
		vmalloc_after = value_of("/proc/meminfo", "VmallocUsed:");
		if (after - before < MAX_MEMORY && vmalloc_after - vmalloc_before < MAX_VMALLOC)
			break;
	}
	printf("in use %ld kB, then %ld kB; vmalloc %ld kB, then %ld kB\n", before, after,
	       vmalloc_before, vmalloc_after);
	CHECK(after - before < MAX_MEMORY, "%ld kB more in use", after - before);
	CHECK(vmalloc_after - vmalloc_before < MAX_VMALLOC, "%ld kB more of vmalloc",
	      vmalloc_after - vmalloc_before);
}

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		printf("%s: %s\n", path, strerror(errno));
	close(fd);
}

#define GROUP "/sys/fs/cgroup/cosy-account"

/* Runs in a memory cgroup of 24 MB. */
static void in_group(void *unused)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = 4 << 20 };
	long before, after, made = 0, ret = 0;
	char pid[16];

	(void)unused;
	snprintf(pid, sizeof(pid), "%d", getpid());
	write_to(GROUP "/cgroup.procs", pid);
	before = value_of(GROUP "/memory.current", "");
	MUST(before >= 0);
	int fd = raw_open();

	MUST(!raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf));
	after = value_of(GROUP "/memory.current", "");
	printf("a buffer of 4096 kB: %ld kB charged\n", (after - before) / 1024);
	CHECK(after - before >= (4 << 20) * 9l / 10, "a buffer of 4 MB: %ld bytes charged",
	      after - before);
	write_to(GROUP "/memory.max", "25165824");
	write_to(GROUP "/memory.swap.max", "0");
	write_to("/proc/self/oom_score_adj", "1000");
	for (made = 0; made < 100 && !ret; made++) {
		fd = open("/dev/cosy", O_RDWR | O_CLOEXEC);
		MUST(fd >= 0);
		ret = raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf);
	}
	printf("in 24 MB: %ld more, then %s\n", made - 1, strerror((int)-ret));
	CHECK(ret == -ENOMEM && made < 8, "%ld more, then %ld", made, ret);
}

static void charged(void)
{
	int status;

	if (geteuid()) {
		printf("memory cgroup: not tried, not root\n");
		return;
	}
	write_to("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	if (mkdir(GROUP, 0755) || access(GROUP "/memory.current", F_OK)) {
		printf("memory cgroup: not tried, there is no memory controller\n");
		rmdir(GROUP);
		return;
	}
	status = in_child(in_group, NULL);
	/* An error or the kernel's killer ends the process at the limit; either holds it. */
	CHECK((WIFEXITED(status) && !WEXITSTATUS(status)) ||
		      (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL),
	      "memory cgroup: status %#x", status);
	wait_for_none();
	CHECK(!rmdir(GROUP) || errno == EBUSY, "rmdir of the cgroup: %s", strerror(errno));
}

int main(void)
{
	close(raw_open());
	big_init();
	no_leak();
	charged();
	return check_end();
}
