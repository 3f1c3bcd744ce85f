/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* rate.c - keeps a scope's rate of pulls within a budget, or brings it to a wanted
 * rate.
 *
 * There are two decisions.  The pause between pulls follows the CPU share at once:
 * above the budget it grows in proportion, well below the budget it shrinks, and in a
 * band in between it does not change, so that noise has no effect.  The tree is only
 * searched for while conditions are stable (rate_search.c), and again when they have
 * changed.
 *
 * A pull of all tuples has a cost per pull and a cost per tuple, and the program
 * determines the number of tuples, so the share need not fall with the rate.  The pause
 * is repeatedly corrected by the ratio of share and aim.  This converges nevertheless;
 * if it cannot, the longest pause is reached, and the contradiction is reported. */
#include "config.h"

#include "scopes/rate.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "scopes/rate_search.h"
#include "scopes/scope_config.h"

#define MEMORY 0.75   /* weight of earlier samples relative to a new one */
#define OVERRUN 1.1   /* one sample this factor above the budget is enough to act */
#define SPARE 0.72    /* below this share of the budget, the rate is raised */
#define REACHED 0.95  /* this share of the wanted rate counts as reached */
#define STEP_MOST 4.0 /* the pause changes by at most this factor */
#define LOAD_STEP 1.5 /* the cost of a pull changed by this factor: search again */
enum {
    MEASURED = 3,      /* samples required for a decision about the tree */
    CALM = 4,          /* samples without a change required before a search */
    SEARCH_AGAIN = 30, /* fewest samples between two searches */
};

/* Sums of the samples with the current settings; older ones decay. */
struct rate_sums {
    double seconds;
    double pulls;
    double pull_seconds;
    double cpu_seconds;
    double tuples;
    double lost;
    double full;
};

enum complaint { NONE, LOSSES, BUDGET_TOO_SMALL, CONSUMER_SLOW, TREES_SLOW };

struct esi_rate {
    struct esi_rate_config config;
    struct esi_rate_settings settings; /* current */
    struct rate_sums sums;
    struct rate_sums waiting; /* samples without a finished pull, added to the next */
    unsigned samples;         /* total number in sums */
    unsigned skip;            /* samples to ignore while the tree changes */
    unsigned calm;            /* samples since the last change */
    unsigned since_search;
    bool is_started;
    bool has_searched;
    double searched_cost; /* of a pull, at the end of the last search; 0: unknown */
    size_t searched_servers;
    size_t searched_elements;
    struct esi_rate_search search;
    uint64_t last_ns;
    char busiest[64];
    enum complaint complaint;          /* reported last */
    char reason[ES_RATE_REASON_BYTES]; /* of the latest decision, including trials */
    struct esi_rate_entry history[ES_RATE_HISTORY];
    size_t decisions; /* total number, without trials */
};

/* --- Made and changed --------------------------------------------------------- */

void esi_rate_config_init(struct esi_rate_config *config)
{
    *config = (struct esi_rate_config){
        .freedom = ES_RATE_ALL,
        .settings = {.interval_ns = UINT64_C(10000000), .max = 65536},
        .interval_min_ns = UINT64_C(100000),
        .interval_max_ns = UINT64_C(10000000000),
        .max_limit = (size_t)1 << 20,
        .max_threads = 8,
        .max_ahead = 8,
    };
}

static bool is_sane(const struct esi_rate_config *config)
{
    if (!(config->budget >= 0) || !(config->wanted_hz >= 0))
        return false;
    return (config->budget > 0 || config->wanted_hz > 0) &&
           config->interval_min_ns > 0 && config->settings.max > 0 &&
           config->interval_min_ns <= config->interval_max_ns;
}

/* The pause closest to `interval_ns` that the goals and limits allow. */
static uint64_t rate_bounded(const struct esi_rate_config *config, double interval_ns)
{
    double least = (double)config->interval_min_ns;
    double most = (double)config->interval_max_ns;

    if (config->wanted_hz > 0 && 1e9 / config->wanted_hz > least)
        least = 1e9 / config->wanted_hz;
    if (interval_ns < least)
        interval_ns = least;
    return (uint64_t)(interval_ns > most ? most : interval_ns);
}

