/* SPDX-License-Identifier: MIT */
/*
 * Compares everything that others can see of a write to tmpfs or ext4: times, privileges
 * that are dropped, events, counters, seals, limits, bytes that survive reclaim and reach
 * the disk.  The specialised write is a copy of what the kernel's own comes to
 * (kmod/view/cached_write.c): where the kernel's learns to do more, a write in a region and
 * one by write(2) differ here.
 */
#include "guards.h"
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/swap.h>
#include <sys/xattr.h>

#define SIZE 20000
#define OLD  1000000000 /* seconds; the time at which the files were last changed */

/* Everything by which others see one write. */
struct effects {
	long result;
	int error;
	long position;
	unsigned int mode, events, event_mask;
	unsigned long long size, blocks, written, writes;
	bool times_new, times_equal, accessed, privileged;
	char bytes[SIZE + 100], stored[SIZE + 100]; /* in the cache, and after leaving it */
};

struct kind {
	const char *what;
	void (*prepare)(int fd);
	long at, count; /* at -1: where the position is, which is 10 */
	int flags;	/* as the file is opened */
	/* Where it is to be specialised, from the second one on at the latest. */
	enum { NOWHERE, KNOWN, TMPFS } fast; /* nowhere, on tmpfs and ext4, on tmpfs */
};

/* Longest write from other memory than the shared buffer that is specialised. */
#define SMALL 256

static char *shared; /* in the shared buffer where there is one, or else in other memory */
static int notify, fresh_fd;

/*
 * Writes to another file: ext4 counts as fresh in a RUN after an ordinary write, and no write before it
 * is specialised.
 */
#define FRESHEN() pwrite(fresh_fd, shared, 1, 0)

/* Returns a counter of this process's, out of /proc/self/io. */
static unsigned long long counter(const char *name)
{
	unsigned long long value = 0;
	char line[64];
	FILE *file = fopen("/proc/self/io", "r");

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			value = strtoull(line + strlen(name), NULL, 10);
	if (file)
		fclose(file);
	return value;
}

static void events_take(struct effects *effects)
{
	char buffer[4096] __attribute__((aligned(8)));
	long got = read(notify, buffer, sizeof(buffer));

	for (long at = 0; at < got;) {
		const struct inotify_event *event = (void *)(buffer + at);

		effects->events++;
		effects->event_mask |= event->mask;
		at += (long)sizeof(*event) + event->len;
	}
}

static void effects_look(int fd, const char *name, struct effects *effects)
{
	struct statx st;

	MUST(!statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st));
	effects->position = lseek(fd, 0, SEEK_CUR);
	effects->mode = st.stx_mode;
	effects->size = st.stx_size;
	effects->blocks = st.stx_blocks;
	effects->times_new = st.stx_mtime.tv_sec > OLD;
	effects->times_equal = st.stx_mtime.tv_sec == st.stx_ctime.tv_sec &&
			       st.stx_mtime.tv_nsec == st.stx_ctime.tv_nsec;
	effects->accessed = st.stx_atime.tv_sec != OLD;
	effects->privileged = getxattr(name, "security.capability", NULL, 0) > 0;
	memset(effects->bytes, 0, sizeof(effects->bytes));
	MUST(pread(fd, effects->bytes, sizeof(effects->bytes), 0) >= 0);
	memset(effects->stored, 0, sizeof(effects->stored));
	MUST(!fsync(fd) && !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	MUST(pread(fd, effects->stored, sizeof(effects->stored), 0) >= 0);
}

/* Checks that such writes are specialised; a RUN that is interrupted before them makes none. */
static void writes_specialised(int fd, long at, long count)
{
	const int writes = 10;
	struct cosy_stats before;
	int turn = 0;
	char c;

	do {
		before = counts();
		COSY_START;
		pread(fd, &c, 1, SIZE + 1);
		for (int i = 0; i < writes; i++) {
			if (at < 0)
				lseek(fd, 10, SEEK_SET);
			at < 0 ? write(fd, shared, count) : pwrite(fd, shared, count, at);
		}
		COSY_END;
	} while (++turn < 100 && kernel_expected() &&
		 counts().fast - before.fast < (uint64_t)writes * (at < 0 ? 2 : 1));
	CHECK_FAST(before, writes * (at < 0 ? 2 : 1));
}

