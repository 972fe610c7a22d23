// SPDX-License-Identifier: MIT
/*
 * strings.c - gives compounds bodies for operations on strings and memory.  A body processes short
 * strings itself, and calls the operation for the rest.  The build compiles this file to BPF
 * bitcode and embeds it in the plugin.  Strings.cpp inlines __cosy_strings_X in place of X.
 *
 * A whole word is loaded only if it is in the same page as a byte that the function has to read,
 * so the load faults only if the function would.  Bytes after the string's end are masked.  They
 * may be outside of the object, so hidden() hides the pointer's origin from LLVM.
 *
 * `order` is a constant: the part of a comparison's result that the program uses.
 */
typedef unsigned long size_t;
typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned char u8;

#define STRING(name) __cosy_strings_##name
#define INLINE	     static inline __attribute__((always_inline))
#define NULL	     ((void *)0)
#define WORD	     sizeof(u64)
#define PAGE	     4096
#define ONES	     0x0101010101010101ul
#define HIGHS	     0x8080808080808080ul

size_t strlen(const char *s);
char *strchr(const char *s, int c);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
void *memchr(const void *s, int c, size_t n);
void *memrchr(const void *s, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memcpy(void *d, const void *s, size_t n);
void *memmove(void *d, const void *s, size_t n);
void *memset(void *d, int c, size_t n);

INLINE const char *hidden(const void *at)
{
	__asm__("" : "+r"(at));
	return at;
}

/* Loads and stores of any alignment, in objects of any type. */
#define ACCESS(type)                                                                               \
	typedef type __attribute__((aligned(1), may_alias)) any_##type;                            \
	INLINE type load_##type(const void *at)                                                    \
	{                                                                                          \
		return *(const any_##type *)at;                                                    \
	}                                                                                          \
	INLINE void store_##type(void *at, type value)                                             \
	{                                                                                          \
		*(any_##type *)at = value;                                                         \
	}
ACCESS(u64)
ACCESS(u32)
ACCESS(u8)

/* Returns the high bit of each zero byte.  Bits above the lowest one that is set may be wrong. */
INLINE u64 zeroes(u64 word)
{
	return (word - ONES) & ~word & HIGHS;
}

/* Returns the index of the byte with the lowest bit of `bits`, which is not 0. */
INLINE u64 first_byte(u64 bits)
{
	u64 low = bits & -bits;

	return (((low - 1) & HIGHS) >> 7) * ONES >> 56;
}

/* Returns all bits up to the lowest one of `bits`; all 64, if `bits` is 0. */
INLINE u64 up_to_lowest(u64 bits)
{
	return bits ^ (bits - 1);
}

/* True if this many words from the address on are in one page. */
INLINE int words_are_within(const void *at, u64 words)
{
	return ((u64)at & (PAGE - 1)) <= PAGE - words * WORD;
}

/* Returns ones in the `n` lowest bytes; in all of them if `n` is 8 or more. */
INLINE u64 low_bytes(u64 n)
{
	return n < WORD ? ~(~0ul << 8 * n) : ~0ul;
}

/* --- The first byte of a value --------------------------------------------------------- */

size_t STRING(strlen)(const char *s)
{
	size_t done = 0;

	if (words_are_within(s, 2)) {
		const char *at = hidden(s);
		u64 ends = zeroes(load_u64(at));

		if (ends)
			return first_byte(ends);
		ends = zeroes(load_u64(at + WORD));
		if (ends)
			return WORD + first_byte(ends);
		done = 2 * WORD;
	}
	return done + strlen(s + done);
}

/* Returns bits, the lowest in the first byte that is in `pattern` (*found: true) or is 0. */
INLINE u64 byte_or_end(u64 word, u64 pattern, int *found)
{
	u64 bytes = zeroes(word ^ pattern), hits = bytes | zeroes(word);

	*found = (bytes & hits & -hits) != 0;
	return hits;
}

char *STRING(strchr)(const char *s, int c)
{
	u64 pattern = (u8)c * ONES, hits;
	int found;

	if (words_are_within(s, 2)) {
		const char *at = hidden(s);

		hits = byte_or_end(load_u64(at), pattern, &found);
		if (hits)
			return found ? (char *)s + first_byte(hits) : NULL;
		hits = byte_or_end(load_u64(at + WORD), pattern, &found);
		if (hits)
			return found ? (char *)s + WORD + first_byte(hits) : NULL;
		s += 2 * WORD;
	}
	return strchr(s, c);
}

/* Returns the address of the lowest hit in the word at `s`; NULL if its index is not below `n`. */
INLINE void *hit_below(const char *s, u64 hits, size_t n)
{
	u64 index = first_byte(hits);

	return index < n ? (char *)s + index : NULL;
}

void *STRING(memchr)(const void *bytes, int c, size_t n)
{
	u64 pattern = (u8)c * ONES, hits;
	const char *s = bytes;

	if (!n)
		return NULL;
	if (words_are_within(s, 2)) {
		const char *at = hidden(s);

		hits = zeroes(load_u64(at) ^ pattern);
		if (hits)
			return hit_below(s, hits, n);
		if (n <= WORD)
			return NULL;
		hits = zeroes(load_u64(at + WORD) ^ pattern);
		if (hits)
			return hit_below(s + WORD, hits, n - WORD);
		if (n <= 2 * WORD)
			return NULL;
		s += 2 * WORD;
		n -= 2 * WORD;
	}
	return memchr(s, c, n);
}

char *STRING(strrchr)(const char *s, int c)
{
	return memrchr(s, c, STRING(strlen)(s) + 1);
}

/* --- Comparing ------------------------------------------------------------------------- */

enum order { EQUALITY, SIGN, DIFFERENCE };

/* Compares two words by the first byte that differs, which has the lowest bit of `differing`. */
INLINE int word_order(u64 a, u64 b, u64 differing, enum order order)
{
	u64 shift;

	if (order == EQUALITY)
		return 1;
	if (order == SIGN)
		return __builtin_bswap64(a) < __builtin_bswap64(b) ? -1 : 1;
	shift = 8 * first_byte(differing);
	return (int)(a >> shift & 0xff) - (int)(b >> shift & 0xff);
}

/* Compares one word of each string, of which the first `n` bytes count.  True: *result is final. */
INLINE int words_decide(const char *a, const char *b, u64 n, enum order order, int *result)
{
	u64 x = load_u64(a), y = load_u64(b), ends = zeroes(x);
	u64 differing = (x ^ y) & up_to_lowest(ends) & low_bytes(n);

	*result = differing ? word_order(x, y, differing, order) : 0;
	return differing || ends || n <= WORD;
}

int STRING(strcmp)(const char *a, const char *b, enum order order)
{
	int result;

	if (words_are_within(a, 2) && words_are_within(b, 2)) {
		const char *x = hidden(a), *y = hidden(b);

		if (words_decide(x, y, ~0ul, order, &result) ||
		    words_decide(x + WORD, y + WORD, ~0ul, order, &result))
			return result;
		a += 2 * WORD;
		b += 2 * WORD;
	}
	return strcmp(a, b);
}

int STRING(strncmp)(const char *a, const char *b, size_t n, enum order order)
{
	int result;

	if (!n)
		return 0;
	if (words_are_within(a, 2) && words_are_within(b, 2)) {
		const char *x = hidden(a), *y = hidden(b);

		if (words_decide(x, y, n, order, &result) ||
		    words_decide(x + WORD, y + WORD, n - WORD, order, &result))
			return result;
		a += 2 * WORD;
		b += 2 * WORD;
		n -= 2 * WORD;
	}
	return strncmp(a, b, n);
}

/*
 * Compares the first `size` bytes of `a`, at most 16, with those of the constant `b`, which `first`
 * and `second` contain.  If they include the end of `b`, it is the last of them.
 */
int STRING(strcmp_words)(const char *a, const char *b, u64 first, u64 second, u64 size,
			 enum order order)
{
	u64 x, differing;
	const char *at;

	if (!words_are_within(a, size <= WORD ? 1 : 2))
		return strncmp(a, b, size);
	at = hidden(a);
	x = load_u64(at);
	/* If `a` ends before the last of these bytes, it differs from `b` there. */
	differing = (x ^ first) & low_bytes(size);
	if (differing)
		return word_order(x & low_bytes(size), first, differing, order);
	if (size <= WORD)
		return 0;
	size -= WORD;
	x = load_u64(at + WORD);
	differing = (x ^ second) & low_bytes(size);
	return differing ? word_order(x & low_bytes(size), second, differing, order) : 0;
}

int STRING(memcmp)(const void *left, const void *right, size_t n, enum order order)
{
	const u8 *a = left, *b = right;
	u64 x, y;

	if (n > 2 * WORD)
		return memcmp(a, b, n);
	if (n >= WORD) {
		x = load_u64(a);
		y = load_u64(b);
		if (x == y) {
			x = load_u64(a + n - WORD);
			y = load_u64(b + n - WORD);
		}
	} else if (n >= 4) {
		x = load_u32(a) | (u64)load_u32(a + n - 4) << 32;
		y = load_u32(b) | (u64)load_u32(b + n - 4) << 32;
	} else if (n) {
		x = load_u8(a) | (u64)load_u8(a + n / 2) << 8 | (u64)load_u8(a + n - 1) << 16;
		y = load_u8(b) | (u64)load_u8(b + n / 2) << 8 | (u64)load_u8(b + n - 1) << 16;
	} else {
		return 0;
	}
	return x == y ? 0 : word_order(x, y, x ^ y, order);
}

/* --- Copying and filling --------------------------------------------------------------- */

/* Loads all bytes before it stores any, since the ranges may overlap.  `n` is at most 32. */
INLINE void bytes_move(u8 *d, const u8 *s, size_t n)
{
	if (n >= 2 * WORD) {
		u64 first = load_u64(s), second = load_u64(s + WORD);
		u64 third = load_u64(s + n - 2 * WORD), last = load_u64(s + n - WORD);

		store_u64(d, first);
		store_u64(d + WORD, second);
		store_u64(d + n - 2 * WORD, third);
		store_u64(d + n - WORD, last);
	} else if (n >= WORD) {
		u64 first = load_u64(s), last = load_u64(s + n - WORD);

		store_u64(d, first);
		store_u64(d + n - WORD, last);
	} else if (n >= 4) {
		u32 first = load_u32(s), last = load_u32(s + n - 4);

		store_u32(d, first);
		store_u32(d + n - 4, last);
	} else if (n) {
		u8 first = load_u8(s), middle = load_u8(s + n / 2), last = load_u8(s + n - 1);

		store_u8(d, first);
		store_u8(d + n / 2, middle);
		store_u8(d + n - 1, last);
	}
}

void STRING(memmove)(void *d, const void *s, size_t n)
{
	if (n <= 4 * WORD)
		bytes_move(d, s, n);
	else
		memmove(d, s, n);
}

void STRING(memcpy)(void *d, const void *s, size_t n)
{
	if (n <= 4 * WORD)
		bytes_move(d, s, n);
	else
		memcpy(d, s, n);
}

void STRING(memset)(void *to, u64 c, size_t n)
{
	u64 word = (u8)c * ONES;
	u8 *d = to;

	if (n > 4 * WORD) {
		memset(d, (int)c, n);
	} else if (n >= 2 * WORD) {
		store_u64(d, word);
		store_u64(d + WORD, word);
		store_u64(d + n - 2 * WORD, word);
		store_u64(d + n - WORD, word);
	} else if (n >= WORD) {
		store_u64(d, word);
		store_u64(d + n - WORD, word);
	} else if (n >= 4) {
		store_u32(d, (u32)word);
		store_u32(d + n - 4, (u32)word);
	} else if (n) {
		store_u8(d, (u8)c);
		store_u8(d + n / 2, (u8)c);
		store_u8(d + n - 1, (u8)c);
	}
}

char *STRING(strcpy)(char *d, const char *s)
{
	STRING(memcpy)(d, s, STRING(strlen)(s) + 1);
	return d;
}

char *STRING(stpcpy)(char *d, const char *s)
{
	size_t length = STRING(strlen)(s);

	STRING(memcpy)(d, s, length + 1);
	return d + length;
}
