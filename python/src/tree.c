// SPDX-License-Identifier: MIT
/*
 * tree.c - the iterator that cosy.walk is made of: one directory after the other.
 *
 * Each item is what os.walk yields, (path, directories, files), or an OSError of a directory that
 * could not be listed.  The lists hold names, or entries if the caller wants attributes.
 *
 * Top down, the caller may have changed the list of directories when it asks for the next item:
 * those that are not in it any more are left out.  Where the list has another order, or something
 * new, the walk below that directory is the caller's: the next item is that list, and no directory
 * in it is entered here.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

/* A directory that is being listed, or in which others are. */
struct level {
	struct folder *folder;
	PyObject *dirs, *files;
	PyObject *listed; /* what `dirs` was when it was yielded ... */
	Py_ssize_t next;  /* ... and the place in it that the walk has come to */
	PyObject *kept;	  /* what the caller left of it; NULL: all */
	Py_ssize_t next_kept;
	bool closed; /* enter no directory in it */
	bool failed; /* do not yield it */
};

/* Items of a list to be. */
struct bag {
	PyObject **items;
	size_t count, room;
};

struct tree {
	PyObject_HEAD
	struct module *module;
	struct cosy_walk *walk; /* NULL: at the end */
	PyObject *top;
	bool bottom_up;
	bool entries; /* the lists hold entries, not names */
	bool busy;    /* a thread is in it */
	bool listing; /* the last level's items are in `dirs` and `files`, not in lists yet */
	bool yielded; /* the last level was the last item */
	struct portion portion;
	struct bag dirs, files;
	struct level *levels;
	size_t count, room;
};

static int source_next(void *handle, const struct cosy_dir_entry **entry)
{
	return cosy_walk_next(handle, entry);
}

/* --- Bags --- */

/* Takes the reference to `item`.  False: exception. */
static bool bag_add(struct bag *bag, PyObject *item)
{
	if (bag->count == bag->room) {
		size_t room = bag->room ? bag->room * 2 : 64;
		PyObject **items = realloc(bag->items, room * sizeof(PyObject *));

		if (!items) {
			Py_DECREF(item);
			PyErr_NoMemory();
			return false;
		}
		bag->items = items;
		bag->room = room;
	}
	bag->items[bag->count++] = item;
	return true;
}

static void bag_clear(struct bag *bag)
{
	while (bag->count)
		Py_DECREF(bag->items[--bag->count]);
}

/* Returns a list of its items, and empties it. */
static PyObject *bag_list(struct bag *bag)
{
	PyObject *list = PyList_New((Py_ssize_t)bag->count);

	if (!list)
		return NULL;
	for (size_t i = 0; i < bag->count; i++)
		PyList_SetItem(list, (Py_ssize_t)i, bag->items[i]);
	bag->count = 0;
	return list;
}

/* --- Levels --- */

static void level_clear(struct level *level)
{
	Py_CLEAR(level->folder);
	Py_CLEAR(level->dirs);
	Py_CLEAR(level->files);
	Py_CLEAR(level->listed);
	Py_CLEAR(level->kept);
}

static struct level *level_last(struct tree *tree)
{
	return &tree->levels[tree->count - 1];
}

static void levels_cut(struct tree *tree, size_t count)
{
	while (tree->count > count)
		level_clear(&tree->levels[--tree->count]);
}

static bool levels_grow(struct tree *tree)
{
	size_t room = tree->room ? tree->room * 2 : 16;
	struct level *levels = realloc(tree->levels, room * sizeof(*levels));

	if (!levels) {
		PyErr_NoMemory();
		return false;
	}
	tree->levels = levels;
	tree->room = room;
	return true;
}

/* Adds a level for the directory at `path`, of which this takes the reference.  False: exception. */
static bool levels_push(struct tree *tree, PyObject *path)
{
	struct level level = {0};

	if (path && (tree->count < tree->room || levels_grow(tree)))
		level.folder = folder_new(tree->module, path, -1, NULL);
	Py_XDECREF(path);
	if (!level.folder)
		return false;
	tree->levels[tree->count++] = level;
	return true;
}

/* Makes the lists of the last level, all of which has been listed.  False: exception. */
static bool level_make_lists(struct tree *tree)
{
	struct level *level = level_last(tree);

	tree->listing = false;
	level->dirs = bag_list(&tree->dirs);
	level->files = level->dirs ? bag_list(&tree->files) : NULL;
	return level->files;
}

/* --- What the caller left of a list --- */

static bool lists_are_equal(PyObject *a, PyObject *b)
{
	Py_ssize_t size = PyList_Size(a);

	if (size != PyList_Size(b))
		return false;
	for (Py_ssize_t i = 0; i < size; i++)
		if (PyList_GetItem(a, i) != PyList_GetItem(b, i))
			return false;
	return true;
}

