// SPDX-License-Identifier: MIT
/* filter.c - see filter.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/cosy.h>

#include "process/arming.h"
#include "process/descriptor.h"
#include "process/filter.h"
#include "process/settings.h"
#include "syscall.h"

static struct {
	int fd;
	dev_t device;	       /* the device's, to see whether a descriptor still is one of it */
	bool early;	       /* fd had to be opened when the process began */
	uint32_t lacked;       /* of needed[], a bit each: see there */
	uint64_t objects_seen; /* objects loaded when none of them could arm a filter */
	bool clock;	 /* filters armed before the device was opened let clock_gettime through */
	bool unsettled;	 /* what was taken last has the number that opening gave it */
	const char *why; /* why it cannot be used for good, in this process and its children */
} prepared = {.fd = -1, .clock = true};

/*
 * Calls that libcosy makes, after it has asked, where a program without it may make none.
 *
 * Filters against memory that is both written and executed look at the arguments of mmap and
 * mprotect, so they never let every one through.  Where such a filter was there when the process
 * began, the dynamic linker had made both as libcosy does, and lived.
 */
static const struct needed {
	unsigned int number;
	unsigned int use; /* LIBCOSY_FILTER_ bits: needed for one of them alone; 0: always */
	char name[24]; /* an array: the dynamic linker would relocate a pointer in each process */
} needed[] = {
	{SYS_mmap, 0, "mmap"}, /* these two are looked at by begin_under() */
	{SYS_mprotect, 0, "mprotect"},
	{SYS_ioctl, 0, "ioctl"},
	{SYS_close, 0, "close"},
	{SYS_munmap, 0, "munmap"},
	{SYS_madvise, 0, "madvise"},
	{SYS_prlimit64, 0, "prlimit64"},
	{SYS_futex, 0, "futex"},
	{SYS_rt_sigprocmask, 0, "rt_sigprocmask"},
	{SYS_openat, LIBCOSY_FILTER_OPENS, "openat"},
	{SYS_fcntl, LIBCOSY_FILTER_MOVES, "fcntl"},
	{SYS_getpid, LIBCOSY_FILTER_THREADS, "getpid"},
	{SYS_gettid, LIBCOSY_FILTER_THREADS, "gettid"},
	{SYS_sched_getaffinity, LIBCOSY_FILTER_THREADS, "sched_getaffinity"},
};
#define NEEDED_BY_LINKER 2u /* the first ones */

static const char unknown[] = "a library that was loaded later may have armed a seccomp filter";

/* --- Asking --------------------------------------------------------------------------------- */

/* read(2) of /dev/cosy returns this: a bit for each system call that is let through. */
struct allowed {
	uint8_t calls[64];
	ssize_t bytes;
};

static void allowed_ask(int fd, struct allowed *allowed)
{
	/* Raw, as no function of libc's has to be looked up for it. */
	allowed->bytes =
		cosy_syscall3(SYS_read, fd, (unsigned long)allowed->calls, sizeof(allowed->calls));
}

static bool allowed_has(const struct allowed *allowed, unsigned int number)
{
	return (ssize_t)(number / 8) < allowed->bytes &&
	       allowed->calls[number / 8] >> number % 8 & 1;
}

static const char *filter_forbids_call(const struct needed *call)
{
	static char why[80];

	snprintf(why, sizeof(why), "a seccomp filter does not let every %s through", call->name);
	return why;
}

