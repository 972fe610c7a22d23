/* SPDX-License-Identifier: MIT */
/*
 * Makes the page cache's tree in all its shapes: of one entry and of one to four levels, with rows
 * that are full, sparse and cut off, with large folios, and with the entries that the kernel leaves
 * for pages that are gone.  The specialised read walks the tree by its own code
 * (kmod/fast/page_cache.h): if the kernel's tree is no longer what that code takes it for, the
 * bytes differ here, or no read is specialised any more.
 */
#include "guards.h"
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/swap.h>

#define PAGE   4096l
#define ROW    64l /* pages below one node of the tree's lowest level */
#define PIECE  48  /* bytes that each read wants, across the end of a page */
#define PROBES 64
#define MAX_AT 12

struct shape {
	const char *what;
	long at[MAX_AT]; /* pages that are written to, ascending; -1 ends them */
	long pages;	 /* the file's size */
};

static const struct shape shapes[] = {
	{ "a file of one page", { 0, -1 }, 1 },
	{ "one page and a hole", { 0, -1 }, 10 },
	{ "the last page of a row", { ROW - 1, -1 }, ROW },
	{ "a row's ends", { 0, ROW - 1, -1 }, ROW + 1 },
	{ "the ends of two rows", { ROW - 1, ROW, -1 }, 2 * ROW },
	{ "a second row without a first", { ROW + 1, -1 }, 2 * ROW },
	{ "the ends of two levels", { ROW * ROW - 1, ROW *ROW, -1 }, ROW *ROW + 2 },
	{ "the ends of three levels",
	  { 0, ROW *ROW *ROW - 1, ROW *ROW *ROW, -1 },
	  ROW *ROW *ROW + 2 },
	{ "four levels, sparse",
	  { 1, ROW, ROW *ROW, ROW *ROW *ROW, ROW *ROW *ROW * 3 + ROW * 5 + 7, -1 },
	  ROW *ROW *ROW * 4 },
};

static char wanted[PROBES][PIECE], got[PROBES][PIECE];
static long position[PROBES], result[PROBES];

/* Fills a page with bytes that no other page has. */
static void page_fill(char *page, long index)
{
	for (long i = 0; i < PAGE; i++)
		page[i] = (char)(index * 7 + index / ROW * 3 + i + i / 256);
}

static void page_write(int fd, long index)
{
	char page[PAGE];

	page_fill(page, index);
	MUST(pwrite(fd, page, PAGE, index * PAGE) == PAGE);
}

/* Compares the bytes with pread(2)'s, twice: the first time may bring pages in. */
static void probes_compare(const char *what, int fd, int count)
{
	for (int turn = 0; turn < 2; turn++) {
		memset(got, 'Z', sizeof(got));
		COSY_START;
		for (int i = 0; i < count; i++)
			result[i] = pread(fd, got[i], PIECE, position[i]);
		COSY_END;
		for (int i = 0; i < count; i++) {
			long want;

			memset(wanted[i], 'Z', PIECE);
			want = pread(fd, wanted[i], PIECE, position[i]);
			CHECK(result[i] == want, "%s, byte %ld: %ld, not %ld", what, position[i],
			      result[i], want);
			CHECK(!memcmp(got[i], wanted[i], PIECE), "%s, byte %ld: other bytes", what,
			      position[i]);
		}
	}
}

/* Reads in, before, after and across each page of the shape. */
static void shape_probe(const struct shape *shape, const char *what, int fd)
{
	struct cosy_stats before = counts();
	int count = 0, there = 0;
	uint64_t fast;

	for (; shape->at[there] >= 0; there++) {
		long begin = shape->at[there] * PAGE;

		position[count++] = begin + 100;
		position[count++] = begin + PAGE - PIECE;
		position[count++] = begin + PAGE - 10;
		position[count++] = begin + PAGE + 5;
		if (begin)
			position[count++] = begin - 10;
	}
	position[count++] = shape->pages * PAGE - 10;
	position[count++] = shape->pages * PAGE + 10;
	probes_compare(what, fd, count);
	/*
	 * Two reads of each page lie within it, in each of two turns; the first of each RUN is an
	 * ordinary one.  A process that is interrupted begins another RUN.
	 */
	fast = 2 * (2 * there - 1);
	for (int turn = 0; turn < 100 && kernel_expected() && counts().fast - before.fast < fast;
	     turn++)
		probes_compare(what, fd, count);
	CHECK_FAST(before, fast);
}

