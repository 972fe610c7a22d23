/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - reads one file twice: by the C library's names, which `cosy run` serves from windows,
 * and past them by the kernel.  Each operation does the same to both descriptors and compares
 * results, errno, bytes and positions.
 *
 * Each thread has a file, two descriptors and a process that writes, of its own; what
 * they share is the process, and so everything that `cosy run` keeps.
 */
#ifndef COSY_RUN_TEST_FUZZ_H
#define COSY_RUN_TEST_FUZZ_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "raw.h"

#define MAX_LENGTH 70000
/* Size of the buffers: more than any file is long. */
#define ROOM (8 << 20)

extern _Thread_local int mine, theirs; /* by name; to the kernel */
extern _Thread_local int mode;	       /* O_RDONLY or O_RDWR */
extern _Thread_local char *a, *b;      /* what each has read */
extern _Thread_local int own;	       /* number of the thread */
extern _Thread_local char path[100], other[120];
extern int threads;
extern unsigned int size;   /* files are about so long */
extern unsigned char *text; /* what the fuzzer writes */

/* Ends the fuzzer unless they are equal. */
void same(long got, long want, const char *what);
/* a and b, `len` bytes, which may be a negative result. */
void same_bytes(long len);

/*
 * Makes a call by name and one to the kernel, with the same result and errno.  Yields the result.
 */
#define BOTH(by_name, to_kernel)                                                                   \
	({                                                                                         \
		long got_, want_;                                                                  \
		int got_errno_;                                                                    \
                                                                                                   \
		errno = 0;                                                                         \
		got_ = (by_name);                                                                  \
		got_errno_ = errno;                                                                \
		errno = 0;                                                                         \
		want_ = (to_kernel);                                                               \
		same(got_, want_, "the result");                                                   \
		same(got_errno_, errno, "errno");                                                  \
		want_;                                                                             \
	})

size_t some_length(void);
off_t some_offset(void);

/* Opens the file again, on both sides. */
void open_both(int flags);

/* Starts the process that writes, before there are threads. */
void writer_start(void);
/* Its pipes, which the program needs after an exec. */
extern _Thread_local int writer_commands, writer_answers;

/* Number of words that main goes on with after do_exec; the first is the program. */
#define RESUMED 13
void resume(char **words);
extern _Thread_local long step, steps;
extern long seed;

#define OPERATION(weight, name, what) void name(void);
#include "operations.def"
#undef OPERATION

#endif /* COSY_RUN_TEST_FUZZ_H */
