/* SPDX-License-Identifier: MIT */
/*
 * Compares the operations on memory with the C library's functions.
 * Arguments choose parts by name; none runs all.
 */
#include "kmod.h"

#include <ctype.h>

/* The kernel maps its table of interrupts there in each machine. */
#define KERNEL_READABLE 0xfffffe0000000000

static uint32_t op_handle[RAW_OPS];

/* Runs one operation, which must not leave.  Returns its result. */
static uint64_t op(int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t arguments[4] = { a, b, c, d };
	const struct bpf_insn insns[] = {
		MOVR(6, 1),
		LOAD(BPF_DW, 1, 6, 0),
		LOAD(BPF_DW, 2, 6, 8),
		LOAD(BPF_DW, 3, 6, 16),
		LOAD(BPF_DW, 4, 6, 24),
		CALL_OP(number),
		EXIT,
	};
	long ret;

	if (!op_handle[number])
		op_handle[number] = raw_load(fd, insns, COUNT(insns));
	raw_run_init(&the_run, op_handle[number], arguments);
	ret = raw_run_to_end(fd, &the_run);
	CHECK(!ret && the_run.run.status == COSY_DONE,
	      "operation %d: RUN %ld, status %u, detail %#llx", number, ret, the_run.run.status,
	      (unsigned long long)the_run.run.detail);
	return (uint64_t)the_run.run.ret;
}

#define P(p)	((uint64_t)(uintptr_t)(p))
#define SIGN(x) (((int64_t)(x) > 0) - ((int64_t)(x) < 0))

#define SAME(want, got)                                                                            \
	do {                                                                                       \
		uint64_t want_ = (uint64_t)(want), got_ = (uint64_t)(got);                         \
		CHECK(want_ == got_, "%#llx, wanted %#llx", (unsigned long long)got_,              \
		      (unsigned long long)want_);                                                  \
	} while (0)

enum { ROOM = 3 * 4096 };

/* The ranges of a round, which may be the same, n bytes from x and y on in them, and a byte. */
struct ranges {
	char *a, *b;
	size_t x, y, n;
	int byte;
};

static struct ranges ranges_make(char *const *places)
{
	char *a = places[chance(2)], *b = places[chance(2)];
	size_t n = chance(4) ? chance(100) : chance(ROOM - 64);
	size_t x = chance(2) ? ROOM - n : chance(ROOM - n), y = chance(ROOM - n);
	int letters = chance(2) ? 3 : 200, byte = 'a' + (int)chance((uint64_t)letters + 1);

	for (size_t i = 0; i < ROOM; i++) {
		a[i] = (char)('a' + chance((uint64_t)letters));
		if (a[i] == 0)
			a[i] = 1;
	}
	if (a != b)
		memcpy(b, a, ROOM);
	if (n && chance(2))
		b[y + chance(n)] ^= 1;
	for (size_t i = 0; i < ROOM; i++)
		b[i] = b[i] ? b[i] : 1;
	return (struct ranges){ a, b, x, y, n, byte };
}

static void memory_searched(const struct ranges *in)
{
	char *a = in->a, *b = in->b;
	size_t x = in->x, y = in->y, n = in->n;
	int byte = in->byte;
	size_t m;

	SAME(SIGN(memcmp(a + x, b + y, n)), SIGN(op(RAW_OP_memcmp, P(a + x), P(b + y), n, 0)));
	SAME(P(memchr(a + x, byte, n)),
	     op(RAW_OP_memchr, P(a + x), 0xffffff00ull | (uint8_t)byte, n, 0));
	SAME(P(memrchr(a + x, byte, n)), op(RAW_OP_memrchr, P(a + x), (uint64_t)byte, n, 0));
	m = chance(n < 60 ? n + 1 : chance(2) ? 5 : 60);
	SAME(P(memmem(a + x, n, b + y, m)), op(RAW_OP_memmem, P(a + x), n, P(b + y), m));
}

