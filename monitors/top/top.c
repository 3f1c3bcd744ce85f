/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* top.c - builds rows from observations, profiles and delays. */
#include "config.h"

#include "monitors/top/top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/now.h"
#include "base/own_cost.h"
#include "monitors/profile/profile_read.h"
#include "monitors/top/top_trail.h"
#include "scopes/scope_profile.h"

enum {
    /* Profiles read per observation, after the first one: the others take turns. */
    PROFILES_EACH = 64,
};

/* What observations leave behind of a process. */
struct known_process {
    uint64_t looked_ns; /* run time of its last observation; 0 = none */
    uint64_t events;    /* total at that time */
    uint64_t mpi_ns;    /* of the profile when it was last read */
    uint64_t all_ns;    /* of that, total time of its threads */
    double share;       /* since the previous reading; negative = not known */
};

struct esi_top {
    struct es_run *run; /* borrowed */
    struct esi_observer_config config;
    struct esi_observer *observer;
    struct esi_top_row *rows;                  /* owned; by rank */
    const struct esi_fact_process **processes; /* owned; per row: borrowed */
    size_t count;
    size_t capacity;
    struct known_process *known; /* owned; by number in the model of the run */
    size_t known_count;
    size_t known_capacity;
    size_t next_profile; /* the next row in turn */
    bool wants_profiles;
    struct esi_profile_report profile; /* of all processes, if requested */
    uint64_t looked_ns;                /* run time; 0 = not yet */
    struct esi_own_cost cost;
    struct esi_delay *delay; /* NULL: waits are not requested */
    struct esi_causality_scope *events;
    struct esi_top_trail *trail; /* NULL: no rank is printed */
    int trail_rank;
};

void esi_top_destroy(struct esi_top *top)
{
    if (!top)
        return;
    esi_top_trail_close(top->trail);
    esi_causality_scope_close(top->events);
    esi_delay_destroy(top->delay);
    esi_observer_destroy(top->observer);
    esi_profile_report_fini(&top->profile);
    free(top->rows);
    free(top->processes);
    free(top->known);
    free(top);
}

int esi_top_create(struct es_run *run,
                   const struct esi_observer_config *config,
                   struct es_error *error,
                   struct esi_top **ret_top)
{
    struct esi_top *top = calloc(1, sizeof *top);
    int result;

    if (!top)
        return -ENOMEM;
    top->run = run;
    top->config = *config;
    result = esi_observer_create(run, config, error, &top->observer);
    if (result < 0) {
        esi_top_destroy(top);
        return result;
    }
    *ret_top = top;
    return 0;
}

/* --- Rows ------------------------------------------------------------------------- */

static int reserve_known(struct esi_top *top, size_t count)
{
    if (ESI_ARRAY_RESERVE(top->known, top->known_capacity, count) < 0)
        return -ENOMEM;
    while (top->known_count < count)
        top->known[top->known_count++] = (struct known_process){.share = -1};
    return 0;
}

static struct known_process *known_of(const struct esi_top *top, size_t row)
{
    return &top->known[top->processes[row]->participant->number];
}

/* Fills the row of a process from its thread with the worst verdict. */
static void fill_row(struct esi_top *top,
                     const struct esi_diagnosis *diagnosis,
                     const struct esi_fact_process *process)
{
    const struct esi_facts *facts = diagnosis->facts;
    const struct esi_thread_state *threads = facts->threads + process->first_thread;
    const struct esi_thread_state *worst = threads;
    struct known_process *known;
    uint64_t events = 0;
    double rate = -1;

    top->processes[top->count] = process;
    known = known_of(top, top->count);
    for (size_t i = 0; i < process->thread_count; i++) {
        events += threads[i].events;
        if (esi_verdicts[threads[i].verdict].severity >
            esi_verdicts[worst->verdict].severity)
            worst = &threads[i];
    }
    /* Since the previous observation, if the process was in it. */
    if (top->looked_ns && known->looked_ns == top->looked_ns &&
        facts->now_ns > top->looked_ns && events >= known->events)
        rate = (double)(events - known->events) /
               ((double)(facts->now_ns - top->looked_ns) * 1e-9);
    known->looked_ns = facts->now_ns;
    known->events = events;
    top->rows[top->count] = (struct esi_top_row){
        .host = worst->host,
        .rank = worst->rank,
        .pid = worst->pid,
        .ranks = 1,
        .verdict = worst->verdict,
        .finding = -1,
        .quiet_ns = esi_thread_quiet_ns(worst, facts->now_ns),
        .thread = worst,
        .wait = &diagnosis->conditions.waits[worst - facts->threads],
        .rate = rate,
        .share = -1,
        .caused_ns = -1,
        .suffered_ns = -1};
    top->rows[top->count++].verdicts[worst->verdict] = 1;
}

static int make_rows(struct esi_top *top, const struct esi_diagnosis *diagnosis)
{
    const struct esi_facts *facts = diagnosis->facts;

    top->count = 0;
    if (ESI_ARRAY_RESERVE_PAIR(top->rows, top->processes, top->capacity,
                               facts->process_count + 1) < 0 ||
        reserve_known(top, facts->model->process_count) < 0)
        return -ENOMEM;
    /* Consumers' elements do not belong to a process of the program. */
    for (size_t i = 0; i < facts->process_count; i++)
        if (facts->processes[i].rank >= 0)
            fill_row(top, diagnosis, &facts->processes[i]);
    return 0;
}

