/*
 * Parts of Manim that are called for each mobject in each frame: the lists of families, interpolation, and the calls of
 * Cairo. The operations on numbers and their order are those of Manim, so that results are equal to the last bit: this
 * file must be compiled without contraction of floating-point expressions (-ffp-contract=off).
 */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <math.h>
#include <numpy/arrayobject.h>
#include <py3cairo.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#define POINTS_PER_CURVE 4
#define RELATIVE_TOLERANCE 1e-5

enum name {
    SUBMOBJECTS, POINTS, ITER_FAMILY, GET_NUM_POINTS, GET_ANCHORS, FILL_RGBAS, STROKE_RGBAS, BACKGROUND_STROKE_RGBAS, STROKE_WIDTH,
    BACKGROUND_STROKE_WIDTH, SHEEN_DIRECTION, SHEEN_FACTOR, JOINT_TYPE, CAP_STYLE, TOLERANCE, CURVE_POINTS,
    GET_STROKE_WIDTH, GET_STROKE_RGBAS, GET_FILL_RGBAS, SPLIT, EQUAL_2D, GET_IMAGE, IMAGE, DISPLAY_VECTORIZED, SET_COLOR,
    UPDATE, UPDATERS, UPDATING_SUSPENDED, NAMES
};
static const char *const TEXTS[NAMES] = {
    "submobjects", "points", "_iter_family", "get_num_points", "get_anchors", "fill_rgbas", "stroke_rgbas", "background_stroke_rgbas",
    "stroke_width", "background_stroke_width", "sheen_direction", "sheen_factor", "joint_type", "cap_style",
    "tolerance_for_point_equality", "n_points_per_cubic_curve", "get_stroke_width", "get_stroke_rgbas",
    "get_fill_rgbas", "get_subpath_split_indices_from_points", "consider_points_equals_2d", "get_background_image",
    "background_image", "display_vectorized", "set_cairo_context_color", "update", "updaters", "updating_suspended",
};
static PyObject *names[NAMES];

/* Set by `prepare`: Manim's own methods of VMobject, and the values of its enumerations for Cairo. */
static const enum name METHODS[] = {GET_STROKE_WIDTH, GET_STROKE_RGBAS, GET_FILL_RGBAS, SPLIT, EQUAL_2D, GET_IMAGE};
#define METHODS_COUNT (sizeof METHODS / sizeof *METHODS)
static PyObject *methods[METHODS_COUNT];
static PyObject *joins, *caps;

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

static int is_plain_array(PyObject *value) {
    if (!PyArray_CheckExact(value)) return 0;
    PyArrayObject *array = (PyArrayObject *)value;
    return PyArray_TYPE(array) == NPY_DOUBLE && PyArray_ISCARRAY_RO(array);
}

/* Replaces a view of floats by a copy. */
static int without_gaps(PyObject **value) {
    if (!PyArray_CheckExact(*value) || PyArray_TYPE((PyArrayObject *)*value) != NPY_DOUBLE) return 0;
    PyArrayObject *copy = PyArray_GETCONTIGUOUS((PyArrayObject *)*value);
    Py_SETREF(*value, (PyObject *)copy);
    return copy ? 0 : -1;
}

/* ---- Families ---------------------------------------------------------------------------------------------------- */

/* Whether the class of a mobject has this method. */
static int has_method(PyObject *mobject, enum name name, PyObject *expected) {
    PyObject *found = PyObject_GetAttr((PyObject *)Py_TYPE(mobject), names[name]);
    if (!found && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    Py_XDECREF(found);
    return PyErr_Occurred() ? -1 : found == expected;
}

static int is_table(PyObject *value, npy_intp columns) {
    if (!is_plain_array(value)) return 0;
    PyArrayObject *array = (PyArrayObject *)value;
    return PyArray_NDIM(array) == 2 && PyArray_DIM(array, 1) == columns;
}

/*
 * get_family(mobject, method): the mobject and those in it, each before those in it. None if a mobject is in two
 * groups, or if its class has another method than this one for it (`_iter_family`).
 */
static PyObject *get_family(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2) return PyErr_Format(PyExc_TypeError, "expected a mobject and a method");
    PyObject *family = PyList_New(0), *seen = PySet_New(NULL), *waiting = PyList_New(0);
    if (!family || !seen || !waiting || PyList_Append(waiting, arguments[0]) < 0) goto failed;
    Py_ssize_t left;
    while ((left = PyList_GET_SIZE(waiting)) > 0) {
        PyObject *member = Py_NewRef(PyList_GET_ITEM(waiting, left - 1));
        int ordinary = PyList_SetSlice(waiting, left - 1, left, NULL) < 0 ? -1 : has_method(member, ITER_FAMILY, arguments[1]);
        Py_ssize_t before = PySet_GET_SIZE(seen);
        if (ordinary < 0 || PySet_Add(seen, member) < 0 || PyList_Append(family, member) < 0) {
            Py_DECREF(member);
            goto failed;
        }
        PyObject *submobjects = PyObject_GetAttr(member, names[SUBMOBJECTS]);
        Py_DECREF(member);
        if (!submobjects) goto failed;
        if (!ordinary || PySet_GET_SIZE(seen) == before || !(PyList_Check(submobjects) || PyTuple_Check(submobjects))) {
            Py_DECREF(submobjects);
            Py_DECREF(family);
            family = Py_NewRef(Py_None);
            break;
        }
        for (Py_ssize_t at = PySequence_Fast_GET_SIZE(submobjects) - 1; at >= 0; at--)
            if (PyList_Append(waiting, PySequence_Fast_GET_ITEM(submobjects, at)) < 0) {
                Py_DECREF(submobjects);
                goto failed;
            }
        Py_DECREF(submobjects);
    }
    Py_DECREF(seen);
    Py_DECREF(waiting);
    return family;
failed:
    Py_XDECREF(family);
    Py_XDECREF(seen);
    Py_XDECREF(waiting);
    return NULL;
}

