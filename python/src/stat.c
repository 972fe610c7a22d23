// SPDX-License-Identifier: MIT
/*
 * stat.c - cosy.StatResult: what os.stat_result has, as objects only when they are asked for.
 *
 * An os.stat_result is a tuple of 19 objects, which cost more than the system call.  This one holds
 * the structure that the kernel filled, and makes each object on access.
 */
#include "module.h"

static const char *const field_names[STAT_FIELDS] = {
	[FIELD_MODE] = "st_mode",	  [FIELD_INO] = "st_ino",
	[FIELD_DEV] = "st_dev",		  [FIELD_NLINK] = "st_nlink",
	[FIELD_UID] = "st_uid",		  [FIELD_GID] = "st_gid",
	[FIELD_SIZE] = "st_size",	  [FIELD_ATIME] = "st_atime",
	[FIELD_MTIME] = "st_mtime",	  [FIELD_CTIME] = "st_ctime",
	[FIELD_ATIME_NS] = "st_atime_ns", [FIELD_MTIME_NS] = "st_mtime_ns",
	[FIELD_CTIME_NS] = "st_ctime_ns", [FIELD_BLKSIZE] = "st_blksize",
	[FIELD_BLOCKS] = "st_blocks",	  [FIELD_RDEV] = "st_rdev",
};

/* (uid_t)-1 is no user; os shows it as -1. */
static PyObject *id_object(unsigned int id)
{
	return id == (unsigned int)-1 ? PyLong_FromLong(-1) : PyLong_FromUnsignedLong(id);
}

/* os computes the same sum, so that the bits are equal. */
static PyObject *seconds_object(const struct timespec *time)
{
	return PyFloat_FromDouble((double)time->tv_sec + 1e-9 * (double)time->tv_nsec);
}

static PyObject *nanoseconds_object(const struct timespec *time)
{
	long long ns;

	if (!__builtin_mul_overflow(time->tv_sec, 1000000000ll, &ns) &&
	    !__builtin_add_overflow(ns, time->tv_nsec, &ns))
		return PyLong_FromLongLong(ns);

	/* Before the year 1678 or after 2262. */
	PyObject *seconds = PyLong_FromLongLong(time->tv_sec);
	PyObject *billion = PyLong_FromLong(1000000000);
	PyObject *rest = PyLong_FromLong(time->tv_nsec);
	PyObject *product = seconds && billion ? PyNumber_Multiply(seconds, billion) : NULL;
	PyObject *sum = product && rest ? PyNumber_Add(product, rest) : NULL;

	Py_XDECREF(seconds);
	Py_XDECREF(billion);
	Py_XDECREF(rest);
	Py_XDECREF(product);
	return sum;
}

static PyObject *field_object(const struct stat *st, enum stat_field field)
{
	switch (field) {
	case FIELD_MODE:
		return PyLong_FromUnsignedLong(st->st_mode);
	case FIELD_INO:
		return PyLong_FromUnsignedLongLong(st->st_ino);
	case FIELD_DEV:
		return PyLong_FromUnsignedLongLong(st->st_dev);
	case FIELD_NLINK:
		return PyLong_FromUnsignedLongLong(st->st_nlink);
	case FIELD_UID:
		return id_object(st->st_uid);
	case FIELD_GID:
		return id_object(st->st_gid);
	case FIELD_SIZE:
		return PyLong_FromLongLong(st->st_size);
	case FIELD_ATIME_INT:
		return PyLong_FromLongLong(st->st_atim.tv_sec);
	case FIELD_MTIME_INT:
		return PyLong_FromLongLong(st->st_mtim.tv_sec);
	case FIELD_CTIME_INT:
		return PyLong_FromLongLong(st->st_ctim.tv_sec);
	case FIELD_ATIME:
		return seconds_object(&st->st_atim);
	case FIELD_MTIME:
		return seconds_object(&st->st_mtim);
	case FIELD_CTIME:
		return seconds_object(&st->st_ctim);
	case FIELD_ATIME_NS:
		return nanoseconds_object(&st->st_atim);
	case FIELD_MTIME_NS:
		return nanoseconds_object(&st->st_mtim);
	case FIELD_CTIME_NS:
		return nanoseconds_object(&st->st_ctim);
	case FIELD_BLKSIZE:
		return PyLong_FromLongLong(st->st_blksize);
	case FIELD_BLOCKS:
		return PyLong_FromLongLong(st->st_blocks);
	case FIELD_RDEV:
		return PyLong_FromUnsignedLongLong(st->st_rdev);
	case STAT_FIELDS:
		break;
	}
	Py_UNREACHABLE();
}

PyObject *stat_new(const struct module *module, const struct stat *st)
{
	struct stat_result *self = PyObject_New(struct stat_result, module->stat_type);

	if (self) {
		self->entry = NULL;
		self->st = *st;
	}
	return (PyObject *)self;
}

