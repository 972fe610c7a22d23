/* SPDX-License-Identifier: MIT */
/*
 * Makes every ioctl with wrong numbers, sizes, flags and pointers; RUN inside RUN; closes the
 * device from inside.
 */
#include "raw.h"
#include <linux/io_uring.h>

/* The kernel maps its table of interrupts there in each machine. */
#define KERNEL_READABLE 0xfffffe0000000000

static const uint64_t bad_pointers[] = {
	0,
	1,
	0x1000,
	0x00007ffffffff000,
	0x00007ffffffffffc,
	0x0000800000000000,
	0xffff800000000000,
	0xffffffff81000000,
	0xfffffffffffffff0,
	0xffffffffffffffff,
	KERNEL_READABLE,
};

static const unsigned long requests[] = {
	COSY_IOC_VERSION, COSY_IOC_SETBUF, COSY_IOC_LOAD,  COSY_IOC_RUN,
	COSY_IOC_LIMITS,  COSY_IOC_FREE,   COSY_IOC_STATS, COSY_IOC_RECALL,
};

static const struct bpf_insn forty_two[] = { MOV(0, 42), EXIT };

static void still_works(int fd, const char *what)
{
	static struct raw_run r;
	long ret;

	raw_run_init(&r, raw_load(fd, forty_two, COUNT(forty_two)), NULL);
	ret = raw_run_to_end(fd, &r);
	CHECK(!ret && r.run.status == COSY_DONE && r.run.ret == 42,
	      "after %s: RUN is %ld, status %u, result %lld", what, ret, r.run.status,
	      (long long)r.run.ret);
}

static void arguments(int fd)
{
	long page = sysconf(_SC_PAGESIZE);
	char *memory =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *edge = memory + 2 * page;

	MUST(memory != MAP_FAILED);
	MUST(!munmap(edge, page));
	for (unsigned i = 0; i < COUNT(requests); i++) {
		for (unsigned j = 0; j < COUNT(bad_pointers); j++) {
			long ret = raw_ioctl(fd, requests[i], (void *)bad_pointers[j]);

			CHECK(ret == -EFAULT, "request %u at %#llx: %ld", i,
			      (unsigned long long)bad_pointers[j], ret);
		}
		/*
		 * Try sizes from nothing to far too much, with zeros and rubbish after it, also cut
		 * by a page's end.
		 */
		for (uint64_t size = 0; size < 3 * 4096; size += size < 300 ? 4 : 509) {
			uint32_t *arg = (uint32_t *)(memory + page);

			if (requests[i] == COSY_IOC_SETBUF && size >= sizeof(struct cosy_setbuf))
				continue; /* would succeed, once */
			memset(memory, 0, 2 * page);
			arg[0] = (uint32_t)size;
			long ret = raw_ioctl(fd, requests[i], arg);

			CHECK(ret <= 0, "request %u, size %llu: %ld", i, (unsigned long long)size,
			      ret);
			memset(memory, 0xa5, 2 * page);
			arg[0] = (uint32_t)size;
			ret = raw_ioctl(fd, requests[i], arg);
			CHECK(ret < 0 || requests[i] == COSY_IOC_VERSION ||
				      requests[i] == COSY_IOC_STATS ||
				      requests[i] == COSY_IOC_LIMITS,
			      "request %u, size %llu, rubbish: %ld", i, (unsigned long long)size,
			      ret);
			arg = (uint32_t *)(edge - 4 * (1 + size % 8));
			arg[0] = 4096;
			ret = raw_ioctl(fd, requests[i], arg);
			CHECK(ret == -EFAULT || ret == -EINVAL || ret == -E2BIG,
			      "request %u cut off: %ld", i, ret);
		}
		MUST(raw_ioctl(fd, requests[i], memory + page + 1) <= 0);
	}
	for (int i = 0; i < 100000; i++) {
		unsigned long request =
			i < 4096 ? (unsigned long)(0xc0004300 + (i << 8 & 0x3f0000) + i % 256)
				 : chance(0);
		unsigned int nr = request & 0xff, type = request >> 8 & 0xff;

		if (type == 'C' && nr >= 0x80 && nr < 0x90)
			continue;
		if ((request & 0xffff) == 0x5421 || (request & 0xff00) == 0x5400 || type == 0 ||
		    type == 'f')
			continue; /* the kernel's own, for every file: FIONBIO and such */
		CHECK(raw_ioctl(fd, request, memory) < 0, "unknown request %#lx was accepted",
		      request);
	}
	munmap(memory, 2 * page);
	raw_limits(fd, 0, 0);
	still_works(fd, "odd arguments");
}

