/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * cosy.h - the compound format and the ioctls of /dev/cosy, which nothing else defines again.
 *
 * A compound (Purohit et al., FSL-02-01 section 2.3.1) is a program in the BPF
 * instruction set (RFC 9669, conformance groups base32, base64, divmul32,
 * divmul64, atomic32, atomic64 without packet access) with these meanings:
 *
 *  - `call N` with src_reg 0: system call N (x86-64 numbering) with arguments
 *    r1-r5 and the sixth in r0, or, from COSY_OP_BASE up, a Cosy operation.
 *    The result, or a negative errno, is in r0; r1-r5 are 0 afterwards, except
 *    after the operations that document otherwise.
 *  - `call +off` with src_reg 1: a local call.  r6-r9 and the spill frame are
 *    preserved across it and r1-r5 are 0 after it; the callee's own spill frame
 *    starts zeroed.  The first function, where the compound starts, cannot be called.
 *  - Loads and stores take the process's own 64-bit addresses.
 *  - Loads may be made together, in any order, as long as no store, atomic or call and no
 *    instruction that a jump leads to is between them.  So `goto +0` orders loads: a compiler puts
 *    one before and after each volatile or atomic load.
 *  - r10 may only be the base of a load or store at a constant offset.  All its
 *    bytes must lie in the spill frame: offsets -COSY_FRAME_SIZE to -1.
 *  - `exit` in the first function ends the compound with result r0.
 *  - Division and modulo follow the RFC: x / 0 is 0, x % 0 is x, and signed
 *    overflow wraps.  A program that needs SIGFPE, like C on x86-64, tests for these
 *    cases and makes the operation divide_error.
 *
 * All fields are little-endian; no structure has implicit padding.
 */
#ifndef _UAPI_LINUX_COSY_H
#define _UAPI_LINUX_COSY_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define COSY_ABI_VERSION 1
#define COSY_MAGIC	 0x59534f43u /* "COSY" */

/* Bounds; LOAD's log says which one a compound exceeds. */
#define COSY_MAX_INSNS	  16384u     /* instruction slots in a compound */
#define COSY_MAX_COMPOUND (1u << 20) /* bytes in a container */
/*
 * Bytes of a function's spill frame.  With the sandbox's own slots they make 512: BPF's limit, and
 * the last entry of the kernel's table of stack depths.
 */
#define COSY_FRAME_SIZE 448u
#define COSY_MAX_BUFFER (1u << 26) /* bytes in a shared buffer */

/* `call` numbers from here on are operations, which core/ops.def lists. */
#define COSY_OP_BASE 0x10000u

/*
 * An operation that stands for several system calls may leave before any of them.  r1-r5 then
 * hold the remaining work, and r5 (scan_dir: r4) has the upper half of COSY_UNDER_WAY, which says
 * that the operation has begun:
 *
 *	read_file	r1 the file's descriptor; r2 the bytes read, or the negative errno of a read
 *			that failed, so that only the close is left; r3 the address for the next
 *			bytes; r4 the bytes that are left to read; r5 the flags
 *	write_file	the same for writing; r3 the address of the next bytes
 *	scan_dir	r1 the directory's descriptor; r2 the address of the next entry to examine;
 *			r3 the bytes from there to the end of the last entry, at most 65536; r4 the
 *			flags; r5 the bytes of the entries that were examined
 *	seek_read, seek_write
 *			r1-r4 as at the start; r5 the whence; the seek is done
 *	epoll_read	r1 the number of arrivals; r2-r4 as at the start; r5 the index of the next
 *			arrival to read
 *
 * scan_tree does not change r1-r5: its struct cosy_tree holds the remaining work.
 *
 * If a program writes other values there, the remaining calls fail as they would with these
 * arguments.  The error is -EINVAL if r2 of scan_dir is no entry that scan_dir has written, or if
 * r1 of epoll_read exceeds r4.
 */
#define COSY_UNDER_WAY	     0x59534f4300000000ull
#define COSY_IS_UNDER_WAY(r) ((r) >> 32 == COSY_UNDER_WAY >> 32)

/*
 * Container: this header, the instructions, and an optional line table with its
 * strings.  Offsets are bytes from the start of the header and 8-byte aligned;
 * parts may not overlap or leave the container.
 */
struct cosy_compound {
	__u32 magic;	     /* COSY_MAGIC */
	__u16 version;	     /* COSY_ABI_VERSION */
	__u16 header_size;   /* sizeof(struct cosy_compound) */
	__u32 size;	     /* bytes in the whole container */
	__u32 flags;	     /* COSY_ORDINARY_CALLS or 0 */
	__u32 insn_off;	     /* struct bpf_insn[insn_cnt] */
	__u32 insn_cnt;	     /* 1 .. COSY_MAX_INSNS */
	__u32 line_off;	     /* struct cosy_line[line_cnt], ascending by insn */
	__u32 line_cnt;	     /* 0 when there is no line table */
	__u32 str_off;	     /* NUL-terminated strings; the last byte is NUL */
	__u32 str_size;	     /* 0 only when nothing names a string */
	__u32 name;	     /* offset into the strings; 0 with str_size 0 */
	__u32 ctx_size;	     /* bytes that the code uses at the address in r1 at the start */
	__u64 max_steps;     /* limit of steps, 0 = none: see COSY_IOC_LIMITS */
	__u64 max_kernel_ns; /* kernel time limit, 0 = none */
};