int esi_rate_create(const struct esi_rate_config *config, struct esi_rate **ret_rate)
{
    struct esi_rate *rate;

    if (!is_sane(config))
        return -EINVAL;
    rate = calloc(1, sizeof *rate);
    if (!rate)
        return -ENOMEM;
    rate->config = *config;
    rate->settings = config->settings;
    *ret_rate = rate;
    return 0;
}

void esi_rate_destroy(struct esi_rate *rate)
{
    free(rate);
}

/* --- Texts -------------------------------------------------------------------- */

static void format_interval(uint64_t ns, char *out, size_t size)
{
    char interval[ESI_QUANTITY_BYTES];

    if (ns == 0)
        snprintf(out, size, "without a pause");
    else
        snprintf(out, size, "every %s",
                 esi_quantity_time(interval, sizeof interval, (double)ns));
}

static void format_shape(const struct esi_rate_settings *settings,
                         char *out,
                         size_t size)
{
    const char *name = esi_scope_shape_name(settings->shape);

    if (settings->shape == ES_SHAPE_KARY)
        snprintf(out, size, "%s %u", name, settings->fan_out ? settings->fan_out : 8);
    else
        snprintf(out, size, "%s", name);
}

static void format_tree(const struct esi_rate_settings *settings,
                        char *out,
                        size_t size)
{
    char shape[32];
    char threads[24] = "";
    char ahead[24] = "";

    format_shape(settings, shape, sizeof shape);
    if (settings->threads)
        snprintf(threads, sizeof threads, ", %u threads", settings->threads);
    if (settings->ahead)
        snprintf(ahead, sizeof ahead, ", %u ahead", settings->ahead);
    snprintf(out, size, "%s, %s%s%s", shape,
             settings->mode == ES_MODE_SEQUENTIAL ? "sequential" : "concurrent",
             threads, ahead);
}

const char *esi_rate_settings_format(const struct esi_rate_settings *settings,
                                     char *out,
                                     size_t size)
{
    char interval[40];
    char tree[100];

    format_interval(settings->interval_ns, interval, sizeof interval);
    format_tree(settings, tree, sizeof tree);
    snprintf(out, size, "%s, %s", interval, tree);
    return out;
}

/* --- What was measured --------------------------------------------------------- */

static double rate_seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void add_sums(struct rate_sums *sums,
                     const struct rate_sums *more,
                     double weight)
{
    sums->seconds = sums->seconds * weight + more->seconds;
    sums->pulls = sums->pulls * weight + more->pulls;
    sums->pull_seconds = sums->pull_seconds * weight + more->pull_seconds;
    sums->cpu_seconds = sums->cpu_seconds * weight + more->cpu_seconds;
    sums->tuples = sums->tuples * weight + more->tuples;
    sums->lost = sums->lost * weight + more->lost;
    sums->full = sums->full * weight + more->full;
}

static struct esi_rate_measure measure_of(const struct rate_sums *sums)
{
    double each = sums->pull_seconds > 0 ? sums->pull_seconds : sums->seconds;

    return (struct esi_rate_measure){
        .hz = sums->pulls / sums->seconds,
        .possible_hz = sums->pulls / each,
        .share = sums->cpu_seconds / sums->seconds,
        .tuples_hz = sums->tuples / sums->seconds,
        .lost_hz = sums->lost / sums->seconds,
        .full = sums->pulls > 0 ? sums->full / sums->pulls : 0,
    };
}

