/* SPDX-License-Identifier: MIT */
/*
 * Tests loads, stores, atomics and division: every thunk that is reached for them.
 * Arguments choose parts by name; none runs all.
 */
#include "kmod.h"

/* The kernel maps its table of interrupts there in each machine. */
#define KERNEL_READABLE 0xfffffe0000000000

static void test_loads(void)
{
	static const struct {
		int size;
		uint64_t want;
	} sizes[] = {
		{ BPF_B, 0x87 },
		{ BPF_H, 0x8687 },
		{ BPF_W, 0x84858687 },
		{ BPF_DW, 0x8081828384858687 },
	};
	char *places[] = { shared + 64, shared + BUFFER_SIZE - 8, (char *)&private[8] };

	for (size_t p = 0; p < COUNT(places); p++) {
		uint64_t at = (uintptr_t)places[p];

		for (size_t s = 0; s < COUNT(sizes); s++) {
			int bits = 8 << s;

			memcpy(places[p], "\x87\x86\x85\x84\x83\x82\x81\x80", 8);
			RESULT(sizes[s].want, WIDE(8, at), LOAD(sizes[s].size, 0, 8, 0), EXIT);
			RESULT(sizes[s].want, WIDE(3, at + 40), LOAD(sizes[s].size, 3, 3, -40),
			       MOVR(0, 3), EXIT);
			if (bits < 64)
				RESULT((uint64_t)((int64_t)(sizes[s].want << (64 - bits)) >>
						  (64 - bits)),
				       WIDE(8, at),
				       INSN(BPF_LDX | 0x80 | sizes[s].size, 0, 8, 0, 0), EXIT);
			/* Try every store kind: a register, its own base, an immediate. */
			RESULT(0x0123456789abcdef & (~0ull >> (64 - bits)), WIDE(8, at),
			       WIDE(3, 0x0123456789abcdef), STORE(sizes[s].size, 8, 0, 3),
			       LOAD(sizes[s].size, 0, 8, 0), EXIT);
			RESULT(at & (~0ull >> (64 - bits)), WIDE(8, at),
			       STORE(sizes[s].size, 8, 0, 8), LOAD(sizes[s].size, 0, 8, 0), EXIT);
			RESULT((uint64_t)-5 & (~0ull >> (64 - bits)), WIDE(8, at),
			       STOREK(sizes[s].size, 8, 0, -5), LOAD(sizes[s].size, 0, 8, 0), EXIT);
		}
		/* Neighbours stay as they are. */
		memset(places[p] - 8, 0xee, 16);
		RESULT(0, WIDE(8, at), STOREK(BPF_B, 8, -4, 0), MOV(0, 0), EXIT);
		CHECK(!memcmp(places[p] - 8,
			      "\xee\xee\xee\xee\x00\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee\xee",
			      16),
		      "neighbours");
	}
	/* Across the end of the buffer lies other memory, or none. */
	LEAVES(COSY_LEFT_FAULT, 2, WIDE(8, (uintptr_t)shared + BUFFER_SIZE), LOAD(BPF_DW, 0, 8, 0),
	       EXIT);
}

/*
 * Goes round twice, since only accesses in a loop share a test: a byte at r8 and one `far` from it.
 */
#define PIECE(start, far)                                                                          \
	MOV(9, 2), WIDE(8, (uintptr_t)(start)), LOAD(BPF_B, 2, 8, 0), LOAD(BPF_B, 3, 8, far),      \
		STOREK(BPF_B, 8, far, 7), LOAD(BPF_B, 0, 8, far), ADD(9, -1), JUMP_NE(9, 0, -6),   \
		EXIT

/* Does the same by an address that is moved, and by one of which 32 bits are left. */
#define MOVED(start, by)                                                                           \
	MOV(9, 2), WIDE(8, (uintptr_t)(start)), LOAD(BPF_B, 2, 8, 0), LOAD(BPF_B, 2, 8, 0),        \
		ADD(8, by), LOAD(BPF_B, 0, 8, 0), ADD(9, -1), JUMP_NE(9, 0, -8), EXIT
#define NARROW(start)                                                                              \
	MOV(9, 2), WIDE(8, (uintptr_t)(start)), LOAD(BPF_B, 2, 8, 0), LOAD(BPF_B, 2, 8, 1),        \
		INSN(BPF_ALU | BPF_ADD | BPF_K, 8, 0, 0, 0), LOAD(BPF_B, 0, 8, 0), ADD(9, -1),     \
		JUMP_NE(9, 0, -8), EXIT