static void run_arguments(int fd)
{
	static const struct bpf_insn calls[] = { MOV(6, 7), CALL(SYS_getpid), MOVR(0, 6), EXIT };
	static const struct bpf_insn faults[] = { MOV(1, 0), LOAD(BPF_DW, 0, 1, 0), EXIT };
	static const struct bpf_insn local[] = { CALL_LOCAL(1), EXIT, MOV(0, 5), EXIT };
	uint32_t handle = raw_load(fd, calls, COUNT(calls)),
		 fault = raw_load(fd, faults, COUNT(faults));
	uint32_t call = raw_load(fd, local, COUNT(local));
	static struct raw_run r;
	int taken = 0;
	long ret;

	/* RUN may resume at marked instructions only. */
	for (uint64_t i = 1; i < 70000; i += i < 20 ? 1 : 997) {
		raw_run_init(&r, handle, NULL);
		memset(&r.state, 0, sizeof(r.state));
		r.state.fp = ~0ull;
		r.state.reg[6] = 7;
		r.run.resume = (uint32_t)i;
		ret = raw_run_to_end(fd, &r);
		if (!ret)
			taken++;
		CHECK((!ret && i <= COUNT(calls)) || ret == -EINVAL, "resume %llu: RUN is %ld",
		      (unsigned long long)i, ret);
	}
	CHECK(taken >= 1 && taken <= 3, "%d resume points taken", taken);
	for (unsigned i = 0; i < COUNT(bad_pointers); i++) {
		/* RUN looks at the place for the state only when it leaves. */
		raw_run_init(&r, fault, NULL);
		r.run.state = bad_pointers[i];
		ret = raw_run(fd, &r);
		CHECK(ret == -EFAULT, "state at %#llx: RUN is %ld",
		      (unsigned long long)bad_pointers[i], ret);
		raw_run_init(&r, handle, NULL);
		r.run.resume = 2;
		r.run.state = bad_pointers[i];
		ret = raw_run(fd, &r);
		CHECK(ret == -EFAULT, "resume from a state at %#llx: RUN is %ld",
		      (unsigned long long)bad_pointers[i], ret);
		raw_run_init(&r, call, NULL);
		r.run.stack = bad_pointers[i];
		ret = raw_run(fd, &r);
		CHECK(ret == -EINVAL || ret == -EFAULT ||
			      (!ret && (r.run.status == COSY_LEFT_FAULT ||
					r.run.status == COSY_LEFT_STACK)),
		      "stack at %#llx: RUN is %ld, status %u", (unsigned long long)bad_pointers[i],
		      ret, r.run.status);
		raw_run_init(&r, call, (void *)bad_pointers[i]);
		r.run.stack_size = bad_pointers[i];
		ret = raw_run(fd, &r);
		CHECK(ret <= 0, "stack of %#llx bytes: RUN is %ld",
		      (unsigned long long)bad_pointers[i], ret);
	}
	raw_run_init(&r, call, NULL);
	r.run.stack += 8;
	CHECK(raw_run(fd, &r) == -EINVAL, "a misaligned stack was taken");
	for (uint32_t i = 0; i < 50; i++) {
		raw_run_init(&r, call + 1 + i * i * i * 7919, NULL);
		CHECK(raw_run(fd, &r) == -ENOENT, "handle %u exists", r.run.handle);
	}
	raw_run_init(&r, 0, NULL);
	CHECK(raw_run(fd, &r) == -ENOENT, "handle 0 exists");
	still_works(fd, "odd RUNs");
}

/* A compound that gets (descriptor, request, argument) in its context and makes that ioctl. */
static const struct bpf_insn does_ioctl[] = {
	MOVR(6, 1),	 LOAD(BPF_DW, 1, 6, 0),	  LOAD(BPF_DW, 2, 6, 8), LOAD(BPF_DW, 3, 6, 16),
	CALL(SYS_ioctl), STORE(BPF_DW, 6, 24, 0), CALL(SYS_getpid),	 EXIT,
};

static void inside(int fd)
{
	static struct raw_run outer, inner;
	uint32_t handle = raw_load(fd, does_ioctl, COUNT(does_ioctl)),
		 other = raw_load(fd, forty_two, COUNT(forty_two));
	struct cosy_free free = { .size = sizeof(free), .handle = handle };
	int second = raw_open();
	uint32_t there = raw_load(second, forty_two, COUNT(forty_two));
	int64_t ctx[4];
	long ret;

	/* Try the same descriptor, and another one. */
	for (int i = 0; i < 2; i++) {
		raw_run_init(&inner, i ? there : other, NULL);
		ctx[0] = i ? second : fd;
		ctx[1] = (int64_t)COSY_IOC_RUN;
		ctx[2] = (int64_t)(uintptr_t)&inner.run;
		raw_run_init(&outer, handle, ctx);
		ret = raw_run_to_end(fd, &outer);
		CHECK(!ret && outer.run.status == COSY_DONE && outer.run.ret == getpid(),
		      "RUN around RUN is %ld, status %u", ret, outer.run.status);
		CHECK(ctx[3] == -ELOOP, "RUN inside RUN is %lld", (long long)ctx[3]);
	}
	/* A program that is freed while it runs runs to its end. */
	ctx[0] = fd;
	ctx[1] = (int64_t)COSY_IOC_FREE;
	ctx[2] = (int64_t)(uintptr_t)&free;
	raw_run_init(&outer, handle, ctx);
	ret = raw_run_to_end(fd, &outer);
	CHECK(!ret && outer.run.status == COSY_DONE && outer.run.ret == getpid() && ctx[3] == 0,
	      "FREE inside RUN: %ld, status %u, FREE is %lld", ret, outer.run.status,
	      (long long)ctx[3]);
	CHECK(raw_run(fd, &outer) == -ENOENT, "freed, and still there");
	CHECK(raw_ioctl(fd, COSY_IOC_FREE, &free) == -ENOENT, "freed twice");
	close(second);
}

