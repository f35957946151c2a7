/* The recording of mobjects as outlines. */
#ifndef RECORDING_H
#define RECORDING_H

#include "interfaces.h"
#include "outlines.h"

/*
 * Records an item: a mobject; or (mobject,) if Manim has to draw it; or (mobject, points, ends, fill, background,
 * stroke) with its points, both ends of its gradient and its colours if the camera changes them, else None. Returns 0
 * and the mobject, borrowed from the item, if Manim has to draw it.
 */
int record_item(PyObject *camera, PyObject *wrapper, PyObject *item, double multiple, double ratio,
                struct record *record, PyObject **mobject);

#endif
