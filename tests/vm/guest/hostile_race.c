/* SPDX-License-Identifier: MIT */
/*
 * Does everything at once to a few contexts, by eight threads: load, run, free, map, unmap, close,
 * open.
 */
#include "raw.h"
#include <pthread.h>
#include <stdatomic.h>

#define THREADS	 8
#define CONTEXTS 3
#define SIZE	 (1 << 16)
#define GUARD	 4096 /* bytes behind each buffer, since compounds also write beyond its end */
#define SECONDS	 4

static const struct bpf_insn touches[] = {
	MOVR(6, 1),
	MOV(7, 200),
	STORE(BPF_DW, 6, 0, 7),
	LOAD(BPF_DW, 2, 6, 8),
	STORE(BPF_DW, 6, 16, 2),
	CALL(SYS_getpid),
	ADD(7, -1),
	JUMP_NE(7, 0, -6),
	CALL_LOCAL(2),
	MOV(0, 3),
	EXIT,
	STORE(BPF_DW, 10, -8, 7),
	CALL_OP(RAW_OP_fence),
	EXIT,
};

static struct {
	_Atomic int fd;
	_Atomic(char *) buffer;
	_Atomic uint32_t handle;
} contexts[CONTEXTS];

/*
 * From here on nothing but contexts' buffers is mapped.  A thread may change or unmap one that
 * another has replaced already, and must not find a thread's stack in its place.
 */
static pthread_barrier_t all_are_there;
static _Atomic bool stop;
static _Atomic long done[10], strange;

static void on_usr1(int sig)
{
	(void)sig;
}

/* Lets each errno pass that a race explains. */
static void expect(long ret, const char *what)
{
	switch (ret) {
	case 0:
	case -EBADF:
	case -ENOENT:
	case -EBUSY:
	case -EINVAL:
	case -ENOMEM:
	case -EFAULT:
	case -ENODEV:
	case -EDQUOT:
	case -ENOTTY:
	case -EINTR:
		return;
	}
	if (!strange++)
		printf("%s: %ld\n", what, ret);
}

static void reopen(int i)
{
	int fd = open("/dev/cosy", O_RDWR | O_CLOEXEC), old;

	if (fd < 0)
		return;
	old = atomic_exchange(&contexts[i].fd, fd);
	close(old);
}

/* Maps a context's buffer with a page behind it that nobody may use: libc's heap might be there. */
static char *buffer_map(int fd)
{
	char *place = mmap(NULL, SIZE + GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (place == MAP_FAILED)
		return NULL;
	if (mmap(place, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED)
		return place;
	munmap(place, SIZE + GUARD);
	return NULL;
}

static void buffer_unmap(char *buffer)
{
	if (buffer)
		munmap(buffer, SIZE + GUARD);
}

static void map(int i)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = SIZE };
	int fd = contexts[i].fd;
	char *buffer;

	expect(raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf), "SETBUF");
	buffer = buffer_map(fd);
	if (buffer)
		buffer_unmap(atomic_exchange(&contexts[i].buffer, buffer));
}

static void *attack(void *arg)
{
	struct raw_run *r = aligned_alloc(16, (sizeof(*r) + 15) & -16ul);
	struct cosy_load load;

	raw_seed = (uint64_t)(uintptr_t)arg;
	pthread_barrier_wait(&all_are_there);
	while (!stop) {
		int i = (int)chance(CONTEXTS), what = (int)chance(40);
		struct cosy_free free = { .size = sizeof(free), .handle = contexts[i].handle };
		struct cosy_stats stats = { .size = sizeof(stats) };
		struct cosy_limits limits = { .size = sizeof(limits),
					      .max_steps = chance(3) ? 0 : chance(400) };
		char *old;

		switch (what) {
		case 0:
			reopen(i);
			break;
		case 1:
		case 2:
			map(i);
			break;
		case 3:
			buffer_unmap(atomic_exchange(&contexts[i].buffer, NULL));
			break;
		case 4:
			old = contexts[i].buffer;
			if (old)
				mprotect(old, chance(2) ? SIZE : 4096,
					 chance(2) ? PROT_READ : PROT_READ | PROT_WRITE);
			break;
		case 5:
			old = contexts[i].buffer;
			if (old)
				madvise(old, SIZE, MADV_DONTNEED);
			break;
		case 6:
		case 7:
			expect(raw_ioctl(contexts[i].fd, COSY_IOC_FREE, &free), "FREE");
			break;
		case 8:
			expect(raw_ioctl(contexts[i].fd, COSY_IOC_STATS, &stats), "STATS");
			break;
		case 9:
			expect(raw_ioctl(contexts[i].fd, COSY_IOC_LIMITS, &limits), "LIMITS");
			break;
		case 10:
			kill(getpid(), SIGUSR1);
			break;
		case 11:
		case 12:
		case 13:
		case 14:
		case 15: {
			long ret = raw_try_load(contexts[i].fd, touches, COUNT(touches), &load);

			expect(ret, "LOAD");
			if (!ret)
				contexts[i].handle = load.handle;
			break;
		}
		default: {
			char *buffer = contexts[i].buffer;
			long ret;

			raw_run_init(r, contexts[i].handle,
				     buffer ? buffer + chance(2) * (SIZE - 16) : (char *)r->stack);
			ret = raw_run(contexts[i].fd, r);
			expect(ret, "RUN");
			if (!ret && r->run.status < 10)
				done[r->run.status]++;
			/* Sometimes resume from wherever it left, on whatever is there now. */
			if (!ret && r->run.status && chance(2))
				expect(raw_run(contexts[i].fd, r), "RUN again");
		}
		}
	}
	free(r);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	long runs = 0;

	close(raw_open()); /* or skip */
	chance_init();
	handle(SIGUSR1, on_usr1, SA_RESTART);
	for (int i = 0; i < CONTEXTS; i++) {
		contexts[i].fd = raw_open();
		map(i);
		contexts[i].handle = raw_load(contexts[i].fd, touches, COUNT(touches));
	}
	MUST(!pthread_barrier_init(&all_are_there, NULL, THREADS));
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_create(&threads[i], NULL, attack, (void *)(uintptr_t)chance(0)));
	sleep_ms(SECONDS * 1000);
	stop = true;
	for (int i = 0; i < THREADS; i++)
		MUST(!pthread_join(threads[i], NULL));
	printf("RUNs by status:");
	for (int i = 0; i < 10; i++) {
		printf(" %ld", done[i]);
		runs += done[i];
	}
	printf("\n");
	CHECK(!strange, "%ld strange results", strange);
	CHECK(runs > 200 && done[COSY_DONE] > 50, "%ld runs, %ld to the end", runs,
	      done[COSY_DONE]);
	return check_end();
}
