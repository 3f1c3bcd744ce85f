/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Characters of UTF-8. */
#include "config.h"

#include "base/utf8.h"

size_t esi_utf8_length(const unsigned char *text)
{
    unsigned char first = text[0];
    unsigned char low = 0x80, high = 0xbf; /* bounds of the second byte */
    size_t length;

    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        length = 2;
    else if (first >= 0xe0 && first <= 0xef)
        length = 3;
    else if (first >= 0xf0 && first <= 0xf4)
        length = 4;
    else
        return 0;
    if (first == 0xe0)
        low = 0xa0;
    else if (first == 0xed)
        high = 0x9f;
    else if (first == 0xf0)
        low = 0x90;
    else if (first == 0xf4)
        high = 0x8f;
    /* A terminating 0 fails each comparison, so nothing behind it is read. */
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

uint32_t esi_utf8_value(const unsigned char *text, size_t length)
{
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t value = text[0] & first_bits[length];

    for (size_t i = 1; i < length; i++)
        value = value << 6 | (text[i] & 0x3f);
    return value;
}
