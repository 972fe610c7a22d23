/* SPDX-License-Identifier: MIT */
/*
 * Tests memory that moves by 2 MB: parcels of it, copies on write, and whatever needs a part of it.
 * The results are the same where there are no pages of 2 MB.
 */
#include "move.h"
#include "raw.h"
#include <linux/fs.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#define HUGE   (2UL << 20)
#define SLOTS  (HUGE / PAGE)
#define FEW    4UL /* pages of a part */
#define BEFORE (PAGE * 3)

static int device;

/* Returns how many pages of 2 MB this user has. */
static long huge_count(void)
{
	struct cosy_moving moving = { .size = sizeof(moving) };

	if (!moves())
		return 0;
	do {
		MUST(!raw_ioctl(device, COSY_IOC_MOVING, &moving));
	} while (moving.cursor[0] | moving.cursor[1]);
	return (long)moving.huge;
}

/* Checks for that many, unless the machine has run out of them. */
static bool huge_given = true;
#define CHECK_HUGE(want, what)                                                                     \
	do {                                                                                       \
		if (moves() && huge_given)                                                         \
			CHECK(huge_count() == (want), "%s: %ld pages of 2 MB", what,               \
			      huge_count());                                                       \
	} while (0)

/* Returns memory of so many times 2 MB, filled with a message. */
static char *huge_new(size_t count, uint64_t message)
{
	long before = huge_count();
	char *memory = move_alloc(count * SLOTS);

	move_fill(memory, count * HUGE, message);
	if (moves()) {
		CHECK(!((uintptr_t)memory % HUGE), "%p is no multiple of 2 MB", (void *)memory);
		if (huge_count() != before + (long)count) {
			printf("%ld of %zu pages of 2 MB: the rest is not checked\n",
			       huge_count() - before, count);
			huge_given = false;
		}
	}
	return memory;
}

#define CHECK_BYTES(memory, bytes, message, what)                                                  \
	CHECK(move_differs(memory, bytes, message) < 0, "%s: word %ld", what,                      \
	      move_differs(memory, bytes, message))

/* Checks a message of which the page at `at` has another first byte. */
static void check_but(const char *memory, size_t bytes, uint64_t message, size_t at, char byte,
		      const char *what)
{
	char *copy = malloc(bytes);

	MUST(copy);
	move_fill(copy, bytes, message);
	copy[at] = byte;
	CHECK(!memcmp(memory, copy, bytes), "%s", what);
	free(copy);
}

static void check_gone(char *memory)
{
	int status = in_child(move_touch, memory);

	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "%#x", (unsigned int)status);
}

static int export(char *memory, size_t bytes, enum cosy_how how)
{
	int parcel = cosy_export(memory, bytes, how);

	MUST(parcel >= 0);
	return parcel;
}

static void import(int parcel, char *memory, size_t bytes)
{
	ssize_t ret = cosy_import(parcel, memory, bytes, 0);

	CHECK(ret == (ssize_t)bytes, "%zd: %s", ret, strerror(errno));
}

static void done(char *a, size_t count_a, char *b, size_t count_b)
{
	if (a)
		cosy_move_free(a, count_a * HUGE);
	if (b)
		cosy_move_free(b, count_b * HUGE);
	CHECK_HUGE(0, "at the end");
}

/* --- Parcels --------------------------------------------------------------------------------- */

