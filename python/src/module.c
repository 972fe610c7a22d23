// SPDX-License-Identifier: MIT
/* module.c - the module cosy._cosy: its functions and types. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cosy/cosy.h>

#include "module.h"

bool module_examines(void)
{
	const char *mode = getenv("COSY_MODE");

	if (mode && (!strcmp(mode, "native") || !strcmp(mode, "interp")))
		return false;
	return !access("/dev/cosy", R_OK | W_OK);
}

static PyObject *native_reason(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(none))
{
	struct cosy *cosy;
	const char *reason;
	PyObject *text;

	if (cosy_init(&cosy))
		return PyErr_NoMemory();
	Py_BEGIN_ALLOW_THREADS
	reason = cosy_native_reason(cosy);
	Py_END_ALLOW_THREADS
	text = reason ? PyUnicode_FromString(reason) : Py_NewRef(Py_None);
	cosy_free(cosy);
	return text;
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

static PyMethodDef functions[] = {
	{"scandir", KEYWORDS(scan_open),
	 "scandir($module, /, path=None, *, stat=True)\n--\n\n"
	 "Return an iterator of DirEntry objects, one for each entry of the directory `path`.\n\n"
	 "As os.scandir; see there.  In the kernel, attributes are read with the names, so that\n"
	 "stat() returns what was true when the entry was listed.  With stat=False only names are\n"
	 "read, which is faster for programs that want no attributes.  Both have the same "
	 "results."},
	{"tree", KEYWORDS(tree_open), NULL},
	{"stat_many", KEYWORDS(many_stat),
	 "stat_many($module, /, paths, *, dir_fd=None, follow_symlinks=True,\n"
	 "          return_exceptions=False)\n--\n\n"
	 "Return a list of StatResult objects, one for each of `paths`, as os.stat would.\n\n"
	 "The first path that fails raises its OSError.  With return_exceptions=True its OSError\n"
	 "is in the list instead, and the others are examined."},
	{"read_files", KEYWORDS(many_read),
	 "read_files($module, /, paths, *, dir_fd=None, max_size=None,\n"
	 "           return_exceptions=False)\n--\n\n"
	 "Return a list of bytes objects: the contents of each of `paths`.\n\n"
	 "A file of more than max_size bytes fails with EFBIG.  The first path that fails raises\n"
	 "its OSError.  With return_exceptions=True its OSError is in the list instead, and the\n"
	 "others are read."},
	{"copy_tree", copy_tree, METH_VARARGS, NULL},
	{"native_reason", native_reason, METH_NOARGS,
	 "native_reason($module, /)\n--\n\n"
	 "Return None if Cosy's module can be used, else one line of text that says why not."},
	{0},
};

static PyTypeObject *type_add(PyObject *self, PyType_Spec *spec, const char *name)
{
	PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(self, spec, NULL);

	if (type && name && PyModule_AddObjectRef(self, name, (PyObject *)type))
		Py_CLEAR(type);
	return type;
}

static int module_exec(PyObject *self)
{
	struct module *module = PyModule_GetState(self);

	module->audit = Py_XNewRef(PySys_GetObject("audit"));
	if (!module->audit) {
		PyErr_SetString(PyExc_RuntimeError, "sys.audit is missing");
		return -1;
	}
	module->scandir_event = PyUnicode_InternFromString("os.scandir");
	module->follow_symlinks = PyUnicode_InternFromString("follow_symlinks");
	if (!module->scandir_event || !module->follow_symlinks)
		return -1;
	module->stat_type = type_add(self, &stat_spec, "StatResult");
	module->folder_type = type_add(self, &folder_spec, NULL);
	module->entry_type = type_add(self, &entry_spec, "DirEntry");
	module->scan_type = type_add(self, &scan_spec, "ScandirIterator");
	module->tree_type = type_add(self, &tree_spec, NULL);
	if (!module->stat_type || !module->folder_type || !module->entry_type ||
	    !module->scan_type || !module->tree_type)
		return -1;
	return stat_learn(module);
}

static int module_traverse(PyObject *self, visitproc visit, void *arg)
{
	struct module *module = PyModule_GetState(self);

	if (!module)
		return 0;
	Py_VISIT(module->stat_type);
	Py_VISIT(module->folder_type);
	Py_VISIT(module->entry_type);
	Py_VISIT(module->scan_type);
	Py_VISIT(module->tree_type);
	Py_VISIT(module->os_stat_type);
	Py_VISIT(module->mode.object);
	Py_VISIT(module->dev.object);
	Py_VISIT(module->blksize.object);
	Py_VISIT(module->audit);
	Py_VISIT(module->scandir_event);
	Py_VISIT(module->follow_symlinks);
	Py_VISIT(module->follow_names);
	return 0;
}

static int module_clear(PyObject *self)
{
	struct module *module = PyModule_GetState(self);

	if (!module)
		return 0;
	Py_CLEAR(module->stat_type);
	Py_CLEAR(module->folder_type);
	Py_CLEAR(module->entry_type);
	Py_CLEAR(module->scan_type);
	Py_CLEAR(module->tree_type);
	Py_CLEAR(module->os_stat_type);
	Py_CLEAR(module->mode.object);
	Py_CLEAR(module->dev.object);
	Py_CLEAR(module->blksize.object);
	Py_CLEAR(module->audit);
	Py_CLEAR(module->scandir_event);
	Py_CLEAR(module->follow_symlinks);
	Py_CLEAR(module->follow_names);
	return 0;
}

static void module_free(void *self)
{
	struct module *module = PyModule_GetState(self);

	module_clear(self);
	if (module)
		entry_free_spares(module);
}

/*
 * Python 3.12 and later take this slot; the limited API of 3.11 has no names for it.  It says that
 * interpreters with a GIL of their own may import the module.
 */
#define MULTIPLE_INTERPRETERS_SLOT 3
#define PER_INTERPRETER_GIL	   ((void *)2)
#define FIRST_VERSION_WITH_SLOT	   0x030C0000

static PyModuleDef_Slot slots[] = {
	{Py_mod_exec, module_exec},
	{0},
	{0},
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,	 .m_name = "cosy._cosy", .m_size = sizeof(struct module),
	.m_methods = functions,	 .m_slots = slots,	 .m_traverse = module_traverse,
	.m_clear = module_clear, .m_free = module_free,
};

PyMODINIT_FUNC PyInit__cosy(void);

PyMODINIT_FUNC PyInit__cosy(void)
{
	if (Py_Version >= FIRST_VERSION_WITH_SLOT) {
		slots[1].slot = MULTIPLE_INTERPRETERS_SLOT;
		slots[1].value = PER_INTERPRETER_GIL;
	}
	return PyModuleDef_Init(&definition);
}
