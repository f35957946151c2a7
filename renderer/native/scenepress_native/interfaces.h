/*
 * The C interfaces of Python, NumPy and pycairo. The module has one table of NumPy's functions and one of pycairo's, which
 * module.c fills; it alone defines FILLS_TABLES.
 */
#ifndef INTERFACES_H
#define INTERFACES_H

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL scenepress_numpy
#ifndef FILLS_TABLES
#define NO_IMPORT_ARRAY
#define PYCAIRO_NO_IMPORT
#endif
#include <Python.h>
#include <numpy/arrayobject.h>
#include <py3cairo.h>

#endif
