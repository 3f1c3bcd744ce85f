/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* examples.c - three examples for each command, the most common one first. */
#include "config.h"

#include "cli/examples.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *command;
    const char *lines;
} examples[] = {
    {"run", "eventspace run -n 4 -- ./program input.dat\n"
            "eventspace run -n 4 --record archive -- ./program\n"
            "eventspace run -n 4 --launcher 'mpiexec -bind-to core' -- ./program\n"},
    {"exec", "mpiexec -n 64 eventspace exec -- ./program\n"
             "srun -n 64 eventspace exec -- ./program\n"
             "EVENTSPACE_RUN=flow mpiexec -n 64 eventspace exec -- ./program\n"},
    {"demo", "eventspace demo\n"
             "eventspace demo --programs\n"
             "eventspace run -n 4 -- $(eventspace demo --programs)/windtunnel\n"},
    {"doctor", "eventspace doctor\n"
               "eventspace doctor ./program\n"
               "eventspace doctor --format json\n"},
    {"list", "eventspace list\n"
             "eventspace list flow\n"
             "eventspace list --elements flow\n"},
    {"heartbeat", "eventspace heartbeat\n"
                  "eventspace heartbeat --once || echo somebody is in trouble\n"
                  "eventspace heartbeat --interval 10s --stalled-after 1min flow\n"},
    {"top", "eventspace top\n"
            "eventspace top --by tree --sort events flow\n"
            "eventspace top --batch -n 3 -i 5s --filter stalled flow\n"},
    {"why", "eventspace why\n"
            "eventspace why flow || echo something is wrong\n"
            "eventspace why --format json flow | jq '.verdicts[].text'\n"},
    {"compare", "eventspace compare yesterday today\n"
                "eventspace compare --all --top 50 before after\n"
                "eventspace compare --format json a b | jq 'select(.differs)'\n"},
    {"time", "eventspace time archive\n"
             "eventspace time --by line --top 5 flow\n"
             "eventspace time --format csv --by rank archive > ranks.csv\n"},
    {"collectives", "eventspace collectives --once\n"
                    "eventspace collectives --operation allreduce --limit 5 flow\n"
                    "eventspace collectives --apply flow\n"},
    {"view", "eventspace view flow\n"
             "eventspace view archive\n"
             "eventspace view --port 0 archive\n"},
    {"profile", "eventspace profile\n"
                "eventspace profile --show operations --format csv flow\n"
                "eventspace profile --matrix flow.svg archive\n"},
    {"metrics", "eventspace metrics\n"
                "eventspace metrics --textfile /var/lib/node_exporter --interval 15s\n"
                "eventspace metrics --waits flow | grep late_rank\n"},
    {"events",
     "eventspace events --rank 0 --limit 20\n"
     "eventspace events --filter 'bytes > 64KiB && duration >= 1ms' --follow\n"
     "eventspace events --reduce 'histogram of=duration by=operation'\n"},
    {"record", "eventspace record -o archive flow\n"
               "eventspace record -o archive --for 10s flow\n"
               "eventspace record --repair archive\n"},
    {"order", "eventspace order archive\n"
              "eventspace order --follow flow\n"
              "echo 'concurrent 0.0:17' | eventspace order archive --query -\n"},
    {"search", "eventspace search --list -p mpi\n"
               "eventspace search -p mpi archive MessageRace --limit 3\n"
               "eventspace search -p mpi --follow flow\n"},
    {"import", "eventspace import archive -o flow.jsonl\n"
               "eventspace import server.log -o server.jsonl\n"
               "eventspace import scorep/traces.otf2 -o scorep.jsonl\n"},
    {"export", "eventspace export archive --to perfetto --rank 0-3 -o flow.json\n"
               "eventspace export archive --to otf2 -o flow-otf2\n"
               "eventspace export flow.jsonl --to dot | dot -Tsvg -o flow.svg\n"},
    {"collect",
     "eventspace collect off --rank 1 --class collective\n"
     "eventspace collect threshold 1000 flow\n"
     "eventspace collect tree kary:4 --operation allreduce --bytes 0-4096 flow\n"},
    {"scope", "eventspace scope list\n"
              "eventspace scope show heartbeat\n"
              "eventspace scope set heartbeat shape=hosts mode=sequential\n"},
    {"map", "eventspace map -n 4 -o four.json\n"
            "eventspace map --hostfile hosts -o hosts.json\n"
            "eventspace run --map four.json -- ./program\n"},
    {"check", "eventspace check four.json\n"
              "eventspace check --format json four.json\n"
              "eventspace map -n 4 -o four.json && eventspace check four.json\n"},
    {"clean", "eventspace clean --dry-run\n"
              "eventspace clean flow\n"
              "eventspace clean --all\n"},
};

const char *esi_examples_find(const char *command)
{
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        if (strcmp(examples[i].command, command) == 0)
            return examples[i].lines;
    return NULL;
}
