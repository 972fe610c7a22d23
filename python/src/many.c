// SPDX-License-Identifier: MIT
/* many.c - cosy.stat_many and cosy.read_files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "module.h"

/* Names that are examined without the GIL between. */
#define GROUP 128

/* A list of paths in the form that system calls take. */
struct paths {
	PyObject *list;
	Py_ssize_t count;
	struct path *all;
	const char **names;
};

static void paths_clear(struct paths *paths)
{
	for (Py_ssize_t i = 0; paths->all && i < paths->count; i++)
		path_clear(&paths->all[i]);
	free(paths->all);
	free(paths->names);
	Py_CLEAR(paths->list);
}

static bool paths_convert(PyObject *argument, const char *function, struct paths *paths)
{
	*paths = (struct paths){0};
	if (PyUnicode_Check(argument) || PyBytes_Check(argument)) {
		PyErr_Format(PyExc_TypeError, "%s: paths should be a list of paths, not %R",
			     function, Py_TYPE(argument));
		return false;
	}
	paths->list = PySequence_List(argument);
	if (!paths->list)
		return false;
	paths->count = PyList_Size(paths->list);
	paths->all = calloc((size_t)paths->count + 1, sizeof(*paths->all));
	paths->names = calloc((size_t)paths->count + 1, sizeof(*paths->names));
	if (!paths->all || !paths->names) {
		PyErr_NoMemory();
		goto failed;
	}
	for (Py_ssize_t i = 0; i < paths->count; i++) {
		if (path_convert(PyList_GetItem(paths->list, i), function, 0, &paths->all[i]))
			goto failed;
		paths->names[i] = paths->all[i].text;
	}
	return true;

failed:
	paths_clear(paths);
	return false;
}

/* Converts a dir_fd argument for PyArg_Parse. */
static int dir_fd_convert(PyObject *argument, void *to)
{
	struct path path;

	if (argument == Py_None) {
		*(int *)to = AT_FDCWD;
		return true;
	}
	if (!PyIndex_Check(argument)) {
		PyErr_Format(PyExc_TypeError, "argument should be integer or None, not %R",
			     Py_TYPE(argument));
		return false;
	}
	if (path_convert(argument, "dir_fd", PATH_FD, &path))
		return false;
	*(int *)to = path.fd;
	path_clear(&path);
	return true;
}

/* Returns what stands for a failure in the list: NULL with the exception if that is to be raised. */
static PyObject *failure(int error, const struct path *path, bool returned)
{
	return returned ? path_exception(error, path->object) : path_error(error, path->object);
}

/* --- stat_many --- */

static struct timespec time_of(const struct statx_timestamp *time)
{
	return (struct timespec){.tv_sec = time->tv_sec, .tv_nsec = time->tv_nsec};
}

static PyObject *stat_of(const struct module *module, const struct statx *from)
{
	struct stat st = {
		.st_dev = makedev(from->stx_dev_major, from->stx_dev_minor),
		.st_ino = from->stx_ino,
		.st_nlink = from->stx_nlink,
		.st_mode = from->stx_mode,
		.st_uid = from->stx_uid,
		.st_gid = from->stx_gid,
		.st_rdev = makedev(from->stx_rdev_major, from->stx_rdev_minor),
		.st_size = (off_t)from->stx_size,
		.st_blksize = from->stx_blksize,
		.st_blocks = (blkcnt_t)from->stx_blocks,
		.st_atim = time_of(&from->stx_atime),
		.st_mtim = time_of(&from->stx_mtime),
		.st_ctim = time_of(&from->stx_ctime),
	};

	return stat_new(module, &st);
}

