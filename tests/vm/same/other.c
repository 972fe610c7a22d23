// SPDX-License-Identifier: MIT
/*
 * other.c - makes changes meanwhile, by another process, and by another thread of the process under
 * test, which shares its descriptors.  There is one change at a time: its index comes on a pipe,
 * and goes back on another when it is made.  The thread hands changes that are the process's on to
 * it, and the process's answers back.
 */
#include <linux/falloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include "same.h"

enum change_op {
	CHANGE_TRUNCATE,
	CHANGE_WRITE,
	CHANGE_APPEND,
	CHANGE_PUNCH,
	CHANGE_RENAME,
	CHANGE_UNLINK,
	CHANGE_CREATE,
	CHANGE_LINK,
	CHANGE_SYMLINK,
	CHANGE_MKDIR,
	CHANGE_RMDIR,
	CHANGE_CHMOD,
	CHANGE_TIMES,
	CHANGE_READ,
	CHANGE_SEEK_SHARED,
	CHANGE_READ_SHARED,
	CHANGE_EVICT,
	CHANGE_ALL, /* these by any user; and by root: */
	CHANGE_MOUNT = CHANGE_ALL,
	CHANGE_UNMOUNT,
	CHANGE_CHOWN,
	CHANGE_OPS,
	/* changes that only the thread makes */
	CHANGE_CLOSE = CHANGE_OPS,
	CHANGE_DUP2,
	CHANGE_SEEK,
	CHANGE_END
};

static const char *const words[] = {
	"truncate", "write", "append",	"punch", "rename", "unlink", "create",	    "link",
	"symlink",  "mkdir", "rmdir",	"chmod", "times",  "read",   "seek shared", "read shared",
	"evict",    "mount", "unmount", "chown", "close",  "dup2",   "seek",
};

static const char *const names[] = { "a",  "b",	   "c",	   "d",	   "e",	   "f",	 "d0",
				     "d1", "d0/a", "d0/b", "d0/x", "d1/a", "l0", "x" };
static const int64_t values[] = { 0, 1, 100, 4095, 4096, 4097, 8192, 20000, 65536, 131072 };
static const int64_t modes[] = { 0, 0644, 0600, 0444, 0755, 0711, 0111 };

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))

static struct {
	int to_process[2], from_process[2], to_thread[2], from_thread[2];
} wires;

void other_generate(struct round *round, struct change *change, char *text)
{
	bool by_thread = draw(round, 3) == 0;

	*change = (struct change){ .by_thread = by_thread,
				   .op = draw(round, round->as_root ? CHANGE_OPS : CHANGE_ALL) };
	if (change->op == CHANGE_MOUNT || change->op == CHANGE_UNMOUNT)
		change->by_thread = by_thread = false; /* for what it keeps open: see unmount */
	/* Another process has other descriptors, and in a region's the library's among them. */
	if (by_thread && round->seed % 2 == 0 && draw(round, 2))
		change->op = CHANGE_OPS + draw(round, CHANGE_END - CHANGE_OPS);
	strcpy(change->name, names[draw(round, COUNT(names))]);
	strcpy(change->name2, names[draw(round, COUNT(names))]);
	change->value = change->op == CHANGE_CHMOD ? modes[draw(round, COUNT(modes))]
						   : values[draw(round, COUNT(values))];
	if (change->op >= CHANGE_CLOSE)
		change->value = FD_FIRST + draw(round, 24);
	snprintf(text, 160, "%s: %s %s %s %lld", by_thread ? "thread" : "process",
		 words[change->op], change->name, change->name2, (long long)change->value);
}

static int64_t errno_of(int64_t result)
{
	return result < 0 ? -errno : result;
}

/* Makes a change to the file, opened for it. */
static int64_t on_file(int root, struct change *change)
{
	int fd = openat(root, change->name,
			(change->op == CHANGE_READ ? O_RDONLY : O_WRONLY) | O_NONBLOCK);
	static char data[6000];
	int64_t result = 0;

	if (fd < 0)
		return -errno;
	memset(data, (int)('A' + change->value % 26), sizeof(data));
	switch (change->op) {
	case CHANGE_TRUNCATE:
		result = ftruncate(fd, change->value);
		break;
	case CHANGE_WRITE:
		result = pwrite(fd, data, sizeof(data), change->value);
		break;
	case CHANGE_APPEND:
		result = lseek(fd, 0, SEEK_END) < 0 ? -1 : write(fd, data, sizeof(data) / 2);
		break;
	case CHANGE_PUNCH:
		result = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, change->value,
				   4096);
		break;
	case CHANGE_READ:
		result = pread(fd, data, sizeof(data), change->value);
		break;
	}
	result = errno_of(result);
	close(fd);
	return result;
}

/* Drops clean pages from the cache. */
static int64_t evict(int root)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
	int64_t result = 0;

	syncfs(root);
	if (fd < 0) /* anybody may ask for it, of one file */
		fd = openat(root, "c", O_RDONLY | O_NONBLOCK);
	else
		result = write(fd, "1", 1);
	if (fd >= 0)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), close(fd);
	return result < 0;
}