/* Gives the strings an end within. */
static void strings_searched(const struct ranges *in)
{
	char *a = in->a, *b = in->b;
	size_t x = in->x, y = in->y, n = in->n;
	int byte = in->byte;

	a[x + n - 1] = 0;
	b[y + n - 1] = 0;
	SAME(strlen(a + x), op(RAW_OP_strlen, P(a + x), 0, 0, 0));
	SAME(strnlen(a + x, n / 2), op(RAW_OP_strnlen, P(a + x), n / 2, 0, 0));
	SAME(SIGN(strcmp(a + x, b + y)), SIGN(op(RAW_OP_strcmp, P(a + x), P(b + y), 0, 0)));
	SAME(SIGN(strncmp(a + x, b + y, n / 2)),
	     SIGN(op(RAW_OP_strncmp, P(a + x), P(b + y), n / 2, 0)));
	SAME(P(strchr(a + x, byte)), op(RAW_OP_strchr, P(a + x), (uint64_t)byte, 0, 0));
	SAME(P(strchr(a + x, 0)), op(RAW_OP_strchr, P(a + x), 0, 0, 0));
	SAME(P(strrchr(a + x, byte)), op(RAW_OP_strrchr, P(a + x), (uint64_t)byte, 0, 0));
	SAME(P(strchrnul(a + x, byte)), op(RAW_OP_strchrnul, P(a + x), (uint64_t)byte, 0, 0));
	SAME(P(rawmemchr(a + x, 0)), op(RAW_OP_rawmemchr, P(a + x), 0, 0, 0));
}

/* Returns the C library's table of lower case. */
static uint64_t lower_case(void)
{
	return P(*__ctype_tolower_loc());
}

/* Writes a short string, mostly a part of a longer one, in places with other case. */
static void needle_make(char *needle, size_t size, const char *text)
{
	size_t from = chance(strlen(text) + 1), most = chance(chance(4) ? 6 : size), n = 0;
	bool flips = chance(2);

	while (n < most && text[from + n]) {
		needle[n] = text[from + n];
		if (flips && isalpha((uint8_t)needle[n]) && chance(2))
			needle[n] ^= 'a' ^ 'A';
		n++;
	}
	if (n && !chance(4))
		needle[n - 1] ^= 1;
	needle[n] = 0;
}

/* Searches for strings in strings, and compares without regard to case. */
static void strings_found(const struct ranges *in)
{
	char *text = in->a + in->x, *other = in->b + in->y, *needle = shared + 100;
	uint64_t table = lower_case();

	in->a[in->x + in->n - 1] = 0;
	in->b[in->y + in->n - 1] = 0;
	for (int k = 0; k < 3; k++) {
		needle_make(needle, 64, text);
		SAME(P(strstr(text, needle)), op(RAW_OP_strstr, P(text), P(needle), 0, 0));
		SAME(P(strcasestr(text, needle)),
		     op(RAW_OP_strcasestr, P(text), P(needle), table, 0));
		SAME(strncasecmp(text, needle, 5),
		     op(RAW_OP_strncasecmp, P(text), P(needle), 5, table));
	}
	/* The end of a string, which may end with its memory. */
	needle = other + strlen(other) / 2;
	SAME(P(strstr(text, needle)), op(RAW_OP_strstr, P(text), P(needle), 0, 0));
	SAME(P(strcasestr(text, needle)), op(RAW_OP_strcasestr, P(text), P(needle), table, 0));
	SAME(strcasecmp(text, other), op(RAW_OP_strncasecmp, P(text), P(other), ~0ull, table));
	SAME(strncasecmp(text, other, in->n / 2),
	     op(RAW_OP_strncasecmp, P(text), P(other), in->n / 2, table));
}

