/* SPDX-License-Identifier: MIT */
/*
 * A division by zero, and of the least integer by -1, raises SIGFPE out of a region: the same as out
 * of plain code, with what the region had done by then, as often as it comes.
 */
#include "check.h"
#include <limits.h>
#include <setjmp.h>
#include <sys/resource.h>

#define ROUNDS 2000

struct outcome {
	int code; /* of SIGFPE; 0: it did not come */
	uint64_t result;
};

static sigjmp_buf out;
static volatile struct outcome seen;
static volatile sig_atomic_t returns, raised;

static void on_fpe(int sig, siginfo_t *si, void *unused)
{
	(void)unused;
	CHECK(sig == SIGFPE && si->si_addr, "signal %d at %p", sig, si->si_addr);
	raised++;
	seen.code = si->si_code;
	if (returns) {
		returns--;
		return;
	}
	siglongjmp(out, 1);
}

/* --- Every width, sign and operation ----------------------------------------------------- */

/* Defines name_plain(a, b) and name_region(a, b), which divide what these numbers are as `type`. */
#define DIVIDE_WAY(name, type, op)                                                                 \
	static __attribute__((noinline)) void name##_plain(uint64_t a, uint64_t b)                 \
	{                                                                                          \
		seen.result = (uint64_t)((type)a op(type) b);                                      \
	}                                                                                          \
	static __attribute__((noinline)) void name##_region(uint64_t a, uint64_t b)                \
	{                                                                                          \
		uint64_t result = 0;                                                               \
		COSY_START;                                                                        \
		result = (uint64_t)((type)a op(type) b);                                           \
		COSY_END;                                                                          \
		seen.result = result;                                                              \
	}

DIVIDE_WAY(div_s8, int8_t, /)
DIVIDE_WAY(mod_s8, int8_t, %)
DIVIDE_WAY(div_u8, uint8_t, /)
DIVIDE_WAY(mod_u8, uint8_t, %)
DIVIDE_WAY(div_s16, int16_t, /)
DIVIDE_WAY(mod_s16, int16_t, %)
DIVIDE_WAY(div_u16, uint16_t, /)
DIVIDE_WAY(mod_u16, uint16_t, %)
DIVIDE_WAY(div_s32, int32_t, /)
DIVIDE_WAY(mod_s32, int32_t, %)
DIVIDE_WAY(div_u32, uint32_t, /)
DIVIDE_WAY(mod_u32, uint32_t, %)
DIVIDE_WAY(div_s64, int64_t, /)
DIVIDE_WAY(mod_s64, int64_t, %)
DIVIDE_WAY(div_u64, uint64_t, /)
DIVIDE_WAY(mod_u64, uint64_t, %)

static const struct divide_way {
	const char *name;
	void (*plain)(uint64_t a, uint64_t b), (*region)(uint64_t a, uint64_t b);
} ways[] = {
#define WAY(name) { #name, name##_plain, name##_region }
	WAY(div_s8),  WAY(mod_s8),  WAY(div_u8),  WAY(mod_u8),	WAY(div_s16), WAY(mod_s16),
	WAY(div_u16), WAY(mod_u16), WAY(div_s32), WAY(mod_s32), WAY(div_u32), WAY(mod_u32),
	WAY(div_s64), WAY(mod_s64), WAY(div_u64), WAY(mod_u64),
#undef WAY
};

static const int64_t values[] = { 0,	     1,		-1,	   7,	      -7,
				  100,	     INT8_MIN,	INT8_MAX,  INT16_MIN, INT16_MAX,
				  INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX };

#define VALUES (int)(sizeof(values) / sizeof(*values))

static struct outcome divide(void (*by)(uint64_t a, uint64_t b), uint64_t a, uint64_t b)
{
	seen.code = 0;
	seen.result = 0;
	if (!sigsetjmp(out, 1))
		by(a, b);
	return seen;
}

