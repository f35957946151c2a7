/* Manim's curves. */
#ifndef CURVES_H
#define CURVES_H

#define POINTS_PER_CURVE 4

#endif
