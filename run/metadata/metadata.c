// SPDX-License-Identifier: MIT
/* metadata.c - see metadata.h and table.h. */
#include <emmintrin.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "../../include/uapi/linux/cosy.h"
#include "../../include/uapi/linux/cosy_watch.h"
#include "alone.h"
#include "metadata/metadata.h"
#include "metadata/statx.h"
#include "metadata/table.h"
#include "metadata/watcher.h"
#include "stats.h"
#include "syscall.h"
#include "vfork.h"

/* Apart from what each program needs (library.ld): only programs with a watcher write there. */
unsigned int metadata_turns[METADATA_FDS] __attribute__((section(".last")));

struct set *sets[SETS];
uint64_t accounted;

void metadata_off(void)
{
	watcher_off();
}

void metadata_before_thread(void)
{
	watcher_before_thread();
}

void metadata_forget_slow(int fd)
{
	if (fd == watcher_number && !vfork_in_child())
		watcher_lost();
	__atomic_fetch_add(&metadata_turns[fd], 1, __ATOMIC_SEQ_CST);
}

uint64_t metadata_numbers(void)
{
	return __atomic_load_n(&watcher_state, __ATOMIC_ACQUIRE) == WATCHER_OPEN
		       ? watcher_words[COSY_WATCH_NUMBERS]
		       : 0;
}

/* No system call is made after the watcher has ended: see watcher_ended. */
static bool number_is_directory(int fd)
{
	struct stat is;

	return !(watcher_words[COSY_WATCH_WAY] & COSY_WATCH_ENDED) &&
	       !cosy_syscall3(SYS_fstat, fd, (uintptr_t)&is, 0) && S_ISDIR(is.st_mode);
}

void metadata_opened(int fd, int flags, uint64_t before)
{
	if (fd < 0)
		return;
	metadata_forget(fd);
	/*
	 * A directory that the process's only thread opens changes the word once.  If it changed
	 * more often, or this is no directory, somebody else opened one, whose number is not known
	 * here.
	 */
	if (before && !(flags & ((O_TMPFILE & ~O_DIRECTORY) | O_PATH)) && alone() &&
	    metadata_numbers() == before + 1 && (flags & O_DIRECTORY || number_is_directory(fd)))
		__atomic_fetch_add(&accounted, 1, __ATOMIC_SEQ_CST);
}

/* --- Sets and tables ------------------------------------------------------------------------- */

/*
 * Makes another table.  NULL: all are made.  Two threads that libc does not know may both be here, so
 * the count is read once.
 */
static struct table *table_make(struct set *set)
{
	unsigned int made = __atomic_load_n(&set->made, __ATOMIC_RELAXED);
	struct table *table = &set->tables[made];

	if (made == TABLES)
		return NULL;
	table->dirfd = -1;
	__atomic_store_n(&set->made, made + 1, __ATOMIC_RELAXED);
	return table;
}