/* Closes its own device in the middle, and another file takes the number. */
static void closing(void)
{
	static const struct bpf_insn closes[] = {
		MOVR(6, 1),
		LOAD(BPF_DW, 1, 6, 0),
		CALL(SYS_close),
		MOVR(7, 0),
		MOV(1, -1),
		MOV(2, 0),
		MOV(3, 0),
		CALL(SYS_lseek),
		LOAD(BPF_DW, 1, 6, 8),
		MOV(2, 0),
		CALL(SYS_open),
		MOV(8, 100000),
		ADD(8, -1),
		JUMP_NE(8, 0, -2),
		MOVR(0, 7),
		EXIT,
	};
	static struct raw_run r;
	int fd = raw_open();
	uint64_t ctx[2] = { (uint64_t)fd, (uintptr_t)"/dev/null" };
	long ret;

	raw_buffer(fd, 1 << 16);
	raw_run_init(&r, raw_load(fd, closes, COUNT(closes)), ctx);
	ret = raw_run(fd, &r);
	/* Work that close puts off is due on the way out, so the RUN may leave there. */
	CHECK(!ret && (r.run.status == COSY_DONE || r.run.status == COSY_LEFT_WORK) &&
		      r.run.ret == 0,
	      "closing: RUN is %ld, status %u, close is %lld", ret, r.run.status,
	      (long long)r.run.ret);
	CHECK(raw_run(fd, &r) == -ENOTTY || raw_run(fd, &r) == -EBADF,
	      "closed, and still a device");
	close(fd);
}

#define CONTEXTS "/sys/module/cosy/parameters/max_user_contexts"

/* Makes a ring whose one request closes that descriptor.  Negative: there are none here. */
static int ring_closing(int fd)
{
	struct io_uring_params params = { 0 };
	int ring = (int)syscall(SYS_io_uring_setup, 1, &params);
	struct io_uring_sqe *request;
	char *queue;

	if (ring < 0)
		return ring;
	queue = mmap(NULL, params.sq_off.array + sizeof(uint32_t), PROT_READ | PROT_WRITE,
		     MAP_SHARED, ring, IORING_OFF_SQ_RING);
	request = mmap(NULL, sizeof(*request), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		       IORING_OFF_SQES);
	MUST(queue != MAP_FAILED && request != MAP_FAILED);
	*request = (struct io_uring_sqe){ .opcode = IORING_OP_CLOSE, .fd = fd };
	*(uint32_t *)(queue + params.sq_off.array) = 0;
	__atomic_store_n((uint32_t *)(queue + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	return ring;
}

/*
 * Closes its own device by a ring, which drops what is closed at once, not on the way to user mode.
 * The context stays until RUN ends: it still counts, so that no further one may be opened.
 */
static void closing_by_ring(void)
{
	static struct raw_run r;
	int own = raw_open(), ring = ring_closing(own);
	const struct bpf_insn closes[] = {
		MOV(1, ring),
		MOV(2, 1),
		MOV(3, 1),
		MOV(4, IORING_ENTER_GETEVENTS),
		MOV(5, 0),
		MOV(0, 0),
		CALL(SYS_io_uring_enter),
		MOVR(6, 0),
		WIDE(1, (uintptr_t)"/dev/cosy"),
		MOV(2, O_RDWR),
		CALL(SYS_open),
		EXIT,
	};
	long ret;

	/* With the caller's there are two. */
	if (ring < 0 || !file_write(CONTEXTS, "2")) {
		printf("closing by a ring: not tried\n");
		close(own);
		return;
	}
	raw_run_init(&r, raw_load(own, closes, COUNT(closes)), NULL);
	ret = raw_run(own, &r);
	MUST(file_write(CONTEXTS, "1024"));
	/* Linux 6.1 has a ring's work done on the way to user mode. */
	CHECK(!ret && (r.run.status == COSY_LEFT_WORK ||
		       (r.run.status == COSY_DONE && r.run.ret == -EDQUOT)),
	      "closing by a ring: RUN is %ld, status %u, open is %lld", ret, r.run.status,
	      (long long)r.run.ret);
	CHECK(close(own) && errno == EBADF, "it is not closed");
	close(ring);
}

int main(void)
{
	int fd = raw_open();

	chance_init();
	arguments(fd);
	run_arguments(fd);
	inside(fd);
	closing_by_ring();
	closing();
	still_works(fd, "all");
	return check_end();
}
