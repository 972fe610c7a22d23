// SPDX-License-Identifier: MIT
/*
 * walks.c - makes scan_tree by plain calls: openat, newfstatat of what was opened, getdents64 and
 * newfstatat of each entry, close.  It shares no code with core/scan_tree.h, the operation's walk.
 *
 * A call of the operation ends where what comes next has less room than the largest entry may need.
 * How many entries a getdents64 must take is noted by the operation's round, as scans.c tells of
 * scan_dir: for each list that took some, where in the stream its entries begin, and the bytes that
 * they are for getdents64.  A plain round that finds no notes ends calls earlier, so that there is
 * room for all entries that one getdents64 may give it, and notes that.
 *
 * Inodes are told by who else has the same, so the stream may have their numbers.
 */
#include <dirent.h>
#include <sys/syscall.h>
#include "same.h"

enum {
	LARGEST = 440,	/* a call of the operation ends where there is less room */
	MIN_ENTRY = 24, /* bytes of the smallest entry of getdents64 */
	MIN_TOLD = 176, /* ... and of what a walk tells of it */
	MIN_UNSEEN = 4, /* smallest entries for which getdents64 takes any of our names */
	OPEN_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

struct plain_walk {
	struct walk *walk;
	size_t size, told;
	size_t done;	    /* bytes of this call */
	size_t before_room; /* that the call before this one left when a list filled it, or 0 */
	uint32_t call, calls;
	uint64_t device; /* of the first directory */
	bool over;	 /* no call follows, or an error ends it all */
	long error;
};

/* Names of directories that are still to be entered, one after the other. */
struct names {
	char *at;
	size_t bytes;
};

static size_t told_size(const char *name)
{
	return (sizeof(struct cosy_dirent) + strlen(name) + 8) & ~7ul;
}

static size_t plain_size(const char *name)
{
	return (offsetof(struct dirent64, d_name) + strlen(name) + 8) & ~7ul;
}

size_t walk_told(const struct walk *walk)
{
	size_t told = 0;

	for (uint32_t i = 0; i < WALK_CALLS; i++)
		told += walk->length[i];
	return told;
}

/* --- What is told -------------------------------------------------------------------------- */

/* Returns whether there is room for what comes next, perhaps in another call. */
static bool has_room(struct plain_walk *p)
{
	if (p->size - p->done >= p->walk->least)
		return true;
	p->walk->length[p->call++] = (uint32_t)p->done;
	p->done = 0;
	p->over = p->call == p->calls || p->told + p->size > WALK_STREAM;
	return !p->over;
}

static void tell(struct plain_walk *p, struct cosy_dirent head, const char *name)
{
	struct cosy_dirent *entry = (struct cosy_dirent *)(p->walk->stream + p->told);

	head.reclen = (uint16_t)told_size(name);
	memset(entry, 0, head.reclen);
	*entry = head;
	strcpy(entry->name, name);
	p->told += head.reclen;
	p->done += head.reclen;
}

static void tell_failed(struct plain_walk *p, long error, const char *name, uint32_t depth)
{
	if (has_room(p))
		tell(p,
		     (struct cosy_dirent){ .kind = COSY_TREE_FAILED,
					   .error = (int)error,
					   .off = depth,
					   .type = DT_DIR },
		     name);
}

/* --- Lists ----------------------------------------------------------------------------------- */

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Returns whether the walk enters what this entry is. */
static bool is_entered(const struct plain_walk *p, const struct cosy_dirent *entry, uint32_t depth)
{
	const struct cosy_tree *tree = &p->walk->tree;
	const struct stat *st = (const struct stat *)entry->stat;

	if (is_dots(entry->name) || (tree->max_depth && depth + 1 >= tree->max_depth))
		return false;
	if (entry->error)
		return entry->type == DT_DIR;
	return S_ISDIR(st->st_mode) && (st->st_dev == p->device || (tree->flags & COSY_TREE_CROSS));
}

static void names_add(struct names *names, const char *name)
{
	size_t size = strlen(name) + 1;

	names->at = realloc(names->at, names->bytes + size);
	MUST(names->at);
	memcpy(names->at + names->bytes, name, size);
	names->bytes += size;
}

/* Returns the bytes for getdents64, and in `*filled` whether the operation took entries here. */
static size_t listed_here(const struct plain_walk *p, size_t most, bool *filled)
{
	const struct walk *walk = p->walk;

	*filled = true;
	if (walk->least != LARGEST)
		return (p->size - p->done) / MIN_TOLD * MIN_ENTRY;
	for (uint32_t i = 0; i < walk->note_count; i++)
		if (walk->note[i].at == p->told)
			return walk->note[i].bytes;
	/* It took nothing: then there is nothing, or an error. */
	*filled = false;
	return most;
}

/* Makes a list of a directory's entries.  Returns getdents64's result, or why it does not fit. */
static long list_once(struct plain_walk *p, int fd, uint32_t depth, struct names *names)
{
	static char entries[WALK_STREAM];
	bool filled;
	size_t most = listed_here(p, sizeof(entries), &filled);
	long len = result_of(syscall(SYS_getdents64, fd, entries, most));

	if (len > 0 && !filled)
		return -ENODATA; /* the operation found none */
	for (long at = 0; at < len;) {
		const struct dirent64 *from = (const struct dirent64 *)(entries + at);
		struct cosy_dirent head = { .ino = from->d_ino,
					    .off = from->d_off,
					    .type = from->d_type };
		size_t room = told_size(from->d_name);

		if (room > p->size - p->done)
			return -EOVERFLOW; /* it took more than fits */
		if (!at && !p->done && room <= p->before_room && p->walk->least == LARGEST)
			return -EPROTO; /* it took less than fits */
		head.error = (int)result_of(
			syscall(SYS_newfstatat, fd, from->d_name, head.stat, AT_SYMLINK_NOFOLLOW));
		tell(p, head, from->d_name);
		if (is_entered(p, (void *)(p->walk->stream + p->told - room), depth))
			names_add(names, from->d_name);
		at += from->d_reclen;
	}
	p->before_room = len > 0 ? p->size - p->done : 0;
	return len;
}

/* Lists a directory to its end. */
static void list_all(struct plain_walk *p, int fd, const char *name, uint32_t depth,
		     struct names *names)
{
	long len = 1;

