// SPDX-License-Identifier: MIT
// Division by zero, and of the least integer by -1, raises SIGFPE as natively: of every width and
// sign, in a function that is called and in a loop; a handler may jump out, and one that returns
// has it raised again; without a handler, and where the signal is blocked or ignored, it kills.
// expect: compiled
#include <cosy/cosy.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile sig_atomic_t returns, raised, code;

static void handler(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	raised++;
	code = info->si_code;
	if (returns) {
		returns--;
		return;
	}
	siglongjmp(back, 1);
}

/* Stored before the operands are loaded, and once the result is there: an order that compilers keep. */
static volatile long before, after;

/* Defines name(a, b), which stores the result in `after`. */
#define DIVIDE(name, type, op)                                                                     \
	static __attribute__((noinline)) void name(volatile type *a, volatile type *b)             \
	{                                                                                          \
		COSY_START;                                                                        \
		before = getpid() > 0;                                                             \
		after = (long)(*a op * b);                                                         \
		COSY_END;                                                                          \
	}

/* Tells of all pairs of these values how often the signal came, and a hash of the results. */
#define WAY(name, type, op)                                                                        \
	DIVIDE(name, type, op)                                                                     \
	static void name##_all(void)                                                               \
	{                                                                                          \
		static const long values[] = {0,       1,	  -1,	     7,	       -7,         \
					      100,     SCHAR_MIN, SCHAR_MAX, SHRT_MIN, SHRT_MAX,   \
					      INT_MIN, INT_MAX,	  LONG_MIN,  LONG_MAX};            \
		volatile unsigned long hash = 0;                                                   \
		volatile int signals = 0, wrong = 0;                                               \
		for (volatile int i = 0; i < 14 * 14; i++) {                                       \
			volatile type a = (type)values[i / 14], b = (type)values[i % 14];          \
			before = 0;                                                                \
			after = 77;                                                                \
			code = 0;                                                                  \
			if (sigsetjmp(back, 1)) {                                                  \
				signals++;                                                         \
				wrong += code != FPE_INTDIV || !before || after != 77;             \
				continue;                                                          \
			}                                                                          \
			name(&a, &b);                                                              \
			hash = hash * 31 + (unsigned long)after;                                   \
		}                                                                                  \
		printf(#name " %d signals, %d wrong, %lx\n", signals, wrong, hash);                \
	}

WAY(quotient_s8, signed char, /)
WAY(remainder_s8, signed char, %)
WAY(quotient_u8, unsigned char, /)
WAY(remainder_u8, unsigned char, %)
WAY(quotient_s16, short, /)
WAY(remainder_s16, short, %)
WAY(quotient_u16, unsigned short, /)
WAY(remainder_u16, unsigned short, %)
WAY(quotient_s32, int, /)
WAY(remainder_s32, int, %)
WAY(quotient_u32, unsigned, /)
WAY(remainder_u32, unsigned, %)
WAY(quotient_s64, long, /)
WAY(remainder_s64, long, %)
WAY(quotient_u64, unsigned long, /)
WAY(remainder_u64, unsigned long, %)

/* --- In a function, and in a loop ------------------------------------------------------- */

static __attribute__((noinline)) long average(const int *values, int n, int depth)
{
	long sum = 0;

	if (depth)
		return average(values, n, depth - 1) + 1;
	for (int i = 0; i < n; i++)
		sum += values[i];
	return sum / n;
}

static __attribute__((noinline)) void called(int n)
{
	int values[4] = {1, 2, 3, 10};

	COSY_START;
	before = getpid() > 0;
	after = average(values, n, 3);
	COSY_END;
}

static volatile int divisors[8] = {1, 2, 3, 4, 5, 0, 7, 8};

/* Divides twice by the same, so that one test serves both. */
static __attribute__((noinline)) void looped(int rounds)
{
	long quotients = 0, remainders = 0;

	COSY_START;
	for (int i = 0; i < rounds; i++) {
		int divisor;

		before = i;
		divisor = divisors[i % 8];
		quotients += 1000 / divisor;
		remainders += 1000 % divisor;
		after = quotients * 1000 + remainders + (getpid() <= 0);
	}
	COSY_END;
	printf("quotients %ld, remainders %ld\n", quotients, remainders);
}

/* Nobody uses the quotient: a program that is not optimised makes the division anyway. */
static __attribute__((noinline)) void unused(int divisor)
{
	COSY_START;
	for (int i = 0; i < 2; i++) {
		int quotient = 1000 / divisor;

		(void)quotient;
		after += getpid() > 0;
	}
	COSY_END;
}

static __attribute__((noinline)) void waste(int divisor)
{
	int quotient = 1000 / divisor;

	(void)quotient;
}

static __attribute__((noinline)) void unused_called(int divisor)
{
	COSY_START;
	for (int i = 0; i < 2; i++) {
		waste(divisor);
		after += getpid() > 0;
	}
	COSY_END;
}

static void in_code(void)
{
	before = after = 0;
	if (!sigsetjmp(back, 1))
		called(4);
	printf("called: %ld %ld\n", before, after);
	before = after = 0;
	if (!sigsetjmp(back, 1))
		called(0);
	printf("called: %ld %ld\n", before, after);
	before = after = 0;
	if (!sigsetjmp(back, 1))
		unused(0);
	printf("unused: %ld\n", after);
	before = after = 0;
	if (!sigsetjmp(back, 1))
		unused_called(0);
	printf("unused, called: %ld\n", after);
	for (volatile int rounds = 5; rounds < 8; rounds++) {
		if (!sigsetjmp(back, 1))
			looped(rounds);
		printf("looped: %ld %ld\n", before, after);
	}
}

/* --- Who gets it ------------------------------------------------------------------------ */

static void repeated(void)
{
	volatile int a = 1, b = 0;

	raised = 0;
	returns = 3;
	if (!sigsetjmp(back, 1))
		quotient_s32(&a, &b);
	printf("raised %d times\n", raised);
}

static void child(void (*prepare)(void))
{
	volatile unsigned long a = 1, b = 0;
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		prepare();
		if (!sigsetjmp(back, 0))
			quotient_u64(&a, &b);
		_exit(5);
	}
	waitpid(pid, &status, 0);
	printf("signal %d, status %d\n", WTERMSIG(status), WEXITSTATUS(status));
}

static void by_default(void)
{
	signal(SIGFPE, SIG_DFL);
}

static void ignored(void)
{
	signal(SIGFPE, SIG_IGN);
}

static void blocked(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGFPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void handled(void) {}

int main(void)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	sigaction(SIGFPE, &action, NULL);
	quotient_s8_all();
	remainder_s8_all();
	quotient_u8_all();
	remainder_u8_all();
	quotient_s16_all();
	remainder_s16_all();
	quotient_u16_all();
	remainder_u16_all();
	quotient_s32_all();
	remainder_s32_all();
	quotient_u32_all();
	remainder_u32_all();
	quotient_s64_all();
	remainder_s64_all();
	quotient_u64_all();
	remainder_u64_all();
	in_code();
	repeated();
	child(by_default);
	child(ignored);
	child(blocked);
	child(handled);
	return 0;
}
