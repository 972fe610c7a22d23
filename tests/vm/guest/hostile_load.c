/* SPDX-License-Identifier: MIT */
/*
 * Calls LOAD with containers that are random, broken in one place, or as large and costly as
 * allowed: it gives an error or a program that behaves.  kmod_cost bounds what LOAD takes.
 */
#include "raw.h"

#define SECONDS 2

static void judged(long ret, const char *what)
{
	CHECK(ret == 0 || ret == -EINVAL || ret == -E2BIG || ret == -EDQUOT || ret == -ENOMEM,
	      "%s: LOAD is %ld", what, ret);
	CHECK(ret != -EINVAL || raw_log[0], "%s: refused without a reason", what);
	CHECK(memchr(raw_log, 0, sizeof(raw_log)), "%s: the reason has no end", what);
}

static void forget(int fd, const struct cosy_load *load)
{
	struct cosy_free free = { .size = sizeof(free), .handle = load->handle };

	MUST(!raw_ioctl(fd, COSY_IOC_FREE, &free));
}

static int random_containers(int fd)
{
	static struct raw_container c;
	double start = now_ms();
	struct cosy_load load;
	int taken = 0, tried = 0;

	for (; now_ms() - start < SECONDS * 1000; tried++) {
		size_t words = 1 + chance(200);
		uint64_t *raw = (uint64_t *)&c;

		for (size_t i = 0; i < sizeof(c.header) / 8 + words; i++)
			raw[i] = chance(0);
		if (tried % 4) { /* take a good header, and then perhaps change one field */
			memset(&c.header, 0, sizeof(c.header));
			c.header.magic = COSY_MAGIC;
			c.header.version = COSY_ABI_VERSION;
			c.header.header_size = sizeof(c.header);
			c.header.size = (uint32_t)(sizeof(c.header) + words * 8);
			c.header.insn_off = sizeof(c.header);
			c.header.insn_cnt = (uint32_t)words;
			if (tried % 4 == 1)
				((uint32_t *)&c.header)[chance(sizeof(c.header) / 4)] =
					(uint32_t)(chance(2) ? chance(0) : chance(1024));
		}
		memset(&load, 0, sizeof(load));
		load.size = sizeof(load);
		load.len = chance(8) ? c.header.size : (uint32_t)chance(0);
		load.compound = (uintptr_t)&c;
		load.log = (uintptr_t)raw_log;
		load.log_size = (uint32_t)(chance(4) ? sizeof(raw_log) : chance(4));
		strcpy(raw_log, "-");
		long ret = raw_ioctl(fd, COSY_IOC_LOAD, &load);

		CHECK(ret == 0 || ret == -EINVAL || ret == -E2BIG || ret == -EFAULT ||
			      ret == -ENOMEM,
		      "random: LOAD is %ld", ret);
		if (!ret) {
			taken++;
			forget(fd, &load);
		}
	}
	printf("random containers: %d tried, %d taken\n", tried, taken);
	return tried;
}

/* Changes one instruction of good programs, and runs those that are taken. */
static void mutated(int fd)
{
	static const struct bpf_insn good[] = {
		MOVR(6, 1),
		STORE(BPF_DW, 10, -8, 6),
		MOV(7, 10),
		CALL(SYS_getpid),
		ADDR(7, 0),
		LOAD(BPF_DW, 1, 10, -8),
		LOAD(BPF_DW, 2, 1, 0),
		STORE(BPF_DW, 1, 8, 2),
		ATOMIC(BPF_DW, 1, 16, 7, BPF_ADD | BPF_FETCH),
		CALL_LOCAL(8),
		WIDE(3, 0x123456789abcdef),
		MOV(8, 5),
		ADD(8, -1),
		JUMP_NE(8, 0, -2),
		CALL_OP(RAW_OP_fence),
		MOVR(0, 7),
		EXIT,
		STOREK(BPF_W, 10, -16, 3),
		LOAD(BPF_W, 0, 10, -16),
		EXIT,
	};
	static struct raw_run r;
	static char ctx[4096];
	double start = now_ms();
	int tried = 0, taken = 0, ran = 0;

	raw_limits(fd, 100000, 0);
	for (; now_ms() - start < SECONDS * 1000 || ran <= 100; tried++) {
		struct bpf_insn insns[COUNT(good)];
		struct cosy_load load;

		memcpy(insns, good, sizeof(good));
		for (uint64_t n = 1 + chance(3); n; n--) {
			unsigned char *byte =
				(unsigned char *)&insns[chance(COUNT(good))] + chance(8);

			*byte = (unsigned char)(chance(2) ? chance(256)
							  : *byte ^ (1u << chance(8)));
		}
		/* Leave out programs whose calls would hurt this process itself. */
		bool harmless = true;

		for (unsigned i = 0; i < COUNT(good); i++)
			if (insns[i].code == (BPF_JMP | BPF_CALL) && insns[i].src_reg == 0 &&
			    insns[i].imm != SYS_getpid && insns[i].imm < (int)COSY_OP_BASE)
				harmless = false;
		long ret = raw_try_load(fd, insns, COUNT(insns), &load);

		judged(ret, "mutated");
		if (ret)
			continue;
		taken++;
		if (harmless) {
			raw_run_init(&r, load.handle, ctx);
			ret = raw_run_to_end(fd, &r);
			CHECK(ret == 0 || ret == -EINTR, "mutated: RUN is %ld", ret);
			ran++;
		}
		forget(fd, &load);
	}
	raw_limits(fd, 0, 0);
	printf("mutated programs: %d tried, %d taken, %d run\n", tried, taken, ran);
}

