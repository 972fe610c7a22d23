// SPDX-License-Identifier: MIT
/* table.c - finds the entries of a table by their names: see table.h. */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "metadata/table.h"
#include "mix.h"

/* Returns the bytes of a word of a name before its end, and zeros; `*ends`: whether it ends there. */
static inline uint64_t name_word(const char *name, bool *ends)
{
	uint64_t word, zeros;

	__builtin_memcpy(&word, name, 8);
	zeros = (word - 0x0101010101010101ull) & ~word & 0x8080808080808080ull;
	*ends = zeros;
	/* The lowest bit of them is in the first byte that is zero. */
	return zeros ? word & (((zeros & -zeros) >> 7) - 1) : word;
}

/* Mixes the words of a name that has room.  Of one that is too long it reads no more than that. */
static inline unsigned int name_chain(const char *name)
{
	uint64_t mixed = 0;
	bool ends = false;

	for (int i = 0; !ends && i <= NAME_MAX / 8; i++, name += 8)
		mixed = cosy_mix(mixed, name_word(name, &ends));
	return mixed >> 58;
}

/* Does the same for an entry's name, which is filled up with zeros. */
static inline unsigned int entry_chain(const struct cosy_watch_entry *entry)
{
	const uint64_t *words = (const uint64_t *)(entry + 1);
	uint64_t mixed = 0;

	for (unsigned int i = 0; i <= entry->name_length / 8u; i++)
		mixed = cosy_mix(mixed, words[i]);
	return mixed >> 58;
}

static void table_index_names(struct table *table)
{
	memset(table->chains, 0, sizeof(table->chains));
	for (unsigned int i = 0; i < table->count; i++) {
		uint8_t *chain = &table->chains[entry_chain(table_entry(table, i))];

		table->links[i] = *chain;
		*chain = i + 1;
	}
	table->indexed = true;
}

/* Returns the number of the entry of this name, which has room, or NOWHERE. */
static unsigned int table_lookup(struct table *table, const char *name)
{
	const struct cosy_watch_entry *entry;
	uint64_t first;
	unsigned int i;
	bool ends;

	if (table->count <= NEAR) {
		first = name_word(name, &ends);
		for (i = 0; i < table->count; i++) {
			entry = table_entry(table, i);
			if (*(const uint64_t *)(entry + 1) == first && entry_matches(entry, name))
				return i;
		}
		return NOWHERE;
	}
	if (!table->indexed)
		table_index_names(table);
	for (i = table->chains[name_chain(name)]; i; i = table->links[i - 1])
		if (entry_matches(table_entry(table, i - 1), name))
			return i - 1;
	return NOWHERE;
}

/* Returns an entry that was asked for, and learns the order in which the program asks. */
static const struct cosy_watch_entry *table_take(struct table *table, unsigned int i)
{
	if (i == table->next) {
		table->learnt++;
	} else if (i + table->step != table->next) {
		table->learnt = 0;
		if (i + 2 * table->step == table->next)
			table->step = -table->step;
	}
	table->next = i + table->step;
	return table_entry(table, i);
}

/* Finds the entry that a path names, or NULL.  `*missed`: the table has no such entry. */
static __attribute__((always_inline)) inline const struct cosy_watch_entry *table_find_path(
	struct table *table, int dirfd, const char *path, bool *missed)
{
	unsigned int i;

	/* The first name of the next directory finds the table of the last one, by the same number. */
	if (table->dirfd != dirfd || !table->count || !table_holds(table) ||
	    !path_has_prefix(path, table) || !name_has_room(path + table->prefix))
		return NULL;
	/* An entry's name has no slash, so no longer path is found. */
	i = table_lookup(table, path + table->prefix);
	*missed = i == NOWHERE;
	return *missed ? NULL : table_take(table, i);
}

/* Does what table_jump does, in a directory that has several tables. */
static __attribute__((noinline)) const struct cosy_watch_entry *table_jump_twin(struct set *set,
										struct table *table,
										int dirfd,
										const char *path)
{
	const struct cosy_watch_entry *entry;
	struct table *twin = table->twin;
	bool missed;

	entry = table_next(twin, dirfd, path);
	if (!entry) {
		entry = table_find_path(table, dirfd, path, &table->missed);
		if (entry)
			return entry;
		entry = table_find_path(twin, dirfd, path, &missed);
	}
	if (entry) {
		twin->twin = table;
		*set_recent(set, dirfd) = twin;
	}
	return entry;
}

const struct cosy_watch_entry *table_jump(struct set *set, int dirfd, const char *path)
{
	struct table *table = *set_recent(set, dirfd);

	table->missed = false;
	if (unlikely(table->twin))
		return table_jump_twin(set, table, dirfd, path);
	return table_find_path(table, dirfd, path, &table->missed);
}

int table_expect_shared(struct found *found, int dirfd, const char *path, const void *ret,
			int flags)
{
	struct set *set;

	if (alone() || vfork_parent ||
	    __atomic_load_n(&watcher_state, __ATOMIC_ACQUIRE) != WATCHER_OPEN ||
	    unlikely(!is_address(path) || !is_address(ret) || (flags & ~FLAGS_SERVED)))
		return TABLE_UNKNOWN;
	set = __atomic_load_n(set_place(), __ATOMIC_ACQUIRE);
	if (unlikely(!set || __atomic_load_n(&set->budget.rest, __ATOMIC_RELAXED) ||
		     __atomic_exchange_n(&set->taken, true, __ATOMIC_ACQUIRE)))
		return TABLE_UNKNOWN;
	found->set = set;
	found->table = *set_recent(set, dirfd);
	found->entry = table_next(found->table, dirfd, path);
	if (unlikely(!found->entry)) {
		found->entry = table_jump(set, dirfd, path);
		found->table = *set_recent(set, dirfd);
	}
	return found_holds(found);
}

int table_expect_other(struct found *found, int dirfd, const char *path)
{
	struct set *set = __atomic_load_n(&sets[0], __ATOMIC_ACQUIRE);

	/* A signal handler may have begun a thread since, or have gone on with another context. */
	if (unlikely(set->taken || !alone() || vfork_parent))
		return TABLE_UNKNOWN;
	set_take_alone(set);
	found->set = set;
	found->entry = table_jump(set, dirfd, path);
	found->table = *set_recent(set, dirfd);
	return found_holds(found);
}

const struct cosy_watch_entry *table_search(struct table *table, const char *name,
					    unsigned int length)
{
	char copy[NAME_MAX + 9];
	unsigned int i;

	if (length > NAME_MAX)
		return NULL;
	if (!name_has_room(name)) {
		memcpy(copy, name, length + 1);
		name = copy;
	}
	i = table_lookup(table, name);
	return i == NOWHERE ? NULL : table_take(table, i);
}
