// SPDX-License-Identifier: MIT
/*
 * context.c - see context.h.
 *
 * Whatever goes wrong here ends in "no kernel", never in an error to the
 * program: its native twin does the same work.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/cancel.h"
#include "process/context.h"
#include "process/descriptor.h"
#include "process/filter.h"
#include "process/fork.h"
#include "memory/heap.h"
#include "lock.h"
#include "retry.h"
#include "process/start.h"
#include "process/stats.h"
#include "syscall.h"
#include "process/thread.h"

#define MIN_BUFFER (64u << 10) /* below this a buffer is not worth its pages */

/*
 * A way to divide the buffer.  The pages of the first front are allocated at once.  Its lower 50 %
 * belong to the heap, the rest is the beginning of the first thread's slice.
 */
struct division {
	uint32_t front; /* bytes, at first */
	uint32_t slice; /* bytes, at most a quarter of the buffer */
};
static const struct division usual = {.front = 64u << 10, .slice = 256u << 10};
/* For a program that has asked for no memory yet, and whose blocks in the slice are small. */
static const struct division small = {.front = 16u << 10, .slice = 120u << 10};
#define SMALL_BLOCKS (6u << 10)

int libcosy_the_fd = -1;
uint32_t libcosy_context_openings LIBCOSY_EARLY_DATA;
bool libcosy_native_only LIBCOSY_EARLY_DATA;
uint64_t libcosy_largest_frame LIBCOSY_EARLY_DATA;
bool libcosy_heap_wanted LIBCOSY_EARLY_DATA;
bool libcosy_history_works LIBCOSY_EARLY_DATA, libcosy_history_lacks LIBCOSY_EARLY_DATA;

static struct {
	struct libcosy_lock lock;
	char reason[160];
	uint8_t *buffer; /* stays mapped, as private memory, in a fork child */
	uint64_t buffer_len;
	uint64_t front; /* bytes of it */
	struct libcosy_retry growing;
} context;

void *libcosy_context_buffer(uint64_t *len)
{
	*len = context.buffer_len;
	return context.buffer;
}

const char *libcosy_context_reason(void)
{
	return context.reason;
}

void libcosy_context_count(void)
{
	struct cosy_stats stats = {.size = sizeof(stats)};

	if (libcosy_the_fd >= 0 && libcosy_generation())
		libcosy_context_ioctl(COSY_IOC_STATS, &stats);
	libcosy_counts_keep(&stats);
}

/* --- Opening --------------------------------------------------------------------- */

__attribute__((format(printf, 1, 2))) static void context_explain(const char *format, ...)
{
	int saved = errno;
	va_list args;

	va_start(args, format);
	vsnprintf(context.reason, sizeof(context.reason), format, args);
	va_end(args);
	if (libcosy_settings.debug || libcosy_settings.mode == COSY_MODE_KERNEL)
		libcosy_say("not using the kernel: %s", context.reason);
	errno = saved;
}

/* Returns a descriptor that filters let us use, or -1 with the reason explained. */
static int device_take(void)
{
	const char *why;
	int fd = libcosy_filter_take(&why);

	if (fd < 0) {
		/* A lack of descriptors or memory may pass; nothing else will. */
		libcosy_native_only = fd != -EMFILE && fd != -ENFILE && fd != -ENOMEM;
		context_explain("%s", why);
	}
	return fd;
}

/* True if module and processor will do. */
static bool device_serves(int fd, uint64_t *features)
{
	struct cosy_version version = {.size = sizeof(version)};
	long err = cosy_syscall3(SYS_ioctl, fd, COSY_IOC_VERSION, (unsigned long)&version);

	*features = version.features;
	if (!err && version.abi == COSY_ABI_VERSION && !(version.features & COSY_FEATURE_REFUSED))
		return true;
	libcosy_native_only = !libcosy_passes(err);
	if (err)
		context_explain(COSY_DEVICE " refuses VERSION: %s", strerror(-err));
	else if (version.abi != COSY_ABI_VERSION)
		context_explain("the module speaks version %u, this library %u", version.abi,
				COSY_ABI_VERSION);
	else
		context_explain("the module refuses compounds on this processor: see cosy doctor");
	return false;
}

