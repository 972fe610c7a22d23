// SPDX-License-Identifier: MIT
/*
 * builder_test.c - builds every construct of FSL-02-01 section 2.3.1 by hand and runs it; and makes
 * mistakes.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/cosy.h>

#include <cosy/builder.h>

#include "check.h"

static struct cosy *cosy;

/* Builds and runs.  Returns the exit value.  `vars` is cosy_run's ctx. */
static int64_t finish(struct cosy_builder *b, int64_t *vars, size_t count)
{
	struct cosy_loaded *loaded;
	struct cosy_error error;
	int64_t value = -1;

	if (cosy_build(cosy, b, &loaded, &error)) {
		fprintf(stderr, "statement %u: %s\n", error.statement, error.reason);
		exit(1);
	}
	CHECK_EQ(cosy_run(cosy, loaded, vars, count * sizeof(*vars), &value, &error), 0);
	cosy_unload(loaded);
	cosy_builder_destroy(b);
	return value;
}

static struct cosy_builder *begin(void)
{
	struct cosy_builder *b = cosy_builder_create("test");

	MUST(b);
	return b;
}

/* --- Assignment, arithmetic, memory ------------------------------------------------------ */

/* Computes as C does where C defines it, and as RFC 9669 does where not. */
static int64_t expected(int64_t a, enum cosy_operator op, int64_t b)
{
	uint64_t ua = a, ub = b;
	bool wraps = a == INT64_MIN && b == -1;

	switch (op) {
	case COSY_ADD:
		return ua + ub;
	case COSY_SUB:
		return ua - ub;
	case COSY_MUL:
		return ua * ub;
	case COSY_DIV:
		return !b ? 0 : wraps ? a : a / b;
	case COSY_MOD:
		return !b ? a : wraps ? 0 : a % b;
	case COSY_UDIV:
		return b ? ua / ub : 0;
	case COSY_UMOD:
		return b ? ua % ub : ua;
	case COSY_AND:
		return a & b;
	case COSY_OR:
		return a | b;
	case COSY_XOR:
		return a ^ b;
	case COSY_SHL:
		return ua << (b & 63);
	case COSY_SHR:
		return a >> (b & 63);
	case COSY_USHR:
		return ua >> (b & 63);
	case COSY_EQ:
		return a == b;
	case COSY_NE:
		return a != b;
	case COSY_LT:
		return a < b;
	case COSY_LE:
		return a <= b;
	case COSY_GT:
		return a > b;
	case COSY_GE:
		return a >= b;
	case COSY_ULT:
		return ua < ub;
	case COSY_ULE:
		return ua <= ub;
	case COSY_UGT:
		return ua > ub;
	case COSY_UGE:
		return ua >= ub;
	case COSY_TEST:
		return (a & b) != 0;
	case COSY_LAND:
		return a && b;
	case COSY_LOR:
		return a || b;
	}
	return 0;
}

/* Tries every operator on one pair of values, the right one a variable or a constant. */
static void compute(int64_t left, int64_t right, bool constant)
{
	struct cosy_builder *b = begin();
	int64_t vars[2 + COSY_LOR + 1] = {left, right};
	int l = cosy_var(b), r = cosy_var(b), dst;
	struct cosy_value by = constant ? cosy_int(right) : cosy_ref(r);

	for (enum cosy_operator op = COSY_ADD; op <= COSY_LOR; op++) {
		bool divides = op >= COSY_DIV && op <= COSY_UMOD;
		bool shifts = op >= COSY_SHL && op <= COSY_USHR;

		dst = cosy_var(b);
		/* As constants these are mistakes, see mistakes(). */
		if (constant && ((divides && !right) || (shifts && (right < 0 || right > 63))))
			vars[dst] = expected(left, op, right);
		else
			cosy_arith(b, dst, cosy_ref(l), op, by);
	}
	finish(b, vars, sizeof(vars) / sizeof(*vars));
	for (enum cosy_operator op = COSY_ADD; op <= COSY_LOR; op++)
		CHECK_EQ(vars[2 + op], expected(left, op, right));
}

