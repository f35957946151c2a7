/* Steps of the computation of handles that make a curve smooth. */
#include "arrays.h"
#include "functions.h"

/* Gets rows of floats that may be changed, and the factor of each row. */
static int get_rows(PyObject *rows, PyObject *factors, double **values, const double **factor, npy_intp *count,
                    npy_intp *columns) {
    if (is_plain_array(rows) && is_plain_array(factors) && PyArray_ISWRITEABLE((PyArrayObject *)rows) &&
        PyArray_NDIM((PyArrayObject *)rows) == 2 && PyArray_NDIM((PyArrayObject *)factors) == 1 &&
        PyArray_DIM((PyArrayObject *)factors, 0) + 1 >= PyArray_DIM((PyArrayObject *)rows, 0)) {
        *values = PyArray_DATA((PyArrayObject *)rows);
        *factor = PyArray_DATA((PyArrayObject *)factors);
        *count = PyArray_DIM((PyArrayObject *)rows, 0);
        *columns = PyArray_DIM((PyArrayObject *)rows, 1);
        return 0;
    }
    PyErr_SetString(PyExc_TypeError, "expected rows of floats without gaps, a factor for each and further rows");
    return -1;
}

/* substitute_forward(rows, factors, terms): rows[i] = factors[i] * (terms[i - 1] - rows[i - 1]) between the ends. */
PyObject *substitute_forward(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 3) return PyErr_Format(PyExc_TypeError, "expected three arrays");
    double *row;
    const double *factor;
    npy_intp rows, columns;
    if (get_rows(arguments[0], arguments[1], &row, &factor, &rows, &columns) < 0) return NULL;
    if (!is_table(arguments[2], columns) || PyArray_DIM((PyArrayObject *)arguments[2], 0) + 2 < rows)
        return PyErr_Format(PyExc_TypeError, "expected terms for all rows between the ends");
    const double *term = PyArray_DATA((PyArrayObject *)arguments[2]);
    for (npy_intp at = 1; at < rows - 1; at++)
        for (npy_intp column = 0; column < columns; column++)
            row[at * columns + column] =
                factor[at] * (term[(at - 1) * columns + column] - row[(at - 1) * columns + column]);
    Py_RETURN_NONE;
}

/* substitute_back(rows, factors): rows[i] -= factors[i] * rows[i + 1], from the last row but one to the first. */
PyObject *substitute_back(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2) return PyErr_Format(PyExc_TypeError, "expected two arrays");
    double *row;
    const double *factor;
    npy_intp rows, columns;
    if (get_rows(arguments[0], arguments[1], &row, &factor, &rows, &columns) < 0) return NULL;
    for (npy_intp at = rows - 2; at >= 0; at--)
        for (npy_intp column = 0; column < columns; column++)
            row[at * columns + column] -= factor[at] * row[(at + 1) * columns + column];
    Py_RETURN_NONE;
}
