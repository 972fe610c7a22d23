// SPDX-License-Identifier: MIT
/* lease.c - see lease.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "environment.h"
#include "file/daemon.h"
#include "file/lease.h"
#include "file/lease_thread.h"
#include "file/mapping.h"
#include "file/watchdog.h"
#include "lock.h"
#include "stats.h"
#include "syscall.h"

/* `guard_value` of a lease of this process's own; the daemon's words never have this value. */
#define LEASE_OWN WATCHDOG_HELD

/* ns that reads must save, while the thread is still starting, before it is asked for again. */
#define LEASE_MOMENT 2000

static int own_leases, distant_leases;

/* Refusals in a row of leases of others' files. */
static unsigned int refused;

/* ns that windows would have saved, by files that had earned theirs, while there was no thread. */
static int thread_saved;

/* The `guard` of an own lease that is over.  No `guard_value` is even, but for 0. */
static const uint64_t lease_over = 2;

/* The `keeper` of an own lease: whoever reads this lives. */
static const uint32_t lease_alive = FUTEX_TID_MASK;

/*
 * Own leases are taken, returned, and given up by the thread under this, so that a number means the
 * same file throughout.  Unlike lock.h's it is taken by that thread too, of which alone() knows
 * nothing.
 */
static uint32_t leases_lock;

static void leases_lock_take(void)
{
	uint32_t expected = 0;

	if (__atomic_compare_exchange_n(&leases_lock, &expected, 1, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&leases_lock, 2, __ATOMIC_ACQUIRE))
		futex_wait(&leases_lock, 2);
}

static void leases_lock_drop(void)
{
	lock_drop(&leases_lock);
}

static bool lease_any_own(void)
{
	return __atomic_load_n(&own_leases, __ATOMIC_RELAXED);
}

static bool lease_is_own(const struct file *file)
{
	return file->guard_value == LEASE_OWN;
}

/* Returns why a lease is over: it was broken, or the daemon has ended. */
static enum guard lease_loss(const struct file *file)
{
	return lease_is_own(file) || cosyd_alive(file->keeper) ? GUARD_READ_ONLY : GUARD_DAEMON;
}

void lease_check(struct file *file)
{
	uint64_t word, signals;

	/* A thread that has locked the file may have taken the lease and be about to say so. */
	word = __atomic_load_n(&file->word, __ATOMIC_SEQ_CST);
	if ((word & WORD_PLAIN) && !(word & WORD_LOCKED))
		return;
	word = file_lock(file, &signals);
	if (!(word & WORD_PLAIN) && file->leased && !lease_holds(file)) {
		word = file_replug(file, word, lease_loss(file));
		if (++file->breaks >= MAX_BREAKS)
			file->unleased = true;
	}
	file_unlock(file, word, signals);
}

/* True for an own lease that neither the thread nor the watchdog has returned. */
static bool lease_is_held(const struct file *file)
{
	return lease_is_own(file) &&
	       (!file->guard || __atomic_load_n(file->guard, __ATOMIC_ACQUIRE) == LEASE_OWN);
}

/*
 * Returns an own lease if it has been broken; locked.  `fd` names its file, or is an error.
 * True: it had been broken.
 */
static bool lease_give_up(struct file *file, int fd)
{
	const struct mapping *map;
	bool over;

	over = fd < 0 || cosy_syscall3(SYS_fcntl, fd, F_GETLEASE, 0) != F_RDLCK;
	if (over) {
		/* A reader looks at this after its copy, so it changes before all the rest. */
		__atomic_store_n(&file->guard, &lease_over, __ATOMIC_SEQ_CST);
		map = __atomic_load_n(&file->map, __ATOMIC_ACQUIRE);
		if (map)
			mapping_blank(map);
		watchdog_forget(file);
		if (fd >= 0)
			cosy_syscall3(SYS_fcntl, fd, F_SETLEASE, F_UNLCK);
	}
	return over;
}

/* Does the same in the thread. */
static bool lease_give_up_fetched(struct file *file)
{
	int fd;
	bool over;

	if (!lease_is_held(file))
		return false;
	fd = lease_thread_fetch(file->fd);
	over = lease_give_up(file, fd);
	lease_thread_put(fd);
	return over;
}