static struct rate_sums sums_of(struct esi_rate *rate,
                                const struct esi_rate_sample *sample,
                                double elapsed)
{
    struct rate_sums sums = {.seconds = elapsed,
                             .pulls = (double)sample->pulls,
                             .pull_seconds = rate_seconds(sample->pull_ns),
                             .tuples = (double)sample->tuples,
                             .lost = (double)sample->lost,
                             .full = (double)sample->full};
    const struct esi_rate_host *busiest = NULL;

    for (size_t i = 0; i < sample->host_count; i++)
        if (!busiest || sample->hosts[i].cpu_ns > busiest->cpu_ns)
            busiest = &sample->hosts[i];
    if (busiest) {
        sums.cpu_seconds = rate_seconds(busiest->cpu_ns);
        snprintf(rate->busiest, sizeof rate->busiest, "%s", busiest->host);
    }
    return sums;
}

/* --- Decisions ----------------------------------------------------------------- */

/* Formats the reason as printf() does. */
__attribute__((format(printf, 4, 5))) static void rate_note(
    struct esi_rate *rate,
    const struct esi_rate_sample *sample,
    const struct esi_rate_measure *measure,
    const char *format,
    ...)
{
    struct esi_rate_entry *entry = &rate->history[rate->decisions++ % ES_RATE_HISTORY];
    va_list arguments;

    *entry = (struct esi_rate_entry){.now_ns = sample->now_ns,
                                     .hz = measure->hz,
                                     .share = measure->share,
                                     .lost = sample->lost,
                                     .settings = rate->settings};
    snprintf(entry->host, sizeof entry->host, "%s", rate->busiest);
    va_start(arguments, format);
    vsnprintf(entry->reason, sizeof entry->reason, format, arguments);
    va_end(arguments);
    memcpy(rate->reason, entry->reason, sizeof rate->reason);
}

/* Starts to measure other settings. */
static void begin_anew(struct esi_rate *rate, unsigned skip)
{
    rate->sums = (struct rate_sums){0};
    rate->waiting = (struct rate_sums){0};
    rate->samples = 0;
    rate->calm = 0;
    rate->skip = skip;
}

static bool set_interval(struct esi_rate *rate,
                         const struct esi_rate_sample *sample,
                         const struct esi_rate_measure *measure,
                         uint64_t interval_ns,
                         const char *why)
{
    char interval[40];

    rate->settings.interval_ns = interval_ns;
    format_interval(interval_ns, interval, sizeof interval);
    rate_note(rate, sample, measure, "%s: pulls now %s", why, interval);
    begin_anew(rate, 0);
    return true;
}

/* A goal that cannot be met is reported once. */
static bool is_new_complaint(struct esi_rate *rate, enum complaint complaint)
{
    bool is_new = rate->complaint != complaint;

    rate->complaint = complaint;
    return is_new;
}

/* --- The pause ------------------------------------------------------------------ */

/* The time from pull to pull: the measured time, or the interval if that is longer. */
static double period_ns(const struct esi_rate *rate,
                        const struct esi_rate_measure *measure)
{
    double period = measure->hz > 0 ? 1e9 / measure->hz : 0;
    double wanted = (double)rate->settings.interval_ns;

    return period > wanted ? period : wanted;
}

static void complain_of_budget(struct esi_rate *rate,
                               const struct esi_rate_sample *sample,
                               const struct esi_rate_measure *measure)
{
    if (is_new_complaint(rate, BUDGET_TOO_SMALL))
        rate_note(rate, sample, measure,
                  "the budget of %.3g %% cannot be held: %.0f tuples/s cost %.3g %% of "
                  "a core on %s even at the longest pause",
                  100 * rate->config.budget, measure->tuples_hz, 100 * measure->share,
                  rate->busiest);
}

/* Above the budget, the pause grows in proportion. */
static bool slow_down(struct esi_rate *rate,
                      const struct esi_rate_sample *sample,
                      const struct esi_rate_measure *measure)
{
    double factor = measure->share / (ESI_RATE_AIM * rate->config.budget);
    char why[180];
    uint64_t interval;

    if (factor > STEP_MOST)
        factor = STEP_MOST;
    interval = rate_bounded(&rate->config, period_ns(rate, measure) * factor);
    if (interval <= rate->settings.interval_ns) {
        complain_of_budget(rate, sample, measure);
        return false;
    }
    snprintf(why, sizeof why, "%.3g %% of a core on %s is over the budget of %.3g %%",
             100 * measure->share, rate->busiest, 100 * rate->config.budget);
    return set_interval(rate, sample, measure, interval, why);
}