static void arithmetic(void)
{
	static const int64_t values[] = {
		0, 1, -1, 2, 7, -7, 63, 1000000007, INT32_MIN, 1ll << 40, INT64_MAX, INT64_MIN};
	unsigned int n = sizeof(values) / sizeof(*values);

	for (unsigned int i = 0; i < n * n * 2; i++)
		compute(values[i / 2 % n], values[i / 2 / n], i % 2);
}

static void unary_and_conversions(void)
{
	int64_t v = 0x8182838485868788, vars[11] = {v};
	struct cosy_builder *b = begin();
	int in = cosy_var(b);

	cosy_unary(b, cosy_var(b), COSY_NEG, cosy_ref(in));
	cosy_unary(b, cosy_var(b), COSY_NOT, cosy_ref(in));
	cosy_unary(b, cosy_var(b), COSY_LNOT, cosy_ref(in));
	for (enum cosy_width w = COSY_U8; w <= COSY_64; w++)
		cosy_convert(b, cosy_var(b), cosy_ref(in), w);
	finish(b, vars, 11);
	CHECK_EQ(vars[1], -v);
	CHECK_EQ(vars[2], ~v);
	CHECK_EQ(vars[3], 0);
	CHECK_EQ(vars[4], (uint8_t)v);
	CHECK_EQ(vars[5], (int8_t)v);
	CHECK_EQ(vars[6], (uint16_t)v);
	CHECK_EQ(vars[7], (int16_t)v);
	CHECK_EQ(vars[8], (uint32_t)v);
	CHECK_EQ(vars[9], (int32_t)v);
	CHECK_EQ(vars[10], v);
}

static void memory(void)
{
	unsigned char mem[] = {1, 2, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 9, 10};
	int64_t vars[9] = {2}, big = INT64_C(0x1122334455667788);
	struct cosy_builder *b = begin();
	int off = cosy_var(b);

	for (enum cosy_width w = COSY_U8; w <= COSY_64; w++)
		cosy_load_from(b, cosy_var(b), cosy_ptr(mem), cosy_ref(off), w);
	cosy_load_from(b, cosy_var(b), cosy_ptr(mem), cosy_int(9), COSY_U8);
	finish(b, vars, 9);
	CHECK_EQ(vars[1], 0x83);
	CHECK_EQ(vars[2], (int8_t)0x83);
	CHECK_EQ(vars[3], 0x8483);
	CHECK_EQ(vars[4], (int16_t)0x8483);
	CHECK_EQ(vars[5], 0x86858483);
	CHECK_EQ(vars[6], (int32_t)0x86858483);
	CHECK_EQ(vars[7], 0x0a09888786858483);
	CHECK_EQ(vars[8], 10);

	b = begin();
	cosy_store_to(b, cosy_ptr(mem), cosy_int(0), COSY_U8, cosy_int(big));
	cosy_store_to(b, cosy_ptr(mem), cosy_int(1), COSY_U16, cosy_int(big));
	cosy_store_to(b, cosy_ptr(mem), cosy_int(3), COSY_U32, cosy_int(big));
	finish(b, NULL, 0);
	CHECK(!memcmp(mem, "\x88\x88\x77\x88\x77\x66\x55\x88\x09\x0a", 10));
	b = begin();
	cosy_store_to(b, cosy_ptr(mem), cosy_int(1), COSY_64, cosy_int(big));
	finish(b, NULL, 0);
	CHECK(!memcmp(mem + 1, &big, 8) && mem[9] == 10 && mem[0] == 0x88);
}

/* --- System calls ---------------------------------------------------------------------------- */

/* Statements are indented as the C that they stand for. */
/* clang-format off */

