/*
 * The conversion of RGBA to yuv420p (BT.601, limited range) with the integers of swscale, which `manim` uses: luma to
 * the same bits; chroma as the weighted mean of the two columns and four rows around it.
 */
#include "functions.h"
#include "outlines.h"

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
    int strides[3], first_changed, end_changed; /* in pairs of rows */
};

/* Writes a part of a row of a plane, if it isn't there already. */
static void put_row(struct conversion *conversion, int plane, int x, int y, const uint8_t *row, int width) {
    uint8_t *place = (uint8_t *)conversion->planes[plane].buf + (size_t)y * conversion->strides[plane] + x;
    if (memcmp(place, row, (size_t)width) == 0) return;
    memcpy(place, row, (size_t)width);
    int pair = plane == 0 ? y / 2 : y;
    if (conversion->end_changed == 0 || pair < conversion->first_changed) conversion->first_changed = pair;
    if (pair >= conversion->end_changed) conversion->end_changed = pair + 1;
}

/* The planes already hold what the pixels outside of the area are converted to. */
static int convert_area(struct conversion *conversion, int width, int height, struct area area) {
    int left = area.left / 2, half = (area.right + 1) / 2 - left; /* in pairs of columns */
    size_t stride = (size_t)half;
    int16_t *rows = PyMem_RawMalloc(stride * 8 * sizeof *rows); /* four of u, then four of v, in turns */
    uint8_t *row = PyMem_RawMalloc(2 * stride);
    if (!rows || !row) {
        PyMem_RawFree(rows);
        PyMem_RawFree(row);
        return -1;
    }
    const uint32_t *pixels = (const uint32_t *)conversion->rgba.buf + 2 * left;
    int first_pair = area.top > 2 ? (area.top - 2) / 2 : 0, end_pair = (area.bottom + 1) / 2 + 1;
    if (end_pair > height / 2) end_pair = height / 2;
    int made = first_pair > 0 ? 2 * first_pair - 1 : 0;
    for (int y = first_pair; y < end_pair; y++) {
        int last = 2 * y + 2 < height ? 2 * y + 2 : height - 1;
        for (; made <= last; made++) {
            const uint32_t *from = pixels + (size_t)made * width;
            to_chroma(from, rows + (made & 3) * stride, rows + (4 + (made & 3)) * stride, half);
            if (made < area.top || made >= area.bottom) continue;
            to_luma(from, row, 2 * half);
            put_row(conversion, 0, 2 * left, made, row, 2 * half);
        }
        int first = y ? 2 * y - 1 : 0;
        int around[4] = {first & 3, (2 * y) & 3, (2 * y + 1) & 3, last & 3};
        for (int plane = 0; plane < 2; plane++) {
            const int16_t *from = rows + (size_t)plane * 4 * stride;
            mix_rows(from + around[0] * stride, from + around[1] * stride, from + around[2] * stride,
                     from + around[3] * stride, row, half);
            put_row(conversion, plane + 1, left, y, row, half);
        }
    }
    PyMem_RawFree(rows);
    PyMem_RawFree(row);
    return 0;
}

static int fits(const Py_buffer *buffer, Py_ssize_t rows, Py_ssize_t stride, Py_ssize_t width) {
    return stride >= width && buffer->len >= (rows - 1) * stride + width;
}

/*
 * to_yuv420p(rgba, width, height, planes, strides, (left, top, right, bottom)): the planes are writable buffers, the
 * strides bytes from row to row. Only pixels in the area differ from those that were converted into the planes before.
 * Returns the first row in which the planes held anything else, and the row after the last one; both are even, and equal
 * if nothing has changed. Other threads run meanwhile.
 */
PyObject *to_yuv420p(PyObject *module, PyObject *arguments) {
    struct conversion conversion = {.first_changed = 0, .end_changed = 0};
    struct area area;
    int width, height;
    if (!PyArg_ParseTuple(arguments, "y*ii(w*w*w*)(iii)(iiii)", &conversion.rgba, &width, &height, &conversion.planes[0],
                          &conversion.planes[1], &conversion.planes[2], &conversion.strides[0], &conversion.strides[1],
                          &conversion.strides[2], &area.left, &area.top, &area.right, &area.bottom))
        return NULL;
    int valid = 0 <= area.left && area.left <= area.right && area.right <= width && 0 <= area.top &&
                area.top <= area.bottom && area.bottom <= height && width >= 2 && height >= 2 && width % 2 == 0 && height % 2 == 0 &&
                conversion.rgba.len == (Py_ssize_t)width * height * 4 && (uintptr_t)conversion.rgba.buf % 4 == 0 &&
                fits(&conversion.planes[0], height, conversion.strides[0], width) &&
                fits(&conversion.planes[1], height / 2, conversion.strides[1], width / 2) &&
                fits(&conversion.planes[2], height / 2, conversion.strides[2], width / 2);
    int failed = 0;
    if (valid) {
        Py_BEGIN_ALLOW_THREADS
        failed = area.left < area.right && area.top < area.bottom && convert_area(&conversion, width, height, area);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&conversion.rgba);
    for (int plane = 0; plane < 3; plane++) PyBuffer_Release(&conversion.planes[plane]);
    if (!valid) return PyErr_Format(PyExc_ValueError, "the buffers don't fit a picture of %d by %d pixels", width, height);
    if (failed) return PyErr_NoMemory();
    return Py_BuildValue("(ii)", 2 * conversion.first_changed, 2 * conversion.end_changed);
}