/* Has `part` some of the items of `all`, in their order? */
static bool list_is_part(PyObject *part, PyObject *all)
{
	Py_ssize_t size = PyList_Size(part), count = PyList_Size(all), at = 0;

	for (Py_ssize_t i = 0; i < size; i++, at++) {
		while (at < count && PyList_GetItem(all, at) != PyList_GetItem(part, i))
			at++;
		if (at >= count)
			return false;
	}
	return true;
}

/* Looks at the list that was yielded.  1: its order is the caller's.  -1 with an exception. */
static int level_look(struct level *level)
{
	if (lists_are_equal(level->dirs, level->listed))
		return 0;
	if (!list_is_part(level->dirs, level->listed)) {
		level->closed = true;
		return 1;
	}
	level->kept = PyList_GetSlice(level->dirs, 0, PyList_Size(level->dirs));
	return level->kept ? 0 : -1;
}

/*
 * Does the caller want the directory of that name?  They come in the order of the list.  1, 0, or
 * -1 with an exception.
 */
static int level_wants(struct level *level, const char *name)
{
	PyObject *wanted, *item;
	int same = 0, kept = 0;

	if (level->closed || level->failed)
		return 0;
	if (!level->kept)
		return 1;
	wanted = folder_name(level->folder, name, (Py_ssize_t)strlen(name));
	if (!wanted)
		return -1;
	while (!same && level->next < PyList_Size(level->listed)) {
		item = PyList_GetItem(level->listed, level->next++);
		kept = level->next_kept < PyList_Size(level->kept) &&
		       PyList_GetItem(level->kept, level->next_kept) == item;
		level->next_kept += kept;
		/* An entry equals its name. */
		same = PyObject_RichCompareBool(item, wanted, Py_EQ);
	}
	Py_DECREF(wanted);
	return same < 0 ? -1 : same && kept;
}

/* --- Events: each returns false with an exception --- */

/* Adds what was listed: itself, or its name. */
static bool tree_list(struct tree *tree, const struct record *record)
{
	struct level *level = level_last(tree);
	bool is_folder = record->type == DT_DIR;
	/* Whether it is a directory may depend on what a link leads to. */
	bool uncertain = record->type == DT_LNK || record->type == DT_UNKNOWN;
	PyObject *item = NULL;

	if (tree->entries || uncertain) {
		item = record_entry(record, level->folder);
		if (!item)
			return false;
		if (uncertain)
			is_folder = entry_is_folder(item);
	}
	if (!tree->entries) {
		Py_XDECREF(item);
		item = folder_name(level->folder, record_name(record), record->length);
		if (!item)
			return false;
	}
	return bag_add(is_folder ? &tree->dirs : &tree->files, item);
}

static bool tree_enter(struct tree *tree, const struct record *record)
{
	const char *name = record_name(record);
	struct folder *above;
	struct level *level;
	int wanted;

	if (!record->depth) {
		tree->listing = true;
		return levels_push(tree, Py_NewRef(tree->top));
	}
	levels_cut(tree, record->depth);
	wanted = level_wants(level_last(tree), name);
	if (!wanted)
		cosy_walk_skip(tree->walk);
	if (wanted <= 0)
		return !wanted;
	above = level_last(tree)->folder;
	if (!levels_push(tree, folder_join(above, name, (Py_ssize_t)strlen(name))))
		return false;
	level = level_last(tree);
	tree->listing = !path_audit(tree->module, level->folder->path);
	return tree->listing;
}

/* Returns the item of a directory that could not be listed. */
static PyObject *tree_fail(struct tree *tree, const struct record *record)
{
	struct level *level = level_last(tree);

	level->failed = true;
	tree->listing = false;
	bag_clear(&tree->dirs);
	bag_clear(&tree->files);
	return path_exception(-record->error, level->folder->path);
}

/* Returns the item of the last level. */
static PyObject *tree_yield(struct tree *tree)
{
	struct level *level = level_last(tree);

	if (tree->listing && !level_make_lists(tree))
		return NULL;
	if (!tree->bottom_up) {
		level->listed = PyList_GetSlice(level->dirs, 0, PyList_Size(level->dirs));
		if (!level->listed)
			return NULL;
		tree->yielded = true;
	}
	return PyTuple_Pack(3, level->folder->path, level->dirs, level->files);
}

/* --- The iterator --- */

static void tree_finish(struct tree *tree)
{
	struct cosy_walk *walk = tree->walk;

	tree->walk = NULL;
	cosy_walk_close(walk);
	levels_cut(tree, 0);
	bag_clear(&tree->dirs);
	bag_clear(&tree->files);
}

/* Reads further events.  False: at the end, or with an exception. */
static bool tree_fill(struct tree *tree)
{
	if (tree->portion.outcome > 0) {
		Py_BEGIN_ALLOW_THREADS
		portion_fill(&tree->portion, source_next, tree->walk);
		Py_END_ALLOW_THREADS
		if (PyErr_CheckSignals())
			return false;
		if (portion_first(&tree->portion))
			return true;
	}
	if (tree->portion.outcome < 0)
		path_error(tree->portion.outcome, tree->top);
	return false;
}