/* Does operations that write on the model, too. */
static void memory_written(const struct ranges *in)
{
	static char model_a[ROOM], model_b[ROOM];
	char *a = in->a, *b = in->b;
	size_t x = in->x, y = in->y, n = in->n;
	int byte = in->byte;
	char *want;

	memcpy(model_a, a, ROOM);
	memcpy(model_b, b, ROOM);
	if (a == b) {
		memmove(model_a + x, model_a + y, n);
		op(RAW_OP_memmove, P(a + x), P(a + y), n, 0);
		CHECK(!memcmp(a, model_a, ROOM), "memmove(%zu, %zu, %zu)", x, y, n);
		return;
	}
	memcpy(model_a + x, model_b + y, n);
	op(RAW_OP_memcpy, P(a + x), P(b + y), n, 0);
	CHECK(!memcmp(a, model_a, ROOM), "memcpy(%zu, %zu, %zu)", x, y, n);
	memset(model_a + y, byte, n);
	op(RAW_OP_memset, P(a + y), (uint64_t)byte, n, 0);
	CHECK(!memcmp(a, model_a, ROOM), "memset(%zu, %zu)", y, n);
	if (n) {
		want = stpcpy(model_a + x, model_b + y);
		SAME(P(a + (want - model_a)), op(RAW_OP_stpcpy, P(a + x), P(b + y), 0, 0));
		CHECK(!memcmp(a, model_a, ROOM), "stpcpy(%zu, %zu)", x, y);
		SAME(P(a + x), op(RAW_OP_strcpy, P(a + x), P(b + y), 0, 0));
		CHECK(!memcmp(a, model_a, ROOM), "strcpy(%zu, %zu)", x, y);
		strncpy(model_a + x, model_b + y, n);
		SAME(P(a + x), op(RAW_OP_strncpy, P(a + x), P(b + y), n, 0));
		CHECK(!memcmp(a, model_a, ROOM), "strncpy(%zu, %zu, %zu)", x, y, n);
	}
}

static void test_memory(void)
{
	char *plain =
		mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *places[2];

	/* One range ends with its memory, both here and in the buffer. */
	MUST(plain != MAP_FAILED && !munmap(plain + ROOM, 4096));
	places[0] = plain;
	places[1] = shared + BUFFER_SIZE - ROOM;
	chance_init();
	for (int round = 0; round < 600; round++) {
		struct ranges ranges = ranges_make(places);

		memory_searched(&ranges);
		if (ranges.n)
			strings_searched(&ranges);
		memory_written(&ranges);
		if (ranges.n)
			strings_found(&ranges);
	}
	munmap(plain, ROOM);
}

/* Checks that an operation that faults in the middle keeps what remains in r1-r3. */
static void test_memory_faults(void)
{
	char *plain =
		mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static char model[8 * 4096];

	MUST(plain != MAP_FAILED);
	for (int round = 0; round < 60; round++) {
		uint64_t to = 100 + chance(200), from = chance(4) ? chance(400) : to,
			 n = 3 * 4096 + chance(4096);
		int hole = 1 + (int)chance(2), number = chance(3) ? RAW_OP_memmove : RAW_OP_memset;
		uint64_t arguments[4];
		long ret;

		for (size_t i = 0; i < sizeof(model); i++)
			model[i] = plain[i] = (char)chance(0);
		if (number == RAW_OP_memmove)
			memmove(model + to, model + from, n);
		else
			memset(model + to, (int)(from & 0xff), n);
		arguments[0] = P(plain + to);
		arguments[1] = number == RAW_OP_memmove ? P(plain + from) : from;
		arguments[2] = n;
		op(number, P(shared), P(shared), 0, 0); /* loads it */
		MUST(!mprotect(plain + hole * 4096, 4096,
			       chance(2) || number == RAW_OP_memset ? PROT_READ : PROT_NONE));
		raw_run_init(&the_run, op_handle[number], arguments);
		ret = raw_run(fd, &the_run);
		CHECK(!ret && the_run.run.status == COSY_LEFT_FAULT && the_run.run.resume == 6,
		      "RUN %ld, status %u at %u", ret, the_run.run.status, the_run.run.resume);
		MUST(!mprotect(plain + hole * 4096, 4096, PROT_READ | PROT_WRITE));
		/* After the repair, do what remains over. */
		CHECK(the_run.state.reg[3] <= n, "remains %llu",
		      (unsigned long long)the_run.state.reg[3]);
		ret = raw_run_to_end(fd, &the_run);
		CHECK(!ret && the_run.run.status == COSY_DONE, "RUN %ld, status %u", ret,
		      the_run.run.status);
		CHECK(!memcmp(plain, model, sizeof(model)),
		      "%s(%llu, %llu, %llu) with a hole at %d",
		      number == RAW_OP_memmove ? "memmove" : "memset", (unsigned long long)to,
		      (unsigned long long)from, (unsigned long long)n, hole);
	}
	munmap(plain, 8 * 4096);
}

