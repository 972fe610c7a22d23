// SPDX-License-Identifier: MIT
/*
 * entry.c - cosy.DirEntry: os.DirEntry's interface, with attributes that came with the listing.
 *
 * Name, path and attributes become Python objects when they are asked for.  Attributes that did not
 * come are fetched by fstatat then, as os.DirEntry does.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "module.h"

struct entry {
	PyObject_VAR_HEAD /* its size: of the name with its NUL, and of the attributes */
	struct folder *folder;
	PyObject *name; /* these four: NULL until they are asked for */
	PyObject *path;
	PyObject *lstat; /* of the entry itself, if they did not come with the listing */
	PyObject *stat;	 /* of what it leads to */
	ino_t ino;
	uint16_t length;    /* of the name */
	unsigned char type; /* DT_* */
	bool examined;	    /* attributes came with the listing: entry_attributes */
	char text[];
};

/* Returns where the attributes lie that came with an entry whose name has `length` bytes. */
static size_t attributes_offset(size_t length)
{
	const size_t align = _Alignof(struct stat_result) - 1;

	return (offsetof(struct entry, text) + length + 1 + align) & ~align;
}

static struct stat_result *entry_attributes(struct entry *entry)
{
	return (struct stat_result *)((char *)entry + attributes_offset(entry->length));
}

/* Does an entry with attributes have a block, which may be kept when it is gone? */
static bool entry_has_block(size_t length)
{
	return attributes_offset(length) + sizeof(struct stat_result) <= ENTRY_BLOCK;
}

/* Returns memory for an entry, with the object's head. */
static struct entry *entry_allocate(struct module *module, size_t length, bool examined)
{
	size_t end = attributes_offset(length) + (examined ? sizeof(struct stat_result) : 0);
	Py_ssize_t size = (Py_ssize_t)(end - offsetof(struct entry, text));
	struct spares *spares = &module->spares;
	void *block;

	if (!examined || !entry_has_block(length))
		return PyObject_NewVar(struct entry, module->entry_type, size);
	block = spares->count ? spares->blocks[--spares->count] : PyObject_Malloc(ENTRY_BLOCK);
	if (!block) {
		PyErr_NoMemory();
		return NULL;
	}
	return (struct entry *)PyObject_InitVar(block, module->entry_type, size);
}

static void entry_free(struct module *module, struct entry *entry)
{
	struct spares *spares = &module->spares;

	if (entry->examined && entry_has_block(entry->length) && spares->count < MAX_SPARES)
		spares->blocks[spares->count++] = entry;
	else
		PyObject_Free(entry);
}

void entry_free_spares(struct module *module)
{
	while (module->spares.count)
		PyObject_Free(module->spares.blocks[--module->spares.count]);
}

PyObject *entry_new(struct folder *folder, const char *name, uint16_t length, ino_t ino,
		    unsigned char type, const struct stat *st)
{
	struct entry *entry = entry_allocate(folder->module, length, st);

	if (!entry)
		return NULL;
	Py_INCREF((PyObject *)folder);
	entry->folder = folder;
	entry->name = entry->path = entry->lstat = entry->stat = NULL;
	entry->ino = ino;
	entry->length = length;
	entry->type = type;
	entry->examined = st;
	memcpy(entry->text, name, length + 1);
	if (st) {
		struct stat_result *attributes = entry_attributes(entry);

		attributes->lent = false;
		attributes->st = *st;
	}
	return (PyObject *)entry;
}

static void entry_dealloc(struct entry *entry)
{
	PyTypeObject *type = Py_TYPE((PyObject *)entry);
	struct module *module = entry->folder->module;

	Py_XDECREF(entry->name);
	Py_XDECREF(entry->path);
	Py_XDECREF(entry->lstat);
	Py_XDECREF(entry->stat);
	Py_DECREF((PyObject *)entry->folder);
	entry_free(module, entry);
	Py_DECREF(type);
}

