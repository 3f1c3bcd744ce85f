/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Gathers the density to rank 0 and writes it as a graymap; see picture.h. */
#include "picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Smaller blocks would show noise more than flow. */
enum { WIDTH_MAX = 320, BLOCK_MIN = 4 };

/* Twice the contrast: black is half the mean density. */
enum { MEAN_GRAY = 127, CONTRAST = 2, FLUID_GRAY_MAX = 254, SOLID_GRAY = 255 };

/*
 * A pixel represents block x block cells. A line has the particles of one row of cells,
 * one number per pixel.
 */
struct picture {
    const struct tunnel *tunnel;
    long block, width, height;
    int own_count;        /* numbers in this rank's lines */
    int32_t *own;         /* from north to south */
    int32_t *all;         /* of all ranks, on rank 0 only */
    int *counts, *starts; /* of each rank's numbers, on rank 0 only */
};

static long row_count(const struct crew *crew)
{
    int slices;
    long rows = 0;
    const struct slice *slice = crew_slices(crew, &slices);

    for (int i = 0; i < slices; i++)
        rows += slice[i].rows;
    return rows;
}

static int init_picture(struct picture *picture,
                        const struct tunnel *tunnel,
                        const struct crew *crew,
                        int rank,
                        int size)
{
    long block = (tunnel->columns + WIDTH_MAX - 1) / WIDTH_MAX;

    if (block < BLOCK_MIN)
        block = BLOCK_MIN;
    *picture = (struct picture){.tunnel = tunnel, .block = block};
    picture->width = tunnel->columns / block;
    picture->height = tunnel->rows / block;
    picture->own_count = (int)(row_count(crew) * picture->width);
    picture->own = calloc((size_t)picture->own_count, sizeof *picture->own);
    if (rank == 0) {
        size_t lines = (size_t)tunnel->rows;
        picture->all = calloc(lines * (size_t)picture->width, sizeof *picture->all);
        picture->counts = calloc((size_t)size, sizeof *picture->counts);
        picture->starts = calloc((size_t)size, sizeof *picture->starts);
        if (!picture->all || !picture->counts || !picture->starts)
            return -ENOMEM;
    }
    return picture->own ? 0 : -ENOMEM;
}

static void fini_picture(struct picture *picture)
{
    free(picture->own);
    free(picture->all);
    free(picture->counts);
    free(picture->starts);
}

static void add_row(const struct picture *picture, const uint8_t *cells, int32_t *line)
{
    const struct gas *gas = &picture->tunnel->gas;

    for (long column = 0; column < picture->width * picture->block; column++)
        line[column / picture->block] += (int32_t)gas->sum[cells[column]].particles;
}

static void fill_lines(struct picture *picture, const struct crew *crew)
{
    int slices;
    int32_t *line = picture->own;
    const struct slice *slice = crew_slices(crew, &slices);

    for (int i = 0; i < slices; i++)
        for (long row = 1; row <= slice[i].rows; row++, line += picture->width)
            for (int matrix = 0; matrix < picture->tunnel->matrices; matrix++)
                add_row(picture, slice_row(&slice[i], matrix, row), line);
}

static void gather_lines(struct picture *picture, MPI_Comm comm, int rank, int size)
{
    MPI_Gather(&picture->own_count, 1, MPI_INT, picture->counts, 1, MPI_INT, 0, comm);
    for (int i = 1; rank == 0 && i < size; i++)
        picture->starts[i] = picture->starts[i - 1] + picture->counts[i - 1];
    MPI_Gatherv(picture->own, picture->own_count, MPI_INT32_T, picture->all,
                picture->counts, picture->starts, MPI_INT32_T, 0, comm);
}

static double mean_of_pixel(const struct picture *picture)
{
    double sum = 0;
    long count = picture->width * picture->tunnel->rows;

    for (long i = 0; i < count; i++)
        sum += picture->all[i];
    return sum * (double)picture->block / (double)count;
}

static int gray_of(const struct picture *picture, long x, long y, double mean)
{
    long block = picture->block;
    double particles = 0;

    if (tunnel_is_solid(picture->tunnel, y * block + block / 2, x * block + block / 2))
        return SOLID_GRAY;
    for (long row = y * block; row < (y + 1) * block; row++)
        particles += picture->all[row * picture->width + x];
    double excess = mean > 0 ? particles / mean - 1 : 0;
    double gray = MEAN_GRAY * (1 + CONTRAST * excess);
    if (gray < 0)
        return 0;
    return gray < FLUID_GRAY_MAX ? (int)gray : FLUID_GRAY_MAX;
}

static int write_file(const struct picture *picture, const char *path)
{
    double mean = mean_of_pixel(picture);
    FILE *file = fopen(path, "wb");

    if (!file)
        return -errno;
    fprintf(file, "P5\n%ld %ld\n255\n", picture->width, picture->height);
    for (long y = 0; y < picture->height; y++)
        for (long x = 0; x < picture->width; x++)
            putc(gray_of(picture, x, y, mean), file);
    int error = ferror(file) ? -EIO : 0;
    if (fclose(file) != 0 && !error)
        error = -errno;
    return error;
}

int picture_write(const char *path,
                  const struct tunnel *tunnel,
                  const struct exchange_layout *layout,
                  const struct crew *crew)
{
    struct picture picture;
    int rank, size, error, worst;

    MPI_Comm_rank(layout->comm, &rank);
    MPI_Comm_size(layout->comm, &size);
    error = init_picture(&picture, tunnel, crew, rank, size);
    MPI_Allreduce(&error, &worst, 1, MPI_INT, MPI_MIN, layout->comm);
    if (worst == 0) {
        fill_lines(&picture, crew);
        gather_lines(&picture, layout->comm, rank, size);
        if (rank == 0)
            worst = write_file(&picture, path);
        MPI_Bcast(&worst, 1, MPI_INT, 0, layout->comm);
    }
    fini_picture(&picture);
    return worst;
}
