/* SPDX-License-Identifier: MIT */
/*
 * step.h - makes each point of an action that may fail do so, one after the other.
 *
 *	POINTS("open", 100) {
 *		step_arm();
 *		fd = open(...);
 *		step_disarm();
 *		JUDGE("open", fd < 0 ? -errno : 0, fd >= 0);
 *		...
 *		step_check_nothing_left();
 *	}
 *
 * The body is run with the first point failing, then the second, until there is none left to fail.
 */
#ifndef STEP_H
#define STEP_H

#include "../guest/script.h"

#define PAGE	   4096UL
#define LOCK_LIMIT (4UL << 20)

enum step_kind { STEP_ALLOCATION = 1, STEP_COPY = 2, STEP_CHECK = 4, STEP_TYPE = 8 };

static enum step_kind step_kind;
static const char *step_name;
static int step_point;	    /* from 1 on */
static bool step_hit;	    /* in this turn, a point failed */
static char step_last[160]; /* its name */
static int step_errors[160];
static int step_nth = -1, step_on = -1, step_told = -1, step_statistics = -1;
static const char *const step_lives[] = { "contexts ", "programs ", "images ", "arenas " };

#define STEP_PARAMETERS "/sys/module/failing/parameters/"

HELPER void step_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

HELPER size_t step_read(int fd, char *to, size_t size)
{
	ssize_t got = pread(fd, to, size - 1, 0);

	MUST(got >= 0);
	to[got] = 0;
	return (size_t)got;
}

/* To be called as root; descriptors stay when the user changes. */
HELPER void step_init(enum step_kind kind)
{
	char text[16];

	step_kind = kind;
	snprintf(text, sizeof(text), "%d", kind);
	step_write(STEP_PARAMETERS "kind", text);
	step_nth = open(STEP_PARAMETERS "nth", O_RDWR | O_CLOEXEC);
	step_on = open(STEP_PARAMETERS "on", O_RDWR | O_CLOEXEC);
	step_told = open(STEP_PARAMETERS "last", O_RDONLY | O_CLOEXEC);
	step_statistics = open("/sys/kernel/debug/cosy/stats", O_RDONLY | O_CLOEXEC);
	MUST(step_nth >= 0 && step_on >= 0 && step_told >= 0 && step_statistics >= 0);
}

/* Counts this thread's calls from now on. */
HELPER void step_arm_at(int point)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%d", point);

	MUST(pwrite(step_nth, text, (size_t)length, 0) == length);
}

/* Says whether all calls after a point fail, too, as when there is no memory at all. */
HELPER void step_all_that_follows(bool on)
{
	MUST(pwrite(step_on, on ? "1" : "0", 1, 0) == 1);
}

HELPER void step_arm(void)
{
	step_arm_at(step_point);
}

HELPER void step_disarm(void)
{
	char text[16];

	step_read(step_nth, text, sizeof(text));
	step_hit = !atoi(text);
	step_arm_at(0);
	step_read(step_told, step_last, sizeof(step_last));
	step_last[strcspn(step_last, "\n")] = 0;
}

/* Returns how many of it the module has. */
HELPER int step_live(const char *what)
{
	char text[16384], *at;

	step_read(step_statistics, text, sizeof(text));
	at = strstr(text, what);
	MUST(at);
	return atoi(at + strlen(what));
}

/*
 * Checks that nothing is left but what is kept for the user's next process, which step.c turns off.
 */
HELPER void step_check_nothing_left(void)
{
	for (size_t i = 0; i < COUNT(step_lives); i++) {
		/* A kernel worker frees some of it, which takes a moment. */
		for (int tries = 0; step_live(step_lives[i]) && tries < 500; tries++)
			sleep_ms(2);
		CHECK(!step_live(step_lives[i]), "%s, point %d: %s%d; %s", step_name, step_point,
		      step_lives[i], step_live(step_lives[i]), step_last);
	}
}

/* Returns the status with which a child ends that does this. */
HELPER int step_in_child(int (*f)(void))
{
	pid_t pid = child_start();
	int status;

	if (!pid)
		_exit(f());
	MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Checks that memory has zeros, a look at each page. */
HELPER void check_zeros(const char *memory, size_t size)
{
	for (size_t i = 0; i < size; i += PAGE)
		if (memory[i]) {
			CHECK(0, "%s, point %d: not zeros at %zu", step_name, step_point, i);
			return;
		}
}

/* Checks that all of the user's locked memory can be had: nothing is still charged. */
HELPER void check_nothing_charged(void)
{
	int fd = raw_open();

	munmap(raw_buffer(fd, LOCK_LIMIT), LOCK_LIMIT);
	close(fd);
}

/* True for the errors that the kind of failure stands for. */
HELPER bool step_allows(long error)
{
	switch (step_kind) {
	case STEP_ALLOCATION:
		return error == -ENOMEM;
	case STEP_COPY:
		return error == -EFAULT;
	default:
		return error == -EPERM || error == -EIO || error == -EROFS || error == -EPIPE ||
		       error == -EINVAL || error == -EACCES;
	}
}

/*
 * Checks that the result is good, or an error that tells what happened; with no failure only good.
 */
#define JUDGE(what, ret, good)                                                                     \
	do {                                                                                       \
		long ret_ = (ret);                                                                 \
		if (ret_ < 0 && ret_ > -(long)COUNT(step_errors))                                  \
			step_errors[-ret_]++;                                                      \
		CHECK((good) || (step_hit && step_allows(ret_)), "%s, point %d: %s is %ld; %s",    \
		      step_name, step_point, what, ret_, step_last);                               \
	} while (0)

HELPER bool step_more(int most)
{
	if (step_point && !step_hit) {
		printf("%s: %d points;", step_name, step_point - 1);
		for (int i = 1; i < (int)COUNT(step_errors); i++)
			if (step_errors[i])
				printf(" %s x%d", strerrorname_np(i), step_errors[i]);
		printf("\n");
		return false;
	}
	CHECK(step_point < most, "%s: more than %d points, the last was %s", step_name, most,
	      step_last);
	return step_point++ < most;
}

#define POINTS(name, most)                                                                         \
	for (step_name = (name), step_point = 0, step_hit = false,                                 \
	    memset(step_errors, 0, sizeof(step_errors));                                           \
	     step_more(most);)

#endif /* STEP_H */