static void lease_broken(int fd)
{
	struct file *file = fd < 0 ? NULL : file_of(fd);
	unsigned int used = lease_any_own() ? file_used() : 0;

	leases_lock_take();
	/* Otherwise ask all of them: the number may mean another file by now. */
	if (!file || !lease_give_up_fetched(file))
		for (unsigned int number = 0; number < used; number++)
			lease_give_up_fetched(file_numbered(file_space, number));
	/* Only after that: this takes back a signal that is on its way. */
	if (fd < 0)
		lease_thread_awake(lease_any_own());
	leases_lock_drop();
}

static void lease_overslept(void)
{
	unsigned int used = lease_any_own() ? file_used() : 0;

	leases_lock_take();
	for (unsigned int number = 0; number < used; number++) {
		struct file *file = file_numbered(file_space, number);

		if (lease_is_held(file))
			lease_give_up(file, file->fd);
	}
	lease_thread_awake(lease_any_own());
	leases_lock_drop();
}

static void lease_tell_watchdog(struct watchdog_page **page, struct watchdog_page *made)
{
	unsigned int used = file_used();

	leases_lock_take();
	*page = made;
	for (unsigned int number = 0; number < used; number++)
		if (lease_is_held(file_numbered(file_space, number)))
			watchdog_tell(file_numbered(file_space, number));
	leases_lock_drop();
}

bool lease_holds_map(struct file *file, struct mapping *map)
{
	bool holds;

	leases_lock_take();
	holds = lease_holds(file);
	if (holds)
		__atomic_store_n(&file->map, map, __ATOMIC_RELEASE);
	leases_lock_drop();
	return holds;
}

/* Refusals in a row after which a process that has CAP_LEASE asks for no more leases. */
#define MAX_REFUSED 8

static bool lease_capable(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return !cosy_syscall3(SYS_capget, (unsigned long)&header, (unsigned long)data, 0) &&
	       data[CAP_TO_INDEX(CAP_LEASE)].effective & CAP_TO_MASK(CAP_LEASE);
}

static bool is_owner(int fd)
{
	struct stat st;

	return !cosy_syscall3(SYS_fstat, fd, (unsigned long)&st, 0) &&
	       st.st_uid == (uid_t)cosy_syscall3(SYS_geteuid, 0, 0, 0);
}

/*
 * Returns whether a refusal is a security module's, which may note each one (AppArmor's `k`).
 * Nothing else refuses a file's owner.  A process with CAP_LEASE may be refused since it has it in
 * a user namespace only; then its own files are still leased to it.
 */
static bool lease_is_forbidden(int fd)
{
	if (is_owner(fd))
		return true;
	return lease_capable() && __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED) >= MAX_REFUSED;
}

/*
 * Takes an own lease; locked.  Sets the thread and its signal first: a lease that is broken before
 * that sends SIGIO, which kills.
 */
static long lease_set(struct file *file, int fd)
{
	struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = lease_thread_number()};
	const struct f_owner_ex nobody = {.type = F_OWNER_TID};
	uint32_t turn = 0;
	long ret;

	if (!watchdog_taking(file, fd, &turn))
		return -EAGAIN;
	ret = cosy_syscall3(SYS_fcntl, fd, F_SETOWN_EX, (unsigned long)&owner);
	if (!ret)
		ret = cosy_syscall3(SYS_fcntl, fd, F_SETSIG, LEASE_SIGNAL);
	if (!ret)
		ret = cosy_syscall3(SYS_fcntl, fd, F_SETLEASE, F_RDLCK);
	if (!ret && !watchdog_taken(turn)) {
		cosy_syscall3(SYS_fcntl, fd, F_SETLEASE, F_UNLCK);
		ret = -EAGAIN;
	}
	if (ret) {
		watchdog_forget(file);
		file->guard = NULL;
		cosy_syscall3(SYS_fcntl, fd, F_SETSIG, 0);
		cosy_syscall3(SYS_fcntl, fd, F_SETOWN_EX, (unsigned long)&nobody);
	}
	return ret;
}

