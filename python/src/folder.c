// SPDX-License-Identifier: MIT
/* folder.c - the directory that entries are in: see module.h. */
#include <limits.h>
#include <string.h>

#include "module.h"

struct folder *folder_new(struct module *module, PyObject *path, int origin, struct cosy_scan *scan)
{
	struct folder *folder = PyObject_New(struct folder, module->folder_type);

	if (!folder) {
		cosy_scan_close(scan);
		return NULL;
	}
	folder->module = module;
	folder->path = Py_XNewRef(path);
	folder->bytes = path && PyBytes_Check(path);
	folder->origin = origin;
	folder->scan = scan;
	folder->users = 0;
	folder->closing = false;
	return folder;
}

static void folder_close_scan(struct folder *folder)
{
	struct cosy_scan *scan = folder->scan;

	folder->scan = NULL;
	cosy_scan_close(scan);
}

void folder_close(struct folder *folder)
{
	folder->closing = true;
	if (!folder->users)
		folder_close_scan(folder);
}

bool folder_hold(struct folder *folder)
{
	if (!folder->scan || folder->closing)
		return false;
	folder->users++;
	return true;
}

void folder_drop(struct folder *folder)
{
	if (!--folder->users && folder->closing)
		folder_close_scan(folder);
}

PyObject *folder_name(const struct folder *folder, const char *name, Py_ssize_t len)
{
	return folder->bytes ? PyBytes_FromStringAndSize(name, len)
			     : PyUnicode_DecodeFSDefaultAndSize(name, len);
}

/* Does it end where a name can follow? */
static bool path_ends_in_slash(PyObject *path)
{
	Py_ssize_t len = PyUnicode_GetLength(path);

	return len > 0 && PyUnicode_ReadChar(path, len - 1) == '/';
}

/* Returns the name, of `len` bytes, after a slash. */
static PyObject *name_after_slash(const char *name, Py_ssize_t len)
{
	char text[NAME_MAX + 2] = "/";
	PyObject *last, *joined;

	if (len <= NAME_MAX) {
		memcpy(text + 1, name, (size_t)len);
		return PyUnicode_DecodeFSDefaultAndSize(text, len + 1);
	}
	last = PyUnicode_DecodeFSDefaultAndSize(name, len);
	joined = last ? PyUnicode_FromFormat("/%U", last) : NULL;
	Py_XDECREF(last);
	return joined;
}

static PyObject *bytes_join(PyObject *path, const char *name, Py_ssize_t len)
{
	const char *text = PyBytes_AsString(path);
	Py_ssize_t above = PyBytes_Size(path);
	bool slash = !above || text[above - 1] != '/';
	PyObject *joined = PyBytes_FromStringAndSize(NULL, above + slash + len);

	if (joined) {
		char *to = PyBytes_AsString(joined);

		memcpy(to, text, above);
		if (slash)
			to[above] = '/';
		memcpy(to + above + slash, name, len);
	}
	return joined;
}

PyObject *folder_join(const struct folder *folder, const char *name, Py_ssize_t len)
{
	PyObject *last, *joined;

	if (folder->bytes)
		return bytes_join(folder->path, name, len);
	if (!folder->path || path_ends_in_slash(folder->path))
		last = PyUnicode_DecodeFSDefaultAndSize(name, len);
	else
		last = name_after_slash(name, len);
	if (!last || !folder->path)
		return last;
	joined = PyUnicode_Concat(folder->path, last);
	Py_DECREF(last);
	return joined;
}

static void folder_dealloc(struct folder *folder)
{
	PyTypeObject *type = Py_TYPE((PyObject *)folder);

	cosy_scan_close(folder->scan);
	Py_XDECREF(folder->path);
	PyObject_Free(folder);
	Py_DECREF(type);
}

static PyType_Slot folder_slots[] = {
	{Py_tp_dealloc, folder_dealloc},
	{0},
};

PyType_Spec folder_spec = {
	.name = "cosy._cosy.Folder",
	.basicsize = sizeof(struct folder),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = folder_slots,
};