/*
 * with_points(family, method): those with points. None if the class of a mobject has another method than this one for
 * counting them (`get_num_points`).
 */
static PyObject *with_points(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2 || !PyList_Check(arguments[0])) return PyErr_Format(PyExc_TypeError, "expected a list and a method");
    PyObject *found = PyList_New(0);
    for (Py_ssize_t at = 0; found && at < PyList_GET_SIZE(arguments[0]); at++) {
        PyObject *member = Py_NewRef(PyList_GET_ITEM(arguments[0], at));
        int ordinary = has_method(member, GET_NUM_POINTS, arguments[1]);
        if (ordinary == 0) {
            Py_DECREF(member);
            Py_SETREF(found, Py_NewRef(Py_None));
            break;
        }
        PyObject *points = ordinary < 0 ? NULL : PyObject_GetAttr(member, names[POINTS]);
        Py_ssize_t size = points ? PyObject_Size(points) : -1;
        Py_XDECREF(points);
        if (size < 0 || (size > 0 && PyList_Append(found, member) < 0)) Py_CLEAR(found);
        Py_DECREF(member);
    }
    return found;
}

/*
 * get_anchors(family, method): the ends of all curves in one array. None if a mobject is none of VMobject with this
 * method for it (`get_anchors`), has a part of a curve, or if there are no curves.
 */
static PyObject *get_anchors(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 2 || !PyList_Check(arguments[0])) return PyErr_Format(PyExc_TypeError, "expected a list and a method");
    /* A copy: the getters of a scene's own classes may change the list. */
    PyObject *family = PyList_AsTuple(arguments[0]), *arrays = PyList_New(0), *result = NULL;
    npy_intp shape[2] = {0, 3};
    if (!family || !arrays) goto ended;
    Py_ssize_t members = PyTuple_GET_SIZE(family);
    for (Py_ssize_t at = 0; at < members; at++) {
        PyObject *member = PyTuple_GET_ITEM(family, at);
        int ordinary = has_method(member, GET_ANCHORS, arguments[1]);
        if (ordinary < 0) goto ended;
        PyObject *points = PyObject_GetAttr(member, names[POINTS]);
        if (!points || without_gaps(&points) < 0 || PyList_Append(arrays, points) < 0) {
            Py_XDECREF(points);
            goto ended;
        }
        Py_DECREF(points); /* in the list */
        PyArrayObject *array = (PyArrayObject *)points;
        npy_intp rows;
        if (!ordinary || !is_plain_array(points) || PyArray_NDIM(array) != 2 || PyArray_DIM(array, 1) != 3 ||
            ((rows = PyArray_DIM(array, 0)) != 1 && rows % POINTS_PER_CURVE != 0)) {
            result = Py_NewRef(Py_None);
            goto ended;
        }
        shape[0] += rows == 1 ? 1 : rows / POINTS_PER_CURVE * 2;
    }
    if (shape[0] == 0) {
        result = Py_NewRef(Py_None);
        goto ended;
    }
    if (!(result = PyArray_SimpleNew(2, shape, NPY_DOUBLE))) goto ended;
    double *into = PyArray_DATA((PyArrayObject *)result), *end = into + 3 * shape[0];
    int same = 1;
    for (Py_ssize_t at = 0; at < members; at++) {
        PyArrayObject *array = (PyArrayObject *)PyList_GET_ITEM(arrays, at);
        const double *points = PyArray_DATA(array);
        npy_intp rows = is_table((PyObject *)array, 3) ? PyArray_DIM(array, 0) : 0;
        for (npy_intp row = 0; row < rows; row++)
            if (row % POINTS_PER_CURVE == 0 || row % POINTS_PER_CURVE == POINTS_PER_CURVE - 1) {
                if (!(same = into < end)) break;
                memcpy(into, points + 3 * row, 3 * sizeof *into);
                into += 3;
            }
        if (!same) break;
    }
    if (!same || into < end) Py_SETREF(result, Py_NewRef(Py_None)); /* a getter has changed an array that was collected before */
ended:
    Py_XDECREF(family);
    Py_XDECREF(arrays);
    return result;
}

/* ---- Updates ----------------------------------------------------------------------------------------------------- */

/* Whether a mobject itself, or its class, has this method and no other one of its name. */
static int calls_method(PyObject *mobject, enum name name, PyObject *expected) {
    PyObject *method = PyObject_GetAttr(mobject, names[name]);
    if (!method) return -1;
    int own = PyMethod_Check(method) && PyMethod_GET_FUNCTION(method) == expected && PyMethod_GET_SELF(method) == mobject;
    Py_DECREF(method);
    return own;
}

static int update_members(PyObject *mobject, PyObject *dt, PyObject *call_updater, PyObject *method);

