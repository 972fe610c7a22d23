// SPDX-License-Identifier: MIT
/* scan.c - cosy.scandir and its iterator. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "module.h"

struct scan {
	PyObject_HEAD
	struct folder *folder; /* NULL: closed */
	PyObject *filename;    /* for errors */
	struct portion portion;
	bool filling;		 /* a thread fills the portion, without the GIL */
	PyThread_type_lock lock; /* held by that thread; others wait for it */
};

static int source_next(void *handle, const struct cosy_dir_entry **entry)
{
	return cosy_scan_next(handle, entry);
}

/* Closes the directory.  Entries that were read ahead are forgotten. */
static void scan_finish(struct scan *scan)
{
	struct folder *folder = scan->folder;

	scan->folder = NULL;
	/* Else the thread that fills it comes here when it is done. */
	if (!scan->filling)
		scan->portion.at = scan->portion.end = 0;
	if (folder) {
		folder_close(folder);
		Py_DECREF((PyObject *)folder);
	}
}

static PyObject *scan_take(struct scan *scan, const struct record *record)
{
	scan->portion.at += record->size;
	return record_entry(record, scan->folder);
}

/* Reads further entries.  Returns false if there are none: the directory is closed then. */
static bool scan_fill(struct scan *scan)
{
	struct folder *folder = scan->folder;
	struct portion *portion = &scan->portion;

	if (portion->outcome > 0 && folder_hold(folder)) {
		Py_INCREF((PyObject *)folder);
		scan->filling = true;
		Py_BEGIN_ALLOW_THREADS
		portion_fill(portion, source_next, folder->scan);
		Py_END_ALLOW_THREADS
		scan->filling = false;
		folder_drop(folder);
		Py_DECREF((PyObject *)folder);
		/* Another thread may have closed it meanwhile. */
		if (scan->folder && portion_first(portion))
			return true;
	}
	if (scan->folder && portion->outcome < 0)
		path_error(portion->outcome, scan->filename);
	scan_finish(scan);
	return false;
}

static PyObject *scan_next_filled(struct scan *scan)
{
	PyObject *entry = NULL;

	if (!PyThread_acquire_lock(scan->lock, NOWAIT_LOCK)) {
		Py_BEGIN_ALLOW_THREADS
		PyThread_acquire_lock(scan->lock, WAIT_LOCK);
		Py_END_ALLOW_THREADS
	}
	if (scan->folder && (portion_first(&scan->portion) || scan_fill(scan)))
		entry = scan_take(scan, portion_first(&scan->portion));
	PyThread_release_lock(scan->lock);
	return entry;
}

static PyObject *scan_next(struct scan *scan)
{
	const struct record *record;

	if (!scan->folder)
		return NULL;
	record = scan->filling ? NULL : portion_first(&scan->portion);
	return record ? scan_take(scan, record) : scan_next_filled(scan);
}

static PyObject *scan_close(struct scan *scan, PyObject *Py_UNUSED(none))
{
	scan_finish(scan);
	Py_RETURN_NONE;
}

static PyObject *scan_enter(PyObject *self, PyObject *Py_UNUSED(none))
{
	return Py_NewRef(self);
}

static PyObject *scan_exit(struct scan *scan, PyObject *Py_UNUSED(args))
{
	return scan_close(scan, NULL);
}

/*
 * Closes the directory.  A program that loses an open iterator is warned, as by os.  The warning
 * names the iterator, and its receiver may keep that: it is a closed one from then on.
 */
static void scan_finalize(PyObject *self)
{
	struct scan *scan = (struct scan *)self;
	PyObject *type, *value, *traceback;

	if (scan->folder) {
		PyErr_Fetch(&type, &value, &traceback);
		if (PyErr_ResourceWarning(self, 1, "unclosed scandir iterator %R", self) &&
		    PyErr_ExceptionMatches(PyExc_Warning))
			PyErr_WriteUnraisable(self);
		PyErr_Restore(type, value, traceback);
	}
	scan_finish(scan);
}