/*
 * In a container's or LOAD's flags: make every system call as an ordinary one, none by
 * a specialised version (docs/inside/fast.md).  For comparisons and debugging.
 */
#define COSY_ORDINARY_CALLS (1u << 0)

/* The source position of the instructions from `insn` on, until the next entry. */
struct cosy_line {
	__u32 insn;
	__u32 file;   /* offset into the strings */
	__u32 line;   /* 1-based; 0 = compiler generated */
	__u32 column; /* 1-based; 0 = unknown */
};

/*
 * ioctls.  Every argument begins with its own size in bytes, set by the caller.
 * If the kernel's structure is larger, the missing tail counts as zeros; if it is
 * smaller, the tail that it does not know must be all zeros, else E2BIG.
 * Common errors: EFAULT (argument not readable or writable), EINVAL (size or a
 * reserved field), EXDEV (another address space opened the descriptor: a fork child
 * opens its own; not for VERSION and MOVING), EOPNOTSUPP (32-bit or x32 caller).
 */

/* VERSION: returns the features of this kernel. */
struct cosy_version {
	__u32 size;
	__u32 abi;	  /* out: COSY_ABI_VERSION */
	__u32 max_insns;  /* out */
	__u32 max_buffer; /* out: bytes */
	__u64 features;	  /* out: COSY_FEATURE_* */
};
#define COSY_FEATURE_JIT       (1ull << 0) /* compounds are compiled */
#define COSY_FEATURE_LONG_JUMP (1ull << 1) /* no 32K limit on rewritten code */
/*
 * LOAD refuses everything on this processor until the administrator allows it: cosy(4),
 * allow_processor
 */
#define COSY_FEATURE_REFUSED (1ull << 2)
#define COSY_FEATURE_SEEN    (1ull << 3) /* COSY_LOAD_SEEN also finds compounds with a buffer */
#define COSY_FEATURE_FETCHES (1ull << 4) /* nearby loads outside the buffer share their checks */

/*
 * SETBUF: allocates the shared buffer (FSL-02-01 section 2.1).  Then
 * mmap(len, PROT_READ|PROT_WRITE, MAP_SHARED, fd, 0) maps it, whole and only once.
 *
 * The buffer is charged to the caller's memcg and, unless the caller has CAP_IPC_LOCK, to its
 * user's locked memory.  RLIMIT_MEMLOCK bounds the locked memory of all processes of the user
 * together, io_uring's included.  The charge ends when no process has a reference to the buffer.
 * A fork child's copy is charged likewise, but may exceed the limit.
 *
 * Compounds that are loaded while the buffer is mapped reach its first `front` bytes directly, and
 * the rest like any other memory.  Compounds loaded before that reach all of it like any other
 * memory.  The front's pages are allocated at once, the others at their first touch.  A second
 * SETBUF with the same len and a larger front enlarges the front for compounds that are loaded
 * from then on.
 *
 * Errors: EINVAL (len or front is no power of two, or less than a page; len above COSY_MAX_BUFFER;
 * front above len), EBUSY (a second SETBUF with another len, or with a front that is no larger),
 * ENOMEM (also: above RLIMIT_MEMLOCK), EINTR (killed).
 */
struct cosy_setbuf {
	__u32 size;  /* at least 16, the size without `front` */
	__u32 flags; /* 0 */
	__u64 len;   /* bytes */
	__u64 front; /* bytes, 0 = len */
};

/*
 * LOAD: validates, sandboxes and compiles a compound.  Errors: EINVAL (rejected:
 * bad_insn and the log say which instruction and why), E2BIG (exceeds a bound), EDQUOT
 * (the user has too many programs, or too many bytes of them), EOPNOTSUPP (the kernel's
 * BPF JIT is off, or COSY_FEATURE_REFUSED), ENOMEM.  The log has the reason for these, for
 * ENOMEM not always.
 *
 * A compound that another process of the same user has loaded lately need not be compiled again.
 * COSY_LOAD_SEEN loads it only then; otherwise the error is ENOENT, and nothing was checked or
 * compiled.  With COSY_LOAD_ASK as well no program is made and `handle` is 0: the result says
 * whether a context whose buffer has a front of `front` bytes (0: that has no buffer) would find
 * it now.  A later LOAD may no longer find it.
 *
 * With COSY_LOAD_BACKGROUND as well, a compound that is not found is compiled by a thread of the
 * kernel, whatever the caller does meanwhile, and a later LOAD of the user's finds it.  Each user
 * may have few compounds waiting, and a bounded number of instructions compiled a second.  The
 * errors are EINPROGRESS (it waits or is being compiled), EBUSY (no room for another one now),
 * ENOENT (compiling it failed, or was in vain, lately; or nothing is kept for this caller),
 * EOPNOTSUPP (this kernel's machine code serves only one buffer, or as for LOAD), ENOMEM, and LOAD's
 * for a front or a form of the container that is not valid.  Instructions are checked later: an
 * invalid one makes the compilation fail.
 */
