// SPDX-License-Identifier: MIT
/*
 * stream.c - wraps calls by which libc uses, closes and replaces descriptors itself: of stdio,
 * directories and terminals.  Their numbers stand for no file, or another one, afterwards.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <utmp.h>

#include "calls/share.h"
#include "file/file.h"
#include "metadata/metadata.h"
#include "next.h"
#include "relax/relax.h"
#include "vfork.h"

/* stdio's own reads and its close do not come through this library. */
FILE *fdopen(int fd, const char *mode)
{
	share_descriptor(fd, GUARD_OWN_CALLS, UNTIL_CLOSED);
	return NEXT(fdopen)(fd, mode);
}

OTHER_NAME(_IO_fdopen, fdopen);

DIR *fdopendir(int fd)
{
	share_descriptor(fd, GUARD_OWN_CALLS, UNTIL_CLOSED);
	return NEXT(fdopendir)(fd);
}

/* Makes `call`, after which `fd` means something else, even if it fails; yields its result. */
#define REPLACED(fd, call)                                                                         \
	({                                                                                         \
		int fd_ = (fd);                                                                    \
		struct file *file_ = vfork_in_child() ? NULL : file_replacing(fd_);                \
		__typeof__(call) ret_;                                                             \
                                                                                                   \
		metadata_forget(fd_);                                                              \
		ret_ = (call);                                                                     \
		metadata_forget(fd_);                                                              \
		if (unlikely(file_))                                                               \
			file_replaced(fd_, file_, true);                                           \
		ret_;                                                                              \
	})

/* Does the same for a call that closes the number, and reports a late error. */
#define CLOSED(fd, call)                                                                           \
	({                                                                                         \
		int number_ = (fd), late_ = relax_closing(number_);                                \
                                                                                                   \
		relax_closed(REPLACED(number_, call), late_);                                      \
	})

/* Returns the stream's descriptor; -1: it has none, or it cannot matter. */
static int stream_number(FILE *stream)
{
	int error = errno, fd = -1;

	if (file_space || RELAXES || METADATA_SERVES)
		fd = NEXT(fileno)(stream);
	errno = error;
	return fd;
}

int fclose(FILE *stream)
{
	relax_settle();
	return CLOSED(stream_number(stream), NEXT(fclose)(stream));
}

OTHER_NAME(_IO_fclose, fclose);

int pclose(FILE *stream)
{
	relax_settle();
	return CLOSED(stream_number(stream), NEXT(pclose)(stream));
}

FILE *freopen(const char *path, const char *mode, FILE *stream)
{
	relax_settle();
	relax_forget(stream_number(stream));
	return REPLACED(stream_number(stream), NEXT(freopen)(path, mode, stream));
}

FILE *freopen64(const char *path, const char *mode, FILE *stream)
{
	relax_settle();
	relax_forget(stream_number(stream));
	return REPLACED(stream_number(stream), NEXT(freopen64)(path, mode, stream));
}

int closedir(DIR *directory)
{
	return CLOSED(NEXT(dirfd)(directory), NEXT(closedir)(directory));
}

/* Makes standard input, output and error the terminal, and closes its own number. */
int login_tty(int terminal)
{
	struct file *files[3];
	bool mine = !vfork_in_child();
	int ret;

	for (int fd = 0; fd < 3; fd++) {
		relax_closing(fd);
		metadata_forget(fd);
		files[fd] = mine ? file_replacing(fd) : NULL;
	}
	ret = REPLACED(terminal, NEXT(login_tty)(terminal));
	for (int fd = 0; fd < 3; fd++) {
		metadata_forget(fd);
		file_replaced(fd, files[fd], true);
	}
	return ret;
}