/* Marks the ranks of certain verdicts; the first of several takes precedence. */
static void note_findings(struct esi_top *top, const struct esi_diagnosis *diagnosis)
{
    for (size_t i = diagnosis->count; i-- > 0;) {
        const struct esi_verdict_item *item = &diagnosis->items[i];

        for (size_t j = 0, k = 0; item->certain && k < item->ranks.count; k++) {
            while (j < top->count && top->rows[j].rank < item->ranks.items[k])
                j++;
            if (j < top->count && top->rows[j].rank == item->ranks.items[k])
                top->rows[j].finding = (int)item->kind;
        }
    }
}

/* --- Shares of time --------------------------------------------------------------- */

static const char *name_no_site(void *data, uint64_t address)
{
    (void)data;
    (void)address;
    return "";
}

/* Sums of a process.  Returns 0 or -errno; -ENOENT if it has no profile. */
static int read_sums(const struct es_scope *scope,
                     uint32_t number,
                     struct esi_profile_rank *ret_rank)
{
    const struct es_origin *origin = es_scope_origin(scope, number);
    struct esi_profile_process process = {.rank = origin->rank,
                                          .pid = origin->pid,
                                          .host = origin->host,
                                          .clock = origin->clock,
                                          .format_site = name_no_site};
    struct esi_profile_report report = {.rank_count = 0};
    struct esi_profile profile;
    int result = esi_scope_read_profile(scope, number, &profile);

    if (result < 0)
        return result;
    result = esi_profile_report_add(&report, &process, &profile);
    if (result == 0 && report.rank_count == 1)
        *ret_rank = report.ranks[0];
    else if (result == 0)
        result = -ENOENT;
    esi_profile_fini(&profile);
    esi_profile_report_fini(&report);
    return result;
}

/* The share since the previous reading of the profile; the first time, since
 * MPI_Init. */
static void read_share(const struct es_scope *scope,
                       uint32_t origin,
                       struct known_process *known)
{
    struct esi_profile_rank rank = {.rank = -1};
    uint64_t all_ns;

    if (read_sums(scope, origin, &rank) < 0)
        return;
    all_ns = rank.run_ns * rank.threads;
    if (all_ns > known->all_ns && rank.mpi_ns >= known->mpi_ns) {
        double share =
            (double)(rank.mpi_ns - known->mpi_ns) / (double)(all_ns - known->all_ns);

        known->share = share > 1 ? 1 : share;
    }
    known->all_ns = all_ns;
    known->mpi_ns = rank.mpi_ns;
}

static void read_shares(struct esi_top *top, const struct es_scope *scope)
{
    size_t each =
        top->looked_ns && top->count > PROFILES_EACH ? PROFILES_EACH : top->count;

    for (size_t i = 0; i < each; i++) {
        if (top->next_profile >= top->count)
            top->next_profile = 0;
        read_share(scope, top->processes[top->next_profile]->source,
                   known_of(top, top->next_profile));
        top->next_profile++;
    }
    for (size_t i = 0; i < top->count; i++)
        top->rows[i].share = known_of(top, i)->share;
}

void esi_top_want_profiles(struct esi_top *top)
{
    top->wants_profiles = true;
}

static int read_profiles(struct esi_top *top, const struct es_scope *scope)
{
    struct esi_profile_report report;
    int result = esi_profile_read_run(scope, NULL, &report);

    if (result < 0)
        return result;
    esi_profile_report_fini(&top->profile);
    top->profile = report;
    return 0;
}

/* --- Waits ------------------------------------------------------------------------ */

static int open_waits(struct esi_top *top)
{
    static const struct esi_delay_config config = {.window = 0};
    struct esi_causality_scope_config scope;
    int result = esi_delay_create(&config, &top->delay);

    if (result < 0)
        return result;
    esi_causality_scope_config_init(&scope);
    scope.causality.listener = esi_delay_listener(top->delay);
    scope.scope.servers = top->config.servers;
    return esi_causality_scope_open(top->run, &scope, NULL, &top->events);
}

int esi_top_read_waits(struct esi_top *top, uint64_t allowed_ns)
{
    uint64_t until_ns = esi_now_ns(CLOCK_MONOTONIC) + allowed_ns;
    int result = top->events ? 0 : open_waits(top);

    while (result >= 0) {
        result = esi_causality_scope_read(top->events, false);
        if (result <= 0 || esi_now_left_ns(until_ns) == 0)
            break;
    }
    return result;
}

static int compare_rank(const void *key, const void *row)
{
    int rank = *(const int *)key;

    return rank < ((const struct esi_top_row *)row)->rank   ? -1
           : rank > ((const struct esi_top_row *)row)->rank ? 1
                                                            : 0;
}