/* Checks that writes to a file opened so that each does more than write are never specialised. */
static void writes_ordinary(int fd, long at, long count)
{
	const int writes = 10;
	struct cosy_stats before = counts();
	char c;

	COSY_START;
	pread(fd, &c, 1, SIZE + 1);
	for (int i = 0; i < writes; i++)
		at < 0 ? write(fd, shared, count) : pwrite(fd, shared, count, at);
	COSY_END;
	CHECK(counts().fast - before.fast < (uint64_t)writes, "%llu of %d are specialised",
	      (unsigned long long)(counts().fast - before.fast), writes);
}

/* Writes to a file of this kind, by the call itself or in a region. */
static void write_try(const struct kind *kind, bool in_region, struct effects *effects)
{
	const struct timespec times[2] = { { OLD, 0 }, { OLD, 0 } };
	const char *name = in_region ? "region" : "native";
	unsigned long long written, writes;
	static char text[SIZE];
	long at = kind->at, count = kind->count, result = -1;
	int fd, watch, error = 0;
	char c;

	memset(effects, 0, sizeof(*effects));
	memset(text, 't', sizeof(text));
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC | kind->flags, 0600);
	MUST(fd >= 0 && write(fd, text, SIZE) == SIZE && lseek(fd, 10, SEEK_SET) == 10);
	if (kind->prepare)
		kind->prepare(fd);
	if (kind->flags & O_APPEND)
		MUST(lseek(fd, 10, SEEK_SET) == 10);
	MUST(!futimens(fd, times));
	watch = inotify_add_watch(notify, name, IN_ALL_EVENTS);
	MUST(watch >= 0);
	errno = 0;
	if (in_region) {
		COSY_START;
		/* A RUN begins with an ordinary call. */
		pread(fd, &c, 1, SIZE + 1);
		FRESHEN();
		result = at < 0 ? write(fd, shared, count) : pwrite(fd, shared, count, at);
		if (result < 0)
			error = errno;
		COSY_END;
		/* Measure what one more write counts. */
		written = counter("wchar: ");
		writes = counter("syscw: ");
		COSY_START;
		FRESHEN();
		at < 0 ? write(fd, shared, count) : pwrite(fd, shared, count, at);
		COSY_END;
	} else {
		pread(fd, &c, 1, SIZE + 1);
		FRESHEN();
		result = at < 0 ? write(fd, shared, count) : pwrite(fd, shared, count, at);
		if (result < 0)
			error = errno;
		written = counter("wchar: ");
		writes = counter("syscw: ");
		FRESHEN();
		at < 0 ? write(fd, shared, count) : pwrite(fd, shared, count, at);
	}
	effects->written = counter("wchar: ") - written;
	effects->writes = counter("syscw: ") - writes;
	effects->result = result;
	effects->error = error;
	events_take(effects);
	effects_look(fd, name, effects);
	inotify_rm_watch(notify, watch);
	if (in_region && kind->fast)
		writes_specialised(fd, at, count);
	if (in_region && kind->flags & (O_SYNC | O_DSYNC))
		writes_ordinary(fd, at, count);
	/* Read what the watch's own end tells. */
	while (read(notify, text, sizeof(text)) > 0)
		;
	MUST(!close(fd) && !unlink(name));
}

#define SAME(field)                                                                                \
	CHECK(native.field == region.field, "%s: " #field " %llu, not %llu", kind->what,           \
	      (unsigned long long)region.field, (unsigned long long)native.field)

