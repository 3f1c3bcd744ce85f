/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Feeds frames for elements of tuple servers: R, T or W and the payload. */
#include "config.h"

#include <stdint.h>

#include "scopes/remote/element_wire.h"
#include "tests/fuzz/fuzz_target.h"

/* Checks that all data that a header announces is within the payload. */
static void use_frame(char kind, const char *payload, size_t size)
{
    struct esi_frame frame = {.payload = payload, .length = (uint32_t)size};
    struct esi_tuples_header tuples;
    struct esi_write_header write;
    struct esi_read_header read;
    const void *first;
    size_t count;

    if (kind == 'W' && esi_write_header_decode(&frame, &write, &first, &count) == 0)
        require((const char *)first + count * write.tuple_bytes == payload + size);
    if (kind == 'R')
        esi_read_header_decode(&frame, &read);
    if (kind == 'T' && esi_tuples_header_decode(&frame, &tuples, &first) == 0)
        require((const char *)first + (size_t)tuples.count * tuples.tuple_bytes ==
                payload + size);
}

FUZZ_TARGET(fuzz_element_frames, data, size)
{
    if (size > 0)
        use_frame((char)data[0], (const char *)data + 1, size - 1);
    return 0;
}