/* Unmounts.  The mount's root stays open, lest the next mount gets the same number of a device. */
static int64_t unmount(const char *path)
{
	int kept = open(path, O_PATH);
	int64_t result = errno_of(umount2(path, MNT_DETACH));

	if (result)
		close(kept);
	return result;
}

static int64_t make_one(struct round *round, struct change *change)
{
	struct timespec times[2] = { { 1200000000, 1 }, { 1300000000, 2 } };
	int root = round->root, fd;
	char path[64], byte[16];

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", root, change->name);
	switch (change->op) {
	case CHANGE_RENAME:
		return errno_of(renameat(root, change->name, root, change->name2));
	case CHANGE_UNLINK:
		return errno_of(unlinkat(root, change->name, 0));
	case CHANGE_CREATE:
		fd = openat(root, change->name, O_WRONLY | O_CREAT | O_EXCL, 0644);
		if (fd < 0)
			return -errno;
		return write(fd, "created", 7) + close(fd);
	case CHANGE_LINK:
		return errno_of(linkat(root, change->name, root, change->name2, 0));
	case CHANGE_SYMLINK:
		return errno_of(symlinkat(change->name, root, change->name2));
	case CHANGE_MKDIR:
		return errno_of(mkdirat(root, change->name, 0755));
	case CHANGE_RMDIR:
		return errno_of(unlinkat(root, change->name, AT_REMOVEDIR));
	case CHANGE_CHMOD:
		return errno_of(fchmodat(root, change->name, (mode_t)change->value, 0));
	case CHANGE_CHOWN:
		return errno_of(fchownat(root, change->name, 65534, 65534, 0));
	case CHANGE_TIMES:
		return errno_of(utimensat(root, change->name, times, 0));
	case CHANGE_SEEK_SHARED:
		return errno_of(lseek(FD_FIRST + 2, change->value, SEEK_SET));
	case CHANGE_READ_SHARED:
		return errno_of(read(FD_FIRST + 2, byte, sizeof(byte)));
	case CHANGE_EVICT:
		return evict(root);
	case CHANGE_MOUNT:
		/* Without ticks it is chance whether a time lies before another: see main.c. */
		return errno_of(mount("none", path, "tmpfs", round->ticks ? 0 : MS_STRICTATIME,
				      "mode=755"));
	case CHANGE_UNMOUNT:
		return unmount(path);
	case CHANGE_CLOSE:
		return errno_of(close((int)change->value));
	case CHANGE_DUP2:
		return errno_of(dup2(FD_FIRST + 8, (int)change->value));
	case CHANGE_SEEK:
		return errno_of(lseek((int)change->value, 4096, SEEK_SET));
	default:
		return on_file(root, change);
	}
}

static void make(struct round *round, struct change *change)
{
	change->result = make_one(round, change);
	change->made = 1;
}

static void serve(struct round *round, int from, int to)
{
	uint32_t index;

	while (read(from, &index, sizeof(index)) == sizeof(index)) {
		make(round, &round->changes[index]);
		MUST(write(to, &index, sizeof(index)) == sizeof(index));
	}
}

/* Is asked for all changes, and passes on those of the process. */
static void *thread(void *arg)
{
	struct round *round = arg;
	uint32_t index = 0;

	/* Its root and directory are not those of the steps: see round.c's confine. */
	MUST(!unshare(CLONE_FS) &&
	     write(wires.from_thread[1], &index, sizeof(index)) == sizeof(index));
	while (read(wires.to_thread[0], &index, sizeof(index)) == sizeof(index)) {
		struct change *change = &round->changes[index];

		if (change->by_thread)
			make(round, change);
		else
			MUST(write(wires.to_process[1], &index, sizeof(index)) == sizeof(index) &&
			     read(wires.from_process[0], &index, sizeof(index)) == sizeof(index));
		MUST(write(wires.from_thread[1], &index, sizeof(index)) == sizeof(index));
	}
	return NULL;
}

void others_prepare(void)
{
	MUST(!pipe(wires.to_process) && !pipe(wires.from_process) && !pipe(wires.to_thread) &&
	     !pipe(wires.from_thread));
}

void others_start(struct round *round)
{
	pthread_t id;
	uint32_t index;

	round->child[0] = fork();
	MUST(round->child[0] >= 0);
	if (!round->child[0]) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(round, wires.to_process[0], wires.from_process[1]);
		_exit(0);
	}
	if (round->seed % 2) {
		/* There is no thread: the process makes its changes, too. */
		round->batch->wires[0] = wires.from_process[0];
		round->batch->wires[1] = wires.to_process[1];
		return;
	}
	round->batch->wires[0] = wires.from_thread[0];
	round->batch->wires[1] = wires.to_thread[1];
	MUST(!pthread_create(&id, NULL, thread, round) &&
	     read(wires.from_thread[0], &index, sizeof(index)) == sizeof(index));
}
