#include "drawing_threads.h"
#include "functions.h"
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#define THREADS_MAX 7 /* the scene has the rest of the processes that a job may have */
#define ARENAS_MAX 2   /* of malloc; each takes 64 MiB of the job's address space */
#define STACK_BYTES (1 << 20)
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

cairo_status_t draw_on(const Py_buffer *pixels, const struct picture *picture) {
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

static void replace_area(struct picture *picture) {
    const struct area *area = &picture->replaced;
    size_t row = (size_t)picture->pixels.shape[1] * 4, length = (size_t)(area->right - area->left) * 4;
    for (int y = area->top; y < area->bottom; y++) {
        size_t at = (size_t)y * row + (size_t)area->left * 4;
        memcpy((char *)picture->pixels.buf + at, (const char *)picture->background.buf + at, length);
    }
}

/* Draws a picture taken from the queue. Called and returns with the lock held. */
static void draw_queued(struct picture *picture) {
    being_drawn++;
    pthread_mutex_unlock(&lock);
    double start = thread_seconds();
    replace_area(picture);
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

int prepare_threads(void) {
    mallopt(M_ARENA_MAX, ARENAS_MAX);
    if (pthread_atfork(before_fork, after_fork, in_forked_process) == 0) return 0;
    PyErr_NoMemory();
    return -1;
}

void enqueue(struct picture *picture) {
    pthread_mutex_lock(&lock);
    picture->state = QUEUED;
    picture->process = process;
    if (last) last->next = picture;
    else first = picture;
    last = picture;
    start_thread();
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void await_picture(struct picture *picture) {
    pthread_mutex_lock(&lock);
    while (picture->state != DRAWN && picture->process == process) {
        struct picture *other = unqueue();
        if (other) draw_queued(other);
        else pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
}

void retire(struct picture *picture) {
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

/* set_threads(count): how many threads draw pictures, besides those that wait for one. */
PyObject *set_threads(PyObject *module, PyObject *count) {
    long wanted = PyLong_AsLong(count);
    if (PyErr_Occurred()) return NULL;
    pthread_mutex_lock(&lock);
    threads_wanted = wanted < THREADS_MAX ? wanted : THREADS_MAX;
    pthread_mutex_unlock(&lock);
    Py_RETURN_NONE;
}

/* seconds(): the processor time of all pictures drawn. */
PyObject *seconds(PyObject *module, PyObject *nothing) {
    pthread_mutex_lock(&lock);
    double total = seconds_drawn;
    pthread_mutex_unlock(&lock);
    return PyFloat_FromDouble(total);
}