static void all(void)
{
	struct cosy_stats before = counts();
	uint64_t signals = 0;

	for (size_t w = 0; w < sizeof(ways) / sizeof(*ways); w++)
		for (int i = 0; i < VALUES * VALUES; i++) {
			uint64_t a = (uint64_t)values[i / VALUES], b = (uint64_t)values[i % VALUES];
			struct outcome plain = divide(ways[w].plain, a, b);
			struct outcome region = divide(ways[w].region, a, b);

			signals += plain.code == FPE_INTDIV;
			CHECK(plain.code == region.code && plain.result == region.result,
			      "%s of %#llx and %#llx: code %d, %#llx; plain: %d, %#llx",
			      ways[w].name, (unsigned long long)a, (unsigned long long)b,
			      region.code, (unsigned long long)region.result, plain.code,
			      (unsigned long long)plain.result);
		}
	CHECK(signals > 500, "only %llu signals", (unsigned long long)signals);
	if (kernel_expected())
		CHECK(counts().left[COSY_LEFT_TRAP] - before.left[COSY_LEFT_TRAP] == signals,
		      "%llu divisions left the kernel, of %llu",
		      (unsigned long long)(counts().left[COSY_LEFT_TRAP] -
					   before.left[COSY_LEFT_TRAP]),
		      (unsigned long long)signals);
	CHECK_KERNEL(before, sizeof(ways) / sizeof(*ways) * VALUES * VALUES, 0);
}

/* --- What the region had done ------------------------------------------------------------ */

static char bytes[4096];
static volatile long progress;

static __attribute__((noinline)) long share(long whole, int parts, int depth)
{
	if (depth)
		return share(whole, parts, depth - 1) + 1;
	return whole / parts;
}

/* Reads into `bytes`, which may be a view, calls deep, and divides by what it read. */
static __attribute__((noinline)) long work(int fd, int rounds)
{
	char local[64];
	long sum = 0;

	COSY_START;
	for (int i = 0; i < rounds; i++) {
		if (pread(fd, bytes, sizeof(bytes), 0) != sizeof(bytes))
			break;
		local[i % 64] = bytes[i];
		progress = i;
		sum += share(1000, local[i % 64], 10);
	}
	COSY_END;
	return sum;
}

static void left_in_the_middle(void)
{
	struct cosy_stats before = counts();
	char name[] = "/tmp/cosy.XXXXXX";
	int fd = mkstemp(name);
	volatile int jumps = 0;

	MUST(fd >= 0 && !unlink(name));
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i == 50 ? 0 : (char)(i % 100 + 1);
	MUST(write(fd, bytes, sizeof(bytes)) == sizeof(bytes));
	for (volatile int i = 0; i < ROUNDS; i++) {
		memset(bytes, 99, sizeof(bytes));
		progress = -1;
		if (!sigsetjmp(out, 1)) {
			work(fd, 60);
			continue;
		}
		jumps++;
		CHECK(progress == 50, "round %ld", progress);
		CHECK(!bytes[50] && bytes[0] == 1 && bytes[4095] == 4095 % 100 + 1,
		      "bytes %d %d %d", bytes[50], bytes[0], bytes[4095]);
	}
	CHECK(jumps == ROUNDS, "%d jumps", jumps);
	CHECK(work(fd, 50) > 0, "the region is lost");
	CHECK_KERNEL(before, ROUNDS, 50 * ROUNDS);
	close(fd);
}

/* --- Who gets it --------------------------------------------------------------------------- */

static void returned(void)
{
	raised = 0;
	returns = 5;
	if (!sigsetjmp(out, 1))
		div_s32_region(1, 0);
	CHECK(raised == 6, "raised %d times", (int)raised);
}

static void not_caught(void *prepare)
{
	MUST(!setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 }));
	((void (*)(void))prepare)();
	if (!sigsetjmp(out, 0))
		div_u64_region(1, 0);
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
	MUST(!sigprocmask(SIG_BLOCK, &set, NULL));
}

static void kills(void)
{
	static void (*const ways_to_die[])(void) = { by_default, ignored, blocked };

	for (int i = 0; i < 3; i++) {
		int status = in_child(not_caught, (void *)ways_to_die[i]);

		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGFPE, "way %d: status %#x", i,
		      status);
	}
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on_fpe, .sa_flags = SA_SIGINFO };

	MUST(!sigaction(SIGFPE, &sa, NULL));
	all();
	left_in_the_middle();
	returned();
	kills();
	return check_end();
}