/* Well below the budget, the pause shrinks, unless there is none already. */
static bool speed_up(struct esi_rate *rate,
                     const struct esi_rate_sample *sample,
                     const struct esi_rate_measure *measure)
{
    double factor = measure->share / (ESI_RATE_AIM * rate->config.budget);
    double period = period_ns(rate, measure);
    char why[180];
    uint64_t interval;

    if (factor < 1 / STEP_MOST)
        factor = 1 / STEP_MOST;
    if (measure->possible_hz < 1.1 * measure->hz)
        return false;
    interval = rate_bounded(&rate->config, period * factor);
    if ((double)interval > 0.97 * (double)rate->settings.interval_ns)
        return false;
    snprintf(why, sizeof why,
             "%.3g %% of a core on %s leaves room in the budget of %.3g %%",
             100 * measure->share, rate->busiest, 100 * rate->config.budget);
    return set_interval(rate, sample, measure, interval, why);
}

/* --- The limit of a pull --------------------------------------------------------- */

static bool raise_max(struct esi_rate *rate,
                      const struct esi_rate_sample *sample,
                      const struct esi_rate_measure *measure)
{
    if (measure->full < 0.5 || rate->settings.max > rate->config.max_limit / 2)
        return false;
    rate->settings.max *= 2;
    rate_note(rate, sample, measure,
              "most pulls reach their limit: now up to %zu tuples in a pull",
              rate->settings.max);
    begin_anew(rate, 0);
    return true;
}

/* --- The tree -------------------------------------------------------------------- */

static bool wants_search(const struct esi_rate *rate,
                         const struct esi_rate_sample *sample,
                         const struct esi_rate_measure *measure)
{
    double cost = esi_rate_pull_cost(measure);
    double before = rate->searched_cost;

    if (rate->calm < CALM || sample->servers == 0 || rate->config.freedom == 0)
        return false;
    if (!rate->has_searched)
        return true;
    if (rate->since_search < SEARCH_AGAIN)
        return false;
    if (sample->servers != rate->searched_servers ||
        sample->elements > rate->searched_elements * 2)
        return true;
    if (rate->config.wanted_hz > 0 && rate->complaint != TREES_SLOW &&
        measure->possible_hz < REACHED * rate->config.wanted_hz)
        return true;
    return before > 0 && cost > 0 &&
           (cost > before * LOAD_STEP || before > cost * LOAD_STEP);
}

/* Trials are not part of the history, which contains the results. */
static bool try_next(struct esi_rate *rate, const struct esi_rate_sample *sample)
{
    struct esi_rate_settings next;
    char tree[100];

    if (!esi_rate_search_next(&rate->search, &rate->config, sample->servers, &next))
        return false;
    next.interval_ns = rate->settings.interval_ns;
    next.max = rate->settings.max;
    rate->settings = next;
    format_tree(&next, tree, sizeof tree);
    snprintf(rate->reason, sizeof rate->reason, "tries %s", tree);
    begin_anew(rate, 1);
    return true;
}

/* Explains in words why the best settings are best. */
static void note_choice(struct esi_rate *rate,
                        const struct esi_rate_sample *sample,
                        double reach)
{
    const struct esi_rate_search *search = &rate->search;
    const struct esi_rate_config *config = &rate->config;
    double cost_us = esi_rate_pull_cost(&search->best_measure) * 1e6;
    char tree[100];
    char goal[60];

    if (config->wanted_hz > 0 && reach < REACHED * config->wanted_hz)
        snprintf(goal, sizeof goal, "nearest to the %.4g pulls/s wanted, %.4g",
                 config->wanted_hz, reach);
    else if (config->wanted_hz > 0)
        snprintf(goal, sizeof goal, "cheapest that reaches %.4g pulls/s",
                 config->wanted_hz);
    else
        snprintf(goal, sizeof goal, "%.4g pulls/s, the most in the budget", reach);
    format_tree(&search->best, tree, sizeof tree);
    rate_note(rate, sample, &search->best_measure,
              "chose %s: %s; %.3g us of CPU a pull on %s, of %zu trees tried", tree,
              goal, cost_us, *rate->busiest ? rate->busiest : "the busiest host",
              search->tried_count);
}