/* Makes the set of this place.  NULL: there is no memory. */
COLD static struct set *set_make(struct set **place)
{
	struct set *none = NULL, *set;
	unsigned long at = cosy_syscall6(SYS_mmap, 0, sizeof(*set), PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if ((long)at < 0)
		return NULL;
	set = (struct set *)at;
	budget_begin(&set->budget);
	set->patience = watcher_is_eager() ? 1 : PATIENCE;
	set->size = FEWEST;
	set->step = 1;
	set->owner = __builtin_thread_pointer();
	set->last = table_make(set);
	for (int i = 0; i < RECENT; i++)
		set->recent[i] = set->last;
	if (__atomic_compare_exchange_n(place, &none, set, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return set;
	cosy_syscall3(SYS_munmap, at, sizeof(*set), 0);
	return none;
}

/* Returns the thread's set, which was not taken, or NULL. */
static struct set *set_take(void)
{
	struct set **place = alone() ? &sets[0] : set_place();
	struct set *set = __atomic_load_n(place, __ATOMIC_ACQUIRE);

	if (unlikely(!set)) {
		set = set_make(place);
		if (!set)
			return NULL;
	}
	/* Another thread, or a signal handler, finds it taken. */
	if (!alone())
		return __atomic_exchange_n(&set->taken, true, __ATOMIC_ACQUIRE) ? NULL : set;
	if (unlikely(set->taken))
		return NULL;
	set_take_alone(set);
	return set;
}

/* True if the path, of at least `prefix` bytes, has the table's prefix. */
static bool table_has_prefix(const struct table *table, const char *path, unsigned int prefix)
{
	if (table->prefix != prefix)
		return false;
	if (likely(path_has_room(path)))
		return path_has_prefix(path, table);
	for (unsigned int i = 0; i < prefix; i++)
		if (table->text[i] != path[i])
			return false;
	return true;
}

static void patience_grow(struct set *set, unsigned int by)
{
	set->patience = set->patience + by < MAX_PATIENCE ? set->patience + by : MAX_PATIENCE;
}

/* Adds to the budget what the table's calls have saved. */
static void table_settle(struct set *set, struct table *table)
{
	budget_gain(&set->budget, table->served - table->counted);
	table->counted = table->served;
}

/* Learns from what a READ was good for. */
static void table_judge(struct set *set, struct table *table)
{
	if (!table->count)
		return;
	table_settle(set, table);
	/* A READ costs as much as 2 calls, and each entry as much as 1/3. */
	if (table->served * 3 > table->count + 6)
		set->patience = set->patience > 1 ? set->patience - 1 : 1;
	else
		patience_grow(set, table->served ? 1 : set->patience);
	if (table->served * 4 >= table->count * 3 && table->count >= set->size &&
	    set->size < COSY_WATCH_COUNT / 2)
		set->size *= 2;
	table->count = 0;
}

static void set_settle(struct set *set)
{
	for (struct table *t = set->tables; t < set->tables + set->made; t++)
		table_settle(set, t);
}

/* Returns how many entries a READ may have: one alone must not spend what others have saved. */
static unsigned int set_affords(struct set *set)
{
	if (budget_affords(&set->budget, FEWEST) < COSY_WATCH_COUNT)
		set_settle(set);
	return budget_affords(&set->budget, FEWEST);
}

/* Takes from the budget.  When it is spent, the next calls are not tried. */
static void set_spend(struct set *set, int cost)
{
	set->budget.left -= cost;
	if (likely(set->budget.left >= 0))
		return;
	set_settle(set);
	if (set->budget.left >= 0)
		return;
	budget_rest(&set->budget);
	/* The program may ask in another way afterwards. */
	set->patience = watcher_is_eager() ? 1 : PATIENCE;
}

/* True if the table is of a directory above that of the path. */
static bool table_is_above(const struct table *table, int dirfd, const char *path,
			   unsigned int prefix)
{
	return table->dirfd == dirfd && table->prefix < prefix &&
	       table_has_prefix(table, path, table->prefix);
}

/* True if the descriptor names something else by now, so that no call can be served any more. */
static bool table_is_over(const struct table *table)
{
	return table->dirfd >= 0 &&
	       __atomic_load_n(&metadata_turns[table->dirfd], __ATOMIC_SEQ_CST) != table->turn;
}

/*
 * Takes a table that is over; or makes one; or takes the one that was used least recently, but none of
 * a directory that the program returns to.
 */
static struct table *table_oldest(struct set *set, int dirfd, const char *path, unsigned int prefix)
{
	struct table *oldest = NULL;

	for (struct table *t = set->tables; t < set->tables + set->made; t++)
		if (table_is_over(t))
			return t;
	/* The first one is made, but may not have been used. */
	if (set->tables->used)
		oldest = table_make(set);
	if (oldest)
		return oldest;
	for (struct table *t = set->tables; t < set->tables + set->made; t++)
		if ((!oldest || t->used < oldest->used) && !table_is_above(t, dirfd, path, prefix))
			oldest = t;
	return oldest ? oldest : &set->tables[set->clock % TABLES];
}

static bool table_is_of(const struct table *table, int dirfd, const char *path, unsigned int prefix)
{
	return table->dirfd == dirfd && table_has_prefix(table, path, prefix);
}

/* Takes another table for this directory. */
static struct table *table_take_oldest(struct set *set, int dirfd, const char *path,
				       unsigned int prefix)
{
	struct table *oldest = table_oldest(set, dirfd, path, prefix);

	table_judge(set, oldest);
	/* Programs go through each directory in the same direction. */
	if (set->last->learnt >= ORDERLY)
		set->step = set->last->step;
	oldest->dirfd = dirfd;
	oldest->prefix = prefix;
	oldest->used = ++set->clock;
	oldest->asked = oldest->served = oldest->counted = 0;
	oldest->learnt = 0;
	oldest->step = set->step;
	oldest->size = set->size;
	oldest->twin = NULL;
	oldest->missed = false;
	memcpy(oldest->text, path, prefix);
	oldest->text[prefix] = 0;
	if (dirfd == AT_FDCWD)
		return oldest;
	if (!metadata_turns[dirfd])
		__atomic_fetch_add(&metadata_turns[dirfd], 1, __ATOMIC_SEQ_CST);
	oldest->turn = __atomic_load_n(&metadata_turns[dirfd], __ATOMIC_SEQ_CST);
	return oldest;
}

/* Finds a table of the directory, or takes another one. */
static struct table *table_find(struct set *set, int dirfd, const char *path, unsigned int prefix)
{
	for (struct table *t = set->tables; t < set->tables + set->made; t++) {
		if (table_is_of(t, dirfd, path, prefix)) {
			t->used = ++set->clock;
			t->missed = false;
			return t;
		}
	}
	return table_take_oldest(set, dirfd, path, prefix);
}

/* The program has gone on in order up to one end. */
static bool table_is_at_end(const struct table *table)
{
	return table->count && table->learnt >= ORDERLY && table->next >= table->count;
}

/* Returns the last bytes of a name from its last dot on, or 0. */
static uint32_t name_ending(const char *name, unsigned int length)
{
	uint32_t ending = 0;

	for (unsigned int i = length; i && length - i < sizeof(ending); i--) {
		ending = ending << 8 | (unsigned char)name[i - 1];
		if (name[i - 1] == '.')
			return ending;
	}
	return 0;
}

/* True if the name that was asked for last in this table ends as this one. */
static bool table_ends_as(const struct table *table, uint32_t ending)
{
	unsigned int last = table->next - table->step;
	const struct cosy_watch_entry *entry;

	if (last >= table->count)
		return false;
	entry = table_entry(table, last);
	return name_ending((const char *)(entry + 1), entry->name_length) == ending;
}

/*
 * Returns the table that is to have the entries around a name which no table of this directory has.
 * `table` is the recent one.  Several parts of a directory that a program goes through at once mostly
 * are files of several kinds.
 */
static struct table *table_choose(struct set *set, struct table *table, const char *path,
				  const char *name, unsigned int length)
{
	uint32_t ending;
	struct table *oldest = table;
	unsigned int streams = 1;

	/* Its entries were not what the program goes through. */
	if (!table->count || (table->served <= 1 && table->asked) ||
	    (!table->twin && table_is_at_end(table)))
		return table;
	if (!table->twin)
		return NULL;
	ending = name_ending(name, length);
	if (table_is_at_end(table) && table_ends_as(table, ending))
		return table;
	for (struct table *t = set->tables; t < set->tables + set->made; t++) {
		if (t == table || !table_is_of(t, table->dirfd, path, table->prefix))
			continue;
		if (!t->count || (table_is_at_end(t) && table_ends_as(t, ending)))
			return t;
		streams++;
		if (t->used < oldest->used)
			oldest = t;
	}
	return streams < STREAMS ? NULL : oldest;
}

/* Makes `to` the recent table of the directory. */
static void table_use(struct set *set, struct table *table, struct table *to)
{
	if (to == table)
		return;
	to->twin = table;
	/* Each of several has one. */
	if (!table->twin)
		table->twin = to;
	to->used = ++set->clock;
	*set_recent(set, to->dirfd) = set->last = to;
}

/* Finds a name in the other tables of the directory.  That table becomes the recent one. */
static const struct cosy_watch_entry *twins_search(struct set *set, struct table **table,
						   const char *path, const char *name,
						   unsigned int length)
{
	const struct cosy_watch_entry *entry;

	if (likely(!(*table)->twin))
		return NULL;
	for (struct table *t = set->tables; t < set->tables + set->made; t++) {
		if (t == *table || !t->count ||
		    !table_is_of(t, (*table)->dirfd, path, (*table)->prefix))
			continue;
		if (!table_holds(t)) {
			table_judge(set, t);
			continue;
		}
		entry = table_search(t, name, length);
		if (entry) {
			table_use(set, *table, t);
			*table = t;
			return entry;
		}
	}
	return NULL;
}

/* --- READ ------------------------------------------------------------------------------------ */

/* Notes where the entries are.  False: they are not what was agreed on. */
static bool table_index(struct table *table, const struct cosy_watch_read *read)
{
	unsigned int at = 0;

	for (unsigned int i = 0; i < read->found; i++) {
		const struct cosy_watch_entry *entry = (void *)(table->bytes + at);

		table->at[i] = at / 8;
		at += entry->length;
	}
	return at == read->used;
}

static const struct cosy_watch_entry *table_read(struct set *set, struct table *table,
						 const char *name, unsigned int length)
{
	/* Two threads that libc does not know may have filled it at once: what is compared is read. */
	table->text[table->prefix] = 0;
	/* The program goes on asking, so it gets more at once. */
	if (table->served + table->asked >= table->size / 2 && table->count &&
	    table->size < COSY_WATCH_COUNT)
		table->size *= 2;

	bool orderly = table->learnt >= ORDERLY;
	/*
	 * Without an order entries on both sides of the name are read, also at first: before the first
	 * name of a directory there is no other one, if the program goes by the cache's order.
	 */
	unsigned int wanted = orderly				    ? table->size
			      : table->size <= COSY_WATCH_COUNT / 2 ? 2 * table->size
								    : COSY_WATCH_COUNT;
	unsigned int affords = set_affords(set), count = wanted < affords ? wanted : affords;
	struct cosy_watch_read read = {
		.size = sizeof(read),
		.dirfd = table->dirfd,
		.prefix = table->prefix ? (uintptr_t)table->text : 0,
		.name = (uintptr_t)name,
		.entries = (uintptr_t)table->bytes,
		.entries_size = sizeof(table->bytes),
		.count = count,
		/* A thread that libc does not know of would use the same set. */
		.request = (alone() ? COSY_WATCH_ALONE : 0) |
			   (set->absent ? COSY_WATCH_ABSENT : 0) |
			   (set->permissions ? COSY_WATCH_ACCESS((unsigned int)set->mode) : 0),
		.before = !orderly	       ? count / 2
			  : table->step == -1u ? count - 1
					       : 0,
	};
	uint64_t accounted_before = __atomic_load_n(&accounted, __ATOMIC_SEQ_CST);
	const struct cosy_watch_entry *entry;
	unsigned int learnt = table->learnt;
	long ret;

	table_judge(set, table);
	table->mode = set->permissions ? set->mode : -1;
	if (set->absent)
		set->absent--;
	if (set->permissions)
		set->permissions--;
	if (table->dirfd != AT_FDCWD)
		table->turn = __atomic_load_n(&metadata_turns[table->dirfd], __ATOMIC_SEQ_CST);
	ret = cosy_syscall3(SYS_ioctl, watcher_number, COSY_IOC_WATCH_READ, (uintptr_t)&read);
	stats.metadata_reads++;
	if (ret == -ECANCELED)
		watcher_ended();
	/* Another file has the number, or somebody observes the process's calls. */
	if (ret == -ENOTTY || ret == -EBADF || ret == -EPERM)
		watcher_lost();
	set_spend(set, BUDGET_READ + BUDGET_ENTRY * (ret ? 0 : (int)read.found));
	if (ret || !table_index(table, &read)) {
		/*
		 * Nothing to be had here: not the program's habit.  EAGAIN may be another thread's READ,
		 * which waits for the processor that this thread has.
		 */
		if (ret != -EAGAIN)
			patience_grow(set, set->patience);
		else if (set->patience < 2 * PATIENCE)
			patience_grow(set, 1);
		table->asked = 0;
		return NULL;
	}
	stats.metadata_entries += read.found;
	table->way = read.way;
	table->dir_word = read.dir_word;
	table->dir_value = read.dir_value;
	table->numbers = read.numbers - accounted_before;
	table->stx_mask = read.stx_mask;
	table->stx_attributes_mask = read.stx_attributes_mask;
	table->stx_mnt_id = read.stx_mnt_id;
	table->counted_times = read.flags & COSY_WATCH_COUNTED_TIMES;
	table->indexed = false;
	table->count = read.found;
	table->asked = table->served = table->counted = 0;
	table->next = NOWHERE;
	entry = table_search(table, name, length);
	/* The search had no expectation that the name could fail. */
	table->learnt = learnt;
	return entry;
}

/* True if another READ is likely to pay. */
static bool table_wants(const struct set *set, struct table *table)
{
	return table_is_at_end(table) || ++table->asked >= set->patience;
}

/* --- Serving --------------------------------------------------------------------------------- */

/*
 * Returns the length of the path before its last component, and that of the component.  Blocks of
 * 16 bytes are in one page with a byte of the path.
 */
static unsigned int path_prefix(const char *path, unsigned int *length)
{
	const __m128i *block = (const __m128i *)((uintptr_t)path & ~15ul);
	unsigned int before = (uintptr_t)path & 15, slash = 0, at = 0, slashes, ends;

	for (;; block++, at += 16, before = 0) {
		__m128i bytes = _mm_load_si128(block);

		ends = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())) >> before;
		slashes = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('/'))) >> before;
		/* Slashes behind the end are not the path's. */
		if (ends)
			slashes &= (ends & -ends) - 1;
		if (slashes)
			slash = at + 32 - __builtin_clz(slashes);
		if (ends)
			break;
		at -= before;
	}
	*length = at + __builtin_ctz(ends) - slash;
	return slash;
}

