// SPDX-License-Identifier: MIT
/*
 * race_tree.c - walks a tree by scan_tree in a region, interrupted by a timer, while a thread
 * moves, removes and makes folders in it.  The thread says by a number, odd meanwhile, when it does
 * so.
 *
 *  - What nobody touches is told once in every walk, and no name that nobody made.
 *  - Where the number is the same and even from before the walk until after one by plain calls, both
 *    told the same.
 *  - No descriptor is left open, also where a walk is ended early.
 *
 * Folders that move have no folders in them for long and lie high up, so that nothing is lost by a
 * move while the walk is in it (-ESTALE): tests/vm/guest/scan_tree_change.c does that.
 */
#include <cosy/fast.h>
#include <ftw.h>
#include <pthread.h>
#include "race.h"

enum { SPACE = 1 << 18, STREAM = 1 << 20, FOLDERS = 6, FILES = 9, LOOSE = 12, LINES = 2000 };

/* What a walk is given and tells, in the shared buffer. */
struct walk {
	struct cosy_tree tree;
	char space[SPACE];
	char stream[STREAM];
	uint64_t told;
	int64_t result;
};

static volatile bool done;
static volatile uint64_t turn; /* odd: folders are being changed */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static uint32_t draw(uint64_t *random, uint32_t n)
{
	*random = *random * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(*random >> 33) % n;
}

/* --- Who changes ------------------------------------------------------------------------- */

/* Writes the name of loose folder `which` in a folder that stays. */
static void loose_name(uint64_t *random, uint32_t which, char *to)
{
	sprintf(to, "tree/stays%u/loose%u", draw(random, FOLDERS), which);
}

static void change(uint64_t *random)
{
	uint32_t which = draw(random, LOOSE);
	char from[64], to[64], in[80];

	loose_name(random, which, from);
	loose_name(random, which, to);
	switch (draw(random, 5)) {
	case 0:
		rmdir(from);
		break;
	case 1:
		mkdir(from, 0755);
		sprintf(in, "%s/in", from);
		mkdir(in, 0700);
		break;
	case 2:
		sprintf(in, "%s/in", from);
		rmdir(in);
		break;
	case 3:
		if (!symlink("/proc", to))
			unlink(to);
		break;
	default:
		rename(from, to);
	}
}

/* Changes folders in bursts; whoever has the mutex finds them at rest. */
static void *changer(void *unused)
{
	uint64_t random = 5;

	while (!done) {
		pthread_mutex_lock(&changing);
		__atomic_fetch_add(&turn, 1, __ATOMIC_SEQ_CST);
		for (uint32_t n = draw(&random, 200); n && !done; n--)
			change(&random);
		__atomic_fetch_add(&turn, 1, __ATOMIC_SEQ_CST);
		pthread_mutex_unlock(&changing);
		usleep(draw(&random, 3000));
	}
	return unused;
}

/* --- What a walk tells --------------------------------------------------------------------- */

struct line {
	char path[100];
	uint64_t inode;
	uint32_t mode;
	int64_t size;
};

struct lines {
	uint32_t count;
	struct line line[LINES];
};

static struct lines walked, plain;

static void line_add(struct lines *lines, const char *path, const struct stat *st)
{
	struct line *line = &lines->line[lines->count++];

	MUST(lines->count < LINES && strlen(path) < sizeof(line->path));
	memset(line, 0, sizeof(*line));
	strcpy(line->path, path);
	line->inode = st->st_ino;
	line->mode = st->st_mode;
	line->size = S_ISDIR(st->st_mode) ? 0 : st->st_size;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->path, ((const struct line *)b)->path);
}

static int plain_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (ftw->level && type != FTW_NS)
		line_add(&plain, path, st);
	return 0;
}

