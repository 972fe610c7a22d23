/* SPDX-License-Identifier: MIT */
/*
 * Takes attributes of names below directories, in the order of those directories, so that the way and
 * the next entry are those of the name before: results are those of the calls themselves, also for
 * names that go another way, and when another process or thread changes something in between.
 */
#include "change.h"
#include "guards.h"
#include <pthread.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/syscall.h>

enum { NAMES = 16, TURNS = 40, MAX_SPINS = 20000, SIZE = 64, MANY = 80 };

/* The sizes of the files in each directory. */
enum { SIZE_A = 1, SIZE_B, SIZE_ALIKE, SIZE_BELOW };

/* The names of a and b, the last one that was made first, as a directory lists them. */
static char names[NAMES][SIZE], inside[3][NAMES][SIZE];
static struct stat got[NAMES];
static long results[NAMES];
static int here; /* the directory of all this */

static void file_make(const char *path, int size)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0644);

	MUST(fd >= 0 && !ftruncate(fd, size) && !close(fd));
}

static void files_make(const char *format, int size)
{
	for (int i = NAMES - 1; i >= 0; i--) {
		char path[2 * SIZE];

		snprintf(path, sizeof(path), format, names[i]);
		file_make(path, size);
	}
}

static void files_remove(const char *format)
{
	for (int i = 0; i < NAMES; i++) {
		char path[2 * SIZE];

		snprintf(path, sizeof(path), format, names[i]);
		CHECK(!unlink(path), "%s", path);
	}
}

static void tree_make(void)
{
	MUST(!mkdir("a", 0755) && !mkdir("b", 0755) && !mkdir("sub", 0755) &&
	     !mkdir("sub/a", 0755));
	for (int i = 0; i < NAMES; i++) {
		memset(names[i], 'a' + i, i + 1);
		snprintf(inside[0][i], SIZE, "a/%s", names[i]);
		snprintf(inside[1][i], SIZE, "b/%s", names[i]);
		/* Differs from the first by the slash alone. */
		snprintf(inside[2][i], SIZE, "a.%s", names[i]);
	}
	files_make("a/%s", SIZE_A);
	files_make("b/%s", SIZE_B);
	files_make("a.%s", SIZE_ALIKE);
	files_make("sub/a/%s", SIZE_BELOW);
}

static void tree_remove(void)
{
	files_remove("a/%s");
	files_remove("b/%s");
	files_remove("a.%s");
	files_remove("sub/a/%s");
	CHECK(!rmdir("sub/a") && !rmdir("sub") && !rmdir("a") && !rmdir("b"), "cleaning up");
}

/* Asks for the names of one directory, but at each fourth one for that in another place. */
static void in_order(const char *what, char (*one)[SIZE], char (*other)[SIZE])
{
	struct cosy_stats before = counts();
	int wanted = one[0][0] == 'b' ? SIZE_B : SIZE_A;

	COSY_START;
	for (int i = 0; i < NAMES; i++)
		results[i] = lstat(i % 4 == 3 ? other[i] : one[i], &got[i]);
	COSY_END;
	for (int i = 0; i < NAMES; i++) {
		int size = i % 4 != 3		? wanted
			   : other[0][1] == '.' ? SIZE_ALIKE
			   : other[0][0] == 'b' ? SIZE_B
						: SIZE_A;

		CHECK(!results[i] && got[i].st_size == size, "%s, %s: %ld, size %lld, not %d", what,
		      names[i], results[i], (long long)got[i].st_size, size);
	}
	CHECK_FAST(before, NAMES - 2);
}

/* Goes from another directory, by a descriptor, a way of the same names. */
static void from_below(void)
{
	struct cosy_stats before = counts();
	int sub = open("sub", O_RDONLY | O_DIRECTORY);
	struct stat st;
	long wrong = 0;

	MUST(sub >= 0);
	COSY_START;
	for (int i = 0; i < NAMES; i++) {
		if (i % 4 == 3)
			wrong += lstat(inside[0][i], &st) || st.st_size != SIZE_A;
		else
			wrong += fstatat(sub, inside[0][i], &st, AT_SYMLINK_NOFOLLOW) ||
				 st.st_size != SIZE_BELOW;
	}
	COSY_END;
	close(sub);
	CHECK(!wrong, "%ld wrong", wrong);
	CHECK_FAST(before, NAMES - 2);
}