static int update_member(PyObject *member, PyObject *dt, PyObject *call_updater, PyObject *method) {
    int ordinary = calls_method(member, UPDATE, method);
    if (ordinary < 0) return -1;
    if (ordinary) return update_members(member, dt, call_updater, method);
    PyObject *update = PyObject_GetAttr(member, names[UPDATE]);
    PyObject *keywords = Py_BuildValue("(s)", "recursive"), *arguments[] = {dt, Py_True};
    PyObject *result = update && keywords ? PyObject_Vectorcall(update, arguments, 1, keywords) : NULL;
    Py_XDECREF(update);
    Py_XDECREF(keywords);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

/* Calls all updaters of a mobject and then of those in it; the lists may change meanwhile, as in a loop of Python. */
static int update_members(PyObject *mobject, PyObject *dt, PyObject *call_updater, PyObject *method) {
    PyObject *suspended = PyObject_GetAttr(mobject, names[UPDATING_SUSPENDED]);
    int is_suspended = suspended ? PyObject_IsTrue(suspended) : -1;
    Py_XDECREF(suspended);
    if (is_suspended) return is_suspended < 0 ? -1 : 0;
    if (Py_EnterRecursiveCall(" while mobjects were updated")) return -1;
    int failed = 0;
    for (int own = 1; own >= 0 && !failed; own--) {
        PyObject *list = PyObject_GetAttr(mobject, names[own ? UPDATERS : SUBMOBJECTS]);
        PyObject *items = list && !PyList_CheckExact(list) ? PyObject_GetIter(list) : NULL;
        failed = !list || (!items && !PyList_CheckExact(list));
        for (Py_ssize_t at = 0; !failed; at++) {
            PyObject *item = items                            ? PyIter_Next(items)
                             : at < PyList_GET_SIZE(list) ? Py_NewRef(PyList_GET_ITEM(list, at))
                                                          : NULL;
            if (!item) break;
            if (own) {
                PyObject *arguments[] = {item, mobject, dt};
                PyObject *result = PyObject_Vectorcall(call_updater, arguments, 3, NULL);
                Py_XDECREF(result);
                failed = !result;
            } else {
                failed = update_member(item, dt, call_updater, method) < 0;
            }
            Py_DECREF(item);
        }
        Py_XDECREF(items);
        Py_XDECREF(list);
        if (PyErr_Occurred()) failed = 1;
    }
    Py_LeaveRecursiveCall();
    return failed ? -1 : 0;
}

/*
 * update(mobject, dt, call_updater, method): calls `call_updater(updater, mobject, dt)` for the updaters of a mobject and
 * of those in it. Members that have another method than this one for it (`update`) are updated by theirs.
 */
static PyObject *update(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 4) return PyErr_Format(PyExc_TypeError, "expected a mobject, a time, a function and a method");
    if (update_members(arguments[0], arguments[1], arguments[2], arguments[3]) < 0) return NULL;
    return Py_NewRef(arguments[0]);
}

/* ---- Interpolation ----------------------------------------------------------------------------------------------- */

/* Returns beta * start + alpha * end. */
static PyObject *between(PyObject *start, PyObject *end, PyObject *alpha, PyObject *beta) {
    if (PyFloat_Check(alpha) && PyFloat_Check(beta) && is_plain_array(start) && is_plain_array(end)) {
        PyArrayObject *one = (PyArrayObject *)start, *other = (PyArrayObject *)end;
        int dimensions = PyArray_NDIM(one);
        if (dimensions > 0 && dimensions == PyArray_NDIM(other) &&
            PyArray_CompareLists(PyArray_DIMS(one), PyArray_DIMS(other), dimensions)) {
            PyObject *result = PyArray_SimpleNew(dimensions, PyArray_DIMS(one), NPY_DOUBLE);
            if (!result) return NULL;
            const double *from = PyArray_DATA(one), *to = PyArray_DATA(other);
            double *into = PyArray_DATA((PyArrayObject *)result);
            double a = PyFloat_AS_DOUBLE(alpha), b = PyFloat_AS_DOUBLE(beta);
            npy_intp size = PyArray_SIZE(one);
            for (npy_intp at = 0; at < size; at++) into[at] = b * from[at] + a * to[at];
            return result;
        }
    }
    PyObject *first = PyNumber_Multiply(beta, start);
    PyObject *second = first ? PyNumber_Multiply(alpha, end) : NULL;
    PyObject *sum = second ? PyNumber_Add(first, second) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(second);
    return sum;
}

static PyObject *one_minus(PyObject *alpha) {
    PyObject *one = PyLong_FromLong(1);
    PyObject *beta = one ? PyNumber_Subtract(one, alpha) : NULL;
    Py_XDECREF(one);
    return beta;
}

/* interpolate(start, end, alpha): (1 - alpha) * start + alpha * end. */
static PyObject *interpolate(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 3) return PyErr_Format(PyExc_TypeError, "expected a start, an end and alpha");
    PyObject *beta = one_minus(arguments[2]);
    if (!beta) return NULL;
    PyObject *result = between(arguments[0], arguments[1], arguments[2], beta);
    Py_DECREF(beta);
    return result;
}

/* Returns a value of the second mobject for the first one at alpha 1. */
static PyObject *own_copy(PyObject *value) {
    if (PyArray_CheckExact(value)) return PyArray_NewCopy((PyArrayObject *)value, NPY_CORDER);
    return PyArray_Check(value) ? PyObject_CallMethod(value, "copy", NULL) : Py_NewRef(value);
}

/* interpolate_style(mobject, first, second, alpha): sets colours and strokes to those between two mobjects. */
static PyObject *interpolate_style(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    static const enum name ATTRIBUTES[] = {FILL_RGBAS, STROKE_RGBAS, BACKGROUND_STROKE_RGBAS, STROKE_WIDTH,
                                           BACKGROUND_STROKE_WIDTH, SHEEN_DIRECTION, SHEEN_FACTOR};
    if (count != 4) return PyErr_Format(PyExc_TypeError, "expected three mobjects and alpha");
    PyObject *beta = one_minus(arguments[3]);
    if (!beta) return NULL;
    int is_end = PyFloat_AsDouble(arguments[3]) == 1;
    if (PyErr_Occurred()) {
        Py_DECREF(beta);
        return NULL;
    }
    for (size_t at = 0; at < sizeof ATTRIBUTES / sizeof *ATTRIBUTES; at++) {
        PyObject *name = names[ATTRIBUTES[at]];
        PyObject *start = PyObject_GetAttr(arguments[1], name);
        PyObject *end = start ? PyObject_GetAttr(arguments[2], name) : NULL;
        PyObject *value = end ? between(start, end, arguments[3], beta) : NULL;
        if (value && is_end) Py_SETREF(value, own_copy(end));
        int failed = !value || PyObject_SetAttr(arguments[0], name, value) < 0;
        Py_XDECREF(start);
        Py_XDECREF(end);
        Py_XDECREF(value);
        if (failed) {
            Py_DECREF(beta);
            return NULL;
        }
    }
    Py_DECREF(beta);
    return Py_NewRef(arguments[0]);
}

