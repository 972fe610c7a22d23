// SPDX-License-Identifier: MIT
/*
 * Asks for attributes by name in regions while a thread mounts, unmounts, exchanges, renames and
 * pivots what the names lead to.
 *
 * Each file has a size of its own, which tells it.  The thread counts its changes in `turn`, odd while
 * it makes one, and notes after each what plain calls answer.  So an answer between two looks at
 * `turn` must be that of a state between both; where these are one, it is known.
 */
#include "check.h"
#include "guards.h"
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

enum { LOOKS = 32, TIMES = 24, ANSWERS_EACH = 40 };

static const struct name {
	const char *path;
	bool below; /* below the descriptor of /d that was opened first */
} names[] = {
	{ "/d/f", false }, { "/d/g", false },	 { "d/f", false },    { "f", true },
	{ "g", true },	   { "/d/none", false }, { "/d/e/f", false }, { "d/e/f", false },
	{ "e/f", true },   { "/f", false },	 { "f", false },      { "/d/g", false },
};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

static int directory; /* /d as it was first */

/* --- The thread that changes -------------------------------------------------------------------- */

static int exchange(const char *one, const char *other)
{
	return (int)syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

/* Unmounts when no call is there any more. */
static int unmount(const char *path)
{
	int ret;

	while ((ret = umount2(path, UMOUNT_NOFOLLOW)) && errno == EBUSY)
		sched_yield();
	return ret;
}

/* Makes a change, or takes it back: each follows the one before. */
static int change(unsigned int which)
{
	switch (which) {
	case 0:
		return mount("/m", "/d", NULL, MS_BIND, NULL);
	case 1:
		return unmount("/d");
	case 2:
		return mount("/other", "/d/f", NULL, MS_BIND, NULL);
	case 3:
		return umount2("/d/f", MNT_DETACH);
	case 4:
	case 5:
		return exchange("/d", "/x");
	case 6:
	case 7:
		return exchange("/d/f", "/x/f");
	case 8:
	case 9:
		return exchange("/d/f", "/x/link");
	case 10:
		return (int)syscall(SYS_pivot_root, "/n", "/n/old");
	case 11:
		return (int)syscall(SYS_pivot_root, "/old", "/old/n");
	case 12:
		return rename("/d/g", "/d/none");
	case 13:
		return rename("/d/none", "/d/g");
	case 14:
		return mount("none", "/d/e", "tmpfs", 0, NULL);
	default:
		return unmount("/d/e");
	}
}

enum { CHANGES = 16, TURNS = TIMES * CHANGES };

/* Answers are sizes, or negative errnos. */
static int64_t known[TURNS + 1][NAMES];
static volatile uint64_t turn, answered;
static volatile bool done;

static int64_t answer_of(int ret, const struct stat *st)
{
	return ret ? -errno : S_ISREG(st->st_mode) ? st->st_size : 0;
}

static void note(uint64_t state)
{
	for (int i = 0; i < NAMES; i++) {
		struct stat st;
		long ret = syscall(SYS_newfstatat, names[i].below ? directory : AT_FDCWD,
				   names[i].path, &st, 0);

		known[state][i] = answer_of((int)ret, &st);
	}
}

static void *changer(void *unused)
{
	for (unsigned int i = 0; i < TURNS; i++) {
		uint64_t enough = answered + ANSWERS_EACH;

		while (answered < enough)
			sched_yield();
		__atomic_fetch_add(&turn, 1, __ATOMIC_SEQ_CST);
		if (change(i % CHANGES))
			CHECK(false, "change %u: %s", i % CHANGES, strerror(errno));
		note(i + 1);
		__atomic_fetch_add(&turn, 1, __ATOMIC_SEQ_CST);
	}
	done = true;
	return unused;
}

/* --- The region that asks ----------------------------------------------------------------------- */

struct look {
	uint64_t before, after;
	int64_t answer;
};

static void look(struct look (*looks)[NAMES])
{
	struct stat st;

	COSY_START;
	for (int i = 0; i < LOOKS; i++)
		for (int k = 0; k < NAMES; k++) {
			int ret;

			looks[i][k].before = turn;
			ret = fstatat(names[k].below ? directory : AT_FDCWD, names[k].path, &st, 0);
			looks[i][k].after = turn;
			looks[i][k].answer = ret ? -errno : S_ISREG(st.st_mode) ? st.st_size : 0;
			answered = answered + 1;
		}
	COSY_END;
}

static uint64_t exact, uncertain;

static void check(const struct look *look, int k)
{
	uint64_t first = look->before / 2, last = (look->after + 1) / 2, state;

	exact += first == last;
	uncertain += first != last;
	/* The change that was under way is noted when it is done. */
	while (turn < 2 * last)
		sched_yield();
	for (state = first; state <= last; state++)
		if (known[state][k] == look->answer)
			return;
	CHECK(false,
	      "%s%s: %lld, which is none of the states %llu to %llu (change %llu), first %lld",
	      names[k].below ? "below " : "", names[k].path, (long long)look->answer,
	      (unsigned long long)first, (unsigned long long)last,
	      (unsigned long long)((first + CHANGES - 1) % CHANGES), (long long)known[first][k]);
}

/* --- What the names lead to --------------------------------------------------------------------- */

static void file_new(const char *path)
{
	static off_t size;
	int fd = open(path, O_CREAT | O_WRONLY, 0644);

	MUST(fd >= 0 && !ftruncate(fd, ++size));
	close(fd);
}

static void directory_new(const char *path)
{
	char inside[64];

	MUST(!mkdir(path, 0755));
	snprintf(inside, sizeof(inside), "%s/e", path);
	MUST(!mkdir(inside, 0755));
	for (int i = 0; i < 3; i++) {
		snprintf(inside, sizeof(inside), "%s/%s", path,
			 (const char *[]){ "f", "g", "e/f" }[i]);
		file_new(inside);
	}
}

/* Makes a root of its own, which can be pivoted; the device is there, too. */
static void root_enter(void)
{
	MUST(!mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
	MUST(!mount("none", ".", "tmpfs", 0, NULL) && !chdir(check_directory));
	MUST(!mkdir("dev", 0755) && !mount("/dev", "dev", NULL, MS_BIND, NULL));
	MUST(!mkdir("proc", 0755) && !mount("/proc", "proc", NULL, MS_BIND, NULL));
	MUST(!chroot(".") && !chdir("/"));
	directory_new("/d");
	directory_new("/x");
	directory_new("/m");
	MUST(!symlink("g", "/x/link"));
	file_new("/other");
	file_new("/f");
	MUST(!mkdir("/n", 0755) && !mount("/n", "/n", NULL, MS_BIND, NULL));
	MUST(!mkdir("/n/old", 0755));
	directory_new("/n/d");
	file_new("/n/f");
	directory = open("/d", O_RDONLY | O_DIRECTORY);
	MUST(directory >= 0);
}

static void names_and_mounts(void *unused)
{
	struct look(*looks)[NAMES] = calloc(LOOKS, sizeof(*looks));
	struct cosy_stats before;
	pthread_t thread;

	(void)unused;
	MUST(looks);
	if (unshare(CLONE_NEWNS))
		SKIP("no mounts: %s", strerror(errno));
	root_enter();
	note(0);
	/* The first region opens the device, which is not there in every state. */
	look(looks);
	before = counts();
	MUST(!pthread_create(&thread, NULL, changer, NULL));
	while (!done) {
		look(looks);
		for (int i = 0; i < LOOKS; i++)
			for (int k = 0; k < NAMES; k++)
				check(&looks[i][k], k);
	}
	MUST(!pthread_join(thread, NULL));
	CHECK_KERNEL(before, 1, exact / 2);
	/* How many depends on when changes come: most of them take a name off the fast way. */
	CHECK_FAST(before, TURNS);
	CHECK(exact >= TURNS, "%llu answers with a known state", (unsigned long long)exact);
	printf("%d changes, %llu answers with a known state, %llu with several\n", TURNS,
	       (unsigned long long)exact, (unsigned long long)uncertain);
}

int main(void)
{
	int status;

	directory_enter();
	status = in_child(names_and_mounts, NULL);
	directory_leave();
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return 77;
	CHECK_CHILD(status);
	return check_end();
}