static void test_memory_wild(void)
{
	const uint64_t wild[] = { 0,
				  0xffffffff81000000,
				  0x7ffffffff000,
				  0x800000000000,
				  0xfffffffffffffff0,
				  1ull << 63,
				  KERNEL_READABLE,
				  P(shared) + BUFFER_SIZE,
				  P(shared) - 1 };

	/* Neighbours of the buffer are none of it. */
	LEAVES(COSY_LEFT_FAULT, 4, WIDE(1, P(shared) + BUFFER_SIZE), MOV(2, 1), MOV(3, 8),
	       CALL_OP(RAW_OP_memset), EXIT);
	LEAVES(COSY_LEFT_FAULT, 4, WIDE(1, P(shared) - 8), MOV(2, 1), MOV(3, 8),
	       CALL_OP(RAW_OP_memset), EXIT);
	for (size_t i = 0; i < COUNT(wild); i++) {
		for (int number = RAW_OP_memcpy; number <= RAW_OP_rawmemchr; number++) {
			uint64_t arguments[2][4] = {
				{ wild[i], number == RAW_OP_memset ? 1 : P(shared), 0x100000000,
				  1 },
				{ P(shared), wild[i], 0x100000000, 1 },
			};

			for (int k = 0; k < 2; k++) {
				long ret;

				if (k && number != RAW_OP_memcpy && number != RAW_OP_memmove &&
				    number != RAW_OP_memcmp && number != RAW_OP_strcmp &&
				    number != RAW_OP_strcpy && number != RAW_OP_stpcpy &&
				    number != RAW_OP_strncpy)
					continue;
				op(number, P(shared), P(shared), 0, 0);
				raw_run_init(&the_run, op_handle[number], arguments[k]);
				ret = raw_run(fd, &the_run);
				if (number == RAW_OP_strnlen && !k)
					continue; /* its bound is a pointer here */
				CHECK(!ret && the_run.run.status == COSY_LEFT_FAULT,
				      "operation %d, %#llx: RUN %ld, status %u", number,
				      (unsigned long long)wild[i], ret, the_run.run.status);
			}
		}
	}
}

