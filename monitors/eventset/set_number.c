/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* set_number.c - decimal numbers that are written in one way only. */
#include "config.h"

#include "monitors/eventset/set_number.h"

#include <string.h>

bool es_set_number_parse(const char *text, size_t length, int64_t *ret_number)
{
    bool negative = length > 0 && text[0] == '-';
    size_t at = negative ? 1 : 0;
    uint64_t most = negative ? UINT64_C(1) << 63 : (UINT64_C(1) << 63) - 1;
    uint64_t value = 0;

    if (at == length || length >= ES_SET_NUMBER_LENGTH ||
        (text[at] == '0' && length > 1))
        return false;
    for (; at < length; at++) {
        unsigned digit = (unsigned)(text[at] - '0');
        if (digit > 9 || value > (most - digit) / 10)
            return false;
        value = 10 * value + digit;
    }
    *ret_number = (int64_t)(negative ? 0 - value : value);
    return true;
}

size_t es_set_number_format(int64_t number, char out[ES_SET_NUMBER_LENGTH])
{
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char digits[ES_SET_NUMBER_LENGTH];
    size_t at = sizeof digits;
    size_t length;

    digits[--at] = '\0';
    do
        digits[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (number < 0)
        digits[--at] = '-';
    length = sizeof digits - 1 - at;
    memcpy(out, digits + at, length + 1);
    return length;
}