struct cosy_load {
	__u32 size;
	__u32 len;	 /* bytes at compound */
	__u64 compound;	 /* const struct cosy_compound * */
	__u64 log;	 /* char *, or 0: the reason of an error, NUL-terminated */
	__u32 log_size;	 /* bytes at log */
	__u32 bad_insn;	 /* out on EINVAL: instruction, or ~0 for the container */
	__u32 handle;	 /* out: names the program in this context; never 0 */
	__u32 rewritten; /* out: instructions after sandboxing */
	__u32 jited;	 /* out: bytes of machine code */
	__u32 flags;	 /* COSY_ORDINARY_CALLS, COSY_LOAD_... */
	__u32 front;	 /* with COSY_LOAD_ASK: bytes; else 0 */
	__u32 reserved;	 /* 0 */
	__u64 key[2];	 /* 0, or that of an earlier RECALL in this context, to count calls there */
};
#define COSY_LOAD_SEEN	     (1u << 1) /* only what need not be compiled */
#define COSY_LOAD_ASK	     (1u << 2) /* with COSY_LOAD_SEEN: load nothing, only tell */
#define COSY_LOAD_BACKGROUND (1u << 3) /* with COSY_LOAD_ASK: have it compiled meanwhile */

/*
 * RECALL: reports how much earlier processes of the caller's user, in the same user and PID
 * namespaces, saved in a region, and adds the savings of this process.  `key` names the region: any
 * number but 0 that differs between regions, such as a digest of the container.  Nothing is
 * compiled.
 *
 * A process reaches level n if it saves, or would have saved, COSY_RECALL_LEVEL(n) instructions by
 * running the region in the kernel.  `reached` returns how many earlier processes reached each
 * level.  The module halves the counts from time to time, so that later processes count more.  It
 * keeps those of max_user_history regions for each user, and drops a region's when no process has
 * used it for history_hours.
 *
 * If `call_gain` is above 0, the module continues to count: each call of a program that was loaded
 * with the same key saves call_gain, and each RUN of one loses run_loss.  When the context ends,
 * the module adds the levels that this reached.  At most 64 regions of a context are counted.
 *
 * COSY_RECALL_SLOWER notes that the region was slower in the kernel than its native twin.  `slower`
 * is then above 0 for this process and for many after it.
 * COSY_RECALL_FORGET, without a key, drops all history and all compiled compounds of the user.
 *
 * Errors: EINVAL (an unknown flag; a member that must be 0; reported above saved), ENOMEM.  If the
 * history is off, the caller's real and effective user or group differ, or the descriptor is
 * another user's, nothing is kept and the results are 0.
 */
struct cosy_recall {
	__u32 size;
	__u32 flags;	/* COSY_RECALL_... */
	__u64 key[2];	/* 0: only return `regions`, or forget; then all inputs below must be 0 */
	__u64 saved;	/* instructions saved by this process so far, as if all ran in the kernel */
	__u64 reported; /* `saved` of this process's previous RECALL, which is counted already */
	__u32 call_gain; /* instructions that a call in the kernel saves; 0: do not count them */
	__u32 run_loss;	 /* ... and that a RUN costs */
	__u32 slower;	 /* out: above 0 if earlier processes found the kernel slower */
	__u32 regions;	 /* out: how many regions the user's history has */
	/*
	 * In: mean processor time of the native twin for each system call since the previous
	 * RECALL, in ps; 0: not measured.  Out: the mean of the user's processes; 0: not known
	 */
	__u32 pace;
	__u16 reached[10]; /* out: earlier processes that reached each level */
	__u32 paces[10];   /* out: `pace` of the RECALLs that reached each level; 0: not known */
};
#define COSY_RECALL_SLOWER (1u << 0)
#define COSY_RECALL_FORGET (1u << 1)
#define COSY_RECALL_LEVELS 10
/* 40,000, then 160,000 to 2,560,000, each twice the one before; then each four times. */
#define COSY_RECALL_LEVEL(n)                                                                       \
	((n) < 1 ? 40000ull : (n) < 6 ? 80000ull << ((n) & 7) : 2560000ull << 2 * (((n) - 5) & 7))

/*
 * The state of a compound that has left, in the user's own memory.  The module trusts nothing
 * in it.  RUN and libcosy's interpreter write it to hand the compound over to each other.
 */
struct cosy_state {
	__u64 reg[10];			  /* r0-r9 */
	__u64 sp;			  /* software stack: bytes in use */
	__u64 fp;			  /* offset of the newest struct cosy_frame; ~0 = none */
	__u64 frame[COSY_FRAME_SIZE / 8]; /* spill frame; the last word is r10-8 */
	__u64 steps;	 /* since the start, counted towards the limits: see COSY_IOC_LIMITS */
	__u64 kernel_ns; /* kernel time since the start, likewise */
};

/* A local call pushes this on the software stack, 16-byte aligned. */
struct cosy_frame {
	__u64 call;    /* instruction of the call; the return continues after it */
	__u64 fp;      /* the caller's cosy_state.fp */
	__u64 reg[4];  /* the caller's r6-r9 */
	__u64 spill[]; /* the caller's spill frame, as many words as it uses, r10-8 last */
};

/*
 * RUN: runs a compound from its start (resume 0) or continues where it left
 * (resume and *state as the leave wrote them).  Returns 0 with a status.  After these errors
 * nothing was done: ENOENT (handle), ELOOP (RUN inside RUN), EINVAL (resume point,
 * stack), EFAULT (argument or state not readable).  EFAULT also if the argument or, at a
 * leave, *state cannot be written: then the compound has run, and its resume point
 * is lost.  With COSY_LEFT_CALL the return value is not RUN's: see there.
 */
