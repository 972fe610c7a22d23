// SPDX-License-Identifier: MIT
// Which divisions a program makes: at -O0 those whose result the source stores or looks at, in the
// region, around it and in what it calls, whatever the divisor is; optimised, those whose result
// matters.  A sum or product that overflows may be a divisor of 0.  Odd widths have no overflow.
// expect: compiled
#include <cosy/cosy.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#pragma clang diagnostic ignored "-Wdivision-by-zero"
#pragma clang diagnostic ignored "-Wunused-but-set-parameter"
#pragma clang diagnostic ignored "-Wunused-value"
#pragma clang diagnostic ignored "-Wunused-parameter"

static sigjmp_buf back;
static volatile long first, second; /* to LLVM they may be anything */
static volatile int stage;
static char bytes[4];

static void handler(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

/* Tells what name(a, b) returns, or that the signal came; at -O0 also after which store. */
#define TELL(name, a, b)                                                                           \
	do {                                                                                       \
		stage = 0;                                                                         \
		first = a;                                                                         \
		second = b;                                                                        \
		if (!sigsetjmp(back, 1))                                                           \
			printf(#name " %ld\n", (long)name(first, second));                         \
		else                                                                               \
			printf(#name " SIGFPE, stage %d\n", AS_WRITTEN ? stage : 0);               \
	} while (0)

#ifdef __OPTIMIZE__
#define AS_WRITTEN 0
#else
#define AS_WRITTEN 1
#endif

/* Defines name(a, b), whose region has the code that follows; `attributes` in parentheses. */
#define FORM(name, ...) FORM_OF((noinline), name, __VA_ARGS__)
#define FORM_OF(attributes, name, ...)                                                             \
	static __attribute__(attributes) int name(int a, int b)                                    \
	{                                                                                          \
		int r;                                                                             \
		COSY_START;                                                                        \
		r = getpid() > 0;                                                                  \
		stage = 1;                                                                         \
		__VA_ARGS__;                                                                       \
		stage = 2;                                                                         \
		r += getpid() > 0;                                                                 \
		COSY_END;                                                                          \
		return r;                                                                          \
	}

/* --- Not made, at any level ------------------------------------------------------------- */

static int drops(int a, int b)
{
	(void)(a / b);
	return 5;
}

static inline __attribute__((always_inline)) int drops_inlined(int a, int b)
{
	(void)(a / b + 1);
	return 5;
}

static inline __attribute__((always_inline)) int quotient_inlined(int a, int b)
{
	return a / b;
}

static inline __attribute__((always_inline)) int quotient_pointed(const int *a, const int *b)
{
	return *a / *b;
}

static __attribute__((const)) int quotient_const(int a, int b)
{
	return a / b;
}

FORM(statement, a / b)
FORM(cast, (void)(a / b))
FORM(chain, (void)(a / b + 1))
FORM(comma, r = (a / b, 3))
FORM(dropped, r = drops(a, b))
FORM(dropped_inlined, r = drops_inlined(a, b))
FORM(ignored_inlined, (void)quotient_inlined(a, b))
FORM(ignored_pointed, (void)quotient_pointed(&a, &b))
FORM(ignored_const, (void)quotient_const(a, b))
FORM(popcount, (void)__builtin_popcount(a / b))
FORM(assumed, __builtin_assume(a / b))
FORM(switched, switch (a / b){})

static __attribute__((noinline)) int outside(int a, int b)
{
	int r;

	(void)(a / b);
	COSY_START;
	r = getpid() > 0;
	COSY_END;
	(void)(a % b);
	return r;
}

/* --- Made at -O0 ------------------------------------------------------------------------ */

static int wastes(int a, int b)
{
	int q = a / b + 1;

	(void)q;
	return 5;
}

static inline __attribute__((always_inline)) int wastes_inlined(int a, int b)
{
	int q = a / b;

	(void)q;
	return 5;
}

/* Without the attribute by which clang says what it does not optimise. */
static __attribute__((minsize)) int wastes_small(int a, int b)
{
	int q = a / b;

	(void)q;
	return 5;
}

/* Made outside in part. */
static int partly(int a, int b)
{
	if (getpid() < 0)
		perror("getpid");
	return a / b;
}

static int looped(int a, int b)
{
	for (int i = 0; i < 3; i++)
		getpid();
	return a / b;
}

static inline __attribute__((always_inline)) int mixed_pointed(const int *a, const int *b, int k)
{
	int q;

	if (getpid() < 0)
		perror("getpid");
	q = *a / *b;
	return k + (q > 1000);
}

static inline __attribute__((always_inline)) int wastes_pointed(const int *a, const int *b)
{
	int q = *a / *b;

	(void)q;
	return 5;
}

FORM(variable, int q = a / b; (void)q)
FORM(variable_chain, int q = a / b + 1; (void)q)
FORM(assigned, a /= b)
FORM(assigned_chain, a = a * 3 + 7 % b)
FORM(condition, if (a / b){})
FORM(narrow, short s = (short)a; s /= b; (void)s)
FORM(narrower, signed char c = (signed char)a; c %= b; (void)c)
FORM(mixed, unsigned u = a; u += 7u % b; (void)u)
FORM(address, char *p = bytes + a / b; (void)p)
FORM(element, int v[4]; v[0] = a / b; (void)v)
FORM(floating, double d = a / b; (void)d)
FORM(odd_width, _BitInt(24) q = (_BitInt(24))a / (_BitInt(24))b; (void)q)
FORM(wasted, r = wastes(a, b))
FORM(wasted_inlined, r = wastes_inlined(a, b))
FORM(wasted_pointed, r = wastes_pointed(&a, &b))
FORM(wasted_small, r = wastes_small(a, b))
FORM(kept_inlined, int q = quotient_inlined(a, b); (void)q)
FORM(kept_const, int q = quotient_const(a, b); (void)q)
FORM(kept_mixed, int q = partly(a, b); (void)q)
FORM(kept_looped, int q = looped(a, b); (void)q)
FORM(mixed_loop, for (int i = 0; i < 3; i++) r += mixed_pointed(&a, &b, i) + (getppid() < 0))
FORM(either, (void)(a ? a / b : 0))
FORM(both_ways, a &&a / b)
FORM(wide, __int128 q = (__int128)a / b; (void)q)
FORM(widest, __int128 least = (__int128)a << 127; least /= b; (void)least)
FORM(guarded, int q = b ? a / b : 0; (void)q)

FORM_OF((noinline, minsize), small, int q = a / b; (void)q)

/* In an optimised file the host alone is as it is written. */
static __attribute__((optnone, noinline)) int alone(int a, int b)
{
	int r;

	COSY_START;
	r = getpid() > 0;
	r += wastes_inlined(a, b) + wastes_pointed(&a, &b);
	COSY_END;
	return r;
}

/* Optimised, nobody reads the sum. */
static __attribute__((noinline)) int summed(int a, int b)
{
	int r = 0, sum = 0;

	COSY_START;
	for (int i = 0; i < 3; i++) {
		sum += a / b;
		r += getpid() > 0;
	}
	COSY_END;
	(void)sum;
	return r;
}

static __attribute__((noinline)) int around(int a, int b)
{
	int r, q = a / (b + 1);

	(void)q;
	COSY_START;
	r = getpid() > 0;
	COSY_END;
	stage = 3;
	q = a / b;
	return r;
}

/* --- Made wherever the result is used ---------------------------------------------------- */

static inline __attribute__((always_inline)) int divides_inlined(int a, int b)
{
	return a / b;
}

FORM(used, r += a / b > 1000)
FORM(used_inlined, int q = divides_inlined(a, b); stage = 2; r = q > 1000)
FORM(cells, r = 0; if (a > 0 && b > 0) r = 1000 / (a * b))
FORM(cells_left, r = 0; if (a > 0 && b > 0) r = 1000 % (a * b))
FORM(sum, r = 0; if (a > 0 && b > 0) r = 1000 / (a + b + 2))
FORM(absolute, int m = a < 0 ? -a : a; r = m / b)

#if AS_WRITTEN /* else LLVM knows that it is undefined */
FORM(literal, r = a / 0)
FORM(literal_unused, int q = a / 0; (void)q)
FORM(constant, int z = 0; r = a / z)
FORM(constants, int x = 0, z = 0; r = x / z)
FORM(constant_unused, int z = 0, q = a / z; (void)q)
FORM(poison, int q = a / (8 / 0); (void)q)
FORM(minus_one, r = a % -1)
FORM(minus_one_quotient, r = a / -1)
FORM(constant_minus_one, int m = -1; r = a / m)
#endif

/* The least integer of N bits by -1 does not overflow the register that divides it. */
#define ODD(name, N, op)                                                                           \
	static __attribute__((noinline)) long name(long a, long b)                                 \
	{                                                                                          \
		long r;                                                                            \
		COSY_START;                                                                        \
		stage = getpid() > 0;                                                              \
		r = (long)((_BitInt(N))a op(_BitInt(N)) b);                                        \
		COSY_END;                                                                          \
		return r;                                                                          \
	}

ODD(quotient_7, 7, /)
ODD(remainder_7, 7, %)
ODD(quotient_24, 24, /)
ODD(remainder_24, 24, %)
ODD(quotient_33, 33, /)
ODD(quotient_63, 63, /)
ODD(remainder_63, 63, %)
ODD(quotient_64, 64, /)

static __attribute__((noinline)) void tell_dropped(void)
{
	TELL(statement, 1, 0);
	TELL(cast, 1, 0);
	TELL(chain, 1, 0);
	TELL(comma, 1, 0);
	TELL(dropped, 1, 0);
	TELL(dropped_inlined, 1, 0);
	TELL(ignored_inlined, 1, 0);
	TELL(ignored_pointed, 1, 0);
	TELL(ignored_const, 1, 0);
	TELL(popcount, 1, 0);
	TELL(assumed, 1, 0);
	TELL(switched, 1, 0);
	TELL(outside, 1, 0);
}

static __attribute__((noinline)) void tell_kept(void)
{
	TELL(variable, 1, 0);
	TELL(variable_chain, 1, 0);
	TELL(assigned, 1, 0);
	TELL(assigned_chain, 1, 0);
	TELL(condition, 1, 0);
	TELL(narrow, 1, 0);
	TELL(narrower, 1, 0);
	TELL(mixed, 1, 0);
	TELL(address, 1, 0);
	TELL(element, 1, 0);
	TELL(floating, 1, 0);
	TELL(odd_width, 1, 0);
	TELL(wasted, 1, 0);
	TELL(wasted_inlined, 1, 0);
	TELL(wasted_pointed, 1, 0);
	TELL(wasted_small, 1, 0);
	TELL(kept_inlined, 1, 0);
	TELL(kept_const, 1, 0);
	TELL(kept_mixed, 1, 0);
	TELL(kept_looped, 1, 0);
	TELL(mixed_loop, 1, 0);
	TELL(either, 1, 0);
	TELL(both_ways, 1, 0);
	TELL(wide, 1, 0);
	TELL(widest, 1, 0);
	TELL(widest, 1, -1);
	TELL(small, 1, 0);
	TELL(alone, 1, 0);
	TELL(summed, 1, 0);
	TELL(guarded, 1, 0);
	TELL(around, 1, -1);
	TELL(around, 1, 0);
}

static __attribute__((noinline)) void tell_used(void)
{
	TELL(used, 1, 0);
	TELL(used_inlined, 1, 0);
	TELL(cells, 65536, 65536);
	TELL(cells_left, 65536, 65536);
	TELL(sum, INT_MAX, INT_MAX);
	TELL(absolute, INT_MIN, -1);
#if AS_WRITTEN
	TELL(literal, 1, 0);
	TELL(literal_unused, 1, 0);
	TELL(constant, 1, 0);
	TELL(constants, 1, 0);
	TELL(constant_unused, 1, 0);
	TELL(poison, 1, 0);
	TELL(minus_one, INT_MIN, 0);
	TELL(minus_one_quotient, INT_MIN, 0);
	TELL(constant_minus_one, INT_MIN, 0);
#endif
	TELL(quotient_7, -64, -1);
	TELL(remainder_7, -64, -1);
	TELL(quotient_24, -(1 << 23), -1);
	TELL(remainder_24, -(1 << 23), -1);
	TELL(quotient_33, -(1L << 32), -1);
	TELL(quotient_63, -(1L << 62), -1);
	TELL(remainder_63, -(1L << 62), -1);
	TELL(quotient_64, LONG_MIN, -1);
	TELL(quotient_7, 5, 0);
	TELL(remainder_24, 5, 0);
	TELL(quotient_63, 5, 0);
}

int main(void)
{
	void (*const groups[])(void) = {tell_dropped, tell_kept, tell_used};
	int r = 0;

	signal(SIGFPE, handler);
	for (int i = 0; i < 3; i++) {
		groups[i]();
		/* From here, none of the regions that were left by a jump is active any more. */
		COSY_START;
		r += getpid() > 0;
		COSY_END;
	}
	return r != 3;
}