static void write_compare(const struct kind *kind)
{
	static struct effects native, region;

	write_try(kind, false, &native);
	write_try(kind, true, &region);
	SAME(result);
	SAME(error);
	SAME(position);
	SAME(mode);
	SAME(events);
	SAME(event_mask);
	SAME(size);
	SAME(blocks);
	SAME(written);
	SAME(writes);
	SAME(times_new);
	SAME(times_equal);
	SAME(accessed);
	SAME(privileged);
	CHECK(!memcmp(native.bytes, region.bytes, sizeof(native.bytes)), "%s: other bytes",
	      kind->what);
	CHECK(!memcmp(native.bytes, region.stored, sizeof(native.bytes)),
	      "%s: other bytes on the disk", kind->what);
}

/* --- What makes a write more than its bytes ------------------------------------------------ */

static void set_user_id(int fd)
{
	MUST(!fchmod(fd, 06755));
}

static void set_group_id_alone(int fd)
{
	MUST(!fchmod(fd, 02745));
}

/* Gives the file cap_net_raw=ep, as setcap(8) writes it. */
static void capability(int fd)
{
	static const unsigned int raw[5] = { 0x02000001, 1 << 13, 0, 0, 0 };

	if (fsetxattr(fd, "security.capability", raw, sizeof(raw), 0))
		printf("no capabilities of files: %s\n", strerror(errno));
}

static void hole(int fd)
{
	MUST(!ftruncate(fd, 0) && !ftruncate(fd, SIZE));
}

/*
 * Leaves a page of a hole in the cache, and a byte written in its first block: where blocks are
 * smaller than pages, the page's other blocks have buffers, valid ones, but no place on the disk.
 */
static void hole_beside(int fd)
{
	char text[SIZE];

	hole(fd);
	MUST(pread(fd, text, SIZE, 0) == SIZE && pwrite(fd, "w", 1, 0) == 1);
}

static void mapped(int fd)
{
	char *map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	MUST(map != MAP_FAILED);
	for (int i = 0; i < SIZE; i += 1000)
		map[i] = 'm';
	MUST(!munmap(map, SIZE));
}

static void clean(int fd)
{
	char *map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	MUST(map != MAP_FAILED);
#ifdef MADV_PAGEOUT
	madvise(map, SIZE, MADV_PAGEOUT);
#endif
	MUST(!munmap(map, SIZE));
}

static void written_back(int fd)
{
	MUST(!fsync(fd));
}