static bool end_search(struct esi_rate *rate, const struct esi_rate_sample *sample)
{
    const struct esi_rate_measure *measure = &rate->search.best_measure;
    double reach = esi_rate_reach(&rate->config, measure);
    struct esi_rate_settings chosen = rate->search.best;

    chosen.max = rate->settings.max;
    chosen.interval_ns = rate->settings.interval_ns;
    if (reach > 0)
        chosen.interval_ns = rate_bounded(&rate->config, 1e9 / reach);
    rate->settings = chosen;
    rate->has_searched = true;
    rate->since_search = 0;
    rate->searched_cost = 0;
    rate->searched_servers = sample->servers;
    rate->searched_elements = sample->elements;
    rate->complaint = NONE;
    note_choice(rate, sample, reach);
    if (rate->config.wanted_hz > 0 &&
        measure->possible_hz < REACHED * rate->config.wanted_hz)
        rate->complaint = TREES_SLOW;
    begin_anew(rate, 1);
    return true;
}

/* Called when a tree was tried for long enough, or is too expensive to try any
 * longer. */
static bool go_on_searching(struct esi_rate *rate,
                            const struct esi_rate_sample *sample,
                            const struct esi_rate_measure *measure)
{
    esi_rate_search_judge(&rate->search, &rate->config, measure);
    return try_next(rate, sample) || end_search(rate, sample);
}

/* --- What cannot be mended -------------------------------------------------------- */

static void complain_of_losses(struct esi_rate *rate,
                               const struct esi_rate_sample *sample,
                               const struct esi_rate_measure *measure)
{
    double all = measure->tuples_hz + measure->lost_hz;
    double needed = measure->tuples_hz > 0 ? all / measure->tuples_hz : 0;

    if (!is_new_complaint(rate, LOSSES))
        return;
    if (rate->config.budget <= 0)
        rate_note(rate, sample, measure,
                  "%.3g tuples/s are lost at the wanted rate: nothing is lost at about "
                  "%.4g pulls/s",
                  measure->lost_hz, measure->hz * needed);
    else
        rate_note(rate, sample, measure,
                  "the budget of %.3g %% and no losses contradict each other: %.3g "
                  "tuples/s are lost; without losses about %.3g %% are needed on %s",
                  100 * rate->config.budget, measure->lost_hz,
                  100 * measure->share * needed, rate->busiest);
}

static void complain_of_consumer(struct esi_rate *rate,
                                 const struct esi_rate_sample *sample,
                                 const struct esi_rate_measure *measure)
{
    if (is_new_complaint(rate, CONSUMER_SLOW))
        rate_note(rate, sample, measure,
                  "%.4g of %.4g pulls/s: the tree could give %.4g, the consumer does "
                  "not ask more often",
                  measure->hz, rate->config.wanted_hz, measure->possible_hz);
}

static void find_complaints(struct esi_rate *rate,
                            const struct esi_rate_sample *sample,
                            const struct esi_rate_measure *measure)
{
    const struct esi_rate_config *config = &rate->config;
    double asked = rate->settings.interval_ns ? 1e9 / (double)rate->settings.interval_ns
                                              : measure->possible_hz;

    if (measure->lost_hz > 0)
        complain_of_losses(rate, sample, measure);
    else if (config->wanted_hz > 0 && asked >= REACHED * config->wanted_hz &&
             measure->hz < 0.9 * config->wanted_hz &&
             measure->possible_hz >= config->wanted_hz)
        complain_of_consumer(rate, sample, measure);
    else if (rate->complaint == LOSSES || rate->complaint == CONSUMER_SLOW)
        rate->complaint = NONE;
}

/* --- One sample ------------------------------------------------------------------- */