/* Examines paths from `first` on, and adds what they are to `list`.  False: exception. */
static bool stat_group(const struct module *module, const struct paths *paths, Py_ssize_t first,
		       int dir_fd, int flags, bool returned, PyObject *list)
{
	Py_ssize_t count = paths->count - first < GROUP ? paths->count - first : GROUP;
	struct cosy_stat_result results[GROUP];

	Py_BEGIN_ALLOW_THREADS
	cosy_stat_many(dir_fd, paths->names + first, (size_t)count, flags, STATX_BASIC_STATS,
		       results);
	Py_END_ALLOW_THREADS
	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *item = results[i].error ? failure(-results[i].error,
							    &paths->all[first + i], returned)
						  : stat_of(module, &results[i].statx);

		if (!item)
			return false;
		PyList_SetItem(list, first + i, item);
	}
	return !PyErr_CheckSignals();
}

PyObject *many_stat(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"paths", "dir_fd", "follow_symlinks", "return_exceptions", NULL};
	int dir_fd = AT_FDCWD, follow = 1, returned = 0;
	PyObject *argument, *list;
	struct paths paths;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$O&pp:stat_many", names, &argument,
					 dir_fd_convert, &dir_fd, &follow, &returned) ||
	    !paths_convert(argument, "stat_many", &paths))
		return NULL;
	list = PyList_New(paths.count);
	for (Py_ssize_t first = 0; list && first < paths.count; first += GROUP)
		/* As stat(2), which mounts nothing. */
		if (!stat_group(PyModule_GetState(self), &paths, first, dir_fd,
				AT_NO_AUTOMOUNT | (follow ? 0 : AT_SYMLINK_NOFOLLOW), returned,
				list))
			Py_CLEAR(list);
	paths_clear(&paths);
	return list;
}

/* --- read_files --- */

/* Reads the next file, and adds its bytes to `list`.  False: exception. */
static bool read_one(struct cosy_read_files *files, const struct paths *paths, bool returned,
		     PyObject *list)
{
	const struct cosy_file *file;
	PyObject *item;
	int outcome, error;

	Py_BEGIN_ALLOW_THREADS
	outcome = cosy_read_files_next(files, &file);
	error = -errno;
	Py_END_ALLOW_THREADS
	if (outcome <= 0) {
		errno = -error;
		PyErr_SetFromErrno(PyExc_OSError);
		return false;
	}
	if (file->error)
		item = failure(-file->error, &paths->all[file->index], returned);
	else
		item = PyBytes_FromStringAndSize(file->data, (Py_ssize_t)file->size);
	if (!item)
		return false;
	PyList_SetItem(list, (Py_ssize_t)file->index, item);
	return file->index % GROUP || !PyErr_CheckSignals();
}

/* Converts a max_size argument for PyArg_Parse. */
static int max_size_convert(PyObject *argument, void *to)
{
	unsigned long long size;

	if (argument == Py_None)
		return true;
	size = PyLong_AsUnsignedLongLong(argument);
	if (size == (unsigned long long)-1 && PyErr_Occurred())
		return false;
	if (!size) {
		PyErr_SetString(PyExc_ValueError, "max_size must be at least 1");
		return false;
	}
	*(uint64_t *)to = size;
	return true;
}

PyObject *many_read(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"paths", "dir_fd", "max_size", "return_exceptions", NULL};
	struct cosy_read_options options = {.size = sizeof(options)};
	int dir_fd = AT_FDCWD, returned = 0;
	struct cosy_read_files *files;
	PyObject *argument, *list = NULL;
	struct paths paths;

	(void)self;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$O&O&p:read_files", names, &argument,
					 dir_fd_convert, &dir_fd, max_size_convert,
					 &options.max_size, &returned) ||
	    !paths_convert(argument, "read_files", &paths))
		return NULL;
	files = cosy_read_files_open(dir_fd, paths.names, (size_t)paths.count, &options);
	if (files)
		list = PyList_New(paths.count);
	else
		PyErr_SetFromErrno(PyExc_OSError);
	for (Py_ssize_t i = 0; list && i < paths.count; i++)
		if (!read_one(files, &paths, returned, list))
			Py_CLEAR(list);
	cosy_read_files_close(files);
	paths_clear(&paths);
	return list;
}