static void donated(void)
{
	char *a = huge_new(2, 1), *b = huge_new(2, 2);
	int parcel = export(a, 2 * HUGE, COSY_DONATE_ZERO);

	CHECK_HUGE(2, "in a parcel");
	import(parcel, b, 2 * HUGE);
	close(parcel);
	CHECK_HUGE(2, "imported");
	CHECK_BYTES(b, 2 * HUGE, 1, "a donation");
	move_fill(b, 2 * HUGE, 3);
	CHECK_BYTES(b, 2 * HUGE, 3, "written in place");
	CHECK_HUGE(2, "written in place");
	CHECK(move_is_zero(a, 2 * HUGE), "what was donated is not zeros");
	/* One of the two, and then what is gone. */
	parcel = export(b + HUGE, HUGE, COSY_DONATE);
	check_gone(b + HUGE);
	check_gone(b + 2 * HUGE - PAGE);
	import(parcel, a, HUGE);
	close(parcel);
	move_fill(b, HUGE, 4);
	CHECK(cosy_export(b, 2 * HUGE, COSY_COPY) == -1 && errno == EFAULT, "%s", strerror(errno));
	MUST(!cosy_flush(b + HUGE, PAGE));
	CHECK(move_is_zero(b + HUGE, PAGE), "a part that is filled again");
	check_gone(b + HUGE + PAGE);
	parcel = export(a, HUGE, COSY_DONATE_ZERO);
	import(parcel, b + HUGE, HUGE);
	close(parcel);
	CHECK_BYTES(b, HUGE, 4, "next to what came back");
	done(a, 2, b, 2);
}

static void copied(void)
{
	char *a = huge_new(1, 1), *b = huge_new(1, 2);
	int parcel = export(a, HUGE, COSY_COPY);

	import(parcel, b, HUGE);
	CHECK_HUGE(2, "one that two have");
	CHECK_BYTES(b, HUGE, 1, "a copy");
	/* Each writes a page: that alone is copied. */
	a[BEFORE] = 'a';
	b[BEFORE + PAGE] = 'b';
	check_but(a, HUGE, 1, BEFORE, 'a', "the one that was copied");
	check_but(b, HUGE, 1, BEFORE + PAGE, 'b', "the copy");
	import(parcel, b, HUGE);
	CHECK_BYTES(b, HUGE, 1, "the parcel stays as it was");
	/* The last one that has it writes in place. */
	move_fill(a, HUGE, 3);
	close(parcel);
	move_fill(b, HUGE, 4);
	CHECK_BYTES(a, HUGE, 3, "the one");
	CHECK_BYTES(b, HUGE, 4, "the other");
	/* A copy of a copy, which is donated on. */
	parcel = export(b, HUGE, COSY_COPY);
	import(parcel, a, HUGE);
	close(parcel);
	parcel = export(a, HUGE, COSY_DONATE_ZERO);
	b[0] = 'x';
	import(parcel, a, HUGE);
	close(parcel);
	CHECK_BYTES(a, HUGE, 4, "donated, while another has it");
	done(a, 1, b, 1);
}

static void shared(void)
{
	char *a = huge_new(1, 1), *b = huge_new(1, 2);
	int parcel = export(a, HUGE, COSY_SHARE);

	import(parcel, b, HUGE);
	close(parcel);
	a[BEFORE] = 'a';
	b[HUGE - 1] = 'b';
	CHECK(b[BEFORE] == 'a' && a[HUGE - 1] == 'b', "not shared");
	parcel = export(a, HUGE, COSY_COPY);
	a[BEFORE] = 'c';
	import(parcel, b, HUGE);
	CHECK(b[BEFORE] == 'a' && b[HUGE - 1] == 'b', "a copy of what is shared");
	close(parcel);
	done(a, 1, b, 1);
}

