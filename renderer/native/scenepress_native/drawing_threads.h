/* Threads that draw pictures. */
#ifndef DRAWING_THREADS_H
#define DRAWING_THREADS_H

#include "interfaces.h"
#include "outlines.h"

/*
 * The mobjects of one frame as they were when it was recorded. RECORDED until `enqueue` queues it; it is drawn by one of
 * the threads, or by one that waits for a picture.
 */
struct picture {
    PyObject_HEAD
    struct record record;
    cairo_matrix_t matrix;
    enum { RECORDED, QUEUED, BEING_DRAWN, DRAWN } state; /* guarded by the lock of the queue, as what follows */
    cairo_status_t status;
    Py_buffer pixels;     /* height by width by four bytes */
    Py_buffer background; /* of the same shape */
    struct area replaced; /* of the pixels by those of the background, before it is drawn */
    int width, height;    /* of the pixels */
    struct picture *next;
    unsigned long process;
    int is_used; /* while it is recorded or drawn by `record` or `draw`, which may call Python or release its lock */
};

/* Limits the memory of threads, and has forks wait for them; -1 with an error of Python. */
int prepare_threads(void);

/* Draws on an array of bytes, height by width by four. */
cairo_status_t draw_on(const Py_buffer *pixels, const struct picture *picture);

/* Has a thread draw a picture on its pixels. */
void enqueue(struct picture *picture);
/* Returns when a queued picture has been drawn, and draws pictures until then; or if it was queued in another process. */
void await_picture(struct picture *picture);
/* Waits until no thread uses a picture; it isn't in the queue afterwards. */
void retire(struct picture *picture);

#endif
