// SPDX-License-Identifier: MIT
/*
 * Compares calls on every kind of descriptor: each call is made plainly on one object and by a
 * compound on another one that is equal, with memory inside and outside the shared buffer.  Results,
 * bytes, position and size have to be the same.
 *
 * A byte is read in the kernel only on kinds that were examined (kmod/fast/read.c); a read that fails
 * with EFAULT there, which kernel memory cannot cause, is made again as an ordinary call.
 *
 * With CHECK_KINDS=all, which the machine has loaded modules for, only RARE kinds may be missing.
 */
#include "descriptors.h"
#include <sys/socket.h>

int check_failures;

enum { BYTES = 4096, CALLS = 3 };

/* --- The calls --------------------------------------------------------------------------------- */

/* How a call is given a descriptor f, memory m and its numbers a, b; what m has afterwards. */
enum shape {
	READS,	    /* f, m, a, b: `result` bytes */
	WRITES,	    /* f, m, a, b */
	SEEKS,	    /* f, a, b */
	FSTAT,	    /* f, m: struct stat */
	FSTATAT,    /* f, "", m, AT_EMPTY_PATH: struct stat */
	STATX,	    /* f, "", AT_EMPTY_PATH, a, m: struct statx */
	LISTS,	    /* f, m, a: directory entries */
	READS_BYTE, /* f: the result is a byte */
	SENDS,	    /* f, m, a */
	SEEK_READS, /* f, m, a, b */
	SEEK_WRITES /* f, m, a, b */
};

struct call {
	const char *name;
	long number;
	int64_t a, b;
	enum shape shape;
};

#define OP(name) ((long)(int)COSY_OP_BASE + RAW_OP_##name)

static const struct call calls[] = {
	{ "read 16", SYS_read, 16, 0, READS },
	{ "read 0", SYS_read, 0, 0, READS },
	{ "pread 16", SYS_pread64, 16, 3, READS },
	{ "pread at -1", SYS_pread64, 16, -1, READS },
	{ "pread far", SYS_pread64, 16, 1L << 62, READS },
	{ "write 8", SYS_write, 8, 0, WRITES },
	{ "write 0", SYS_write, 0, 0, WRITES },
	{ "pwrite 8", SYS_pwrite64, 8, 5, WRITES },
	{ "pwrite at -2", SYS_pwrite64, 8, -2, WRITES },
	{ "pwrite far", SYS_pwrite64, 8, 1L << 62, WRITES },
	{ "lseek to 3", SYS_lseek, 3, SEEK_SET, SEEKS },
	{ "lseek nowhere", SYS_lseek, 0, SEEK_CUR, SEEKS },
	{ "lseek to end", SYS_lseek, 0, SEEK_END, SEEKS },
	{ "lseek to -5", SYS_lseek, -5, SEEK_SET, SEEKS },
	{ "lseek to data", SYS_lseek, 0, SEEK_DATA, SEEKS },
	{ "lseek by 9", SYS_lseek, 0, 9, SEEKS },
	{ "lseek far", SYS_lseek, 1L << 62, SEEK_SET, SEEKS },
	{ "fstat", SYS_fstat, 0, 0, FSTAT },
	{ "newfstatat", SYS_newfstatat, 0, 0, FSTATAT },
	{ "statx", SYS_statx, STATX_BASIC_STATS | STATX_MNT_ID, 0, STATX },
	{ "statx as stat", SYS_statx, STATX_BASIC_STATS, 0, STATX },
	{ "getdents64", SYS_getdents64, BYTES, 0, LISTS },
	{ "getdents64 of 8", SYS_getdents64, 8, 0, LISTS },
	{ "readc", OP(readc), 0, 0, READS_BYTE },
	{ "sendto", SYS_sendto, 5, 0, SENDS },
	{ "seek_read", OP(seek_read), 7, 2, SEEK_READS },
	{ "seek_write", OP(seek_write), 7, 2, SEEK_WRITES },
};

static long call_plainly(const struct call *call, int fd, char *memory)
{
	const int64_t a = call->a, b = call->b;
	unsigned char byte;
	long ret = -1;

	switch (call->shape) {
	case READS:
	case WRITES:
	case LISTS:
		ret = syscall(call->number, fd, memory, a, b);
		break;
	case SEEKS:
		ret = lseek(fd, a, (int)b);
		break;
	case FSTAT:
		ret = syscall(SYS_fstat, fd, memory);
		break;
	case FSTATAT:
		ret = syscall(SYS_newfstatat, fd, "", memory, AT_EMPTY_PATH);
		break;
	case STATX:
		ret = syscall(SYS_statx, fd, "", AT_EMPTY_PATH, a, memory);
		break;
	case READS_BYTE:
		ret = read(fd, &byte, 1);
		if (ret >= 0)
			return ret ? byte : -ENODATA;
		break;
	case SENDS:
		ret = send(fd, memory, (size_t)a, MSG_NOSIGNAL | MSG_DONTWAIT);
		break;
	case SEEK_READS:
	case SEEK_WRITES:
		ret = lseek(fd, b, SEEK_SET);
		if (ret >= 0 && call->shape == SEEK_READS)
			ret = read(fd, memory, (size_t)a);
		else if (ret >= 0)
			ret = write(fd, memory, (size_t)a);
		break;
	}
	return ret < 0 ? -errno : ret;
}