/* Checks that operations on strings leave for each address that is no user's. */
static void test_memory_wild_strings(void)
{
	const uint64_t wild[] = { 0,
				  0xffffffff81000000,
				  0x7ffffffff000,
				  0x7ffffffff000 - 4,
				  0x800000000000,
				  0xfffffffffffffff0,
				  1ull << 63,
				  KERNEL_READABLE,
				  P(shared) + BUFFER_SIZE,
				  P(shared) - 2048 };
	static const int numbers[] = { RAW_OP_strstr, RAW_OP_strncasecmp, RAW_OP_strcasestr };
	uint64_t table = lower_case(), lower = P(shared + 8), upper = P(shared);

	strcpy(shared, "XY");
	strcpy(shared + 8, "xy");
	for (size_t i = 0; i < COUNT(numbers) * COUNT(wild); i++) {
		int number = numbers[i % COUNT(numbers)];
		uint64_t at = wild[i / COUNT(numbers)];
		bool compares = number == RAW_OP_strncasecmp;
		uint64_t arguments[3][4] = {
			{ at, upper, compares ? 2 : table, table },
			{ lower, at, compares ? 2 : table, table },
			{ lower, upper, compares ? 2 : at, at },
		};

		for (int k = 0; k < (number == RAW_OP_strstr ? 2 : 3); k++) {
			long ret;

			op(number, lower, upper, compares ? 2 : table, table);
			raw_run_init(&the_run, op_handle[number], arguments[k]);
			ret = raw_run(fd, &the_run);
			CHECK(!ret && the_run.run.status == COSY_LEFT_FAULT,
			      "operation %d, argument %d, %#llx: RUN %ld, status %u", number, k,
			      (unsigned long long)at, ret, the_run.run.status);
		}
	}
}

/* Checks that operations leave for an entry of the table that cannot be read, while others can. */
static void test_memory_table(void)
{
	char *pages =
		mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t table = P(pages + 4096 - 'm' * sizeof(int32_t)), text = P(shared),
		 needle = P(shared + 8);
	struct {
		int number;
		uint64_t arguments[4];
	} calls[] = {
		{ RAW_OP_strcasestr, { text, needle, table } },
		{ RAW_OP_strcasestr, { needle, text, table } },
		{ RAW_OP_strncasecmp, { text, needle, 1, table } },
	};

	MUST(pages != MAP_FAILED);
	memcpy((void *)table, *__ctype_tolower_loc(), 'z' * sizeof(int32_t));
	strcpy(shared, "abc");
	strcpy(shared + 8, "xyz");
	MUST(!mprotect(pages + 4096, 4096, PROT_NONE));
	for (size_t i = 0; i < COUNT(calls); i++) {
		op(calls[i].number, text, text, i < 2 ? lower_case() : 1, lower_case());
		raw_run_init(&the_run, op_handle[calls[i].number], calls[i].arguments);
		CHECK(!raw_run(fd, &the_run) && the_run.run.status == COSY_LEFT_FAULT,
		      "call %zu: status %u", i, the_run.run.status);
	}
	munmap(pages, 2 * 4096);
}

/* Checks that what goes over memory in large steps notices each page that cannot be read. */
static void test_memory_unreadable(void)
{
	static const uint64_t before[] = { 4096, 1024, 136, 128, 100, 8, 1, 0 };
	static const uint64_t beyond[] = { 1, 8, 28, 120, 128, 3072, 4096, 2 * 4096 };
	char *plain =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(plain != MAP_FAILED && !mprotect(plain + 4096, 2 * 4096, PROT_NONE));
	for (size_t i = 0; i < COUNT(before) * COUNT(beyond); i++) {
		uint64_t at = P(plain + 4096) - before[i / COUNT(beyond)];
		uint64_t length = before[i / COUNT(beyond)] + beyond[i % COUNT(beyond)];
		uint64_t crc32c[4] = { 0, at, length }, count[4] = { at, length, 'x' };

		for (int k = 0; k < 2; k++) {
			int number = k ? RAW_OP_count : RAW_OP_crc32c;
			long ret;

			op(number, 0, 0, 0, 0); /* loads it */
			raw_run_init(&the_run, op_handle[number], k ? count : crc32c);
			ret = raw_run(fd, &the_run);
			CHECK(!ret && the_run.run.status == COSY_LEFT_FAULT,
			      "operation %d, %llu bytes, %llu of them readable: RUN %ld, status %u",
			      number, (unsigned long long)length,
			      (unsigned long long)before[i / COUNT(beyond)], ret,
			      the_run.run.status);
		}
	}
	munmap(plain, 3 * 4096);
}

