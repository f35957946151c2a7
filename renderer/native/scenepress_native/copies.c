/* Deep copies of mobjects, as `copy.deepcopy` makes them. */
#include "functions.h"
#include "names.h"

static PyObject *deepcopy, *method; /* that of `copy`, and what `__deepcopy__` of mobjects is */
static PyTypeObject *mobject_type, *path_type, *color_type;

/* prepare_copies(deepcopy, method, mobject, path, color): what is used for values of other types; and types of Manim. */
PyObject *prepare_copies(PyObject *module, PyObject *arguments) {
    PyObject *other, *own;
    PyTypeObject *mobject, *path, *color;
    if (!PyArg_ParseTuple(arguments, "OOO!O!O!", &other, &own, &PyType_Type, &mobject, &PyType_Type, &path, &PyType_Type,
                          &color))
        return NULL;
    Py_XSETREF(deepcopy, Py_NewRef(other));
    Py_XSETREF(method, Py_NewRef(own));
    Py_XSETREF(mobject_type, (PyTypeObject *)Py_NewRef(mobject));
    Py_XSETREF(path_type, (PyTypeObject *)Py_NewRef(path));
    Py_XSETREF(color_type, (PyTypeObject *)Py_NewRef(color));
    Py_RETURN_NONE;
}

/* A dictionary of copies by the addresses of what they are copies of; and a list in it of what must not be freed before it. */
struct memo {
    PyObject *copies, *kept;
};

static PyObject *copy_of(PyObject *value, struct memo *memo);

static int is_constant(PyTypeObject *type) {
    return type == &PyFloat_Type || type == &PyUnicode_Type || type == &PyLong_Type || type == &PyBool_Type ||
           type == Py_TYPE(Py_None) || type == &PyFunction_Type || type == &PyCFunction_Type || type == &PyBytes_Type ||
           type == &PyComplex_Type || type == &PyDoubleArrType_Type || type == &PyFloatArrType_Type ||
           type == &PyLongArrType_Type || type == &PyBoolArrType_Type;
}

/* Whether a mobject is copied by the method that calls this module. */
static int is_copied_here(PyObject *value) {
    if (!mobject_type || !PyType_IsSubtype(Py_TYPE(value), mobject_type)) return 0;
    PyObject *found = PyObject_GetAttr((PyObject *)Py_TYPE(value), names[DEEPCOPY]);
    if (found != method) {
        Py_XDECREF(found);
        return found ? 0 : -1;
    }
    Py_DECREF(found);
    PyObject *attributes = PyObject_GetAttr(value, names[DICT]);
    int has_own = attributes ? PyDict_Contains(attributes, names[DEEPCOPY]) : -1;
    Py_XDECREF(attributes);
    return has_own < 0 ? -1 : !has_own;
}

static int remember(struct memo *memo, PyObject *value, PyObject *copy) {
    PyObject *address = PyLong_FromVoidPtr(value);
    int failed = !address || PyDict_SetItem(memo->copies, address, copy) < 0;
    Py_XDECREF(address);
    return failed ? -1 : 0;
}

static PyObject *new_object(PyTypeObject *type) {
    PyObject *nothing = PyTuple_New(0);
    PyObject *made = nothing ? type->tp_new(type, nothing, NULL) : NULL;
    Py_XDECREF(nothing);
    return made;
}

/* Copies the attributes of an object to another: each by setting it, or into the dictionary. */
static int copy_attributes(PyObject *from, PyObject *to, int by_setting, struct memo *memo) {
    PyObject *theirs = PyObject_GetAttr(from, names[DICT]), *name, *value;
    /* Of the dictionary as it is now: what copies an attribute may be the scene's. */
    PyObject *attributes = theirs ? PyDict_Copy(theirs) : NULL;
    PyObject *own = attributes && !by_setting ? PyObject_GetAttr(to, names[DICT]) : NULL;
    int failed = !attributes || (!by_setting && !own);
    Py_ssize_t at = 0;
    while (!failed && PyDict_Next(attributes, &at, &name, &value)) {
        PyObject *copy = copy_of(value, memo);
        failed = !copy || (by_setting ? PyObject_SetAttr(to, name, copy) : PyObject_SetItem(own, name, copy)) < 0;
        Py_XDECREF(copy);
    }
    Py_XDECREF(theirs);
    Py_XDECREF(attributes);
    Py_XDECREF(own);
    return failed ? -1 : 0;
}

/* The path that a letter's points were made from is only read: copying it would take longer than all the rest. */
static int share_path(PyObject *letter, struct memo *memo) {
    PyObject *attributes = PyObject_GetAttr(letter, names[DICT]);
    PyObject *path = attributes ? PyDict_GetItemWithError(attributes, names[PATH_OBJ]) : NULL;
    int failed = !attributes || (path ? remember(memo, path, path) < 0 : PyErr_Occurred() != NULL);
    Py_XDECREF(attributes);
    return failed ? -1 : 0;
}

