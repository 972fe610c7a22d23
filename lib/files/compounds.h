/* SPDX-License-Identifier: MIT */
/*
 * compounds.h - the compounds of <cosy/files.h>, each with a region that counts and decides as one
 * compiled by cosycc does (region/region.h): the functions' plain calls are its native twin.
 *
 * gen_compounds.c builds them when libcosy is built.
 */
#ifndef COSY_LIB_FILES_COMPOUNDS_H
#define COSY_LIB_FILES_COMPOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cosy/files.h>

enum files_compound {
	FILES_LIST,
	FILES_STAT,
	FILES_READ,
	FILES_COMPOUNDS,
};

/* Bytes that any entry fits into, as scan_dir writes it. */
#define MIN_LIST_ROOM 440
/* Bytes of the buffer below which no further file is read into it. */
#define MIN_READ_ROOM 4096

/* Contexts: the compound's inputs first, then its results. */

struct files_list {
	int64_t closing; /* a descriptor to close first, or negative */
	int64_t dirfd;
	uint64_t name; /* to be opened there, or 0: list `fd` */
	int64_t open_flags;
	int64_t fd;    /* out: the directory, or openat's negative errno */
	int64_t flags; /* of fstatat */
	uint64_t to;   /* where struct cosy_dirent go */
	int64_t room;  /* bytes there, at least MIN_LIST_ROOM */
	int64_t bytes; /* in: 0; out: written */
	int64_t more;  /* out: above 0: there is more; 0: the end; or a negative errno */
};

struct files_stat {
	int64_t dirfd, flags, mask;
	uint64_t names;
	uint64_t results; /* struct cosy_stat_result; `error` is a negative errno of 64 bits */
	uint64_t end;	  /* of those */
	int64_t scratch[3];
};

struct files_read {
	int64_t dirfd, flags;
	uint64_t paths;
	uint64_t results; /* in: int64_t[]; out: the first that was not written */
	uint64_t end;	  /* of those */
	uint64_t to;	  /* in: 8-byte aligned; out: where the last file ends */
	uint64_t limit;	  /* of the buffer */
	int64_t fd;	  /* out: negative, or of a file that was not read to its end */
	int64_t bytes;	  /* out: of that file, below `to` */
	int64_t scratch[2];
};

/* True if it may pay to try: false is certain, true is not. */
bool libcosy_files_ready(enum files_compound which);

/*
 * Runs a compound with the context at `words`, of the structure above, and copies its results
 * there. False: nothing was done; make the plain calls, and report them with libcosy_files_count.
 */
bool libcosy_files_run(enum files_compound which, void *words);

/* Notes that `calls` calls, of those that the compound saves most by, were made natively. */
void libcosy_files_count(enum files_compound which, size_t calls);

#endif /* COSY_LIB_FILES_COMPOUNDS_H */
