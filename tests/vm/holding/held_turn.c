// SPDX-License-Identifier: MIT
/*
 * Threads that make READs of one watcher (<linux/cosy_watch.h>) at once: one of them, the owner, has
 * the lock, and another one is the caller.  The caller gives its turn to an owner that waits for the
 * processor, and fails with EAGAIN if the owner runs or sleeps.
 *
 * The owner sleeps in its READ until userfaultfd has the page of its entries.  holding.ko counts how
 * often the caller gives its turn away, and holds it there.
 *
 * As root, on two processors, in argv[1] or TMPDIR.
 */
#include "../guest/check.h"
#include "../guest/watch.h"
#include "holding.h"
#include <limits.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdatomic.h>

/* A READ that meets the tick fails by itself. */
enum { TRIES = 10, PAGE = 4096 };
/* That no READ gives away. */
enum { MANY_TURNS = 10000 };

static struct watcher watcher;

/* A thread that makes one READ. */
struct reader {
	int processor;
	bool is_owner; /* it goes on until its READ is no longer refused */
	void *entries;
	pthread_t thread;
	_Atomic int number; /* the thread's own */
	_Atomic bool goes, done;
	int error;
};

static struct reader owner, caller;

static int entries_get(void *entries)
{
	struct cosy_watch_read read = {
		.size = sizeof(read),
		.dirfd = AT_FDCWD,
		.name = (uintptr_t)"f",
		.entries = (uintptr_t)entries,
		.entries_size = PAGE,
		.count = 1,
	};

	return ioctl(watcher.fd, COSY_IOC_WATCH_READ, &read) ? errno : 0;
}

static void *reader_run(void *argument)
{
	struct reader *reader = argument;

	processor_take(reader->processor);
	reader->number = (int)syscall(SYS_gettid);
	while (!reader->goes)
		sched_yield();
	do
		reader->error = entries_get(reader->entries);
	while (reader->is_owner && reader->error == EAGAIN);
	reader->done = true;
	return NULL;
}

static void reader_begin(struct reader *reader, int processor, void *entries)
{
	memset(reader, 0, sizeof(*reader));
	reader->processor = processor;
	reader->is_owner = reader == &owner;
	reader->entries = entries;
	MUST(!pthread_create(&reader->thread, NULL, reader_run, reader));
	while (!reader->number)
		sched_yield();
}

static void reader_join(struct reader *reader)
{
	MUST(!pthread_join(reader->thread, NULL));
}

static void reader_hold(const struct reader *reader, enum place place, int until)
{
	parameter_set(PARAMETERS "place", place);
	parameter_set(PARAMETERS "until", until);
	parameter_set(PARAMETERS "thread", reader->number);
}

static int held(void)
{
	return parameter(PARAMETERS "asked");
}

static void release(void)
{
	parameter_set(PARAMETERS "until", INT_MAX);
}

/* --- The page of the owner's entries ------------------------------------------------------ */

static int faults;