struct cosy_run {
	__u32 size; /* at least 72, the size without calls and fast */
	__u32 handle;
	__u64 ctx;	    /* r1 at the start, and the result of COSY_OP_ctx */
	__u64 state;	    /* struct cosy_state *: written on a leave, read on a resume */
	__u64 stack;	    /* software stack, 16-byte aligned; may be 0 without local calls */
	__u64 stack_size;   /* bytes at stack */
	__u32 resume;	    /* in/out: 0 = start, else instruction + 1 */
	__u32 status;	    /* out: enum cosy_status */
	__s64 ret;	    /* out: r0 at exit */
	__u64 detail;	    /* out: see the status */
	__u64 interp_calls; /* in, for STATS: calls that the interpreter made since the last RUN */
	__u64 calls;	    /* out: system calls and composites that this RUN made */
	__u64 fast;	    /* out: those of `calls` that a specialised version made */
};

enum cosy_status {
	COSY_DONE = 0, /* ended; ret is the result */
	/* Left at `resume` with nothing of that instruction done: */
	COSY_LEFT_WORK = 1, /* a signal or task work is due: return to user mode, then RUN again */
	/*
	 * The system call at `resume` was interrupted: if the ioctl returns to user mode at all,
	 * its raw return value is the result of that call (-EINTR, or restart_syscall's result);
	 * continue after it.
	 *
	 * If `resume` is a read_file or write_file under way, the value is the result of a read or
	 * write that it made: continue at `resume` with changed registers.  Add the bytes to r2 and
	 * r3, and subtract them from r4; after an error, put it into r2 and 0 into r4.  At the end
	 * of the file (0 bytes), r4 also becomes 0.  If it is an epoll_read under way, the value is
	 * the result of the read of arrival r5 (its lower half): put it into `result` of that
	 * arrival, and add 1 to r5.
	 */
	COSY_LEFT_CALL = 2,
	/*
	 * The access at `resume` faulted or, under a time limit, would have to wait for a page;
	 * detail = its address, or 0 or ~0 if that is not known.  Repeat the access in user mode
	 */
	COSY_LEFT_FAULT = 3,
	/*
	 * A tracer or auditor is armed, or a filter that may refuse RUN: continue by plain calls.
	 * detail = the thread's syscall_work bits
	 */
	COSY_LEFT_TRACED = 4,
	COSY_LEFT_BUFFER = 5, /* the shared buffer's mapping is gone or changed */
	COSY_LEFT_STACK = 6,  /* the software stack is full; detail = bytes needed */
	/* COSY_OP_trap, COSY_OP_divide_error, or a return to an instruction that is no call */
	COSY_LEFT_TRAP = 7,
	/* A limit was reached; the interpreter could continue: */
	COSY_ENDED_STEPS = 8, /* limit of steps */
	COSY_ENDED_TIME = 9,  /* kernel time limit */
	/*
	 * Left at `resume` with nothing of that instruction done: make the operation there in user
	 * mode, this once.  It takes long and cannot stop in the middle, or does not work from the
	 * kernel
	 */
	COSY_LEFT_NATIVE = 10,
	/*
	 * Likewise: the thread's seccomp filters must see the call at `resume`, or one that the
	 * operation there makes.  Make it by plain calls, this once, and RUN again after it.
	 * detail = the number of that system call.  If filters may refuse RUN, the status is
	 * COSY_LEFT_TRACED instead
	 */
	COSY_LEFT_FILTERED = 11,
};

/*
 * LIMITS: sets limits for every later RUN in this context, besides the compound's own and
 * the administrator's (the smallest wins).  0 = none.  A step is a call, a local
 * return or a back edge taken.  Sleeping is not kernel time.
 *
 * Limits hold for a compound from its start to its end, however often it leaves: struct cosy_state
 * carries the steps and the time used so far, and a RUN at its limit ends at once, with
 * nothing done.  A program that writes less there gains no more than by starting the compound
 * again; no single RUN exceeds a limit.  The time is checked after every call and every few steps,
 * so a compound exceeds its limit by one call or a few thousand instructions.  Under a time limit
 * no page fault of the compound's own accesses is served in the kernel: see COSY_LEFT_FAULT.
 */
struct cosy_limits {
	__u32 size;
	__u32 flags; /* 0 */
	__u64 max_steps;
	__u64 max_kernel_ns;
};

/*
 * An entry of a directory with the result of newfstatat for it, as COSY_OP_scan_dir writes them.
 * The next entry is reclen bytes above it.
 */
struct cosy_dirent {
	__u64 ino; /* these four as in struct linux_dirent64 */
	__s64 off;
	__u16 reclen;	/* bytes, a multiple of 8 */
	__u8 type;	/* DT_* */
	__u8 kind;	/* from scan_tree COSY_TREE_*, else 0 */
	__s32 error;	/* newfstatat's: 0, or a negative errno, and `stat` is zeroed */
	__u64 stat[18]; /* struct stat of x86-64 */
	char name[];	/* NUL-terminated */
};

/*
 * COSY_OP_format writes text as snprintf(3) does: buffer, size, pieces, count.  A compiler makes
 * pieces of a constant format, one for each conversion and for each 8 bytes of other text, and puts
 * the arguments into them.  Writes at most `size` bytes, the last of them a NUL; none if it is 0.
 *
 * Returns the bytes of the whole text, without the NUL.  Errors: -EOVERFLOW (that number exceeds an
 * int), -EINVAL (more than COSY_MAX_PIECES, or an invalid piece).  After an error the buffer may
 * hold a part of the text, perhaps without a NUL.
 */