/* Drops a disk file's pages from the cache, so that they come back without buffers. */
static void read_again(int fd)
{
	char text[SIZE];

	MUST(!fsync(fd) && !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	MUST(pread(fd, text, SIZE, 0) == SIZE);
}

/* Asks for a journalled file, which ext4 does not heed where it allocates blocks late. */
static void journalled(int fd)
{
	int flags, set;

	set = ioctl(fd, FS_IOC_GETFLAGS, &flags) ? -1 : flags | FS_JOURNAL_DATA_FL;
	if (set < 0 || ioctl(fd, FS_IOC_SETFLAGS, &set))
		printf("no data in the journal here: %s\n", strerror(errno));
}

static const struct kind kinds[] = {
	{ "within a page", NULL, 100, 50, 0, KNOWN },
	{ "across pages", NULL, 4000, 9000, 0, KNOWN },
	{ "one byte", NULL, 0, 1, 0, KNOWN },
	{ "the last byte", NULL, SIZE - 1, 1, 0, KNOWN },
	{ "at the position", NULL, -1, 100, 0, KNOWN },
	{ "past the end", NULL, SIZE - 10, 50, 0, TMPFS },
	{ "at the end", NULL, SIZE, 50, 0, TMPFS },
	{ "beyond the end", NULL, SIZE + 20, 50, 0, NOWHERE },
	{ "past the end and its page", NULL, SIZE - 10, 600, 0, NOWHERE },
	{ "as many bytes as are specialised from any memory", NULL, 4000, SMALL, 0, KNOWN },
	{ "nothing", NULL, 100, 0, 0, NOWHERE },
	{ "set-user-ID", set_user_id, 100, 50, 0, NOWHERE },
	{ "set-group-ID of a file that is not executable by its group", set_group_id_alone, 100, 50,
	  0, NOWHERE },
	{ "capabilities", capability, 100, 50, 0, NOWHERE },
	{ "into a hole", hole, 100, 50, 0, NOWHERE },
	{ "into a hole beside what is written", hole_beside, 2100, 50, 0, NOWHERE },
	{ "changed by a mapping", mapped, 100, 5000, 0, KNOWN },
	{ "reclaimed", clean, 100, 5000, 0, NOWHERE },
	{ "written back", written_back, 100, 5000, 0, KNOWN },
	{ "read from the disk", read_again, 100, 5000, 0, KNOWN },
	{ "asked to journal its data", journalled, 100, 5000, 0, NOWHERE },
	{ "appending", NULL, -1, 10, O_APPEND, TMPFS },
	{ "appending, whatever the position", NULL, 100, 10, O_APPEND, TMPFS },
	{ "synchronous", NULL, 100, 50, O_SYNC, NOWHERE },
	{ "synchronous data", NULL, 100, 50, O_DSYNC, NOWHERE },
};

/* --- Seals and limits --------------------------------------------------------------------- */

static void sealed(void)
{
	int fd = memfd_create("sealed", MFD_ALLOW_SEALING);
	long result[3] = { 0 };
	int error = 0;
	char c;

	MUST(fd >= 0 && write(fd, shared, SIZE) == SIZE);
	COSY_START;
	pread(fd, &c, 1, 0);
	result[0] = pwrite(fd, shared, 100, 0);
	result[1] = fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
	result[2] = pwrite(fd, shared, 100, 0);
	if (result[2] < 0)
		error = errno;
	COSY_END;
	CHECK(result[0] == 100 && !result[1] && result[2] == -1 && error == EPERM,
	      "%ld, %ld, %ld, %d", result[0], result[1], result[2], error);
	MUST(!close(fd));
}

/* A file that may be changed, and may not grow. */
static void sealed_size(void)
{
	static const struct {
		off_t at;
		long count;
	} writes[] = { { 0, 100 }, { SIZE - 10, 10 }, { SIZE - 10, 11 }, { SIZE, 1 } };
	struct stat st;
	char c;

	for (size_t i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
		int fd = memfd_create("sealed", MFD_ALLOW_SEALING), native_error, error = 0;
		long native, region = 0;

		MUST(fd >= 0 && write(fd, shared, SIZE) == SIZE &&
		     !fcntl(fd, F_ADD_SEALS, F_SEAL_GROW));
		errno = 0;
		native = pwrite(fd, shared, writes[i].count, writes[i].at);
		native_error = native < 0 ? errno : 0;
		COSY_START;
		pread(fd, &c, 1, 0);
		region = pwrite(fd, shared, writes[i].count, writes[i].at);
		if (region < 0)
			error = errno;
		COSY_END;
		MUST(!fstat(fd, &st) && !close(fd));
		CHECK(region == native && error == native_error && st.st_size == SIZE,
		      "%ld bytes at %ld: %ld, %d, not %ld, %d; size %ld", writes[i].count,
		      (long)writes[i].at, region, error, native, native_error, (long)st.st_size);
	}
}

static void limited(void *unused)
{
	struct rlimit limit = { 5000, 5000 };
	long result[2] = { 0 };
	int error = 0, fd = open("limited", O_RDWR | O_CREAT | O_TRUNC, 0600);
	char c;

	(void)unused;
	MUST(fd >= 0 && write(fd, shared, SIZE) == SIZE);
	signal(SIGXFSZ, SIG_IGN);
	MUST(!setrlimit(RLIMIT_FSIZE, &limit));
	COSY_START;
	pread(fd, &c, 1, 0);
	result[0] = pwrite(fd, shared, 4000, 4000);
	result[1] = pwrite(fd, shared, 100, 6000);
	if (result[1] < 0)
		error = errno;
	COSY_END;
	CHECK(result[0] == 1000 && result[1] == -1 && error == EFBIG, "%ld, %ld, %d", result[0],
	      result[1], error);
}

/*
 * Writes to a file that became immutable after it was opened: each file system has its own answer.
 */
static void immutable(void)
{
	int fd = open("immutable", O_RDWR | O_CREAT | O_TRUNC, 0600), flags = 0, set;
	int native_error, region_error = 0;
	long native, region = 0;
	char c;

	MUST(fd >= 0 && write(fd, shared, SIZE) == SIZE);
	set = ioctl(fd, FS_IOC_GETFLAGS, &flags) ? -1 : flags | FS_IMMUTABLE_FL;
	if (set < 0 || ioctl(fd, FS_IOC_SETFLAGS, &set)) {
		printf("no immutable files here: %s\n", strerror(errno));
	} else {
		errno = 0;
		native = pwrite(fd, shared, 100, 0);
		native_error = errno;
		COSY_START;
		pread(fd, &c, 1, 0);
		FRESHEN();
		region = pwrite(fd, shared, 100, 0);
		if (region < 0)
			region_error = errno;
		COSY_END;
		CHECK(native == region && native_error == region_error, "%ld, %d, not %ld, %d",
		      region, region_error, native, native_error);
		MUST(!ioctl(fd, FS_IOC_SETFLAGS, &flags));
	}
	MUST(!close(fd) && !unlink("immutable"));
}

/* A file that asks for all its writes to be synchronous. */
static void synchronous(void)
{
	int fd = open("synchronous", O_RDWR | O_CREAT | O_TRUNC, 0600), flags = 0, set;

	MUST(fd >= 0 && write(fd, shared, SIZE) == SIZE);
	set = ioctl(fd, FS_IOC_GETFLAGS, &flags) ? -1 : flags | FS_SYNC_FL;
	if (set < 0 || ioctl(fd, FS_IOC_SETFLAGS, &set))
		printf("no synchronous files here: %s\n", strerror(errno));
	else
		writes_ordinary(fd, 100, 50);
	MUST(!close(fd) && !unlink("synchronous"));
}

/* Compares a write that natively fails, and the bytes that are there afterwards. */
static void refused(int fd, off_t at, const char *what)
{
	char before[100], after[100], c;
	int native_error, error = 0;
	long native, region = 0;

	errno = 0;
	native = pwrite(fd, shared, sizeof(before), at);
	native_error = errno;
	MUST(pread(fd, before, sizeof(before), at) == (ssize_t)sizeof(before));
	COSY_START;
	pread(fd, &c, 1, 0);
	FRESHEN();
	region = pwrite(fd, shared, sizeof(before), at);
	if (region < 0)
		error = errno;
	COSY_END;
	MUST(pread(fd, after, sizeof(after), at) == (ssize_t)sizeof(after));
	CHECK(native == -1 && region == native && error == native_error, "%s: %ld, %d, not %ld, %d",
	      what, region, error, native, native_error);
	CHECK(!memcmp(before, after, sizeof(before)), "%s: written", what);
}

/* A file that the kernel swaps to, which must not be written by others. */
static void swapped(void)
{
	enum { PAGE = 4096, PAGES = 16 };
	const uint32_t header[] = { 1, PAGES - 1, 0 };
	int fd = open("swapped", O_RDWR | O_CREAT | O_TRUNC, 0600);
	static char bytes[PAGES * PAGE];

	memcpy(bytes + 1024, header, sizeof(header));
	memcpy(bytes + PAGE - 10, "SWAPSPACE2", 10);
	MUST(fd >= 0 && write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) && !fsync(fd));
	if (swapon("swapped", 0)) {
		printf("no swapping to files here: %s\n", strerror(errno));
	} else {
		refused(fd, 5 * PAGE, "a swap file");
		MUST(!swapoff("swapped"));
	}
	MUST(!close(fd) && !unlink("swapped"));
}

