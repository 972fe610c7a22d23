/* SPDX-License-Identifier: MIT */
/*
 * Maps the shared buffer wrongly, twice, unmaps, moves, protects and throws it away, while nothing
 * runs and while a compound works on it in another thread.
 */
#include "raw.h"
#include <pthread.h>

#ifndef SYS_mseal
#define SYS_mseal 462 /* Linux 6.10 */
#endif
#define SIZE (1 << 16)

/* Counts in the buffer's first word, for ever, by all kinds of access and now and then a call. */
static const struct bpf_insn hammer[] = {
	MOVR(6, 1),
	MOV(7, 0),
	ADD(7, 1),
	STORE(BPF_DW, 6, 0, 7),
	LOAD(BPF_DW, 2, 6, 0),
	STORE(BPF_DW, 6, SIZE / 4, 2),
	MOV(3, 1),
	ATOMIC(BPF_DW, 6, 8, 3, BPF_ADD),
	INSN(BPF_JMP | BPF_JSET | BPF_K, 7, 0, 1, 0xff),
	JUMP(-8),
	CALL(SYS_getpid),
	JUMP(-10),
};

static const struct bpf_insn adds[] = {
	LOAD(BPF_DW, 2, 1, 0), ADD(2, 1), STORE(BPF_DW, 1, 0, 2), MOVR(0, 2), EXIT,
};

static void wrong_ways(void)
{
	static const struct {
		size_t size;
		int prot, flags;
		off_t offset;
	} ways[] = {
		{ SIZE / 2, PROT_READ | PROT_WRITE, MAP_SHARED, 0 },
		{ SIZE * 2, PROT_READ | PROT_WRITE, MAP_SHARED, 0 },
		{ 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 0 },
		{ SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, 4096 },
		{ SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, 0x7ffffffff000 },
		{ SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0 },
		{ SIZE, PROT_READ, MAP_SHARED, 0 },
		{ SIZE, PROT_WRITE, MAP_PRIVATE, 0 },
		{ SIZE, PROT_NONE, MAP_SHARED, 0 },
	};
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf) };
	static const uint64_t lengths[] = { 0,		1,	    4095,	4097, 12288,
					    1ull << 27, 1ull << 32, 1ull << 63, ~0ull };
	int fd = raw_open();
	void *p;

	CHECK(mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED,
	      "mapped before SETBUF");
	for (unsigned i = 0; i < COUNT(lengths); i++) {
		setbuf.len = lengths[i];
		CHECK(raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf) == -EINVAL, "a buffer of %#llx bytes",
		      (unsigned long long)lengths[i]);
	}
	setbuf.len = SIZE;
	setbuf.flags = 1;
	CHECK(raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf) == -EINVAL, "SETBUF took flags");
	setbuf.flags = 0;
	MUST(!raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf));
	CHECK(raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf) == -EBUSY, "two buffers");
	for (unsigned i = 0; i < COUNT(ways); i++) {
		p = mmap(NULL, ways[i].size, ways[i].prot, ways[i].flags, fd, ways[i].offset);
		CHECK(p == MAP_FAILED, "way %u of mapping was taken", i);
	}
	p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED, "after the wrong ways the right one fails: %s", strerror(errno));
	CHECK(mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED,
	      "mapped twice");
	for (int i = 0; i < SIZE; i++)
		if (((char *)p)[i]) {
			CHECK(0, "a new buffer is not zero at %d", i);
			break;
		}
	close(fd);
	memset(p, 1, SIZE); /* the mapping outlives the descriptor */
	munmap(p, SIZE);
}

struct victim {
	int fd;
	char *buffer;
	uint32_t hammer, adds;
	struct raw_run r;
	volatile int done;
	long ret;
};

static void *run_hammer(void *arg)
{
	struct victim *v = arg;

	raw_run_init(&v->r, v->hammer, v->buffer);
	v->ret = raw_run_to_end(v->fd, &v->r);
	v->done = 1;
	return NULL;
}

static struct victim *victim_create(void)
{
	struct victim *v = aligned_alloc(16, (sizeof(*v) + 15) & -16ul);

	memset(v, 0, sizeof(*v));
	v->fd = raw_open();
	v->buffer = raw_buffer(v->fd, SIZE);
	v->hammer = raw_load(v->fd, hammer, COUNT(hammer));
	v->adds = raw_load(v->fd, adds, COUNT(adds));
	return v;
}

static void *at(struct victim *v, size_t offset)
{
	return v->buffer + offset;
}

static void by_munmap(struct victim *v)
{
	MUST(!munmap(v->buffer, SIZE));
}

static void by_partial_munmap(struct victim *v)
{
	if (munmap(at(v, SIZE / 2), SIZE / 2)) /* it may be refused; then unmap all */
		MUST(!munmap(v->buffer, SIZE));
}

static void by_fixed_map(struct victim *v)
{
	MUST(mmap(v->buffer, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		  -1, 0) == v->buffer);
}