/* Returns how to divide the buffer whose first user is that applicant, or NULL: any code. */
static const struct division *division_for(const struct libcosy_applicant *applicant)
{
	uint64_t frame = __atomic_load_n(&libcosy_largest_frame, __ATOMIC_RELAXED);

	if (!applicant || __atomic_load_n(&libcosy_heap_wanted, __ATOMIC_RELAXED) ||
	    libcosy_settings_force() || frame > SMALL_BLOCKS ||
	    frame + applicant->ctx_size > SMALL_BLOCKS)
		return &usual;
	return &small;
}

/* Returns the first front of a buffer of that length. */
static uint64_t front_first(const struct division *division, uint64_t len)
{
	return len < division->front ? len : division->front;
}

/*
 * Asks whether the kernel would have to compile this compound for the buffer that is to be made, or,
 * without an applicant, for the context's: it may have none.
 * If a lack of memory makes the buffer smaller than asked here, LOAD will find that out: it does
 * not compile either.
 */
bool libcosy_context_has_seen(int fd, const struct cosy_compound *compound,
			      const struct libcosy_applicant *applicant, uint32_t flags)
{
	struct cosy_load load = {
		.size = offsetof(struct cosy_load, key),
		.len = compound->size,
		.compound = (u64)compound,
		.flags = COSY_LOAD_SEEN | COSY_LOAD_ASK | flags |
			 (libcosy_settings.ordinary ? COSY_ORDINARY_CALLS : 0),
		.front = (u32)(context.buffer ? context.front
			       : applicant    ? front_first(division_for(applicant),
							    libcosy_settings.buffer_len)
					      : 0),
	};

	long err = cosy_syscall3(SYS_ioctl, fd, COSY_IOC_LOAD, (unsigned long)&load);

	if (err == -EINVAL && flags) {
		/* An older module does not know the flag. */
		load.flags &= ~flags;
		err = cosy_syscall3(SYS_ioctl, fd, COSY_IOC_LOAD, (unsigned long)&load);
	}
	if (err == -EINPROGRESS)
		libcosy_count(&libcosy_counts.queued, 1);
	return !err;
}

/* Maps the buffer below 2 GB if it can: the sandbox's shortest access sequence reaches there. */
static void *buffer_map(int fd, uint64_t len)
{
	void *buffer = cosy_map(len, MAP_SHARED | MAP_32BIT, fd);

	return buffer ? buffer : cosy_map(len, MAP_SHARED, fd);
}

static long buffer_set(int fd, uint64_t len, uint64_t front)
{
	struct cosy_setbuf setbuf = {.size = sizeof(setbuf), .len = len, .front = front};

	return cosy_syscall3(SYS_ioctl, fd, COSY_IOC_SETBUF, (unsigned long)&setbuf);
}

/* Hands the memory out: small programs use only the first front. */
static void buffer_use(void *buffer, uint64_t len, const struct division *division)
{
	uint64_t low = len, reserved = 0;

	if (len > division->front) {
		low = division->front / 2;
		reserved = len / 4 < division->slice ? len / 4 : division->slice;
	}
	context.buffer = buffer;
	context.buffer_len = len;
	context.front = front_first(division, len);
	libcosy_heap_init(buffer, len, low, reserved);
}

static void buffer_make(int fd, const struct division *division)
{
	uint64_t len;
	void *buffer;

	for (len = libcosy_settings.buffer_len; len; len = len > MIN_BUFFER ? len / 2 : 0) {
		if (buffer_set(fd, len, front_first(division, len)))
			continue;
		buffer = buffer_map(fd, len);
		if (!buffer)
			break;
		buffer_use(buffer, len, division);
		return;
	}
	if (libcosy_settings.buffer_len && libcosy_settings.debug)
		libcosy_say("no shared buffer: RLIMIT_MEMLOCK is too low, or memory is short");
}

/* --- The front -------------------------------------------------------------------- */

int64_t libcosy_front_from(const void *at)
{
	const uint64_t front = __atomic_load_n(&context.front, __ATOMIC_RELAXED);

	/* Without a context, in tests of the heap alone, all memory is alike. */
	return context.buffer ? (int64_t)(context.buffer + front - (const uint8_t *)at) : INT64_MAX;
}

/*
 * Grows the front; under the lock.  Programs are compiled for a front, so the generation changes
 * as if this were a new context: they are loaded again, while those that run keep the old front.
 */
