// SPDX-License-Identifier: MIT
/*
 * relax_calls.c - the slow path of relax_calls.def's stubs, and the calls that need more than a
 * stub.
 *
 * The stubs are in arch/.  A stub has no frame.  Unless there is something to settle it jumps to
 * the C library's function, and leaves the arguments, whatever their number and types, where they
 * are.
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