/* A request: what stat(2) or statx(2) is asked for. */
struct request {
	int dirfd;
	const char *path;
	void *ret;	   /* struct stat, or struct statx */
	unsigned int mask; /* statx's; 0: stat */
	int mode;	   /* access's; -1: stat or statx */
	bool tried;	   /* table_expect or table_expect_shared was */
};

/* Finds the number of an extended attribute in COSY_WATCH_XATTRS, or COSY_WATCH_XATTR_COUNT. */
static unsigned int xattr_find(const char *name)
{
	/* Characters, since pointers would have to be relocated. */
	static const char names[COSY_WATCH_XATTR_COUNT][25] = COSY_WATCH_XATTRS;
	unsigned int i = 0;

	while (i < COSY_WATCH_XATTR_COUNT && strcmp(names[i], name))
		i++;
	return i;
}

static bool entry_serve(struct table *table, const struct cosy_watch_entry *entry,
			const struct request *request)
{
	if (!entry_holds(table, entry))
		return false;
	if (request->mode >= 0) {
		if (table->mode != request->mode || !(entry->flags & COSY_WATCH_PERMITTED))
			return false;
	} else if (!request->mask)
		stat_copy(request->ret, entry);
	else if (table->stx_mask)
		statx_copy(request->ret, table, entry, request->mask);
	else
		return false;
	table_count(table);
	return true;
}