struct cosy_text_piece {
	__u8 kind;	 /* COSY_PIECE_* */
	__u8 flags;	 /* COSY_PIECE_LEFT and those after it; 0 with COSY_PIECE_TEXT */
	__u16 reserved;	 /* 0 */
	__s32 width;	 /* minimum bytes; negative: its magnitude, with COSY_PIECE_LEFT */
	__s32 precision; /* with COSY_PIECE_PRECISION, else ignored; negative: none */
	__u32 unused;	 /* ignored: programs need not write it */
	__u64 value;	 /* an integer, extended to 64 bits, or an address */
};

#define COSY_PIECE_TEXT	    0 /* the first `width` bytes of `value`, 1 to 8 */
#define COSY_PIECE_STRING   1 /* %s */
#define COSY_PIECE_CHAR	    2 /* %c */
#define COSY_PIECE_SIGNED   3 /* %d */
#define COSY_PIECE_UNSIGNED 4 /* %u */
#define COSY_PIECE_OCTAL    5 /* %o */
#define COSY_PIECE_HEX	    6 /* %x */
#define COSY_PIECE_UPPER    7 /* %X */
#define COSY_PIECE_POINTER  8 /* %p */

#define COSY_PIECE_LEFT	     (1 << 0) /* '-' */
#define COSY_PIECE_PLUS	     (1 << 1) /* '+' */
#define COSY_PIECE_SPACE     (1 << 2) /* ' ' */
#define COSY_PIECE_ALTERNATE (1 << 3) /* '#' */
#define COSY_PIECE_ZERO	     (1 << 4) /* '0' */
#define COSY_PIECE_PRECISION (1 << 5) /* `precision` is given */

/* Maximum number of pieces in a text. */
#define COSY_MAX_PIECES 32

/*
 * Maximum number of arguments for COSY_OP_call_out, which calls a function of the program: address,
 * arguments, count.  The arguments are integers or addresses, 8 bytes each.  The operation leaves
 * (COSY_LEFT_NATIVE), and the process makes the call, or traps if there are more arguments.
 */
#define COSY_MAX_ARGUMENTS 12

/*
 * COSY_OP_epoll_read waits as epoll_wait(epfd, .., max, timeout) does, then makes one read(2) of
 * each descriptor that is ready to be read: epfd, buffer, size, max, timeout (milliseconds; -1:
 * none).  `buffer` is 8-byte aligned and has `size` bytes.  It begins with `max` of these
 * structures, of which the operation fills as many as it returns.  Above them are `max` shares for
 * the bytes read, one for each arrival in the same order, of COSY_ARRIVAL_SHARE(size, max) bytes.
 *
 * `data` is the value given to epoll_ctl; here its lower half must be the descriptor.  The
 * descriptor is read if `data` has COSY_ARRIVAL_READ, and `events` has EPOLLIN but not EPOLLERR.
 * `result` is then the bytes read, at most a share, 0 at the end, or a negative errno; if it is not
 * read, COSY_NOT_READ.  If the descriptor is no longer ready (another thread has read it), the read
 * blocks or fails with -EAGAIN, like read(2).
 *
 * Returns the number of arrivals, 0 at the timeout.  Errors: epoll_wait's; -EINVAL (`max` is not 1
 * to COSY_MAX_ARRIVALS, or a share has less than 8 bytes).
 */
struct cosy_arrival {
	__u64 data;
	__u32 events; /* EPOLL* */
	__s32 result;
};
#define COSY_ARRIVAL_READ (1ull << 32) /* in `data`; the 31 bits above it are the caller's */
#define COSY_NOT_READ	  (-0x7fffffff - 1)
#define COSY_MAX_ARRIVALS 1024
/* The bytes of a share, and the address of the share of arrival `i`. */
#define COSY_ARRIVAL_SHARE(size, max)                                                              \
	(((__u64)(size) / (max) - sizeof(struct cosy_arrival)) & ~7ull)
#define COSY_ARRIVAL_BYTES(buffer, size, max, i)                                                   \
	((char *)(buffer) + (max) * sizeof(struct cosy_arrival) +                                  \
	 (i) * COSY_ARRIVAL_SHARE(size, max))

/*
 * COSY_OP_scan_tree walks a tree of directories: tree, buffer, size.  `tree` is this structure with
 * more room above it, for the names of the directories that are still to be visited.  All of it is
 * the caller's memory; each call continues where the previous one ended.
 *
 * Writes as many struct cosy_dirent as fit into the `size` bytes at `buffer`; `kind` says what each
 * one reports:
 *
 *	COSY_TREE_ENTRY		an entry of the directory entered last, as scan_dir writes them with
 *				AT_SYMLINK_NOFOLLOW, "." and ".." included
 *	COSY_TREE_ENTER		a directory was opened: ino, name, and `stat` are its own, `off` is
 *				its depth.  The first one is named "." and has depth 0.  All entries
 *				of a directory follow before the next directory is entered
 *	COSY_TREE_LEAVE		with COSY_TREE_POST: a directory and all in it is done; ino, name,
 *				depth; `stat` is zeroed
 *	COSY_TREE_FAILED	a directory could not be opened (instead of COSY_TREE_ENTER), listed
 *				to its end, or returned to: `error` is a negative errno, the rest as
 *				COSY_TREE_LEAVE.  -EXDEV: another file system was mounted there
 *				after its entry was examined.  -ESTALE: the directory below it was
 *				moved away, and the rest of its directories is left out
 *
 * The directories in a directory are entered in the order of their entries, each with all in it
 * before the next one: nftw's order, with or without FTW_DEPTH.  An entry is entered if it is a
 * directory on one of the first max_depth levels, and on the first directory's file system, or on
 * any with COSY_TREE_CROSS.  Symbolic links are not followed.
 *
 * At most COSY_TREE_OPEN descriptors are open besides `dirfd`.  Directories on other levels are
 * closed meanwhile; the way back opens them again by "..", if that is still the same directory.
 *
 * Returns the bytes written, or 0 at the end, when nothing is open any more.  A `size` of 0 ends
 * the walk early.  Errors: -EINVAL (fewer than COSY_TREE_MIN_BUFFER bytes; invalid members),
 * -EFAULT, newfstatat's for the first directory, and -ENOBUFS: `tree` has no room for another name.
 * Nothing is lost then: the caller makes `tree` larger, and calls again with the same buffer.
 */
