/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* reorder_estimate.c - how much a search is expected to test (Nichols, 6.2.1).
 *
 * Of a clause it is the sum over its h literals of
 *     i (l r)i success_i  times the product over j < i of (l r)j (1 - success_j)
 * where the last one's success is left out, since it ends the clause either way; l and
 * r are how many values its variables may take.  Of all clauses it is the same sum with
 * what each is expected to test in place of l r, and its failure in place of success.
 * All are taken to be independent of each other. */
#include "config.h"

#include "monitors/patterns/reorder.h"

void esi_work_add(struct esi_work *work, double cost, double ends, bool is_last)
{
    work->number++;
    work->expected += work->number * cost * (is_last ? 1 : ends) * work->reached;
    work->reached *= cost * (1 - ends);
}