static void shapes_read(const char *where)
{
	for (size_t s = 0; s < sizeof(shapes) / sizeof(*shapes); s++) {
		const struct shape *shape = &shapes[s];
		int fd = open("shape", O_RDWR | O_CREAT | O_TRUNC, 0600);
		char what[128];

		MUST(fd >= 0 && !ftruncate(fd, shape->pages * PAGE));
		for (int i = 0; shape->at[i] >= 0; i++)
			page_write(fd, shape->at[i]);
		snprintf(what, sizeof(what), "%s: %s", where, shape->what);
		shape_probe(shape, what, fd);
		/* The tree loses levels, and its only entry may become its head. */
		MUST(!ftruncate(fd, 1) && !ftruncate(fd, shape->pages * PAGE));
		snprintf(what, sizeof(what), "%s: %s, cut off and grown again", where, shape->what);
		position[0] = 0;
		for (int i = 0; i < MAX_AT && shape->at[i] >= 0; i++)
			position[i] = shape->at[i] * PAGE;
		probes_compare(what, fd, 1);
		MUST(!close(fd) && !unlink("shape"));
	}
}

/* --- Rows, and what is left of pages that are gone ----------------------------------------- */

/* Reads every page of three rows at every page's end; `gone` takes some of them away. */
static void rows_read(const char *what, void (*gone)(int fd, char *map, long size))
{
	long pages = 3 * ROW, size = pages * PAGE;
	int fd = open("rows", O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *map;

	MUST(fd >= 0);
	for (long i = 0; i < pages; i++)
		page_write(fd, i);
	MUST(!fsync(fd));
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(map != MAP_FAILED);
	if (gone)
		gone(fd, map, size);
	for (long first = 0; first < pages; first += PROBES) {
		for (int i = 0; i < PROBES; i++)
			position[i] = (first + i) * PAGE + PAGE - PIECE / 2;
		probes_compare(what, fd, PROBES);
	}
	for (int i = 0; i < PROBES; i++) {
		char page[PAGE];

		page_fill(page, 2 * ROW + i);
		CHECK(!memcmp(wanted[i], page + PAGE - PIECE / 2, PIECE / 2),
		      "%s: page %d is another", what, i);
	}
	MUST(!munmap(map, size) && !close(fd) && !unlink("rows"));
}

static void pages_dropped(int fd, char *map, long size)
{
	(void)map;
	MUST(!posix_fadvise(fd, ROW * PAGE / 2, size / 2, POSIX_FADV_DONTNEED));
}

/* Reclaims pages, which leaves values in the tree: of the swap, or of when they were last used. */
static void pages_reclaimed(int fd, char *map, long size)
{
	(void)fd;
	for (long at = 0; at < size; at += 3 * PAGE)
		(void)*(volatile char *)(map + at);
#ifdef MADV_PAGEOUT
	madvise(map, size / 2, MADV_PAGEOUT);
#endif
}

static void rows(const char *where)
{
	char what[128];

	snprintf(what, sizeof(what), "%s: rows", where);
	rows_read(what, NULL);
	snprintf(what, sizeof(what), "%s: rows, some pages dropped", where);
	rows_read(what, pages_dropped);
	snprintf(what, sizeof(what), "%s: rows, some pages reclaimed", where);
	rows_read(what, pages_reclaimed);
}

/* --- Other file systems ---------------------------------------------------------------------- */

/* Runs on a tmpfs of its own that is mounted with these options. */
static void mounted(const char *options, const char *where)
{
	if (geteuid() || mkdir("mount", 0700)) {
		printf("%s: not root, not tested\n", where);
		return;
	}
	if (mount("none", "mount", "tmpfs", 0, options)) {
		printf("%s: %s, not tested\n", where, strerror(errno));
	} else {
		MUST(!chdir("mount"));
		shapes_read(where);
		rows(where);
		MUST(!chdir(".."));
		CHECK(!umount("mount"), "the mount is still in use");
	}
	CHECK(!rmdir("mount"), "rmdir");
}

#define SWAP_PAGES 4096l

/* Makes a swap area, as mkswap(8) does. */
static bool swap_make(const char *name)
{
	static char page[PAGE];
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	uint32_t header[3] = { 1, SWAP_PAGES - 1, 0 };
	bool made = fd >= 0;

	memcpy(page + 1024, header, sizeof(header));
	memcpy(page + PAGE - 10, "SWAPSPACE2", 10);
	for (long i = 0; made && i < SWAP_PAGES; i++) {
		made = write(fd, page, PAGE) == PAGE;
		memset(page, 0, PAGE);
	}
	return made && !fsync(fd) && !close(fd) && !swapon(name, 0);
}

/* Swaps pages of a tmpfs out, if a file may be swapped to. */
static void swapped(void)
{
	struct statfs fs;

	MUST(!statfs(".", &fs));
	if (geteuid() || !kernel_expected() || fs.f_type == TMPFS_MAGIC) {
		printf("swap: not root, no module, or no disk: not tested\n");
		return;
	}
	if (swap_make("swap")) {
		mounted(NULL, "tmpfs with swap");
		CHECK(!swapoff("swap"), "swapoff: %s", strerror(errno));
	} else {
		printf("swap: %s, not tested\n", strerror(errno));
	}
	unlink("swap");
}

int main(void)
{
	directory_enter();
	shapes_read("here");
	rows("here");
	mounted("huge=always", "huge pages");
	mounted("huge=within_size", "huge pages within the size");
	swapped();
	directory_leave();
	return check_end();
}
