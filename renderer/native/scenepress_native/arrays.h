/* Arrays of NumPy that are read without NumPy. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include "interfaces.h"

/* Whether this is an array of floats without gaps. */
static inline int is_plain_array(PyObject *value) {
    if (!PyArray_CheckExact(value)) return 0;
    PyArrayObject *array = (PyArrayObject *)value;
    return PyArray_TYPE(array) == NPY_DOUBLE && PyArray_ISCARRAY_RO(array);
}

/* Whether this is a plain array of rows with the given number of columns. */
static inline int is_table(PyObject *value, npy_intp columns) {
    if (!is_plain_array(value)) return 0;
    PyArrayObject *array = (PyArrayObject *)value;
    return PyArray_NDIM(array) == 2 && PyArray_DIM(array, 1) == columns;
}

/* Replaces a view of floats by a copy. */
static inline int without_gaps(PyObject **value) {
    if (!PyArray_CheckExact(*value) || PyArray_TYPE((PyArrayObject *)*value) != NPY_DOUBLE) return 0;
    PyArrayObject *copy = PyArray_GETCONTIGUOUS((PyArrayObject *)*value);
    Py_SETREF(*value, (PyObject *)copy);
    return copy ? 0 : -1;
}

#endif
