/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* input.c - recognizes other formats by their first bytes. */
#include "config.h"

#include "base/input.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum {
    LOOKED_AT = 512,   /* in bytes */
    CONTROL_PART = 16, /* one in this many, plus one, may be
                          control characters in a text */
};

static const char utf16[] = "is text in UTF-16; save it in UTF-8";
static const char utf32[] = "is text in UTF-32; save it in UTF-8";
static const char ctf[] = "is a stream of an archive; name the archive's folder";

#define MAGIC(bytes) bytes, sizeof(bytes) - 1

/* The first matching row applies. */
static const struct magic {
    const char *bytes;
    size_t length;
    size_t offset;
    const char *words;
} magics[] = {
    {MAGIC("\x1f\x8b"), 0, "is compressed with gzip; unpack it first (gunzip)"},
    {MAGIC("\x28\xb5\x2f\xfd"), 0, "is compressed with zstd; unpack it first (unzstd)"},
    {MAGIC("\xfd"
           "7zXZ\0"),
     0, "is compressed with xz; unpack it first (unxz)"},
    {MAGIC("1AY&SY"), 4, "is compressed with bzip2; unpack it first (bunzip2)"},
    {MAGIC("\x04\x22\x4d\x18"), 0, "is compressed with lz4; unpack it first (unlz4)"},
    {MAGIC("PK\x03\x04"), 0, "is a zip archive; unpack it first (unzip)"},
    {MAGIC("PK\x05\x06"), 0, "is an empty zip archive"},
    {MAGIC("7z\xbc\xaf\x27\x1c"), 0, "is a 7z archive; unpack it first (7z x)"},
    {MAGIC("ustar"), 257, "is a tar archive; unpack it first (tar -xf)"},
    {MAGIC("\xef\xbb\xbf"), 0,
     "begins with a byte order mark (BOM) of UTF-8; save it without one"},
    {MAGIC("\xff\xfe\0\0"), 0, utf32},
    {MAGIC("\0\0\xfe\xff"), 0, utf32},
    {MAGIC("\xff\xfe"), 0,
     "begins with a byte order mark (BOM) of UTF-16; save it in UTF-8"},
    {MAGIC("\xfe\xff"), 0,
     "begins with a byte order mark (BOM) of UTF-16; save it in UTF-8"},
    {MAGIC("\x7f"
           "ELF"),
     0, "is a program or a library (ELF)"},
    {MAGIC("%PDF-"), 0, "is a PDF document"},
    {MAGIC("\x89PNG"), 0, "is a picture (PNG)"},
    {MAGIC("SQLite format 3"), 0, "is a database (SQLite)"},
    {MAGIC("\xc1\x1f\xfc\xc1"), 0, ctf},
    {MAGIC("\xc1\xfc\x1f\xc1"), 0, ctf},
};

static bool has_magic(const struct magic *magic, const char *bytes, size_t length)
{
    return length >= magic->offset + magic->length &&
           memcmp(bytes + magic->offset, magic->bytes, magic->length) == 0;
}

/* Control characters not used in text: all except backspace to carriage return, and
 * escape. */
static bool is_control(unsigned char byte)
{
    return byte < 8 || (byte > 13 && byte < 32 && byte != 27) || byte == 127;
}

/* Four bytes that are two characters of UTF-16 text in either byte order. */
static bool is_wide(const char *bytes, size_t length)
{
    size_t first;

    if (length < 4)
        return false;
    first = bytes[0] == 0; /* position of the characters */
    for (size_t i = 0; i < 4; i += 2)
        if (bytes[i + first] == 0 || is_control((unsigned char)bytes[i + first]) ||
            bytes[i + 1 - first] != 0)
            return false;
    return true;
}

static bool is_binary(const char *bytes, size_t length)
{
    size_t seen = length < LOOKED_AT ? length : LOOKED_AT;
    size_t control = 0;

    for (size_t i = 0; i < seen; i++)
        control += is_control((unsigned char)bytes[i]);
    return control > 1 + seen / CONTROL_PART;
}

/* Returns NULL if it may be UTF-8 text; otherwise a phrase to follow the name of the
 * input. */
static const char *input_describe(const char *bytes, size_t length)
{
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (has_magic(&magics[i], bytes, length))
            return magics[i].words;
    if (is_wide(bytes, length))
        return utf16;
    return is_binary(bytes, length) ? "is binary, not text" : NULL;
}

size_t esi_input_mark(const char *bytes, size_t length)
{
    return length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

int esi_input_check(const char *bytes,
                    size_t length,
                    const char *source,
                    struct es_error *error)
{
    const char *words = input_describe(bytes, length);

    return words ? es_error_set_at(error, -EINVAL, source, 0, 0, "%s", words) : 0;
}
