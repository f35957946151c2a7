/* Points and styles between those of two mobjects. */
#include "arrays.h"
#include "functions.h"
#include "names.h"

/* Returns beta * start + alpha * end. */
static PyObject *between(PyObject *start, PyObject *end, PyObject *alpha, PyObject *beta) {
    if (PyFloat_Check(alpha) && PyFloat_Check(beta) && is_plain_array(start) && is_plain_array(end)) {
        PyArrayObject *one = (PyArrayObject *)start, *other = (PyArrayObject *)end;
        int dimensions = PyArray_NDIM(one);
        if (dimensions > 0 && dimensions == PyArray_NDIM(other) &&
            PyArray_CompareLists(PyArray_DIMS(one), PyArray_DIMS(other), dimensions)) {
            PyObject *result = PyArray_SimpleNew(dimensions, PyArray_DIMS(one), NPY_DOUBLE);
            if (!result) return NULL;
            const double *from = PyArray_DATA(one), *to = PyArray_DATA(other);
            double *into = PyArray_DATA((PyArrayObject *)result);
            double a = PyFloat_AS_DOUBLE(alpha), b = PyFloat_AS_DOUBLE(beta);
            npy_intp size = PyArray_SIZE(one);
            for (npy_intp at = 0; at < size; at++) into[at] = b * from[at] + a * to[at];
            return result;
        }
    }
    PyObject *first = PyNumber_Multiply(beta, start);
    PyObject *second = first ? PyNumber_Multiply(alpha, end) : NULL;
    PyObject *sum = second ? PyNumber_Add(first, second) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(second);
    return sum;
}

static PyObject *one_minus(PyObject *alpha) {
    PyObject *one = PyLong_FromLong(1);
    PyObject *beta = one ? PyNumber_Subtract(one, alpha) : NULL;
    Py_XDECREF(one);
    return beta;
}

/* interpolate(start, end, alpha): (1 - alpha) * start + alpha * end. */
PyObject *interpolate(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 3) return PyErr_Format(PyExc_TypeError, "expected a start, an end and alpha");
    PyObject *beta = one_minus(arguments[2]);
    if (!beta) return NULL;
    PyObject *result = between(arguments[0], arguments[1], arguments[2], beta);
    Py_DECREF(beta);
    return result;
}

/* Returns a value of the second mobject for the first one at alpha 1. */
static PyObject *own_copy(PyObject *value) {
    if (PyArray_CheckExact(value)) return PyArray_NewCopy((PyArrayObject *)value, NPY_CORDER);
    return PyArray_Check(value) ? PyObject_CallMethod(value, "copy", NULL) : Py_NewRef(value);
}

/* interpolate_style(mobject, first, second, alpha): sets colours and strokes to those between two mobjects. */
PyObject *interpolate_style(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    static const enum name ATTRIBUTES[] = {FILL_RGBAS, STROKE_RGBAS, BACKGROUND_STROKE_RGBAS, STROKE_WIDTH,
                                           BACKGROUND_STROKE_WIDTH, SHEEN_DIRECTION, SHEEN_FACTOR};
    if (count != 4) return PyErr_Format(PyExc_TypeError, "expected three mobjects and alpha");
    PyObject *beta = one_minus(arguments[3]);
    if (!beta) return NULL;
    int is_end = PyFloat_AsDouble(arguments[3]) == 1;
    if (PyErr_Occurred()) {
        Py_DECREF(beta);
        return NULL;
    }
    for (size_t at = 0; at < sizeof ATTRIBUTES / sizeof *ATTRIBUTES; at++) {
        PyObject *name = names[ATTRIBUTES[at]];
        PyObject *start = PyObject_GetAttr(arguments[1], name);
        PyObject *end = start ? PyObject_GetAttr(arguments[2], name) : NULL;
        PyObject *value = end ? between(start, end, arguments[3], beta) : NULL;
        if (value && is_end) Py_SETREF(value, own_copy(end));
        int failed = !value || PyObject_SetAttr(arguments[0], name, value) < 0;
        Py_XDECREF(start);
        Py_XDECREF(end);
        Py_XDECREF(value);
        if (failed) {
            Py_DECREF(beta);
            return NULL;
        }
    }
    Py_DECREF(beta);
    return Py_NewRef(arguments[0]);
}
