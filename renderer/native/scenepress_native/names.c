#include "names.h"

static const char *const TEXTS[NAMES] = {
    "submobjects", "points", "_iter_family", "get_num_points", "get_anchors", "fill_rgbas", "stroke_rgbas", "background_stroke_rgbas",
    "stroke_width", "background_stroke_width", "sheen_direction", "sheen_factor", "joint_type", "cap_style",
    "tolerance_for_point_equality", "n_points_per_cubic_curve", "get_stroke_width", "get_stroke_rgbas",
    "get_fill_rgbas", "get_subpath_split_indices_from_points", "consider_points_equals_2d", "get_background_image",
    "background_image", "display_vectorized", "set_cairo_context_color", "update", "updaters", "updating_suspended",
    "__deepcopy__", "__dict__", "path_obj", "original_id",
};

PyObject *names[NAMES];

int make_names(void) {
    for (int at = 0; at < NAMES; at++)
        if (!(names[at] = PyUnicode_InternFromString(TEXTS[at]))) return -1;
    return 0;
}