struct cosy_tree {
	__u32 size;	 /* bytes, with the room above: COSY_TREE_MIN_SIZE to 1 GB */
	__s32 dirfd;	 /* the first directory; its position moves, and it stays open */
	__u32 flags;	 /* COSY_TREE_POST, COSY_TREE_CROSS, COSY_TREE_UNORDERED */
	__u32 max_depth; /* levels to list; 1: the first directory alone; 0: all */

	/* The caller zeroes these before the first call; then they are scan_tree's. */
	__u32 step;
	__u32 level;   /* offset of the current directory */
	__u32 top;     /* offset of the room that is left */
	__u32 kept;    /* offset of the first open directory, other than dirfd ... */
	__u32 open;    /* ... and how many are open */
	__u32 name;    /* of the directory that failed ... */
	__u32 depth;   /* ... its depth ... */
	__s32 error;   /* ... and why */
	__s32 fd;      /* a directory opened by "..", until it is known to be the same; or -1 */
	__u8 empty[4]; /* names for calls: "" */
	__u8 up[4];    /* ".." */
	__u32 pad;
	__u64 device; /* of the first directory */
	__u64 done;   /* bytes that the call under way has written ... */
	__u64 seen;   /* ... the first ones, which have been searched for directories ... */
	__u64 left;   /* ... and the last ones, which are not examined yet */
	__u64 stat[18];
};
#define COSY_TREE_POST	    (1u << 0) /* also report finished directories */
#define COSY_TREE_CROSS	    (1u << 1) /* enter other file systems */
#define COSY_TREE_UNORDERED (1u << 2) /* entries may come in any order; has no effect yet */

#define COSY_TREE_OPEN	     8
#define COSY_TREE_MIN_SIZE   4096
#define COSY_TREE_MIN_BUFFER 1024

#define COSY_TREE_ENTRY	 0
#define COSY_TREE_ENTER	 1
#define COSY_TREE_LEAVE	 2
#define COSY_TREE_FAILED 3

/*
 * read(2) of the descriptor, by any process that has it, returns the calls that the seccomp filters
 * of the calling thread let through.  Bit n % 8 of byte n / 8 is set if all filters allow call n
 * whatever its arguments are, so that a compound may make it.  Without a filter all bits are set;
 * in strict mode, or if the module cannot read the filters, none is.  The last byte is that of the
 * kernel's last system call; the file position is ignored.
 */

/* FREE: drops a program; a RUN under way keeps it to its end.  Errors: ENOENT (handle). */
struct cosy_free {
	__u32 size;
	__u32 handle;
};

/* STATS: returns this context's counts since it was opened. */
#define COSY_STATS_GUARDS 32
struct cosy_stats {
	__u32 size;
	__u32 guards;	    /* out: how many elements of guard_failed are used */
	__u64 runs;	    /* RUNs that started or resumed a compound */
	__u64 calls;	    /* system calls made inside the kernel */
	__u64 ops;	    /* operations made inside the kernel */
	__u64 interp_calls; /* system calls by the interpreter, as reported to RUN */
	__u64 left[16];	    /* by enum cosy_status */
	__u64 loads;
	__u64 rejects;	     /* LOADs refused by the validator */
	__u64 fast;	     /* those of `calls` that a specialised version made */
	__u64 cache_hits;    /* LOADs that found an image of an earlier LOAD of the user's */
	__u64 cache_misses;  /* LOADs that were compiled */
	__u64 cache_evicted; /* images that were dropped to make room for these */
	__u64 loaned;	     /* pages, or parts of one, that MOVE lent */
	__u64 transferred;   /* pages that MOVE took over */
	__u64 move_refused;  /* MOVEs left to the plain call: EOPNOTSUPP */
	__u64 exported;	     /* pages that MOVE put into parcels */
	__u64 imported;	     /* pages that MOVE took from parcels */
	__u64 passed;	     /* pages that MOVE put into ports */
	__u64 taken;	     /* pages that MOVE took from ports */
	/*
	 * Calls that were ordinary because a guard failed: a count for each guard, in the order of
	 * core/guards.def
	 */
	__u64 guard_failed[COSY_STATS_GUARDS];
	__u64 queued;	     /* LOADs that had a compound compiled in the background */
	__u64 queue_refused; /* LOADs that wanted that, and found no room */
};

