/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* metrics.c - the table of metrics and its writer. */
#include "config.h"

#include "monitors/metrics/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/plain.h"

enum {
    SAMPLES = 16,    /* maximum per metric and run */
    OPERATIONS = 12, /* with a series of their own */
    LATE_RANKS = 5,
    LABELS = 3,
    LABEL_BYTES = 256,
};

/* --- Samples ---------------------------------------------------------------------- */

struct metric_sample {
    char labels[LABELS][LABEL_BYTES]; /* the values of the metric's labels */
    double value;
    double count; /* for a summary, whose sum is the value */
};

struct metric_samples {
    struct metric_sample items[SAMPLES];
    size_t count;
};

static void add_sample(struct metric_samples *samples, const char *label, double value)
{
    struct metric_sample *sample = &samples->items[samples->count++];

    *sample = (struct metric_sample){.value = value};
    esi_plain_copy(sample->labels[0], LABEL_BYTES, label);
}

static int compare_values(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

/* Sorts the values.  Adds nothing if there are none. */
static void add_spread(struct metric_samples *samples, double *values, size_t count)
{
    if (count == 0)
        return;
    qsort(values, count, sizeof *values, compare_values);
    add_sample(samples, "min", values[0]);
    add_sample(samples, "median", values[count / 2]);
    add_sample(samples, "max", values[count - 1]);
}

/* Over all rows.  A getter returns a negative number if the value is not known. */
static int add_spread_of_rows(struct metric_samples *samples,
                              const struct esi_top_look *look,
                              double (*value_of)(const struct esi_top_row *row))
{
    double *values = calloc(look->row_count + 1, sizeof *values);
    size_t count = 0;

    if (!values)
        return -ENOMEM;
    for (size_t i = 0; i < look->row_count; i++) {
        double value = value_of(&look->rows[i]);

        if (value >= 0)
            values[count++] = value;
    }
    add_spread(samples, values, count);
    free(values);
    return 0;
}

/* --- Getters: the run ------------------------------------------------------------- */

static int collect_build(const struct esi_top_look *look,
                         struct metric_samples *samples)
{
    (void)look;
    add_sample(samples, PACKAGE_VERSION, 1);
    return 0;
}

/* From the first known process. */
static int collect_run(const struct esi_top_look *look, struct metric_samples *samples)
{
    const struct esi_facts *facts = look->observation.diagnosis->facts;
    struct es_segment_info process = {.program = "", .job = "", .launcher = ""};

    for (size_t i = 0; i < facts->process_count; i++)
        if (facts->processes[i].rank >= 0 &&
            es_scope_process(look->observation.scope, facts->processes[i].source,
                             &process) == 0)
            break;
    add_sample(samples, process.program, 1);
    esi_plain_copy(samples->items[0].labels[1], LABEL_BYTES, process.job);
    esi_plain_copy(samples->items[0].labels[2], LABEL_BYTES, process.launcher);
    return 0;
}

static int collect_ranks(const struct esi_top_look *look,
                         struct metric_samples *samples)
{
    for (size_t i = 0; i < ES_VERDICTS; i++)
        add_sample(samples, esi_verdicts[i].name, (double)look->verdicts[i]);
    return 0;
}

static int collect_hosts(const struct esi_top_look *look,
                         struct metric_samples *samples)
{
    size_t silent = look->observation.notice_count;

    if (silent > look->host_count)
        silent = look->host_count;
    add_sample(samples, "answering", (double)(look->host_count - silent));
    add_sample(samples, "silent", (double)silent);
    return 0;
}

static double stall_of(const struct esi_top_row *row)
{
    if (row->verdict == ES_VERDICT_FINISHED || row->verdict == ES_VERDICT_DEAD)
        return -1;
    return row->verdict == ES_VERDICT_STALLED ? (double)row->quiet_ns / 1e9 : 0;
}

static int collect_stalls(const struct esi_top_look *look,
                          struct metric_samples *samples)
{
    return add_spread_of_rows(samples, look, stall_of);
}

static int collect_deadlocked(const struct esi_top_look *look,
                              struct metric_samples *samples)
{
    size_t count = 0;

    for (size_t i = 0; i < look->row_count; i++)
        count += look->rows[i].finding == ESI_VERDICT_DEADLOCK;
    add_sample(samples, "", (double)count);
    return 0;
}

static double clock_error_of(const struct esi_top_row *row)
{
    const struct esi_activity *activity =
        row->thread->last.present ? &row->thread->last : &row->thread->open;

    return activity->present && activity->error_ns != UINT64_MAX
               ? (double)activity->error_ns / 1e9
               : -1;
}

static int collect_clock_errors(const struct esi_top_look *look,
                                struct metric_samples *samples)
{
    return add_spread_of_rows(samples, look, clock_error_of);
}

static int collect_overwritten(const struct esi_top_look *look,
                               struct metric_samples *samples)
{
    add_sample(samples, "", (double)look->overwritten);
    return 0;
}

/* --- Getters: profiles ------------------------------------------------------------ */

/* Adds for each class the sum of `value_of` over its operations, in units of `unit`.
 * Adds nothing without profiles. */
static int add_classes(const struct esi_top_look *look,
                       uint64_t (*value_of)(const struct esi_profile_sums *sums),
                       double unit,
                       struct metric_samples *samples)
{
    uint64_t values[ESI_PROFILE_CLASSES] = {0};

    if (look->profile->rank_count == 0)
        return 0;
    for (size_t i = 0; i < look->profile->operation_count; i++) {
        const struct esi_profile_operation *operation = &look->profile->operations[i];
        const struct es_operation *known = es_operation_find(operation->code);

        if (known && !operation->is_outer && known->op_class < ESI_PROFILE_CLASSES)
            values[known->op_class] += value_of(&operation->sums);
    }
    for (int i = ES_CLASS_NONE + 1; i < ESI_PROFILE_CLASSES; i++)
        add_sample(samples, es_class_name((enum es_class)i), (double)values[i] / unit);
    return 0;
}

static uint64_t calls_of(const struct esi_profile_sums *sums)
{
    return sums->calls;
}

static uint64_t time_of(const struct esi_profile_sums *sums)
{
    return sums->time_ns;
}

static int collect_operations(const struct esi_top_look *look,
                              struct metric_samples *samples)
{
    return add_classes(look, calls_of, 1, samples);
}

static int collect_operation_seconds(const struct esi_top_look *look,
                                     struct metric_samples *samples)
{
    return add_classes(look, time_of, 1e9, samples);
}

static int collect_message_bytes(const struct esi_top_look *look,
                                 struct metric_samples *samples)
{
    double sent = 0, received = 0;

    if (look->profile->rank_count == 0)
        return 0;
    for (size_t i = 0; i < look->profile->rank_count; i++)
        sent += (double)look->profile->ranks[i].bytes;
    for (size_t i = 0; i < look->profile->operation_count; i++) {
        const struct esi_profile_operation *operation = &look->profile->operations[i];
        const struct es_operation *known = es_operation_find(operation->code);

        if (known && known->op_class == ES_CLASS_RECEIVE)
            received += (double)operation->sums.bytes;
    }
    add_sample(samples, "sent", sent);
    add_sample(samples, "received", received);
    return 0;
}

static int collect_mpi_ratio(const struct esi_top_look *look,
                             struct metric_samples *samples)
{
    struct esi_profile_spread spread;
    int result = esi_profile_report_spread(look->profile, &spread);

    if (result < 0 || spread.count == 0)
        return result;
    add_sample(samples, "min", spread.least);
    add_sample(samples, "median", spread.median);
    add_sample(samples, "max", spread.most);
    return 0;
}

/* --- Getters: all events ---------------------------------------------------------- */

/* Operations keep their series: the first ones to appear have one of their own. */
static int collect_collective_waits(const struct esi_top_look *look,
                                    struct metric_samples *samples)
{
    double others = 0;
    bool has_others = false;
    size_t count;
    const struct esi_delay_row *rows;

    if (!look->waits.delay)
        return 0;
    rows = esi_delay_rows(look->waits.delay, ESI_DELAY_BY_OPERATION, &count);
    for (size_t i = 0; i < count; i++) {
        const struct es_operation *known = es_operation_by_name(rows[i].name);

        if (!known || known->op_class != ES_CLASS_COLLECTIVE)
            continue;
        /* Counters never decrease. */
        double waited = (rows[i].times.waited - rows[i].times.pending) / 1e9;

        if (samples->count < OPERATIONS) {
            add_sample(samples, rows[i].name, waited);
        } else {
            has_others = true;
            others += waited;
        }
    }
    if (has_others)
        add_sample(samples, "other", others);
    return 0;
}

/* Inserts a rank into the list of the worst. */
static void insert_late_rank(const struct esi_delay_row *worst[LATE_RANKS],
                             const struct esi_delay_row *row)
{
    for (size_t i = 0; i < LATE_RANKS; i++)
        if (!worst[i] || row->times.caused > worst[i]->times.caused) {
            const struct esi_delay_row *next = worst[i];

            worst[i] = row;
            row = next;
            if (!row)
                return;
        }
}

static int collect_late_ranks(const struct esi_top_look *look,
                              struct metric_samples *samples)
{
    const struct esi_delay_row *worst[LATE_RANKS] = {NULL};
    const struct esi_delay_row *rows;
    size_t count;
    char rank[16];

    if (!look->waits.delay)
        return 0;
    rows = esi_delay_rows(look->waits.delay, ESI_DELAY_BY_RANK, &count);
    for (size_t i = 0; i < count; i++)
        insert_late_rank(worst, &rows[i]);
    for (size_t i = 0; i < LATE_RANKS && worst[i]; i++) {
        snprintf(rank, sizeof rank, "%d", worst[i]->rank);
        add_sample(samples, rank, worst[i]->times.caused / 1e9);
    }
    return 0;
}

static int collect_unmatched(const struct esi_top_look *look,
                             struct metric_samples *samples)
{
    if (look->waits.delay)
        add_sample(samples, "", (double)look->waits.unmatched);
    return 0;
}

static int collect_waits_seen(const struct esi_top_look *look,
                              struct metric_samples *samples)
{
    struct esi_delay_totals totals;
    double run_ns;

    if (!look->waits.delay)
        return 0;
    esi_delay_totals(look->waits.delay, &totals);
    run_ns = (double)(totals.seen.end_ns - totals.seen.begin_ns);
    add_sample(samples, "", run_ns > 0 ? (double)totals.seen.seen_ns / run_ns : 1);
    return 0;
}

/* --- Getters: cost of observing --------------------------------------------------- */

static void add_scope(struct metric_samples *samples,
                      const char *name,
                      const struct es_scope_cost *cost)
{
    add_sample(samples, name, (double)cost->total_ns / 1e9);
    samples->items[samples->count - 1].count = (double)cost->pulls;
}

static int collect_pull_durations(const struct esi_top_look *look,
                                  struct metric_samples *samples)
{
    struct es_scope_cost cost;

    es_scope_cost(look->observation.scope, &cost);
    add_scope(samples, "heartbeat", &cost);
    if (look->waits.delay)
        add_scope(samples, "causality", &look->waits.cost);
    return 0;
}

static int collect_pulls(const struct esi_top_look *look,
                         struct metric_samples *samples)
{
    int result = collect_pull_durations(look, samples);

    for (size_t i = 0; i < samples->count; i++)
        samples->items[i].value = samples->items[i].count;
    return result;
}

/* --- The table -------------------------------------------------------------------- */

enum metric_type { METRIC_GAUGE, METRIC_COUNTER, METRIC_INFO, METRIC_SUMMARY };

struct metric {
    const char *name; /* without the suffix of its type, such as "_total" */
    enum metric_type type;
    const char *unit;   /* suffix of its name; NULL = none */
    const char *labels; /* in addition to "run", at most LABELS, as "a,b"; NULL =
                           none */
    const char *help;
    int (*collect)(const struct esi_top_look *look, struct metric_samples *samples);
};

static const struct metric metrics[] = {
    {"eventspace_build", METRIC_INFO, NULL, "version",
     "Version of EventSpace that made these metrics.", collect_build},
    {"eventspace_run", METRIC_INFO, NULL, "program,job,launcher",
     "A run that is observed.", collect_run},
    {"eventspace_ranks", METRIC_GAUGE, NULL, "verdict",
     "Ranks by the verdict of the heartbeat monitor.", collect_ranks},
    {"eventspace_hosts", METRIC_GAUGE, NULL, "state",
     "Hosts of the run, by whether they answer.", collect_hosts},
    {"eventspace_operations", METRIC_COUNTER, NULL, "class",
     "MPI operations by class; a send-receive is one of each.", collect_operations},
    {"eventspace_operation_seconds", METRIC_COUNTER, "seconds", "class",
     "Time of all threads in MPI operations by class.", collect_operation_seconds},
    {"eventspace_message_bytes", METRIC_COUNTER, "bytes", "direction",
     "Payload of messages between ranks.", collect_message_bytes},
    {"eventspace_mpi_time_ratio", METRIC_GAUGE, "ratio", "stat",
     "Share of its time that a rank has spent in MPI, over all ranks.",
     collect_mpi_ratio},
    {"eventspace_stall_seconds", METRIC_GAUGE, "seconds", "stat",
     "How long a rank has been stalled, 0 if it is not, over all live ranks.",
     collect_stalls},
    {"eventspace_deadlocked_ranks", METRIC_GAUGE, NULL, NULL,
     "Ranks that certainly wait for each other forever.", collect_deadlocked},
    {"eventspace_collective_wait_seconds", METRIC_COUNTER, "seconds", "operation",
     "Time that ranks waited for others in collective operations.",
     collect_collective_waits},
    {"eventspace_late_rank_wait_seconds", METRIC_COUNTER, "seconds", "rank",
     "Time that all ranks waited because of a rank, for the five worst.",
     collect_late_ranks},
    {"eventspace_waits_seen_ratio", METRIC_GAUGE, "ratio", NULL,
     "Share of the run that the waits cover; the rest was overwritten before.",
     collect_waits_seen},
    {"eventspace_tuples_overwritten", METRIC_COUNTER, NULL, NULL,
     "Trace tuples on this host that can no longer be read.", collect_overwritten},
    {"eventspace_unmatched_messages", METRIC_COUNTER, NULL, NULL,
     "Sends and receives that were read without their other end.", collect_unmatched},
    {"eventspace_scope_pulls", METRIC_COUNTER, NULL, "scope",
     "Pulls of the scopes that these metrics are read through.", collect_pulls},
    {"eventspace_scope_pull_duration_seconds", METRIC_SUMMARY, "seconds", "scope",
     "Time that these pulls took.", collect_pull_durations},
    {"eventspace_clock_error_seconds", METRIC_GAUGE, "seconds", "stat",
     "Bound of the error of a rank's clock against those of other hosts.",
     collect_clock_errors},
};

/* --- The writer ------------------------------------------------------------------- */

static const char *suffix_of(const struct metric *metric)
{
    return metric->type == METRIC_COUNTER ? "_total"
           : metric->type == METRIC_INFO  ? "_info"
                                          : "";
}

/* In the older format, family names have the same suffixes as their series. */
static void write_head(const struct metric *metric,
                       enum esi_metrics_format format,
                       FILE *stream)
{
    static const char *const types[] = {"gauge", "counter", "info", "summary"};
    bool is_open = format == ESI_METRICS_OPENMETRICS;
    const char *suffix = is_open ? "" : suffix_of(metric);
    const char *type = types[metric->type];

    if (!is_open && metric->type == METRIC_INFO)
        type = types[METRIC_GAUGE];
    fprintf(stream, "# HELP %s%s %s\n# TYPE %s%s %s\n", metric->name, suffix,
            metric->help, metric->name, suffix, type);
    if (is_open && metric->unit)
        fprintf(stream, "# UNIT %s %s\n", metric->name, metric->unit);
}

/* Control characters are already escaped, and their backslashes are kept. */
static void write_label(const char *name,
                        size_t length,
                        const char *value,
                        FILE *stream)
{
    fprintf(stream, "%.*s=\"", (int)length, name);
    esi_plain_write_quoted(stream, value);
    putc('"', stream);
}

struct series {
    const struct metric *metric;
    const char *run;
    FILE *stream;
};

static void write_sample(const struct series *series,
                         const char *suffix,
                         const struct metric_sample *sample,
                         double value)
{
    const char *names = series->metric->labels;
    struct esi_json_out number;

    fprintf(series->stream, "%s%s{", series->metric->name, suffix);
    write_label("run", 3, series->run, series->stream);
    for (size_t i = 0; i < LABELS && names && *names; i++) {
        size_t length = strcspn(names, ",");

        putc(',', series->stream);
        write_label(names, length, sample->labels[i], series->stream);
        names += length + (names[length] == ',');
    }
    fputs("} ", series->stream);
    esi_json_out_init(&number, series->stream);
    esi_json_out_real(&number, NULL, value);
}

static void write_samples(const struct series *series,
                          const struct metric_samples *samples)
{
    for (size_t i = 0; i < samples->count; i++) {
        const struct metric_sample *sample = &samples->items[i];

        if (series->metric->type == METRIC_SUMMARY) {
            write_sample(series, "_count", sample, sample->count);
            write_sample(series, "_sum", sample, sample->value);
        } else {
            write_sample(series, suffix_of(series->metric), sample, sample->value);
        }
    }
}

int esi_metrics_print(const struct esi_top_look *const *looks,
                      size_t count,
                      enum esi_metrics_format format,
                      FILE *stream)
{
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        write_head(&metrics[i], format, stream);
        for (size_t j = 0; j < count; j++) {
            struct metric_samples samples = {.count = 0};
            struct series series = {&metrics[i], NULL, stream};

            if (!looks[j])
                continue;
            series.run = looks[j]->observation.diagnosis->facts->run;
            if (metrics[i].collect(looks[j], &samples) < 0)
                return -ENOMEM;
            write_samples(&series, &samples);
        }
    }
    if (format == ESI_METRICS_OPENMETRICS)
        fputs("# EOF\n", stream);
    return 0;
}