	p->before_room = 0;
	while (len > 0 && has_room(p))
		len = list_once(p, fd, depth, names);
	if (len < 0)
		tell_failed(p, len, name, depth);
}

/* --- Directories -------------------------------------------------------------------------- */

static void directory_walk(struct plain_walk *p, int fd, const char *name, uint32_t depth);

static void directories_walk(struct plain_walk *p, int fd, const struct names *names,
			     uint32_t depth)
{
	const char *name = names->at;

	for (; !p->over && name < names->at + names->bytes; name += strlen(name) + 1) {
		long opened = result_of(syscall(SYS_openat, fd, name, OPEN_FLAGS, 0));

		if (opened < 0) {
			tell_failed(p, opened, name, depth);
			continue;
		}
		directory_walk(p, (int)opened, name, depth);
		close((int)opened);
	}
}

static void directory_walk(struct plain_walk *p, int fd, const char *name, uint32_t depth)
{
	struct cosy_dirent head = { .kind = COSY_TREE_ENTER, .off = depth, .type = DT_DIR };
	const struct stat *st = (const struct stat *)head.stat;
	struct names names = { 0 };
	long error;

	if (!has_room(p))
		return;
	error = result_of(syscall(SYS_newfstatat, fd, "", head.stat, AT_EMPTY_PATH));
	if (!depth && error) {
		p->error = error;
		p->over = true;
		return;
	}
	if (!depth)
		p->device = st->st_dev;
	else if (!error && st->st_dev != p->device && !(p->walk->tree.flags & COSY_TREE_CROSS))
		error = -EXDEV;
	if (error) {
		tell_failed(p, error, name, depth);
		return;
	}
	head.ino = st->st_ino;
	tell(p, head, name);
	list_all(p, fd, name, depth, &names);
	directories_walk(p, fd, &names, depth + 1);
	free(names.at);
	if (!p->over && (p->walk->tree.flags & COSY_TREE_POST) && has_room(p))
		tell(p,
		     (struct cosy_dirent){ .kind = COSY_TREE_LEAVE,
					   .off = depth,
					   .type = DT_DIR,
					   .ino = head.ino },
		     name);
}

long walk_plainly(struct walk *walk, int fd, size_t size, uint32_t calls)
{
	struct plain_walk p = { .walk = walk, .size = size, .calls = calls };

	if (walk->tree.flags > (COSY_TREE_POST | COSY_TREE_CROSS | COSY_TREE_UNORDERED) ||
	    (size && size < COSY_TREE_MIN_BUFFER))
		return -EINVAL;
	if (!size)
		return 0;
	if (!walk->least)
		walk->least = MIN_UNSEEN * MIN_TOLD;
	directory_walk(&p, fd, ".", 0);
	if (p.error)
		return p.error;
	if (p.over)
		return walk->length[p.call - 1];
	if (!p.done)
		return 0;
	walk->length[p.call++] = (uint32_t)p.done;
	/* One more call finds that it is done. */
	return p.call < calls && p.told + size <= WALK_STREAM ? 0 : (long)p.done;
}

/* --- Notes ------------------------------------------------------------------------------------ */

void walk_expect(FILE *notes, struct walk *walk)
{
	MUST(fscanf(notes, "%u %u", &walk->least, &walk->note_count) == 2 &&
	     walk->note_count <= sizeof(walk->note) / sizeof(walk->note[0]));
	for (uint32_t i = 0; i < walk->note_count; i++)
		MUST(fscanf(notes, "%u %u", &walk->note[i].at, &walk->note[i].bytes) == 2);
}

void walk_note(FILE *noted, struct walk *walk)
{
	uint32_t count = 0;
	size_t at = 0;

	for (uint32_t call = 0; call < WALK_CALLS; call++) {
		bool listing = false;

		for (size_t end = at + walk->length[call]; at < end;) {
			const struct cosy_dirent *entry = (const void *)(walk->stream + at);

			if (entry->kind == COSY_TREE_ENTRY && !listing) {
				walk->note[count].at = (uint32_t)at;
				walk->note[count++].bytes = 0;
			}
			listing = entry->kind == COSY_TREE_ENTRY;
			if (listing)
				walk->note[count - 1].bytes += (uint32_t)plain_size(entry->name);
			at += entry->reclen;
		}
	}
	fprintf(noted, "%u %u\n", walk->least ? walk->least : LARGEST, count);
	for (uint32_t i = 0; i < count; i++)
		fprintf(noted, "%u %u\n", walk->note[i].at, walk->note[i].bytes);
}
