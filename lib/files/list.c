// SPDX-License-Identifier: MIT
/* list.c - see list.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include <linux/cosy.h>

#include "files/compounds.h"
#include "files/list.h"
#include "files/open.h"
#include "memory/heap.h"
#include "process/context.h"

/*
 * Bytes of a portion.  The first one of a directory is small, because most directories are, and
 * because the compound is tried once in each portion.
 */
#define FIRST_PORTION 4096
#define MAX_PORTION   32768
/*
 * Bytes of the shared buffer, where the compound's entries cost less.  They are within what
 * programs reach directly from the start.
 */
#define LIST_SHARED 16384

/*
 * Memory of the shared buffer that no list uses now: most processes list one directory at a time.
 */
static char *spare;

/* Returns LIST_SHARED bytes of the shared buffer, or NULL. */
static char *shared_take(void)
{
	char *memory = __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQ_REL);

	if (libcosy_heap_retired)
		return NULL;
	return memory || !libcosy_generation() ? memory : libcosy_heap_alloc(LIST_SHARED);
}

static void shared_give(char *memory)
{
	memory = __atomic_exchange_n(&spare, memory, __ATOMIC_ACQ_REL);
	libcosy_heap_free(memory);
}

bool libcosy_list_create(struct libcosy_list *list, enum list_attributes attributes, bool dots)
{
	*list = (struct libcosy_list){.attributes = attributes, .dots = dots, .fd = -1};
	/* LIST_SHARED bytes are to be within what programs reach directly. */
	libcosy_note_heap();
	list->buffer = malloc(MAX_PORTION);
	return list->buffer;
}

void libcosy_list_destroy(struct libcosy_list *list)
{
	if (list->examined)
		libcosy_files_count(FILES_LIST, list->examined);
	if (list->shared)
		shared_give(list->shared);
	free(list->buffer);
}

void libcosy_list_begin(struct libcosy_list *list, int fd)
{
	list->fd = fd;
	list->at = list->end = 0;
	list->portion = FIRST_PORTION;
	list->described = false;
	list->more = 1;
}

/* --- Portions -------------------------------------------------------------------------------- */

/* Tries to have the compound do what `words` has and read a portion.  False: nothing was done. */
static bool list_run(struct libcosy_list *list, struct files_list *words)
{
	/* Names alone take no call for each, so there is nothing to save. */
	if (list->attributes == LIST_NAMES)
		return false;
	if (list->examined)
		libcosy_files_count(FILES_LIST, list->examined);
	list->examined = 0;
	if (!libcosy_files_ready(FILES_LIST))
		return false;
	if (!list->shared)
		list->shared = shared_take();
	words->flags = list->attributes == LIST_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW;
	list->portions = list->shared ? list->shared : list->buffer;
	words->to = (uint64_t)list->portions;
	words->room = list->shared ? LIST_SHARED : MAX_PORTION;
	if (!libcosy_files_run(FILES_LIST, words))
		return false;
	list->described = true;
	list->at = 0;
	list->end = words->bytes;
	list->more = words->more;
	return true;
}

int libcosy_list_open(struct libcosy_list *list, int closing, int dirfd, const char *name,
		      int flags)
{
	struct files_list words = {
		.closing = closing,
		.dirfd = dirfd,
		.name = (uint64_t)name,
		.open_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags,
	};

	libcosy_list_begin(list, -1);
	if (list_run(list, &words)) {
		list->fd = words.fd;
		if (words.fd != -EINTR)
			return words.fd;
		/* The close is done; nothing was listed. */
		libcosy_list_begin(list, libcosy_open_dir(dirfd, name, flags));
		return list->fd < 0 ? -errno : list->fd;
	}
	if (closing >= 0)
		close(closing);
	list->fd = libcosy_open_dir(dirfd, name, flags);
	/* The calls for the directory itself would have gained about as much as one entry. */
	list->examined++;
	return list->fd < 0 ? -errno : list->fd;
}

static ssize_t list_fill_natively(struct libcosy_list *list)
{
	ssize_t bytes;

	do
		bytes = getdents64(list->fd, list->buffer, list->portion);
	while (bytes < 0 && errno == EINTR);
	if (bytes < 0)
		return -errno;
	list->portions = list->buffer;
	list->described = false;
	list->at = 0;
	list->end = bytes;
	if (list->portion < MAX_PORTION)
		list->portion *= 2;
	return bytes;
}