/* Builds the copy program of HotOS IX section 2.4, with a dependency of every kind. */
static void copy(void)
{
	char from[] = "/tmp/cosy-from-XXXXXX", to[] = "/tmp/cosy-to-XXXXXX", data[10000], back[10001];
	static char buf[4096];
	struct cosy_builder *b = begin();
	int64_t vars[4] = { 0 };
	int in = cosy_var(b), out = cosy_var(b), n = cosy_var(b), total = cosy_var(b);
	int fd = mkstemp(from);

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7 + i / 256);
	MUST(write(fd, data, sizeof(data)) == sizeof(data));
	close(fd);
	close(mkstemp(to));

	cosy_open(b, in, cosy_ptr(from), cosy_int(O_RDONLY), cosy_int(0));
	cosy_open(b, out, cosy_ptr(to), cosy_int(O_WRONLY | O_TRUNC), cosy_int(0));
	cosy_do(b);
		cosy_read(b, n, cosy_ref(in), cosy_ptr(buf), cosy_int(sizeof(buf)));
		cosy_write(b, COSY_NO_VAR, cosy_ref(out), cosy_ptr(buf), cosy_ref(n));
		cosy_arith(b, total, cosy_ref(total), COSY_ADD, cosy_ref(n));
	cosy_do_while(b, cosy_ref(n), COSY_EQ, cosy_int(sizeof(buf)));
	cosy_close(b, COSY_NO_VAR, cosy_ref(in));
	cosy_close(b, COSY_NO_VAR, cosy_ref(out));
	cosy_stop(b, cosy_ref(total));
	CHECK_EQ(finish(b, vars, 4), sizeof(data));
	CHECK_EQ(vars[3], sizeof(data));
	fd = open(to, O_RDONLY);
	CHECK_EQ(read(fd, back, sizeof(back)), sizeof(data));
	CHECK(!memcmp(data, back, sizeof(data)));
	close(fd);
	unlink(from);
	unlink(to);
}

static void calls(void)
{
	int64_t vars[3] = { 0 };
	struct cosy_builder *b = begin();
	int a = cosy_var(b), address = cosy_var(b), len = cosy_var(b);

	/* Pass six arguments; and have a result written through a variable's address. */
	cosy_mmap(b, a, cosy_int(0), cosy_int(4096), cosy_int(1), cosy_int(0x22), cosy_int(-1), cosy_int(1));
	cosy_time(b, COSY_NO_VAR, cosy_addr(address));
	cosy_strlen(b, len, cosy_ptr("four"));
	finish(b, vars, 3);
	CHECK_EQ(vars[0], -EINVAL);
	CHECK(vars[1] > 1000000000);
	CHECK_EQ(vars[2], 4);
}

/*
 * --- Control flow -------------------------------------------------------------------------------
 */

/* Adds a decimal digit to a trace, which tells the way that was taken. */
static void digit(struct cosy_builder *b, int trace, int d)
{
	cosy_arith(b, trace, cosy_ref(trace), COSY_MUL, cosy_int(10));
	cosy_arith(b, trace, cosy_ref(trace), COSY_ADD, cosy_int(d));
}

static int64_t branches(int64_t x)
{
	struct cosy_builder *b = begin();
	int64_t vars[2] = { x };
	int in = cosy_var(b), t = cosy_var(b);

	cosy_if(b, cosy_ref(in), COSY_LT, cosy_int(0));
		digit(b, t, 1);
	cosy_else(b);
		digit(b, t, 2);
		cosy_if(b, cosy_ref(in), COSY_TEST, cosy_int(1));
			digit(b, t, 3);
		cosy_end(b);
		cosy_if(b, cosy_int(1ll << 40), COSY_UGT, cosy_ref(in));
			digit(b, t, 4);
		cosy_end(b);
	cosy_end(b);
	digit(b, t, 5);
	cosy_stop(b, cosy_ref(t));
	digit(b, t, 6);
	return finish(b, vars, 2);
}

