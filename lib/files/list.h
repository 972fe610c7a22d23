/* SPDX-License-Identifier: MIT */
/* list.h - reads an open directory's entries, with or without attributes, a portion at a time. */
#ifndef COSY_LIB_FILES_LIST_H
#define COSY_LIB_FILES_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cosy/files.h>

enum list_attributes {
	LIST_NAMES,  /* none */
	LIST_STAT,   /* of the entry itself */
	LIST_FOLLOW, /* of a link's target; of the link, if it has none */
};

/* Serves one directory after the other.  Zeroed, it is empty. */
struct libcosy_list {
	enum list_attributes attributes;
	bool dots;	  /* list "." and "..", as well */
	bool described;	  /* the portion has struct cosy_dirent, with attributes, of the compound */
	int fd;		  /* of the caller's directory; -1: none */
	char *buffer;	  /* ordinary memory */
	char *shared;	  /* NULL, or LIST_SHARED bytes in the shared buffer for the compound */
	char *portions;	  /* the one of the two that has the portion */
	size_t at, end;	  /* of the portion */
	size_t portion;	  /* bytes to ask for next */
	int64_t more;	  /* after a described portion: above 0: more, 0: no more, or an error */
	size_t examined;  /* natively, since the compound was last tried */
	struct stat stat; /* of the last entry */
};

/* Makes the memory for `list`.  False: there is none. */
bool libcosy_list_create(struct libcosy_list *list, enum list_attributes attributes, bool dots);
void libcosy_list_destroy(struct libcosy_list *list);

/* Begins with a directory that was just opened, and that stays the caller's. */
void libcosy_list_begin(struct libcosy_list *list, int fd);

/*
 * Closes `closing` unless it is negative, then opens a directory with openat's `flags` and begins
 * with it.  Returns its descriptor, which becomes the caller's, or a negative errno.
 */
int libcosy_list_open(struct libcosy_list *list, int closing, int dirfd, const char *name,
		      int flags);

/*
 * Sets name, name_length, stat, inode, error and type of *entry for the next entry.  Returns 1, 0
 * at the end, or a negative errno.
 */
int libcosy_list_next(struct libcosy_list *list, struct cosy_dir_entry *entry);

#endif /* COSY_LIB_FILES_LIST_H */