/* Makes lines of a walk's stream.  Returns how many folders it could not go through. */
static uint32_t lines_of(const struct walk *w, bool quiet)
{
	char path[8][100] = { "tree" };
	uint32_t failed = 0, depth = 0, entered = 0, left = 0;

	walked.count = 0;
	for (uint64_t at = 0; at < w->told;) {
		const struct cosy_dirent *entry = (const struct cosy_dirent *)(w->stream + at);
		char child[200];

		MUST(entry->reclen >= sizeof(*entry) + 8 && entry->reclen <= w->told - at);
		at += entry->reclen;
		if (entry->kind == COSY_TREE_ENTER || entry->kind == COSY_TREE_LEAVE) {
			entered += entry->kind == COSY_TREE_ENTER;
			left += entry->kind == COSY_TREE_LEAVE;
			depth = (uint32_t)entry->off;
			MUST(depth < 8);
			if (depth)
				snprintf(path[depth], sizeof(path[0]), "%.60s/%.30s",
					 path[depth - 1], entry->name);
			continue;
		}
		if (entry->kind == COSY_TREE_FAILED) {
			failed++;
			CHECK(!quiet && strncmp(entry->name, "stays", 5) &&
				      (entry->error == -ENOENT || entry->error == -ENOTDIR ||
				       entry->error == -ELOOP),
			      "%s: error %d", entry->name, entry->error);
			continue;
		}
		if (!strcmp(entry->name, ".") || !strcmp(entry->name, ".."))
			continue;
		CHECK(!strncmp(entry->name, "stays", 5) || !strncmp(entry->name, "file", 4) ||
			      !strncmp(entry->name, "loose", 5) || !strcmp(entry->name, "in"),
		      "%s is no name here", entry->name);
		CHECK(!entry->error || (!quiet && entry->error == -ENOENT), "%s: error %d",
		      entry->name, entry->error);
		snprintf(child, sizeof(child), "%.60s/%.30s", path[depth], entry->name);
		if (!entry->error)
			line_add(&walked, child, (const struct stat *)entry->stat);
	}
	CHECK(entered == left, "%u folders entered, %u left", entered, left);
	qsort(walked.line, walked.count, sizeof(walked.line[0]), by_path);
	return failed;
}

/* Looks whether all that stays was told, once. */
static void check_stays(const struct lines *stays)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < stays->count; i++) {
		uint32_t found = 0;

		while (at < walked.count && by_path(&walked.line[at], &stays->line[i]) < 0)
			at++;
		for (; at < walked.count && !by_path(&walked.line[at], &stays->line[i]); at++)
			found += !memcmp(&walked.line[at], &stays->line[i], sizeof(struct line));
		CHECK(found == 1, "%s was told %u times", stays->line[i].path, found);
	}
}

static void check_same(void)
{
	CHECK(walked.count == plain.count, "%u entries, by plain calls %u", walked.count,
	      plain.count);
	for (uint32_t i = 0; i < walked.count && i < plain.count; i++)
		CHECK(!memcmp(&walked.line[i], &plain.line[i], sizeof(struct line)),
		      "%s, by plain calls %s, or other attributes", walked.line[i].path,
		      plain.line[i].path);
}

/* Checks what a walk to the end told.  Returns how many folders it could not go through. */
static uint32_t check_walk(const struct walk *w, const struct lines *stays, bool quiet)
{
	uint32_t gone = lines_of(w, quiet);

	check_stays(stays);
	qsort(plain.line, plain.count, sizeof(plain.line[0]), by_path);
	if (quiet)
		check_same();
	return gone;
}

/* --- The walk -------------------------------------------------------------------------------- */