static void *page_make(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { (uintptr_t)page, PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	MUST(page != MAP_FAILED && faults >= 0);
	MUST(!ioctl(faults, UFFDIO_API, &api) && !ioctl(faults, UFFDIO_REGISTER, &range));
	return page;
}

/* Lets the owner make its READ.  Returns when it sleeps there, and has the lock. */
static void owner_sleep(void)
{
	struct uffd_msg message;

	owner.goes = true;
	MUST(read(faults, &message, sizeof(message)) == sizeof(message));
	MUST(message.event == UFFD_EVENT_PAGEFAULT);
	while (thread_state(owner.number) == 'R')
		sched_yield();
}

/* Ends the owner's sleep. */
static void owner_wake(void)
{
	static char zeros[PAGE] __attribute__((aligned(PAGE)));
	struct uffdio_copy copy = {
		.dst = (uintptr_t)owner.entries,
		.src = (uintptr_t)zeros,
		.len = PAGE,
	};

	MUST(!ioctl(faults, UFFDIO_COPY, &copy));
}

/* --- Cases: each returns whether all was as expected --------------------------------------- */

static char own_entries[PAGE];

/* The owner may need something of the caller's to go on. */
static bool owner_sleeps(void)
{
	reader_begin(&owner, 0, page_make());
	reader_begin(&caller, 1, own_entries);
	owner_sleep();
	reader_hold(&caller, PLACE_TURN, INT_MAX);
	caller.goes = true;
	reader_join(&caller);
	CHECK(held() == 1, "%d turns were given away", held());
	CHECK(caller.error == EAGAIN, "the caller's error is %d", caller.error);
	owner_wake();
	reader_join(&owner);
	return true;
}

/* Its READ goes on by itself. */
static bool owner_runs(void)
{
	reader_begin(&owner, 0, own_entries);
	reader_begin(&caller, 1, own_entries);
	reader_hold(&owner, PLACE_LOCK, 0);
	owner.goes = true;
	while (held() < 1)
		sched_yield();
	caller.goes = true;
	reader_join(&caller);
	CHECK(caller.error == EAGAIN, "the caller's error is %d", caller.error);
	release();
	reader_join(&owner);
	return true;
}

/* The caller has the processor on which the owner, which was woken, is to run. */
static bool owner_waits(void)
{
	reader_begin(&owner, 0, page_make());
	reader_begin(&caller, 0, own_entries);
	owner_sleep();
	reader_hold(&caller, PLACE_TURN, 0);
	caller.goes = true;
	while (held() < 1 && !caller.done)
		sched_yield();
	CHECK(held() == 1, "no turn was given away");
	owner_wake();
	release();
	reader_join(&caller);
	reader_join(&owner);
	return !caller.error;
}

/* The owner leaves the READ after the caller has found it there. */
static bool owner_leaves(void)
{
	reader_begin(&owner, 1, page_make());
	reader_begin(&caller, 0, own_entries);
	owner_sleep();
	reader_hold(&caller, PLACE_TURN, 0);
	caller.goes = true;
	while (held() < 1 && !caller.done)
		sched_yield();
	owner_wake();
	reader_join(&owner);
	/* No turn can be given to it. */
	while (thread_state(owner.number))
		sched_yield();
	release();
	reader_join(&caller);
	return !caller.error;
}

/*
 * The owner waits for a processor that this thread, which it cannot displace, does not leave.  On a
 * host that is busy the kernel may let it run nevertheless: then the caller's READ succeeds.
 */
static bool owner_starves(void)
{
	struct sched_param priority = { .sched_priority = 1 };
	bool refused;

	reader_begin(&owner, 1, page_make());
	reader_begin(&caller, 0, own_entries);
	owner_sleep();
	reader_hold(&caller, PLACE_TURN, INT_MAX);
	MUST(!sched_setscheduler(0, SCHED_FIFO, &priority));
	owner_wake();
	caller.goes = true;
	while (!caller.done && held() < MANY_TURNS)
		;
	CHECK(held() < MANY_TURNS, "the caller goes on giving its turn away");
	priority.sched_priority = 0;
	MUST(!sched_setscheduler(0, SCHED_OTHER, &priority));
	refused = caller.error == EAGAIN && held() > 1;
	reader_join(&caller);
	reader_join(&owner);
	return refused;
}

static const struct {
	const char *name;
	bool (*run)(void);
} cases[] = {
	{ "owner that sleeps", owner_sleeps },	 { "owner that runs", owner_runs },
	{ "owner that waits", owner_waits },	 { "owner that leaves", owner_leaves },
	{ "owner that starves", owner_starves },
};

/* Tries a case in a process of its own.  It was as expected if that ends with status 0. */
static bool case_try(size_t i)
{
	pid_t pid = child_start();
	int status;

	if (!pid) {
		bool succeeded;

		MUST(!watcher_open(&watcher));
		succeeded = cases[i].run();
		_exit(check_end() ? 2 : !succeeded);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	/* A thread was not held until it was to go on: this shows nothing. */
	if (parameter(PARAMETERS "late"))
		return false;
	CHECK(!status || status == 1 << 8, "%s: status %x", cases[i].name, status);
	return !status;
}

int main(int argc, char **argv)
{
	const char *place = argc > 1 ? argv[1] : getenv("TMPDIR");
	int fd;

	holding_begin();
	holds_shorten();
	MUST(!chdir(place ? place : "/tmp") && !mkdir("held_turn", 0755) && !chdir("held_turn"));
	if (watcher_open(&watcher))
		SKIP("there are no watchers: %s", strerror(errno));
	close(watcher.fd);
	fd = open("f", O_CREAT | O_EXCL | O_WRONLY, 0644);
	MUST(fd >= 0 && !close(fd));
	sync();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int tries = 1;

		while (!case_try(i) && tries < TRIES)
			tries++;
		CHECK(tries < TRIES, "%s: not once as expected", cases[i].name);
	}
	return check_end();
}