static void loops(void)
{
	int64_t vars[5] = { 0 };
	struct cosy_builder *b = begin();
	int i = cosy_var(b), j = cosy_var(b), sum = cosy_var(b), limit = cosy_var(b), t = cosy_var(b);

	/* while, with continue and break: 1 + 3 + 5 + 7 */
	cosy_while(b, cosy_int(1), COSY_EQ, cosy_int(1));
		cosy_arith(b, i, cosy_ref(i), COSY_ADD, cosy_int(1));
		cosy_if(b, cosy_ref(i), COSY_GT, cosy_int(8));
			cosy_break(b);
		cosy_end(b);
		cosy_if(b, cosy_ref(i), COSY_TEST, cosy_int(1));
			cosy_arith(b, sum, cosy_ref(sum), COSY_ADD, cosy_ref(i));
			cosy_continue(b);
		cosy_end(b);
		cosy_arith(b, t, cosy_ref(t), COSY_ADD, cosy_int(1));
	cosy_end(b);
	/* for in for; the bound is evaluated once. */
	cosy_assign(b, limit, cosy_int(10));
	cosy_for(b, i, cosy_int(0), COSY_LT, cosy_ref(limit), 2);
		cosy_assign(b, limit, cosy_int(3));
		cosy_for(b, j, cosy_ref(i), COSY_GE, cosy_int(0), -1);
			cosy_if(b, cosy_ref(j), COSY_EQ, cosy_int(3));
				cosy_continue(b);
			cosy_end(b);
			cosy_arith(b, sum, cosy_ref(sum), COSY_ADD, cosy_int(100));
		cosy_end(b);
	cosy_end(b);
	/* Build a for that is not entered, and one with a step that fits no immediate. */
	cosy_for(b, j, cosy_int(5), COSY_LT, cosy_int(5), 1);
		cosy_assign(b, sum, cosy_int(-1));
	cosy_end(b);
	cosy_for(b, j, cosy_int(0), COSY_LT, cosy_int(1ll << 41), 1ll << 40);
		cosy_arith(b, sum, cosy_ref(sum), COSY_ADD, cosy_int(10000));
	cosy_end(b);
	/* A do-while runs once though the condition is false; continue goes to the condition. */
	cosy_do(b);
		cosy_arith(b, sum, cosy_ref(sum), COSY_ADD, cosy_int(100000));
		cosy_if(b, cosy_int(0), COSY_EQ, cosy_int(0));
			cosy_continue(b);
		cosy_end(b);
		cosy_assign(b, sum, cosy_int(-1));
	cosy_do_while(b, cosy_int(0), COSY_NE, cosy_int(0));
	finish(b, vars, 5);
	/* inner iterations: 1 + 3 + 5 + 7 + 9, less the 3 in which j is 3 */
	CHECK_EQ(vars[2], 16 + 100 * (25 - 3) + 2 * 10000 + 100000);
	CHECK_EQ(vars[0], 10);
	CHECK_EQ(vars[4], 4);
}

static int64_t switched(int64_t x)
{
	struct cosy_builder *b = begin();
	int64_t vars[2] = { x };
	int in = cosy_var(b), t = cosy_var(b);

	cosy_switch(b, cosy_ref(in));
	cosy_case(b, 1);
		digit(b, t, 1);
		cosy_break(b);
	cosy_case(b, 2);
		digit(b, t, 2);
		/* falls through */
	cosy_case(b, 3);
		digit(b, t, 3);
		cosy_switch(b, cosy_ref(in));
		cosy_case(b, 3);
			digit(b, t, 7);
		cosy_end(b);
		cosy_break(b);
	cosy_default(b);
		digit(b, t, 4);
		cosy_break(b);
	cosy_case(b, -(1ll << 35));
		digit(b, t, 5);
	cosy_end(b);
	digit(b, t, 9);
	finish(b, vars, 2);
	return vars[1];
}

static void gotos(void)
{
	int64_t vars[2] = { 0 };
	struct cosy_builder *b = begin();
	int i = cosy_var(b), sum = cosy_var(b), again = cosy_label(b), out = cosy_label(b);

	cosy_place(b, again);
	cosy_arith(b, i, cosy_ref(i), COSY_ADD, cosy_int(1));
	cosy_while(b, cosy_int(1), COSY_EQ, cosy_int(1));
		cosy_if(b, cosy_ref(i), COSY_GT, cosy_int(10));
			cosy_goto(b, out);
		cosy_end(b);
		cosy_arith(b, sum, cosy_ref(sum), COSY_ADD, cosy_ref(i));
		cosy_goto(b, again);
	cosy_end(b);
	cosy_place(b, out);
	finish(b, vars, 2);
	CHECK_EQ(vars[1], 55);
}