static bool set_serve(struct set *set, const struct request *request)
{
	const struct cosy_watch_entry *entry;
	const char *path = request->path;
	struct table *table, *to;
	unsigned int prefix, length;
	int dirfd = request->dirfd;

	prefix = path_prefix(path, &length);
	if (prefix >= PREFIX || !length)
		return false;
	if (prefix && *path == '/')
		dirfd = AT_FDCWD;
	if (dirfd != AT_FDCWD && (prefix || (unsigned int)dirfd >= METADATA_FDS))
		return false;
	table = *set_recent(set, dirfd);
	if (!table_is_of(table, dirfd, path, prefix))
		table = table_find(set, dirfd, path, prefix);
	*set_recent(set, dirfd) = set->last = table;
	if (table->count && !table_holds(table))
		table_judge(set, table);
	entry = NULL;
	/* It counts for this call alone: the next one may come here without table_jump. */
	if (table->count && !table->missed)
		entry = table_search(table, path + prefix, length);
	table->missed = false;
	if (!entry)
		entry = twins_search(set, &table, path, path + prefix, length);
	if (entry)
		return entry_serve(table, entry, request);
	to = table_choose(set, table, path, path + prefix, length);
	if (!table_wants(set, to ? to : table))
		return false;
	if (__atomic_load_n(&watcher_state, __ATOMIC_ACQUIRE) != WATCHER_OPEN)
		return false;
	if (watcher_words[COSY_WATCH_WAY] & COSY_WATCH_ENDED) {
		watcher_ended();
		return false;
	}
	/* It stays, as do those that were used lately. */
	table->used = ++set->clock;
	if (!to)
		to = table_take_oldest(set, dirfd, path, prefix);
	if (to->size < table->size)
		to->size = table->size;
	table->asked = 0;
	table_use(set, table, to);
	entry = table_read(set, to, path + prefix, length);
	return entry && entry_serve(to, entry, request);
}