/*
 * ARENA: makes memory whose pages move instead of being copied (UVM, USENIX '99).  Returns a
 * descriptor, close-on-exec; mmap(length, PROT_READ|PROT_WRITE, MAP_SHARED, descriptor, 0) maps it,
 * whole and only once, in the caller's address space.  Its length is charged to the user's locked
 * memory like SETBUF's, and each page to the memory cgroup that touches it first, until the page's
 * last holder drops it.  A fork child has a copy-on-write copy at the same address.  The memory is
 * zeros at first.  mremap cannot grow it; PROT_EXEC, MADV_DONTNEED, direct I/O and shared futexes
 * are refused there.  With PINNABLE others may pin the pages, so that direct I/O works, and
 * MADV_DONTNEED changes no bytes; the arena then has no pages of 2 MB.
 *
 * Errors: EINVAL (length no multiple of a page, 0 or above COSY_MAX_ARENA; flags), ENOMEM (also:
 * above RLIMIT_MEMLOCK), EMFILE, EOPNOTSUPP (PINNABLE: the kernel does not export what it needs).
 */
struct cosy_arena_request {
	__u32 size;
	__u32 flags;  /* COSY_ARENA_* */
	__u64 length; /* bytes */
};
#define COSY_ARENA_PINNABLE (1u << 0)
#define COSY_MAX_ARENA	    (1u << 30) /* bytes in an arena */

/*
 * MOVE: makes an operation on `length` bytes, at most 0x7ffff000, of an arena's memory at
 * `address`, which is a multiple of a page.  A field that the operation does not use is 0, an fd
 * that it does not use -1; an operation takes the flags named with it.  Errors of all operations:
 * EFAULT (no arena's memory, or no right to it), EINVAL, ENOMEM, EINTR (killed).  EOPNOTSUPP:
 * nothing was done, and only the plain call can do it.
 *
 *	LOAN		does write(2) to fd, a pipe or a stream socket, without copying: sent
 *			bytes stay as they are now, whatever the caller writes there later.  The
 *			result is the number of bytes, or an error of write(2).  GIVE: whole pages
 *			that were sent are zeros afterwards.  NOSIGNAL, DONTWAIT, MORE: send(2) with
 *			MSG_NOSIGNAL and so on.  EOPNOTSUPP also for a socket for which it is
 *			unlikely to pay.
 *	TRANSFER	does read(2) from fd, a pipe: whole pages replace those at `address`.  The
 *			result is the number of bytes, 0 at the end of the file, or an error of
 *			read(2).  It ends before data that is no whole page; EOPNOTSUPP if that is
 *			the first.  POPULATE: the pages are present afterwards; WILL_WRITE: and, as
 *			far as memory allows, writable without a fault.
 *	FLUSH		makes the pages zeros and gives back those that were there; whole pages only
 *	READY		makes the pages present, with WILL_WRITE writable without a fault; whole
 *			pages only
 *	SHARE, COPY, DONATE, DONATE_ZERO
 *			make a parcel of whole pages in one mapping, all or nothing, and return its
 *			descriptor, close-on-exec, to be sent by SCM_RIGHTS (UVM section 4.3,
 *			map-entry passing).  SHARE: the caller and all who import it have the same
 *			pages from then on.  COPY: the parcel has the bytes as they are now,
 *			whatever is written afterwards.  DONATE: it has the pages themselves, which
 *			are gone at `address`; an access there is a SIGSEGV until FLUSH, TRANSFER or
 *			IMPORT fills it again.  DONATE_ZERO: the same, but zeros are left.  The
 *			pages of a parcel count in the user's locked memory until it is closed, or
 *			donated pages are imported: ENOMEM above RLIMIT_MEMLOCK.  Also EMFILE.
 *	IMPORT		puts the pages of the parcel fd in place of those at `address`, all or
 *			nothing, in one mapping.  The result is their number of bytes.  POPULATE and
 *			WILL_WRITE as for TRANSFER.  EBADF, EINVAL (no parcel), EMSGSIZE (it is
 *			longer than `length`), ENODATA (donated pages were imported already).
 *	PORT		makes a port for a window of `length` bytes, whole pages, COSY_MAX_ARENA at
 *			most, and stores its two descriptors, close-on-exec, as int[2] at `at`:
 *			messages are taken from the first and passed to the second.  The window's
 *			size counts in the user's locked memory until both are closed: ENOMEM above
 *			RLIMIT_MEMLOCK.  Also EMFILE.
 *	PASS		passes a message to the port fd, all or nothing: the bytes, in one mapping,
 *			for the window from the offset `at` on, a multiple of a page.  `how` is
 *			COPY, DONATE or DONATE_ZERO; only COPY may have a last page that is not
 *			whole, whose bytes are copied.  Waits while messages that nobody has taken
 *			are for the same pages, unless fd has O_NONBLOCK: EAGAIN.  The result is
 *			`length`.  EBADF, EINVAL (no port, not within the window), EPIPE (nobody
 *			can take it).
 *	TAKE		waits for the first message of the port fd, unless it has O_NONBLOCK:
 *			EAGAIN.  Puts the message's pages, in one mapping, in place of those at its
 *			offset in the window at `address`, which has `length` bytes, and stores that
 *			offset as __u64 at `at`.  The result is the message's number of bytes, or 0:
 *			no more can come.  The rest of its last page is zeros.  POPULATE and
 *			WILL_WRITE as for TRANSFER.  EBADF, EINVAL (no port), EMSGSIZE (the message
 *			does not fit, and stays).
 */
