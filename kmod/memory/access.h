/* SPDX-License-Identifier: GPL-2.0 */
/*
 * access.h - loads and stores that may fault, for operations on memory: in the kernel's mapping of
 * the shared buffer or, between cosy_access_begin and cosy_access_end, in user memory.  The caller
 * has bounded and masked the address.
 *
 * With compilers whose assembly cannot both return a result and jump, unsafe_get_user would test
 * for a fault after every load.  Here a fault sets *fault, which the caller has set to 0, to the
 * number of the trap; the loaded value then means nothing.  A memory error in a user page is such a
 * fault as well: the kernel recovers if the exception table says MCE_SAFE.  The trap's number comes
 * in rax.
 */
#ifndef COSY_ACCESS_H
#define COSY_ACCESS_H

#include <linux/kasan-checks.h>
#include <linux/uaccess.h>
#include <asm/asm.h>

#define COSY_ONES   0x0101010101010101ul
#define COSY_HIGHS  0x8080808080808080ul
#define COSY_WORD   sizeof(u64)
#define COSY_BLOCK  (4 * COSY_WORD)
#define COSY_STRIDE (8 * COSY_WORD)

/*
 * Tell KASAN of accesses by assembly, which it does not see, to the kernel's memory: it knows no
 * other.  Without KASAN these do nothing.
 */
static __always_inline void cosy_note_read(const void *at, size_t size)
{
	if (IS_ENABLED(CONFIG_KASAN) && (long)at < 0)
		kasan_check_read(at, size);
}

static __always_inline void cosy_note_write(const void *at, size_t size)
{
	if (IS_ENABLED(CONFIG_KASAN) && (long)at < 0)
		kasan_check_write(at, size);
}

/* Assembly keeps a line for each instruction. */
/* clang-format off */
#define COSY_FAULTS(label) _ASM_EXTABLE_TYPE(label, 9b, EX_TYPE_FAULT_MCE_SAFE)

#define cosy_access_begin()	__uaccess_begin()
#define cosy_access_end()	__uaccess_end()

static __always_inline u64 cosy_peek_word(const void *at, int *fault)
{
	u64 word;

	cosy_note_read(at, COSY_WORD);
	asm volatile("1:	movq %[from], %[word]\n"
		     "9:\n"
		     COSY_FAULTS(1b)
		     : [word] "=r" (word), [fault] "+a" (*fault)
		     : [from] "m" (*(const u64 *)at));
	return word;
}

static __always_inline u32 cosy_peek_int(const void *at, int *fault)
{
	u32 value;

	cosy_note_read(at, sizeof(value));
	asm volatile("1:	movl %[from], %[value]\n"
		     "9:\n"
		     COSY_FAULTS(1b)
		     : [value] "=r" (value), [fault] "+a" (*fault)
		     : [from] "m" (*(const u32 *)at));
	return value;
}

static __always_inline u8 cosy_peek_byte(const void *at, int *fault)
{
	u32 byte;

	cosy_note_read(at, 1);
	asm volatile("1:	movzbl %[from], %[byte]\n"
		     "9:\n"
		     COSY_FAULTS(1b)
		     : [byte] "=r" (byte), [fault] "+a" (*fault)
		     : [from] "m" (*(const u8 *)at));
	return byte;
}

/* Checks whether a byte can be written, which it is by one instruction that changes no bit. */
static __always_inline void cosy_poke_nothing(const void *at, int *fault)
{
	cosy_note_write(at, 1);
	asm volatile("1:	lock orb $0, %[at]\n"
		     "9:\n"
		     COSY_FAULTS(1b)
		     : [at] "+m" (*(u8 *)at), [fault] "+a" (*fault)
		     :
		     : "cc");
}

/*
 * Sets `to` to a word with a high bit for each byte of the word at `offset` that is the pattern's;
 * `label` is where it is loaded.
 */
