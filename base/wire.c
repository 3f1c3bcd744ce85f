/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* wire.c - varints of several bytes, and at the end of the room. */
#include "config.h"

#include "base/wire.h"

uint64_t esi_wire_get_long_varint(struct esi_wire_reader *reader)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
        uint64_t byte = *reader->at++;

        if (shift == 63 && byte > 1)
            break;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    reader->failed = true;
    reader->at = reader->end;
    return 0;
}

void esi_wire_put_last_varint(struct esi_wire_writer *writer, uint64_t value)
{
    unsigned char bytes[ESI_WIRE_VARINT_BYTES];

    esi_wire_put_bytes(writer, bytes,
                       (size_t)(esi_wire_store_varint(bytes, value) - bytes));
}
