/*
 * Parts of Manim that are called for each mobject in each frame: the lists of families, copies, interpolation, and the
 * calls of Cairo. The operations on numbers and their order are those of Manim, so that results are equal to the last bit: all
 * files must be compiled without contraction of floating-point expressions (-ffp-contract=off).
 */
#define FILLS_TABLES
#include "drawing_threads.h"
#include "functions.h"
#include "names.h"
#include "pictures.h"

/* As `native.py` says, which refuses the module of another version. */
#define INTERFACE "895cc071"

static PyMethodDef functions[] = {
    {"prepare", prepare, METH_VARARGS, NULL},
    {"get_family", (PyCFunction)(void (*)(void))get_family, METH_FASTCALL, NULL},
    {"with_points", (PyCFunction)(void (*)(void))with_points, METH_FASTCALL, NULL},
    {"get_anchors", (PyCFunction)(void (*)(void))get_anchors, METH_FASTCALL, NULL},
    {"prepare_copies", prepare_copies, METH_VARARGS, NULL},
    {"copy_mobject", (PyCFunction)(void (*)(void))copy_mobject, METH_FASTCALL, NULL},
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
    if (make_names() < 0 || prepare_threads() < 0) return NULL;
    PyObject *module = PyModule_Create(&definition), *type = PyType_FromSpec(&picture_type);
    if (module && PyModule_AddStringConstant(module, "INTERFACE", INTERFACE) < 0) Py_CLEAR(module);
    if (module && type && PyModule_AddObjectRef(module, "Picture", type) < 0) Py_CLEAR(module);
    if (!type) Py_CLEAR(module);
    Py_XDECREF(type);
    return module;
}
