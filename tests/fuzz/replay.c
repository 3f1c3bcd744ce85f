/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* replay.c - runs a fuzz target over its corpus without libFuzzer.
 *
 *   replay fuzz_NAME           runs the files of corpus/NAME
 *   replay fuzz_NAME FILE...   runs these files unchanged, to repeat a crash that
 *                              libFuzzer found
 *
 * Each file of the corpus is passed to the target unchanged, truncated at many places,
 * and with single bytes changed by a generator with a fixed seed. A fault ends the
 * program; targets check their own conditions. Output is TAP, one line per file.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_target.h"
#include "tests/random.h"

#define MUTATIONS 200
#define CUTS 64

static struct fuzz_target *target;

struct input {
    uint8_t *data;
    size_t size;
};

/* Reads a whole file. If that fails, ends the program with "Bail out!" of TAP. */
static struct input input_read(const char *path)
{
    struct input input = {NULL, 0};
    FILE *file = fopen(path, "rb");
    long size = -1;

    if (file && fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
        rewind(file);
    }
    if (size >= 0) {
        input.data = malloc((size_t)size + 1);
        input.size = (size_t)size;
    }
    if (!input.data || fread(input.data, 1, input.size, file) != input.size) {
        printf("Bail out! %s: %s\n", path, strerror(errno));
        exit(1);
    }
    fclose(file);
    return input;
}

/* The target gets a copy of the exact size, so that sanitizers find reads beyond it. */
static void run_target(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    if (!copy) {
        printf("Bail out! no memory\n");
        exit(1);
    }
    if (size > 0) {
        memcpy(copy, data, size);
    }
    target->run(copy, size);
    free(copy);
}

static void run_cut(const struct input *input)
{
    size_t step = input->size / CUTS + 1;

    for (size_t size = 0; size < input->size; size += step) {
        run_target(input->data, size);
    }
}

static void run_changed(struct input *input)
{
    uint64_t state = 1;

    for (int i = 0; i < MUTATIONS && input->size > 0; i++) {
        size_t at = random_next(&state) % input->size;
        uint8_t kept = input->data[at];

        input->data[at] = (uint8_t)random_next(&state);
        run_target(input->data, input->size);
        input->data[at] = kept;
    }
}

static void replay(const char *path, int with_changes)
{
    struct input input = input_read(path);

    run_target(input.data, input.size);
    if (with_changes) {
        run_cut(&input);
        run_changed(&input);
    }
    free(input.data);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay_corpus(const char *name)
{
    const char *top = getenv("top_srcdir");
    struct dirent **entries;
    char path[4096];
    int count;

    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", top ? top : ".", name);
    count = scandir(path, &entries, is_visible, alphasort);
    if (count <= 0) {
        printf("Bail out! no corpus in %s\n", path);
        return 1;
    }
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s/%s", top ? top : ".", name,
                 entries[i]->d_name);
        replay(path, 1);
        printf("ok %d - %s\n", i + 1, entries[i]->d_name);
        fflush(stdout);
        free(entries[i]);
    }
    free(entries);
    return 0;
}

int main(int argc, char **argv)
{
    target = argc > 1 ? fuzz_target_find(argv[1]) : NULL;
    if (!target) {
        fprintf(stderr, "usage: replay fuzz_NAME [FILE...]\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        replay(argv[i], 0);
    }
    return argc > 2 ? 0 : replay_corpus(target->name + strlen("fuzz_"));
}
