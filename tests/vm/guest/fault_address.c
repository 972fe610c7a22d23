/* SPDX-License-Identifier: MIT */
/*
 * Uses bad pointers in a region: signal, code and address are those of plain code, for each size
 * and kind of access, also across a page's end; and nothing is ever read or written through a
 * pointer into the kernel.
 */
#include "fault.h"

static void same(const char *what, uint64_t address, bool must_fault)
{
	for (int i = 0; i < FAULT_WAYS; i++) {
		const struct fault_way *way = &fault_ways[i];
		volatile void *p = (volatile void *)address;
		struct outcome plain = fault_try(way->plain, p), region = fault_try(way->region, p);

		CHECK(region.sig == plain.sig && region.code == plain.code &&
			      region.address == plain.address,
		      "%s at %s %#llx: signal %d code %d address %p, plain code has %d %d %p",
		      way->name, what, (unsigned long long)address, region.sig, region.code,
		      region.address, plain.sig, plain.code, plain.address);
		CHECK(!must_fault || (region.sig == SIGSEGV && region.value == FAULT_POISON),
		      "%s at %s %#llx: signal %d, read %#llx", way->name, what,
		      (unsigned long long)address, region.sig, (unsigned long long)region.value);
		if (!must_fault && !plain.sig) /* read the same, by the plain one's own effect */
			CHECK((region.value == FAULT_POISON) == (plain.value == FAULT_POISON),
			      "%s at %s: read %#llx and %#llx", way->name, what,
			      (unsigned long long)region.value, (unsigned long long)plain.value);
	}
}

int main(void)
{
	static const uint64_t kernel[] = {
		0xffffffff81000000, 0xffffffff82000000, 0xffffffffc0000000, 0xffffffffff600000,
		0xffffffffff5fd000, 0xffff800000000000, 0xffff888000000000, 0xffffc90000000000,
		0xffffea0000000000, 0xfffffe0000000000, 0x0000800000000000, 0x00007ffffffff000,
		0x00007ffffffffff9, 0x0000800000000fff, 0x8000000000000000, 0x7fffffffffffffff,
		0xffff7fffffffffff, 0xffffffffffffffff, 0xfffffffffffffff8, 0xfffffffffffff000,
		0xffffffff80000000, 0xffffffff7fffffff, 0xdead000000000100, 0x0100000000000000,
	};
	struct cosy_stats before = counts(), after;
	long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile unsigned local = 7;

	MUST(p != MAP_FAILED);
	fault_catch();
	same("null", 0, true);
	same("null", 8, true);
	same("nothing", (uint64_t)p, true);
	MUST(!mprotect(p + page, page, PROT_READ));
	same("read-only", (uint64_t)p + page, false);
	MUST(!mprotect(p + page, page, PROT_READ | PROT_WRITE));
	same("good", (uint64_t)p + page, false);
	for (int back = 1; back < 8; back++)
		same("a page's end", (uint64_t)p + 2 * page - back, false);
	for (int back = 1; back < 8; back++)
		same("a page's start", (uint64_t)p + page - back, false);
	for (unsigned i = 0; i < sizeof(kernel) / sizeof(kernel[0]); i++)
		same("kernel", kernel[i], true);
	after = counts();
	if (kernel_expected())
		CHECK(after.left[COSY_LEFT_FAULT] - before.left[COSY_LEFT_FAULT] >=
			      20ull * FAULT_WAYS,
		      "only %llu faults met in the kernel",
		      (unsigned long long)(after.left[COSY_LEFT_FAULT] -
					   before.left[COSY_LEFT_FAULT]));
	/* The process must still be in order: an ordinary region runs in it, in the kernel. */
	before = counts();
	COSY_START;
	local = local * 6 + (getpid() > 0 ? 0 : 1);
	COSY_END;
	CHECK(local == 42, "%u", local);
	CHECK_KERNEL(before, 1, 1);
	return check_end();
}