/* Follows links among the names. */
static void links(void)
{
	struct stat st;
	long wrong = 0;

	MUST(!mkdir("links", 0755));
	for (int i = NAMES - 1; i >= 0; i--) {
		char path[2 * SIZE], target[2 * SIZE];

		snprintf(path, sizeof(path), "links/%s", names[i]);
		snprintf(target, sizeof(target), "../a/%s", names[i]);
		if (i % 4 == 3)
			MUST(!symlink(target, path));
		else
			file_make(path, SIZE_B);
		snprintf(inside[1][i], SIZE, "links/%s", names[i]);
	}
	COSY_START;
	for (int i = 0; i < NAMES; i++)
		wrong += stat(inside[1][i], &st) || st.st_size != (i % 4 == 3 ? SIZE_A : SIZE_B);
	COSY_END;
	CHECK(!wrong, "%ld wrong", wrong);
	for (int i = 0; i < NAMES; i++) {
		unlink(inside[1][i]);
		snprintf(inside[1][i], SIZE, "b/%s", names[i]);
	}
	CHECK(!rmdir("links"), "cleaning up");
}

/* Asks about each name twice: a stat, and an open of what was found. */
static void twice(void)
{
	struct cosy_stats before = counts();
	struct stat st;
	long wrong = 0;

	COSY_START;
	for (int i = 0; i < NAMES; i++) {
		int fd;

		wrong += lstat(inside[0][i], &st) || st.st_size != SIZE_A;
		fd = open(inside[0][i], O_RDONLY);
		wrong += fd < 0 || fstat(fd, &st) || st.st_size != SIZE_A || close(fd);
	}
	COSY_END;
	CHECK(!wrong, "%ld wrong", wrong);
	/* On Linux 6.1 the compound leaves after each close. */
	CHECK_FAST(before, 3 * NAMES - 3);
}

/* --- Changed in between -------------------------------------------------------------------- */

