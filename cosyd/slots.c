// SPDX-License-Identifier: MIT
/* slots.c - see slots.h; protocol.h explains why clients may trust the words. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "quiet.h"
#include "slots.h"

/* A real-time signal: each break is queued with the descriptor that it is about. */
#define BREAK_SIGNAL (SIGRTMIN + 8)

#define BUCKETS 4096
#define NO_SLOT UINT32_MAX
/* The keeper's other descriptors; slots get the lowest numbers that are free. */
#define MORE_FILES  32
#define DESCRIPTORS (COSYD_SLOTS + MORE_FILES)

/* An inode.  The daemon opened its descriptor: nobody else can change its owner or signal. */
struct slot {
	uint64_t dev, ino;
	uint32_t refs; /* 0: free */
	uint32_t next; /* next in its bucket, or among the free slots */
	int fd;
	bool leased;
};

static struct slot slots[COSYD_SLOTS];
static uint32_t buckets[BUCKETS], free_slot;
static uint32_t slot_of_fd[DESCRIPTORS];
static unsigned int leases;

static struct cosyd_memory *memory;
static const struct slots_options *options;
static timer_t deadline;
static bool deadline_armed;
static int break_time_file = -1;

/*
 * Makes the kernel take this process's number out of memory->keeper when the process dies.
 * The list is in shared memory, because the out-of-memory killer takes private pages away
 * before the kernel reads the list.  It is locked, so that it is never swapped out.
 */
static int slots_own_memory(void)
{
	struct {
		struct robust_list_head head;
		struct robust_list entry;
	} *list = mmap(NULL, sizeof(*list), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);

	if (list == MAP_FAILED || mlock(list, sizeof(*list)) || mlock(memory, 4096))
		return -errno;
	list->head.list.next = &list->entry;
	list->entry.next = &list->head.list;
	list->head.futex_offset = (char *)&memory->keeper - (char *)&list->entry;
	if (syscall(SYS_set_robust_list, &list->head, sizeof(list->head)))
		return -errno;
	__atomic_store_n(&memory->keeper, (uint32_t)gettid(), __ATOMIC_SEQ_CST);
	return 0;
}

/*
 * Returns the deadline in ms: the option's, or at most 50 % of the time after which the kernel
 * takes a lease back.
 */
static unsigned int slots_deadline(void)
{
	char text[16] = "";
	unsigned long seconds;

	if (break_time_file < 0 || pread(break_time_file, text, sizeof(text) - 1, 0) <= 0)
		return options->deadline;
	seconds = strtoul(text, NULL, 10);
	if (!seconds || seconds * 500 > options->deadline) /* 0: no limit */
		return options->deadline;
	return seconds * 500;
}

/*
 * Sets the timer that ends this process, anew; 0: none.  A keeper that is stopped would not
 * change its words when the kernel takes broken leases away, after lease-break-time.  So the
 * timer ends it long before that: SIGKILL ends stopped processes too.
 */
static void slots_put_off(unsigned int ms)
{
	struct itimerspec time = {
		.it_value = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}};

	timer_settime(deadline, 0, &time, NULL);
	deadline_armed = ms != 0;
}

static int slots_make_deadline(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};

	break_time_file = open("/proc/sys/fs/lease-break-time", O_RDONLY | O_CLOEXEC);
	return timer_create(CLOCK_MONOTONIC, &event, &deadline) ? -errno : 0;
}

static unsigned int bucket_of(uint64_t dev, uint64_t ino)
{
	return ((dev ^ ino) * 0x9e3779b97f4a7c15ULL) >> 52;
}

static struct slot *slot_find(uint64_t dev, uint64_t ino)
{
	for (uint32_t i = buckets[bucket_of(dev, ino)]; i != NO_SLOT; i = slots[i].next)
		if (slots[i].ino == ino && slots[i].dev == dev)
			return &slots[i];
	return NULL;
}

static uint32_t slot_number(const struct slot *slot)
{
	return slot - slots;
}

/* Gives an inode a slot, which takes the descriptor over.  NULL: there is none. */
static struct slot *slot_claim(uint64_t dev, uint64_t ino, int fd)
{
	uint32_t *bucket = &buckets[bucket_of(dev, ino)];
	struct slot *slot;

	if (free_slot == NO_SLOT || fd >= DESCRIPTORS)
		return NULL;
	slot = &slots[free_slot];
	free_slot = slot->next;
	*slot = (struct slot){.dev = dev, .ino = ino, .fd = fd, .next = *bucket};
	*bucket = slot_number(slot);
	slot_of_fd[fd] = slot_number(slot);
	return slot;
}

/* Frees a slot.  The descriptor is the caller's again. */
static void slot_free(struct slot *slot)
{
	uint32_t *link = &buckets[bucket_of(slot->dev, slot->ino)];

	while (*link != slot_number(slot))
		link = &slots[*link].next;
	*link = slot->next;
	slot_of_fd[slot->fd] = NO_SLOT;
	slot->refs = 0;
	slot->next = free_slot;
	free_slot = slot_number(slot);
}

