/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collectives_json.c - collective operations as JSON Lines; docs/collectives.md has the
 * fields. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/json_out.h"
#include "eventspace/operation.h"
#include "monitors/collectives/collectives_print.h"
#include "monitors/collectives/size_class.h"

static void put_key(struct esi_json_out *out, const uint64_t key[2])
{
    char text[40];

    snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, key[0], key[1]);
    esi_json_out_string(out, "key", text);
}

static void put_name(struct esi_json_out *out, const char *name)
{
    esi_json_out_string(out, "communicator", name && *name ? name : NULL);
}

/* Relative to the run's start; signed, since a clock may have seen it before.  Null:
 * there was nothing. */
static void put_time(struct esi_json_out *out,
                     const char *key,
                     uint64_t time_ns,
                     uint64_t start_ns)
{
    if (time_ns == 0)
        esi_json_out_null(out, key);
    else
        esi_json_out_signed(out, key, (int64_t)(time_ns - start_ns));
}

static void put_bound(struct esi_json_out *out, uint64_t error_ns)
{
    if (error_ns == UINT64_MAX)
        esi_json_out_null(out, "error_ns");
    else
        esi_json_out_unsigned(out, "error_ns", error_ns);
}

/* --- Instances -------------------------------------------------------------------- */

static void put_arrival(struct esi_json_out *out,
                        const struct esi_collective_instance *instance,
                        int member)
{
    const struct esi_collective_arrival *arrival = &instance->arrivals[member];

    esi_json_out_begin_object(out, NULL);
    esi_json_out_signed(out, "rank", arrival->world_rank);
    esi_json_out_signed(out, "member", member);
    esi_json_out_unsigned(out, "enter_ns",
                          arrival->enter_ns - instance->first_enter_ns);
    esi_json_out_unsigned(out, "exit_ns", arrival->exit_ns - instance->first_enter_ns);
    if (instance->waits_known) {
        esi_json_out_unsigned(out, "wait_ns", arrival->wait_ns);
        esi_json_out_unsigned(out, "debt_ns", arrival->debt_ns);
    } else {
        esi_json_out_null(out, "wait_ns");
        esi_json_out_null(out, "debt_ns");
    }
    esi_json_out_end(out);
}

static void put_rank(struct esi_json_out *out,
                     const char *key,
                     const struct esi_collective_instance *instance,
                     int member)
{
    if (member >= 0 && member < instance->size && instance->arrivals[member].known)
        esi_json_out_signed(out, key, instance->arrivals[member].world_rank);
    else
        esi_json_out_null(out, key);
}

void esi_collectives_print_instance_json(const struct esi_collective_instance *instance,
                                         uint64_t start_ns,
                                         FILE *stream)
{
    struct esi_json_out out;

    esi_json_out_init(&out, stream);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "instance");
    put_name(&out, instance->communicator);
    put_key(&out, instance->key);
    esi_json_out_string(&out, "operation", es_operation_name(instance->operation));
    esi_json_out_unsigned(&out, "instance", instance->instance);
    esi_json_out_bool(&out, "tree", instance->tree);
    esi_json_out_unsigned(&out, "version", instance->version);
    esi_json_out_signed(&out, "size", instance->size);
    esi_json_out_signed(&out, "known", instance->known);
    put_rank(&out, "root", instance, instance->root);
    esi_json_out_unsigned(&out, "bytes", instance->bytes);
    put_time(&out, "begin_ns", instance->first_enter_ns, start_ns);
    esi_json_out_unsigned(&out, "time_ns", instance->time_ns);
    esi_json_out_unsigned(&out, "spread_ns", instance->spread_ns);
    esi_json_out_unsigned(&out, "lead_ns", instance->lead_ns);
    esi_json_out_unsigned(&out, "tree_ns", instance->tree_ns);
    esi_json_out_unsigned(&out, "departure_ns", instance->departure_ns);
    if (instance->waits_known)
        esi_json_out_unsigned(&out, "lost_ns", instance->lost_ns);
    else
        esi_json_out_null(&out, "lost_ns");
    put_rank(&out, "last", instance, instance->last);
    esi_json_out_bool(&out, "last_is_sure", instance->late == 1);
    put_rank(&out, "culprit", instance, instance->culprit);
    esi_json_out_real(&out, "imbalance",
                      instance->imbalance < 0 ? (double)NAN : instance->imbalance);
    put_bound(&out, instance->error_ns);
    esi_json_out_unsigned(&out, "repaired", instance->repaired);
    esi_json_out_unsigned(&out, "impossible", instance->impossible);
    esi_json_out_begin_array(&out, "arrivals");
    for (int i = 0; i < instance->known; i++)
        put_arrival(&out, instance, instance->order[i]);
    esi_json_out_end(&out);
    esi_json_out_end(&out);
}

/* --- Operations ------------------------------------------------------------------- */

static void begin_group(struct esi_json_out *out,
                        const char *type,
                        const struct esi_collective_group *group)
{
    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "type", type);
    put_name(out, group->communicator);
    put_key(out, group->key);
    esi_json_out_string(out, "operation", es_operation_name(group->operation));
    esi_json_out_bool(out, "tree", group->by_tree);
    esi_json_out_unsigned(out, "version", group->version);
    if (group->size_class == 0)
        return;
    esi_json_out_unsigned(out, "least_bytes", esi_size_class_least(group->size_class));
    esi_json_out_unsigned(out, "most_bytes", esi_size_class_most(group->size_class));
}

