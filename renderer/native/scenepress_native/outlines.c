#include "outlines.h"
#include <stdlib.h>
#include <string.h>

static void drop_pattern(struct ink *ink) {
    if (ink->kind == PATTERN) cairo_pattern_destroy(ink->pattern);
    ink->kind = NOTHING;
}

void drop_patterns(struct outline *outline) {
    drop_pattern(&outline->background);
    drop_pattern(&outline->fill);
    drop_pattern(&outline->stroke);
}

void empty_record(struct record *record) {
    for (size_t at = 0; at < record->used;) {
        struct outline *outline = (struct outline *)(record->data + at);
        at += outline_size(outline);
        drop_patterns(outline);
    }
    record->used = 0;
}

void discard_record(struct record *record) {
    empty_record(record);
    free(record->data);
    *record = (struct record){0};
}

int append_outline(struct record *record, struct outline *outline, const double *points) {
    size_t needed = record->used + outline_size(outline);
    if (needed > record->size) {
        size_t size = needed * 2;
        char *data = realloc(record->data, size);
        if (!data) {
            drop_patterns(outline);
            return -1;
        }
        record->data = data;
        record->size = size;
    }
    memcpy(record->data + record->used, outline, sizeof *outline);
    double *into = (double *)(record->data + record->used + sizeof *outline);
    for (ptrdiff_t at = 0; at < outline->count; at++) {
        into[2 * at] = points[3 * at];
        into[2 * at + 1] = points[3 * at + 1];
    }
    record->used = needed;
    return 0;
}
