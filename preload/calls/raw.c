// SPDX-License-Identifier: MIT
/*
 * raw.c - wraps syscall(2): the calls by it that make, copy, close and read descriptors or use their
 * positions do what libc's functions of those names do here.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "alone.h"
#include "next.h"

/* The calls that are wrapped; their arguments are a[0] up. */
#define I(n) ((int)a[n])
#define P(n) ((void *)a[n])
#define WRAPPED(CALL)                                                                              \
	CALL(read, read(I(0), P(1), a[2]))                                                         \
	CALL(lseek, lseek(I(0), (off_t)a[1], I(2)))                                                \
	CALL(readv, readv(I(0), P(1), I(2)))                                                       \
	CALL(preadv2, preadv2(I(0), P(1), I(2), (off_t)a[3], I(5)))                                \
	CALL(sendfile, sendfile(I(0), I(1), P(2), a[3]))                                           \
	CALL(splice, splice(I(0), P(1), I(2), P(3), a[4], (unsigned int)a[5]))                     \
	CALL(copy_file_range, copy_file_range(I(0), P(1), I(2), P(3), a[4], (unsigned int)a[5]))   \
	CALL(ioctl, ioctl(I(0), a[1], P(2)))                                                       \
	CALL(open, open(P(0), I(1), (mode_t)a[2]))                                                 \
	CALL(creat, open(P(0), O_CREAT | O_WRONLY | O_TRUNC, (mode_t)a[1]))                        \
	CALL(openat, openat(I(0), P(1), I(2), (mode_t)a[3]))                                       \
	CALL(dup, dup(I(0)))                                                                       \
	CALL(dup2, dup2(I(0), I(1)))                                                               \
	CALL(dup3, dup3(I(0), I(1), I(2)))                                                         \
	CALL(fcntl, control(I(0), I(1), a[2]))                                                     \
	CALL(close, close(I(0)))                                                                   \
	CALL(close_range, close_range((unsigned int)a[0], (unsigned int)a[1], I(2)))

/* Tells of each number whether it is one of them. */
#define IS_WRAPPED(name, call) [SYS_##name] = true,
__attribute__((used, visibility("hidden"))) const bool raw_wrapped[512] = {WRAPPED(IS_WRAPPED)};

/* libc makes another call of F_GETOWN. */
static long control(int fd, int command, unsigned long argument)
{
	if (command == F_GETOWN)
		return next_result(cosy_syscall3(SYS_fcntl, (unsigned long)fd, F_GETOWN, 0));
	return fcntl(fd, command, argument);
}

static long raw_make(long number, const unsigned long *a)
{
	switch (number) {
#define MAKE(name, call)                                                                           \
	case SYS_##name:                                                                           \
		return call;
		WRAPPED(MAKE)
	}
	__builtin_unreachable();
}

/* Makes one of the calls above.  A thread is cancelled in libc's functions, but not in syscall(2). */
__attribute__((used, visibility("hidden"))) long raw_call(long number, unsigned long a,
							  unsigned long b, unsigned long c,
							  unsigned long d, unsigned long e,
							  unsigned long f)
{
	const unsigned long arguments[] = {a, b, c, d, e, f};
	bool many = !alone();
	int state = 0;
	long ret;

	if (many)
		NEXT(pthread_setcancelstate)(PTHREAD_CANCEL_DISABLE, &state);
	ret = raw_make(number, arguments);
	if (many)
		NEXT(pthread_setcancelstate)(state, &state);
	return ret;
}

/*
 * Has no frame where it makes any other call: the child of a clone with a stack of its own returns
 * by what is on top of that.
 */
__asm__(".pushsection .text\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
#ifdef COSY_RELAX
	"	push	%rdi\n"
	"	push	%rsi\n"
	"	push	%rdx\n"
	"	push	%rcx\n"
	"	push	%r8\n"
	"	push	%r9\n"
	"	sub	$8, %rsp\n"
	"	call	relax_settle\n"
	"	add	$8, %rsp\n"
	"	pop	%r9\n"
	"	pop	%r8\n"
	"	pop	%rcx\n"
	"	pop	%rdx\n"
	"	pop	%rsi\n"
	"	pop	%rdi\n"
#endif
	"	cmp	$512, %rdi\n"
	"	jae	1f\n"
	"	lea	raw_wrapped(%rip), %rax\n"
	"	cmpb	$0, (%rax, %rdi)\n"
	"	jne	raw_call\n"
	"1:	mov	%rdi, %rax\n"
	"	mov	%rsi, %rdi\n"
	"	mov	%rdx, %rsi\n"
	"	mov	%rcx, %rdx\n"
	"	mov	%r8, %r10\n"
	"	mov	%r9, %r8\n"
	"	mov	8(%rsp), %r9\n"
	"	syscall\n"
	"	cmp	$-4095, %rax\n"
	"	jae	2f\n"
	"	ret\n"
	"2:	mov	%rax, %rdi\n"
	"	jmp	next_error\n"
	".size syscall, . - syscall\n"
	".popsection");
