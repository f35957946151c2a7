#include "recording.h"
#include "arrays.h"
#include "functions.h"
#include "names.h"
#include "shapes.h"

/* Raises an error if code of the scene that ran since then has changed the type or the shape of an array. */
static int are_still(int condition) {
    if (!condition) PyErr_SetString(PyExc_ValueError, "an array was changed while its mobject was drawn");
    return condition ? 0 : -1;
}

/* Collects colours. Those that aren't one or two are given to Cairo by the camera; its context keeps only the last. */
static int take_ink(PyObject *camera, PyObject *wrapper, PyObject *vmobject, const struct paint *paint,
                    const double *ends, struct ink *ink) {
    if (are_still(are_rgbas(paint->rgbas)) < 0) return -1;
    npy_intp count = PyArray_DIM((PyArrayObject *)paint->rgbas, 0);
    const double *rgba = PyArray_DATA((PyArrayObject *)paint->rgbas);
    if (count == 1 || (count == 2 && ends)) {
        ink->kind = count == 1 ? SOLID : GRADIENT;
        memcpy(ink->colours, rgba, (size_t)count * 4 * sizeof *rgba);
        if (count == 2) memcpy(ink->ends, (double[]){ends[0], ends[1], ends[3], ends[4]}, sizeof ink->ends);
        return 0;
    }
    PyObject *arguments[] = {camera, wrapper, paint->rgbas, vmobject};
    PyObject *result = PyObject_VectorcallMethod(names[SET_COLOR], arguments, 4, NULL);
    if (!result) return -1;
    Py_DECREF(result);
    cairo_t *context = PycairoContext_GET(wrapper);
    if (Pycairo_Check_Status(cairo_status(context))) return -1;
    ink->kind = PATTERN;
    ink->pattern = cairo_pattern_reference(cairo_get_source(context));
    return 0;
}

static int take_line(PyObject *camera, PyObject *wrapper, PyObject *vmobject, const struct line *line,
                     const double *ends, double multiple, double ratio, struct ink *ink) {
    if (line->width == 0) return 0;
    ink->width = line->width * multiple * ratio;
    return take_ink(camera, wrapper, vmobject, &line->paint, ends, ink);
}

/* Records what Manim's method `display_vectorized` draws. */
static int record_shape(PyObject *camera, PyObject *wrapper, PyObject *vmobject, const struct shape *shape,
                        const double *ends, double multiple, double ratio, struct record *record) {
    struct outline outline = {.tolerance = shape->tolerance, .join = shape->join, .cap = shape->cap};
    if (take_line(camera, wrapper, vmobject, &shape->background, ends, multiple, ratio, &outline.background) < 0 ||
        take_ink(camera, wrapper, vmobject, &shape->fill, ends, &outline.fill) < 0 ||
        take_line(camera, wrapper, vmobject, &shape->stroke, ends, multiple, ratio, &outline.stroke) < 0 ||
        are_still(is_table(shape->points, 3)) < 0) {
        drop_patterns(&outline);
        return -1;
    }
    outline.count = PyArray_DIM((PyArrayObject *)shape->points, 0);
    if (append_outline(record, &outline, PyArray_DATA((PyArrayObject *)shape->points)) == 0) return 0;
    PyErr_NoMemory();
    return -1;
}

/* Draws recorded outlines while other threads may run. */
static int draw_unlocked(PyObject *wrapper, const struct record *record) {
    cairo_t *context = PycairoContext_GET(wrapper);
    Py_BEGIN_ALLOW_THREADS
    draw_record(context, record);
    Py_END_ALLOW_THREADS
    return Pycairo_Check_Status(cairo_status(context)) ? -1 : 0;
}

int record_item(PyObject *camera, PyObject *wrapper, PyObject *item, double multiple, double ratio,
                struct record *record, PyObject **mobject) {
    PyObject *vmobject = item, *points = Py_None, *ends = Py_None, *fill = Py_None, *background = Py_None,
             *stroke = Py_None;
    struct shape shape = {0};
    double gradient[6];
    int ordinary = 0;
    if (PyTuple_CheckExact(item) && PyTuple_GET_SIZE(item) == 1) {
        vmobject = PyTuple_GET_ITEM(item, 0);
        points = NULL;
    } else if (PyTuple_CheckExact(item)) {
        if (!PyArg_ParseTuple(item, "OOOOOO", &vmobject, &points, &ends, &fill, &background, &stroke)) return -1;
        if (ends != Py_None && (!are_points(ends) || PyArray_DIM((PyArrayObject *)ends, 0) < 2)) points = NULL;
        else if (ends != Py_None) memcpy(gradient, PyArray_DATA((PyArrayObject *)ends), sizeof gradient);
    }
    *mobject = vmobject;
    if (points) ordinary = collect_shape(vmobject, points, fill, background, stroke, &shape);
    if (ordinary < 0 && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        ordinary = 0;
    }
    if (ordinary > 0) {
        const double *numbers = ends == Py_None ? NULL : gradient;
        if (record_shape(camera, wrapper, vmobject, &shape, numbers, multiple, ratio, record) < 0) ordinary = -1;
    }
    release_shape(&shape);
    return ordinary;
}

/* draw(camera, context, items, multiple, ratio): draws mobjects of a camera that draws as Manim's. */
PyObject *draw(PyObject *module, PyObject *arguments) {
    PyObject *camera, *wrapper, *items;
    double multiple, ratio;
    if (!PyArg_ParseTuple(arguments, "OO!Odd", &camera, &PycairoContext_Type, &wrapper, &items, &multiple, &ratio))
        return NULL;
    PyObject *iterator = PyObject_GetIter(items), *item;
    if (!iterator) return NULL;
    struct record record = {0};
    while ((item = PyIter_Next(iterator))) {
        PyObject *vmobject;
        int done = record_item(camera, wrapper, item, multiple, ratio, &record, &vmobject);
        if (done == 0 && draw_unlocked(wrapper, &record) == 0) {
            empty_record(&record);
            PyObject *call[] = {camera, vmobject, wrapper};
            PyObject *result = PyObject_VectorcallMethod(names[DISPLAY_VECTORIZED], call, 3, NULL);
            Py_XDECREF(result);
        }
        Py_DECREF(item);
        if (PyErr_Occurred()) break;
    }
    Py_DECREF(iterator);
    if (!PyErr_Occurred()) draw_unlocked(wrapper, &record);
    discard_record(&record);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}