static int device;
static char *shared;

/* Makes call(r1, ..., r5) in a compound of its own.  Returns its result, with *left: why RUN left. */
static long call_in_kernel(const struct call *call, const uint64_t *r, uint32_t *left)
{
	static uint32_t handles[COUNT(calls)];
	static struct raw_run run;
	uint32_t *handle = &handles[call - calls];
	long ret;

	if (!*handle) {
		const struct bpf_insn insns[] = { MOVR(6, 1),
						  LOAD(BPF_DW, 1, 6, 0),
						  LOAD(BPF_DW, 2, 6, 8),
						  LOAD(BPF_DW, 3, 6, 16),
						  LOAD(BPF_DW, 4, 6, 24),
						  LOAD(BPF_DW, 5, 6, 32),
						  MOV(0, 0),
						  CALL((int)call->number),
						  EXIT };

		*handle = raw_load(device, insns, COUNT(insns));
	}
	raw_run_init(&run, *handle, (void *)r);
	ret = raw_run_to_end(device, &run);
	*left = run.run.status;
	CHECK(!ret || run.run.status == COSY_LEFT_CALL, "%s: RUN: %ld", call->name, ret);
	return ret ? ret : (long)run.run.ret;
}

static long call_by_compound(const struct call *call, int fd, char *memory, uint32_t *left)
{
	const uint64_t f = (uint64_t)fd, m = (uintptr_t)memory, name = (uintptr_t)shared,
		       a = (uint64_t)call->a, b = (uint64_t)call->b;

	switch (call->shape) {
	case READS:
	case WRITES:
	case LISTS:
	case READS_BYTE:
		return call_in_kernel(call, (uint64_t[]){ f, m, a, b, 0 }, left);
	case SEEKS:
		return call_in_kernel(call, (uint64_t[]){ f, a, b, 0, 0 }, left);
	case FSTAT:
		return call_in_kernel(call, (uint64_t[]){ f, m, 0, 0, 0 }, left);
	case FSTATAT:
		return call_in_kernel(call, (uint64_t[]){ f, name, m, AT_EMPTY_PATH, 0 }, left);
	case STATX:
		return call_in_kernel(call, (uint64_t[]){ f, name, AT_EMPTY_PATH, a, m }, left);
	case SENDS:
		return call_in_kernel(call, (uint64_t[]){ f, m, a, MSG_NOSIGNAL | MSG_DONTWAIT, 0 },
				      left);
	case SEEK_READS:
	case SEEK_WRITES:
		return call_in_kernel(call, (uint64_t[]){ f, m, a, b, SEEK_SET }, left);
	}
	return 0;
}

/* --- What is compared -------------------------------------------------------------------------- */

/* What a call on an object came to. */
struct outcome {
	long result;
	uint32_t left; /* by a compound: why RUN left */
	off_t position;
	struct stat stat;
	char *memory;
};

static bool stats_differ(const struct stat *one, const struct stat *other)
{
	return one->st_mode != other->st_mode || one->st_size != other->st_size ||
	       one->st_blksize != other->st_blksize || one->st_blocks != other->st_blocks ||
	       one->st_nlink != other->st_nlink || one->st_uid != other->st_uid ||
	       one->st_dev != other->st_dev || one->st_rdev != other->st_rdev;
}

static bool statxs_differ(const struct statx *one, const struct statx *other)
{
	return one->stx_mask != other->stx_mask || one->stx_attributes != other->stx_attributes ||
	       one->stx_attributes_mask != other->stx_attributes_mask ||
	       one->stx_mode != other->stx_mode || one->stx_size != other->stx_size ||
	       one->stx_blocks != other->stx_blocks || one->stx_mnt_id != other->stx_mnt_id ||
	       memcmp(one->__spare3, other->__spare3, sizeof(one->__spare3));
}

