/* Names of Manim's attributes and methods, as strings of Python that are made once. */
#ifndef NAMES_H
#define NAMES_H

#include "interfaces.h"

enum name {
    SUBMOBJECTS, POINTS, ITER_FAMILY, GET_NUM_POINTS, GET_ANCHORS, FILL_RGBAS, STROKE_RGBAS, BACKGROUND_STROKE_RGBAS, STROKE_WIDTH,
    BACKGROUND_STROKE_WIDTH, SHEEN_DIRECTION, SHEEN_FACTOR, JOINT_TYPE, CAP_STYLE, TOLERANCE, CURVE_POINTS,
    GET_STROKE_WIDTH, GET_STROKE_RGBAS, GET_FILL_RGBAS, SPLIT, EQUAL_2D, GET_IMAGE, IMAGE, DISPLAY_VECTORIZED, SET_COLOR,
    UPDATE, UPDATERS, UPDATING_SUSPENDED, NAMES
};

extern PyObject *names[NAMES];

/* Makes the strings; -1 with an error of Python. */
int make_names(void);

#endif
