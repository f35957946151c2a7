/* The drawing of outlines. */
#include "curves.h"
#include "outlines.h"
#include <math.h>
#include <string.h>

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
    for (const struct outline *outline = first_outline(record); outline; outline = next_outline(record, outline)) {
        set_path(context, outline);
        draw_line(context, outline, &outline->background);
        set_source(context, &outline->fill);
        cairo_fill_preserve(context);
        draw_line(context, outline, &outline->stroke);
    }
}

/* How far a line reaches beyond its path, in half widths: a miter as far as Cairo's limit, a square cap by the diagonal. */
static double reach(const struct outline *outline, const struct ink *ink) {
    if (ink->kind == NOTHING) return 0;
    double halves = outline->join == CAIRO_LINE_JOIN_MITER ? MITER_LIMIT : outline->cap == CAIRO_LINE_CAP_SQUARE ? M_SQRT2 : 1;
    return halves * ink->width / 2;
}

/* Coordinates between which something is drawn. */
struct range {
    double first, end;
};

/* The pixels of a picture on which something is drawn. */
struct drawn {
    const cairo_matrix_t *matrix;
    struct range columns, rows;
};

/* What isn't a number may be drawn anywhere. */
static void extend(struct range *range, double at, double more) {
    double first = at - more, end = at + more;
    range->first = fmin(range->first, isnan(first) ? -INFINITY : first);
    range->end = fmax(range->end, isnan(end) ? INFINITY : end);
}

static void add_outline(struct drawn *drawn, const struct outline *outline) {
    const cairo_matrix_t *matrix = drawn->matrix;
    const double *points = (const double *)(outline + 1);
    double beyond = fmax(reach(outline, &outline->background), reach(outline, &outline->stroke));
    double more_x = hypot(matrix->xx, matrix->xy) * beyond + ROUNDED_PX;
    double more_y = hypot(matrix->yx, matrix->yy) * beyond + ROUNDED_PX;
    for (ptrdiff_t point = 0; point < outline->count; point++) {
        double x = points[2 * point], y = points[2 * point + 1];
        extend(&drawn->columns, matrix->xx * x + matrix->xy * y + matrix->x0, more_x);
        extend(&drawn->rows, matrix->yx * x + matrix->yy * y + matrix->y0, more_y);
    }
}

static void to_pixels(struct range range, int size, int *first, int *end) {
    *first = (int)floor(fmin(fmax(range.first, 0), size));
    *end = (int)ceil(fmax(fmin(range.end, size), 0));
}

static struct area area_of(const struct drawn *drawn, int width, int height) {
    struct area area;
    to_pixels(drawn->columns, width, &area.left, &area.right);
    to_pixels(drawn->rows, height, &area.top, &area.bottom);
    if (area.left >= area.right || area.top >= area.bottom) area = (struct area){0};
    return area;
}

static const struct range NOTHING_DRAWN = {INFINITY, -INFINITY};

struct area drawn_area(const struct record *record, const cairo_matrix_t *matrix, int width, int height) {
    struct drawn drawn = {matrix, NOTHING_DRAWN, NOTHING_DRAWN};
    for (const struct outline *outline = first_outline(record); outline; outline = next_outline(record, outline))
        add_outline(&drawn, outline);
    return area_of(&drawn, width, height);
}

static size_t count_from(const struct record *record, const struct outline *outline) {
    size_t count = 0;
    for (; outline; outline = next_outline(record, outline)) count++;
    return count;
}

static int are_same(const struct outline *one, const struct outline *other) {
    size_t size = outline_size(one);
    return size == outline_size(other) && memcmp(one, other, size) == 0;
}

/* Adds so many outlines. Returns the one after them. */
static const struct outline *add_outlines(struct drawn *drawn, const struct record *record, const struct outline *outline,
                                          size_t count) {
    for (; count > 0; count--) {
        add_outline(drawn, outline);
        outline = next_outline(record, outline);
    }
    return outline;
}

/*
 * Both records draw their equal outlines in the same order: those at the beginning, and pairs at the end. All others are
 * added, so the pixels outside of the area are equal.
 */
struct area changed_area(const struct record *one, const struct record *other, const cairo_matrix_t *matrix, int width,
                         int height) {
    struct drawn drawn = {matrix, NOTHING_DRAWN, NOTHING_DRAWN};
    const struct outline *first = first_outline(one), *second = first_outline(other);
    while (first && second && are_same(first, second)) {
        first = next_outline(one, first);
        second = next_outline(other, second);
    }
    size_t count = count_from(one, first), other_count = count_from(other, second);
    size_t pairs = count < other_count ? count : other_count;
    first = add_outlines(&drawn, one, first, count - pairs);
    second = add_outlines(&drawn, other, second, other_count - pairs);
    for (; pairs > 0; pairs--) {
        if (!are_same(first, second)) {
            add_outline(&drawn, first);
            add_outline(&drawn, second);
        }
        first = next_outline(one, first);
        second = next_outline(other, second);
    }
    return area_of(&drawn, width, height);
}