/* Checks that a call reaches the buffer only as far as it goes, and no other kernel memory. */
static void test_memory_reach(void)
{
	const uint64_t wild[] = {
		P(shared) + BUFFER_SIZE - 8, P(shared) + BUFFER_SIZE, P(shared) - 8,
		0x7ffffffff000 - 8,	     0x7ffffffff000,	      1ull << 63,
		0xffffffff81000000,	     KERNEL_READABLE,	      -8ull
	};
	int file = memfd_create("reach", 0), listing = open("/", O_RDONLY | O_DIRECTORY);

	MUST(file >= 0 && listing >= 0);
	RESULT(0, MOV(1, file), WIDE(2, P(shared)), CALL(SYS_fstat), EXIT);
	for (size_t i = 0; i < COUNT(wild); i++) {
		RESULT(-EFAULT, MOV(1, file), WIDE(2, wild[i]), CALL(SYS_fstat), EXIT);
		RESULT(-EFAULT, MOV(1, AT_FDCWD), WIDE(2, P("/")), WIDE(3, wild[i]), MOV(4, 0),
		       CALL(SYS_newfstatat), EXIT);
		memset(shared + BUFFER_SIZE - 8, 'x', 8); /* a name without an end */
		RESULT(-EFAULT, MOV(1, AT_FDCWD), WIDE(2, wild[i]), WIDE(3, P(shared)), MOV(4, 0),
		       CALL(SYS_newfstatat), EXIT);
		RESULT(-EFAULT, MOV(1, listing), WIDE(2, wild[i]), MOV(3, 4096),
		       CALL(SYS_getdents64), EXIT);
		/* An arrival, as of a read that is under way. */
		RESULT(-EFAULT, MOV(1, 1), WIDE(2, wild[i]), MOV(3, 4096), MOV(4, 1),
		       WIDE(5, COSY_UNDER_WAY), CALL_OP(RAW_OP_epoll_read), EXIT);
	}
	close(file);
	close(listing);
}

/* Checks that operations write above what a view has, and single accesses are of a size that there is. */
static void test_memory_views(void)
{
	enum { PAGES = 4 * 4096 };
	static const uint64_t sizes[] = { 0, 3, 16, 1ull << 32, 1ull << 40 };
	int file = memfd_create("views", 0);

	MUST(file >= 0 && !ftruncate(file, PAGES));
	memset(shared, 'b', PAGES);
	memset(private, 'p', 64);
	RESULT(0, MOV(1, file), WIDE(2, P(shared)), MOV(3, PAGES), CALL_OP(RAW_OP_view_read),
	       WIDE(1, P(shared) + 8), WIDE(2, P(private)), MOV(3, 64), CALL_OP(RAW_OP_look),
	       MOV(0, 0), EXIT);
	for (int i = 0; i < PAGES; i++)
		CHECK(shared[i] == (i >= 8 && i < 8 + 64 ? 'p' : 0), "byte %d is %d", i, shared[i]);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		LEAVES(COSY_LEFT_TRAP, 4, WIDE(1, P(shared)), WIDE(2, sizes[i]),
		       CALL_OP(RAW_OP_view_load), EXIT);
		LEAVES(COSY_LEFT_TRAP, 5, WIDE(1, P(shared)), MOV(2, 1), WIDE(3, sizes[i]),
		       CALL_OP(RAW_OP_view_store), EXIT);
	}
	close(file);
}

int main(int argc, char **argv)
{
	static const struct part parts[] = {
		{ "memory", .run = test_memory },
		{ "memory_faults", .run = test_memory_faults },
		{ "memory_wild", .run = test_memory_wild },
		{ "memory_wild_strings", .run = test_memory_wild_strings },
		{ "memory_table", .run = test_memory_table },
		{ "memory_unreadable", .run = test_memory_unreadable },
		{ "memory_reach", .run = test_memory_reach },
		{ "memory_views", .run = test_memory_views },
	};

	return kmod_main(parts, COUNT(parts), argc, argv);
}
