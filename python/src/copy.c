// SPDX-License-Identifier: MIT
/* copy.c - cosy_copy_tree, for copytree() in _copy.py. */
#include <errno.h>
#include <fcntl.h>

#include "module.h"

/* What the failures of a copy are collected with. */
struct failures {
	PyThreadState *thread; /* of the copy, which runs without the GIL */
	PyObject *list;
	bool bytes; /* paths are bytes */
};

static int failures_add(void *argument, const char *path, int error)
{
	struct failures *failures = argument;
	PyObject *item, *name;
	int stop = 1;

	PyEval_RestoreThread(failures->thread);
	name = failures->bytes ? PyBytes_FromString(path) : PyUnicode_DecodeFSDefault(path);
	item = name ? Py_BuildValue("Ni", name, error) : NULL;
	if (item && !PyList_Append(failures->list, item))
		stop = PyErr_CheckSignals();
	Py_XDECREF(item);
	failures->thread = PyEval_SaveThread();
	return stop;
}

/* Copies, and adds to the list of failures.  Returns 0 or a negative errno. */
static int copy_run(const struct path *from, const struct path *to, struct failures *failures)
{
	const struct cosy_copy_options options = {
		.size = sizeof(options),
		.flags = COSY_COPY_MODE | COSY_COPY_TIMES,
		.failed = failures_add,
		.argument = failures,
	};
	int error = 0;

	failures->thread = PyEval_SaveThread();
	if (cosy_copy_tree(AT_FDCWD, from->text, AT_FDCWD, to->text, &options))
		error = -errno;
	PyEval_RestoreThread(failures->thread);
	return error;
}

PyObject *copy_tree(PyObject *Py_UNUSED(self), PyObject *args)
{
	PyObject *from_argument, *to_argument;
	struct path from, to;
	struct failures failures = {0};
	int error;

	if (!PyArg_ParseTuple(args, "OO:copy_tree", &from_argument, &to_argument) ||
	    path_convert(from_argument, "copytree", 0, &from))
		return NULL;
	if (path_convert(to_argument, "copytree", 0, &to)) {
		path_clear(&from);
		return NULL;
	}
	failures.bytes = PyBytes_Check(from.object);
	failures.list = PyList_New(0);
	if (failures.list) {
		error = copy_run(&from, &to, &failures);
		/* Without a failure of its own it is the destination's. */
		if (!PyErr_Occurred() && error && !PyList_Size(failures.list))
			path_error(error, to.object);
		if (PyErr_Occurred())
			Py_CLEAR(failures.list);
	}
	path_clear(&from);
	path_clear(&to);
	return failures.list;
}
