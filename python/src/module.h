/* SPDX-License-Identifier: MIT */
/*
 * module.h - the extension module cosy._cosy: os's functions on directories and files over libcosy.
 *
 * It uses CPython's limited API of version 3.11, so one binary serves all later versions.  All
 * state is in struct module: nothing is shared by interpreters.  No type can hold a reference
 * cycle, so none takes part in garbage collection.  Functions return new references, or NULL with
 * an exception set, unless they say otherwise.
 */
#ifndef COSY_PYTHON_MODULE_H
#define COSY_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <sys/stat.h>

#include <cosy/files.h>

/* The members of os.stat_result, in its order. */
enum stat_field {
	FIELD_MODE,
	FIELD_INO,
	FIELD_DEV,
	FIELD_NLINK,
	FIELD_UID,
	FIELD_GID,
	FIELD_SIZE,
	FIELD_ATIME_INT,
	FIELD_MTIME_INT,
	FIELD_CTIME_INT,
	STAT_ITEMS, /* those above are also items of the sequence */
	FIELD_ATIME = STAT_ITEMS,
	FIELD_MTIME,
	FIELD_CTIME,
	FIELD_ATIME_NS,
	FIELD_MTIME_NS,
	FIELD_CTIME_NS,
	FIELD_BLKSIZE,
	FIELD_BLOCKS,
	FIELD_RDEV,
	STAT_FIELDS,
};

/* Bytes of a block that most entries with attributes fit into, and blocks that are kept at most. */
#define ENTRY_BLOCK 320
#define MAX_SPARES  128

/* Blocks of entries that are gone, for the next ones. */
struct spares {
	void *blocks[MAX_SPARES];
	unsigned int count;
};

/* The last object that was made of a number; NULL: none. */
struct shared {
	uint64_t value;
	PyObject *object;
};

struct module {
	PyTypeObject *stat_type;
	PyTypeObject *folder_type;
	PyTypeObject *entry_type;
	PyTypeObject *scan_type;
	PyTypeObject *tree_type;
	PyTypeObject *os_stat_type;	  /* os.stat_result ... */
	Py_ssize_t os_place[STAT_FIELDS]; /* ... and where it has each member */
	Py_ssize_t os_fields;		  /* how many it has */
	PyObject *audit;		  /* sys.audit ... */
	PyObject *scandir_event;	  /* ... and its name of a directory that is opened */
	PyObject *follow_symlinks;	  /* the name, as the compiler of a call has it ... */
	PyObject *follow_names;		  /* ... and the last tuple that was that name alone */
	struct shared mode, dev, blksize; /* of os.stat_results */
	struct spares spares;
};

/* Returns the module's state, given an instance of one of its types. */
static inline struct module *module_of(PyObject *self)
{
	return PyType_GetModuleState(Py_TYPE(self));
}

extern PyType_Spec stat_spec, folder_spec, entry_spec, scan_spec, tree_spec;

/* --- stat.c: cosy.StatResult ----------------------------------------------------------- */

/*
 * One that came with an entry lies in the entry's memory, and is an object only while somebody has a
 * reference to it.  Until the last reference is dropped it keeps the entry alive.
 */
struct stat_result {
	PyObject_HEAD
	PyObject *entry; /* NULL: it is alone in its memory */
	bool lent;	 /* it is an object */
	struct stat st;
};

PyObject *stat_new(const struct module *module, const struct stat *st);
/* Returns a reference to one in the memory of `entry`. */
PyObject *stat_lend(const struct module *module, struct stat_result *self, PyObject *entry);
mode_t stat_mode(PyObject *self);
/* Learns the order of os.stat_result's members.  Returns 0, or -1 with an exception. */
int stat_learn(struct module *module);

/* --- folder.c: the directory that entries are in ------------------------------------------ */

/*
 * A directory, shared by its entries and the iterator that lists it.  Entries are examined
 * relative to the descriptor of `scan` while that is open, else to `origin`, else by their paths.
 */
struct folder {
	PyObject_HEAD
	struct module *module;
	PyObject *path; /* str or bytes; NULL: a descriptor was given */
	bool bytes;	/* names are bytes */
	int origin;	/* the caller's descriptor, or -1 */
	struct cosy_scan *scan;
	int users;    /* calls on `scan` that run without the GIL ... */
	bool closing; /* ... the last of which closes it */
};

/* Takes over `scan`, on failure as well.  `path` is borrowed; it and `scan` may be NULL. */
struct folder *folder_new(struct module *module, PyObject *path, int origin,
			  struct cosy_scan *scan);
