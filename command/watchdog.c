// SPDX-License-Identifier: MIT
/*
 * watchdog.c - the process that returns the leases of a program under `cosy run` while the program
 * is stopped.  The library starts it, with descriptors and a page of memory: run/file/watchdog.h.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../run/file/watchdog.h"
#include "command.h"

/* ms between looks; a writer waits for a stopped program no longer than this. */
#define LOOK_EVERY 500

/* True if the thread that returns leases is stopped, by a signal or by a tracer. */
static bool thread_is_stopped(void)
{
	char text[128];
	ssize_t len = pread(WATCHDOG_STAT, text, sizeof(text) - 1, 0);
	const char *state;

	if (len <= 0)
		return false;
	text[len] = 0;
	/* The state follows the name, which the library has chosen. */
	state = strrchr(text, ')');
	return state && state[1] == ' ' && (state[2] == 'T' || state[2] == 't');
}

/*
 * Returns the lease on the file of the program's descriptor `fd`, if that is still the leased file.
 */
static void lease_give_back(struct watchdog_page *page, unsigned int number, int32_t fd)
{
	int fetched = (int)syscall(SYS_pidfd_getfd, WATCHDOG_PROCESS, fd - 1, 0);

	if (fetched < 0)
		return;
	/*
	 * The program clears this before it closes the descriptor, and sets it while `turn` is
	 * even.
	 */
	if (__atomic_load_n(&page->fds[number], __ATOMIC_SEQ_CST) == fd) {
		__atomic_store_n(&page->words[number], 0, __ATOMIC_SEQ_CST);
		fcntl(fetched, F_SETLEASE, F_UNLCK);
	}
	close(fetched);
}

static void leases_give_back(struct watchdog_page *page)
{
	bool begun = false;

	for (unsigned int number = 0; number < FILES; number++) {
		int32_t fd = __atomic_load_n(&page->fds[number], __ATOMIC_SEQ_CST);

		if (!fd || !__atomic_load_n(&page->words[number], __ATOMIC_SEQ_CST))
			continue;
		if (!begun) {
			__atomic_add_fetch(&page->turn, 1, __ATOMIC_SEQ_CST);
			begun = true;
			fd = __atomic_load_n(&page->fds[number], __ATOMIC_SEQ_CST);
		}
		if (fd)
			lease_give_back(page, number, fd);
	}
	if (begun)
		__atomic_add_fetch(&page->turn, 1, __ATOMIC_SEQ_CST);
}

int command_watchdog(void)
{
	struct pollfd life = {.fd = WATCHDOG_LIFE, .events = POLLIN};
	struct watchdog_page *page =
		mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, WATCHDOG_PAGE, 0);

	if (page == MAP_FAILED || page->version != WATCHDOG_VERSION)
		return EXIT_BAD;
	/* Leave what stops the program, its terminal's ^Z, and its directory. */
	setsid();
	if (chdir("/"))
		return EXIT_BAD;
	prctl(PR_SET_NAME, WATCHDOG_NAME);
	__atomic_store_n(&page->number, (uint32_t)getpid(), __ATOMIC_SEQ_CST);
	while (!poll(&life, 1, LOOK_EVERY))
		if (thread_is_stopped())
			leases_give_back(page);
	__atomic_store_n(&page->number, 0, __ATOMIC_SEQ_CST);
	return EXIT_FINE;
}