/* --- Name and path --- */

/* Returns a borrowed reference, or NULL with an exception. */
static PyObject *entry_name(struct entry *entry)
{
	if (!entry->name)
		entry->name = folder_name(entry->folder, entry->text, entry->length);
	return entry->name;
}

/* As entry_name. */
static PyObject *entry_path(struct entry *entry)
{
	if (!entry->path)
		entry->path = entry->folder->path
				      ? folder_join(entry->folder, entry->text, entry->length)
				      : Py_XNewRef(entry_name(entry));
	return entry->path;
}

static PyObject *entry_get_name(struct entry *entry, void *Py_UNUSED(closure))
{
	return Py_XNewRef(entry_name(entry));
}

static PyObject *entry_get_path(struct entry *entry, void *Py_UNUSED(closure))
{
	return Py_XNewRef(entry_path(entry));
}

static PyObject *entry_fspath(struct entry *entry, PyObject *Py_UNUSED(none))
{
	return Py_XNewRef(entry_path(entry));
}

/* --- Attributes --- */

/* Calls fstatat relative to a descriptor, without the GIL.  Returns 0 or a negative errno. */
static int entry_examine_at(int fd, const char *name, int flags, struct stat *st)
{
	int error = 0;

	Py_BEGIN_ALLOW_THREADS
	if (fstatat(fd, name, st, flags))
		error = -errno;
	Py_END_ALLOW_THREADS
	return error;
}

/* Returns 0 or a negative errno; 1 with an exception. */
static int entry_examine(struct entry *entry, int flags, struct stat *st)
{
	struct folder *folder = entry->folder;
	PyObject *path, *encoded;
	int error;

	if (folder_hold(folder)) {
		error = entry_examine_at(cosy_scan_fd(folder->scan), entry->text, flags, st);
		folder_drop(folder);
		return error;
	}
	if (folder->origin >= 0)
		return entry_examine_at(folder->origin, entry->text, flags, st);
	path = entry_path(entry);
	if (!path || !PyUnicode_FSConverter(path, &encoded))
		return 1;
	error = entry_examine_at(AT_FDCWD, PyBytes_AsString(encoded), flags, st);
	Py_DECREF(encoded);
	return error;
}

static PyObject *entry_fetch(struct entry *entry, int flags, PyObject **cache)
{
	struct stat st;
	int error;

	if (*cache)
		return Py_NewRef(*cache);
	error = entry_examine(entry, flags, &st);
	if (error) {
		PyObject *path = error < 0 ? entry_path(entry) : NULL;

		return path ? path_error(error, path) : NULL;
	}
	/* Another thread may have been faster. */
	if (!*cache)
		*cache = stat_new(entry->folder->module, &st);
	return Py_XNewRef(*cache);
}

static PyObject *entry_lstat(struct entry *entry)
{
	if (entry->examined)
		return stat_lend(entry->folder->module, entry_attributes(entry), (PyObject *)entry);
	return entry_fetch(entry, AT_SYMLINK_NOFOLLOW, &entry->lstat);
}

/* Is the type in `attributes`, of which this takes the reference, `format`?  -1 with an exception. */
static int attributes_are_of(PyObject *attributes, mode_t format)
{
	int result;

	if (attributes) {
		result = (stat_mode(attributes) & S_IFMT) == format;
		Py_DECREF(attributes);
		return result;
	}
	if (!PyErr_ExceptionMatches(PyExc_FileNotFoundError))
		return -1;
	PyErr_Clear();
	return 0;
}

/* Is it a link?  -1 with an exception. */
static int entry_is_link(struct entry *entry)
{
	if (entry->type != DT_UNKNOWN)
		return entry->type == DT_LNK;
	return attributes_are_of(entry_lstat(entry), S_IFLNK);
}