/*
 * --- User functions
 * --------------------------------------------------------------------------------
 */

static void functions(void)
{
	int64_t vars[3] = { 0 };
	struct cosy_builder *b = begin();
	int result = cosy_var(b), counter = cosy_var(b), parity = cosy_var(b);
	int fib, even, odd, left, sum, unused;

	/*
	 * It calls itself, with locals that live across the calls, and a variable of the compound.
	 */
	fib = cosy_function(b, 1);
		left = cosy_var(b);
		cosy_arith(b, counter, cosy_ref(counter), COSY_ADD, cosy_int(1));
		cosy_if(b, cosy_ref(cosy_param(b, 0)), COSY_LT, cosy_int(2));
			cosy_return(b, cosy_ref(cosy_param(b, 0)));
		cosy_end(b);
		cosy_arith(b, left, cosy_ref(cosy_param(b, 0)), COSY_SUB, cosy_int(1));
		cosy_invoke(b, left, fib, 1, (struct cosy_value[]){ cosy_ref(left) });
		cosy_arith(b, cosy_param(b, 0), cosy_ref(cosy_param(b, 0)), COSY_SUB, cosy_int(2));
		cosy_invoke(b, cosy_param(b, 0), fib, 1, (struct cosy_value[]){ cosy_ref(cosy_param(b, 0)) });
		cosy_arith(b, left, cosy_ref(left), COSY_ADD, cosy_ref(cosy_param(b, 0)));
		cosy_return(b, cosy_ref(left));
	cosy_end(b);

	/* Two functions call each other, by declaration. */
	even = cosy_declare(b, 1);
	odd = cosy_declare(b, 1);
	cosy_define(b, even);
		cosy_if(b, cosy_ref(cosy_param(b, 0)), COSY_EQ, cosy_int(0));
			cosy_return(b, cosy_int(1));
		cosy_end(b);
		cosy_arith(b, cosy_param(b, 0), cosy_ref(cosy_param(b, 0)), COSY_SUB, cosy_int(1));
		cosy_invoke(b, cosy_param(b, 0), odd, 1, (struct cosy_value[]){ cosy_ref(cosy_param(b, 0)) });
		cosy_return(b, cosy_ref(cosy_param(b, 0)));
	cosy_end(b);
	cosy_define(b, odd);
		cosy_if(b, cosy_ref(cosy_param(b, 0)), COSY_EQ, cosy_int(0));
			cosy_return(b, cosy_int(0));
		cosy_end(b);
		cosy_arith(b, cosy_param(b, 0), cosy_ref(cosy_param(b, 0)), COSY_SUB, cosy_int(1));
		cosy_invoke(b, cosy_param(b, 0), even, 1, (struct cosy_value[]){ cosy_ref(cosy_param(b, 0)) });
		cosy_return(b, cosy_ref(cosy_param(b, 0)));
	cosy_end(b);

	/* It has all five parameters, and returns at its end. */
	sum = cosy_function(b, 5);
		for (int i = 0; i < 5; i++)
			cosy_arith(b, result, cosy_ref(result), COSY_ADD, cosy_ref(cosy_param(b, i)));
	cosy_end(b);
	unused = cosy_declare(b, 0);
	(void)unused;

	cosy_invoke(b, result, fib, 1, (struct cosy_value[]){ cosy_int(15) });
	cosy_invoke(b, COSY_NO_VAR, sum, 5, (struct cosy_value[]){ cosy_int(1000), cosy_int(2000),
		    cosy_int(3000), cosy_int(4000), cosy_int(5000) });
	cosy_invoke(b, parity, even, 1, (struct cosy_value[]){ cosy_int(101) });
	CHECK_EQ(finish(b, vars, 3), 0);
	CHECK_EQ(vars[0], 610 + 15000);
	CHECK_EQ(vars[1], 1973);
	CHECK_EQ(vars[2], 0);
}

/* clang-format on */

/*
 * --- Modes and limits
 * --------------------------------------------------------------------------------
 */