static void by_mremap(struct victim *v)
{
	if (mremap(v->buffer, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)0x7000000000) ==
	    MAP_FAILED)
		MUST(!munmap(v->buffer, SIZE));
}

static void by_mprotect(struct victim *v)
{
	MUST(!mprotect(v->buffer, SIZE, PROT_NONE));
}

static void by_mprotect_read(struct victim *v)
{
	MUST(!mprotect(v->buffer, SIZE, PROT_READ));
}

/* Checks that a compound at work when its buffer goes stops soon, and harms nobody. */
static void during_run(const char *what, void (*take)(struct victim *), bool ends)
{
	struct victim *v = victim_create();
	static struct raw_run r;
	pthread_t thread;
	long ret;

	MUST(!pthread_create(&thread, NULL, run_hammer, v));
	WAIT_FOR(0, *(volatile uint64_t *)v->buffer);
	take(v);
	if (!ends) {
		sleep_ms(50);
		CHECK(!v->done, "%s: the compound ended: %ld, status %u", what, v->ret,
		      v->r.run.status);
		MUST(!munmap(v->buffer, SIZE));
	}
	MUST(!pthread_join(thread, NULL));
	CHECK(!v->ret &&
		      (v->r.run.status == COSY_LEFT_BUFFER || v->r.run.status == COSY_LEFT_FAULT),
	      "%s: RUN is %ld, status %u", what, v->ret, v->r.run.status);
	/* It must not start again. */
	raw_run_init(&r, v->adds, v->buffer);
	ret = raw_run(v->fd, &r);
	CHECK(!ret && (r.run.status == COSY_LEFT_BUFFER || r.run.status == COSY_LEFT_FAULT),
	      "%s: afterwards RUN is %ld, status %u", what, ret, r.run.status);
	munmap(v->buffer, SIZE);
	close(v->fd);
	free(v);
}

static void by_dontneed(struct victim *v)
{
	madvise(v->buffer, SIZE, MADV_DONTNEED);
	madvise(v->buffer, SIZE, MADV_FREE);
	madvise(v->buffer, SIZE, MADV_REMOVE);
	madvise(v->buffer, SIZE, MADV_COLD);
	madvise(v->buffer, SIZE, MADV_PAGEOUT);
	madvise(v->buffer, SIZE, MADV_HUGEPAGE);
	madvise(v->buffer, SIZE, MADV_MERGEABLE);
}

/* Throws pages away: they come back, and the kernel and the program see the same bytes. */
static void dontneed(void)
{
	struct victim *v = victim_create();
	uint64_t *word = (uint64_t *)v->buffer;
	long ret;

	for (int i = 1; i <= 10; i++) {
		by_dontneed(v);
		raw_run_init(&v->r, v->adds, v->buffer);
		ret = raw_run_to_end(v->fd, &v->r);
		CHECK(!ret && v->r.run.status == COSY_DONE && v->r.run.ret == i &&
			      *word == (uint64_t)i,
		      "DONTNEED: RUN is %ld, status %u, %lld, the word %llu", ret, v->r.run.status,
		      (long long)v->r.run.ret, (unsigned long long)*word);
	}
	munmap(v->buffer, SIZE);
	close(v->fd);
	free(v);
}

/* Makes the buffer read-only and back: programs run again, with the same buffer. */
static void protected_and_back(void)
{
	struct victim *v = victim_create();
	long ret;

	raw_run_init(&v->r, v->adds, v->buffer);
	MUST(!mprotect(v->buffer, SIZE, PROT_READ));
	ret = raw_run(v->fd, &v->r);
	CHECK(!ret && v->r.run.status == COSY_LEFT_BUFFER, "read-only: RUN is %ld, status %u", ret,
	      v->r.run.status);
	CHECK(*(uint64_t *)v->buffer == 0, "read-only: it was written");
	MUST(!mprotect(v->buffer, SIZE, PROT_READ | PROT_WRITE));
	raw_run_init(&v->r, v->adds, v->buffer);
	ret = raw_run_to_end(v->fd, &v->r);
	CHECK(!ret && v->r.run.status == COSY_DONE && v->r.run.ret == 1,
	      "writable again: RUN is %ld, status %u", ret, v->r.run.status);
	/* Protecting a part of it is refused, or no program runs. */
	if (!mprotect(at(v, 4096), 4096, PROT_NONE)) {
		raw_run_init(&v->r, v->adds, v->buffer);
		ret = raw_run(v->fd, &v->r);
		CHECK(!ret && v->r.run.status == COSY_LEFT_BUFFER,
		      "a part protected: RUN is %ld, status %u", ret, v->r.run.status);
	}
	munmap(v->buffer, SIZE);
	close(v->fd);
	free(v);
}

