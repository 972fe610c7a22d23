// SPDX-License-Identifier: MIT
/*
 * relax_calls.c - makes the stubs of relax_calls.def, and wraps the calls that need more than one.
 *
 * A stub has no frame.  Unless there is something to settle it jumps to the C library's function,
 * and leaves the arguments, whatever their number and types, where they are.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "file/file.h"
#include "direct.h"
#include "next.h"
#include "relax/coalesce.h"
#include "relax/relax.h"
#include "relax/relaxed.h"
#include "relax/trunc.h"
#include "vfork.h"

enum { TOUCH, TELL, SETTLE, END };

/* The stubs know the layout: `next` comes first. */
struct call {
	void *next; /* NULL until it was called once */
	char class;
	char name[31];
};

#define CALL(name, class)                                                                          \
	__attribute__((used, visibility("hidden"))) struct call relax_call_##name = {NULL, class,  \
										     #name};
#include "relax/relax_calls.def"
#undef CALL

/* Settles what the call's class asks for.  Returns the function to jump to. */
__attribute__((used, visibility("hidden"))) void *relax_prepare(struct call *call, int first)
{
	int error = errno;
	void *next;

	if (!vfork_in_child()) {
		switch (call->class) {
		case TOUCH:
			relax_touch(first);
			break;
		case TELL:
			relax_tell();
			break;
		case SETTLE:
			relax_settle();
			break;
		case END:
			relax_end();
			break;
		}
	}
	next = call->next;
	if (!next)
		next = next_find(call->name);
	/*
	 * END returns leases even if nothing is pending: leave NULL, so that its stub comes here.
	 */
	if (call->class != END)
		call->next = next;
	errno = error;
	return next;
}

/*
 * Saves all argument registers around relax_prepare: six, rax (which counts the vector registers
 * for a variadic function), and eight vector registers.  In: the struct call in r11.
 */
__asm__(".text\n"
	".type relax_call_slow, @function\n"
	"relax_call_slow:\n"
	"	.cfi_startproc\n"
	"	pushq %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 6, -16\n"
	"	movq %rsp, %rbp\n"
	"	.cfi_def_cfa_register 6\n"
	"	subq $192, %rsp\n"
	"	movq %rdi, 0(%rsp)\n"
	"	movq %rsi, 8(%rsp)\n"
	"	movq %rdx, 16(%rsp)\n"
	"	movq %rcx, 24(%rsp)\n"
	"	movq %r8, 32(%rsp)\n"
	"	movq %r9, 40(%rsp)\n"
	"	movq %rax, 48(%rsp)\n"
	"	movups %xmm0, 64(%rsp)\n"
	"	movups %xmm1, 80(%rsp)\n"
	"	movups %xmm2, 96(%rsp)\n"
	"	movups %xmm3, 112(%rsp)\n"
	"	movups %xmm4, 128(%rsp)\n"
	"	movups %xmm5, 144(%rsp)\n"
	"	movups %xmm6, 160(%rsp)\n"
	"	movups %xmm7, 176(%rsp)\n"
	"	movl %edi, %esi\n"
	"	movq %r11, %rdi\n"
	"	call relax_prepare\n"
	"	movq %rax, %r11\n"
	"	movq 0(%rsp), %rdi\n"
	"	movq 8(%rsp), %rsi\n"
	"	movq 16(%rsp), %rdx\n"
	"	movq 24(%rsp), %rcx\n"
	"	movq 32(%rsp), %r8\n"
	"	movq 40(%rsp), %r9\n"
	"	movq 48(%rsp), %rax\n"
	"	movups 64(%rsp), %xmm0\n"
	"	movups 80(%rsp), %xmm1\n"
	"	movups 96(%rsp), %xmm2\n"
	"	movups 112(%rsp), %xmm3\n"
	"	movups 128(%rsp), %xmm4\n"
	"	movups 144(%rsp), %xmm5\n"
	"	movups 160(%rsp), %xmm6\n"
	"	movups 176(%rsp), %xmm7\n"
	"	leave\n"
	"	.cfi_def_cfa 7, 8\n"
	"	jmp *%r11\n"
	"	.cfi_endproc\n"
	".size relax_call_slow, . - relax_call_slow\n");

#define CALL(name, class)                                                                          \
	__asm__(".globl " #name "\n"                                                               \
		".type " #name ", @function\n"                                                     \
		".balign 16\n" #name ":\n"                                                         \
		"	endbr64\n"                                                                       \
		"	movl truncs(%rip), %r11d\n"                                                      \
		"	orl coalesce_word(%rip), %r11d\n"                                                \
		"	jne 1f\n"                                                                        \
		"	movq relax_call_" #name "(%rip), %r11\n"                                   \
		"	testq %r11, %r11\n"                                                              \
		"	je 1f\n"                                                                         \
		"	jmp *%r11\n"                                                                     \
		"1:	leaq relax_call_" #name "(%rip), %r11\n"                                   \
		"	jmp relax_call_slow\n"                                                           \
		".size " #name ", . - " #name "\n");
#include "relax/relax_calls.def"
#undef CALL

ssize_t write(int fd, const void *buf, size_t len)
{
	if (truncs && !trunc_of(fd))
		relax_touch(fd);
	if (coalesce_pending() && !(coalesce_has(fd) && alone()))
		coalesce_flush();
	if (coalesce_may(fd) && alone())
		return relax_write(fd, buf, len);
	return direct_write(fd, buf, len);
}

/* What is stored in the mapping later must not be overwritten by what was written before. */
void *mmap64(void *at, size_t len, int protection, int flags, int fd, off64_t offset)
{
	bool mine = !vfork_in_child();
	void *mapping;

	if (mine && (truncs || coalesce_pending()))
		relax_settle();
	mapping = NEXT(mmap64)(at, len, protection, flags, fd, offset);
	if (mine && mapping != MAP_FAILED && fd >= 0 && !(flags & MAP_ANONYMOUS))
		coalesce_mapped(fd);
	return mapping;
}

void *mmap(void *at, size_t len, int protection, int flags, int fd, off_t offset)
	__attribute__((alias("mmap64")));

int creat64(const char *path, mode_t mode)
{
	return open64(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int creat(const char *path, mode_t mode) __attribute__((alias("creat64")));

/* Makes `call`, and reports a late error if there is one. */
#define SYNCED(fd, call)                                                                           \
	({                                                                                         \
		int error_, ret_;                                                                  \
                                                                                                   \
		relax_touch(fd);                                                                   \
		error_ = relaxed_take_error(fd);                                                   \
		ret_ = (call);                                                                     \
		relax_closed(ret_, error_);                                                        \
	})

int fsync(int fd)
{
	return SYNCED(fd, NEXT(fsync)(fd));
}

int fdatasync(int fd)
{
	return SYNCED(fd, NEXT(fdatasync)(fd));
}