static void stop_on_failure(bool in_function)
{
	int64_t vars[3] = {0};
	struct cosy_builder *b = begin();
	int failed = cosy_var(b), after = cosy_var(b), before = cosy_var(b), f = 0;
	uint32_t statement;

	cosy_close(b, COSY_NO_VAR, cosy_int(-1)); /* it fails, and nothing minds */
	cosy_stop_on_failure(b, failed);
	if (in_function)
		f = cosy_function(b, 0);
	cosy_getpid(b, before);
	cosy_close(b, COSY_NO_VAR, cosy_int(-1));
	statement = cosy_statement(b);
	cosy_assign(b, after, cosy_int(1));
	if (in_function) {
		cosy_end(b);
		cosy_invoke(b, COSY_NO_VAR, f, 0, NULL);
		cosy_assign(b, after, cosy_int(1));
	}
	CHECK_EQ(finish(b, vars, 3), -EBADF);
	CHECK_EQ(vars[0], statement);
	CHECK_EQ(vars[1], 0);
	CHECK_EQ(vars[2], getpid());
}

static void stop_in_function(void)
{
	struct cosy_builder *b = begin();
	int f = cosy_function(b, 1);

	cosy_if(b, cosy_ref(cosy_param(b, 0)), COSY_EQ, cosy_int(0));
	cosy_stop(b, cosy_int(77));
	cosy_end(b);
	cosy_arith(b, cosy_param(b, 0), cosy_ref(cosy_param(b, 0)), COSY_SUB, cosy_int(1));
	cosy_invoke(b, COSY_NO_VAR, f, 1, (struct cosy_value[]){cosy_ref(cosy_param(b, 0))});
	cosy_end(b);
	cosy_invoke(b, COSY_NO_VAR, f, 1, (struct cosy_value[]){cosy_int(30)});
	cosy_stop(b, cosy_int(1));
	CHECK_EQ(finish(b, NULL, 0), 77);
}

static void limits(void)
{
	struct cosy_builder *b = begin();
	struct cosy_loaded *loaded;
	struct cosy_error error;
	int64_t vars[1] = {0}, value = 5;
	int i = cosy_var(b);

	cosy_limit_steps(b, 1000);
	cosy_at(b, "limits.c", 42);
	cosy_while(b, cosy_int(0), COSY_EQ, cosy_int(0));
	cosy_at(b, "limits.c", 43);
	cosy_arith(b, i, cosy_ref(i), COSY_ADD, cosy_int(1));
	cosy_end(b);
	MUST(!cosy_build(cosy, b, &loaded, &error));
	CHECK_EQ(cosy_run(cosy, loaded, vars, sizeof(vars), &value, &error), -EDQUOT);
	CHECK(strstr(error.reason, "limit of steps") && strstr(error.reason, "limits.c:42"));
	CHECK_EQ(value, 5);
	CHECK_EQ(vars[0], 1001);
	/* Each run has the limit anew. */
	CHECK_EQ(cosy_run(cosy, loaded, NULL, 0, &value, NULL), -EDQUOT);
	cosy_unload(loaded);

	cosy_limit_steps(b, 0);
	cosy_limit_time(b, 5000000);
	MUST(!cosy_build(cosy, b, &loaded, &error));
	CHECK_EQ(cosy_run(cosy, loaded, vars, sizeof(vars), &value, &error), -ETIME);
	CHECK(strstr(error.reason, "limit of time"));
	cosy_unload(loaded);
	cosy_builder_destroy(b);
}

/*
 * --- Mistakes
 * --------------------------------------------------------------------------------------------
 */

/* Checks that compiling says which statement is wrong, and why. */
static void expect(struct cosy_builder *b, uint32_t statement, const char *reason)
{
	struct cosy_error error;
	size_t len;
	void *bytes;
	int err = cosy_compile(b, &bytes, &len, &error);

	CHECK(err == -EINVAL || err == -E2BIG);
	if (err && (error.statement != statement || !strstr(error.reason, reason))) {
		fprintf(stderr, "got \"statement %u: %s\", not \"statement %u: %s\"\n",
			error.statement, error.reason, statement, reason);
		check_failures++;
	}
	cosy_builder_destroy(b);
}

