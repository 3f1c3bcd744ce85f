/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* ledgers - prints the ledgers of a run's processes as JSON Lines: ledgers RUN. */
#include "config.h"

#include <stdio.h>

#include "base/json_out.h"
#include "eventspace/run.h"
#include "scopes/ledger_json.h"

static void print_ledger(const struct es_segment_view *segment)
{
    struct es_segment_info info;
    struct es_communicator_info communicator;
    struct esi_ledger ledger;
    struct esi_json_out out;

    es_segment_view_info(segment, &info);
    if (esi_ledger_read(segment, &ledger) < 0)
        return;
    esi_json_out_init(&out, stdout);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_signed(&out, "rank", info.rank);
    esi_json_out_begin_array(&out, "names");
    for (size_t i = 0; i < es_segment_view_communicator_count(segment); i++)
        esi_json_out_string(
            &out, NULL,
            es_segment_view_communicator(segment, (uint16_t)i, &communicator) == 0
                ? communicator.name
                : NULL);
    esi_json_out_end(&out);
    esi_ledger_json_write(&ledger, &out);
    esi_json_out_end(&out);
    esi_ledger_fini(&ledger);
}

int main(int argc, char **argv)
{
    struct es_run *run;

    if (argc != 2 || es_run_open(argv[1], NULL, &run) < 0)
        return 2;
    for (size_t i = 0; i < es_run_segment_count(run); i++)
        print_ledger(es_run_segment(run, i));
    es_run_close(run);
    return 0;
}
