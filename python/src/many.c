// SPDX-License-Identifier: MIT
/*
 * many.c - cosy.stat_many and cosy.read_files.
 *
 * A signal handler of Python runs when the interrupted call has returned to Python (PEP 475).  The
 * library's functions restart interrupted calls themselves, and any path may be a FIFO without a
 * writer.  So files are read here, each by its own calls: to examine them first would cost more than
 * the kernel saves of an open, a read and a close.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

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

#define FIRST_ROOM 65536
#define READ_FLAGS (O_RDONLY | O_CLOEXEC)

/* How files are read, and what they are read into. */
struct reader {
	const struct paths *paths;
	int dir_fd;
	uint64_t max_size; /* 0: no limit */
	bool returned;	   /* failures go to `list` */
	PyObject *list;
	int fd; /* of the file that is being read, or -1 */
	char *buffer;
	size_t room, size; /* ... and its bytes so far */
};

/* Raises what open() does.  A hook may refuse each path before any is opened.  False: exception. */
static bool reader_audit(const struct reader *reader, const struct module *module)
{
	PyObject *event = PyUnicode_FromString("open"), *flags = PyLong_FromLong(READ_FLAGS);
	PyObject *done = event;

	for (Py_ssize_t i = 0; i < reader->paths->count && done && flags; i++) {
		done = PyObject_CallFunctionObjArgs(
			module->audit, event, reader->paths->all[i].object, Py_None, flags, NULL);
		Py_XDECREF(done);
	}
	Py_XDECREF(event);
	Py_XDECREF(flags);
	return done && flags;
}

/* Adds the bytes of a file, or its failure, to the list.  False: exception. */
static bool reader_add(struct reader *reader, Py_ssize_t index, int error, const char *data,
		       size_t size)
{
	PyObject *item = error ? failure(error, &reader->paths->all[index], reader->returned)
			       : PyBytes_FromStringAndSize(data, (Py_ssize_t)size);

	if (!item)
		return false;
	PyList_SetItem(reader->list, index, item);
	/* The next file may be one that blocks. */
	return !PyErr_CheckSignals();
}

static int reader_grow(struct reader *reader)
{
	size_t room = reader->room ? reader->room * 2 : FIRST_ROOM;
	char *buffer = realloc(reader->buffer, room);

	if (!buffer)
		return -ENOMEM;
	reader->buffer = buffer;
	reader->room = room;
	return 0;
}

/* Opens a file and reads on, without the GIL.  0 at its end; -EINTR: call it again. */
static int reader_go_on(struct reader *reader, const char *path)
{
	ssize_t bytes;

	if (reader->fd < 0)
		reader->fd = openat(reader->dir_fd, path, READ_FLAGS);
	if (reader->fd < 0)
		return -errno;
	do {
		if (reader->size == reader->room && reader_grow(reader))
			return -ENOMEM;
		bytes = read(reader->fd, reader->buffer + reader->size,
			     reader->room - reader->size);
		if (bytes < 0)
			return -errno;
		reader->size += (size_t)bytes;
		if (reader->max_size && reader->size > reader->max_size)
			return -EFBIG;
	} while (bytes);
	return 0;
}

/* Reads one file.  False: exception, which may be a signal handler's. */
static bool reader_read(struct reader *reader, Py_ssize_t index)
{
	bool interrupted;
	int error;

	reader->fd = -1;
	reader->size = 0;
	do {
		Py_BEGIN_ALLOW_THREADS
		error = reader_go_on(reader, reader->paths->names[index]);
		if (error != -EINTR && reader->fd >= 0)
			close(reader->fd);
		Py_END_ALLOW_THREADS
		interrupted = error == -EINTR && PyErr_CheckSignals();
	} while (error == -EINTR && !interrupted);
	if (interrupted) {
		if (reader->fd >= 0)
			close(reader->fd);
		return false;
	}
	return reader_add(reader, index, error, reader->buffer, reader->size);
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
	struct paths paths;
	struct reader reader = {.paths = &paths, .dir_fd = AT_FDCWD};
	PyObject *argument;
	int returned = 0;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$O&O&p:read_files", names, &argument,
					 dir_fd_convert, &reader.dir_fd, max_size_convert,
					 &reader.max_size, &returned) ||
	    !paths_convert(argument, "read_files", &paths))
		return NULL;
	reader.returned = returned;
	reader.list = PyList_New(paths.count);
	if (reader.list && !reader_audit(&reader, PyModule_GetState(self)))
		Py_CLEAR(reader.list);
	for (Py_ssize_t i = 0; reader.list && i < paths.count; i++)
		if (!reader_read(&reader, i))
			Py_CLEAR(reader.list);
	free(reader.buffer);
	paths_clear(&paths);
	return reader.list;
}
