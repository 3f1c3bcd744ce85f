/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * matrix_picture.c - CSV and SVG written directly; PNG with libpng.
 *
 * In pictures a rank is a row and a column of squares.  If there are many ranks,
 * several share one, so that a picture has at most 1,024.
 */
#include "config.h"

#include "monitors/profile/matrix_picture.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_LIBPNG
#include <png.h>
#endif

#include "base/plain.h"
#include "base/quantity.h"
#include "base/rows.h"

enum { SQUARES_MAX = 1024, PICTURE_PIXELS = 640, MARGIN = 60, LEGEND = 24 };

int esi_matrix_format_find(const char *path, enum esi_matrix_format *ret_format)
{
    static const char *const ends[] = {".csv", ".svg", ".png"};
    size_t length = strlen(path);

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (length > 4 && strcmp(path + length - 4, ends[i]) == 0) {
            *ret_format = (enum esi_matrix_format)i;
#ifndef HAVE_LIBPNG
            if (*ret_format == ESI_MATRIX_PNG)
                return -ENOTSUP;
#endif
            return 0;
        }
    return -EINVAL;
}

/* --- CSV -------------------------------------------------------------------------- */

static void describe_pair(struct esi_row *row, const void *record)
{
    const struct esi_profile_pair *pair = record;

    esi_row_signed(row, "from", NULL, pair->from);
    esi_row_signed(esi_row_if(row, pair->to >= 0), "to", NULL, pair->to);
    esi_row_unsigned(row, "messages", NULL, pair->messages);
    esi_row_unsigned(row, "bytes", NULL, pair->bytes);
}

static int write_csv(const struct esi_profile_report *report, FILE *stream)
{
    const struct esi_profile_pair empty = {.from = 0};
    struct esi_rows rows;
    int rc;

    esi_rows_init(&rows, ESI_ROWS_CSV, stream, describe_pair);
    rc = esi_rows_begin(&rows, &empty);
    for (size_t i = 0; i < report->pair_count && rc == 0; i++)
        esi_rows_add(&rows, &report->pairs[i]);
    return rc == 0 ? esi_rows_finish(&rows) : rc;
}

/* --- Squares ---------------------------------------------------------------------- */

/* Bytes and messages by square, row by row. */
struct matrix_squares {
    size_t ranks;
    size_t each;  /* ranks per square */
    size_t count; /* squares per row */
    uint64_t *bytes;
    uint64_t most; /* largest number of bytes of a square */
};

static int squares_init(const struct esi_profile_report *report,
                        struct matrix_squares *squares)
{
    int highest = 0;

    for (size_t i = 0; i < report->rank_count; i++)
        if (report->ranks[i].rank > highest)
            highest = report->ranks[i].rank;
    for (size_t i = 0; i < report->pair_count; i++)
        if (report->pairs[i].to > highest)
            highest = report->pairs[i].to;
    squares->ranks = (size_t)highest + 1;
    squares->each = (squares->ranks + SQUARES_MAX - 1) / SQUARES_MAX;
    squares->count = (squares->ranks + squares->each - 1) / squares->each;
    squares->most = 0;
    squares->bytes = calloc(squares->count * squares->count, sizeof *squares->bytes);
    if (!squares->bytes)
        return -ENOMEM;
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct esi_profile_pair *pair = &report->pairs[i];
        uint64_t *bytes;

        if (pair->to < 0 || pair->from < 0)
            continue;
        bytes = &squares->bytes[(size_t)pair->from / squares->each * squares->count +
                                (size_t)pair->to / squares->each];
        *bytes += pair->bytes > 0 ? pair->bytes : 1; /* count messages without data,
                                                        too */
        if (*bytes > squares->most)
            squares->most = *bytes;
    }
    return 0;
}

/* From 0 (nothing) to 255 (the maximum), on a logarithmic scale. */
static unsigned find_darkness(const struct matrix_squares *squares, uint64_t bytes)
{
    double most = log2((double)squares->most + 1);

    if (bytes == 0)
        return 0;
    return 32 + (unsigned)(223 * log2((double)bytes + 1) / most);
}

/* From light blue to dark blue; white for nothing. */
static void colour_of(unsigned dark, unsigned char colour[3])
{
    colour[0] = (unsigned char)(255 - dark * 247 / 255);
    colour[1] = (unsigned char)(255 - dark * 207 / 255);
    colour[2] = (unsigned char)(255 - dark * 148 / 255);
}

/* --- SVG -------------------------------------------------------------------------- */