/* Enters in the middle: jumps at first over the first access, on whose test the others rely. */
#define ENTERED(start)                                                                             \
	MOV(9, 2), WIDE(8, (uintptr_t)(start)), JUMP_NE(9, 1, 1), LOAD(BPF_B, 2, 8, -16),          \
		LOAD(BPF_B, 2, 8, -8), LOAD(BPF_B, 0, 8, 0), ADD(9, -1), JUMP_NE(9, 0, -6), EXIT

/*
 * Checks that accesses that share a test reach what each is meant for: memory around the buffer, or
 * none.
 */
static void test_pieces(void)
{
	static const int places[] = {
		0, 1, 8, 3999, BUFFER_SIZE / 2, BUFFER_SIZE - 4000, BUFFER_SIZE - 8, BUFFER_SIZE - 1
	};
	static const int distances[] = { 1,    -1,    8,    -8,	   3999,  -3999,
					 4000, -4000, 4001, -4001, 32767, -32768 };

	for (int mapped = 0; mapped < 2; mapped++) {
		for (size_t p = 0; p < COUNT(places) * COUNT(distances); p++) {
			int place = places[p % COUNT(places)];
			int distance = distances[p / COUNT(places)], at = place + distance;
			char *wrapped = &shared[at & (BUFFER_SIZE - 1)];

			*wrapped = 3;
			shared[place] = 1;
			if (!mapped && (at < 0 || at >= BUFFER_SIZE)) {
				LEAVES_IN(COSY_LEFT_FAULT, 3, 4, PIECE(&shared[place], distance));
				continue;
			}
			RESULT(7, PIECE(&shared[place], distance));
			CHECK(shared[at] == 7 && (wrapped == &shared[at] || *wrapped == 3),
			      "%d bytes from %#x", distance, place);
			RESULT(7, MOVED(&shared[place], distance));
		}
		if (!mapped) {
			LEAVES(COSY_LEFT_FAULT, 3, MOVED(shared + BUFFER_SIZE, -8));
			LEAVES_IN(COSY_LEFT_FAULT, 3, 6, MOVED(shared + BUFFER_SIZE - 2, 2));
			LEAVES_IN(COSY_LEFT_FAULT, 3, 6, MOVED(shared, -1));
			LEAVES(COSY_LEFT_FAULT, 6, NARROW(shared));
			LEAVES_IN(COSY_LEFT_FAULT, 5, 6, ENTERED(shared + BUFFER_SIZE));
		}
		MUST(!mprotect(shared - BUFFER_SIZE, BUFFER_SIZE, PROT_READ | PROT_WRITE));
		MUST(!mprotect(shared + BUFFER_SIZE, BUFFER_SIZE, PROT_READ | PROT_WRITE));
	}
	MUST(!mprotect(shared - BUFFER_SIZE, BUFFER_SIZE, PROT_NONE));
	MUST(!mprotect(shared + BUFFER_SIZE, BUFFER_SIZE, PROT_NONE));
}

/*
 * Goes round twice, since only accesses in a loop are fetched together: loads the first word, two
 * bytes, and the byte `last` bytes above the first.
 */
#define FETCH(start, last)                                                                         \
	MOV(9, 2), WIDE(8, (uintptr_t)(start)), LOAD(BPF_DW, 2, 8, 0),                             \
		LOAD(BPF_B, 3, 8, (last) / 3), LOAD(BPF_B, 3, 8, (last) * 2 / 3),                  \
		LOAD(BPF_B, 0, 8, last), ADD(9, -1), JUMP_NE(9, 0, -6), EXIT

/* Loads four words of one place and three of another in turns, and adds them up. */
#define TWO_FETCHES(a, b)                                                                          \
	MOV(9, 2), WIDE(8, (uintptr_t)(a)), WIDE(7, (uintptr_t)(b)), MOV(0, 0),                    \
		LOAD(BPF_DW, 2, 8, 0), LOAD(BPF_DW, 3, 7, 0), LOAD(BPF_DW, 4, 8, 24),              \
		LOAD(BPF_DW, 5, 7, 24), LOAD(BPF_DW, 6, 8, 8), MOVR(0, 2), ADDR(0, 3), ADDR(0, 4), \
		ADDR(0, 5), ADDR(0, 6), LOAD(BPF_DW, 2, 8, 16), ADDR(0, 2),                        \
		LOAD(BPF_DW, 2, 7, 16), ADDR(0, 2), ADD(9, -1), JUMP_NE(9, 0, -17), EXIT

