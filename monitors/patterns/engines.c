/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* engines.c - the table of engines. */
#include "config.h"

#include "monitors/patterns/search_engine.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* The default first. */
static const struct es_engine_ops *const engines[] = {
    &esi_engine_indexed,
    &esi_engine_rewrite,
    &esi_engine_closure,
    NULL,
};

enum { ENGINES = sizeof engines / sizeof engines[0] };

static struct es_engine_help helps[ENGINES];

const struct es_engine_ops *esi_engine_find(const char *name)
{
    for (unsigned i = 0; engines[i]; i++)
        if (!name || strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}

static void fill_helps(void)
{
    for (unsigned i = 0; engines[i]; i++)
        helps[i] = (struct es_engine_help){engines[i]->name, engines[i]->help};
}

const struct es_engine_help *es_search_engines(void)
{
    static pthread_once_t filled = PTHREAD_ONCE_INIT;

    pthread_once(&filled, fill_helps);
    return helps;
}
