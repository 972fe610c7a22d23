/* SPDX-License-Identifier: MIT */
/* list.h - reads an open directory's entries, with or without attributes, a portion at a time. */
#ifndef COSY_LIB_FILES_LIST_H
#define COSY_LIB_FILES_LIST_H

#include <stdbool.h>
#include <sys/stat.h>

#include <cosy/files.h>

enum list_attributes {
	LIST_NAMES,  /* none */
	LIST_STAT,   /* of the entry itself */
	LIST_FOLLOW, /* of what a link leads to; of the link, where that is nothing */
};

/* Serves one directory after the other.  Zeroed, it is empty. */
struct libcosy_list {
	enum list_attributes attributes;
	bool dots; /* list "." and "..", as well */
	int fd;	   /* of the caller's directory; -1: none */
	char *buffer;
	size_t at, end;	  /* of the portion in the buffer */
	size_t portion;	  /* bytes to ask for next */
	struct stat stat; /* of the last entry */
};

/* Makes the memory for `list`.  False: there is none. */
bool libcosy_list_create(struct libcosy_list *list, enum list_attributes attributes, bool dots);
void libcosy_list_destroy(struct libcosy_list *list);

/* Begins with a directory that was just opened, and that stays the caller's. */
void libcosy_list_begin(struct libcosy_list *list, int fd);

/*
 * Sets name, name_length, stat, inode, error and type of *entry for the next entry.  Returns 1, 0
 * at the end, or a negative errno.
 */
int libcosy_list_next(struct libcosy_list *list, struct cosy_dir_entry *entry);

#endif /* COSY_LIB_FILES_LIST_H */