/* Reads the next portion.  Returns its bytes, 0 at the end, or a negative errno. */
static ssize_t list_fill(struct libcosy_list *list)
{
	struct files_list words = {.closing = -1, .fd = list->fd};
	int64_t more = list->more;

	/* The result that ended the previous portion. */
	if (more > 0) {
		if (!list_run(list, &words))
			return list_fill_natively(list);
		if (list->end)
			return list->end;
		more = list->more;
	}
	/*
	 * The compound also stops for a signal and for a name too long for it.  The plain call goes
	 * on, or reports any other error itself.
	 */
	if (more < 0) {
		list->more = 1;
		return list_fill_natively(list);
	}
	return 0;
}

/*
 * --- Entries ------------------------------------------------------------------------------------
 */

static bool name_is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/*
 * Returns the length of the name, which begins at offset `name` of an entry. The kernel pads
 * entries to whole words, so the name's NUL is the first zero byte of the last word. Bytes of that
 * word that lie before the name do not count.
 */
static size_t entry_name_length(const char *entry, size_t reclen, size_t name)
{
	const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
	size_t last = reclen - sizeof(uint64_t);
	uint64_t word;

	memcpy(&word, entry + last, sizeof(word));
	if (last < name)
		word |= ~0ull >> (64 - 8 * (name - last));
	word = (word - ones) & ~word & tops;
	return last + __builtin_ctzll(word) / 8 - name;
}

/* Has `entry` get its attributes from list->stat, or the reason why there are none. */
static void list_examine(struct libcosy_list *list, struct cosy_dir_entry *entry)
{
	int flags = list->attributes == LIST_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW;
	int failed;

	list->examined++;
	failed = fstatat(list->fd, entry->name, &list->stat, flags);
	if (failed && !flags && (errno == ENOENT || errno == ELOOP))
		failed = fstatat(list->fd, entry->name, &list->stat, AT_SYMLINK_NOFOLLOW);
	if (failed) {
		entry->error = errno;
		return;
	}
	entry->stat = &list->stat;
	entry->type = IFTODT(list->stat.st_mode);
}

/* Takes the next entry of a portion of the compound's; false: it is one of dots. */
static bool list_take_described(struct libcosy_list *list, struct cosy_dir_entry *entry)
{
	const struct cosy_dirent *from = (const struct cosy_dirent *)(list->portions + list->at);

	list->at += from->reclen;
	if (!list->dots && name_is_dots(from->name))
		return false;
	entry->name = from->name;
	entry->name_length = entry_name_length((const char *)from, from->reclen,
					       offsetof(struct cosy_dirent, name));
	entry->inode = from->ino;
	entry->type = from->type;
	entry->error = -from->error;
	entry->stat = NULL;
	if (!from->error) {
		entry->stat = (const struct stat *)from->stat;
		entry->type = IFTODT(entry->stat->st_mode);
	} else if (list->attributes == LIST_FOLLOW || from->error == -EINTR) {
		/* It may be a link that leads nowhere. */
		entry->error = 0;
		list_examine(list, entry);
	}
	return true;
}

static bool list_take(struct libcosy_list *list, struct cosy_dir_entry *entry)
{
	const struct dirent64 *from = (const struct dirent64 *)(list->portions + list->at);

	list->at += from->d_reclen;
	if (!list->dots && name_is_dots(from->d_name))
		return false;
	entry->name = from->d_name;
	entry->name_length = entry_name_length((const char *)from, from->d_reclen,
					       offsetof(struct dirent64, d_name));
	entry->inode = from->d_ino;
	entry->type = from->d_type;
	entry->stat = NULL;
	entry->error = 0;
	if (list->attributes != LIST_NAMES)
		list_examine(list, entry);
	return true;
}

int libcosy_list_next(struct libcosy_list *list, struct cosy_dir_entry *entry)
{
	ssize_t bytes;
	bool taken;

	do {
		if (list->at >= list->end) {
			bytes = list_fill(list);
			if (bytes <= 0)
				return bytes;
		}
		taken = list->described ? list_take_described(list, entry) : list_take(list, entry);
	} while (!taken);
	return 1;
}