/* Takes a lease, then changes the word.  Everything rests on this order and on the next one. */
static int slot_lease(struct slot *slot)
{
	uint64_t *word = &memory->words[slot_number(slot)];

	if (quiet_now(slot->dev, slot->ino))
		return -EAGAIN;
	if (!deadline_armed)
		slots_put_off(slots_deadline());
	/* Returning a lease clears its signal, and a lease that is broken with none sends SIGIO. */
	if (fcntl(slot->fd, F_SETSIG, BREAK_SIGNAL) || fcntl(slot->fd, F_SETLEASE, F_RDLCK))
		return errno == EAGAIN ? -EAGAIN : -EACCES;
	slot->leased = true;
	leases++;
	__atomic_store_n(word, *word + 1, __ATOMIC_SEQ_CST);
	return 0;
}

/* Changes the word, then returns the lease. */
static void slot_unlease(struct slot *slot)
{
	uint64_t *word = &memory->words[slot_number(slot)];

	__atomic_store_n(word, *word + 1, __ATOMIC_SEQ_CST);
	fcntl(slot->fd, F_SETLEASE, F_UNLCK);
	slot->leased = false;
	leases--;
}

/* Asks whether the lease is broken: the signal may be late, and the descriptor another file's. */
static void slot_check(struct slot *slot)
{
	if (!slot->refs || !slot->leased || fcntl(slot->fd, F_GETLEASE) == F_RDLCK)
		return;
	slot_unlease(slot);
	quiet_begin(slot->dev, slot->ino, options->hold_off);
	if (options->verbose)
		log_line("slot %u: inode %llu is returned to a writer", slot_number(slot),
			 (unsigned long long)slot->ino);
}

bool slots_answer(int signals)
{
	struct signalfd_siginfo infos[16];
	ssize_t got;

	while ((got = read(signals, infos, sizeof(infos))) > 0) {
		for (size_t i = 0; i < got / sizeof(*infos); i++) {
			uint32_t signal = infos[i].ssi_signo, fd = infos[i].ssi_fd;

			if (signal == SIGTERM || signal == SIGINT)
				return false;
			if (signal == SIGIO) { /* more breaks than could be queued */
				for (uint32_t slot = 0; slot < COSYD_SLOTS; slot++)
					slot_check(&slots[slot]);
			} else if (fd < DESCRIPTORS && slot_of_fd[fd] != NO_SLOT) {
				slot_check(&slots[slot_of_fd[fd]]);
			}
		}
	}
	return true;
}

int slots_take(uint64_t dev, uint64_t ino, int fd, struct cosyd_reply *reply)
{
	struct slot *slot = slot_find(dev, ino);
	bool fresh = !slot;
	int ret;

	if (fresh)
		slot = slot_claim(dev, ino, fd);
	if (!slot) {
		close(fd);
		return -EMFILE;
	}
	ret = slot->leased ? 0 : slot_lease(slot);
	if (ret && fresh)
		slot_free(slot);
	if (ret || !fresh)
		close(fd);
	if (ret)
		return ret;
	slot->refs++;
	reply->slot = slot_number(slot);
	reply->value = memory->words[reply->slot];
	if (options->verbose)
		log_line("slot %u: inode %llu is leased, %u references", reply->slot,
			 (unsigned long long)slot->ino, slot->refs);
	return 0;
}

int slots_drop(uint32_t number, int *ret_fd)
{
	struct slot *slot = &slots[number];

	*ret_fd = -1;
	if (number >= COSYD_SLOTS || !slot->refs)
		return -EINVAL;
	if (--slot->refs)
		return 0;
	if (slot->leased)
		slot_unlease(slot);
	*ret_fd = slot->fd;
	slot_free(slot);
	return 0;
}

int slots_timeout_ms(void)
{
	unsigned int ms = leases ? slots_deadline() : 0;

	if (ms || deadline_armed)
		slots_put_off(ms);
	return ms ? (int)ms / 2 : -1;
}

/* Makes no more slots than descriptors: a descriptor that cannot be received would be lost. */
static void slots_init(void)
{
	struct rlimit files = {.rlim_cur = 0};
	uint32_t count = COSYD_SLOTS;

	getrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur < DESCRIPTORS)
		count = files.rlim_cur > MORE_FILES ? files.rlim_cur - MORE_FILES : 1;
	for (uint32_t i = 0; i < count; i++)
		slots[i].next = i + 1 < count ? i + 1 : NO_SLOT;
	memset(buckets, 0xff, sizeof(buckets));
	memset(slot_of_fd, 0xff, sizeof(slot_of_fd));
}

int slots_begin(struct cosyd_memory *memory_, const struct slots_options *options_,
		int *ret_signals)
{
	sigset_t set;
	int ret;

	memory = memory_;
	options = options_;
	quiet_init();
	slots_init();
	sigemptyset(&set);
	sigaddset(&set, BREAK_SIGNAL);
	sigaddset(&set, SIGIO);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_SETMASK, &set, NULL);
	*ret_signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	ret = *ret_signals < 0 ? -errno : slots_make_deadline();
	return ret ? ret : slots_own_memory();
}

void slots_end(void)
{
	__atomic_store_n(&memory->keeper, 0, __ATOMIC_SEQ_CST);
}