/* The actions of a stable controller, the most urgent first. */
static bool rate_steer(struct esi_rate *rate,
                       const struct esi_rate_sample *sample,
                       const struct esi_rate_measure *latest)
{
    struct esi_rate_measure measure = measure_of(&rate->sums);
    double budget = rate->config.budget;
    bool is_over = budget > 0 && latest->share > budget * OVERRUN;

    if (rate->search.active) {
        if (is_over)
            return go_on_searching(rate, sample, latest);
        return rate->samples >= MEASURED && go_on_searching(rate, sample, &measure);
    }
    if (is_over)
        return slow_down(rate, sample, latest);
    if (rate->samples < 2)
        return false;
    if (budget > 0 && measure.share > budget)
        return slow_down(rate, sample, &measure);
    if (budget > 0 && measure.share < SPARE * budget &&
        speed_up(rate, sample, &measure))
        return true;
    if (raise_max(rate, sample, &measure))
        return true;
    if (wants_search(rate, sample, &measure)) {
        esi_rate_search_start(&rate->search, &rate->settings, &measure);
        return try_next(rate, sample) || end_search(rate, sample);
    }
    if (rate->has_searched && rate->searched_cost == 0 && rate->samples >= MEASURED)
        rate->searched_cost = esi_rate_pull_cost(&measure);
    if (rate->calm >= CALM)
        find_complaints(rate, sample, &measure);
    return false;
}

/* The first sample only sets the time; settings required by the goals are applied at
 * once. */
static bool rate_start(struct esi_rate *rate, const struct esi_rate_sample *sample)
{
    const struct esi_rate_measure nothing = {0};
    double interval = (double)rate->settings.interval_ns;
    uint64_t first;
    char why[80];

    rate->is_started = true;
    rate->last_ns = sample->now_ns;
    if (rate->config.wanted_hz > 0)
        interval = 1e9 / rate->config.wanted_hz;
    first = rate_bounded(&rate->config, interval);
    if (first == rate->settings.interval_ns)
        return false;
    if (rate->config.wanted_hz > 0)
        snprintf(why, sizeof why, "%.4g pulls/s are wanted", rate->config.wanted_hz);
    else
        snprintf(why, sizeof why, "the pause is outside its limits");
    return set_interval(rate, sample, &nothing, first, why);
}

static bool rate_take(struct esi_rate *rate, const struct esi_rate_sample *sample)
{
    struct rate_sums sums;
    struct esi_rate_measure latest;

    if (!rate->is_started)
        return rate_start(rate, sample);
    if (sample->now_ns <= rate->last_ns)
        return false;
    sums = sums_of(rate, sample, rate_seconds(sample->now_ns - rate->last_ns));
    rate->last_ns = sample->now_ns;
    rate->since_search++;
    if (rate->skip > 0) {
        rate->skip--;
        return false;
    }
    add_sums(&rate->waiting, &sums, 1);
    if (sample->pulls == 0)
        return false;
    latest = measure_of(&rate->waiting);
    add_sums(&rate->sums, &rate->waiting, MEMORY);
    rate->waiting = (struct rate_sums){0};
    rate->samples++;
    rate->calm++;
    return rate_steer(rate, sample, &latest);
}

void esi_rate_feed(struct esi_rate *rate,
                   const struct esi_rate_sample *sample,
                   struct esi_rate_decision *ret_decision)
{
    *ret_decision = (struct esi_rate_decision){.changed = rate_take(rate, sample)};
    ret_decision->settings = rate->settings;
    memcpy(ret_decision->reason, rate->reason, sizeof ret_decision->reason);
}

size_t esi_rate_history(const struct esi_rate *rate,
                        struct esi_rate_entry ret_entries[ES_RATE_HISTORY])
{
    size_t count =
        rate->decisions < ES_RATE_HISTORY ? rate->decisions : ES_RATE_HISTORY;

    for (size_t i = 0; i < count; i++)
        ret_entries[i] = rate->history[(rate->decisions - count + i) % ES_RATE_HISTORY];
    return count;
}
