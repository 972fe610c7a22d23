/* SPDX-License-Identifier: MIT */
/*
 * raw.h - makes compounds by hand and gives them straight to /dev/cosy, without libcosy.
 *
 * A program that needs the module ends as skipped where there is none.
 */
#ifndef RAW_H
#define RAW_H

#include "check.h"
#include <linux/bpf.h>
#include <sys/syscall.h>

/* Returns whether this kernel's JIT has based accesses, so that one code serves each buffer. */
HELPER bool jit_is_based(void)
{
	return kernel_is_from(6, 9);
}

/* --- Instructions -------------------------------------------------------------- */

#define INSN(c, d, s, o, i)                                                                        \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define MOV(d, i)		    INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define MOVR(d, s)		    INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define ADD(d, i)		    INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define ADDR(d, s)		    INSN(BPF_ALU64 | BPF_ADD | BPF_X, d, s, 0, 0)
#define LOAD(size, d, s, o)	    INSN(BPF_LDX | BPF_MEM | (size), d, s, o, 0)
#define STORE(size, d, o, s)	    INSN(BPF_STX | BPF_MEM | (size), d, s, o, 0)
#define STOREK(size, d, o, i)	    INSN(BPF_ST | BPF_MEM | (size), d, 0, o, i)
#define ATOMIC(size, d, o, s, what) INSN(BPF_STX | BPF_ATOMIC | (size), d, s, o, what)
#define WIDE(d, v)                                                                                 \
	INSN(BPF_LD | BPF_IMM | BPF_DW, d, 0, 0, (int)(uint32_t)(uint64_t)(v)),                    \
		INSN(0, 0, 0, 0, (int)(uint32_t)((uint64_t)(v) >> 32))
#define JUMP(o)		 INSN(BPF_JMP | BPF_JA, 0, 0, o, 0)
#define JUMP_NE(d, i, o) INSN(BPF_JMP | BPF_JNE | BPF_K, d, 0, o, i)
#define JUMP_LT(d, i, o) INSN(BPF_JMP | BPF_JLT | BPF_K, d, 0, o, i)
#define CALL(n)		 INSN(BPF_JMP | BPF_CALL, 0, 0, 0, n)
#define CALL_OP(n)	 CALL((int)COSY_OP_BASE + (n))
#define CALL_LOCAL(o)	 INSN(BPF_JMP | BPF_CALL, 0, 1, 0, o)
#define EXIT		 INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* RAW_OP_memcpy, ...: for CALL_OP. */
enum {
#define COSY_OP(number, name, args, flags) RAW_OP_##name = (number),
#include "../../../core/ops.def"
	RAW_OPS
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* --- The device ------------------------------------------------------------------ */

HELPER int raw_open(void)
{
	int fd = open("/dev/cosy", O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		const char *expect = getenv("CHECK_EXPECT");

		if (expect && !strcmp(expect, "kernel"))
			MUST(fd >= 0);
		SKIP("/dev/cosy: %s", strerror(errno));
	}
	return fd;
}

/* Makes an ioctl.  Returns the kernel's result: a negative errno for an error. */
HELPER long raw_ioctl(int fd, unsigned long request, void *arg)
{
	long ret = syscall(SYS_ioctl, fd, request, arg);

	return ret == -1 ? -errno : ret;
}

/* Returns a mapped shared buffer of that size. */
HELPER char *raw_buffer(int fd, size_t size)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = size };
	char *buffer;

	MUST(!raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf));
	buffer = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(buffer != MAP_FAILED);
	return buffer;
}

struct raw_container {
	struct cosy_compound header;
	struct bpf_insn insns[COSY_MAX_INSNS];
};

HELPER void raw_container(struct raw_container *c, const struct bpf_insn *insns, size_t count)
{
	memset(&c->header, 0, sizeof(c->header));
	c->header.magic = COSY_MAGIC;
	c->header.version = COSY_ABI_VERSION;
	c->header.header_size = sizeof(c->header);
	c->header.size = (uint32_t)(sizeof(c->header) + count * sizeof(*insns));
	c->header.insn_off = sizeof(c->header);
	c->header.insn_cnt = (uint32_t)count;
	memcpy(c->insns, insns, count * sizeof(*insns));
}

static char raw_log[256];

/* Returns 0 and a handle, or a negative errno with raw_log and *load filled in. */
HELPER long raw_load_container(int fd, const struct raw_container *c, struct cosy_load *load)
{
	memset(load, 0, sizeof(*load));
	load->size = sizeof(*load);
	load->len = c->header.size;
	load->compound = (uintptr_t)c;
	load->log = (uintptr_t)raw_log;
	load->log_size = sizeof(raw_log);
	raw_log[0] = 0;
	return raw_ioctl(fd, COSY_IOC_LOAD, load);
}

HELPER long raw_try_load(int fd, const struct bpf_insn *insns, size_t count, struct cosy_load *load)
{
	static _Thread_local struct raw_container c;

	raw_container(&c, insns, count);
	return raw_load_container(fd, &c, load);
}

/* Returns the handle; the test ends if the program is refused. */
HELPER uint32_t raw_load(int fd, const struct bpf_insn *insns, size_t count)
{
	struct cosy_load load;
	long ret = raw_try_load(fd, insns, count, &load);

	if (ret) {
		printf("FAIL: LOAD: %s, instruction %u: %s\n", strerror((int)-ret), load.bad_insn,
		       raw_log);
		exit(1);
	}
	return load.handle;
}

#define RAW_STACK 65536

/* A run and all it needs, 16-byte aligned. */
struct raw_run {
	struct cosy_run run;
	struct cosy_state state;
	char stack[RAW_STACK] __attribute__((aligned(16)));
};

HELPER void raw_run_init(struct raw_run *r, uint32_t handle, void *ctx)
{
	memset(&r->run, 0, sizeof(r->run));
	r->run.size = sizeof(r->run);
	r->run.handle = handle;
	r->run.ctx = (uintptr_t)ctx;
	r->run.state = (uintptr_t)&r->state;
	r->run.stack = (uintptr_t)r->stack;
	r->run.stack_size = sizeof(r->stack);
}

HELPER long raw_run(int fd, struct raw_run *r)
{
	return raw_ioctl(fd, COSY_IOC_RUN, &r->run);
}

/* Runs through all signals to the end.  Returns the last RUN's result. */
HELPER long raw_run_to_end(int fd, struct raw_run *r)
{
	long ret;

	do
		ret = raw_run(fd, r);
	while (!ret && r->run.status == COSY_LEFT_WORK);
	return ret;
}

HELPER void raw_limits(int fd, uint64_t steps, uint64_t ns)
{
	struct cosy_limits limits = { .size = sizeof(limits),
				      .max_steps = steps,
				      .max_kernel_ns = ns };

	MUST(!raw_ioctl(fd, COSY_IOC_LIMITS, &limits));
}

/* --- Chance ------------------------------------------------------------------------ */

static _Thread_local uint64_t raw_seed;

/* Returns the same numbers each time for the same seed, so that a failure can be had again. */
HELPER uint64_t chance(uint64_t below)
{
	raw_seed += 0x9e3779b97f4a7c15u;
	uint64_t x = raw_seed;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return below ? x % below : x;
}

/*
 * Takes SEED from the environment, else always the same one, so that a test says the same of the
 * same tree.
 */
HELPER void chance_init(void)
{
	const char *seed = getenv("SEED");

	raw_seed = seed ? strtoull(seed, NULL, 0) : 1;
	printf("SEED=%#llx\n", (unsigned long long)raw_seed);
	fflush(stdout);
}

#endif /* RAW_H */