struct entry {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

/* The padding after a name means nothing. */
static bool entries_differ(const char *one, const char *other, long bytes)
{
	for (long at = 0; at < bytes;) {
		const struct entry *e = (const void *)(one + at), *o = (const void *)(other + at);

		if (e->ino != o->ino || e->off != o->off || e->reclen != o->reclen ||
		    e->type != o->type || strcmp(e->name, o->name))
			return true;
		at += e->reclen;
	}
	return false;
}

static bool memory_differs(const struct call *call, const struct outcome *one,
			   const struct outcome *other)
{
	switch (call->shape) {
	case READS:
	case SEEK_READS:
		return memcmp(one->memory, other->memory, BYTES);
	case FSTAT:
	case FSTATAT:
		return one->result == 0 &&
		       stats_differ((const void *)one->memory, (const void *)other->memory);
	case STATX:
		return one->result == 0 &&
		       statxs_differ((const void *)one->memory, (const void *)other->memory);
	case LISTS:
		return entries_differ(one->memory, other->memory, one->result);
	default:
		return false;
	}
}

static int object_open(const struct kind *kind)
{
	int fd = kind->open();

	/* No call may wait. */
	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	return fd;
}

/* Makes the call `times` times on a new object. */
static struct outcome outcome_of(const struct kind *kind, const struct call *call, char *memory,
				 int times, bool in_kernel)
{
	struct outcome outcome = { .memory = memory };
	int fd = object_open(kind);

	memset(memory, 'Z', BYTES);
	memcpy(memory, "abcdefgh", 8);
	while (times--)
		outcome.result = in_kernel ? call_by_compound(call, fd, memory, &outcome.left)
					   : call_plainly(call, fd, memory);
	fstat(fd, &outcome.stat);
	outcome.position = lseek(fd, 0, SEEK_CUR);
	close(fd);
	kind_close_rest();
	return outcome;
}

static int compared;

static void compare(const struct kind *kind, const struct call *call, int times)
{
	static char plain[BYTES], private[BYTES];
	struct outcome want = outcome_of(kind, call, plain, times, false);

	for (int k = 0; k < 2; k++) {
		struct outcome got =
			outcome_of(kind, call, k ? private : shared + BYTES, times, true);

		compared++;
		if (call->shape == READS_BYTE && kind->flags & (SERVED | LEFT))
			CHECK(got.left == (kind->flags & LEFT ? COSY_LEFT_NATIVE : COSY_DONE),
			      "%s: readc left with status %u", kind->name, got.left);
		if (got.left == COSY_LEFT_NATIVE || got.left == COSY_LEFT_CALL)
			continue;
		CHECK(got.result == want.result && got.position == want.position &&
			      got.stat.st_size == want.stat.st_size,
		      "%s, %s, %d times: %ld at %lld of %lld, natively %ld at %lld of %lld",
		      kind->name, call->name, times, got.result, (long long)got.position,
		      (long long)got.stat.st_size, want.result, (long long)want.position,
		      (long long)want.stat.st_size);
		CHECK(kind->flags & VARIES || got.result != want.result ||
			      !memory_differs(call, &want, &got),
		      "%s, %s, %d times: other bytes", kind->name, call->name, times);
	}
}

static void compare_kind(const struct kind *kind)
{
	const char *expect = getenv("CHECK_KINDS");
	int fd = object_open(kind);

	if (fd < 0) {
		printf("no %s: %s\n", kind->name, strerror(errno));
		CHECK(!expect || strcmp(expect, "all") || kind->flags & RARE, "%s is missing",
		      kind->name);
		return;
	}
	close(fd);
	kind_close_rest();
	for (size_t i = 0; i < COUNT(calls); i++) {
		compare(kind, &calls[i], 1);
		if (kind->flags & REPEATS)
			compare(kind, &calls[i], CALLS);
	}
}

/* --- A read that fails with EFAULT -------------------------------------------------------------- */

/* Reads a byte of a file whose server fails the first read: RUN leaves for an ordinary one. */
static void fault(void)
{
	const struct call *readc = calls;
	unsigned int before = fuse_reads();
	int fd = open("served/fault", O_RDONLY);
	uint32_t left;
	char byte = 0;

	while (readc->shape != READS_BYTE)
		readc++;
	MUST(fd >= 0);
	call_by_compound(readc, fd, NULL, &left);
	CHECK(left == COSY_LEFT_NATIVE && fuse_reads() - before == 1,
	      "a read that failed with EFAULT: status %u, %u reads", left, fuse_reads() - before);
	CHECK(read(fd, &byte, 1) == 1 && byte == FUSE_TEXT[0], "the ordinary read: %d", byte);
	CHECK(call_by_compound(readc, fd, NULL, &left) == FUSE_TEXT[1] && left == COSY_DONE,
	      "the next byte: status %u", left);
	close(fd);
}

int main(void)
{
	bool serves;

	device = raw_open();
	shared = raw_buffer(device, 65536);
	handle(SIGPIPE, SIG_IGN, 0);
	directory_enter();
	MUST(!mkdir("served", 0755));
	serves = fuse_start("served");
	for (size_t i = 0; i < kinds_count; i++)
		compare_kind(&kinds[i]);
	if (serves) {
		fault();
		fuse_stop("served");
	} else {
		printf("no FUSE: %s\n", strerror(errno));
	}
	printf("%d calls compared on %zu kinds\n", compared, kinds_count);
	rmdir("served");
	directory_leave();
	return check_end();
}