/* Repeats each instruction, in programs as long as they may be. */
static void largest(int fd)
{
	static const struct {
		const char *name;
		struct bpf_insn insn;
	} worst[] = {
		{ "stores", STORE(BPF_DW, 1, 8, 2) },
		{ "store constants", STOREK(BPF_DW, 1, 8, 0x12345678) },
		{ "loads", LOAD(BPF_B, 2, 1, 3) },
		{ "atomics", ATOMIC(BPF_DW, 1, 0, 2, BPF_OR | BPF_FETCH) },
		{ "exchanges", ATOMIC(BPF_W, 1, 0, 2, BPF_CMPXCHG) },
		{ "divisions", INSN(BPF_ALU64 | BPF_DIV | BPF_X, 2, 3, 1, 0) },
		{ "remainders", INSN(BPF_ALU | BPF_MOD | BPF_X, 2, 3, 0, 0) },
		{ "constants", MOV(2, 0x12345678) },
		{ "jumps", JUMP_NE(2, 0x12345678, 0) },
		{ "back jumps", JUMP_NE(2, 0, -1) },
		{ "system calls", CALL(SYS_getpid) },
		{ "operations", CALL_OP(RAW_OP_fence) },
		{ "local calls", CALL_LOCAL(0) },
		{ "exits", EXIT },
	};
	static struct bpf_insn insns[COSY_MAX_INSNS + 1];
	struct cosy_load load;

	for (unsigned i = 0; i < COUNT(worst); i++) {
		double start = now_ms(), took;
		long ret;

		for (unsigned j = 0; j < COSY_MAX_INSNS - 1; j++) {
			insns[j] = worst[i].insn;
			if (!strcmp(worst[i].name, "local calls"))
				insns[j].imm =
					(int)(COSY_MAX_INSNS - 3 - j); /* all to the last but one */
		}
		insns[COSY_MAX_INSNS - 1] = EXIT;
		if (!strcmp(worst[i].name, "local calls")) {
			insns[COSY_MAX_INSNS - 3] = EXIT;
			insns[COSY_MAX_INSNS - 2] = MOV(0, 0);
		}
		ret = raw_try_load(fd, insns, COSY_MAX_INSNS, &load);
		took = now_ms() - start;
		printf("%u %s: %s, %u instructions, %u bytes, %.0f ms%s%s\n", COSY_MAX_INSNS,
		       worst[i].name, ret ? strerror((int)-ret) : "loaded", load.rewritten,
		       load.jited, took, ret ? ": " : "", ret ? raw_log : "");
		judged(ret, worst[i].name);
		if (!ret)
			forget(fd, &load);
	}
	insns[COSY_MAX_INSNS] = EXIT;
	{
		static struct {
			struct raw_container c;
			struct bpf_insn more;
		} big;
		long ret;

		raw_container(&big.c, insns, COSY_MAX_INSNS);
		big.more = EXIT;
		big.c.header.insn_cnt++;
		big.c.header.size += 8;
		ret = raw_load_container(fd, &big.c, &load);
		CHECK(ret == -E2BIG || ret == -EINVAL,
		      "one instruction more than allowed: LOAD is %ld", ret);
	}
}

int main(void)
{
	int fd = raw_open();
	static struct raw_run r;
	static const struct bpf_insn fine[] = { MOV(0, 42), EXIT };

	chance_init();
	raw_buffer(fd, 1 << 20);
	random_containers(fd);
	mutated(fd);
	largest(fd);
	raw_run_init(&r, raw_load(fd, fine, 2), NULL);
	CHECK(!raw_run_to_end(fd, &r) && r.run.ret == 42,
	      "an ordinary compound does not run any more");
	return check_end();
}
