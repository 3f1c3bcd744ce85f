/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * wire.h - encodes numbers as bytes: little endian, fixed or variable length.
 *
 * A reader never reads beyond the end of its data: missing bytes read as 0 and set
 * `failed`.  A decoder can therefore read all fields before it checks for errors:
 *
 *     struct esi_wire_reader in = esi_wire_reader(payload, length);
 *     uint32_t element = esi_wire_get_u32(&in);
 *     uint64_t position = esi_wire_get_u64(&in);
 *
 *     if (in.failed)
 *         return -EPROTO;
 *
 * A writer is bounded in the same way: data that does not fit is not written and sets
 * `failed`.
 *
 * Numbers of variable length (varint) have 7 bits per byte, the lowest first, with bit
 * 7 set in all bytes but the last: 1 to 10 bytes (LEB128).
 */
#ifndef ES_BASE_WIRE_H
#define ES_BASE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ESI_WIRE_VARINT_BYTES = 10 }; /* maximum length of a varint */

/* --- Bytes of one number ---------------------------------------------------------- */

static inline uint64_t esi_wire_load(const unsigned char *in, size_t bytes)
{
    uint64_t value = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&value, in, bytes);
#else
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)in[i] << 8 * i;
#endif
    return value;
}

static inline void esi_wire_store(unsigned char *out, uint64_t value, size_t bytes)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(out, &value, bytes);
#else
    for (size_t i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> 8 * i);
#endif
}

/* The value of a hexadecimal digit; -1 if it is not one. */
static inline int esi_wire_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Maps small differences (modulo 2^64) of either sign to small numbers. */
static inline uint64_t esi_wire_fold(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t esi_wire_unfold(uint64_t folded)
{
    return folded >> 1 ^ (0 - (folded & 1));
}

/* --- Reading ---------------------------------------------------------------------- */

struct esi_wire_reader {
    const unsigned char *at; /* borrowed */
    const unsigned char *end;
    bool failed; /* the data ended too early, or a varint is invalid */
};

static inline struct esi_wire_reader esi_wire_reader(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;

    return (struct esi_wire_reader){.at = at, .end = at ? at + length : at};
}

static inline size_t esi_wire_left(const struct esi_wire_reader *reader)
{
    return (size_t)(reader->end - reader->at);
}

/* The next `length` bytes; NULL if there are fewer. */
static inline const unsigned char *esi_wire_get_bytes(struct esi_wire_reader *reader,
                                                      size_t length)
{
    const unsigned char *bytes = reader->at;

    if (esi_wire_left(reader) < length) {
        reader->failed = true;
        reader->at = reader->end;
        return NULL;
    }
    reader->at += length;
    return bytes;
}

static inline uint64_t esi_wire_get(struct esi_wire_reader *reader, size_t bytes)
{
    const unsigned char *in = esi_wire_get_bytes(reader, bytes);

    return in ? esi_wire_load(in, bytes) : 0;
}

static inline uint16_t esi_wire_get_u16(struct esi_wire_reader *reader)
{
    return (uint16_t)esi_wire_get(reader, sizeof(uint16_t));
}

static inline uint32_t esi_wire_get_u32(struct esi_wire_reader *reader)
{
    return (uint32_t)esi_wire_get(reader, sizeof(uint32_t));
}

static inline uint64_t esi_wire_get_u64(struct esi_wire_reader *reader)
{
    return esi_wire_get(reader, sizeof(uint64_t));
}

uint64_t esi_wire_get_long_varint(struct esi_wire_reader *reader);

/* Fails also for numbers of more than 64 bits.  The slow path uses a copy of the
 * reader, so that the reader can stay in registers in a loop. */
static inline uint64_t esi_wire_get_varint(struct esi_wire_reader *reader)
{
    struct esi_wire_reader copy = *reader;
    uint64_t value;

    if (reader->at < reader->end && *reader->at < 0x80)
        return *reader->at++;
    value = esi_wire_get_long_varint(&copy);
    *reader = copy;
    return value;
}

/* --- Writing ---------------------------------------------------------------------- */

struct esi_wire_writer {
    unsigned char *at; /* borrowed */
    unsigned char *end;
    bool failed; /* data did not fit */
};

static inline struct esi_wire_writer esi_wire_writer(void *bytes, size_t room)
{
    unsigned char *at = bytes;

    return (struct esi_wire_writer){.at = at, .end = at ? at + room : at};
}

/* Room for the next `length` bytes; NULL if there is less. */
static inline unsigned char *esi_wire_put_room(struct esi_wire_writer *writer,
                                               size_t length)
{
    unsigned char *bytes = writer->at;

    if ((size_t)(writer->end - writer->at) < length) {
        writer->failed = true;
        writer->end = writer->at;
        return NULL;
    }
    writer->at += length;
    return bytes;
}

static inline void esi_wire_put(struct esi_wire_writer *writer,
                                uint64_t value,
                                size_t bytes)
{
    unsigned char *out = esi_wire_put_room(writer, bytes);

    if (out)
        esi_wire_store(out, value, bytes);
}

static inline void esi_wire_put_u16(struct esi_wire_writer *writer, uint16_t value)
{
    esi_wire_put(writer, value, sizeof value);
}

static inline void esi_wire_put_u32(struct esi_wire_writer *writer, uint32_t value)
{
    esi_wire_put(writer, value, sizeof value);
}

static inline void esi_wire_put_u64(struct esi_wire_writer *writer, uint64_t value)
{
    esi_wire_put(writer, value, sizeof value);
}

static inline void esi_wire_put_bytes(struct esi_wire_writer *writer,
                                      const void *bytes,
                                      size_t length)
{
    unsigned char *out = esi_wire_put_room(writer, length);

    if (out && length > 0)
        memcpy(out, bytes, length);
}

/* Stores a varint of at most ESI_WIRE_VARINT_BYTES.  Returns its end. */
static inline unsigned char *esi_wire_store_varint(unsigned char *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *out++ = (unsigned char)(value | 0x80);
    *out++ = (unsigned char)value;
    return out;
}

void esi_wire_put_last_varint(struct esi_wire_writer *writer, uint64_t value);

static inline void esi_wire_put_varint(struct esi_wire_writer *writer, uint64_t value)
{
    if (writer->end - writer->at >= ESI_WIRE_VARINT_BYTES)
        writer->at = esi_wire_store_varint(writer->at, value);
    else
        esi_wire_put_last_varint(writer, value);
}

#endif
