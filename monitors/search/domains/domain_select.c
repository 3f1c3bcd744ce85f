/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* domain_select.c - a selection of the values of a domain, which uses the data of the
 * whole domain: 8 bytes per value. */
#include "config.h"

#include "monitors/search/domains/domain_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t count_taken(const struct esi_domain *whole,
                            const struct esi_domain_choice *choice,
                            uint32_t slot,
                            struct esi_column *column)
{
    struct esi_domain_column all = esi_domain_column(whole, slot);
    uint32_t taken = 0;

    for (uint32_t p = 0; p < all.count; p++)
        if (choice->takes(choice->data, (struct esi_domain_value){slot, p})) {
            column->indexes[taken] = all.indexes[p];
            column->rows[taken++] = whole->columns[slot].first + p;
        }
    return taken;
}

/* Shrinks the array to its contents. */
static uint32_t *trim_array(uint32_t *array, uint32_t count)
{
    uint32_t *trimmed = realloc(array, count * sizeof *array);

    return trimmed ? trimmed : array;
}

/* A column without values gets no slot. */
static int take_column(const struct esi_domain *whole,
                       const struct esi_domain_choice *choice,
                       uint32_t slot,
                       struct esi_domain *selection)
{
    const struct esi_column *of = &whole->columns[slot];
    uint32_t rows = of->end - of->first;
    struct esi_column *column = &selection->columns[selection->slots];

    *column = (struct esi_column){
        .trace = of->trace,
        .whole = of,
        .indexes = malloc((rows + 1u) * sizeof *column->indexes),
        .rows = malloc((rows + 1u) * sizeof *column->rows),
    };
    if (column->indexes && column->rows)
        column->end = count_taken(whole, choice, slot, column);
    if (column->end == 0) {
        bool has_failed = !column->indexes || !column->rows;

        free(column->indexes);
        free(column->rows);
        return has_failed ? -ENOMEM : 0;
    }
    column->capacity = column->end;
    column->indexes = trim_array(column->indexes, column->end);
    column->rows = trim_array(column->rows, column->end);
    selection->count += column->end;
    selection->slot_of[column->trace] = ++selection->slots;
    return 0;
}

int esi_domain_select(const struct esi_domain *whole,
                      const struct esi_domain_choice *choice,
                      struct esi_domain **ret_selection)
{
    struct esi_domain *selection = calloc(1, sizeof *selection);
    int result = 0;

    if (!selection)
        return -ENOMEM;
    selection->is_single = true;
    selection->has_syncs = whole->has_syncs;
    selection->keeps = whole->keeps;
    selection->traces = whole->traces;
    selection->slot_capacity = whole->slots;
    selection->slot_of = calloc(whole->traces + 1, sizeof *selection->slot_of);
    selection->columns = calloc(whole->slots + 1u, sizeof *selection->columns);
    if (!selection->slot_of || !selection->columns)
        result = -ENOMEM;
    for (uint32_t slot = 0; result == 0 && slot < whole->slots; slot++)
        result = take_column(whole, choice, slot, selection);
    if (result < 0) {
        esi_domain_destroy(selection);
        return result;
    }
    *ret_selection = selection;
    return 0;
}

bool esi_domain_is_same_selection(const struct esi_domain *a,
                                  const struct esi_domain *b)
{
    if (a->keeps != b->keeps || a->count != b->count || a->slots != b->slots)
        return false;
    for (uint32_t slot = 0; slot < a->slots; slot++) {
        const struct esi_column *left = &a->columns[slot];
        const struct esi_column *right = &b->columns[slot];

        if (left->whole != right->whole || left->end != right->end ||
            memcmp(left->rows, right->rows, left->end * sizeof *left->rows) != 0)
            return false;
    }
    return true;
}