static PyObject *entry_stat(struct entry *entry, bool follow)
{
	int link;

	if (!follow || (entry->type != DT_LNK && entry->type != DT_UNKNOWN))
		return entry_lstat(entry);
	link = entry_is_link(entry);
	if (link < 0)
		return NULL;
	return link ? entry_fetch(entry, 0, &entry->stat) : entry_lstat(entry);
}

/* Is it of the type, after a link if it is one?  -1 with an exception. */
static int entry_test(struct entry *entry, bool follow, mode_t format)
{
	if (entry->type != DT_UNKNOWN && !(follow && entry->type == DT_LNK))
		return entry->type == IFTODT(format);
	return attributes_are_of(entry_stat(entry, follow), format);
}

bool entry_is_folder(PyObject *self)
{
	int result = entry_test((struct entry *)self, true, S_IFDIR);

	if (result < 0)
		PyErr_Clear();
	return result > 0;
}

/* Parses the one keyword of is_dir, is_file and stat.  -1 with an exception. */
static int follow_argument(const struct entry *entry, const char *method, Py_ssize_t count,
			   PyObject *const *args, PyObject *names)
{
	struct module *module = entry->folder->module;
	Py_ssize_t given;
	PyObject *name;

	/* A call in a program has the same tuple each time. */
	if (!count && names && names == module->follow_names)
		return args[0] == Py_False ? false : PyObject_IsTrue(args[0]);
	if (count) {
		PyErr_Format(PyExc_TypeError, "%s() takes no positional arguments", method);
		return -1;
	}
	given = names ? PyTuple_Size(names) : 0;
	if (!given)
		return true;
	name = PyTuple_GetItem(names, given - 1);
	/* A call in a program has the interned name. */
	if (name != module->follow_symlinks &&
	    PyUnicode_CompareWithASCIIString(name, "follow_symlinks")) {
		PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'",
			     method, name);
		return -1;
	}
	if (given > 1) {
		PyErr_Format(PyExc_TypeError, "%s() takes at most 1 keyword argument", method);
		return -1;
	}
	Py_XDECREF(module->follow_names);
	module->follow_names = Py_NewRef(names);
	return PyObject_IsTrue(args[0]);
}

static PyObject *truth(int value)
{
	return value < 0 ? NULL : PyBool_FromLong(value);
}

static PyObject *entry_call_stat(struct entry *entry, PyObject *const *args, Py_ssize_t count,
				 PyObject *names)
{
	int follow = follow_argument(entry, "stat", count, args, names);

	return follow < 0 ? NULL : entry_stat(entry, follow);
}

static PyObject *entry_call_lstat(struct entry *entry, PyObject *Py_UNUSED(none))
{
	return entry_lstat(entry);
}

static PyObject *entry_call_is_dir(struct entry *entry, PyObject *const *args, Py_ssize_t count,
				   PyObject *names)
{
	int follow = follow_argument(entry, "is_dir", count, args, names);

	return follow < 0 ? NULL : truth(entry_test(entry, follow, S_IFDIR));
}

static PyObject *entry_call_is_file(struct entry *entry, PyObject *const *args, Py_ssize_t count,
				    PyObject *names)
{
	int follow = follow_argument(entry, "is_file", count, args, names);

	return follow < 0 ? NULL : truth(entry_test(entry, follow, S_IFREG));
}

static PyObject *entry_call_is_symlink(struct entry *entry, PyObject *Py_UNUSED(none))
{
	return truth(entry_is_link(entry));
}

static PyObject *entry_call_is_junction(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(none))
{
	Py_RETURN_FALSE;
}

static PyObject *entry_call_inode(struct entry *entry, PyObject *Py_UNUSED(none))
{
	return PyLong_FromUnsignedLongLong(entry->ino);
}

/* --- Comparison and text --- */

/*
 * Compares names, so that what programs do with the lists of a walk works with entries as well:
 * `".git" in dirs`, dirs.remove(".git"), dirs.sort().  Two entries are equal only if they are the
 * same object.
 */