static void test_fetches(void)
{
	static const uint64_t bad[] = { 0,
					0xffffffff81000000,
					0xffff888000000000,
					0xffffffffffffffff,
					0xfffffffffffffff9,
					0x0000800000000000,
					0x00007ffffffff000,
					0x1234567812345678,
					KERNEL_READABLE };
	unsigned char *pages =
		mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *words = (uint64_t *)pages;

	MUST(pages != MAP_FAILED);
	for (size_t i = 0; i < 2 * 4096; i++)
		pages[i] = (unsigned char)(i * 7);
	/* Each number of words, from each place in a word on, across the pages' border. */
	for (int last = 8; last < 128; last += 3) {
		for (int at = 4096 - 130; at < 4096 + 8; at += 5)
			RESULT(pages[at + last], FETCH(pages + at, last));
	}
	RESULT(words[0] + words[1] + words[2] + words[3] + words[100] + words[102] + words[103],
	       TWO_FETCHES(words, words + 100));
	/* One of them in the buffer, and both; and across its ends. */
	memcpy(shared, words, 64);
	RESULT(words[0] + words[1] + words[2] + words[3] + words[100] + words[102] + words[103],
	       TWO_FETCHES(shared, words + 100));
	RESULT(words[0] + words[2] + words[3] + words[100] + words[101] + words[102] + words[103],
	       TWO_FETCHES(words + 100, shared));
	RESULT(words[0] * 2 + words[1] + words[2] * 2 + words[3] * 2, TWO_FETCHES(shared, shared));
	LEAVES_IN(COSY_LEFT_FAULT, 3, 6, FETCH(shared + BUFFER_SIZE - 8, 8));
	LEAVES_IN(COSY_LEFT_FAULT, 3, 6, FETCH(shared - 8, 8));

	/*
	 * The words above the last page are not there: leaves at the first load or, where nothing is
	 * fetched, at the one that faults.
	 */
	MUST(!mprotect(pages + 4096, 4096, PROT_NONE));
	RESULT(pages[4095], FETCH(pages + 4088, 7));
	RESULT(pages[4095], FETCH(pages + 4096 - 128, 127));
	for (int last = 8; last < 128; last += 3) {
		LEAVES_IN(COSY_LEFT_FAULT, 3, 6, FETCH(pages + 4088, last));
		CHECK(the_run.state.reg[8] == (uintptr_t)pages + 4088 &&
			      the_run.state.reg[9] == 2 && !the_run.state.reg[0],
		      "registers after a fault, %d bytes above", last);
	}
	/* It may only be read; not even that. */
	MUST(!mprotect(pages, 4096, PROT_READ));
	RESULT(pages[108], FETCH(pages + 8, 100));
	MUST(!munmap(pages, 4096));
	LEAVES_IN(COSY_LEFT_FAULT, 3, 6, FETCH(pages + 8, 100));
	munmap(pages + 4096, 4096);

	for (size_t i = 0; i < COUNT(bad); i++) {
		LEAVES_IN(COSY_LEFT_FAULT, 3, 6, FETCH(bad[i], 8));
		LEAVES_IN(COSY_LEFT_FAULT, 3, 6, FETCH(bad[i], 127));
		CHECK(the_run.state.reg[8] == bad[i], "the base is whole");
	}
}

static void test_bad_pointers(void)
{
	static const uint64_t bad[] = {
		0,
		8,
		0xffffffff81000000,
		0xffff888000000000,
		0xffffffffffffffff,
		0xfffffffffffffff9,
		0x0000800000000000,
		0x00007ffffffff000,
		0x1234567812345678,
		0x8000000000000000,
		0xffffffffff600000,
		KERNEL_READABLE,
	};

	for (size_t i = 0; i < COUNT(bad); i++) {
		LEAVES(COSY_LEFT_FAULT, 3, WIDE(8, bad[i]), MOV(7, 1), LOAD(BPF_DW, 0, 8, 0), EXIT);
		CHECK(the_run.state.reg[8] == bad[i] && the_run.state.reg[7] == 1,
		      "registers at %#llx", (unsigned long long)bad[i]);
		LEAVES(COSY_LEFT_FAULT, 2, WIDE(8, bad[i]), LOAD(BPF_B, 8, 8, 0), EXIT);
		CHECK(the_run.state.reg[8] == bad[i], "the base is whole");
		LEAVES(COSY_LEFT_FAULT, 2, WIDE(8, bad[i]), STORE(BPF_W, 8, 0, 8), EXIT);
		CHECK(the_run.state.reg[8] == bad[i], "the base is whole");
		LEAVES(COSY_LEFT_FAULT, 2, WIDE(8, bad[i]), STOREK(BPF_DW, 8, 0, 5), EXIT);
		LEAVES(COSY_LEFT_FAULT, 3, WIDE(8, bad[i]), MOV(0, 7),
		       ATOMIC(BPF_DW, 8, 0, 0, BPF_ADD | BPF_FETCH), EXIT);
		CHECK(the_run.state.reg[0] == 7, "r0 after an atomic");
		LEAVES(COSY_LEFT_FAULT, 3, WIDE(8, bad[i]), MOV(0, 7),
		       ATOMIC(BPF_W, 8, 0, 3, BPF_XOR), EXIT);
		CHECK(the_run.state.reg[0] == 7, "r0 after an atomic");
	}
}

