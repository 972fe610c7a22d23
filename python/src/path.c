// SPDX-License-Identifier: MIT
/* path.c - arguments and errors, as os takes and raises them. */
#include <errno.h>
#include <string.h>

#include "module.h"

/*
 * A str of ASCII is the same bytes in every encoding of file systems, and holds them already.
 * Sets path->text then.  Returns 0, or -1 with an exception.
 */
static int path_take_ascii(struct path *path)
{
	Py_ssize_t bytes;
	const char *text;

	if (!PyUnicode_Check(path->object))
		return 0;
	text = PyUnicode_AsUTF8AndSize(path->object, &bytes);
	if (!text) {
		/* Surrogates, which stand for bytes that are not UTF-8. */
		if (!PyErr_ExceptionMatches(PyExc_UnicodeError))
			return -1;
		PyErr_Clear();
	} else if (bytes == PyUnicode_GetLength(path->object) && (size_t)bytes == strlen(text)) {
		path->text = text;
	}
	return 0;
}

static int path_take_fd(PyObject *argument, struct path *path)
{
	PyObject *number = PyNumber_Index(argument);
	long fd = number ? PyLong_AsLong(number) : -1;

	if (fd == -1 && PyErr_Occurred()) {
		Py_XDECREF(number);
		return -1;
	}
	if (fd != (int)fd) {
		Py_DECREF(number);
		PyErr_Format(PyExc_OverflowError, "fd is %s than %s", fd > 0 ? "greater" : "less",
			     fd > 0 ? "maximum" : "minimum");
		return -1;
	}
	path->object = number;
	path->fd = (int)fd;
	return 0;
}

int path_convert(PyObject *argument, const char *function, int allow, struct path *path)
{
	*path = (struct path){.fd = -1};
	if (allow & PATH_NONE && argument == Py_None) {
		path->object = PyUnicode_FromString(".");
		path->text = ".";
		return path->object ? 0 : -1;
	}
	if (allow & PATH_FD && PyIndex_Check(argument))
		return path_take_fd(argument, path);
	path->object = PyOS_FSPath(argument);
	if (!path->object) {
		if (allow && PyErr_ExceptionMatches(PyExc_TypeError))
			PyErr_Format(PyExc_TypeError,
				     "%s: path should be string, bytes, os.PathLike%s%s, not %R",
				     function, allow & PATH_FD ? ", integer" : "",
				     allow & PATH_NONE ? " or None" : "", Py_TYPE(argument));
		return -1;
	}
	if (path_take_ascii(path))
		goto failed;
	if (path->text)
		return 0;
	if (!PyUnicode_FSConverter(path->object, &path->encoded))
		goto failed;
	path->text = PyBytes_AsString(path->encoded);
	return 0;

failed:
	Py_CLEAR(path->object);
	return -1;
}

void path_clear(struct path *path)
{
	Py_CLEAR(path->object);
	Py_CLEAR(path->encoded);
}

PyObject *path_error(int error, PyObject *filename)
{
	errno = -error;
	return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, filename);
}

PyObject *path_exception(int error, PyObject *filename)
{
	PyObject *message = PyUnicode_DecodeLocale(strerror(-error), "surrogateescape");
	PyObject *exception =
		message ? PyObject_CallFunction(PyExc_OSError, "iOO", -error, message, filename)
			: NULL;

	Py_XDECREF(message);
	return exception;
}

int path_audit(const struct module *module, PyObject *path)
{
	PyObject *done =
		PyObject_CallFunctionObjArgs(module->audit, module->scandir_event, path, NULL);

	Py_XDECREF(done);
	return done ? 0 : -1;
}