/* Frees the members that next() and close() use, also after a warning kept the iterator. */
static void scan_free(void *self)
{
	struct scan *scan = self;

	free(scan->portion.bytes);
	Py_XDECREF(scan->filename);
	if (scan->lock)
		PyThread_free_lock(scan->lock);
	PyObject_Free(scan);
}

static PyMethodDef scan_methods[] = {
	{"__enter__", scan_enter, METH_NOARGS, NULL},
	{"__exit__", (PyCFunction)scan_exit, METH_VARARGS, NULL},
	{"close", (PyCFunction)scan_close, METH_NOARGS,
	 "close($self, /)\n--\n\nClose the directory.  Closing it again does nothing."},
	{0},
};

static PyType_Slot scan_slots[] = {
	{Py_tp_doc, "The iterator of scandir(); also a context manager."},
	{Py_tp_iter, PyObject_SelfIter},
	{Py_tp_iternext, scan_next},
	{Py_tp_finalize, scan_finalize},
	{Py_tp_free, scan_free},
	{Py_tp_methods, scan_methods},
	{0},
};

PyType_Spec scan_spec = {
	.name = "cosy.ScandirIterator",
	.basicsize = sizeof(struct scan),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = scan_slots,
};

/*
 * Opens a directory anew, given its descriptor.  "." takes permission to search it, the descriptor's
 * link in /proc does not.
 */
static struct cosy_scan *scan_open_fd(int fd, uint32_t flags)
{
	struct cosy_scan *scan = cosy_scan_open(fd, ".", flags);
	char link[32];

	if (scan || errno != EACCES)
		return scan;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	scan = cosy_scan_open(AT_FDCWD, link, flags);
	if (!scan)
		errno = EACCES;
	return scan;
}

/* Opens a directory.  Returns NULL with an exception. */
static struct folder *scan_open_folder(struct module *module, const struct path *path,
				       uint32_t flags)
{
	struct cosy_scan *scan;
	int error;

	Py_BEGIN_ALLOW_THREADS
	scan = path->text ? cosy_scan_open(AT_FDCWD, path->text, flags)
			  : scan_open_fd(path->fd, flags);
	error = -errno;
	Py_END_ALLOW_THREADS
	if (!scan) {
		/* os duplicates the descriptor first, and that failure has no name. */
		path_error(error, path->text || error != -EBADF ? path->object : NULL);
		return NULL;
	}
	return folder_new(module, path->text ? path->object : NULL, path->text ? -1 : path->fd,
			  scan);
}

/* Has os.scandir list an open directory that this user may not open again, in place of an error. */
static PyObject *scan_open_by_os(const struct path *path)
{
	PyObject *os, *entries;

	PyErr_Clear();
	os = PyImport_ImportModule("os");
	entries = os ? PyObject_CallMethod(os, "scandir", "i", path->fd) : NULL;
	Py_XDECREF(os);
	return entries;
}

PyObject *scan_open(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"path", "stat", NULL};
	struct module *module = PyModule_GetState(self);
	PyObject *argument = Py_None, *by_os = NULL;
	struct folder *folder = NULL;
	struct scan *scan = NULL;
	struct path path;
	int examine = 1;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O$p:scandir", names, &argument,
					 &examine))
		return NULL;
	if (path_convert(argument, "scandir", PATH_FD | PATH_NONE, &path))
		return NULL;
	if (!path_audit(module, argument)) {
		folder = scan_open_folder(module, &path,
					  examine && module_examines() ? COSY_SCAN_STAT : 0);
		if (!folder && !path.text && PyErr_ExceptionMatches(PyExc_PermissionError))
			by_os = scan_open_by_os(&path);
	}
	if (folder)
		scan = PyObject_New(struct scan, module->scan_type);
	if (scan) {
		scan->folder = folder;
		scan->filename = Py_NewRef(path.object);
		scan->portion = (struct portion){.outcome = 1};
		scan->filling = false;
		scan->lock = PyThread_allocate_lock();
	} else {
		Py_XDECREF((PyObject *)folder);
	}
	path_clear(&path);
	if (by_os)
		return by_os;
	if (scan && !scan->lock) {
		scan_finish(scan);
		Py_CLEAR(scan);
		PyErr_NoMemory();
	}
	return (PyObject *)scan;
}