#define COSY_HITS(to, label, offset)			\
	"	movq %[pattern], %[" #to "]\n"		\
	#label ":	xorq " #offset "(%[at]), %[" #to "]\n" \
	"	addq %[minus], %[" #to "]\n"

/* The same for a pattern of zeros. */
#define COSY_ZERO_HITS(to, label, offset)		\
	"	movq %[minus], %[" #to "]\n"		\
	#label ":	addq " #offset "(%[at]), %[" #to "]\n"

/* The same for bytes of the pattern, and zeros. */
#define COSY_HITS_OR_ZERO(to, label, offset)		\
	#label ":	movq " #offset "(%[at]), %[other]\n" \
	"	leaq (%[other],%[minus]), %[" #to "]\n"	\
	"	xorq %[pattern], %[other]\n"		\
	"	addq %[minus], %[other]\n"		\
	"	orq %[other], %[" #to "]\n"

/* Adds a further word's hits. */
#define COSY_ADD(HITS, label, offset)			\
	HITS(word, label, offset)			\
	"	orq %[word], %[hits]\n"

/*
 * Returns non-zero if one of the four words at `at` has the byte that `pattern` has in all places;
 * sometimes also for a byte that differs from it in the high bit.
 */
static __always_inline u64 cosy_peek_match(const void *at, u64 pattern, int *fault)
{
	u64 hits, word;

	cosy_note_read(at, COSY_BLOCK);
	asm volatile(COSY_HITS(hits, 1, 0)
		     COSY_ADD(COSY_HITS, 2, 8) COSY_ADD(COSY_HITS, 3, 16) COSY_ADD(COSY_HITS, 4, 24)
		     "9:\n"
		     COSY_FAULTS(1b) COSY_FAULTS(2b) COSY_FAULTS(3b) COSY_FAULTS(4b)
		     : [hits] "=&r" (hits), [word] "=&r" (word), [fault] "+a" (*fault)
		     : [at] "r" (at), [pattern] "r" (pattern), [minus] "r" (-COSY_ONES)
		     : "memory", "cc");
	return hits & COSY_HIGHS;
}

/* Goes over `left` strides from `at` on, to the first one with hits. */
#define COSY_SKIP_STRIDES(HITS)				\
	"10:\n" HITS(hits, 1, 0)			\
	COSY_ADD(HITS, 2, 8) COSY_ADD(HITS, 3, 16) COSY_ADD(HITS, 4, 24) COSY_ADD(HITS, 5, 32) \
	COSY_ADD(HITS, 6, 40) COSY_ADD(HITS, 7, 48) COSY_ADD(HITS, 8, 56) \
	"	testq %[highs], %[hits]\n"		\
	"	jnz 9f\n"				\
	"	addq %[stride], %[at]\n"		\
	"	decq %[left]\n"				\
	"	jnz 10b\n"				\
	"9:\n"						\
	COSY_FAULTS(1b) COSY_FAULTS(2b) COSY_FAULTS(3b) COSY_FAULTS(4b) \
	COSY_FAULTS(5b) COSY_FAULTS(6b) COSY_FAULTS(7b) COSY_FAULTS(8b)

/*
 * Returns how many of `count` (1 up) strides from `at` on have no match in that sense.  The loop is
 * written out, since a compiler would test *fault in each turn.
 */
static __always_inline u64 cosy_skip_strides(const void *at, u64 count, u64 pattern, int *fault)
{
	u64 left = count, hits, word;

	cosy_note_read(at, count * COSY_STRIDE);
	if (!pattern)
		asm volatile(COSY_SKIP_STRIDES(COSY_ZERO_HITS)
			     : [hits] "=&r" (hits), [word] "=&r" (word), [at] "+r" (at),
			       [left] "+r" (left), [fault] "+a" (*fault)
			     : [minus] "r" (-COSY_ONES), [highs] "r" (COSY_HIGHS),
			       [stride] "i" (COSY_STRIDE)
			     : "memory", "cc");
	else
		asm volatile(COSY_SKIP_STRIDES(COSY_HITS)
			     : [hits] "=&r" (hits), [word] "=&r" (word), [at] "+r" (at),
			       [left] "+r" (left), [fault] "+a" (*fault)
			     : [pattern] "r" (pattern), [minus] "r" (-COSY_ONES),
			       [highs] "r" (COSY_HIGHS), [stride] "i" (COSY_STRIDE)
			     : "memory", "cc");
	return count - left;
}

