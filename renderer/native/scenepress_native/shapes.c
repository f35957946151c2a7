#include "shapes.h"
#include "arrays.h"
#include "curves.h"
#include "functions.h"
#include "names.h"
#include <math.h>

/* Set by `prepare`: Manim's own methods of VMobject, and the values of its enumerations for Cairo. */
static const enum name METHODS[] = {GET_STROKE_WIDTH, GET_STROKE_RGBAS, GET_FILL_RGBAS, SPLIT, EQUAL_2D, GET_IMAGE};
#define METHODS_COUNT (sizeof METHODS / sizeof *METHODS)
static PyObject *methods[METHODS_COUNT];
static PyObject *joins, *caps;

void release_shape(struct shape *shape) {
    Py_CLEAR(shape->points);
    Py_CLEAR(shape->fill.rgbas);
    Py_CLEAR(shape->background.paint.rgbas);
    Py_CLEAR(shape->stroke.paint.rgbas);
}

/* Whether a mobject has the methods of VMobject itself. */
static int has_own_methods(PyObject *vmobject) {
    for (size_t at = 0; at < METHODS_COUNT; at++) {
        PyObject *method = PyObject_GetAttr(vmobject, names[METHODS[at]]);
        if (!method) return -1;
        int own = PyMethod_Check(method) && PyMethod_GET_FUNCTION(method) == methods[at] &&
                  PyMethod_GET_SELF(method) == vmobject;
        Py_DECREF(method);
        if (!own) return 0;
    }
    return 1;
}

int are_points(PyObject *value) {
    if (!is_table(value, 3) || PyArray_DIM((PyArrayObject *)value, 0) == 0) return 0;
    const double *numbers = PyArray_DATA((PyArrayObject *)value);
    npy_intp size = PyArray_SIZE((PyArrayObject *)value);
    for (npy_intp at = 0; at < size; at++)
        if (!isfinite(numbers[at])) return 0;
    return 1;
}

int are_rgbas(PyObject *value) { return is_table(value, 4) && PyArray_DIM((PyArrayObject *)value, 0) > 0; }

/* Gets an attribute that must be a number; 0 if it isn't an ordinary one. */
static int get_number(PyObject *owner, enum name name, double *number) {
    PyObject *value = PyObject_GetAttr(owner, names[name]);
    if (!value) return -1;
    int ordinary = PyFloat_Check(value) || PyLong_CheckExact(value);
    if (ordinary) *number = PyFloat_AsDouble(value);
    Py_DECREF(value);
    if (PyErr_Occurred()) return -1;
    return ordinary && isfinite(*number);
}

/* Gets the number for Cairo of a member of an enumeration. */
static int get_choice(PyObject *owner, enum name name, PyObject *choices, int *number) {
    PyObject *value = PyObject_GetAttr(owner, names[name]);
    if (!value) return -1;
    int found = 0;
    for (Py_ssize_t at = 0; !found && at < PyTuple_GET_SIZE(choices); at++) {
        PyObject *choice = PyTuple_GET_ITEM(choices, at);
        if (PyTuple_GET_ITEM(choice, 0) == value) {
            *number = (int)PyLong_AsLong(PyTuple_GET_ITEM(choice, 1));
            found = 1;
        }
    }
    Py_DECREF(value);
    return found;
}

static int get_rgbas(PyObject *vmobject, enum name name, PyObject *given, struct paint *paint) {
    paint->rgbas = given == Py_None ? PyObject_GetAttr(vmobject, names[name]) : Py_NewRef(given);
    if (!paint->rgbas) return -1;
    return are_rgbas(paint->rgbas);
}

static int get_line(PyObject *vmobject, enum name width, enum name rgbas, PyObject *given, struct line *line) {
    int ordinary = get_number(vmobject, width, &line->width);
    if (ordinary <= 0) return ordinary;
    if (line->width <= 0) {
        line->width = 0;
        return 1;
    }
    return get_rgbas(vmobject, rgbas, given, &line->paint);
}

int collect_shape(PyObject *vmobject, PyObject *points, PyObject *fill, PyObject *background, PyObject *stroke,
                  struct shape *shape) {
    double curve_points;
    int join, cap, ordinary = has_own_methods(vmobject);
    if (ordinary <= 0) return ordinary;
    PyObject *image = PyObject_GetAttr(vmobject, names[IMAGE]);
    Py_XDECREF(image);
    if (image != Py_None) return image ? 0 : -1;
    shape->points = points == Py_None ? PyObject_GetAttr(vmobject, names[POINTS]) : Py_NewRef(points);
    if (!shape->points || without_gaps(&shape->points) < 0) return -1;
    if (!are_points(shape->points)) return 0;
    if ((ordinary = get_number(vmobject, CURVE_POINTS, &curve_points)) <= 0) return ordinary;
    if ((ordinary = get_number(vmobject, TOLERANCE, &shape->tolerance)) <= 0) return ordinary;
    if (curve_points != POINTS_PER_CURVE || shape->tolerance < 0) return 0;
    if ((ordinary = get_choice(vmobject, JOINT_TYPE, joins, &join)) <= 0) return ordinary;
    if ((ordinary = get_choice(vmobject, CAP_STYLE, caps, &cap)) <= 0) return ordinary;
    shape->join = join;
    shape->cap = cap;
    ordinary = get_line(vmobject, BACKGROUND_STROKE_WIDTH, BACKGROUND_STROKE_RGBAS, background, &shape->background);
    if (ordinary <= 0) return ordinary;
    if ((ordinary = get_rgbas(vmobject, FILL_RGBAS, fill, &shape->fill)) <= 0) return ordinary;
    return get_line(vmobject, STROKE_WIDTH, STROKE_RGBAS, stroke, &shape->stroke);
}

static int are_pairs(PyObject *pairs) {
    for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(pairs); at++) {
        PyObject *pair = PyTuple_GET_ITEM(pairs, at);
        if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2 || !PyLong_Check(PyTuple_GET_ITEM(pair, 1))) return 0;
    }
    return 1;
}

/* prepare(VMobject, joins, caps): joins and caps as pairs of a member of Manim's enumeration and its number for Cairo. */
PyObject *prepare(PyObject *module, PyObject *arguments) {
    PyObject *kind, *join_pairs, *cap_pairs;
    if (!PyArg_ParseTuple(arguments, "OO!O!", &kind, &PyTuple_Type, &join_pairs, &PyTuple_Type, &cap_pairs)) return NULL;
    if (joins) return PyErr_Format(PyExc_RuntimeError, "the module is prepared already");
    if (!are_pairs(join_pairs) || !are_pairs(cap_pairs)) return PyErr_Format(PyExc_TypeError, "expected pairs");
    for (size_t at = 0; at < METHODS_COUNT; at++)
        if (!(methods[at] = PyObject_GetAttr(kind, names[METHODS[at]]))) return NULL;
    joins = Py_NewRef(join_pairs);
    caps = Py_NewRef(cap_pairs);
    Py_RETURN_NONE;
}