static void write_svg_square(const struct matrix_squares *squares,
                             size_t from,
                             size_t to,
                             double side,
                             FILE *stream)
{
    uint64_t bytes = squares->bytes[from * squares->count + to];
    char size[ESI_QUANTITY_BYTES];
    unsigned char colour[3];

    if (bytes == 0)
        return;
    colour_of(find_darkness(squares, bytes), colour);
    fprintf(stream,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
            "fill=\"#%02x%02x%02x\"><title>%zu to %zu: %s</title></rect>\n",
            MARGIN + (double)to * side, MARGIN + (double)from * side, side, side,
            colour[0], colour[1], colour[2], from * squares->each, to * squares->each,
            esi_quantity_bytes(size, sizeof size, (double)bytes));
}

/* Rank numbers along both edges, at most sixteen. */
static void write_svg_labels(const struct matrix_squares *squares,
                             double side,
                             FILE *stream)
{
    size_t step = (squares->count + 15) / 16;

    for (size_t i = 0; i < squares->count; i += step) {
        double middle = MARGIN + ((double)i + 0.5) * side;

        fprintf(stream,
                "<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">%zu</text>\n"
                "<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%zu</text>\n",
                middle, MARGIN - 6, i * squares->each, MARGIN - 6, middle + 4,
                i * squares->each);
    }
}

static int write_svg(const struct matrix_squares *squares,
                     const char *run,
                     FILE *stream)
{
    double side = (double)PICTURE_PIXELS / (double)squares->count;
    char size[ESI_QUANTITY_BYTES];
    int whole = PICTURE_PIXELS + 2 * MARGIN;

    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n<title>",
            whole, whole);
    esi_xml_text(stream, run, SIZE_MAX);
    fprintf(stream,
            "</title>\n<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n"
            "<text x=\"%d\" y=\"%d\" font-size=\"13\">bytes sent from row to column, "
            "at most %s</text>\n",
            whole, whole, MARGIN, LEGEND,
            esi_quantity_bytes(size, sizeof size, (double)squares->most));
    write_svg_labels(squares, side, stream);
    for (size_t from = 0; from < squares->count; from++)
        for (size_t to = 0; to < squares->count; to++)
            write_svg_square(squares, from, to, side, stream);
    fprintf(stream,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
            "stroke=\"#444\"/>\n</svg>\n",
            MARGIN, MARGIN, PICTURE_PIXELS, PICTURE_PIXELS);
    return ferror(stream) ? -EIO : 0;
}

/* --- PNG -------------------------------------------------------------------------- */

#ifdef HAVE_LIBPNG

/* Side length of a square in pixels. */
static size_t side_of(const struct matrix_squares *squares)
{
    return squares->count >= PICTURE_PIXELS ? 1 : PICTURE_PIXELS / squares->count;
}

static void fill_png_line(const struct matrix_squares *squares,
                          size_t from,
                          png_bytep line)
{
    size_t side = side_of(squares);

    for (size_t x = 0; x < squares->count * side; x++)
        colour_of(
            find_darkness(squares, squares->bytes[from * squares->count + x / side]),
            line + 3 * x);
}

/* libpng jumps back to the caller on write errors. */
static bool write_png_lines(png_structp png,
                            png_infop info,
                            const struct matrix_squares *squares,
                            png_bytep line)
{
    size_t pixels = squares->count * side_of(squares);

    if (setjmp(png_jmpbuf(png)))
        return false;
    png_set_IHDR(png, info, (png_uint_32)pixels, (png_uint_32)pixels, 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (size_t y = 0; y < pixels; y++) {
        if (y % side_of(squares) == 0)
            fill_png_line(squares, y / side_of(squares), line);
        png_write_row(png, line);
    }
    png_write_end(png, info);
    return true;
}

static int write_png(const struct matrix_squares *squares, FILE *stream)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    png_bytep line = calloc(squares->count * side_of(squares), 3);
    int rc = -ENOMEM;

    if (info && line) {
        png_init_io(png, stream);
        rc = write_png_lines(png, info, squares, line) ? 0 : -EIO;
    }
    free(line);
    png_destroy_write_struct(&png, &info);
    return rc;
}

#else

static int write_png(const struct matrix_squares *squares, FILE *stream)
{
    (void)squares;
    (void)stream;
    return -ENOTSUP;
}

#endif

int esi_matrix_write(const struct esi_profile_report *report,
                     const char *run,
                     enum esi_matrix_format format,
                     FILE *stream)
{
    struct matrix_squares squares;
    int rc;

    if (format == ESI_MATRIX_CSV)
        return write_csv(report, stream);
    rc = squares_init(report, &squares);
    if (rc == 0)
        rc = format == ESI_MATRIX_SVG ? write_svg(&squares, run, stream)
                                      : write_png(&squares, stream);
    free(squares.bytes);
    return rc;
}