/* Closes `scan`, now or after the calls that use it. */
void folder_close(struct folder *folder);
/* Keeps `scan` open until folder_drop.  Returns false if there is none any more. */
bool folder_hold(struct folder *folder);
void folder_drop(struct folder *folder);
/* Returns path/name, of the path's type. */
PyObject *folder_join(const struct folder *folder, const char *name, Py_ssize_t len);
PyObject *folder_name(const struct folder *folder, const char *name, Py_ssize_t len);

/* --- entry.c: cosy.DirEntry ----------------------------------------------------------------- */

/* `st` may be NULL: the entry is examined when it is asked for. */
PyObject *entry_new(struct folder *folder, const char *name, uint16_t length, ino_t ino,
		    unsigned char type, const struct stat *st);
/* Is it a directory, or a link to one?  An entry that cannot be examined is none.  Never fails. */
bool entry_is_folder(PyObject *self);
/* Frees the blocks that are kept for entries. */
void entry_free_spares(struct module *module);

/* --- path.c: arguments -------------------------------------------------------------------- */

/* A path argument in the form that system calls take. */
struct path {
	PyObject *object;  /* str, bytes or int */
	PyObject *encoded; /* keeps `text` alive, or NULL */
	const char *text;  /* NULL: `fd` was given */
	int fd;
};

#define PATH_FD	  1 /* a descriptor is allowed */
#define PATH_NONE 2 /* None is "." */

/* Fills *path; path_clear releases it.  Returns 0, or -1 with an exception. */
int path_convert(PyObject *argument, const char *function, int allow, struct path *path);
void path_clear(struct path *path);
/* Sets the OSError of a negative errno.  Returns NULL. */
PyObject *path_error(int error, PyObject *filename);
/* Returns the exception that path_error would set. */
PyObject *path_exception(int error, PyObject *filename);
/* Reports to audit hooks that a directory is opened.  Returns 0, or -1 with a hook's exception. */
int path_audit(const struct module *module, PyObject *path);

/* --- portion.c: entries that were read ahead ------------------------------------------------ */

/* One event of a scan or walk, copied.  The next one is `size` bytes above it. */
struct record {
	uint32_t size;
	uint32_t depth;
	int error;
	uint8_t type;	 /* DT_* */
	uint8_t event;	 /* enum cosy_walk_event */
	uint16_t length; /* of the name */
	bool examined;	 /* begins with a struct stat */
	uint64_t ino;
	char rest[]; /* struct stat if examined, and the name */
};

/* What was read without the GIL, so that it is released once for many entries. */
struct portion {
	char *bytes;
	size_t at, end;
	int outcome; /* of the last call: 1, 0 at the end, or a negative errno */
};

typedef int portion_source(void *handle, const struct cosy_dir_entry **entry);

/*
 * Calls source(handle) until the portion is full, there are no more, or the event is no entry.
 * Called without the GIL.
 */
void portion_fill(struct portion *portion, portion_source *source, void *handle);
/* Returns the first record that is left, or NULL. */
static inline const struct record *portion_first(const struct portion *portion)
{
	if (portion->at >= portion->end)
		return NULL;
	return (const struct record *)(portion->bytes + portion->at);
}

static inline void portion_pop(struct portion *portion)
{
	portion->at += portion_first(portion)->size;
}

static inline const struct stat *record_stat(const struct record *record)
{
	return record->examined ? (const struct stat *)record->rest : NULL;
}

static inline const char *record_name(const struct record *record)
{
	return record->rest + (record->examined ? sizeof(struct stat) : 0);
}

/* Returns a new entry. */
static inline PyObject *record_entry(const struct record *record, struct folder *folder)
{
	return entry_new(folder, record_name(record), record->length, record->ino, record->type,
			 record_stat(record));
}

/* --- scan.c, tree.c, many.c, copy.c: functions of the module -------------------------------- */

PyObject *scan_open(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *tree_open(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *many_stat(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *many_read(PyObject *self, PyObject *args, PyObject *keywords);
/* Copies a tree; returns a list of failures, (path in the source, errno). */
PyObject *copy_tree(PyObject *self, PyObject *args);

/* --- module.c ------------------------------------------------------------------------------- */

/*
 * Should entries be listed with their attributes?  Only where the kernel does both in one go: else
 * a program that never asks for them would pay for them.
 */
bool module_examines(void);

#endif
