/* Drawing attributes of a mobject. */
#ifndef SHAPES_H
#define SHAPES_H

#include "interfaces.h"

struct paint {
    PyObject *rgbas; /* owned; one or more colours */
};

struct line {
    double width; /* 0: there is none */
    struct paint paint;
};

struct shape {
    PyObject *points; /* owned; floats without gaps */
    double tolerance;
    struct paint fill;
    struct line background, stroke;
    cairo_line_join_t join;
    cairo_line_cap_t cap;
};

/* Collects what is drawn of a mobject; 0 if Manim has to draw it. What isn't None is taken instead of the mobject's. */
int collect_shape(PyObject *vmobject, PyObject *points, PyObject *fill, PyObject *background, PyObject *stroke,
                  struct shape *shape);
void release_shape(struct shape *shape);

/* Whether these are rows of coordinates, all finite. */
int are_points(PyObject *value);
int are_rgbas(PyObject *value);

#endif
