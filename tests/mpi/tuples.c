/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * tuples - prints the contents of a run's segments, by the public reader.
 *
 *   tuples RUN             prints lines of fields separated by tabs, of these kinds:
 *     process        rank size pid state signal exit_code alive refused program
 *     communicator   rank index key own_rank size remote_size parent freed name
 *                    world_ranks
 *     element        rank thread name head lost polls held classes
 *     tuple, open    rank thread element operation key peer tag sequence bytes start
 *                    stop
 *   tuples --remove RUN    removes the segments
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eventspace/operation.h"
#include "eventspace/run.h"

static const char *const states[] = {
    [ES_PROCESS_RUNNING] = "running", [ES_PROCESS_FINALIZED] = "finalized",
    [ES_PROCESS_ABORTED] = "aborted", [ES_PROCESS_EXITED] = "exited",
    [ES_PROCESS_KILLED] = "killed",   [ES_PROCESS_LOST] = "lost",
};

static void print_process(const struct es_segment_info *info)
{
    printf("process\t%d\t%d\t%d\t%s\t%d\t%d\t%d\t%u\t%s\n", info->rank, info->size,
           info->pid, states[info->state], info->signal, info->exit_code, info->alive,
           info->elements_refused + info->communicators_refused, info->program);
}

static void print_group(const struct es_run *run,
                        const struct es_segment_view *segment,
                        uint16_t index,
                        const struct es_communicator_info *info)
{
    for (int i = 0; i < info->size; i++)
        printf("%s%d", i > 0 ? "," : "",
               es_run_world_rank(run, segment, index, false, i));
    for (int i = 0; i < info->remote_size; i++)
        printf("%s%d", i > 0 ? "," : "|",
               es_run_world_rank(run, segment, index, true, i));
    printf("\n");
}

static void print_communicators(const struct es_run *run,
                                const struct es_segment_view *segment,
                                int rank)
{
    struct es_communicator_info info;

    for (uint16_t i = 0; i < es_segment_view_communicator_count(segment); i++) {
        if (es_segment_view_communicator(segment, i, &info) < 0)
            continue;
        printf("communicator\t%d\t%u\t%016" PRIx64 "%016" PRIx64
               "\t%d\t%d\t%d\t%u\t%d\t%s\t",
               rank, i, info.key[0], info.key[1], info.rank, info.size,
               info.remote_size, info.parent, info.freed, info.name);
        print_group(run, segment, i, &info);
    }
}

static void print_tuple(const char *what,
                        const struct es_element_view *element,
                        const struct es_element_info *info,
                        const struct es_tuple *tuple)
{
    struct es_communicator_info communicator = {.key = {0, 0}};

    if (tuple->communicator != ES_COMMUNICATOR_NONE)
        es_segment_view_communicator(es_element_view_segment(element),
                                     tuple->communicator, &communicator);
    printf("%s\t%d\t%d\t%s\t%s\t", what, info->rank, info->thread, info->name,
           es_operation_name(tuple->operation));
    if (tuple->communicator == ES_COMMUNICATOR_NONE)
        printf("-");
    else
        printf("%016" PRIx64 "%016" PRIx64, communicator.key[0], communicator.key[1]);
    printf("\t%d\t%d\t", tuple->peer, tuple->tag);
    if (tuple->sequence == ES_SEQUENCE_UNKNOWN)
        printf("?");
    else
        printf("%u", tuple->sequence);
    printf("\t%u\t%" PRIu64 "\t%" PRIu64 "\n", tuple->bytes, tuple->start, tuple->stop);
}

static void print_element(const struct es_element_view *element)
{
    struct es_element_info info;
    struct es_cursor cursor;
    struct es_tuple tuples[256];
    size_t count;

    es_element_view_info(element, &info);
    es_cursor_init(&cursor, element, false);
    cursor.lost += cursor.position;
    while ((count = es_element_read(element, &cursor, tuples, 256)) > 0)
        for (size_t i = 0; i < count; i++)
            print_tuple("tuple", element, &info, &tuples[i]);
    if (es_element_open(element, tuples) == 1)
        print_tuple("open", element, &info, tuples);
    printf("element\t%d\t%d\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
           "\t%x\n",
           info.rank, info.thread, info.name, info.head, cursor.lost, info.polls,
           info.held, info.classes);
}

static int print_run(const char *name)
{
    struct es_error error = {.line = 0};
    struct es_run *run;

    if (es_run_open(name, &error, &run) < 0) {
        fprintf(stderr, "tuples: %s\n", error.text);
        return 1;
    }
    for (size_t s = 0; s < es_run_segment_count(run); s++) {
        const struct es_segment_view *segment = es_run_segment(run, s);
        struct es_segment_info info;

        es_segment_view_info(segment, &info);
        print_process(&info);
        print_communicators(run, segment, info.rank);
        for (size_t e = 0; e < es_segment_view_element_count(segment); e++)
            print_element(es_segment_view_element(segment, e));
    }
    es_run_close(run);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--remove") == 0)
        return es_run_remove(argv[2], true) < 0;
    if (argc != 2) {
        fprintf(stderr, "usage: tuples [--remove] RUN\n");
        return 2;
    }
    return print_run(argv[1]);
}