static uint32_t descriptors_open(void)
{
	uint32_t count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Makes at most `calls` calls for `size` bytes each; then the walk is ended. */
static void walk(struct walk *w, int directory, uint64_t size, uint64_t calls)
{
	COSY_START;
	w->told = 0;
	w->tree.size = sizeof(w->tree) + SPACE;
	w->tree.dirfd = directory;
	w->tree.flags = COSY_TREE_POST;
	w->tree.max_depth = 0;
	w->tree.step = 0;
	w->tree.done = 0;
	do {
		w->result = cosy_scan_tree(&w->tree, w->stream + w->told, size);
		if (w->result > 0)
			w->told += (uint64_t)w->result;
	} while (w->result > 0 && --calls && w->told + size <= STREAM);
	cosy_scan_tree(&w->tree, w->stream, 0);
	COSY_END;
}

static void tick(int signal)
{
	(void)signal;
}

static void tree_make(struct lines *stays)
{
	char path[64];
	int fd;

	MUST(!mkdir("tree", 0755));
	for (int i = 0; i < FOLDERS; i++) {
		sprintf(path, "tree/stays%d", i);
		MUST(!mkdir(path, 0755));
		for (int k = 0; k < FILES; k++) {
			sprintf(path, "tree/stays%d/file%d", i, k);
			MUST((fd = open(path, O_CREAT | O_WRONLY, 0640)) >= 0 &&
			     !ftruncate(fd, i * 100 + k) && !close(fd));
		}
		sprintf(path, "tree/stays%d/stays", i);
		MUST(!mkdir(path, 0750));
	}
	plain.count = 0;
	MUST(!nftw("tree", plain_entry, 4, FTW_PHYS));
	*stays = plain;
	qsort(stays->line, stays->count, sizeof(stays->line[0]), by_path);
}

int race_tree(uint64_t steps)
{
	static struct lines stays;
	struct itimerval often = { { 0, 3000 }, { 0, 3000 } }, never = { 0 };
	struct walk *w = cosy_calloc(1, sizeof(*w));
	uint64_t random = 1, walks = 0, exact = 0, gone = 0;
	struct cosy_stats before = counts();
	uint32_t open_before;
	pthread_t thread;
	int directory;

	MUST(w);
	tree_make(&stays);
	MUST((directory = open("tree", O_RDONLY | O_DIRECTORY)) >= 0);
	signal(SIGALRM, tick);
	walk(w, directory, 65536, 1);
	open_before = descriptors_open();
	MUST(!pthread_create(&thread, NULL, changer, NULL));
	while ((walks < steps || !exact) && !check_failures) {
		uint64_t size = COSY_TREE_MIN_BUFFER + draw(&random, 8) * draw(&random, 1024) * 8,
			 then;
		bool early = draw(&random, 8) == 0, rest = draw(&random, 3) == 0, quiet;

		if (rest)
			pthread_mutex_lock(&changing);
		then = turn;
		MUST(!lseek(directory, 0, SEEK_SET) && !setitimer(ITIMER_REAL, &often, NULL));
		walk(w, directory, size, early ? 1 + draw(&random, 6) : STREAM);
		MUST(!setitimer(ITIMER_REAL, &never, NULL));
		plain.count = 0;
		/* It ends early where a folder goes that it is about to enter. */
		quiet = !nftw("tree", plain_entry, 4, FTW_PHYS) && then == turn && then % 2 == 0;
		if (rest)
			pthread_mutex_unlock(&changing);
		CHECK(quiet || !rest, "the walk by plain calls failed");
		CHECK(w->result >= 0, "the walk ended by %lld", (long long)w->result);
		CHECK(descriptors_open() == open_before, "%u descriptors, before %u",
		      descriptors_open(), open_before);
		walks++;
		/* One that was ended told a part. */
		if (w->result)
			continue;
		gone += check_walk(w, &stays, quiet);
		exact += quiet;
	}
	done = true;
	pthread_join(thread, NULL);
	close(directory);
	CHECK_KERNEL(before, walks, walks);
	printf("%llu walks, %llu with nothing changed meanwhile, %llu folders gone\n",
	       (unsigned long long)walks, (unsigned long long)exact, (unsigned long long)gone);
	MUST(!system("rm -rf tree"));
	cosy_free(w);
	return check_end();
}