static void put_operation(struct esi_json_out *out,
                          const struct esi_collectives_report *report,
                          const struct esi_collective_group *group)
{
    begin_group(out, "operation", group);
    esi_json_out_signed(out, "size", group->size);
    esi_json_out_unsigned(out, "count", group->complete);
    esi_json_out_unsigned(out, "incomplete", group->incomplete);
    esi_json_out_unsigned(out, "judged", group->judged);
    esi_json_out_unsigned(out, "unsure", group->unsure);
    esi_json_out_unsigned(out, "bytes", group->bytes);
    put_time(out, "first_ns", group->first_ns, report->start_ns);
    put_time(out, "last_ns", group->last_ns, report->start_ns);
    put_bound(out, group->worst_error_ns);
    esi_measure_write(out, "time_ns", &group->time, 1);
    esi_measure_write(out, "spread_ns", &group->spread, 1);
    esi_measure_write(out, "lost_ns", &group->lost, 1);
    esi_measure_write(out, "tree_ns", &group->tree, 1);
    esi_measure_write(out, "departure_ns", &group->departure, 1);
    esi_measure_write(out, "imbalance", &group->imbalance, 1000);
    esi_json_out_end(out);
}

static void put_member(struct esi_json_out *out,
                       const struct esi_collectives_report *report,
                       const struct esi_collective_group *group,
                       int member)
{
    const struct esi_collective_rank *rank = &group->ranks[member];
    const char *host = esi_collectives_report_host(report, rank->world_rank);

    begin_group(out, "rank", group);
    esi_json_out_signed(out, "rank", rank->world_rank);
    esi_json_out_signed(out, "member", member);
    esi_json_out_string(out, "host", *host ? host : NULL);
    esi_json_out_unsigned(out, "last", rank->last);
    esi_json_out_unsigned(out, "blamed", rank->blamed);
    esi_json_out_unsigned(out, "debt_ns", rank->debt_ns);
    esi_json_out_unsigned(out, "lead_ns", rank->lead_ns);
    esi_json_out_unsigned(out, "wait_ns", rank->wait_ns);
    esi_json_out_unsigned(out, "work_ns", rank->work_ns);
    esi_json_out_end(out);
}

/* --- The summary ------------------------------------------------------------------ */

static void put_counts(struct esi_json_out *out,
                       const struct esi_collectives_report *report)
{
    const struct esi_collectives_counts *counts = &report->counts;
    const struct esi_collectives_losses *losses = &report->losses;

    esi_json_out_unsigned(out, "complete", counts->complete);
    esi_json_out_unsigned(out, "incomplete", counts->incomplete);
    esi_json_out_unsigned(out, "beginnings", counts->beginnings);
    esi_json_out_unsigned(out, "open", counts->open);
    esi_json_out_unsigned(out, "lost_tuples", losses->lost);
    esi_json_out_unsigned(out, "overwritten_before", losses->missed);
    esi_json_out_unsigned(out, "unplaced", losses->unplaced);
    esi_json_out_unsigned(out, "between_groups", losses->between);
    esi_json_out_unsigned(out, "invalid", counts->invalid);
    esi_json_out_unsigned(out, "mismatched", counts->mismatched);
    esi_json_out_unsigned(out, "duplicates", counts->duplicates);
    esi_json_out_unsigned(out, "late", counts->late);
    esi_json_out_unsigned(out, "repaired", counts->repaired);
    esi_json_out_unsigned(out, "impossible", counts->impossible);
}

static void put_summary(struct esi_json_out *out,
                        const struct esi_collectives_report *report,
                        const char *run)
{
    uint64_t shown = 0;
    double lost_ns = 0;
    int worst;
    double share = esi_collectives_worst(report, &worst);

    for (size_t i = 0; i < esi_collective_statistics_count(report->statistics); i++) {
        const struct esi_collective_group *group =
            esi_collective_statistics_at(report->statistics, i);

        shown += group->complete;
        lost_ns += (double)group->lost.sum;
    }
    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "type", "summary");
    esi_json_out_string(out, "run", run);
    esi_json_out_signed(out, "ranks", report->ranks);
    esi_json_out_bool(out, "over", report->over);
    put_time(out, "first_ns", report->first_ns, report->start_ns);
    put_time(out, "last_ns", report->last_ns, report->start_ns);
    esi_json_out_unsigned(out, "operations", shown);
    esi_json_out_real(out, "lost_ns", lost_ns);
    if (worst >= 0)
        esi_json_out_signed(out, "culprit", worst);
    else
        esi_json_out_null(out, "culprit");
    esi_json_out_real(out, "culprit_share", share);
    put_counts(out, report);
    esi_json_out_end(out);
}

int esi_collectives_print_json(const struct esi_collectives_report *report,
                               const char *run,
                               size_t top,
                               FILE *stream)
{
    size_t count = esi_collective_statistics_count(report->statistics);
    const struct esi_collective_group **groups = calloc(count + 1, sizeof *groups);
    struct esi_json_out out;

    if (!groups)
        return -ENOMEM;
    esi_json_out_init(&out, stream);
    count = esi_collectives_top(report, groups, top < count ? top : count);
    for (size_t i = 0; i < count; i++) {
        put_operation(&out, report, groups[i]);
        for (int member = 0; member < groups[i]->size; member++)
            put_member(&out, report, groups[i], member);
    }
    put_summary(&out, report, run);
    free(groups);
    return ferror(stream) ? -EIO : 0;
}