static bool front_grow(uint64_t front)
{
	if (!libcosy_retry_now(&context.growing))
		return false;
	/* Without a context, as in a fork child, the next one will begin with this front. */
	if (libcosy_generation()) {
		if (buffer_set(libcosy_the_fd, context.buffer_len, front)) {
			libcosy_retry_failed(&context.growing);
			return false;
		}
		libcosy_generation_begin();
	}
	context.growing.next = 0;
	__atomic_store_n(&context.front, front, __ATOMIC_RELAXED);
	return true;
}

bool libcosy_front_cover(const void *end)
{
	const struct libcosy_thread *thread = libcosy_thread_self;
	bool covered = libcosy_front_from(end) >= 0;
	uint64_t front;

	/* A filter may punish the call. */
	if (covered || libcosy_native_only || (thread && thread->filtered) ||
	    !libcosy_lock(&context.lock))
		return covered;
	for (front = context.front; front < (uint64_t)((const uint8_t *)end - context.buffer);)
		front *= 4;
	if (front > context.buffer_len)
		front = context.buffer_len;
	covered = front <= context.front || front_grow(front);
	libcosy_unlock(&context.lock);
	return covered;
}

void *libcosy_shared_alloc(size_t size)
{
	uint8_t *memory = libcosy_heap_alloc(size);

	if (memory)
		libcosy_front_cover(memory + size);
	return memory;
}

static bool process_is_single_threaded(void)
{
	struct stat task;

	/* "." and ".." and one directory for each thread */
	return !stat("/proc/self/task", &task) && task.st_nlink == 3;
}

/*
 * A fork child, or a process that lost its descriptor, has the old buffer as
 * ordinary memory with live data in it.  Puts a new buffer at the same address,
 * with the same contents, while no other thread or handler can look.
 */