/* Puts 2 MB where they do not fit, and into ordinary memory. */
static void misplaced(void)
{
	for (int k = 0; k < 6; k++) {
		enum cosy_how how = k % 2 ? COSY_DONATE_ZERO : COSY_COPY;
		char *a = huge_new(1, 1), *b = huge_new(2, 2);
		char *plain = aligned_alloc(PAGE, HUGE);
		int parcel = export(a, HUGE, how), other = -1;

		if (k < 2) {
			import(parcel, b + BEFORE, HUGE);
			CHECK_BYTES(b + BEFORE, HUGE, 1, "at no multiple of 2 MB");
			if (how == COSY_COPY)
				CHECK_BYTES(a, HUGE, 1, "its origin");
			move_fill(b, 2 * HUGE, 3);
		} else if (k < 4) {
			/* Another one has it, too. */
			if (how == COSY_DONATE_ZERO) {
				import(parcel, a, HUGE);
				close(parcel);
				other = export(a, HUGE, COSY_COPY);
				parcel = export(a, HUGE, how);
			}
			import(parcel, b + BEFORE, HUGE);
			move_fill(a, HUGE, 5);
			CHECK_BYTES(b + BEFORE, HUGE, 1, "that others have");
			close(other);
		} else {
			MUST(cosy_import(parcel, plain, HUGE, 0) == (ssize_t)HUGE);
			CHECK_BYTES(plain, HUGE, 1, "in ordinary memory");
		}
		if (how == COSY_COPY) {
			MUST(pread(parcel, plain, HUGE, 0) == (ssize_t)HUGE);
			CHECK_BYTES(plain, HUGE, 1, "read");
		}
		close(parcel);
		free(plain);
		done(a, 1, b, 2);
	}
}

/* Puts a copy that nobody else has any more where it does not fit: it is made pages, and stays. */
static void divided(void)
{
	char *a = huge_new(1, 1), *b = huge_new(2, 2), *plain = aligned_alloc(PAGE, HUGE);
	int parcel = export(a, HUGE, COSY_COPY);

	MUST(plain && !cosy_flush(a, HUGE));
	import(parcel, b + BEFORE, HUGE);
	move_fill(b, 2 * HUGE, 3);
	MUST(pread(parcel, plain, HUGE, 0) == (ssize_t)HUGE);
	CHECK_BYTES(plain, HUGE, 1, "the receiver's writes show in the parcel");
	import(parcel, a, HUGE);
	CHECK_BYTES(a, HUGE, 1, "what is imported again");
	close(parcel);
	free(plain);
	done(a, 1, b, 2);
}

/* --- Parts ------------------------------------------------------------------------------------ */

/* Lends a part, writes at once, and takes it over in the middle of 2 MB. */
static void lent(void)
{
	for (int k = 0; k < 4; k++) {
		char *a = huge_new(1, 1), *b = huge_new(1, 2), got[FEW * PAGE], want[FEW * PAGE];
		int fds[2], parcel = k & 1 ? export(a, HUGE, COSY_COPY) : -1;

		MUST(!pipe(fds));
		memcpy(want, a + BEFORE, FEW * PAGE);
		MUST(cosy_loan(fds[1], a + BEFORE, FEW * PAGE, k & 2 ? COSY_GIVE : 0) ==
		     (ssize_t)(FEW * PAGE));
		if (k & 2)
			CHECK(move_is_zero(a + BEFORE, FEW * PAGE), "what was given");
		a[BEFORE] = (char)(want[0] + 1);
		read_all(fds[0], got, FEW * PAGE);
		CHECK(!memcmp(got, want, FEW * PAGE), "what was lent has changed");
		MUST(cosy_loan(fds[1], a, FEW * PAGE, 0) == (ssize_t)(FEW * PAGE));
		memcpy(want, a, FEW * PAGE);
		transfer_all(fds[0], b + BEFORE, FEW * PAGE, 0);
		CHECK(!memcmp(b + BEFORE, want, FEW * PAGE), "what was taken over");
		move_fill(want, BEFORE, 2);
		CHECK(!memcmp(b, want, BEFORE), "next to it");
		if (parcel >= 0) {
			import(parcel, b, HUGE);
			CHECK_BYTES(b, HUGE, 1, "a parcel, after parts were lent");
			close(parcel);
		}
		close(fds[0]);
		close(fds[1]);
		done(a, 1, b, 1);
	}
}

