/* SPDX-License-Identifier: MIT */
/*
 * Reads a file that is watched by fanotify(7): whoever watches is told of reads made by regions, and
 * is asked about each, as of reads made natively.
 */
#include "guards.h"
#include <stdatomic.h>
#include <sys/fanotify.h>

enum { READS = 32, SIZE = 4096, MORE = 64, LARGE = 1 << 20 };

/* Shared with the process that watches. */
struct watch {
	_Atomic bool denies, grows;
	_Atomic int asked, told, written;
};

/* Makes the file longer while a read of it waits for the answer. */
static void file_grow(void)
{
	char bytes[MORE];
	int fd = open("file", O_WRONLY | O_APPEND);

	memset(bytes, 'y', MORE);
	MUST(fd >= 0 && write(fd, bytes, MORE) == MORE);
	close(fd);
}

static void watch_without_end(struct watch *watch, int group)
{
	for (;;) {
		char events[4096] __attribute__((aligned(8)));
		ssize_t size = read(group, events, sizeof(events));
		struct fanotify_event_metadata *event = (void *)events;

		for (; FAN_EVENT_OK(event, size); event = FAN_EVENT_NEXT(event, size)) {
			struct fanotify_response answer = {
				.fd = event->fd,
				.response = watch->denies ? FAN_DENY : FAN_ALLOW,
			};

			if (event->mask & FAN_ACCESS_PERM) {
				watch->asked++;
				if (watch->grows)
					file_grow();
				MUST(write(group, &answer, sizeof(answer)) == sizeof(answer));
			}
			if (event->mask & FAN_ACCESS)
				watch->told++;
			if (event->mask & FAN_MODIFY)
				watch->written++;
			close(event->fd);
		}
	}
}

/* Reads the file in a region.  Returns how many reads failed as one that is denied. */
static int denied(int fd)
{
	static char bytes[SIZE];
	int failed = 0, wrong = 0;

	COSY_START;
	for (int i = 0; i < READS; i++) {
		ssize_t got = pread(fd, bytes, SIZE, 0);

		if (got == -1 && errno == EPERM)
			failed++;
		else if (got != SIZE || bytes[0] != 'x' || bytes[SIZE - 1] != 'x')
			wrong++;
	}
	COSY_END;
	CHECK(!wrong, "%d reads were neither denied nor right", wrong);
	return failed;
}

/* Reads at the end of the file, which grows meanwhile, and a part before it, into a large buffer. */
static void grows(struct watch *watch, int fd)
{
	static char bytes[LARGE];
	struct cosy_stats before = counts();
	ssize_t at_end, across;

	watch->grows = true;
	COSY_START;
	at_end = pread(fd, bytes, LARGE, SIZE);
	across = pread(fd, bytes, LARGE, SIZE - 1);
	COSY_END;
	watch->grows = false;
	CHECK(at_end == MORE, "read %zd bytes at the end, of %d that came meanwhile", at_end, MORE);
	CHECK(across == 1 + 2 * MORE, "read %zd bytes, not %d", across, 1 + 2 * MORE);
	CHECK(bytes[0] == 'x' && bytes[1] == 'y', "the bytes are not the file's");
	CHECK_FAST(before, 2);
	MUST(!ftruncate(fd, SIZE));
}

static void watched(struct watch *watch, uint64_t what)
{
	int group = fanotify_init(FAN_CLASS_CONTENT, O_RDONLY), fd, failed;
	pid_t pid;

	if (group < 0)
		SKIP("no fanotify: %s", strerror(errno));
	pid = child_start();
	if (!pid)
		watch_without_end(watch, group);
	MUST(!fanotify_mark(group, FAN_MARK_ADD, what, AT_FDCWD, "file"));
	/* Newer kernels ask about files only that were opened since somebody wanted to be asked. */
	MUST((fd = open("file", O_RDWR)) >= 0);
	watch->asked = watch->told = watch->written = 0;
	watch->denies = false;
	failed = denied(fd);
	CHECK(!failed, "%d reads failed that were allowed", failed);
	if (what == FAN_ACCESS_PERM) {
		grows(watch, fd);
		watch->asked -= 2;
		CHECK(watch->asked == READS, "asked %d times of %d", watch->asked, READS);
		watch->denies = true;
		failed = denied(fd);
		CHECK(failed == READS, "%d reads of %d failed that were denied", failed, READS);
	} else {
		/* Events come in their order; of one file several may come as one. */
		MUST(pwrite(fd, "x", 1, 0) == 1);
		WAIT_FOR(pid, watch->written);
		CHECK(watch->told, "nothing was told of reads");
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(group);
	close(fd);
}

int main(void)
{
	struct watch *watch = shared_memory(sizeof(*watch));
	struct cosy_stats before = counts();
	char bytes[SIZE];
	int fd;

	if (geteuid())
		SKIP("only root is asked about reads");
	directory_enter();
	memset(bytes, 'x', SIZE);
	MUST((fd = open("file", O_CREAT | O_RDWR, 0600)) >= 0 && write(fd, bytes, SIZE) == SIZE);
	CHECK(!denied(fd), "reads failed that nobody watches");
	CHECK_FAST(before, READS / 2);
	watched(watch, FAN_ACCESS | FAN_MODIFY);
	watched(watch, FAN_ACCESS_PERM);
	close(fd);
	unlink("file");
	directory_leave();
	return check_end();
}
