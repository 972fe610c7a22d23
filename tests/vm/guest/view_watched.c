/* SPDX-License-Identifier: MIT */
/*
 * Views files of which fanotify(7) asks: each read is asked about, once, and refused where it is
 * denied.  Meanwhile whoever is asked changes what the region has found by then, or lets others
 * come in between, which shows what is looked at afterwards, and what a region holds.
 */
#include "script.h"
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/fanotify.h>
#include <sys/mount.h>

enum { PAGE = 4096, PAGES = 16, SIZE = PAGES * PAGE, PART = 100, VIEWS = 8, HELD = 4 };

static char text[SIZE];
static int plain; /* has the text, and nobody asks about it */
static int group; /* asks about the file "asked" */
static int asked; /* questions of the region at hand */

/* Shared with the region's process, and with one that reads by the same position. */
static struct others {
	_Atomic pid_t pid;
	_Atomic bool go;
	long result;
	char bytes[SIZE];
} *others;

static int make(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);

	MUST(fd >= 0 && write(fd, text, SIZE) == SIZE && !lseek(fd, 0, SEEK_SET));
	return fd;
}

/* Makes the ordinary read that a RUN begins with. */
static void begin(void)
{
	script_begin();
	SYS(pread64, plain, script_buffer + SCRIPT_BUFFER - 8, 1, 0);
}

/*
 * Runs the region in a process of its own, which opens "asked" itself, and answers what is asked.
 * Before each answer, the change is made; it says what the answer is.
 */
static void watched(void (*region)(int fd), uint32_t (*change)(void))
{
	pid_t pid = child_start();
	int status;

	if (!pid) {
		int fd = open("asked", O_RDWR);

		MUST((fd >= 0 || (fd = open("asked", O_RDONLY | O_DIRECTORY)) >= 0));
		script_init();
		region(fd);
		_exit(check_end());
	}
	asked = 0;
	while (!has_ended(pid)) {
		struct fanotify_event_metadata event;
		struct fanotify_response answer;

		if (poll(&(struct pollfd){ .fd = group, .events = POLLIN }, 1, 10) != 1)
			continue;
		MUST(read(group, &event, sizeof(event)) == sizeof(event));
		asked++;
		answer.response = change();
		answer.fd = event.fd;
		MUST(write(group, &answer, sizeof(answer)) == sizeof(answer) && !close(event.fd));
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
}

/* Makes a new file "asked", about which is asked. */
static void ask_anew(void)
{
	unlink("asked");
	MUST(!close(make("asked")));
	MUST(!fanotify_mark(group, FAN_MARK_ADD, FAN_ACCESS_PERM, AT_FDCWD, "asked"));
}

/* --- Answers ------------------------------------------------------------------------------- */

static uint32_t second_denied(void)
{
	return asked == 2 ? FAN_DENY : FAN_ALLOW;
}

static void allowed_and_denied(int fd)
{
	char *b = script_buffer;
	int r[5];

	begin();
	r[0] = OP(view_pread, fd, b, PART, 0);
	r[1] = OP(view_pread, fd, b + PART, PART, PART);
	r[2] = OP(view_pread, fd, b + 2 * PART, PART, 0);
	r[3] = OP(view_pread, fd, b, PART, SIZE);
	script_run();
	CHECK_RESULT(r[0], PART);
	CHECK_RESULT(r[1], -EPERM);
	CHECK_RESULT(r[2], PART);
	CHECK_RESULT(r[3], 0);
	CHECK(!memcmp(b, text, PART) && !b[PART] && !memcmp(b + 2 * PART, text, PART), "bytes");
}

static uint32_t all_denied(void)
{
	return FAN_DENY;
}

static void denied_at_the_end(int fd)
{
	int r;

	begin();
	r = OP(view_pread, fd, script_buffer, PART, SIZE);
	script_run();
	CHECK_RESULT(r, -EPERM);
}

/* A file whose pages somebody holds cannot be sealed against writing. */
static void released(int unused)
{
	int memory = memfd_create("view", MFD_ALLOW_SEALING), beside = memfd_create("beside", 0),
	    fd, r;
	char path[32];

	(void)unused;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	MUST(memory >= 0 && write(memory, text, SIZE) == SIZE && beside >= 0);
	MUST(!fanotify_mark(group, FAN_MARK_ADD, FAN_ACCESS_PERM, AT_FDCWD, path));
	MUST((fd = open(path, O_RDONLY)) >= 0);
	script_begin();
	SYS(pread64, beside, script_buffer, 1, 0);
	r = OP(view_pread, fd, script_buffer, 3 * PAGE, 0);
	script_run();
	CHECK_RESULT(r, -EPERM);
	CHECK(!fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE), "pages are held: %s", strerror(errno));
	close(fd);
	close(memory);
	close(beside);
}