static void flushed(void)
{
	char *a = huge_new(2, 1);

	MUST(!cosy_flush(a + BEFORE, HUGE));
	CHECK(move_is_zero(a + BEFORE, HUGE), "flushed");
	MUST(!cosy_ready(a, 2 * HUGE, COSY_WILL_WRITE));
	MUST(!cosy_flush(a, 2 * HUGE));
	CHECK_HUGE(0, "flushed");
	CHECK(move_is_zero(a, 2 * HUGE), "flushed as a whole");
	cosy_move_free(a, 2 * HUGE);
	a = move_alloc(2 * SLOTS);
	MUST(!cosy_ready(a, 2 * HUGE, COSY_WILL_WRITE));
	CHECK_HUGE(2, "ready");
	CHECK(move_is_zero(a, 2 * HUGE), "ready");
	MUST(!cosy_ready(a, 2 * HUGE, 0));
	done(a, 2, NULL, 0);
}

/* Changes the mapping of a part: memory is the same, the kernel's entry of 2 MB goes. */
static void remapped(void)
{
	char *a = huge_new(3, 1), *room, *there;
	int parcel;

	MUST(!mprotect(a + BEFORE, PAGE, PROT_READ));
	CHECK_BYTES(a, 3 * HUGE, 1, "a part may not be written");
	MUST(!mprotect(a + BEFORE, PAGE, PROT_READ | PROT_WRITE));
	move_fill(a, 3 * HUGE, 2);
	MUST(!mprotect(a + HUGE, HUGE, PROT_READ));
	CHECK_BYTES(a, 3 * HUGE, 2, "2 MB may not be written");
	parcel = export(a + HUGE, HUGE, COSY_COPY);
	MUST(!mprotect(a + HUGE, HUGE, PROT_READ | PROT_WRITE));
	a[HUGE] = 1;
	import(parcel, a + 2 * HUGE, HUGE);
	CHECK(move_word(2, HUGE / 8) == *(uint64_t *)(a + 2 * HUGE), "what was copied has changed");
	close(parcel);
	madvise(a + BEFORE, FEW * PAGE, MADV_DONTNEED);
	if (moves())
		CHECK_BYTES(a, HUGE, 2, "MADV_DONTNEED");
	cosy_move_free(a, 3 * HUGE);
	a = huge_new(3, 3);
	/* To a multiple of 2 MB, to none, and a part. */
	room = mmap(NULL, 8 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(room != MAP_FAILED);
	there = room + HUGE - (uintptr_t)room % HUGE;
	MUST(mremap(a, HUGE, HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, there) == there);
	CHECK_BYTES(there, HUGE, 3, "moved");
	there[0] = there[0];
	MUST(mremap(there, HUGE, HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, there + HUGE + PAGE) ==
	     there + HUGE + PAGE);
	there += HUGE + PAGE;
	CHECK_BYTES(there, HUGE, 3, "moved to no multiple of 2 MB");
	move_fill(there, HUGE, 4);
	CHECK_BYTES(there, HUGE, 4, "written there");
	munmap(room, 8 * HUGE);
	/* A part goes; what is on either side stays. */
	MUST(!munmap(a + HUGE + BEFORE, PAGE));
	CHECK(*(uint64_t *)(a + HUGE) == move_word(3, HUGE / 8), "before what was unmapped");
	CHECK(*(uint64_t *)(a + HUGE + BEFORE + PAGE) == move_word(3, (HUGE + BEFORE + PAGE) / 8),
	      "after what was unmapped");
	check_gone(a + HUGE + BEFORE);
	MUST(!munmap(a + HUGE, 2 * HUGE));
	CHECK_HUGE(0, "unmapped");
}

/* Nobody pins the memory; debuggers read and write it. */
static void pinned(void)
{
	char *a = huge_new(1, 1), word[8], *plain;
	struct iovec there = { a + BEFORE, 8 }, here = { word, 8 };
	int fds[2], mem, file;

	if (moves()) {
		CHECK(process_vm_readv(getpid(), &here, 1, &there, 1, 0) == -1 &&
			      (errno == EFAULT || errno == ENOSYS),
		      "process_vm_readv: %s", strerror(errno));
		if (errno == ENOSYS)
			printf("no process_vm_readv in this kernel\n");
		MUST(!pipe(fds));
		there.iov_len = PAGE;
		CHECK(vmsplice(fds[1], &there, 1, 0) == -1 && errno == EFAULT, "vmsplice: %s",
		      strerror(errno));
		there.iov_base = a;
		CHECK(vmsplice(fds[1], &there, 1, SPLICE_F_GIFT) == -1 && errno == EFAULT,
		      "vmsplice: %s", strerror(errno));
		close(fds[0]);
		close(fds[1]);
	}
	mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (mem >= 0) {
		MUST(pread(mem, word, 8, (off_t)(a + BEFORE)) == 8);
		CHECK(!memcmp(word, a + BEFORE, 8), "read as by a debugger");
		MUST(pwrite(mem, "x", 1, (off_t)(a + BEFORE)) == 1);
		check_but(a, HUGE, 1, BEFORE, 'x', "written as by a debugger");
		close(mem);
	}
	/* By the kernel, as by any access. */
	file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	plain = move_alloc(SLOTS);
	MUST(read(file, plain + 5 * PAGE, 4) > 0 && plain[5 * PAGE]);
	close(file);
	done(a, 1, plain, 1);
}

/* --- Processes -------------------------------------------------------------------------------- */

struct family {
	char *memory; /* two times 2 MB, each filled with message 1 */
	int depth;
};

/* Checks the memory of a child, in which each of its line has written to a page of its own. */
static void family_check(const struct family *f, const char *what)
{
	char *want = malloc(HUGE);

	MUST(want);
	move_fill(want, HUGE, 1);
	CHECK(!memcmp(f->memory + HUGE, want, HUGE), "%s: what nobody wrote", what);
	for (int d = 1; d <= f->depth; d++)
		want[BEFORE + (size_t)d * PAGE]++;
	CHECK(!memcmp(f->memory, want, HUGE), "%s, %d forks away", what, f->depth);
	free(want);
}

static void child(void *argument)
{
	struct family *f = argument;
	int parcel;

	family_check(f, "what the parent had");
	f->depth++;
	f->memory[BEFORE + (size_t)f->depth * PAGE]++;
	if (f->depth < 3) {
		CHECK_CHILD(in_child(child, f));
		family_check(f, "after a child");
	}
	parcel = export(f->memory, 2 * HUGE, COSY_DONATE_ZERO);
	import(parcel, f->memory, 2 * HUGE);
	close(parcel);
	family_check(f, "given to itself");
}

static void reader(void *f)
{
	family_check(f, "in two mappings");
}

static void forked(void)
{
	struct family f = { huge_new(2, 1), 0 };

	move_fill(f.memory + HUGE, HUGE, 1);
	CHECK_CHILD(in_child(child, &f));
	family_check(&f, "the parent");
	CHECK_HUGE(2, "after a fork");
	move_fill(f.memory, HUGE, 1);
	/* Two mappings, so that the child has an arena for each. */
	MUST(!mprotect(f.memory + HUGE + BEFORE, HUGE - BEFORE, PROT_READ));
	f.memory[0] = f.memory[0];
	CHECK_CHILD(in_child(reader, &f));
	MUST(!mprotect(f.memory + HUGE + BEFORE, HUGE - BEFORE, PROT_READ | PROT_WRITE));
	family_check(&f, "the parent of two mappings");
	CHECK_CHILD(in_child(child, &f));
	family_check(&f, "the parent");
	done(f.memory, 2, NULL, 0);
}

/* Does everything, over and over, until it is killed. */
static void busy(char *a, char *b, int ready)
{
	int fds[2];

	MUST(!pipe(fds));
	for (uint64_t k = 0;; k++) {
		int parcel = export(a, 2 * HUGE, k % 3 ? COSY_DONATE_ZERO : COSY_COPY);

		if (k == 1)
			MUST(write(ready, "x", 1) == 1);
		if (k % 5)
			import(parcel, b, 2 * HUGE);
		close(parcel);
		a[k % (2 * HUGE)] = 1;
		if (k % 4 == 0) {
			MUST(cosy_loan(fds[1], b + k % 8 * PAGE, 2 * PAGE, 0) == 2 * PAGE);
			transfer_all(fds[0], a + k % 8 * PAGE, 2 * PAGE, 0);
		}
		if (k % 7 == 0) {
			cosy_move_free(a, 2 * HUGE);
			a = move_alloc(2 * SLOTS);
		}
	}
}

static void killed(void)
{
	char *a = huge_new(2, 1), *b = huge_new(2, 2), c;

	for (int k = 0; k < 12; k++) {
		int ready[2], status;
		pid_t pid;

		MUST(!pipe(ready));
		fflush(stdout);
		pid = fork();
		MUST(pid >= 0);
		if (!pid)
			busy(a, b, ready[1]);
		close(ready[1]);
		MUST(read(ready[0], &c, 1) == 1);
		a[BEFORE] = a[BEFORE];
		sleep_ms(k * 3);
		MUST(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid);
		CHECK(WIFSIGNALED(status), "the child ended with %#x", (unsigned int)status);
		close(ready[0]);
		CHECK_BYTES(a, 2 * HUGE, 1, "after a child was killed");
		CHECK_BYTES(b, 2 * HUGE, 2, "after a child was killed");
	}
	done(a, 2, b, 2);
}

/* Without pages of 2 MB it is done by those of 4 KB. */
static void refused(void)
{
	char *a, *b = move_alloc(SLOTS);
	int parcel;

	if (!moves() || !move_parameter("fail_moved", "1"))
		return;
	a = move_alloc(SLOTS);
	MUST(cosy_ready(a, HUGE, COSY_WILL_WRITE) == -1 && errno == ENOMEM);
	MUST(move_parameter("fail_moved", "0"));
	move_fill(a, HUGE, 1);
	CHECK_HUGE(0, "refused");
	parcel = export(a, HUGE, COSY_DONATE_ZERO);
	import(parcel, b, HUGE);
	close(parcel);
	CHECK_BYTES(b, HUGE, 1, "by pages of 4 KB");
	done(a, 1, b, 1);
}

/* --- Ports ----------------------------------------------------------------------------------- */

static void pass(const int *ends, size_t at, char *memory, size_t bytes, enum cosy_how how)
{
	ssize_t went = cosy_pass(ends[1], at, memory, bytes, how);

	CHECK(went == (ssize_t)bytes, "%zd: %s", went, strerror(errno));
}

static void take(const int *ends, char *window, size_t at, size_t bytes, int flags)
{
	size_t where = 99;
	ssize_t came = cosy_take(ends[0], window, 2 * HUGE, &where, flags);

	CHECK(came == (ssize_t)bytes && where == at, "%zd at %zu: %s", came, where,
	      strerror(errno));
}

static void passed(void)
{
	char *a = huge_new(2, 1), *b = huge_new(2, 2);
	int ends[2];

	MUST(!cosy_port(2 * HUGE, ends));
	pass(ends, 0, a, 2 * HUGE, COSY_DONATE_ZERO);
	CHECK_HUGE(2, "in a port");
	take(ends, b, 0, 2 * HUGE, COSY_WILL_WRITE);
	CHECK_HUGE(2, "taken");
	CHECK_BYTES(b, 2 * HUGE, 1, "a message");
	move_fill(b, 2 * HUGE, 3);
	CHECK_BYTES(b, 2 * HUGE, 3, "written in place");
	CHECK_HUGE(2, "written in place");
	CHECK(move_is_zero(a, 2 * HUGE), "what was passed is not zeros");
	/* One of the two, and what is gone. */
	move_fill(b + HUGE, HUGE, 4);
	pass(ends, HUGE, b + HUGE, HUGE, COSY_DONATE);
	check_gone(b + HUGE);
	check_gone(b + 2 * HUGE - PAGE);
	take(ends, a, HUGE, HUGE, 0);
	CHECK_BYTES(a + HUGE, HUGE, 4, "one of two");
	CHECK_BYTES(b, HUGE, 3, "the other");
	/* The last holder of what was frozen. */
	close(export(a + HUGE, HUGE, COSY_COPY));
	pass(ends, 0, a + HUGE, HUGE, COSY_DONATE_ZERO);
	take(ends, a, 0, HUGE, COSY_POPULATE);
	CHECK_BYTES(a, HUGE, 4, "frozen once");
	move_fill(a, HUGE, 5);
	CHECK_BYTES(a, HUGE, 5, "thawed");
	close(ends[0]);
	close(ends[1]);
	done(a, 2, b, 2);
}

/* Where it does not fit, and where others have it, by pages of 4 KB. */
static void passed_apart(void)
{
	char *a = huge_new(2, 1), *b = huge_new(2, 2), *copy = malloc(2 * HUGE);
	int ends[2], parcel;
	size_t where = 99;
	ssize_t came;

	MUST(copy && !cosy_port(2 * HUGE, ends));
	pass(ends, BEFORE, a, HUGE, COSY_DONATE_ZERO);
	take(ends, b, BEFORE, HUGE, COSY_WILL_WRITE);
	CHECK_BYTES(b + BEFORE, HUGE, 1, "in another place");
	move_fill(b, HUGE, 3);
	move_fill(a, 2 * HUGE, 4);
	pass(ends, 0, a, 2 * HUGE, COSY_DONATE_ZERO);
	/* Beyond RLIMIT_MEMLOCK a port is libcosy's, which cannot be read from. */
	if (moves() && huge_given) {
		CHECK(pread(ends[0], copy, 2 * HUGE, 0) == 2 * HUGE, "%s", strerror(errno));
		CHECK_BYTES(copy, 2 * HUGE, 4, "read");
	} else {
		take(ends, b, 0, 2 * HUGE, 0);
	}
	move_fill(a, HUGE, 5);
	parcel = export(a, HUGE, COSY_COPY);
	pass(ends, 0, a, HUGE, COSY_DONATE_ZERO);
	came = cosy_take(ends[0], b + BEFORE, HUGE, &where, COSY_WILL_WRITE);
	CHECK(came == HUGE && !where, "%zd at %zu: %s", came, where, strerror(errno));
	CHECK_BYTES(b + BEFORE, HUGE, 5, "what a parcel has, too");
	move_fill(b, 2 * HUGE, 6);
	import(parcel, a, HUGE);
	CHECK_BYTES(a, HUGE, 5, "the parcel's");
	close(parcel);
	/* What nobody takes. */
	move_fill(a, 2 * HUGE, 7);
	pass(ends, 0, a, 2 * HUGE, COSY_DONATE);
	close(ends[0]);
	close(ends[1]);
	check_gone(a);
	free(copy);
	done(a, 2, b, 2);
}

int main(int argc, char **argv)
{
	static const struct part parts[] = {
		{ .name = "donated", .run = donated },
		{ .name = "copied", .run = copied },
		{ .name = "shared", .run = shared },
		{ .name = "misplaced", .run = misplaced },
		{ .name = "divided", .run = divided },
		{ .name = "lent", .run = lent },
		{ .name = "flushed", .run = flushed },
		{ .name = "remapped", .run = remapped },
		{ .name = "pinned", .run = pinned },
		{ .name = "forked", .run = forked },
		{ .name = "killed", .run = killed },
		{ .name = "refused", .run = refused },
		{ .name = "passed", .run = passed },
		{ .name = "passed_apart", .run = passed_apart },
	};

	if (moves())
		device = raw_open();
	return move_main(parts, COUNT(parts), argc, argv);
}