/* ---- Smooth curves ------------------------------------------------------------------------------------------------ */

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
static PyObject *substitute_forward(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
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
static PyObject *substitute_back(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
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

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

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

static void release(struct shape *shape) {
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

/* Whether these are rows of coordinates, all finite. */
static int are_points(PyObject *value) {
    if (!is_table(value, 3) || PyArray_DIM((PyArrayObject *)value, 0) == 0) return 0;
    const double *numbers = PyArray_DATA((PyArrayObject *)value);
    npy_intp size = PyArray_SIZE((PyArrayObject *)value);
    for (npy_intp at = 0; at < size; at++)
        if (!isfinite(numbers[at])) return 0;
    return 1;
}

static int are_rgbas(PyObject *value) { return is_table(value, 4) && PyArray_DIM((PyArrayObject *)value, 0) > 0; }

/* Raises an error if code of the scene that ran since then has changed the type or the shape of an array. */
static int are_still(int condition) {
    if (!condition) PyErr_SetString(PyExc_ValueError, "an array was changed while its mobject was drawn");
    return condition ? 0 : -1;
}

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

/* Collects what is drawn of a mobject; 0 if Manim has to draw it. */
static int collect(PyObject *vmobject, PyObject *points, PyObject *fill, PyObject *background, PyObject *stroke,
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

static int are_close(double one, double other, double tolerance) {
    if (one == other) return 1;
    double difference = fabs(one - other);
    return difference <= tolerance + RELATIVE_TOLERANCE * fabs(other) && isfinite(difference);
}

static int meet(const double *one, const double *other, double tolerance) {
    return are_close(one[0], other[0], tolerance) && are_close(one[1], other[1], tolerance);
}

/* ---- Recorded outlines ------------------------------------------------------------------------------------------- */

/* What a path is filled or stroked with. */
struct ink {
    enum { NOTHING, SOLID, GRADIENT, PATTERN } kind;
    double width; /* of a line */
    double ends[4]; /* of a gradient between two colours */
    double colours[8];
    cairo_pattern_t *pattern; /* owned */
};

/* A mobject as it is drawn: filled between two lines. The coordinates x and y of its points follow it. */
struct outline {
    npy_intp count;
    double tolerance;
    cairo_line_join_t join;
    cairo_line_cap_t cap;
    struct ink background, fill, stroke;
};

/* Outlines in the order in which they are drawn. */
struct record {
    char *data;
    size_t used, size;
};

static size_t outline_size(const struct outline *outline) {
    return sizeof *outline + (size_t)outline->count * 2 * sizeof(double);
}

static void drop_pattern(struct ink *ink) {
    if (ink->kind == PATTERN) cairo_pattern_destroy(ink->pattern);
    ink->kind = NOTHING;
}

static void drop_patterns(struct outline *outline) {
    drop_pattern(&outline->background);
    drop_pattern(&outline->fill);
    drop_pattern(&outline->stroke);
}

static void empty(struct record *record) {
    for (size_t at = 0; at < record->used;) {
        struct outline *outline = (struct outline *)(record->data + at);
        at += outline_size(outline);
        drop_patterns(outline);
    }
    record->used = 0;
}

static void discard(struct record *record) {
    empty(record);
    free(record->data);
    *record = (struct record){0};
}

/* Appends an outline with these points; the record then owns its patterns. */
static int append(struct record *record, struct outline *outline, const double *points) {
    size_t needed = record->used + outline_size(outline);
    if (needed > record->size) {
        size_t size = needed * 2;
        char *data = realloc(record->data, size);
        if (!data) {
            drop_patterns(outline);
            PyErr_NoMemory();
            return -1;
        }
        record->data = data;
        record->size = size;
    }
    memcpy(record->data + record->used, outline, sizeof *outline);
    double *into = (double *)(record->data + record->used + sizeof *outline);
    for (npy_intp at = 0; at < outline->count; at++) {
        into[2 * at] = points[3 * at];
        into[2 * at + 1] = points[3 * at + 1];
    }
    record->used = needed;
    return 0;
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
    return append(record, &outline, PyArray_DATA((PyArrayObject *)shape->points));
}

/* ---- Drawing of recorded outlines, which needs nothing of Python ------------------------------------------------- */

/* Makes the path of an outline the current one. A sub-path ends where the next curve doesn't begin. */
static void set_path(cairo_t *context, const struct outline *outline) {
    const double *points = (const double *)(outline + 1);
    npy_intp count = outline->count;
    double tolerance = outline->tolerance;
    cairo_new_path(context);
    for (npy_intp start = 0, end; start < count; start = end) {
        end = start + POINTS_PER_CURVE;
        while (end < count && meet(points + 2 * (end - 1), points + 2 * end, tolerance)) end += POINTS_PER_CURVE;
        if (end > count) end = count;
        if (end - start < POINTS_PER_CURVE) continue;
        cairo_new_sub_path(context);
        cairo_move_to(context, points[2 * start], points[2 * start + 1]);
        for (npy_intp at = start; at + POINTS_PER_CURVE <= end; at += POINTS_PER_CURVE) {
            const double *curve = points + 2 * at;
            cairo_curve_to(context, curve[2], curve[3], curve[4], curve[5], curve[6], curve[7]);
        }
        if (meet(points + 2 * start, points + 2 * (end - 1), tolerance)) cairo_close_path(context);
    }
}

/* Sets the source; Manim's colours are in the order of Cairo's bytes. */
static void set_source(cairo_t *context, const struct ink *ink) {
    const double *rgba = ink->colours;
    if (ink->kind == SOLID) {
        cairo_set_source_rgba(context, rgba[2], rgba[1], rgba[0], rgba[3]);
    } else if (ink->kind == GRADIENT) {
        cairo_pattern_t *pattern = cairo_pattern_create_linear(ink->ends[0], ink->ends[1], ink->ends[2], ink->ends[3]);
        for (int at = 0; at < 2; at++, rgba += 4)
            cairo_pattern_add_color_stop_rgba(pattern, at, rgba[2], rgba[1], rgba[0], rgba[3]);
        cairo_set_source(context, pattern);
        cairo_pattern_destroy(pattern);
    } else {
        cairo_set_source(context, ink->pattern);
    }
}

static void draw_line(cairo_t *context, const struct outline *outline, const struct ink *ink) {
    if (ink->kind == NOTHING) return;
    set_source(context, ink);
    cairo_set_line_width(context, ink->width);
    cairo_set_line_join(context, outline->join);
    cairo_set_line_cap(context, outline->cap);
    cairo_stroke_preserve(context);
}

static void draw_record(cairo_t *context, const struct record *record) {
    for (size_t at = 0; at < record->used;) {
        const struct outline *outline = (const struct outline *)(record->data + at);
        set_path(context, outline);
        draw_line(context, outline, &outline->background);
        set_source(context, &outline->fill);
        cairo_fill_preserve(context);
        draw_line(context, outline, &outline->stroke);
        at += outline_size(outline);
    }
}

/* Draws recorded outlines while other threads may run. */
static int draw_unlocked(PyObject *wrapper, const struct record *record) {
    cairo_t *context = PycairoContext_GET(wrapper);
    Py_BEGIN_ALLOW_THREADS
    draw_record(context, record);
    Py_END_ALLOW_THREADS
    return Pycairo_Check_Status(cairo_status(context)) ? -1 : 0;
}

/*
 * Records an item: a mobject; or (mobject,) if Manim has to draw it; or (mobject, points, ends, fill, background,
 * stroke) with its points, both ends of its gradient and its colours if the camera changes them, else None. Returns 0
 * and the mobject, borrowed from the item, if Manim has to draw it.
 */
static int record_item(PyObject *camera, PyObject *wrapper, PyObject *item, double multiple, double ratio,
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
    if (points) ordinary = collect(vmobject, points, fill, background, stroke, &shape);
    if (ordinary < 0 && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        ordinary = 0;
    }
    if (ordinary > 0) {
        const double *numbers = ends == Py_None ? NULL : gradient;
        if (record_shape(camera, wrapper, vmobject, &shape, numbers, multiple, ratio, record) < 0) ordinary = -1;
    }
    release(&shape);
    return ordinary;
}

/* draw(camera, context, items, multiple, ratio): draws mobjects of a camera that draws as Manim's. */
static PyObject *draw(PyObject *module, PyObject *arguments) {
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
            empty(&record);
            PyObject *call[] = {camera, vmobject, wrapper};
            PyObject *result = PyObject_VectorcallMethod(names[DISPLAY_VECTORIZED], call, 3, NULL);
            Py_XDECREF(result);
        }
        Py_DECREF(item);
        if (PyErr_Occurred()) break;
    }
    Py_DECREF(iterator);
    if (!PyErr_Occurred()) draw_unlocked(wrapper, &record);
    discard(&record);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* ---- Pictures, which threads draw -------------------------------------------------------------------------------- */

/*
 * The mobjects of one frame as they were when it was recorded. RECORDED until `begin` queues it; it is drawn by one of
 * the threads, or by one that waits for a picture.
 */
struct picture {
    PyObject_HEAD
    struct record record;
    cairo_matrix_t matrix;
    enum { RECORDED, QUEUED, BEING_DRAWN, DRAWN } state; /* guarded by `lock`, as what follows */
    cairo_status_t status;
    Py_buffer pixels; /* height by width by four bytes */
    struct picture *next;
    unsigned long process;
    int is_used; /* while it is recorded or drawn by `record` or `draw`, which may call Python or release its lock */
};

#define THREADS_MAX 7 /* the scene has the rest of the processes that a job may have */
#define ARENAS_MAX 2   /* of malloc; each takes 64 MiB of the job's address space */
#define STACK_BYTES (1 << 20)
#define SIDE_MAX 32767 /* of a picture of Cairo */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* the queue, or the state of a picture */
static struct picture *first, *last;
static long threads_wanted, threads_started;
static unsigned long process = 1; /* another number in a process that was forked, which has no threads */
static double seconds_drawn;
static int being_drawn, is_forking; /* pictures; none is begun while the process forks */

static struct picture *unqueue(void) {
    struct picture *picture = is_forking ? NULL : first;
    if (picture && !(first = picture->next)) last = NULL;
    if (picture) picture->state = BEING_DRAWN;
    return picture;
}

static double thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Draws on an array of bytes, height by width by four. */
static cairo_status_t draw_on(const Py_buffer *pixels, const struct picture *picture) {
    int height = (int)pixels->shape[0], width = (int)pixels->shape[1];
    cairo_surface_t *surface =
        cairo_image_surface_create_for_data(pixels->buf, CAIRO_FORMAT_ARGB32, width, height, width * 4);
    cairo_t *context = cairo_create(surface);
    cairo_set_matrix(context, &picture->matrix);
    draw_record(context, &picture->record);
    cairo_status_t status = cairo_status(context);
    cairo_destroy(context);
    cairo_surface_destroy(surface);
    return status;
}

/* Draws a picture taken from the queue. Called and returns with the lock held. */
static void draw_queued(struct picture *picture) {
    being_drawn++;
    pthread_mutex_unlock(&lock);
    double start = thread_seconds();
    cairo_status_t status = draw_on(&picture->pixels, picture);
    double seconds = thread_seconds() - start;
    pthread_mutex_lock(&lock);
    picture->status = status;
    picture->state = DRAWN;
    seconds_drawn += seconds;
    being_drawn--;
    pthread_cond_broadcast(&changed);
}

static void *draw_pictures(void *nothing) {
    pthread_mutex_lock(&lock);
    for (;;) {
        struct picture *picture = unqueue();
        if (picture) draw_queued(picture);
        else pthread_cond_wait(&changed, &lock);
    }
    return NULL;
}

/* Starts a thread if fewer than wanted are running; if the process may have no more, those that wait draw. */
static void start_thread(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    if (threads_started >= threads_wanted || pthread_attr_init(&attributes) != 0) return;
    sigfillset(&all); /* signals are for Python's threads */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
        pthread_create(&thread, &attributes, draw_pictures, NULL) == 0)
        threads_started++;
    else
        threads_wanted = threads_started;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* Waits until nothing is drawn: the new process would inherit locks of Cairo that no thread of it releases. */
static void before_fork(void) {
    pthread_mutex_lock(&lock);
    is_forking = 1;
    while (being_drawn > 0) pthread_cond_wait(&changed, &lock);
}

static void after_fork(void) {
    is_forking = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void in_forked_process(void) {
    first = last = NULL;
    threads_started = 0;
    is_forking = 0;
    process++;
    pthread_cond_init(&changed, NULL);
    pthread_mutex_init(&lock, NULL);
}

static PyObject *new_picture(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    if (PyTuple_GET_SIZE(arguments) > 0) return PyErr_Format(PyExc_TypeError, "expected no arguments");
    struct picture *picture = (struct picture *)type->tp_alloc(type, 0);
    if (picture) cairo_matrix_init_identity(&picture->matrix);
    return (PyObject *)picture;
}

/* Waits until no thread uses a picture; it isn't in the queue afterwards. */
static void retire(struct picture *picture) {
    pthread_mutex_lock(&lock);
    if (picture->state == QUEUED && picture->process == process) {
        struct picture **link = &first, *previous = NULL;
        while (*link != picture) {
            previous = *link;
            link = &previous->next;
        }
        *link = picture->next;
        if (last == picture) last = previous;
    }
    while (picture->state == BEING_DRAWN && picture->process == process) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void delete_picture(PyObject *self) {
    struct picture *picture = (struct picture *)self;
    retire(picture);
    if (picture->pixels.obj) PyBuffer_Release(&picture->pixels);
    discard(&picture->record);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Whether a context draws as a new one, except for its matrix, source and lines. */
static int is_ordinary(cairo_t *context) {
    return cairo_status(context) == CAIRO_STATUS_SUCCESS && cairo_get_operator(context) == CAIRO_OPERATOR_OVER &&
           cairo_get_antialias(context) == CAIRO_ANTIALIAS_DEFAULT && cairo_get_tolerance(context) == 0.1 &&
           cairo_get_fill_rule(context) == CAIRO_FILL_RULE_WINDING && cairo_get_dash_count(context) == 0 &&
           cairo_get_miter_limit(context) == 10.0 && cairo_get_group_target(context) == cairo_get_target(context);
}

/*
 * record(camera, context, items, multiple, ratio): records mobjects as `draw` would draw them with the matrix of the
 * context. Returns the number of items that were recorded: the next one, if any, is for Manim.
 */
static PyObject *record_picture(PyObject *self, PyObject *arguments) {
    struct picture *picture = (struct picture *)self;
    PyObject *camera, *wrapper, *items;
    double multiple, ratio;
    if (!PyArg_ParseTuple(arguments, "OO!O!dd", &camera, &PycairoContext_Type, &wrapper, &PyList_Type, &items, &multiple,
                          &ratio))
        return NULL;
    if (picture->state != RECORDED || picture->record.used > 0 || picture->is_used)
        return PyErr_Format(PyExc_RuntimeError, "the picture is recorded already");
    cairo_t *context = PycairoContext_GET(wrapper);
    if (!is_ordinary(context)) return PyLong_FromLong(0);
    cairo_get_matrix(context, &picture->matrix);
    Py_ssize_t at = 0;
    int done = 1;
    picture->is_used = 1;
    while (done > 0 && at < PyList_GET_SIZE(items)) {
        PyObject *item = Py_NewRef(PyList_GET_ITEM(items, at)), *vmobject;
        done = record_item(camera, wrapper, item, multiple, ratio, &picture->record, &vmobject);
        Py_DECREF(item);
        if (done > 0) at++;
    }
    picture->is_used = 0;
    return done < 0 ? NULL : PyLong_FromSsize_t(at);
}

/* Gets an array of bytes, height by width by four. */
static int get_pixels(PyObject *array, Py_buffer *pixels) {
    if (PyObject_GetBuffer(array, pixels, PyBUF_ND | PyBUF_WRITABLE) < 0) return -1;
    if (pixels->ndim == 3 && pixels->itemsize == 1 && pixels->shape[2] == 4 && pixels->shape[0] <= SIDE_MAX &&
        pixels->shape[1] <= SIDE_MAX)
        return 0;
    PyBuffer_Release(pixels);
    PyErr_SetString(PyExc_ValueError, "expected bytes, height by width by four");
    return -1;
}

/* draw(pixels): draws on an array now. */
static PyObject *draw_recorded(PyObject *self, PyObject *array) {
    struct picture *picture = (struct picture *)self;
    Py_buffer pixels;
    if (get_pixels(array, &pixels) < 0) return NULL;
    if (picture->is_used) {
        PyBuffer_Release(&pixels);
        return PyErr_Format(PyExc_RuntimeError, "the picture is in use");
    }
    cairo_status_t status;
    picture->is_used = 1;
    Py_BEGIN_ALLOW_THREADS
    status = draw_on(&pixels, picture);
    Py_END_ALLOW_THREADS
    picture->is_used = 0;
    PyBuffer_Release(&pixels);
    return Pycairo_Check_Status(status) ? NULL : Py_NewRef(Py_None);
}

/* begin(pixels): has a thread draw on an array that nobody else uses until `wait` has returned. */
static PyObject *begin_picture(PyObject *self, PyObject *array) {
    struct picture *picture = (struct picture *)self;
    if (picture->state != RECORDED || picture->is_used)
        return PyErr_Format(PyExc_RuntimeError, "the picture has begun already");
    if (get_pixels(array, &picture->pixels) < 0) return NULL;
    pthread_mutex_lock(&lock);
    picture->state = QUEUED;
    picture->process = process;
    if (last) last->next = picture;
    else first = picture;
    last = picture;
    start_thread();
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    Py_RETURN_NONE;
}

/* wait(): returns when the picture has been drawn, and draws pictures until then. Raises an error of Cairo. */
static PyObject *wait_for_picture(PyObject *self, PyObject *nothing) {
    struct picture *picture = (struct picture *)self;
    if (picture->state == RECORDED) return PyErr_Format(PyExc_RuntimeError, "the picture has not begun");
    Py_BEGIN_ALLOW_THREADS
    pthread_mutex_lock(&lock);
    while (picture->state != DRAWN && picture->process == process) {
        struct picture *other = unqueue();
        if (other) draw_queued(other);
        else pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    Py_END_ALLOW_THREADS
    if (picture->pixels.obj) PyBuffer_Release(&picture->pixels);
    if (picture->state != DRAWN) return PyErr_Format(PyExc_RuntimeError, "the picture was begun in another process");
    return Pycairo_Check_Status(picture->status) ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef picture_methods[] = {
    {"record", record_picture, METH_VARARGS, NULL},
    {"draw", draw_recorded, METH_O, NULL},
    {"begin", begin_picture, METH_O, NULL},
    {"wait", wait_for_picture, METH_NOARGS, NULL},
    {NULL},
};

static PyType_Slot picture_slots[] = {
    {Py_tp_new, new_picture},
    {Py_tp_dealloc, delete_picture},
    {Py_tp_methods, picture_methods},
    {0, NULL},
};

static PyType_Spec picture_type = {.name = "scenepress_native.Picture", .basicsize = sizeof(struct picture),
                                   .flags = Py_TPFLAGS_DEFAULT, .slots = picture_slots};

/* set_threads(count): how many threads draw pictures, besides those that wait for one. */
static PyObject *set_threads(PyObject *module, PyObject *count) {
    long wanted = PyLong_AsLong(count);
    if (PyErr_Occurred()) return NULL;
    pthread_mutex_lock(&lock);
    threads_wanted = wanted < THREADS_MAX ? wanted : THREADS_MAX;
    pthread_mutex_unlock(&lock);
    Py_RETURN_NONE;
}

/* seconds(): the processor time of all pictures drawn. */
static PyObject *seconds(PyObject *module, PyObject *nothing) {
    pthread_mutex_lock(&lock);
    double total = seconds_drawn;
    pthread_mutex_unlock(&lock);
    return PyFloat_FromDouble(total);
}

/* ---- Video ------------------------------------------------------------------------------------------------------- */

/*
 * The conversion of RGBA to yuv420p (BT.601, limited range) with the integers of swscale, which `manim` uses: luma to
 * the same bits; chroma as the weighted mean of the two columns and four rows around it.
 */
enum { RED_Y = 8414, GREEN_Y = 16519, BLUE_Y = 3208 };
enum { RED_U = -4865, GREEN_U = -9528, BLUE_U = 14392, RED_V = 14392, GREEN_V = -12061, BLUE_V = -2332 };
#if defined(__x86_64__) && defined(__GLIBC__)
#define FOR_EACH_PROCESSOR __attribute__((optimize("O3"), target_clones("avx2", "default")))
#else
#define FOR_EACH_PROCESSOR __attribute__((optimize("O3")))
#endif

FOR_EACH_PROCESSOR
static void to_luma(const uint32_t *restrict pixels, uint8_t *restrict luma, int width) {
    for (int x = 0; x < width; x++) {
        uint32_t pixel = pixels[x];
        int red = pixel & 255, green = pixel >> 8 & 255, blue = pixel >> 16 & 255;
        int value = (RED_Y * red + GREEN_Y * green + BLUE_Y * blue + (32 << 14) + (1 << 8)) >> 9;
        luma[x] = (value + 32) >> 6;
    }
}

/* One row of chroma with 15 bits, from the sums of two columns. */
FOR_EACH_PROCESSOR
static void to_chroma(const uint32_t *restrict pixels, int16_t *restrict u, int16_t *restrict v, int width) {
    for (int x = 0; x < width; x++) {
        uint32_t left = pixels[2 * x], right = pixels[2 * x + 1];
        int red = (left & 255) + (right & 255), green = (left >> 8 & 255) + (right >> 8 & 255);
        int blue = (left >> 16 & 255) + (right >> 16 & 255);
        int round = (256 << 15) + (1 << 9);
        u[x] = (RED_U * red + GREEN_U * green + BLUE_U * blue + round) >> 10;
        v[x] = (RED_V * red + GREEN_V * green + BLUE_V * blue + round) >> 10;
    }
}

FOR_EACH_PROCESSOR
static void mix_rows(const int16_t *restrict a, const int16_t *restrict b, const int16_t *restrict c,
                     const int16_t *restrict d, uint8_t *restrict mixed, int width) {
    for (int x = 0; x < width; x++) {
        int value = (a[x] + 3 * (b[x] + c[x]) + d[x] + (1 << 8)) >> 9;
        mixed[x] = value < 0 ? 0 : value > 255 ? 255 : value;
    }
}

struct conversion {
    Py_buffer rgba, planes[3];
    int strides[3];
};

static int convert_rows(struct conversion *conversion, int width, int height) {
    int half = width / 2;
    size_t stride = (size_t)half;
    int16_t *rows = PyMem_RawMalloc(stride * 8 * sizeof *rows); /* four of u, then four of v, in turns */
    if (!rows) return -1;
    const uint32_t *pixels = conversion->rgba.buf;
    for (int y = 0; y < height; y++)
        to_luma(pixels + (size_t)y * width, (uint8_t *)conversion->planes[0].buf + (size_t)y * conversion->strides[0], width);
    int made = 0;
    for (int y = 0; y < height / 2; y++) {
        int last = 2 * y + 2 < height ? 2 * y + 2 : height - 1;
        for (; made <= last; made++)
            to_chroma(pixels + (size_t)made * width, rows + (made & 3) * stride, rows + (4 + (made & 3)) * stride, half);
        int first = y ? 2 * y - 1 : 0;
        int around[4] = {first & 3, (2 * y) & 3, (2 * y + 1) & 3, last & 3};
        for (int plane = 0; plane < 2; plane++) {
            const int16_t *from = rows + (size_t)plane * 4 * stride;
            mix_rows(from + around[0] * stride, from + around[1] * stride, from + around[2] * stride,
                     from + around[3] * stride,
                     (uint8_t *)conversion->planes[plane + 1].buf + (size_t)y * conversion->strides[plane + 1], half);
        }
    }
    PyMem_RawFree(rows);
    return 0;
}

static int fits(const Py_buffer *buffer, Py_ssize_t rows, Py_ssize_t stride, Py_ssize_t width) {
    return stride >= width && buffer->len >= (rows - 1) * stride + width;
}

/*
 * to_yuv420p(rgba, width, height, planes, strides): the planes are writable buffers, the strides bytes from row to row.
 * Other threads run meanwhile.
 */
static PyObject *to_yuv420p(PyObject *module, PyObject *arguments) {
    struct conversion conversion;
    int width, height;
    if (!PyArg_ParseTuple(arguments, "y*ii(w*w*w*)(iii)", &conversion.rgba, &width, &height, &conversion.planes[0],
                          &conversion.planes[1], &conversion.planes[2], &conversion.strides[0], &conversion.strides[1],
                          &conversion.strides[2]))
        return NULL;
    int valid = width >= 2 && height >= 2 && width % 2 == 0 && height % 2 == 0 &&
                conversion.rgba.len == (Py_ssize_t)width * height * 4 && (uintptr_t)conversion.rgba.buf % 4 == 0 &&
                fits(&conversion.planes[0], height, conversion.strides[0], width) &&
                fits(&conversion.planes[1], height / 2, conversion.strides[1], width / 2) &&
                fits(&conversion.planes[2], height / 2, conversion.strides[2], width / 2);
    int failed = 0;
    if (valid) {
        Py_BEGIN_ALLOW_THREADS
        failed = convert_rows(&conversion, width, height);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&conversion.rgba);
    for (int plane = 0; plane < 3; plane++) PyBuffer_Release(&conversion.planes[plane]);
    if (!valid) return PyErr_Format(PyExc_ValueError, "the buffers don't fit a picture of %d by %d pixels", width, height);
    if (failed) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* ---- The module -------------------------------------------------------------------------------------------------- */

static int are_pairs(PyObject *pairs) {
    for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(pairs); at++) {
        PyObject *pair = PyTuple_GET_ITEM(pairs, at);
        if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2 || !PyLong_Check(PyTuple_GET_ITEM(pair, 1))) return 0;
    }
    return 1;
}

/* prepare(VMobject, joins, caps): joins and caps as pairs of a member of Manim's enumeration and its number for Cairo. */
static PyObject *prepare(PyObject *module, PyObject *arguments) {
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

static PyMethodDef functions[] = {
    {"prepare", prepare, METH_VARARGS, NULL},
    {"get_family", (PyCFunction)(void (*)(void))get_family, METH_FASTCALL, NULL},
    {"with_points", (PyCFunction)(void (*)(void))with_points, METH_FASTCALL, NULL},
    {"get_anchors", (PyCFunction)(void (*)(void))get_anchors, METH_FASTCALL, NULL},
    {"update", (PyCFunction)(void (*)(void))update, METH_FASTCALL, NULL},
    {"interpolate", (PyCFunction)(void (*)(void))interpolate, METH_FASTCALL, NULL},
    {"interpolate_style", (PyCFunction)(void (*)(void))interpolate_style, METH_FASTCALL, NULL},
    {"substitute_forward", (PyCFunction)(void (*)(void))substitute_forward, METH_FASTCALL, NULL},
    {"substitute_back", (PyCFunction)(void (*)(void))substitute_back, METH_FASTCALL, NULL},
    {"draw", draw, METH_VARARGS, NULL},
    {"set_threads", set_threads, METH_O, NULL},
    {"seconds", seconds, METH_NOARGS, NULL},
    {"to_yuv420p", to_yuv420p, METH_VARARGS, NULL},
    {NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "scenepress_native", .m_size = -1,
                                        .m_methods = functions};

PyMODINIT_FUNC PyInit_scenepress_native(void) {
    import_array();
    if (import_cairo() < 0) return NULL;
    for (int at = 0; at < NAMES; at++)
        if (!(names[at] = PyUnicode_InternFromString(TEXTS[at]))) return NULL;
    mallopt(M_ARENA_MAX, ARENAS_MAX);
    if (pthread_atfork(before_fork, after_fork, in_forked_process) != 0) return PyErr_NoMemory();
    PyObject *module = PyModule_Create(&definition), *type = PyType_FromSpec(&picture_type);
    if (module && type && PyModule_AddObjectRef(module, "Picture", type) < 0) Py_CLEAR(module);
    if (!type) Py_CLEAR(module);
    Py_XDECREF(type);
    return module;
}