/* As table_next, for the name that was asked for last. */
static const struct cosy_watch_entry *table_again(struct table *table, int dirfd, const char *path)
{
	const struct cosy_watch_entry *entry;
	unsigned int last = table->next - table->step;

	if (table->dirfd != dirfd || last >= table->count || !path_has_prefix(path, table))
		return NULL;
	entry = table_entry(table, last);
	return entry_is(entry, path + table->prefix) ? entry : NULL;
}

/* Serves from the table that was used last for the descriptor, as table_expect does. */
static bool recent_serve(struct set *set, const struct request *request)
{
	struct table *table = *set_recent(set, request->dirfd);
	const struct cosy_watch_entry *entry;

	entry = table_next(table, request->dirfd, request->path);
	if (!entry) {
		entry = table_jump(set, request->dirfd, request->path);
		table = *set_recent(set, request->dirfd);
	}
	if (!entry || !entry_serve(table, entry, request))
		return false;
	set->last = table;
	return true;
}

static bool serve(const struct request *request, int flags)
{
	struct set *set;
	bool served;

	if (__atomic_load_n(&watcher_state, __ATOMIC_ACQUIRE) == WATCHER_OFF ||
	    unlikely(!is_address(request->path)) ||
	    (request->mode < 0 && unlikely(!is_address(request->ret))) || (flags & ~FLAGS_SERVED))
		return false;
	/* It has the parent's memory, but its own directory and descriptors. */
	if (vfork_in_child())
		return false;
	if (__atomic_load_n(&watcher_state, __ATOMIC_ACQUIRE) == WATCHER_UNTRIED &&
	    (watcher_waits() || !watcher_begin()))
		return false;
	set = set_take();
	if (!set)
		return false;
	if (request->mode >= 0) {
		set->mode = request->mode;
		set->permissions = MORE;
	}
	if (budget_rests(&set->budget)) {
		set_leave(set);
		return false;
	}
	/* A table that no longer holds is read again. */
	served = (!request->tried && recent_serve(set, request)) || set_serve(set, request);
	if (!served)
		set_spend(set, BUDGET_MISS);
	set_leave(set);
	return served;
}

