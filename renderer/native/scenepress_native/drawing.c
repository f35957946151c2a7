/* The drawing of outlines. */
#include "curves.h"
#include "outlines.h"
#include <math.h>

#define RELATIVE_TOLERANCE 1e-5
#define MITER_LIMIT 10 /* that of a new context */
#define ROUNDED_PX 2

static int are_close(double one, double other, double tolerance) {
    if (one == other) return 1;
    double difference = fabs(one - other);
    return difference <= tolerance + RELATIVE_TOLERANCE * fabs(other) && isfinite(difference);
}

static int meet(const double *one, const double *other, double tolerance) {
    return are_close(one[0], other[0], tolerance) && are_close(one[1], other[1], tolerance);
}

/* Makes the path of an outline the current one. A sub-path ends where the next curve doesn't begin. */
static void set_path(cairo_t *context, const struct outline *outline) {
    const double *points = (const double *)(outline + 1);
    ptrdiff_t count = outline->count;
    double tolerance = outline->tolerance;
    cairo_new_path(context);
    for (ptrdiff_t start = 0, end; start < count; start = end) {
        end = start + POINTS_PER_CURVE;
        while (end < count && meet(points + 2 * (end - 1), points + 2 * end, tolerance)) end += POINTS_PER_CURVE;
        if (end > count) end = count;
        if (end - start < POINTS_PER_CURVE) continue;
        cairo_new_sub_path(context);
        cairo_move_to(context, points[2 * start], points[2 * start + 1]);
        for (ptrdiff_t at = start; at + POINTS_PER_CURVE <= end; at += POINTS_PER_CURVE) {
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

void draw_record(cairo_t *context, const struct record *record) {
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

/* How far a line reaches beyond its path, in half widths: a miter as far as Cairo's limit, a square cap by the diagonal. */
static double reach(const struct outline *outline, const struct ink *ink) {
    if (ink->kind == NOTHING) return 0;
    double halves = outline->join == CAIRO_LINE_JOIN_MITER ? MITER_LIMIT : outline->cap == CAIRO_LINE_CAP_SQUARE ? M_SQRT2 : 1;
    return halves * ink->width / 2;
}

struct rows drawn_rows(const struct record *record, const cairo_matrix_t *matrix, int height) {
    double top = height, bottom = 0, scale = hypot(matrix->yx, matrix->yy);
    for (size_t at = 0; at < record->used;) {
        const struct outline *outline = (const struct outline *)(record->data + at);
        const double *points = (const double *)(outline + 1);
        double more = scale * fmax(reach(outline, &outline->background), reach(outline, &outline->stroke)) + ROUNDED_PX;
        for (ptrdiff_t point = 0; point < outline->count; point++) {
            double y = matrix->yx * points[2 * point] + matrix->yy * points[2 * point + 1] + matrix->y0;
            if (!(y - more >= top)) top = y - more;
            if (!(y + more <= bottom)) bottom = y + more;
        }
        at += outline_size(outline);
    }
    if (!(top >= 0)) top = 0; /* also if it isn't a number */
    if (!(bottom <= height)) bottom = height;
    struct rows rows = {(int)floor(fmin(top, height)), (int)ceil(fmax(bottom, 0))};
    if (rows.first >= rows.end) rows = (struct rows){0, 0};
    return rows;
}