static const char *allowed_lacks(const struct allowed *allowed, unsigned int uses)
{
	if (!__libc_single_threaded)
		uses |= LIBCOSY_FILTER_THREADS;
	if (allowed->bytes <= 0)
		return "the module does not report which calls seccomp filters let through";
	for (unsigned int i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if ((!needed[i].use || needed[i].use & uses) && !(prepared.lacked >> i & 1) &&
		    !allowed_has(allowed, needed[i].number))
			return filter_forbids_call(&needed[i]);
	return NULL;
}

/* True if the descriptor is still the device: the program may have closed it and reused it. */
static bool device_is(int fd)
{
	struct stat st;
	int saved;
	bool is;

	if (fd < 0)
		return false;
	saved = errno;
	is = !fstat(fd, &st) && S_ISCHR(st.st_mode) && st.st_rdev == prepared.device;
	errno = saved;
	return is;
}

static const char *filter_forbids(int fd, unsigned int uses)
{
	struct allowed allowed;

	allowed_ask(fd, &allowed);
	return allowed_lacks(&allowed, uses);
}

/* True if filters may have been armed since the process began; any thread may ask. */
static bool filter_may_be_armed(void)
{
	uint64_t seen = __atomic_load_n(&prepared.objects_seen, __ATOMIC_RELAXED);
	bool could = prepared.early || libcosy_could_arm(&seen);

	__atomic_store_n(&prepared.objects_seen, seen, __ATOMIC_RELAXED);
	return could;
}

/* --- Opening -------------------------------------------------------------------------------- */

__attribute__((cold)) static const char *device_explain(int err)
{
	static char text[100];
	int saved = errno;

	snprintf(text, sizeof(text), "cannot open " COSY_DEVICE ": %s", strerror(-err));
	errno = saved;
	return text;
}

/*
 * Opens the device, or returns a negative errno with *why.  Calls nothing of libc's, since each
 * function would have to be looked up in each process that asks the history.
 */
static int device_open(const char **why)
{
	long fd = cosy_syscall6(SYS_openat, AT_FDCWD, (unsigned long)COSY_DEVICE,
				O_RDWR | O_CLOEXEC, 0, 0, 0);

	if (fd < 0)
		*why = device_explain((int)fd);
	return (int)fd;
}

static void device_close(int fd)
{
	cosy_syscall3(SYS_close, (unsigned int)fd, 0, 0);
}

/* Gives it its number, if filters let that through.  Leaves errno as it is. */
static int device_settle(int fd)
{
	int saved = errno;
	struct stat st;

	fd = libcosy_move_fd(fd);
	if (!fstat(fd, &st))
		prepared.device = st.st_rdev;
	errno = saved;
	return fd;
}

/* Opens it and asks.  Returns a negative errno with *why. */
static int device_open_asking(const char **why, void (*asked)(const struct allowed *allowed))
{
	struct allowed allowed;
	int fd = device_open(why);

	if (fd < 0)
		return fd;
	allowed_ask(fd, &allowed);
	asked(&allowed);
	prepared.clock = allowed_has(&allowed, SYS_clock_gettime);
	*why = allowed_lacks(&allowed, LIBCOSY_FILTER_MOVES);
	if (!*why)
		return fd;
	if (allowed_has(&allowed, SYS_close))
		device_close(fd);
	return -EPERM;
}

/* Does the same, and gives it its number. */
static int device_open_settled(const char **why, void (*asked)(const struct allowed *allowed))
{
	int fd = device_open_asking(why, asked);

	return fd < 0 ? fd : device_settle(fd);
}

static int device_open_asked(const char **why)
{
	int fd = device_open(why);

	return fd < 0 ? fd : device_settle(fd);
}

static void later_under(const struct allowed *allowed)
{
	(void)allowed;
}

/* --- At the start ------------------------------------------------------------------------ */

/* Without a dynamic linker nobody has made these calls yet. */
static void begin_under(const struct allowed *allowed)
{
	for (unsigned int i = 0; i < NEEDED_BY_LINKER; i++)
		if (!allowed_has(allowed, needed[i].number) && getauxval(AT_BASE))
			prepared.lacked |= 1u << i;
}

static bool settings_want_device(void)
{
	libcosy_settings_init();
	return libcosy_settings.mode != COSY_MODE_NATIVE &&
	       libcosy_settings.mode != COSY_MODE_INTERP;
}

void libcosy_filter_prepare(void)
{
	prepared.early = true;
	if (settings_want_device())
		prepared.fd = device_open_settled(&prepared.why, begin_under);
}

bool libcosy_filter_prepare_child(int context_fd)
{
	int fd = device_is(prepared.fd) ? prepared.fd : device_is(context_fd) ? context_fd : -1;
	bool early = filter_may_be_armed();

	/* If it could not be opened then, do not try again: only the device can report filters. */
	if (prepared.why)
		return early;
	if (fd >= 0)
		prepared.why = filter_forbids(fd, LIBCOSY_FILTER_REOPENS);
	else if (early && !prepared.early)
		prepared.why = unknown;
	prepared.early = early;
	if (prepared.why || !early)
		return early;
	if (fd >= 0 && fd == prepared.fd)
		device_close(fd);
	prepared.fd = -1;
	if (settings_want_device())
		prepared.fd = fd >= 0 ? device_open_asked(&prepared.why)
				      : device_open_settled(&prepared.why, later_under);
	return true;
}

/* --- At the first region ------------------------------------------------------------------ */

/* A raw clone's child has its parent's: asks by a call that does nothing. */
static bool device_is_parents(int fd)
{
	struct cosy_free none = {.size = sizeof(none)};

	return cosy_syscall3(SYS_ioctl, fd, COSY_IOC_FREE, (unsigned long)&none) == -EXDEV;
}

int libcosy_filter_take(const char **why)
{
	int fd = prepared.fd;

	*why = prepared.why;
	if (!*why && !prepared.early && filter_may_be_armed())
		*why = unknown;
	if (*why)
		return -EPERM;
	prepared.fd = -1;
	prepared.unsettled = !device_is(fd);
	if (prepared.unsettled)
		return device_open_asking(why, later_under);
	*why = filter_forbids(fd, 0);
	if (!*why && device_is_parents(fd)) {
		*why = filter_forbids(fd, LIBCOSY_FILTER_REOPENS);
		if (!*why) {
			device_close(fd);
			return device_open_asked(why);
		}
	}
	if (!*why)
		return fd;
	/* It may not be closed, but may still be asked. */
	prepared.fd = fd;
	return -EPERM;
}

int libcosy_filter_settle(int fd)
{
	return prepared.unsettled ? device_settle(fd) : fd;
}

void libcosy_filter_put(int fd)
{
	if (prepared.early)
		prepared.fd = libcosy_filter_settle(fd);
	else
		device_close(fd);
}

/* --- Later ------------------------------------------------------------------------------------ */

bool libcosy_filter_none(void)
{
	return !filter_may_be_armed();
}

bool libcosy_filter_lets_clock(void)
{
	return prepared.clock && !filter_may_be_armed();
}

enum libcosy_filter_answer libcosy_filter_lets(int fd, const char **why)
{
	if (!filter_may_be_armed())
		return COSY_FILTER_LETS;
	if (!device_is(fd))
		return COSY_FILTER_UNKNOWN;
	*why = filter_forbids(fd, 0);
	return *why ? COSY_FILTER_FORBIDS : COSY_FILTER_LETS;
}
