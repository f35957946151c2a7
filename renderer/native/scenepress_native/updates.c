/* Calls of the updaters of mobjects. */
#include "functions.h"
#include "names.h"

/* Whether a mobject itself, or its class, has this method and no other one of its name. */
static int calls_method(PyObject *mobject, enum name name, PyObject *expected) {
    PyObject *method = PyObject_GetAttr(mobject, names[name]);
    if (!method) return -1;
    int own = PyMethod_Check(method) && PyMethod_GET_FUNCTION(method) == expected && PyMethod_GET_SELF(method) == mobject;
    Py_DECREF(method);
    return own;
}

static int update_members(PyObject *mobject, PyObject *dt, PyObject *call_updater, PyObject *method);

static int update_member(PyObject *member, PyObject *dt, PyObject *call_updater, PyObject *method) {
    int ordinary = calls_method(member, UPDATE, method);
    if (ordinary < 0) return -1;
    if (ordinary) return update_members(member, dt, call_updater, method);
    PyObject *update = PyObject_GetAttr(member, names[UPDATE]);
    PyObject *keywords = Py_BuildValue("(s)", "recursive"), *arguments[] = {dt, Py_True};
    PyObject *result = update && keywords ? PyObject_Vectorcall(update, arguments, 1, keywords) : NULL;
    Py_XDECREF(update);
    Py_XDECREF(keywords);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

/* Calls all updaters of a mobject and then of those in it; the lists may change meanwhile, as in a loop of Python. */
static int update_members(PyObject *mobject, PyObject *dt, PyObject *call_updater, PyObject *method) {
    PyObject *suspended = PyObject_GetAttr(mobject, names[UPDATING_SUSPENDED]);
    int is_suspended = suspended ? PyObject_IsTrue(suspended) : -1;
    Py_XDECREF(suspended);
    if (is_suspended) return is_suspended < 0 ? -1 : 0;
    if (Py_EnterRecursiveCall(" while mobjects were updated")) return -1;
    int failed = 0;
    for (int own = 1; own >= 0 && !failed; own--) {
        PyObject *list = PyObject_GetAttr(mobject, names[own ? UPDATERS : SUBMOBJECTS]);
        PyObject *items = list && !PyList_CheckExact(list) ? PyObject_GetIter(list) : NULL;
        failed = !list || (!items && !PyList_CheckExact(list));
        for (Py_ssize_t at = 0; !failed; at++) {
            PyObject *item = items                            ? PyIter_Next(items)
                             : at < PyList_GET_SIZE(list) ? Py_NewRef(PyList_GET_ITEM(list, at))
                                                          : NULL;
            if (!item) break;
            if (own) {
                PyObject *arguments[] = {item, mobject, dt};
                PyObject *result = PyObject_Vectorcall(call_updater, arguments, 3, NULL);
                Py_XDECREF(result);
                failed = !result;
            } else {
                failed = update_member(item, dt, call_updater, method) < 0;
            }
            Py_DECREF(item);
        }
        Py_XDECREF(items);
        Py_XDECREF(list);
        if (PyErr_Occurred()) failed = 1;
    }
    Py_LeaveRecursiveCall();
    return failed ? -1 : 0;
}

/*
 * update(mobject, dt, call_updater, method): calls `call_updater(updater, mobject, dt)` for the updaters of a mobject and
 * of those in it. Members that have another method than this one for it (`update`) are updated by theirs.
 */
PyObject *update(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 4) return PyErr_Format(PyExc_TypeError, "expected a mobject, a time, a function and a method");
    if (update_members(arguments[0], arguments[1], arguments[2], arguments[3]) < 0) return NULL;
    return Py_NewRef(arguments[0]);
}
