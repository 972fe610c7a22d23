// SPDX-License-Identifier: MIT
/*
 * directories.c - directory streams for compounds.
 *
 * They are glibc's own, so that a stream may come from outside and go there.  libcosy checks the
 * layout before a region with one of these functions enters (lib/process/streams.c).
 */
#include "runtime.h"

struct stream {
	int fd, lock;			 /* 0: free; 1: taken; 2: taken, and somebody waits */
	size_t allocation, size, offset; /* bytes of `entries`: in all, filled, passed */
	long position;
	int error, unused;
	char entries[];
};

struct entry {
	unsigned long ino;
	long position;
	unsigned short size;
};

struct attributes {
	unsigned long device, ino, links;
	unsigned mode, uid, gid, unused;
	unsigned long special;
	long size, block;
	long more[10];
};

/* The thread's streams that compounds have closed and keep for the next one. */
#define SPARE_STREAMS 4
struct spare_streams {
	struct stream *at[SPARE_STREAMS];
};
struct spare_streams *__cosy_streams(void);

struct stream *readdir(struct stream *dir);
void rewinddir(struct stream *dir);
void seekdir(struct stream *dir, long position);

#define ENOENT		   2
#define EBADF		   9
#define SYS_futex	   202
#define F_SETFD		   2
#define F_GETFL		   3
#define FD_CLOEXEC	   1
#define O_ACCMODE	   3
#define O_WRONLY	   1
#define O_OPEN_FLAGS	   (0x800 | 0x10000 | 0x80000) /* O_NONBLOCK, O_DIRECTORY, O_CLOEXEC */
#define O_PATH		   0x200000
#define IS_DIRECTORY(mode) (((mode) & 0170000) == 0040000)

/* False: another thread has it. */
static int stream_take(struct stream *dir)
{
	return __sync_val_compare_and_swap(&dir->lock, 0, 1) == 0;
}

static void stream_release(struct stream *dir)
{
	if (__atomic_exchange_n(&dir->lock, 0, __ATOMIC_SEQ_CST) > 1)
		syscall(SYS_futex, &dir->lock, 1 | 128, 1, NULL, NULL, 0); /* wakes one, private */
}

/* Returns a block for a stream with so much room, a kept one if it is of that size. */
static struct stream *stream_room(size_t room)
{
	struct spare_streams *spare = __cosy_streams();

#pragma clang loop unroll(disable)
	for (int i = 0; i < SPARE_STREAMS; i++) {
		struct stream *dir = __atomic_exchange_n(&spare->at[i], NULL, __ATOMIC_SEQ_CST);

		if (!dir)
			continue;
		if (dir->allocation == room)
			return dir;
		free(dir);
	}
	return malloc(sizeof(struct stream) + room);
}

/* Makes the stream of a directory's descriptor. */
static struct stream *stream_make(int fd, long block)
{
	size_t room = block < 32768 ? 32768 : block > 1048576 ? 1048576 : block;
	struct stream *dir = stream_room(room);

	if (!dir)
		return NULL;
	dir->fd = fd;
	dir->lock = 0;
	dir->allocation = room;
	dir->size = dir->offset = 0;
	dir->position = 0;
	dir->error = 0;
	return dir;
}

struct stream *RT(opendir)(const char *path)
{
	struct attributes of;
	struct stream *dir = NULL;
	int fd, error;

	if (!*path) {
		*__errno_location() = ENOENT;
		return NULL;
	}
	fd = open(path, O_OPEN_FLAGS);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &of) == 0)
		dir = stream_make(fd, of.block);
	if (dir)
		return dir;
	error = *__errno_location();
	close(fd);
	*__errno_location() = error;
	return NULL;
}

struct stream *RT(fdopendir)(int fd)
{
	struct attributes of;
	int flags;

	if (fstat(fd, &of) < 0)
		return NULL;
	if (!IS_DIRECTORY(of.mode)) {
		*__errno_location() = ENOTDIR;
		return NULL;
	}
	flags = fcntl(fd, F_GETFL);
	if (flags == -1)
		return NULL;
	if (flags & O_PATH || (flags & O_ACCMODE) == O_WRONLY) {
		*__errno_location() = flags & O_PATH ? EBADF : EINVAL;
		return NULL;
	}
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return NULL;
	return stream_make(fd, of.block);
}

/* Reads entries if all are passed.  False: there are none, or errno. */
static int stream_fill(struct stream *dir)
{
	int saved = *__errno_location();
	ssize_t size;

	if (dir->offset < dir->size)
		return 1;
	size = getdents64(dir->fd, dir->entries, dir->allocation);
	if (size <= 0) {
		/* A directory that was removed has none. */
		if (size == 0 || *__errno_location() == ENOENT)
			*__errno_location() = saved;
		return 0;
	}
	dir->size = size;
	dir->offset = 0;
	return 1;
}

static struct stream *stream_next(struct stream *dir)
{
	struct entry *entry;

	if (!stream_take(dir))
		return readdir(dir);
	if (!stream_fill(dir)) {
		stream_release(dir);
		return NULL;
	}
	entry = (struct entry *)(dir->entries + dir->offset);
	/* Releases of glibc differ in whether they return a deleted one. */
	if (entry->ino == 0) {
		stream_release(dir);
		return readdir(dir);
	}
	dir->offset += entry->size;
	dir->position = entry->position;
	stream_release(dir);
	return (struct stream *)entry;
}

struct stream *RT(readdir)(struct stream *dir)
{
	return stream_next(dir);
}

struct stream *RT(readdir64)(struct stream *dir)
{
	return stream_next(dir);
}

int RT(dirfd)(struct stream *dir)
{
	return dir->fd;
}

long RT(telldir)(struct stream *dir)
{
	return dir->position;
}

static void stream_seek(struct stream *dir, long position)
{
	lseek(dir->fd, position, 0);
	dir->size = dir->offset = 0;
	dir->position = position;
}

void RT(rewinddir)(struct stream *dir)
{
	if (!stream_take(dir)) {
		rewinddir(dir);
		return;
	}
	stream_seek(dir, 0);
	dir->error = 0;
	stream_release(dir);
}

void RT(seekdir)(struct stream *dir, long position)
{
	if (!stream_take(dir)) {
		seekdir(dir, position);
		return;
	}
	stream_seek(dir, position);
	stream_release(dir);
}

int RT(closedir)(struct stream *dir)
{
	struct spare_streams *spare = __cosy_streams();
	int fd, i;

	if (!dir) {
		*__errno_location() = EINVAL;
		return -1;
	}
	fd = dir->fd;
#pragma clang loop unroll(disable)
	for (i = 0; i < SPARE_STREAMS; i++)
		if (!__sync_val_compare_and_swap(&spare->at[i], NULL, dir))
			break;
	if (i == SPARE_STREAMS)
		free(dir);
	return close(fd);
}