static void buffer_replace(int fd)
{
	uint64_t len = context.buffer_len;
	/* Beyond the front only the second heap hands anything out. */
	uint64_t used = libcosy_heap_is_beyond() ? len : context.front;
	sigset_t all, old;
	void *copy, *now;

	if (!process_is_single_threaded() || buffer_set(fd, len, context.front))
		return;
	copy = mmap(NULL, used, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	memcpy(copy, context.buffer, used);
	now = mmap(context.buffer, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	if (now == MAP_FAILED)
		now = mmap(context.buffer, len, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (now != MAP_FAILED)
		memcpy(context.buffer, copy, used);
	sigprocmask(SIG_SETMASK, &old, NULL);
	munmap(copy, used);
}

/* Closes the old descriptor if it is (still) one of ours, and not the new one's number. */
static void fd_drop(int fd)
{
	struct cosy_version version = {.size = sizeof(version)};
	long err;

	if (libcosy_the_fd < 0 || libcosy_the_fd == fd)
		return;
	err = libcosy_context_ioctl(COSY_IOC_VERSION, &version);
	if (!err || err == -EXDEV)
		close(libcosy_the_fd);
	__atomic_store_n(&libcosy_the_fd, -1, __ATOMIC_RELAXED);
}

/* True if the device is to become the context for an applicant, NULL: for whatever comes. */
static bool device_is_wanted(int fd, const struct libcosy_applicant *applicant)
{
	enum libcosy_admission admission = COSY_ENTERS;
	uint64_t features;

	if (applicant)
		admission = applicant->admit(applicant->region, fd);
	if (admission == COSY_STAYS_OUT)
		return false;
	return device_serves(fd, &features) &&
	       (admission == COSY_ENTERS ||
		(features & COSY_FEATURE_SEEN &&
		 libcosy_context_has_seen(fd, applicant->compound, applicant,
					  admission == COSY_ENTERS_LATER ? COSY_LOAD_BACKGROUND
									 : 0)));
}

/*
 * `applicant`, if not NULL: opens none unless its region goes to the kernel.  Filters are asked
 * before anything else: they may kill for any other call.  Until it is clear that the region does,
 * no function of libc's is called, not even for errno: many processes ask, and stay native.
 */
static void context_open_locked(const struct libcosy_applicant *applicant)
{
	int fd = -1, saved;

	if (libcosy_settings.mode != COSY_MODE_INTERP) {
		fd = device_take();
		if (fd < 0)
			return;
		/*
		 * The child of another thread's raw clone must find this lock to be its parent's.
		 */
		if (!__libc_single_threaded)
			libcosy_life_begin();
		if (!device_is_wanted(fd, applicant)) {
			libcosy_filter_put(fd);
			return;
		}
		fd = libcosy_filter_settle(fd);
	}
	saved = errno;
	/* Not earlier: many a program never opens a context, and its children need none of it. */
	libcosy_fork_register();
	libcosy_life_begin();
	fd_drop(fd);
	if (fd >= 0) {
		if (context.buffer)
			buffer_replace(fd);
		else
			buffer_make(fd, division_for(applicant));
		context.reason[0] = '\0';
	}
	__atomic_store_n(&libcosy_the_fd, fd, __ATOMIC_RELAXED);
	__atomic_add_fetch(&libcosy_context_openings, 1, __ATOMIC_RELAXED);
	libcosy_generation_begin();
	errno = saved;
}

bool libcosy_context_lets(void)
{
	/* Filters only grow stricter. */
	static _Thread_local bool refused __attribute__((tls_model("initial-exec")));
	uint32_t generation = libcosy_generation();
	enum libcosy_filter_answer answer;
	const char *why;
	int saved = errno;

	if (refused || libcosy_context_fd() < 0)
		return !refused;
	answer = libcosy_filter_lets(libcosy_context_fd(), &why);
	if (answer == COSY_FILTER_UNKNOWN)
		libcosy_context_lost(generation);
	refused = answer == COSY_FILTER_FORBIDS;
	if (refused && (libcosy_settings.debug || libcosy_settings.mode == COSY_MODE_KERNEL))
		libcosy_say("a thread sets up nothing new for the kernel: %s", why);
	errno = saved;
	return answer == COSY_FILTER_LETS;
}

static uint32_t context_open(const struct libcosy_applicant *applicant)
{
	uint32_t generation = libcosy_generation();
	int state;

	if (generation)
		return generation;
	libcosy_settings_init();
	if (libcosy_settings.mode == COSY_MODE_NATIVE)
		libcosy_native_only = true;
	if (libcosy_native_only)
		return 0;
	state = libcosy_cancel_disable();
	/* From now on another thread's fork waits for this lock, which its child would wait for. */
	if (!__libc_single_threaded)
		libcosy_fork_register();
	if (libcosy_lock(&context.lock)) {
		if (!libcosy_generation() && !libcosy_native_only)
			context_open_locked(applicant);
		generation = libcosy_generation();
		libcosy_unlock(&context.lock);
	}
	libcosy_cancel_restore(state);
	return generation;
}

uint32_t libcosy_context_open(void)
{
	return context_open(NULL);
}

uint32_t libcosy_context_open_for(const struct libcosy_applicant *applicant)
{
	return context_open(applicant);
}

void libcosy_context_lost(uint32_t generation)
{
	struct cosy_stats stats = {.size = sizeof(stats)};

	if (libcosy_settings.stats && !libcosy_context_ioctl(COSY_IOC_STATS, &stats))
		libcosy_counts_keep(&stats);
	libcosy_generation_end(generation);
}

void libcosy_context_buffer_gone(void)
{
	libcosy_context_lost(libcosy_generation());
	libcosy_heap_retire();
	context.buffer_len = 0;
	if (!__atomic_exchange_n(&libcosy_native_only, true, __ATOMIC_RELAXED))
		context_explain("the program unmapped or changed the shared buffer");
}

/* --- Fork -------------------------------------------------------------------------- */

/*
 * Does, when a fork child begins, what filters may forbid later.  Reads the environment only if a
 * filter could be armed: many programs come to no region.
 */
static void context_start(void)
{
	int saved = errno, state = libcosy_cancel_disable();

	if (!libcosy_native_only && libcosy_filter_prepare_child(libcosy_the_fd))
		libcosy_fork_register();
	libcosy_cancel_restore(state);
	errno = saved;
}

bool libcosy_context_lock(void)
{
	return libcosy_lock(&context.lock);
}

void libcosy_context_unlock(void)
{
	libcosy_unlock(&context.lock);
}

void libcosy_context_child(void)
{
	context.lock.word = 0;
	libcosy_generation_child();
	libcosy_counts_reset();
	context_start();
}