/* Checks that an atomic of memory that can only be read leaves with r0 as it was. */
static void test_read_only(void)
{
	static const int kinds[] = { BPF_ADD, BPF_OR, BPF_AND, BPF_XOR, BPF_XCHG, BPF_CMPXCHG };
	static const int sizes[] = { BPF_W, BPF_DW };
	uint64_t *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(page != MAP_FAILED);
	*page = 5;
	MUST(!mprotect(page, 4096, PROT_READ));
	for (size_t i = 0; i < COUNT(kinds) * COUNT(sizes); i++) {
		LEAVES(COSY_LEFT_FAULT, 4, WIDE(8, (uintptr_t)page), MOV(0, 7), MOV(3, 1),
		       ATOMIC(sizes[i % 2], 8, 0, 3, kinds[i / 2] | BPF_FETCH), EXIT);
		CHECK(the_run.state.reg[0] == 7 && the_run.state.reg[3] == 1 && *page == 5,
		      "%#x: r0 is %lld, r3 %lld", kinds[i / 2], (long long)the_run.state.reg[0],
		      (long long)the_run.state.reg[3]);
	}
	LEAVES(COSY_LEFT_FAULT, 2, WIDE(8, (uintptr_t)page), STOREK(BPF_B, 8, 0, 1), EXIT);
	munmap(page, 4096);
}

static void test_atomics(void)
{
	char *places[] = { shared + 128, (char *)&private[16] };

	for (size_t p = 0; p < COUNT(places); p++) {
		volatile uint64_t *at = (uint64_t *)places[p];
		uint64_t a = (uintptr_t)at;
		static const struct {
			int what;
			uint64_t want;
		} kinds[] = {
			{ BPF_ADD, 0xf0f0f0f0ffff0001ull + 0x00ff00ff00ff00ff },
			{ BPF_OR, 0xf0f0f0f0ffff0001ull | 0x00ff00ff00ff00ff },
			{ BPF_AND, 0xf0f0f0f0ffff0001ull & 0x00ff00ff00ff00ff },
			{ BPF_XOR, 0xf0f0f0f0ffff0001ull ^ 0x00ff00ff00ff00ff },
		};

		for (size_t k = 0; k < COUNT(kinds); k++) {
			*at = 0xf0f0f0f0ffff0001;
			RESULT(77, WIDE(8, a), WIDE(3, 0x00ff00ff00ff00ff), MOV(0, 77),
			       ATOMIC(BPF_DW, 8, 0, 3, kinds[k].what), EXIT);
			CHECK(*at == kinds[k].want, "%#x: %#llx", kinds[k].what,
			      (unsigned long long)*at);
			*at = 0xf0f0f0f0ffff0001;
			RESULT(0xf0f0f0f0ffff0001, WIDE(8, a), WIDE(3, 0x00ff00ff00ff00ff),
			       MOV(0, 77), ATOMIC(BPF_DW, 8, 0, 3, kinds[k].what | BPF_FETCH),
			       MOVR(0, 3), EXIT);
			CHECK(*at == kinds[k].want, "%#x fetch: %#llx", kinds[k].what,
			      (unsigned long long)*at);
			*at = 0xf0f0f0f0ffff0001;
			RESULT(0xffff0001, WIDE(8, a), WIDE(3, 0x00ff00ff00ff00ff), MOV(0, 77),
			       ATOMIC(BPF_W, 8, 0, 3, kinds[k].what | BPF_FETCH), MOVR(0, 3), EXIT);
			CHECK((uint32_t)*at == (uint32_t)kinds[k].want && *at >> 32 == 0xf0f0f0f0,
			      "%#x fetch: %#llx", kinds[k].what, (unsigned long long)*at);
		}
		*at = 5;
		RESULT(5, WIDE(8, a), MOV(3, 6), ATOMIC(BPF_DW, 8, 0, 3, BPF_XCHG), MOVR(0, 3),
		       EXIT);
		CHECK(*at == 6, "exchange");
		RESULT(6, WIDE(8, a), MOV(0, 6), MOV(3, 9), ATOMIC(BPF_DW, 8, 0, 3, BPF_CMPXCHG),
		       EXIT);
		CHECK(*at == 9, "compare-exchange");
		RESULT(9, WIDE(8, a), MOV(0, 6), MOV(3, 10), ATOMIC(BPF_DW, 8, 0, 3, BPF_CMPXCHG),
		       EXIT);
		CHECK(*at == 9, "compare-exchange that fails");
		RESULT(9, WIDE(8, a), WIDE(0, 0x100000009), MOV(3, 11),
		       ATOMIC(BPF_W, 8, 0, 3, BPF_CMPXCHG), EXIT);
		CHECK(*at == 11, "narrow compare-exchange");
		/* An unaligned locked access across cache lines is the interpreter's. */
		LEAVES(COSY_LEFT_FAULT, 3, WIDE(8, a + 61), MOV(3, 1),
		       ATOMIC(BPF_W, 8, 0, 3, BPF_ADD), EXIT);
		LEAVES(COSY_LEFT_FAULT, 3, WIDE(8, a + 60), MOV(3, 1),
		       ATOMIC(BPF_DW, 8, 0, 3, BPF_ADD | BPF_FETCH), EXIT);
	}
}