static PyObject *entry_compare(PyObject *self, PyObject *other, int operation)
{
	PyTypeObject *type = Py_TYPE(self);
	PyObject *name, *result;

	if (Py_IS_TYPE(other, type)) {
		if (operation == Py_EQ || operation == Py_NE)
			return PyBool_FromLong((self == other) == (operation == Py_EQ));
		other = entry_name((struct entry *)other);
		if (!other)
			return NULL;
	} else if (!PyUnicode_Check(other) && !PyBytes_Check(other)) {
		Py_RETURN_NOTIMPLEMENTED;
	}
	Py_INCREF(other);
	name = entry_name((struct entry *)self);
	result = name ? PyObject_RichCompare(name, other, operation) : NULL;
	Py_DECREF(other);
	return result;
}

static Py_hash_t entry_hash(struct entry *entry)
{
	PyObject *name = entry_name(entry);

	return name ? PyObject_Hash(name) : -1;
}

static PyObject *entry_repr(struct entry *entry)
{
	PyObject *name = entry_name(entry);

	return name ? PyUnicode_FromFormat("<DirEntry %R>", name) : NULL;
}

static PyGetSetDef entry_getters[] = {
	{"name", (getter)entry_get_name, NULL, "the entry's name in its directory", NULL},
	{"path", (getter)entry_get_path, NULL,
	 "the path given to scandir() or walk(), and the way from there", NULL},
	{0},
};

#define FAST(function) (PyCFunction)(void (*)(void)) function, METH_FASTCALL | METH_KEYWORDS

static PyMethodDef entry_methods[] = {
	{"stat", FAST(entry_call_stat),
	 "stat($self, /, *, follow_symlinks=True)\n--\n\n"
	 "Return the entry's attributes, a StatResult, and keep them for the next call."},
	{"lstat", (PyCFunction)entry_call_lstat, METH_NOARGS,
	 "lstat($self, /)\n--\n\nAs stat(follow_symlinks=False), and faster."},
	{"is_dir", FAST(entry_call_is_dir),
	 "is_dir($self, /, *, follow_symlinks=True)\n--\n\n"
	 "Return True if the entry is a directory, or a link to one if links are followed."},
	{"is_file", FAST(entry_call_is_file),
	 "is_file($self, /, *, follow_symlinks=True)\n--\n\n"
	 "Return True if the entry is a regular file, or a link to one if links are followed."},
	{"is_symlink", (PyCFunction)entry_call_is_symlink, METH_NOARGS,
	 "is_symlink($self, /)\n--\n\nReturn True if the entry is a symbolic link."},
	{"is_junction", entry_call_is_junction, METH_NOARGS,
	 "is_junction($self, /)\n--\n\nReturn False: Linux has no junctions."},
	{"inode", (PyCFunction)entry_call_inode, METH_NOARGS,
	 "inode($self, /)\n--\n\nReturn the inode number that the directory has for the entry."},
	{"__fspath__", (PyCFunction)entry_fspath, METH_NOARGS,
	 "__fspath__($self, /)\n--\n\nReturn the entry's path."},
	{"__class_getitem__", (PyCFunction)Py_GenericAlias, METH_O | METH_CLASS, "See PEP 585"},
	{0},
};

PyDoc_STRVAR(entry_doc, "An entry of a directory: os.DirEntry's interface.\n\n"
			"stat() returns a StatResult.  An entry compares equal to its own name.");

static PyType_Slot entry_slots[] = {
	{Py_tp_doc, (void *)entry_doc},	    {Py_tp_dealloc, entry_dealloc},
	{Py_tp_getset, entry_getters},	    {Py_tp_methods, entry_methods},
	{Py_tp_richcompare, entry_compare}, {Py_tp_hash, entry_hash},
	{Py_tp_repr, entry_repr},	    {0},
};

PyType_Spec entry_spec = {
	.name = "cosy.DirEntry",
	.basicsize = offsetof(struct entry, text),
	.itemsize = 1,
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = entry_slots,
};