bool metadata_serve(int dirfd, const char *path, struct stat *ret, int flags)
{
	const struct request request = {
		.dirfd = dirfd, .path = path, .ret = ret, .mode = -1, .tried = true};

	return serve(&request, flags);
}

bool metadata_serve_statx(int dirfd, const char *path, struct statx *ret, int flags,
			  unsigned int mask)
{
	const struct request request = {
		.dirfd = dirfd, .path = path, .ret = ret, .mask = mask, .mode = -1, .tried = true};

	return serve(&request, flags);
}

bool metadata_serve_access(int dirfd, const char *path, int mode)
{
	const struct request request = {.dirfd = dirfd, .path = path, .mode = mode};

	return !(mode & ~(R_OK | W_OK | X_OK)) && serve(&request, 0);
}

/*
 * Returns what is known of the extended attribute with this number, or of all for a larger one; 0:
 * nothing.
 */
static int xattrs_ask(const char *path, unsigned int i)
{
	const struct cosy_watch_entry *entry;
	struct table *table;
	struct set *set;
	int known = 0;

	/* It makes no READ, so that nothing is lost by programs that ask for nothing else. */
	if (__atomic_load_n(&watcher_state, __ATOMIC_ACQUIRE) != WATCHER_OPEN ||
	    !is_address(path) || vfork_in_child())
		return 0;
	set = set_take();
	if (!set)
		return 0;
	table = *set_recent(set, AT_FDCWD);
	entry = table_again(table, AT_FDCWD, path);
	if (!entry)
		entry = table_next(table, AT_FDCWD, path);
	if (entry && entry_holds(table, entry)) {
		known = i < COSY_WATCH_XATTR_COUNT ? entry->xattr_errors[i]
						   : entry->flags & COSY_WATCH_NO_XATTRS;
		if (known)
			table_count(table);
		set->absent = MORE;
	}
	set_leave(set);
	return known;
}

int metadata_xattr_error(const char *path, const char *name)
{
	unsigned int i;

	if (__atomic_load_n(&watcher_state, __ATOMIC_ACQUIRE) != WATCHER_OPEN || !is_address(name))
		return 0;
	i = xattr_find(name);
	return i < COSY_WATCH_XATTR_COUNT ? xattrs_ask(path, i) : 0;
}

bool metadata_has_no_xattrs(const char *path)
{
	return xattrs_ask(path, COSY_WATCH_XATTR_COUNT);
}
