// SPDX-License-Identifier: MIT
/* code_test.c - what code.c says of calls in this very program, and insn.c of single instructions. */
#include <errno.h>
#include <link.h>
#include <stdlib.h>

#include "advise/code.h"
#include "advise/insn.h"
#include "test/check.h"

static uint64_t base; /* where the program is, less where its file says that it is */
static uint64_t function, address;
static int (*volatile pointer)(int);

__attribute__((noinline)) static int noted(int n)
{
	address = (uint64_t)__builtin_return_address(0) - base;
	__asm__ volatile("" : : : "memory");
	return n;
}

/* Each makes a call, and something after it, so that it is no jump. */
#define MAKES static __attribute__((noinline, noclone)) int

MAKES makes_once(int n)
{
	return noted(n) + 1;
}

MAKES makes_by_pointer(int n)
{
	return pointer(n) + 1;
}

MAKES makes_in_loop(int n)
{
	int sum = 0;

	while (n-- > 0)
		sum += noted(n);
	return sum;
}

MAKES makes_again(int n)
{
	int ret;

	do
		ret = noted(n);
	while (ret < 0 && errno == EINTR);
	return ret + 1;
}

/* The way back leads before the call, but no more to it. */
MAKES makes_after_loop(int n)
{
	int sum = 0;

	for (;;) {
		if (n % 2) {
			sum += noted(n);
			break;
		}
		sum += n--;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum * n;
}

MAKES makes_again_in_loop(int n)
{
	int sum = 0, ret;

	while (n-- > 0) {
		do
			ret = noted(n);
		while (ret < 0 && errno == EINTR);
		sum += ret;
	}
	return sum;
}

/* After it the table of functions has no other one. */
__attribute__((section("last_code"))) MAKES makes_last(int n)
{
	return noted(n) + 1;
}

static enum code_call look_at(struct codes *codes, int (*of)(int))
{
	function = (uint64_t)of - base;
	of(3);
	return code_look(codes, "/proc/self/exe", function, address);
}

static void test_code(void)
{
	struct codes *codes = codes_create();

	MUST(codes);
	pointer = noted;
	CHECK_EQ(look_at(codes, makes_once), CODE_ONCE);
	CHECK_EQ(look_at(codes, makes_by_pointer), CODE_POINTER);
	CHECK_EQ(look_at(codes, makes_in_loop), CODE_LOOP);
	CHECK_EQ(look_at(codes, makes_again), CODE_ONCE);
	CHECK_EQ(look_at(codes, makes_after_loop), CODE_ONCE);
	CHECK_EQ(look_at(codes, makes_again_in_loop), CODE_LOOP);
	CHECK_EQ(look_at(codes, makes_last), CODE_ONCE);
	/* No call, no function, no file. */
	CHECK_EQ(code_look(codes, "/proc/self/exe", function, address + 1), CODE_UNKNOWN);
	CHECK_EQ(code_look(codes, "/proc/self/exe", function, function), CODE_UNKNOWN);
	CHECK_EQ(code_look(codes, "/proc/self/exe", 1, 2), CODE_UNKNOWN);
	CHECK_EQ(code_look(codes, "/proc/self/exe", UINT64_MAX - 8, UINT64_MAX), CODE_UNKNOWN);
	CHECK_EQ(code_look(codes, "/dev/zero", function, address), CODE_UNKNOWN);
	CHECK_EQ(code_look(codes, "/proc/self/maps", function, address), CODE_UNKNOWN);
	CHECK_EQ(code_look(codes, "[vdso]", function, address), CODE_UNKNOWN);
	codes_destroy(codes);
}

static struct decoder *decoder;

static void decodes(const char *code, size_t size, unsigned int length, enum insn_kind kind,
		    int64_t target)
{
	struct insn insn;

	CHECK_EQ(insn_decode(decoder, (const uint8_t *)code, size, &insn), length);
	CHECK_EQ(insn.kind, kind);
	CHECK_EQ(insn.target, target);
	/* It looks at no byte more. */
	if (length)
		CHECK_EQ(insn_decode(decoder, (const uint8_t *)code, length - 1, &insn), 0);
}

#define DECODES(code, length, kind, target) decodes(code, sizeof(code) - 1, length, kind, target)

static void test_insn(void)
{
	decoder = decoder_create();
	MUST(decoder);
	DECODES("\xf3\x0f\x1e\xfa", 4, INSN_OTHER, 0);
	DECODES("\x48\x89\xe5", 3, INSN_OTHER, 0);
	DECODES("\x66\xc7\x44\x24\x08\x01\x02", 7, INSN_OTHER, 0);
	DECODES("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 10, INSN_OTHER, 0);
	DECODES("\xf6\x04\x25\x00\x00\x00\x00\x01", 8, INSN_OTHER, 0);
	DECODES("\xf7\xd8", 2, INSN_OTHER, 0);
	DECODES("\xc4\xe3\x71\x0f\xc2\x08", 6, INSN_OTHER, 0);
	DECODES("\x62\xf1\x7c\x48\x10\x40\x01", 7, INSN_OTHER, 0);
	DECODES("\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10, INSN_OTHER, 0);
	DECODES("\xe8\xfb\xff\xff\xff", 5, INSN_CALL, 0);
	DECODES("\xeb\xfe", 2, INSN_JUMP, 0);
	DECODES("\x0f\x84\x10\x00\x00\x00", 6, INSN_BRANCH_EQUAL, 0x16);
	DECODES("\x75\xf0", 2, INSN_BRANCH_UNEQUAL, -14);
	DECODES("\x7f\x02", 2, INSN_BRANCH, 4);
	DECODES("\xf3\xc3", 2, INSN_END, 0);
	DECODES("\x0f\x0b", 2, INSN_END, 0);
	DECODES("\xff\xd0", 2, INSN_POINTER_CALL, 0);
	DECODES("\x41\xff\x54\x24\x18", 5, INSN_POINTER_CALL, 0);
	DECODES("\xff\x15\x10\x00\x00\x00", 6, INSN_MEMORY_CALL, 0x16);
	DECODES("\x3e\xff\xe0", 3, INSN_POINTER_JUMP, 0);
	DECODES("\xff\x24\xc5\x00\x00\x00\x00", 7, INSN_POINTER_JUMP, 0);
	DECODES("\xff\x60\x18", 3, INSN_END, 0);
	DECODES("\x83\x38\x04", 3, INSN_COMPARE_EINTR, 0);
	DECODES("\x83\x38\x05", 3, INSN_OTHER, 0);
	/* None in 64 bits, and prefixes without end. */
	DECODES("\x06", 0, INSN_OTHER, 0);
	DECODES("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90", 0, INSN_OTHER,
		0);
	decoder_destroy(decoder);
}

static int program_base(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	base = info->dlpi_addr;
	return 1; /* the program comes first */
}

int main(void)
{
	dl_iterate_phdr(program_base, NULL);
	test_insn();
	test_code();
	return check_result();
}
