/* Lists of the mobjects in others, and of their points. */
#include "arrays.h"
#include "curves.h"
#include "functions.h"
#include "names.h"

/* Whether the class of a mobject has this method. */
static int has_method(PyObject *mobject, enum name name, PyObject *expected) {
    PyObject *found = PyObject_GetAttr((PyObject *)Py_TYPE(mobject), names[name]);
    if (!found && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    Py_XDECREF(found);
    return PyErr_Occurred() ? -1 : found == expected;
}

/*
 * get_family(mobject, method): the mobject and those in it, each before those in it. None if a mobject is in two
 * groups, or if its class has another method than this one for it (`_iter_family`).
 */
PyObject *get_family(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2) return PyErr_Format(PyExc_TypeError, "expected a mobject and a method");
    PyObject *family = PyList_New(0), *seen = PySet_New(NULL), *waiting = PyList_New(0);
    if (!family || !seen || !waiting || PyList_Append(waiting, arguments[0]) < 0) goto failed;
    Py_ssize_t left;
    while ((left = PyList_GET_SIZE(waiting)) > 0) {
        PyObject *member = Py_NewRef(PyList_GET_ITEM(waiting, left - 1));
        int ordinary = PyList_SetSlice(waiting, left - 1, left, NULL) < 0 ? -1 : has_method(member, ITER_FAMILY, arguments[1]);
        Py_ssize_t before = PySet_GET_SIZE(seen);
        if (ordinary < 0 || PySet_Add(seen, member) < 0 || PyList_Append(family, member) < 0) {
            Py_DECREF(member);
            goto failed;
        }
        PyObject *submobjects = PyObject_GetAttr(member, names[SUBMOBJECTS]);
        Py_DECREF(member);
        if (!submobjects) goto failed;
        if (!ordinary || PySet_GET_SIZE(seen) == before || !(PyList_Check(submobjects) || PyTuple_Check(submobjects))) {
            Py_DECREF(submobjects);
            Py_DECREF(family);
            family = Py_NewRef(Py_None);
            break;
        }
        for (Py_ssize_t at = PySequence_Fast_GET_SIZE(submobjects) - 1; at >= 0; at--)
            if (PyList_Append(waiting, PySequence_Fast_GET_ITEM(submobjects, at)) < 0) {
                Py_DECREF(submobjects);
                goto failed;
            }
        Py_DECREF(submobjects);
    }
    Py_DECREF(seen);
    Py_DECREF(waiting);
    return family;
failed:
    Py_XDECREF(family);
    Py_XDECREF(seen);
    Py_XDECREF(waiting);
    return NULL;
}

/*
 * with_points(family, method): those with points. None if the class of a mobject has another method than this one for
 * counting them (`get_num_points`).
 */
PyObject *with_points(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2 || !PyList_Check(arguments[0])) return PyErr_Format(PyExc_TypeError, "expected a list and a method");
    PyObject *found = PyList_New(0);
    for (Py_ssize_t at = 0; found && at < PyList_GET_SIZE(arguments[0]); at++) {
        PyObject *member = Py_NewRef(PyList_GET_ITEM(arguments[0], at));
        int ordinary = has_method(member, GET_NUM_POINTS, arguments[1]);
        if (ordinary == 0) {
            Py_DECREF(member);
            Py_SETREF(found, Py_NewRef(Py_None));
            break;
        }
        PyObject *points = ordinary < 0 ? NULL : PyObject_GetAttr(member, names[POINTS]);
        Py_ssize_t size = points ? PyObject_Size(points) : -1;
        Py_XDECREF(points);
        if (size < 0 || (size > 0 && PyList_Append(found, member) < 0)) Py_CLEAR(found);
        Py_DECREF(member);
    }
    return found;
}

/*
 * get_anchors(family, method): the ends of all curves in one array. None if a mobject is none of VMobject with this
 * method for it (`get_anchors`), has a part of a curve, or if there are no curves.
 */
PyObject *get_anchors(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2 || !PyList_Check(arguments[0])) return PyErr_Format(PyExc_TypeError, "expected a list and a method");
    /* A copy: the getters of a scene's own classes may change the list. */
    PyObject *family = PyList_AsTuple(arguments[0]), *arrays = PyList_New(0), *result = NULL;
    npy_intp shape[2] = {0, 3};
    if (!family || !arrays) goto ended;
    Py_ssize_t members = PyTuple_GET_SIZE(family);
    for (Py_ssize_t at = 0; at < members; at++) {
        PyObject *member = PyTuple_GET_ITEM(family, at);
        int ordinary = has_method(member, GET_ANCHORS, arguments[1]);
        if (ordinary < 0) goto ended;
        PyObject *points = PyObject_GetAttr(member, names[POINTS]);
        if (!points || without_gaps(&points) < 0 || PyList_Append(arrays, points) < 0) {
            Py_XDECREF(points);
            goto ended;
        }
        Py_DECREF(points); /* in the list */
        PyArrayObject *array = (PyArrayObject *)points;
        npy_intp rows;
        if (!ordinary || !is_plain_array(points) || PyArray_NDIM(array) != 2 || PyArray_DIM(array, 1) != 3 ||
            ((rows = PyArray_DIM(array, 0)) != 1 && rows % POINTS_PER_CURVE != 0)) {
            result = Py_NewRef(Py_None);
            goto ended;
        }
        shape[0] += rows == 1 ? 1 : rows / POINTS_PER_CURVE * 2;
    }
    if (shape[0] == 0) {
        result = Py_NewRef(Py_None);
        goto ended;
    }
    if (!(result = PyArray_SimpleNew(2, shape, NPY_DOUBLE))) goto ended;
    double *into = PyArray_DATA((PyArrayObject *)result), *end = into + 3 * shape[0];
    int same = 1;
    for (Py_ssize_t at = 0; at < members; at++) {
        PyArrayObject *array = (PyArrayObject *)PyList_GET_ITEM(arrays, at);
        const double *points = PyArray_DATA(array);
        npy_intp rows = is_table((PyObject *)array, 3) ? PyArray_DIM(array, 0) : 0;
        for (npy_intp row = 0; row < rows; row++)
            if (row % POINTS_PER_CURVE == 0 || row % POINTS_PER_CURVE == POINTS_PER_CURVE - 1) {
                if (!(same = into < end)) break;
                memcpy(into, points + 3 * row, 3 * sizeof *into);
                into += 3;
            }
        if (!same) break;
    }
    if (!same || into < end) Py_SETREF(result, Py_NewRef(Py_None)); /* a getter has changed an array that was collected before */
ended:
    Py_XDECREF(family);
    Py_XDECREF(arrays);
    return result;
}