/* Handles an event of a directory.  Returns an item; NULL without an exception: there is none yet. */
static PyObject *tree_event(struct tree *tree, const struct record *record)
{
	PyObject *item = NULL;

	switch (record->event) {
	case COSY_WALK_ENTER:
		/* All of the previous one is there: yield that first. */
		if (tree->listing && !tree->bottom_up)
			return tree_yield(tree);
		if (!tree->listing || level_make_lists(tree))
			tree_enter(tree, record);
		break;
	case COSY_WALK_FAILED:
		item = tree_fail(tree, record);
		break;
	case COSY_WALK_LEAVE:
		levels_cut(tree, record->depth + 1);
		if (!level_last(tree)->failed)
			item = tree_yield(tree);
		levels_cut(tree, record->depth);
		break;
	}
	portion_pop(&tree->portion);
	return item;
}

/* Adds the entries that have been read.  False: exception. */
static bool tree_list_all(struct tree *tree)
{
	const struct record *record;

	while ((record = portion_first(&tree->portion)) && record->event == COSY_WALK_ENTRY) {
		if (!tree_list(tree, record))
			return false;
		portion_pop(&tree->portion);
	}
	return true;
}

static PyObject *tree_run(struct tree *tree)
{
	const struct record *record;
	PyObject *item = NULL;

	if (tree->yielded) {
		int look = level_look(level_last(tree));

		tree->yielded = false;
		if (look)
			return look < 0 ? NULL : Py_NewRef(level_last(tree)->dirs);
	}
	while (tree->walk && !item) {
		if (portion_first(&tree->portion) || tree_fill(tree)) {
			record = tree_list_all(tree) ? portion_first(&tree->portion) : NULL;
			item = record ? tree_event(tree, record) : NULL;
		} else if (!PyErr_Occurred()) {
			if (tree->listing && !tree->bottom_up)
				return tree_yield(tree);
			break;
		}
		if (PyErr_Occurred())
			break;
	}
	if (!item)
		tree_finish(tree);
	return item;
}

static PyObject *tree_next(struct tree *tree)
{
	PyObject *item;

	if (tree->busy) {
		PyErr_SetString(PyExc_ValueError, "walk is already running in another thread");
		return NULL;
	}
	tree->busy = true;
	item = tree_run(tree);
	tree->busy = false;
	return item;
}

static void tree_dealloc(struct tree *tree)
{
	PyTypeObject *type = Py_TYPE((PyObject *)tree);

	tree_finish(tree);
	free(tree->levels);
	free(tree->dirs.items);
	free(tree->files.items);
	free(tree->portion.bytes);
	Py_XDECREF(tree->top);
	PyObject_Free(tree);
	Py_DECREF(type);
}

static PyType_Slot tree_slots[] = {
	{Py_tp_doc, "The iterator that walk() is made of."},
	{Py_tp_dealloc, tree_dealloc},
	{Py_tp_iter, PyObject_SelfIter},
	{Py_tp_iternext, tree_next},
	{0},
};

PyType_Spec tree_spec = {
	.name = "cosy._cosy.Tree",
	.basicsize = sizeof(struct tree),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = tree_slots,
};

static struct cosy_walk *tree_open_walk(const struct path *path, bool bottom_up, bool one,
					bool entries)
{
	struct cosy_walk_options options = {
		.size = sizeof(options),
		.flags = bottom_up ? COSY_WALK_POST : 0,
		.max_depth = one,
	};
	struct cosy_walk *walk;
	int error;

	if (entries && module_examines())
		options.flags |= COSY_WALK_STAT;
	Py_BEGIN_ALLOW_THREADS
	walk = cosy_walk_open(AT_FDCWD, path->text, &options);
	error = -errno;
	Py_END_ALLOW_THREADS
	if (!walk)
		path_error(error, path->object);
	return walk;
}

PyObject *tree_open(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"path", "bottom_up", "one", "entries", NULL};
	struct module *module = PyModule_GetState(self);
	struct cosy_walk *walk;
	struct tree *tree = NULL;
	PyObject *argument;
	struct path path;
	int bottom_up = 0, one = 0, entries = 0;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$ppp:tree", names, &argument,
					 &bottom_up, &one, &entries))
		return NULL;
	if (path_convert(argument, "walk", 0, &path))
		return NULL;
	/* As os.walk, which calls os.scandir; those below follow when they are entered. */
	walk = path_audit(module, path.object) ? NULL
					       : tree_open_walk(&path, bottom_up, one, entries);
	if (walk)
		tree = PyObject_New(struct tree, module->tree_type);
	if (tree) {
		memset((char *)tree + sizeof(PyObject), 0, sizeof(*tree) - sizeof(PyObject));
		tree->module = module;
		tree->walk = walk;
		tree->top = Py_NewRef(path.object);
		tree->bottom_up = bottom_up;
		tree->entries = entries;
		tree->portion.outcome = 1;
	} else {
		cosy_walk_close(walk);
	}
	path_clear(&path);
	return (PyObject *)tree;
}
