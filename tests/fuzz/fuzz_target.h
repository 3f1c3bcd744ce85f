/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Fuzz targets: each file has one, and all are linked into one program, to save link
 * time. */
#ifndef ES_TESTS_FUZZ_TARGET_H
#define ES_TESTS_FUZZ_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A fuzz target. */
struct fuzz_target {
    const char *name; /* of the file, without extension */
    int (*run)(const uint8_t *data, size_t size);
    struct fuzz_target *next;
};

/* Adds a target to those of the program. Borrows it. Called before main(). */
void fuzz_target_add(struct fuzz_target *target);

/* Returns the target, or NULL if the program has none of that name. */
struct fuzz_target *fuzz_target_find(const char *name);

/* Aborts the program if the condition is false. Unlike assert(3), it is in every
 * build. */
void require(bool condition);

/* Opens the function of a target. The name is that of the file:
 * FUZZ_TARGET(fuzz_plan, data, size) { ... return 0; } */
#define FUZZ_TARGET(NAME, DATA, SIZE)                                                  \
    static int NAME##_run(const uint8_t *DATA, size_t SIZE);                           \
    static struct fuzz_target NAME##_target = {.name = #NAME, .run = NAME##_run};      \
    __attribute__((constructor)) static void NAME##_add(void)                          \
    {                                                                                  \
        fuzz_target_add(&NAME##_target);                                               \
    }                                                                                  \
    static int NAME##_run(const uint8_t *DATA, size_t SIZE)

#endif