static int set_original(PyObject *copy, PyObject *mobject) {
    PyObject *address = PyLong_FromVoidPtr(mobject);
    PyObject *text = address ? PyObject_Str(address) : NULL;
    int failed = !text || PyObject_SetAttr(copy, names[ORIGINAL_ID], text) < 0;
    Py_XDECREF(address);
    Py_XDECREF(text);
    return failed ? -1 : 0;
}

static PyObject *copy_of_mobject(PyObject *mobject, struct memo *memo) {
    PyObject *copy = new_object(Py_TYPE(mobject));
    if (!copy) return NULL;
    if (remember(memo, mobject, copy) == 0 &&
        (!PyType_IsSubtype(Py_TYPE(mobject), path_type) || share_path(mobject, memo) == 0) &&
        copy_attributes(mobject, copy, 1, memo) == 0 && set_original(copy, mobject) == 0)
        return copy;
    Py_DECREF(copy);
    return NULL;
}

static PyObject *copy_of_color(PyObject *color, struct memo *memo) {
    PyObject *copy = new_object(color_type);
    if (copy && remember(memo, color, copy) == 0 && copy_attributes(color, copy, 0, memo) == 0) return copy;
    Py_XDECREF(copy);
    return NULL;
}

static PyObject *copy_of_list(PyObject *list, struct memo *memo) {
    PyObject *copy = PyList_New(0);
    int failed = !copy || remember(memo, list, copy) < 0;
    for (Py_ssize_t at = 0; !failed && at < PyList_GET_SIZE(list); at++) {
        PyObject *item = Py_NewRef(PyList_GET_ITEM(list, at)), *copied = copy_of(item, memo);
        failed = !copied || PyList_Append(copy, copied) < 0;
        Py_DECREF(item);
        Py_XDECREF(copied);
    }
    if (failed) Py_CLEAR(copy);
    return copy;
}

static PyObject *copy_of_dictionary(PyObject *dictionary, struct memo *memo) {
    PyObject *copy = PyDict_New(), *same = PyDict_Copy(dictionary), *key, *value;
    int failed = !copy || !same || remember(memo, dictionary, copy) < 0;
    Py_ssize_t at = 0;
    while (!failed && PyDict_Next(same, &at, &key, &value)) {
        PyObject *its_key = copy_of(key, memo), *its_value = its_key ? copy_of(value, memo) : NULL;
        failed = !its_value || PyDict_SetItem(copy, its_key, its_value) < 0;
        Py_XDECREF(its_key);
        Py_XDECREF(its_value);
    }
    Py_XDECREF(same);
    if (failed) Py_CLEAR(copy);
    return copy;
}

static PyObject *copy_of_array(PyObject *array, struct memo *memo) {
    PyObject *copy = PyArray_NewCopy((PyArrayObject *)array, NPY_KEEPORDER);
    if (copy && remember(memo, array, copy) < 0) Py_CLEAR(copy);
    return copy;
}

typedef PyObject *copier(PyObject *value, struct memo *memo);

/* Returns what copies a value; NULL for `copy.deepcopy`, and then possibly with an error. */
static copier *copier_of(PyObject *value) {
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyList_Type) return copy_of_list;
    if (type == &PyDict_Type) return copy_of_dictionary;
    if (type == color_type) return copy_of_color;
    if (type == &PyArray_Type) return PyDataType_REFCHK(PyArray_DESCR((PyArrayObject *)value)) ? NULL : copy_of_array;
    return is_copied_here(value) > 0 ? copy_of_mobject : NULL;
}

static PyObject *copy_of(PyObject *value, struct memo *memo) {
    if (is_constant(Py_TYPE(value))) return Py_NewRef(value);
    copier *copy = copier_of(value);
    if (!copy) return PyErr_Occurred() ? NULL : PyObject_CallFunctionObjArgs(deepcopy, value, memo->copies, NULL);
    PyObject *address = PyLong_FromVoidPtr(value);
    PyObject *known = address ? PyDict_GetItemWithError(memo->copies, address) : NULL;
    Py_XDECREF(address);
    if (known || PyErr_Occurred()) return Py_XNewRef(known);
    /* As `copy.deepcopy`: while the memo exists, no other object may get the address of this one. */
    if (PyList_Append(memo->kept, value) < 0 || Py_EnterRecursiveCall(" while an object was copied")) return NULL;
    PyObject *made = copy(value, memo);
    Py_LeaveRecursiveCall();
    return made;
}

/* copy_mobject(mobject, memo): a deep copy. */
PyObject *copy_mobject(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2 || !deepcopy || !PyDict_Check(arguments[1]) || !PyType_IsSubtype(Py_TYPE(arguments[0]), mobject_type))
        return PyErr_Format(PyExc_TypeError, "expected a mobject and a dictionary");
    PyObject *memo = arguments[1], *address = PyLong_FromVoidPtr(memo), *new_list = PyList_New(0);
    PyObject *kept = address && new_list ? PyDict_SetDefault(memo, address, new_list) : NULL, *copy = NULL;
    if (kept && !PyList_CheckExact(kept)) PyErr_SetString(PyExc_TypeError, "expected the memo of a copy");
    else if (kept) copy = copy_of_mobject(arguments[0], &(struct memo){memo, kept});
    Py_XDECREF(address);
    Py_XDECREF(new_list);
    return copy;
}
