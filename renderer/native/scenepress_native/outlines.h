/* Shapes as they are drawn. Nothing here needs Python, so that threads can draw them. */
#ifndef OUTLINES_H
#define OUTLINES_H

#include <cairo.h>
#include <stddef.h>

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
    ptrdiff_t count;
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

static inline size_t outline_size(const struct outline *outline) {
    return sizeof *outline + (size_t)outline->count * 2 * sizeof(double);
}

static inline const struct outline *outline_at(const struct record *record, size_t at) {
    return at < record->used ? (const struct outline *)(record->data + at) : NULL;
}

static inline const struct outline *first_outline(const struct record *record) {
    return outline_at(record, 0);
}

/* The one after an outline; NULL after the last. */
static inline const struct outline *next_outline(const struct record *record, const struct outline *outline) {
    return outline_at(record, (size_t)((const char *)outline - record->data) + outline_size(outline));
}

/* Appends an outline with these points of three coordinates, and takes over its patterns. -1 if there is no memory. */
int append_outline(struct record *record, struct outline *outline, const double *points);
void drop_patterns(struct outline *outline);
void empty_record(struct record *record);
void discard_record(struct record *record);

/* Draws all outlines (drawing.c). */
void draw_record(cairo_t *context, const struct record *record);

/* Pixels from `left` and `top` up to but not including `right` and `bottom`. */
struct area {
    int left, top, right, bottom;
};

/* Returns an area outside of which nothing is drawn of the outlines on a picture of this size (drawing.c). */
struct area drawn_area(const struct record *record, const cairo_matrix_t *matrix, int width, int height);

/* Returns an area outside of which two records look the same when they are drawn with this matrix (drawing.c). */
struct area changed_area(const struct record *one, const struct record *other, const cairo_matrix_t *matrix, int width,
                         int height);

#endif