#define MISTAKE(statement, reason, ...)                                                            \
	do {                                                                                       \
		struct cosy_builder *b = begin();                                                  \
		int v = cosy_var(b);                                                               \
                                                                                                   \
		cosy_assign(b, v, cosy_int(1));                                                    \
		__VA_ARGS__;                                                                       \
		cosy_assign(b, v, cosy_int(2));                                                    \
		expect(b, statement, reason);                                                      \
	} while (0)

static void mistakes(void)
{
	MISTAKE(2, "no variable", cosy_assign(b, 7, cosy_int(1)));
	MISTAKE(2, "no variable", cosy_assign(b, v, cosy_ref(-3)));
	MISTAKE(2, "division by", cosy_arith(b, v, cosy_ref(v), COSY_UMOD, cosy_int(0)));
	MISTAKE(2, "shift by 64", cosy_arith(b, v, cosy_ref(v), COSY_SHL, cosy_int(64)));
	MISTAKE(2, "no operator",
		cosy_arith(b, v, cosy_ref(v), (enum cosy_operator)99, cosy_int(1)));
	MISTAKE(2, "no condition", cosy_if(b, cosy_ref(v), COSY_ADD, cosy_int(1)));
	MISTAKE(2, "no width", cosy_convert(b, v, cosy_ref(v), (enum cosy_width)9));
	MISTAKE(2, "there is no call", cosy_call(b, v, 9999, 0, NULL));
	MISTAKE(2, "execve:", cosy_call(b, v, SYS_execve, 0, NULL));
	MISTAKE(2, "at most 6", cosy_call(b, v, SYS_read, 7, (struct cosy_value[7]){{0}}));
	MISTAKE(2, "else without", cosy_else(b));
	MISTAKE(3, "else inside the while of statement 2",
		(cosy_while(b, cosy_ref(v), COSY_EQ, cosy_int(1)), cosy_else(b)));
	MISTAKE(2, "nothing to end", cosy_end(b));
	MISTAKE(3, "ends with do_while", (cosy_do(b), cosy_end(b)));
	MISTAKE(2, "is not ended", cosy_if(b, cosy_ref(v), COSY_EQ, cosy_int(1)));
	MISTAKE(2, "break outside", cosy_break(b));
	MISTAKE(3, "continue outside", (cosy_switch(b, cosy_ref(v)), cosy_continue(b)));
	MISTAKE(4, "case 1 is there already",
		(cosy_switch(b, cosy_ref(v)), cosy_case(b, 1), cosy_case(b, 1)));
	MISTAKE(4, "second default",
		(cosy_switch(b, cosy_ref(v)), cosy_default(b), cosy_default(b)));
	MISTAKE(2, "case without", cosy_case(b, 1));
	MISTAKE(2, "which is nowhere", cosy_goto(b, cosy_label(b)));
	MISTAKE(2, "no label", cosy_goto(b, 5));
	MISTAKE(3, "placed already", int l = cosy_label(b); cosy_place(b, l); cosy_place(b, l));
	MISTAKE(3, "another function", int l = cosy_label(b); cosy_function(b, 0); cosy_goto(b, l));
	MISTAKE(3, "function inside", (cosy_function(b, 0), cosy_function(b, 0)));
	MISTAKE(2, "not defined", cosy_invoke(b, v, cosy_declare(b, 0), 0, NULL));
	MISTAKE(4, "1 arguments, function 1 has 0", int f = cosy_function(b, 0); cosy_end(b);
		cosy_invoke(b, v, f, 1, (struct cosy_value[]){cosy_int(1)}));
	MISTAKE(1, "at most 5", cosy_declare(b, 6));
	MISTAKE(2, "return outside", cosy_return(b, cosy_int(1)));
	MISTAKE(1, "no parameter", cosy_param(b, 0));
	MISTAKE(3, "has no address", cosy_function(b, 0);
		cosy_assign(b, v, cosy_addr(cosy_var(b))));
	MISTAKE(4, "another function", cosy_function(b, 0); int l = cosy_var(b); cosy_end(b);
		cosy_assign(b, l, cosy_int(1)));
	MISTAKE(1, "more than 4000 variables", for (int i = 0; i < 4000; i++) cosy_var(b));
	MISTAKE(2, "variables in one function", cosy_function(b, 0);
		for (unsigned int i = 0; i <= COSY_FRAME_SIZE / 8; i++) cosy_var(b));
	MISTAKE(8192, "more than 16384 instructions",
		for (int i = 0; i < 10000; i++) cosy_assign(b, v, cosy_int(i)));
}

