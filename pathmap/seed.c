/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* seed.c - chooses the JSON library's hash seed once.
 *
 * The library would do so by itself with its first object, by looking at a variable
 * that other threads may be writing: right, but not for tools that look for races.
 */
#include "config.h"

#include "pathmap/seed.h"

#include <jansson.h>
#include <pthread.h>

static void choose_seed(void)
{
    json_object_seed(0); /* 0: a random one */
}

void esi_json_seed(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, choose_seed);
}
