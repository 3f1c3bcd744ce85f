/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Feeds bytes, with a valid checksum, to the reader of the sums that are kept with an
 * archive. Accepted sums have cells, and are the same when they are written and read
 * again. */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/wire.h"
#include "monitors/diagram/diagram_marks.h"
#include "tests/fuzz/fuzz_target.h"

enum { ARCHIVE = 7, HEAD_BYTES = 24, COLUMNS = 3 };

/* Returns the data with a valid archive number and checksum, if it is long enough;
 * caller frees. */
static unsigned char *with_head(const uint8_t *data, size_t size)
{
    unsigned char *bytes = malloc(size + 1);

    require(bytes != NULL);
    if (size > 0)
        memcpy(bytes, data, size);
    if (size < HEAD_BYTES)
        return bytes;
    esi_wire_store(bytes + 8, ARCHIVE, 8);
    esi_wire_store(bytes + 16,
                   esi_hash_mix_bytes(size - HEAD_BYTES,
                                      (const char *)bytes + HEAD_BYTES,
                                      size - HEAD_BYTES),
                   8);
    return bytes;
}

static void look_at_cells(struct esi_diagram *diagram)
{
    struct esi_diagram_cell cells[COLUMNS];
    struct esi_diagram_extent extent;

    esi_diagram_extent(diagram, &extent);
    for (uint32_t row = 0; row < extent.rows; row++) {
        const struct esi_diagram_window window = {
            ESI_DIAGRAM_TIME, extent.begin[ESI_DIAGRAM_TIME],
            extent.end[ESI_DIAGRAM_TIME] + 1, COLUMNS};
        struct esi_diagram_row told;

        require(esi_diagram_row(diagram, row, &told) == 0);
        require(esi_diagram_cells(diagram, row, &window, cells) == 0);
        for (int i = 0; i < COLUMNS; i++)
            for (int state = 0; state < ESI_DIAGRAM_STATES; state++)
                require(cells[i].of[state] >= 0);
    }
}

static void write_again(struct esi_diagram *diagram)
{
    unsigned char *bytes, *bytes_again;
    size_t length, length_again;
    struct esi_diagram *again;

    require(esi_diagram_save_marks(diagram, ARCHIVE, ESI_DIAGRAM_MARKS_MAX, &bytes,
                                   &length) == 0);
    require(esi_diagram_load_marks(bytes, length, ARCHIVE, NULL, &again) == 0);
    require(esi_diagram_save_marks(again, ARCHIVE, length, &bytes_again,
                                   &length_again) == 0);
    require(length == length_again && memcmp(bytes, bytes_again, length) == 0);
    esi_diagram_destroy(again);
    free(bytes);
    free(bytes_again);
}

FUZZ_TARGET(fuzz_diagram_marks, data, size)
{
    unsigned char *bytes = with_head(data, size);
    struct es_error error = {.text = ""};
    struct esi_diagram *diagram;
    int rc = esi_diagram_load_marks(bytes, size, ARCHIVE, &error, &diagram);

    free(bytes);
    if (rc < 0) {
        require(rc == -ESTALE || (rc == -EINVAL && error.text[0] != '\0'));
        return 0;
    }
    look_at_cells(diagram);
    write_again(diagram);
    esi_diagram_destroy(diagram);
    return 0;
}