/* Opens a file as a program of 32 bits does; `name` is below 4 GB. */
static long open_by_32_bits(const char *name)
{
	long opened = -ENOSYS;

#ifdef __x86_64__
	/* open(2) has number 5 there. */
	__asm__ volatile("int $0x80"
			 : "=a"(opened)
			 : "a"(5), "b"(name), "c"(O_RDWR), "d"(0)
			 : "memory", "r8", "r9", "r10", "r11");
#endif
	return (int)opened;
}

/* A kernel that has no such calls ends a program that makes one. */
static void try_32_bits(void *name)
{
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	_exit(open_by_32_bits(name) < 0);
}

/* A file that a program of 32 bits has opened, which does not expect it to become so long. */
static void opened_by_32_bits(void)
{
	const off_t far = (off_t)1 << 31;
	int fd = open("long", O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *name = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	int opened;

	MUST(fd >= 0 && name != MAP_FAILED);
	strcpy(name, "long");
	MUST(pwrite(fd, shared, SIZE, far) == SIZE);
	if (in_child(try_32_bits, name)) {
		printf("no calls of 32 bits here\n");
	} else {
		opened = (int)open_by_32_bits(name);
		refused(opened, far + 100, "opened by 32 bits");
		MUST(!close(opened));
	}
	MUST(!close(fd) && !unlink("long") && !munmap(name, 4096));
}

/*
 * Writes over a page that a mapping has brought into the cache, so that it is clean.  Unless the write
 * makes it dirty, the kernel drops it when it wants the memory back, and the bytes are gone.
 */
static void written_over_clean(void)
{
	int fd = memfd_create("clean", 0);
	struct cosy_stats then;
	volatile char sum = 0;
	char c, found[100];
	char *map;

	MUST(fd >= 0 && !ftruncate(fd, SIZE));
	map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
	MUST(map != MAP_FAILED);
	for (int i = 0; i < SIZE; i += 4096)
		sum += map[i];
	then = counts();
	COSY_START;
	pread(fd, &c, 1, 0);
	pwrite(fd, shared, sizeof(found), 50);
	COSY_END;
	CHECK_FAST(then, 1);
#ifdef MADV_PAGEOUT
	madvise(map, SIZE, MADV_PAGEOUT);
#endif
	MUST(!munmap(map, SIZE));
	MUST(pread(fd, found, sizeof(found), 50) == (ssize_t)sizeof(found));
	CHECK(!memcmp(found, shared, sizeof(found)), "what was written is gone: %#x", found[0]);
	MUST(!close(fd));
}

/* Writes from memory that ends within the bytes, or that a fault has to bring in. */
static void from_missing_memory(void)
{
	const long page = sysconf(_SC_PAGESIZE);
	char *map =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("missing", O_RDWR | O_CREAT | O_TRUNC, 0600);
	long native[3], region[3] = { 0 };
	char c;

	MUST(fd >= 0 && map != MAP_FAILED && write(fd, shared, SIZE) == SIZE);
	memset(map, 'a', page);
	MUST(!mprotect(map + page, page, PROT_NONE));
	native[0] = pwrite(fd, map + page - 10, 100, 100);
	native[1] = pwrite(fd, map + page, 100, 100);
	native[2] = pwrite(fd, map + page - 10, 100, SIZE - 10);
	MUST(pwrite(fd, shared, 100, 100) == 100 && !ftruncate(fd, SIZE));
	COSY_START;
	pread(fd, &c, 1, 0);
	FRESHEN();
	region[0] = pwrite(fd, map + page - 10, 100, 100);
	region[1] = pwrite(fd, map + page, 100, 100);
	region[2] = pwrite(fd, map + page - 10, 100, SIZE - 10);
	COSY_END;
	for (int i = 0; i < 3; i++)
		CHECK(region[i] == native[i], "%d: %ld, not %ld", i, region[i], native[i]);
	MUST(lseek(fd, 0, SEEK_END) == SIZE);
	MUST(!mprotect(map + page, page, PROT_READ | PROT_WRITE));
	/* The zero page, and one that does not exist yet. */
	region[0] = 0;
	COSY_START;
	pread(fd, &c, 1, 0);
	FRESHEN();
	region[0] = pwrite(fd, map + page - 10, 100, 100);
	COSY_END;
	CHECK(region[0] == 100, "%ld", region[0]);
	MUST(pread(fd, map, 100, 100) == 100);
	CHECK(map[0] == 'a' && map[9] == 'a' && !map[10] && !map[99], "other bytes");
	MUST(!munmap(map, 2 * page) && !close(fd) && !unlink("missing"));
}

/* --- Two who append ------------------------------------------------------------------------- */

#define RECORD	28 /* bytes, which pages are no multiple of */
#define RECORDS 20000

/* Appends RECORDS records of `who`. */
static long append_records(int fd, char who)
{
	char record[RECORD];
	long failed = 0;

	memset(record, who, sizeof(record));
	for (int i = 0; i < RECORDS / 1000; i++) {
		COSY_START;
		for (int k = 0; k < 1000; k++)
			failed += write(fd, record, RECORD) != RECORD;
		COSY_END;
	}
	return failed;
}

/* Two processes append to a file at once: each record is there, whole and once. */
static void appended_by_two(void)
{
	int fd = open("appended", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600), other, status;
	struct cosy_stats before = counts();
	long failed, of[2] = { 0 }, torn = 0;
	char *map, record[RECORD];
	struct statfs fs;
	pid_t pid;

	MUST(fd >= 0 && !fstatfs(fd, &fs));
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		other = open("appended", O_WRONLY | O_APPEND);
		_exit(other < 0 || append_records(other, 'b'));
	}
	failed = append_records(fd, 'a');
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(!failed && !status, "%ld writes failed, status %#x", failed, status);
	MUST(lseek(fd, 0, SEEK_END) == 2L * RECORDS * RECORD);
	map = mmap(NULL, 2L * RECORDS * RECORD, PROT_READ, MAP_SHARED, fd, 0);
	MUST(map != MAP_FAILED);
	for (int i = 0; i < 2 * RECORDS; i++) {
		char who = map[(long)i * RECORD];

		memset(record, who, sizeof(record));
		torn += memcmp(record, map + (long)i * RECORD, RECORD) != 0;
		of[who == 'b']++;
	}
	CHECK(!torn && of[0] == RECORDS && of[1] == RECORDS, "%ld torn, %ld and %ld records", torn,
	      of[0], of[1]);
	if (fs.f_type == TMPFS_MAGIC)
		CHECK_FAST(before, RECORDS / 2);
	MUST(!munmap(map, 2L * RECORDS * RECORD) && !close(fd) && !unlink("appended"));
}