struct cosy_move {
	__u32 size;
	__u32 operation; /* enum cosy_move_operation */
	__u64 address;
	__u64 length; /* bytes */
	__s32 fd;     /* of LOAN, TRANSFER, IMPORT, PASS and TAKE */
	__u32 flags;  /* COSY_MOVE_GIVE and so on */
	__u64 at;     /* of PORT, PASS and TAKE */
	__u32 how;    /* of PASS */
	__u32 pad;
};

enum cosy_move_operation {
	COSY_MOVE_LOAN = 1,
	COSY_MOVE_TRANSFER = 2,
	COSY_MOVE_FLUSH = 3,
	COSY_MOVE_READY = 4,
	COSY_MOVE_SHARE = 5,
	COSY_MOVE_COPY = 6,
	COSY_MOVE_DONATE = 7,
	COSY_MOVE_DONATE_ZERO = 8,
	COSY_MOVE_IMPORT = 9,
	COSY_MOVE_PORT = 10,
	COSY_MOVE_PASS = 11,
	COSY_MOVE_TAKE = 12,
};
#define COSY_MOVE_GIVE	     (1u << 0)
#define COSY_MOVE_POPULATE   (1u << 1)
#define COSY_MOVE_WILL_WRITE (1u << 2)
#define COSY_MOVE_NOSIGNAL   (1u << 3)
#define COSY_MOVE_DONTWAIT   (1u << 4)
#define COSY_MOVE_MORE	     (1u << 5)
#define COSY_MOVE_SEND	     (COSY_MOVE_NOSIGNAL | COSY_MOVE_DONTWAIT | COSY_MOVE_MORE)

/* Flags of COSY_OP_loan (GIVE) and COSY_OP_transfer, beside those of send(2) and recv(2) */
#define COSY_MOVE_OP_GIVE	(1u << 22)
#define COSY_MOVE_OP_POPULATE	(1u << 23)
#define COSY_MOVE_OP_WILL_WRITE (1u << 24)
#define COSY_MOVE_MIN		8192 /* bytes; the operations copy fewer */

/*
 * MOVING: counts the memory that the caller's real user has in arenas, parcels and ports, in pages
 * of 4 KB.  One call counts 64 arenas, parcels, ports or batches of 1,024 pages, whichever come
 * first, and adds them to the numbers in its argument.  A caller begins with all members 0, and
 * repeats the call with its result until the cursor is 0.  Pages may move between these calls, so
 * the numbers are of different moments.  Errors: EINTR (killed).
 */
struct cosy_moving {
	__u32 size;
	__u32 pad;
	__u64 cursor[2]; /* where to continue; any number is valid, perhaps with nothing there */
	__u64 arenas;
	__u64 arena_pages;  /* the arenas' sizes, which count as locked memory */
	__u64 frozen;	    /* pages of arenas that were lent, and not written since */
	__u64 under_way;    /* of these: a pipe, socket, parcel or other arena also has them */
	__u64 parcels;	    /* that were made and are open */
	__u64 parcel_pages; /* pages in them, which count as locked memory */
	__u64 ports;	    /* that were made and have an end that is open */
	__u64 port_pages;   /* their windows' sizes, which count as locked memory */
	__u64 huge;	    /* runs of 512 pages of arenas that are one page of 2 MB */
};

/*
 * A parcel's own operations.  PARCEL returns the operation that made it: SHARE, COPY, DONATE or
 * DONATE_ZERO.  FIONREAD returns its bytes, 0 after they were imported.  read(2) copies bytes from
 * the file position on into any memory.  Donated pages can be read only once, and whole, else
 * EMSGSIZE.  A shared parcel cannot be read: EOPNOTSUPP.
 */
#define COSY_IOC_PARCEL _IO('C', 0x92)

/*
 * A port's own operation, for processes that have no context or no arena.  PORT on the passing end
 * returns the window's length.  PORT on the taking end waits for the first message as TAKE does,
 * and returns its place in the window; length 0: no more can come.  pwrite(2) to the passing end
 * passes a copy of any memory, for the window from the file position on.  pread(2) from the taking
 * end copies the first message and takes it: ESTALE if that is now for another position, EMSGSIZE
 * if it is longer.
 */
struct cosy_port_message {
	__u64 at;
	__u64 length;
};
#define COSY_IOC_PORT _IOR('C', 0x94, struct cosy_port_message)

#define COSY_IOC_VERSION _IOWR('C', 0x80, struct cosy_version)
#define COSY_IOC_SETBUF	 _IOWR('C', 0x81, struct cosy_setbuf)
#define COSY_IOC_LOAD	 _IOWR('C', 0x82, struct cosy_load)
#define COSY_IOC_RUN	 _IOWR('C', 0x83, struct cosy_run)
#define COSY_IOC_LIMITS	 _IOWR('C', 0x84, struct cosy_limits)
#define COSY_IOC_FREE	 _IOWR('C', 0x85, struct cosy_free)
#define COSY_IOC_STATS	 _IOWR('C', 0x86, struct cosy_stats)
#define COSY_IOC_RECALL	 _IOWR('C', 0x87, struct cosy_recall)
#define COSY_IOC_ARENA	 _IOW('C', 0x90, struct cosy_arena_request)
#define COSY_IOC_MOVE	 _IOW('C', 0x91, struct cosy_move)
#define COSY_IOC_MOVING	 _IOWR('C', 0x93, struct cosy_moving)

#endif /* _UAPI_LINUX_COSY_H */