static bool lease_take_own(struct file *file, int fd, enum guard *why)
{
	static bool forbidden;
	const struct lease_thread_work work = {
		.broken = lease_broken,
		.overslept = lease_overslept,
		.any = lease_any_own,
		.tell_watchdog = lease_tell_watchdog,
	};
	long ret;

	*why = GUARD_LEASE_PERMITTED;
	if (forbidden)
		return false;
	thread_saved = 0;
	switch (lease_thread_ask(fd, &work)) {
	case LEASE_THREAD_NONE:
		*why = GUARD_LEASE_THREAD;
		return false;
	case LEASE_THREAD_COMING:
		thread_saved = LEASE_THREAD_COST - LEASE_MOMENT;
		*why = GUARD_EARNED;
		return false;
	case LEASE_THREAD_READY:
		break;
	}
	leases_lock_take();
	file->keeper = &lease_alive;
	ret = lease_set(file, fd);
	if (!ret) {
		file->guard_value = LEASE_OWN;
		__atomic_add_fetch(&own_leases, 1, __ATOMIC_RELAXED);
		lease_thread_watch();
	}
	leases_lock_drop();
	if (!ret) {
		__atomic_store_n(&refused, 0, __ATOMIC_RELAXED);
		return true;
	}
	*why = ret == -EAGAIN	? GUARD_READ_ONLY
	       : ret == -EACCES ? GUARD_LEASE_PERMITTED
				: GUARD_FS_CONSTANT;
	if (ret == -EACCES)
		forbidden = lease_is_forbidden(fd);
	return false;
}

/* Asks the daemon for a lease, once a distant file has earned the difference. */
static bool lease_take_distant(struct file *file, int fd, enum guard *why)
{
	if (!file->distant && file->credit < LEASE_DISTANCE && !daemon_preferred()) {
		file->distant = true;
		*why = GUARD_EARNED;
		return false;
	}
	if (!daemon_take(file, fd, why))
		return false;
	__atomic_add_fetch(&distant_leases, 1, __ATOMIC_RELAXED);
	return true;
}

bool lease_take(struct file *file, int fd, enum guard *why)
{
	bool own_first = !daemon_preferred() || !daemon_there();

	file->guard = NULL;
	file->guard_value = 0;
	file->fd = fd;
	if (own_first && !file->distant) {
		if (lease_take_own(file, fd, why))
			return true;
		if ((*why != GUARD_LEASE_PERMITTED && *why != GUARD_LEASE_THREAD) ||
		    !daemon_there())
			return false;
	}
	if (lease_take_distant(file, fd, why))
		return true;
	if (own_first || *why != GUARD_LEASE_PERMITTED)
		return false;
	return lease_take_own(file, fd, why);
}

void lease_return(struct file *file, int fd)
{
	if (!lease_is_own(file)) {
		daemon_drop(file);
		file->guard_value = 0;
		__atomic_sub_fetch(&distant_leases, 1, __ATOMIC_RELAXED);
		return;
	}
	leases_lock_take();
	watchdog_forget(file);
	/* The thread may have returned it already; to do so again does no harm. */
	cosy_syscall3(SYS_fcntl, fd, F_SETLEASE, F_UNLCK);
	__atomic_store_n(&file->guard, NULL, __ATOMIC_RELEASE);
	file->guard_value = 0;
	leases_lock_drop();
	__atomic_sub_fetch(&own_leases, 1, __ATOMIC_RELAXED);
}

int lease_price(const struct file *file)
{
	return file->distant ? LEASE_DISTANCE : 0;
}

bool lease_earned(const struct file *file, int saved)
{
	if (file->distant || lease_thread_ready() || environment_get(ENVIRONMENT_EAGER))
		return true;
	/* The sum may be too low when threads race. */
	if (thread_saved < LEASE_THREAD_COST)
		thread_saved += saved;
	return thread_saved >= LEASE_THREAD_COST;
}

bool lease_any(void)
{
	return lease_any_own() || __atomic_load_n(&distant_leases, __ATOMIC_RELAXED);
}

void lease_return_all(enum guard why)
{
	if (lease_any())
		file_unspecialise_all(why, FOR_NOW);
	daemon_sync();
}

void lease_share_child(void)
{
	leases_lock = 0;
	own_leases = 0;
	distant_leases = 0;
	watchdog_share_child();
}