static void exchange(unsigned int turn)
{
	(void)turn;
	if (syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", 2))
		_exit(1);
}

/* The file systems' user is another one in the process that is forbidden to search. */
static void forbid(unsigned int turn)
{
	setfsuid(geteuid());
	if (chmod("a", turn % 2 ? 0 : 0755))
		_exit(1);
}

static void forbid_here(unsigned int turn)
{
	setfsuid(geteuid());
	if (fchmod(here, turn % 2 ? 0 : 0755))
		_exit(1);
}

static void mount_over(unsigned int turn)
{
	if (turn % 2 ? mount("b", "a", NULL, MS_BIND, NULL) : umount2("a", MNT_DETACH))
		_exit(1);
}

static void mount_over_file(unsigned int turn)
{
	if (turn % 2 ? mount(inside[1][3], inside[0][3], NULL, MS_BIND, NULL)
		     : umount2(inside[0][3], MNT_DETACH))
		_exit(1);
}

static void exchange_file(unsigned int turn)
{
	(void)turn;
	if (syscall(SYS_renameat2, AT_FDCWD, inside[0][3], AT_FDCWD, inside[1][3], 2))
		_exit(1);
}

static void go_below(unsigned int turn)
{
	if (chdir(turn % 2 ? "sub" : ".."))
		_exit(1);
}

/*
 * Checks that the call after a change finds what is there now: a file of `size` bytes, or the negative
 * errno, after each first change, and that of a after each second one.
 */
static void turns(const char *what, long size)
{
	unsigned long late = 0, followed = 0;

	for (unsigned int turn = 1; turn <= TURNS; turn++) {
		unsigned int done = 0;
		struct stat st;
		long found;

		COSY_START;
		for (int i = 0; i < 3; i++)
			lstat(inside[0][i], &st);
		change->asked = turn;
		for (int i = 0; i < MAX_SPINS && !done; i++)
			done = change->done == turn;
		found = lstat(inside[0][3], &st) ? -errno : st.st_size;
		COSY_END;
		followed += done;
		late += done && found != (turn % 2 ? size : SIZE_A);
		while (change->done != turn)
			usleep(100);
	}
	CHECK(followed && !late, "%s: %lu followed, %lu late", what, followed, late);
}

static void follow(const char *what, void (*make)(unsigned int), long size)
{
	pid_t pid = changes_start(make);

	turns(what, size);
	changes_stop(pid);
}

static void *thread_changes(void *make)
{
	while (!change->end) {
		unsigned int asked = change->asked;

		if (asked != change->done) {
			((void (*)(unsigned int))make)(asked);
			change->done = asked;
		}
		sched_yield();
	}
	return NULL;
}

/* Threads share the current directory. */
static void follow_thread(void)
{
	pthread_t thread;

	change->asked = change->done = 0;
	change->end = false;
	MUST(!pthread_create(&thread, NULL, thread_changes, (void *)go_below));
	turns("another directory", SIZE_BELOW);
	change->end = true;
	MUST(!pthread_join(thread, NULL));
}

static void unmount(unsigned int turn)
{
	(void)turn;
	if (umount2("m", 0))
		_exit(1);
}

/* A mount on another way is given back once so many names in order did not go that way. */
static void mount_idle(void)
{
	unsigned int done = 0;
	long failed = 0;
	char path[SIZE];
	struct stat st;
	pid_t pid;

	MUST(!mkdir("m", 0755) && !mkdir("many", 0755) && !mount("none", "m", "tmpfs", 0, NULL));
	MUST(!mkdir("m/d", 0755));
	file_make("m/d/x", 1);
	for (int i = MANY - 1; i >= 0; i--) {
		snprintf(path, sizeof(path), "many/%03d", i);
		file_make(path, 1);
	}
	pid = changes_start(unmount);
	COSY_START;
	for (int i = 0; i < 4; i++)
		failed += lstat("m/d/x", &st);
	for (int i = 0; i < MANY; i++) {
		char name[] = "many/000";

		name[6] += i / 10;
		name[7] += i % 10;
		failed += lstat(name, &st);
	}
	change->asked = 1;
	for (int i = 0; i < MAX_SPINS && !done; i++)
		done = change->done == 1;
	failed += lstat("many/000", &st);
	COSY_END;
	/* In a busy machine the other process may come to it later, when nothing is held any more. */
	while (change->done != 1 && !waitpid(pid, NULL, WNOHANG))
		usleep(100);
	CHECK(!failed && change->done == 1, "%ld failed, unmounted: %u", failed, change->done);
	changes_stop(pid);
	umount2("m", MNT_DETACH);
	for (int i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "many/%03d", i);
		unlink(path);
	}
	CHECK(!rmdir("many") && !rmdir("m"), "cleaning up");
}

static void following(void)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		printf("nobody changes anything meanwhile with one processor: not tested\n");
		return;
	}
	change = shared_memory(sizeof(*change));
	follow("directories exchanged", exchange, SIZE_B);
	if (!geteuid()) {
		follow("mounted over", mount_over, SIZE_B);
		follow("file mounted over", mount_over_file, SIZE_B);
		mount_idle();
		/* The owner may always search, unless the user is another one. */
		setfsuid(65534);
	}
	follow("not to be searched", forbid, -EACCES);
	follow("not to be searched here", forbid_here, -EACCES);
	setfsuid(geteuid());
	follow_thread();
	/* Last: the file is not listed between the others any more. */
	follow("file exchanged", exchange_file, SIZE_B);
	munmap(change, sizeof(*change));
}

int main(void)
{
	directory_enter();
	here = open(".", O_RDONLY | O_DIRECTORY);
	MUST(here >= 0 && !fchmod(here, 0755));
	tree_make();
	in_order("in order", inside[0], inside[0]);
	in_order("another way", inside[0], inside[1]);
	in_order("back", inside[1], inside[0]);
	in_order("a name that is alike", inside[0], inside[2]);
	from_below();
	links();
	twice();
	following();
	tree_remove();
	close(here);
	directory_leave();
	return check_end();
}