/* Returns how many have neither a match nor a zero. */
static __always_inline u64 cosy_skip_strides_to_end(const void *at, u64 count, u64 pattern,
						    int *fault)
{
	u64 left = count, hits, word, other;

	cosy_note_read(at, count * COSY_STRIDE);
	asm volatile(COSY_SKIP_STRIDES(COSY_HITS_OR_ZERO)
		     : [hits] "=&r" (hits), [word] "=&r" (word), [other] "=&r" (other),
		       [at] "+r" (at), [left] "+r" (left), [fault] "+a" (*fault)
		     : [pattern] "r" (pattern), [minus] "r" (-COSY_ONES), [highs] "r" (COSY_HIGHS),
		       [stride] "i" (COSY_STRIDE)
		     : "memory", "cc");
	return count - left;
}

/* Returns non-zero if the four words at `a` differ from those at `b`. */
static __always_inline u64 cosy_peek_difference(const void *a, const void *b, int *fault)
{
	u64 bits, word;

	cosy_note_read(a, COSY_BLOCK);
	cosy_note_read(b, COSY_BLOCK);
	asm volatile("1:	movq (%[a]), %[bits]\n"
		     "2:	xorq (%[b]), %[bits]\n"
		     "3:	movq 8(%[a]), %[word]\n"
		     "4:	xorq 8(%[b]), %[word]\n"
		     "	orq %[word], %[bits]\n"
		     "5:	movq 16(%[a]), %[word]\n"
		     "6:	xorq 16(%[b]), %[word]\n"
		     "	orq %[word], %[bits]\n"
		     "7:	movq 24(%[a]), %[word]\n"
		     "8:	xorq 24(%[b]), %[word]\n"
		     "	orq %[word], %[bits]\n"
		     "9:\n"
		     COSY_FAULTS(1b) COSY_FAULTS(2b) COSY_FAULTS(3b) COSY_FAULTS(4b)
		     COSY_FAULTS(5b) COSY_FAULTS(6b) COSY_FAULTS(7b) COSY_FAULTS(8b)
		     : [bits] "=&r" (bits), [word] "=&r" (word), [fault] "+a" (*fault)
		     : [a] "r" (a), [b] "r" (b)
		     : "memory", "cc");
	return bits;
}
/* clang-format on */

/* Stores jump to the label at a fault. */
#define cosy_poke_byte(value, to, label)                                                           \
	do {                                                                                       \
		cosy_note_write((const void *)(unsigned long)(to), 1);                             \
		unsafe_put_user(value, (u8 __user *)(to), label);                                  \
	} while (0)
#define cosy_poke_word(value, to, label)                                                           \
	do {                                                                                       \
		cosy_note_write((const void *)(unsigned long)(to), COSY_WORD);                     \
		unsafe_put_user(value, (u64 __user *)(to), label);                                 \
	} while (0)

/*
 * Returns the high bit of each byte that is 0, exact from the lowest byte up to the first such
 * one.
 */
static __always_inline u64 cosy_zeroes(u64 word)
{
	return (word - COSY_ONES) & ~word & COSY_HIGHS;
}

/* Returns the high bit of each byte that is 0, and no other. */
static __always_inline u64 cosy_zeroes_exactly(u64 word)
{
	return ~(((word & ~COSY_HIGHS) + ~COSY_HIGHS) | word | ~COSY_HIGHS);
}

#endif /* COSY_ACCESS_H */