PyObject *stat_lend(const struct module *module, struct stat_result *self, PyObject *entry)
{
	if (self->lent)
		return Py_NewRef((PyObject *)self);
	PyObject_Init((PyObject *)self, module->stat_type);
	self->entry = Py_NewRef(entry);
	self->lent = true;
	return (PyObject *)self;
}

mode_t stat_mode(PyObject *self)
{
	return ((struct stat_result *)self)->st.st_mode;
}

int stat_learn(struct module *module)
{
	PyObject *os = PyImport_ImportModule("os");
	PyObject *type = os ? PyObject_GetAttrString(os, "stat_result") : NULL;
	PyObject *count = type ? PyObject_GetAttrString(type, "n_fields") : NULL;
	PyObject *order = NULL, *sample = NULL;
	int result = -1;

	Py_XDECREF(os);
	module->os_stat_type = (PyTypeObject *)type;
	if (count)
		order = PyObject_CallFunctionObjArgs((PyObject *)&PyRange_Type, count, NULL);
	/* Each member of this one is its own place. */
	if (order)
		sample = PyObject_CallFunctionObjArgs(type, order, NULL);
	if (!sample)
		goto out;
	module->os_fields = PyLong_AsSsize_t(count);
	for (int i = 0; i < STAT_FIELDS; i++) {
		PyObject *place;

		module->os_place[i] = i;
		if (!field_names[i])
			continue;
		place = PyObject_GetAttrString(sample, field_names[i]);
		if (!place)
			goto out;
		module->os_place[i] = PyLong_AsSsize_t(place);
		Py_DECREF(place);
	}
	result = PyErr_Occurred() ? -1 : 0;
out:
	Py_XDECREF(count);
	Py_XDECREF(order);
	Py_XDECREF(sample);
	return result;
}

static void stat_dealloc(struct stat_result *self)
{
	PyTypeObject *type = Py_TYPE((PyObject *)self);

	if (self->entry) {
		self->lent = false;
		/* Which may free this one as well. */
		Py_DECREF(self->entry);
	} else {
		PyObject_Free(self);
	}
	Py_DECREF(type);
}

static PyObject *stat_get(PyObject *self, void *field)
{
	return field_object(&((struct stat_result *)self)->st, (enum stat_field)(intptr_t)field);
}

static Py_ssize_t stat_length(PyObject *Py_UNUSED(self))
{
	return STAT_ITEMS;
}

static PyObject *stat_item(PyObject *self, Py_ssize_t i)
{
	if (i < 0 || i >= STAT_ITEMS) {
		PyErr_SetString(PyExc_IndexError, "tuple index out of range");
		return NULL;
	}
	return stat_get(self, (void *)(intptr_t)i);
}

static PyObject *stat_subscript(PyObject *self, PyObject *key)
{
	PyObject *items, *result;

	if (PyIndex_Check(key)) {
		Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);

		if (i == -1 && PyErr_Occurred())
			return NULL;
		return stat_item(self, i < 0 ? i + STAT_ITEMS : i);
	}
	items = PySequence_Tuple(self);
	result = items ? PyObject_GetItem(items, key) : NULL;
	Py_XDECREF(items);
	return result;
}