#define DIV(class, op, d, s, off) INSN((class) | (op) | BPF_X, d, s, off, 0)

static void test_division(void)
{
	static const int64_t values[] = { 0,	     1,		 -1,	     7,
					  -7,	     1000000007, INT32_MIN,  INT32_MAX,
					  INT64_MIN, INT64_MAX,	 -4294967296 };

	for (size_t i = 0; i < COUNT(values); i++) {
		for (size_t k = 0; k < COUNT(values); k++) {
			int64_t a = values[i], b = values[k];
			int32_t a4 = (int32_t)a, b4 = (int32_t)b;
			int64_t quotient = !b ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
			int64_t rest = !b ? a : b == -1 ? 0 : a % b;
			uint32_t quotient4 = !b4	? 0
					     : b4 == -1 ? 0 - (uint32_t)a4
							: (uint32_t)(a4 / b4);
			uint32_t rest4 = !b4 ? (uint32_t)a4 : b4 == -1 ? 0 : (uint32_t)(a4 % b4);

			RESULT(quotient, WIDE(0, a), WIDE(2, b), DIV(BPF_ALU64, BPF_DIV, 0, 2, 1),
			       EXIT);
			RESULT(rest, WIDE(0, a), WIDE(3, b), DIV(BPF_ALU64, BPF_MOD, 0, 3, 1),
			       EXIT);
			RESULT(quotient4, WIDE(0, a), WIDE(2, b), DIV(BPF_ALU, BPF_DIV, 0, 2, 1),
			       EXIT);
			RESULT(rest4, WIDE(0, a), WIDE(2, b), DIV(BPF_ALU, BPF_MOD, 0, 2, 1), EXIT);
			RESULT(b ? (uint64_t)a / (uint64_t)b : 0, WIDE(6, a), WIDE(2, b),
			       DIV(BPF_ALU64, BPF_DIV, 6, 2, 0), MOVR(0, 6), EXIT);
			RESULT(b4 ? (uint32_t)a4 % (uint32_t)b4 : (uint32_t)a4, WIDE(3, a),
			       WIDE(2, b), DIV(BPF_ALU, BPF_MOD, 3, 2, 0), MOVR(0, 3), EXIT);
		}
	}
}

int main(int argc, char **argv)
{
	static const struct part parts[] = {
		{ "loads", .run = test_loads },
		{ "pieces", .run = test_pieces },
		{ "fetches", .run = test_fetches },
		{ "bad_pointers", .run = test_bad_pointers },
		{ "read_only", .run = test_read_only },
		{ "atomics", .run = test_atomics },
		{ "division", .run = test_division },
	};

	return kmod_main(parts, COUNT(parts), argc, argv);
}