/* --- The operations of docs/inside/fast.md, by name ------------------------------------------- */

static void operations_by_name(void)
{
	char name[] = "/tmp/cosy-builder-XXXXXX", back[8] = "";
	char *buf = cosy_malloc(4096);
	int fd = mkstemp(name);
	struct cosy_builder *b = begin();
	int n = cosy_var(b), byte = cosy_var(b), lines = cosy_var(b), crc = cosy_var(b);
	int end = cosy_var(b), whole = cosy_var(b);
	int64_t vars[6] = {0};

	MUST(buf && fd >= 0 && write(fd, "one\ntwo\n", 8) == 8);
	cosy_seek_read(b, n, cosy_int(fd), cosy_ptr(buf), cosy_int(4096), cosy_int(0),
		       cosy_int(SEEK_SET));
	cosy_readc(b, end, cosy_int(fd));
	cosy_view_pread(b, n, cosy_int(fd), cosy_ptr(buf), cosy_int(4096), cosy_int(0));
	cosy_count(b, lines, cosy_ptr(buf), cosy_ref(n), cosy_int('\n'));
	cosy_crc32c(b, crc, cosy_int(0), cosy_ptr(buf), cosy_ref(n));
	cosy_view_load(b, byte, cosy_ptr(buf + 4), cosy_int(1));
	cosy_view_store(b, COSY_NO_VAR, cosy_ptr(buf), cosy_int('O'), cosy_int(1));
	cosy_seek_write(b, COSY_NO_VAR, cosy_int(fd), cosy_ptr(buf), cosy_ref(n), cosy_int(0),
			cosy_int(SEEK_SET));
	cosy_read_file(b, whole, cosy_int(AT_FDCWD), cosy_ptr(name), cosy_ptr(buf), cosy_int(4096),
		       cosy_int(O_RDONLY));
	finish(b, vars, 6);
	CHECK_EQ(vars[n], 8);
	CHECK_EQ(vars[byte], 't');
	CHECK_EQ(vars[lines], 2);
	CHECK_EQ(vars[crc], 0xfcac93a4);
	CHECK_EQ(vars[end], -ENODATA);
	CHECK_EQ(vars[whole], 8);
	CHECK_EQ(pread(fd, back, sizeof(back), 0), 8);
	CHECK(!memcmp(back, "One\ntwo\n", 8));
	CHECK(!memcmp(back, buf, 8));
	cosy_free(buf);
	close(fd);
	unlink(name);

	b = begin();
	cosy_stop_on_failure(b, COSY_NO_VAR);
	cosy_readc(b, COSY_NO_VAR, cosy_int(-1));
	cosy_stop(b, cosy_int(1));
	CHECK_EQ(finish(b, NULL, 0), -EBADF);
}

int main(void)
{
	MUST(!cosy_init(&cosy));
	arithmetic();
	unary_and_conversions();
	memory();
	copy();
	calls();
	operations_by_name();
	CHECK_EQ(branches(-3), 15);
	CHECK_EQ(branches(6), 245);
	CHECK_EQ(branches(7), 2345);
	CHECK_EQ(branches((1ll << 41) + 1), 235);
	loops();
	CHECK_EQ(switched(1), 19);
	CHECK_EQ(switched(2), 239);
	CHECK_EQ(switched(3), 379);
	CHECK_EQ(switched(44), 49);
	CHECK_EQ(switched(-(1ll << 35)), 59);
	gotos();
	functions();
	stop_on_failure(false);
	stop_on_failure(true);
	stop_in_function();
	limits();
	mistakes();
	cosy_free(cosy);
	return check_result();
}