/* --- Changes of the file that is read -------------------------------------------------------- */

static uint32_t truncated(void)
{
	MUST(!truncate("asked", PAGE + PART));
	return FAN_ALLOW;
}

static void reads_truncated(int fd)
{
	char *b = script_buffer;
	int r;

	memset(b, 'Z', 3 * PAGE);
	begin();
	r = OP(view_pread, fd, b, 2 * PAGE, 0);
	script_run();
	CHECK_RESULT(r, PAGE + PART);
	CHECK(!memcmp(b, text, PAGE + PART) && b[PAGE + PART] == 'Z', "bytes");
}

static uint32_t punched(void)
{
	int fd = open("asked", O_WRONLY);

	MUST(fd >= 0 && !fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGE, PAGE));
	close(fd);
	return FAN_ALLOW;
}

static void reads_punched(int fd)
{
	static const char zeros[PAGE];
	char *b = script_buffer;
	int r;

	begin();
	r = OP(view_pread, fd, b, 3 * PAGE, 0);
	script_run();
	CHECK_RESULT(r, 3 * PAGE);
	CHECK(!memcmp(b, text, PAGE) && !memcmp(b + PAGE, zeros, PAGE) &&
		      !memcmp(b + 2 * PAGE, text + 2 * PAGE, PAGE),
	      "bytes of a hole");
}

/* --- Changes of files of which there are views ------------------------------------------------- */

static uint32_t overwritten(void)
{
	static char other[SIZE];

	memset(other, '#', sizeof(other));
	MUST(pwrite(plain, other, SIZE, 0) == SIZE);
	return FAN_ALLOW;
}

/* All but the last views are in memory by then. */
static void views_many(int fd)
{
	char *b = script_buffer;
	int r[VIEWS];

	begin();
	for (int i = 0; i < VIEWS; i++)
		r[i] = OP(view_pread, plain, b + 2 * i * PAGE, PAGE, i * PAGE);
	OP(view_pread, fd, b + 2 * VIEWS * PAGE, PART, 0);
	script_run();
	for (int i = 0; i < VIEWS; i++) {
		CHECK_RESULT(r[i], PAGE);
		CHECK(i >= VIEWS - HELD || !memcmp(b + 2 * i * PAGE, text + i * PAGE, PAGE),
		      "view %d was held with %d later ones", i, VIEWS - i - 1);
	}
	MUST(pwrite(plain, text, SIZE, 0) == SIZE);
}

static uint32_t shortened(void)
{
	MUST(!ftruncate(plain, PAGE + PART));
	return FAN_ALLOW;
}

/* Appends another view where one is, since the file has become shorter. */
static void appends(int fd)
{
	char *b = script_buffer;
	int to = open("plain", O_WRONLY | O_APPEND), r;

	MUST(to >= 0 && lseek(to, 8 * PAGE, SEEK_SET) == 8 * PAGE);
	begin();
	OP(view_pread, plain, b, PAGE, PAGE);
	OP(view_pread, fd, b + 2 * PAGE, PART, 0);
	r = SYS(write, to, b + 2 * PAGE, PART);
	script_run();
	CHECK_RESULT(r, PART);
	CHECK(!memcmp(b, text + PAGE, PART) && memcmp(b + PART, text, PART),
	      "what was appended shows in what was read before");
	CHECK(lseek(plain, 0, SEEK_END) == PAGE + 2 * PART, "size");
	MUST(pwrite(plain, text, SIZE, 0) == SIZE && !close(to));
}

/* --- A directory that is closed by another thread ---------------------------------------------- */

static int scanned;

static void *closes(void *unused)
{
	WAIT_FOR(0, others->go);
	MUST(!close(scanned));
	others->result = 1;
	return unused;
}

/* Has the thread close the directory that was scanned, and unmounts what it was on. */
static uint32_t unmounted(void)
{
	others->go = true;
	WAIT_FOR(0, others->result);
	CHECK(!umount("mounted"), "the mount is still in use: %s", strerror(errno));
	return FAN_ALLOW;
}

/* Scans a directory, and reads while it goes; the kernel's log tells of entries that were kept. */
static void scans(int fd)
{
	char *b = script_buffer;
	pthread_t thread;
	int r[2];

	others->go = false;
	others->result = 0;
	scanned = open("mounted", O_RDONLY | O_DIRECTORY);
	MUST(scanned >= 0 && !pthread_create(&thread, NULL, closes, NULL));
	begin();
	r[0] = OP(scan_dir, scanned, b, 2 * PAGE, AT_SYMLINK_NOFOLLOW);
	r[1] = OP(view_pread, fd, b + 2 * PAGE, PART, 0);
	script_run();
	MUST(!pthread_join(thread, NULL));
	CHECK(script_result[r[0]] > 0, "%lld", (long long)script_result[r[0]]);
	CHECK_RESULT(r[1], PART);
}