static bool times_are_equal(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Returns a member of the same value that was made before, or `field` if there is none. */
static enum stat_field field_before(const struct stat *st, enum stat_field field)
{
	switch (field) {
	case FIELD_MTIME_INT:
	case FIELD_MTIME:
	case FIELD_MTIME_NS:
		return times_are_equal(&st->st_mtim, &st->st_atim) ? field - 1 : field;
	case FIELD_CTIME_INT:
	case FIELD_CTIME:
	case FIELD_CTIME_NS:
		return times_are_equal(&st->st_ctim, &st->st_mtim) ? field - 1 : field;
	default:
		return field;
	}
}

/*
 * Returns the object of a member.  Those that most files of a directory have in common are kept for
 * the next one: making an object costs more than comparing a number.
 */
static PyObject *field_shared(struct module *module, const struct stat *st, enum stat_field field)
{
	struct shared *shared;
	uint64_t value;

	switch (field) {
	case FIELD_MODE:
		shared = &module->mode;
		value = st->st_mode;
		break;
	case FIELD_DEV:
		shared = &module->dev;
		value = st->st_dev;
		break;
	case FIELD_BLKSIZE:
		shared = &module->blksize;
		value = (uint64_t)st->st_blksize;
		break;
	default:
		return field_object(st, field);
	}
	if (!shared->object || shared->value != value) {
		Py_XDECREF(shared->object);
		shared->object = field_object(st, field);
		shared->value = value;
	}
	return Py_XNewRef(shared->object);
}

static PyObject *stat_as_os(PyObject *self, PyObject *Py_UNUSED(none))
{
	struct module *module = module_of(self);
	const struct stat *st = &((struct stat_result *)self)->st;
	PyObject *result = PyStructSequence_New(module->os_stat_type);
	PyObject *values[STAT_FIELDS];

	if (!result)
		return NULL;
	for (int i = 0; i < STAT_FIELDS; i++) {
		int before = (int)field_before(st, (enum stat_field)i);

		values[i] = before < i ? Py_NewRef(values[before])
				       : field_shared(module, st, (enum stat_field)i);
		if (!values[i]) {
			Py_DECREF(result);
			return NULL;
		}
		PyStructSequence_SetItem(result, module->os_place[i], values[i]);
	}
	return result;
}

static PyObject *stat_compare(PyObject *self, PyObject *other, int operation)
{
	struct module *module = module_of(self);
	PyObject *items, *others, *result;

	if (!PyTuple_Check(other) && !Py_IS_TYPE(other, module->stat_type))
		Py_RETURN_NOTIMPLEMENTED;
	items = PySequence_Tuple(self);
	others = PySequence_Tuple(other);
	result = items && others ? PyObject_RichCompare(items, others, operation) : NULL;
	Py_XDECREF(items);
	Py_XDECREF(others);
	return result;
}

static Py_hash_t stat_hash(PyObject *self)
{
	PyObject *items = PySequence_Tuple(self);
	Py_hash_t hash = items ? PyObject_Hash(items) : -1;

	Py_XDECREF(items);
	return hash;
}

static PyObject *stat_repr(PyObject *self)
{
	PyObject *result = stat_as_os(self, NULL);
	PyObject *text = result ? PyUnicode_FromFormat("cosy.StatResult(%R)", result) : NULL;

	Py_XDECREF(result);
	return text;
}

/* A pickle holds an os.stat_result, so that reading it does not take this module. */
static PyObject *stat_reduce(PyObject *self, PyObject *Py_UNUSED(none))
{
	PyObject *result = stat_as_os(self, NULL);
	PyObject *reduced = result ? PyObject_CallMethod(result, "__reduce__", NULL) : NULL;

	Py_XDECREF(result);
	return reduced;
}

static PyGetSetDef stat_getters[] = {
	{"st_mode", stat_get, NULL, "protection bits", (void *)FIELD_MODE},
	{"st_ino", stat_get, NULL, "inode", (void *)FIELD_INO},
	{"st_dev", stat_get, NULL, "device", (void *)FIELD_DEV},
	{"st_nlink", stat_get, NULL, "number of hard links", (void *)FIELD_NLINK},
	{"st_uid", stat_get, NULL, "user ID of owner", (void *)FIELD_UID},
	{"st_gid", stat_get, NULL, "group ID of owner", (void *)FIELD_GID},
	{"st_size", stat_get, NULL, "total size, in bytes", (void *)FIELD_SIZE},
	{"st_atime", stat_get, NULL, "time of last access, in seconds", (void *)FIELD_ATIME},
	{"st_mtime", stat_get, NULL, "time of last modification, in seconds", (void *)FIELD_MTIME},
	{"st_ctime", stat_get, NULL, "time of last change, in seconds", (void *)FIELD_CTIME},
	{"st_atime_ns", stat_get, NULL, "time of last access, in nanoseconds",
	 (void *)FIELD_ATIME_NS},
	{"st_mtime_ns", stat_get, NULL, "time of last modification, in nanoseconds",
	 (void *)FIELD_MTIME_NS},
	{"st_ctime_ns", stat_get, NULL, "time of last change, in nanoseconds",
	 (void *)FIELD_CTIME_NS},
	{"st_blksize", stat_get, NULL, "block size for filesystem I/O", (void *)FIELD_BLKSIZE},
	{"st_blocks", stat_get, NULL, "number of blocks of 512 bytes", (void *)FIELD_BLOCKS},
	{"st_rdev", stat_get, NULL, "device, of a device's inode", (void *)FIELD_RDEV},
	{0},
};

static PyMethodDef stat_methods[] = {
	{"as_os", stat_as_os, METH_NOARGS,
	 "as_os($self, /)\n--\n\nReturn an os.stat_result of the same values."},
	{"__reduce__", stat_reduce, METH_NOARGS, NULL},
	{0},
};

PyDoc_STRVAR(stat_doc, "What os.stat_result has, under the same names.\n\n"
		       "Its members become Python objects when they are asked for.  Indexing,\n"
		       "iteration, comparison and hash are those of os.stat_result; isinstance is\n"
		       "not: as_os() makes one.");

static PyType_Slot stat_slots[] = {
	{Py_tp_doc, (void *)stat_doc},	   {Py_tp_dealloc, stat_dealloc},
	{Py_tp_getset, stat_getters},	   {Py_tp_methods, stat_methods},
	{Py_tp_richcompare, stat_compare}, {Py_tp_hash, stat_hash},
	{Py_tp_repr, stat_repr},	   {Py_sq_length, stat_length},
	{Py_sq_item, stat_item},	   {Py_mp_length, stat_length},
	{Py_mp_subscript, stat_subscript}, {0},
};

PyType_Spec stat_spec = {
	.name = "cosy.StatResult",
	.basicsize = sizeof(struct stat_result),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = stat_slots,
};
