#include "pictures.h"
#include "drawing_threads.h"
#include "recording.h"

#define SIDE_MAX 32767 /* of a picture of Cairo */

static PyObject *new_picture(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    if (PyTuple_GET_SIZE(arguments) > 0) return PyErr_Format(PyExc_TypeError, "expected no arguments");
    struct picture *picture = (struct picture *)type->tp_alloc(type, 0);
    if (picture) cairo_matrix_init_identity(&picture->matrix);
    return (PyObject *)picture;
}

static void release_pixels(struct picture *picture) {
    if (picture->pixels.obj) PyBuffer_Release(&picture->pixels);
    if (picture->background.obj) PyBuffer_Release(&picture->background);
}

static void delete_picture(PyObject *self) {
    struct picture *picture = (struct picture *)self;
    retire(picture);
    release_pixels(picture);
    discard_record(&picture->record);
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

/* Gets an array of the same shape as that of the pixels. */
static int get_background(PyObject *array, struct picture *picture) {
    const Py_ssize_t *shape = picture->pixels.shape;
    if (PyObject_GetBuffer(array, &picture->background, PyBUF_ND) < 0) return -1;
    if (picture->background.ndim == 3 && picture->background.itemsize == 1 &&
        memcmp(picture->background.shape, shape, 3 * sizeof *shape) == 0)
        return 0;
    PyErr_SetString(PyExc_ValueError, "expected a background of the same shape");
    return -1;
}

/*
 * begin(pixels, background, (left, top, right, bottom)): has a thread replace an area of an array by that of a background,
 * and draw on it. The pixels must not be used, and the background not be changed, until `wait` has returned.
 */
static PyObject *begin_picture(PyObject *self, PyObject *arguments) {
    struct picture *picture = (struct picture *)self;
    PyObject *pixels, *background;
    struct area area;
    if (!PyArg_ParseTuple(arguments, "OO(iiii)", &pixels, &background, &area.left, &area.top, &area.right, &area.bottom))
        return NULL;
    if (picture->state != RECORDED || picture->is_used)
        return PyErr_Format(PyExc_RuntimeError, "the picture has begun already");
    if (get_pixels(pixels, &picture->pixels) < 0) return NULL;
    if (get_background(background, picture) < 0) {
        release_pixels(picture);
        return NULL;
    }
    const Py_ssize_t *shape = picture->pixels.shape;
    if (area.left < 0 || area.left > area.right || area.right > shape[1] || area.top < 0 || area.top > area.bottom ||
        area.bottom > shape[0]) {
        release_pixels(picture);
        return PyErr_Format(PyExc_ValueError, "the array has no such area");
    }
    picture->replaced = area;
    picture->width = (int)shape[1];
    picture->height = (int)shape[0];
    enqueue(picture);
    Py_RETURN_NONE;
}

static PyObject *as_tuple(struct area area) {
    return Py_BuildValue("(iiii)", area.left, area.top, area.right, area.bottom);
}

/*
 * wait(): returns when the picture has been drawn, and draws pictures until then. Returns the area that it has drawn
 * on: left, top, right, bottom. Raises an error of Cairo.
 */
static PyObject *wait_for_picture(PyObject *self, PyObject *nothing) {
    struct picture *picture = (struct picture *)self;
    if (picture->state == RECORDED) return PyErr_Format(PyExc_RuntimeError, "the picture has not begun");
    Py_BEGIN_ALLOW_THREADS
    await_picture(picture);
    Py_END_ALLOW_THREADS
    release_pixels(picture);
    if (picture->state != DRAWN) return PyErr_Format(PyExc_RuntimeError, "the picture was begun in another process");
    if (Pycairo_Check_Status(picture->status)) return NULL;
    return as_tuple(drawn_area(&picture->record, &picture->matrix, picture->width, picture->height));
}

/*
 * changed_since(other): the area outside of which a drawn picture shows the same as another one that was drawn over an equal
 * background.
 */
static PyObject *changed_since(PyObject *self, PyObject *argument) {
    struct picture *picture = (struct picture *)self, *other = (struct picture *)argument;
    if (Py_TYPE(argument) != Py_TYPE(self)) return PyErr_Format(PyExc_TypeError, "expected a picture");
    if (picture->state != DRAWN || other->state != DRAWN)
        return PyErr_Format(PyExc_RuntimeError, "the pictures have not been drawn");
    if (picture->width != other->width || picture->height != other->height ||
        memcmp(&picture->matrix, &other->matrix, sizeof picture->matrix) != 0)
        return as_tuple((struct area){0, 0, picture->width, picture->height});
    return as_tuple(
        changed_area(&other->record, &picture->record, &picture->matrix, picture->width, picture->height));
}

static PyMethodDef picture_methods[] = {
    {"record", record_picture, METH_VARARGS, NULL},
    {"draw", draw_recorded, METH_O, NULL},
    {"begin", begin_picture, METH_VARARGS, NULL},
    {"wait", wait_for_picture, METH_NOARGS, NULL},
    {"changed_since", changed_since, METH_O, NULL},
    {NULL},
};

static PyType_Slot picture_slots[] = {
    {Py_tp_new, new_picture},
    {Py_tp_dealloc, delete_picture},
    {Py_tp_methods, picture_methods},
    {0, NULL},
};

PyType_Spec picture_type = {.name = "scenepress_native.Picture", .basicsize = sizeof(struct picture),
                            .flags = Py_TPFLAGS_DEFAULT, .slots = picture_slots};