/* Gives the buffer a protection key, by which the thread may do more or less at any time, and back. */
static void keyed(void)
{
	struct victim *v = victim_create();
	int key = pkey_alloc(0, 0);

	if (key < 0) {
		printf("protection keys: not tried, %s\n", strerror(errno));
	} else {
		raw_run_init(&v->r, v->adds, v->buffer);
		MUST(!pkey_mprotect(v->buffer, SIZE, PROT_READ | PROT_WRITE, key));
		CHECK(!raw_run(v->fd, &v->r) && v->r.run.status == COSY_LEFT_BUFFER,
		      "with a key: status %u", v->r.run.status);
		MUST(!pkey_mprotect(v->buffer, SIZE, PROT_READ | PROT_WRITE, 0));
		raw_run_init(&v->r, v->adds, v->buffer);
		CHECK(!raw_run_to_end(v->fd, &v->r) && v->r.run.status == COSY_DONE,
		      "without a key: status %u", v->r.run.status);
		MUST(!pkey_free(key));
	}
	MUST(!munmap(v->buffer, SIZE));
	close(v->fd);
	free(v);
}

/* Seals the buffer, so that it can no longer be protected otherwise: in a child, for it stays. */
static void sealed(void *readable_)
{
	struct victim *v = victim_create();
	bool readable = *(bool *)readable_;
	int now = readable ? PROT_READ : PROT_READ | PROT_WRITE;
	__u32 status = readable ? COSY_LEFT_BUFFER : COSY_DONE;

	MUST(!mprotect(v->buffer, SIZE, now));
	if (syscall(SYS_mseal, v->buffer, SIZE, 0UL)) {
		MUST(errno == ENOSYS);
		printf("sealed mappings: not tried, %s\n", strerror(errno));
		return;
	}
	CHECK(mprotect(v->buffer, SIZE, now ^ PROT_WRITE) == -1 && errno == EPERM, "%s",
	      strerror(errno));
	raw_run_init(&v->r, v->adds, v->buffer);
	CHECK(!raw_run(v->fd, &v->r) && v->r.run.status == status, "sealed %s: status %u",
	      readable ? "readable" : "writable", v->r.run.status);
	close(v->fd);
	free(v);
}

/* Checks that a buffer does not grow, though there is room above it. */
static void room_above(void)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = SIZE };
	char *place = (char *)0x7100000000;
	int fd = raw_open();

	MUST(!raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf));
	MUST(mmap(place, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0) ==
	     place);
	CHECK(mremap(place, SIZE, SIZE * 2, 0) == MAP_FAILED, "mremap grew it in its place");
	MUST(!munmap(place, SIZE));
	close(fd);
}

/* Checks that calls that would map it twice, or a part of it, are refused; the whole one stays. */
static void pieces(void)
{
	struct victim *v = victim_create();
	char *middle = at(v, SIZE / 4), *elsewhere = (char *)0x7000000000;
	long ret;

	CHECK(mremap(v->buffer, 0, SIZE, MREMAP_MAYMOVE) == MAP_FAILED, "mremap made a second one");
	CHECK(mremap(v->buffer, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
		     elsewhere) == MAP_FAILED,
	      "mremap left one");
	CHECK(mremap(v->buffer, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere) == MAP_FAILED,
	      "mremap moved it");
	CHECK(mremap(v->buffer, SIZE, SIZE / 2, 0) == MAP_FAILED, "mremap shrank it");
	CHECK(mremap(v->buffer, SIZE, SIZE * 2, MREMAP_MAYMOVE) == MAP_FAILED, "mremap grew it");
	CHECK(mremap(middle, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere) == MAP_FAILED,
	      "mremap moved a page");
	CHECK(mmap(middle, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		      MAP_FAILED,
	      "mmap put a page in");
	CHECK(munmap(middle, 4096), "munmap took a page out");
	CHECK(munmap(at(v, SIZE - 4096), 4096), "munmap took the last page off");
	CHECK(syscall(SYS_remap_file_pages, middle, 4096, 0, 0, 0) == -1,
	      "remap_file_pages swapped pages");
	mlock(middle, 4096);
	madvise(middle, 4096, MADV_DONTFORK);
	madvise(middle, 4096, MADV_DONTDUMP);
	raw_run_init(&v->r, v->adds, v->buffer);
	ret = raw_run_to_end(v->fd, &v->r);
	CHECK(!ret && v->r.run.status == COSY_DONE && v->r.run.ret == 1 &&
		      *(uint64_t *)v->buffer == 1,
	      "after all: RUN is %ld, status %u", ret, v->r.run.status);
	MUST(!munmap(v->buffer, SIZE));
	close(v->fd);
	free(v);
}

int main(void)
{
	wrong_ways();
	pieces();
	during_run("munmap", by_munmap, true);
	during_run("partial munmap", by_partial_munmap, true);
	during_run("MAP_FIXED", by_fixed_map, true);
	during_run("mremap", by_mremap, true);
	during_run("mprotect NONE", by_mprotect, true);
	during_run("mprotect READ", by_mprotect_read, true);
	during_run("DONTNEED", by_dontneed, false);
	dontneed();
	protected_and_back();
	keyed();
	CHECK_CHILD(in_child(sealed, &(bool){ true }));
	CHECK_CHILD(in_child(sealed, &(bool){ false }));
	room_above();
	return check_end();
}