static int fill_waits(struct esi_top *top)
{
    size_t count;
    const struct esi_delay_row *delays;
    int result = esi_delay_settle(top->delay);

    if (result < 0)
        return result;
    for (size_t i = 0; i < top->count; i++)
        top->rows[i].caused_ns = top->rows[i].suffered_ns = 0;
    delays = esi_delay_rows(top->delay, ESI_DELAY_BY_RANK, &count);
    for (size_t i = 0; i < count; i++) {
        struct esi_top_row *row = bsearch(&delays[i].rank, top->rows, top->count,
                                          sizeof *top->rows, compare_rank);

        if (!row)
            continue;
        row->caused_ns = delays[i].times.caused;
        row->suffered_ns = delays[i].times.waited;
    }
    return 0;
}

void esi_top_waits_sum(const struct esi_causality_scope *reading,
                       struct esi_top_waits *ret_waits)
{
    struct esi_causality_totals totals;

    esi_causality_totals(esi_causality_scope_causality(reading), &totals);
    *ret_waits = (struct esi_top_waits){.unmatched = totals.unmatched_sends +
                                                     totals.unmatched_receives};
    es_scope_cost(esi_follower_scope(esi_causality_scope_follower(reading)),
                  &ret_waits->cost);
}

/* --- The whole run ---------------------------------------------------------------- */

static void count_overwritten(const struct es_scope *scope, struct esi_top_look *look)
{
    size_t count = es_scope_origin_count(scope);

    for (uint32_t i = 0; i < count; i++) {
        const struct es_origin *origin = es_scope_origin(scope, i);
        struct es_element_info info;

        if (origin->rank < 0)
            continue;
        look->overwritten_more |= !origin->element;
        if (!origin->element)
            continue;
        es_element_view_info(origin->element, &info);
        look->overwritten += info.oldest;
    }
}

static void note_clock(const struct esi_activity *activity, uint64_t *bound_ns)
{
    if (activity->present && activity->error_ns != UINT64_MAX &&
        (*bound_ns == UINT64_MAX || activity->error_ns > *bound_ns))
        *bound_ns = activity->error_ns;
}

static size_t count_hosts(const struct esi_top *top)
{
    size_t count = 0;

    /* Ranks of a host are usually adjacent. */
    for (size_t i = 0, j; i < top->count; i++) {
        for (j = i; j > 0 && strcmp(top->rows[j - 1].host, top->rows[i].host) != 0;)
            j--;
        count += j == 0;
    }
    return count;
}

static void sum_up(struct esi_top *top, struct esi_top_look *look)
{
    struct esi_delay_totals totals;

    look->rows = top->rows;
    look->row_count = top->count;
    look->host_count = count_hosts(top);
    look->profile = top->wants_profiles ? &top->profile : NULL;
    if (top->events) {
        esi_top_waits_sum(top->events, &look->waits);
        look->waits.delay = top->delay;
        esi_delay_totals(top->delay, &totals);
        look->waits.seen = totals.seen;
    }
    look->rate = -1;
    look->clock_error_ns = UINT64_MAX;
    for (size_t i = 0; i < top->count; i++) {
        const struct esi_top_row *row = &top->rows[i];

        look->verdicts[row->verdict]++;
        if (row->rate >= 0)
            look->rate = (look->rate < 0 ? 0 : look->rate) + row->rate;
        note_clock(&row->thread->open, &look->clock_error_ns);
        note_clock(&row->thread->last, &look->clock_error_ns);
    }
    count_overwritten(look->observation.scope, look);
    look->cost = esi_own_cost_measure(&top->cost);
}

int esi_top_look(struct esi_top *top, struct esi_top_look *ret_look)
{
    struct esi_top_look look = {.row_count = 0};
    const struct es_scope *scope;
    int result = esi_observer_look(top->observer, &look.observation);

    if (result == 0)
        result = make_rows(top, look.observation.diagnosis);
    if (result < 0)
        return result;
    scope = look.observation.scope;
    note_findings(top, look.observation.diagnosis);
    if (top->wants_profiles)
        result = read_profiles(top, scope);
    else
        read_shares(top, scope);
    if (result == 0 && top->delay)
        result = fill_waits(top);
    if (result < 0)
        return result;
    top->looked_ns = look.observation.diagnosis->facts->now_ns;
    sum_up(top, &look);
    *ret_look = look;
    return 0;
}

bool esi_top_is_over(const struct esi_top_look *look)
{
    size_t over = look->verdicts[ES_VERDICT_FINISHED] + look->verdicts[ES_VERDICT_DEAD];

    return look->observation.vanished ||
           (look->row_count > 0 && over == look->row_count);
}

int esi_top_print_rank(struct esi_top *top,
                       int rank,
                       uint64_t span_ns,
                       size_t width,
                       size_t count,
                       FILE *stream)
{
    int result = 0;

    if (!top->trail || top->trail_rank != rank) {
        esi_top_trail_close(top->trail);
        top->trail = NULL;
        result =
            esi_top_trail_open(top->run, top->config.servers, rank, NULL, &top->trail);
        top->trail_rank = rank;
    }
    if (result == 0)
        result = esi_top_trail_read(top->trail);
    return result < 0 ? result
                      : esi_top_trail_print(top->trail, span_ns, width, count, stream);
}
