/* The functions of the module, by the files that define them. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include "interfaces.h"

typedef PyObject *function(PyObject *module, PyObject *argument);
typedef PyObject *fast_function(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

fast_function get_family, with_points, get_anchors; /* families.c */
fast_function copy_mobject; /* copies.c */
fast_function update; /* updates.c */
fast_function interpolate, interpolate_style; /* interpolation.c */
fast_function substitute_forward, substitute_back; /* smooth_curves.c */
function prepare_copies; /* copies.c */
function prepare; /* shapes.c */
function draw; /* recording.c */
function set_threads, seconds; /* drawing_threads.c */
function to_yuv420p; /* conversion.c */

#endif
