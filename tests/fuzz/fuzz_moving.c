/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What servers that move elements read: requests of other servers (JSON, from '{' on),
 * frames of tuples (R, T or W and the payload), and the plan that says what is moved.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/remote/element_wire.h"
#include "scopes/server/mover_plan.h"
#include "scopes/server/moving_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void read_element(const struct es_member *request)
{
    struct es_error error = {.text = ""};
    struct es_moving_element moving;

    if (es_moving_read(request, &error, &moving) < 0) {
        require(error.text[0] != '\0');
        return;
    }
    require(strlen(moving.process.host) < 64 && strlen(moving.process.program) < 256);
    require(strlen(moving.element.name) < 64 && strlen(moving.element.collector) < 32);
    require(moving.element.threshold >= 1 && moving.element.threshold <= 1u << 24);
    require(moving.process.facts.pid > 0 && moving.clock.frequency_hz > 0);
}

static void read_communicator(const struct es_member *request)
{
    struct es_error error = {.text = ""};
    struct es_moving_communicator moving;

    if (es_moving_read_communicator(request, &error, &moving) < 0) {
        require(error.text[0] != '\0');
        return;
    }
    for (int i = 0; moving.config.group && i < moving.config.group_size; i++)
        require(moving.config.group[i] >= 0);
    for (int i = 0; moving.config.remote && i < moving.config.remote_size; i++)
        require(moving.config.remote[i] >= 0);
    es_moving_fini_communicator(&moving);
}

static void use_message(const char *text, size_t size)
{
    struct es_message *message;

    if (es_message_parse(text, size, "request", NULL, &message) < 0)
        return;
    read_element(es_message_root(message));
    read_communicator(es_message_root(message));
    es_message_destroy(message);
}

static void use_plan(const char *text)
{
    struct es_plan plan;

    if (es_plan_parse(text, "plan", NULL, &plan) < 0)
        return;
    if (esi_mover_has_work(&plan, "alpha"))
        require(plan.count > 0);
    es_plan_fini(&plan);
}

/* All that a header promises lies within the payload. */
static void use_frame(char kind, const char *payload, size_t size)
{
    struct es_frame frame = {.payload = payload, .length = (uint32_t)size};
    struct es_tuples_header tuples;
    struct es_write_header write;
    struct es_read_header read;
    const void *first;
    size_t count;

    if (kind == 'W' && es_write_header_decode(&frame, &write, &first, &count) == 0)
        require((const char *)first + count * write.tuple_bytes == payload + size);
    if (kind == 'R')
        es_read_header_decode(&frame, &read);
    if (kind == 'T' && es_tuples_header_decode(&frame, &tuples, &first) == 0)
        require((const char *)first + (size_t)tuples.count * tuples.tuple_bytes ==
                payload + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    if (text[0] == '{')
        use_message(text, size);
    else if (size > 0 && strchr("RTW", text[0]))
        use_frame(text[0], text + 1, size - 1);
    else
        use_plan(text);
    free(text);
    return 0;
}