static void mounts(void)
{
	char path[32];

	MUST(!mkdir("mounted", 0700) && !mount("none", "mounted", "tmpfs", 0, NULL));
	for (int i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), "mounted/%d", i);
		MUST(!close(open(path, O_CREAT | O_WRONLY, 0600)));
	}
	ask_anew();
	watched(scans, unmounted);
	CHECK(asked == 1, "asked %d times", asked);
	MUST(!rmdir("mounted"));
}

/* --- Others who share the position ------------------------------------------------------------- */

/* Lets the other process go on as far as it can, which is to the lock of the position. */
static uint32_t other_comes(void)
{
	if (asked > 1)
		return FAN_ALLOW;
	others->go = true;
	WAIT_FOR(0, is_blocked(others->pid));
	CHECK(!poll(&(struct pollfd){ .fd = group, .events = POLLIN }, 1, 0),
	      "another one is asked before the first has its answer");
	return FAN_ALLOW;
}

/* Starts a process that reads or lists by this position when it is told to. */
static void other_start(int fd, int call)
{
	pid_t pid;

	others->go = false;
	pid = child_start();
	if (!pid) {
		WAIT_FOR(0, others->go);
		others->result = syscall(call, fd, others->bytes, 200);
		_exit(0);
	}
	/* Not by the child, whose 0 the listener might see. */
	others->pid = pid;
}

static void other_end(void)
{
	MUST(waitpid(others->pid, NULL, 0) == others->pid);
}

static void reads_in_turn(int fd)
{
	char *b = script_buffer;
	int r;

	other_start(fd, SYS_read);
	begin();
	r = OP(view_read, fd, b, PART);
	script_run();
	other_end();
	CHECK_RESULT(r, PART);
	CHECK(others->result == 200, "%ld", others->result);
	CHECK(!memcmp(b, text, PART) && !memcmp(others->bytes, text + PART, 200),
	      "both read the same bytes");
}

static void lists_in_turn(int fd)
{
	char *b = script_buffer;
	int r;

	other_start(fd, SYS_getdents64);
	begin();
	r = SYS(getdents64, fd, b, 200);
	script_run();
	other_end();
	CHECK(script_result[r] > 0 && others->result > 0, "%lld and %ld",
	      (long long)script_result[r], others->result);
	CHECK(strcmp(((struct dirent64 *)b)->d_name, ((struct dirent64 *)others->bytes)->d_name),
	      "both listed the same entries");
}

/* --- All --------------------------------------------------------------------------------------- */

static void listings(void)
{
	char path[32];

	unlink("asked");
	MUST(!mkdir("asked", 0700));
	for (int i = 0; i < 30; i++) {
		snprintf(path, sizeof(path), "asked/%d", i);
		MUST(!close(open(path, O_CREAT | O_WRONLY, 0600)));
	}
	MUST(!fanotify_mark(group, FAN_MARK_ADD, FAN_ACCESS_PERM | FAN_ONDIR, AT_FDCWD, "asked"));
	watched(lists_in_turn, other_comes);
	CHECK(asked == 2, "asked %d times", asked);
	for (int i = 0; i < 30; i++) {
		snprintf(path, sizeof(path), "asked/%d", i);
		MUST(!unlink(path));
	}
	MUST(!rmdir("asked"));
}

static const struct {
	void (*region)(int fd);
	uint32_t (*change)(void);
	int asked; /* how often, or 0: that depends */
} cases[] = {
	{ allowed_and_denied, second_denied, 4 },
	{ denied_at_the_end, all_denied, 1 },
	{ released, all_denied, 1 },
	{ reads_truncated, truncated, 0 },
	{ reads_punched, punched, 0 },
	{ views_many, overwritten, 1 },
	{ appends, shortened, 1 },
	{ reads_in_turn, other_comes, 2 },
};

int main(void)
{
	if (geteuid())
		SKIP("only root is asked about reads");
	group = fanotify_init(FAN_CLASS_CONTENT, O_RDONLY);
	if (group < 0)
		SKIP("no fanotify: %s", strerror(errno));
	chance_init();
	others = shared_memory(sizeof(*others));
	directory_enter();
	for (int i = 0; i < SIZE; i++)
		text[i] = (char)('a' + chance(26));
	plain = make("plain");
	for (size_t i = 0; i < COUNT(cases); i++) {
		ask_anew();
		watched(cases[i].region, cases[i].change);
		CHECK(!cases[i].asked || asked == cases[i].asked, "case %zu: asked %d times", i,
		      asked);
	}
	mounts();
	listings();
	MUST(!close(plain) && !unlink("plain"));
	directory_leave();
	return check_end();
}