static void all_kinds(bool in_buffer)
{
	struct statfs fs;

	MUST(!statfs(".", &fs));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct kind one = kinds[i];

		if (fs.f_type != TMPFS_MAGIC &&
		    (fs.f_type != EXT4_SUPER_MAGIC || one.fast == TMPFS))
			one.fast = NOWHERE;
		if (!in_buffer && one.count > SMALL)
			one.fast = NOWHERE;
		write_compare(&one);
	}
}

int main(void)
{
	char *buffer;

	directory_enter();
	shared = buffer = cosy_malloc(SIZE);
	notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	MUST(shared && notify >= 0);
	memset(shared, 'w', SIZE);
	MUST((fresh_fd = open("fresh", O_RDWR | O_CREAT, 0600)) >= 0);
	MUST(write(fresh_fd, shared, SIZE) == SIZE);
	all_kinds(true);
	shared = malloc(SIZE);
	MUST(shared);
	memset(shared, 'w', SIZE);
	all_kinds(false);
	from_missing_memory();
	sealed_size();
	free(shared);
	shared = buffer;
	sealed_size();
	appended_by_two();
	sealed();
	written_over_clean();
	immutable();
	synchronous();
	swapped();
	opened_by_32_bits();
	CHECK_CHILD(in_child(limited, NULL));
	unlink("limited");
	MUST(!close(fresh_fd) && !unlink("fresh"));
	directory_leave();
	return check_end();
}
