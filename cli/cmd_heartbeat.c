/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace heartbeat - shows which threads make progress, and who waits for whom. */
#include "config.h"

#include <errno.h>
#include <limits.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/consumer.h"
#include "cli/interrupt.h"
#include "cli/observe.h"
#include "cli/screen.h"
#include "monitors/verdict/heartbeat_print.h"
#include "base/options.h"

enum { OPTION_ONCE = 256, OPTION_STALLED_AFTER };

#define SECOND_NS UINT64_C(1000000000)
#define LEAST_INTERVAL_NS (SECOND_NS / 100)

struct heartbeat_arguments {
    const char *run;
    enum esi_format format;
    uint64_t interval_ns;
    unsigned long long count; /* 0 = until the run ends */
    uint64_t stalled_after_ns;
    bool once;
    bool verbose;
    enum esi_colours colours;
    struct es_scope_config settings; /* only its tree is used */
    struct esi_consumer_options consumer;
};

static const struct argp_option options[] = {
    {"interval", 'i', "TIME", 0, "time between two updates (1s), at least 10ms", 0},
    {"count", 'n', "COUNT", 0,
     "end after this number of updates; default: when all have ended", 0},
    {"stalled-after", OPTION_STALLED_AFTER, "TIME", 0,
     "time in one operation, or polling without success, after which a thread counts "
     "as stalled (5s)",
     0},
    {"once", OPTION_ONCE, NULL, 0,
     "report once; a second observation confirms a verdict", 0},
    {"verbose", 'v', NULL, 0,
     "a row for each thread; default: many threads in the same state share one", 0},
    {0},
};

static const char doc[] =
    "Shows what each thread of RUN does and whether it makes progress: the last event, "
    "the operation under way and since when.  For stalled threads it tells who waits "
    "for whom, names deadlocks, and the rank that holds the others up."
    "\vVerdicts: progressing (an event since the last update), computing (none, and in "
    "no MPI operation), waiting (in one operation), polling (tests without success), "
    "stalled (waiting or polling for too long), unknown (collectors are off), "
    "finished, dead.\n\n"
    "Exit status: 0 all well, 1 a thread is stalled or dead at the end, or a verdict "
    "is certain, 2 usage, 3 the run vanished, or the state of a thread is unknown.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct heartbeat_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->format;
        state->child_inputs[1] = &arguments->consumer;
        state->child_inputs[2] = &arguments->settings;
        state->child_inputs[3] = &arguments->colours;
        return 0;
    case 'i':
        arguments->interval_ns =
            esi_option_duration(text, "--interval", LEAST_INTERVAL_NS, state);
        return 0;
    case 'n':
        arguments->count =
            (unsigned long long)esi_option_number(text, "--count", 1, LLONG_MAX, state);
        return 0;
    case OPTION_STALLED_AFTER:
        arguments->stalled_after_ns =
            esi_option_duration(text, "--stalled-after", 1, state);
        return 0;
    case OPTION_ONCE:
        arguments->once = true;
        return 0;
    case 'v':
        arguments->verbose = true;
        return 0;
    case ARGP_KEY_ARG:
        return esi_command_take_run(text, state, &arguments->run);
    case ARGP_KEY_END:
        if (arguments->settings.tree.reduce || arguments->settings.sorting ||
            arguments->settings.lossless)
            argp_error(state, "--set: reduce, sort and lossless cannot be set: the "
                              "heartbeat reads the latest event of each thread");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* On a terminal each report replaces the last. */
static int print_report(const struct esi_observation *observation,
                        const struct heartbeat_arguments *arguments,
                        struct esi_screen *screen)
{
    int result = 0;
    int shown;

    if (arguments->format == ES_FORMAT_JSON) {
        result = esi_heartbeat_print_json(observation, stdout);
        return fflush(stdout) == 0 ? result : -EIO;
    }
    esi_screen_begin(screen);
    if (observation->number > 1 && !esi_screen_is_live(screen))
        fputs("\n", stdout);
    result = esi_heartbeat_print_text(observation, arguments->verbose, stdout);
    shown = esi_screen_show(screen);
    return result < 0 ? result : shown;
}

static bool has_ended(const struct esi_observation *observation)
{
    const size_t *counts = observation->verdicts;
    size_t threads = observation->diagnosis->facts->thread_count;

    return threads && counts[ES_VERDICT_FINISHED] + counts[ES_VERDICT_DEAD] == threads;
}

static bool is_last(const struct esi_observation *observation,
                    const struct heartbeat_arguments *arguments)
{
    return arguments->once || observation->vanished || esi_interrupt_came() ||
           has_ended(observation) || observation->number == arguments->count;
}

/* The rank to examine first: one of a verdict, or else a stalled or dead one; -1 = no
 * problem. */
static int find_trouble(const struct esi_diagnosis *diagnosis)
{
    const struct esi_facts *facts = diagnosis->facts;

    if (diagnosis->count > 0)
        return diagnosis->items[0].ranks.items[0];
    for (size_t i = 0; i < facts->thread_count; i++)
        if (facts->threads[i].verdict == ES_VERDICT_STALLED ||
            facts->threads[i].verdict == ES_VERDICT_DEAD)
            return facts->threads[i].rank;
    return -1;
}

static int watch_run(struct esi_observer *observer,
                     const char *run,
                     const struct heartbeat_arguments *arguments,
                     struct esi_screen *screen,
                     int *ret_trouble)
{
    struct esi_notices notices = {.count = 0};
    struct esi_observation observation;

    for (;;) {
        int result = esi_observer_look(observer, &observation);

        if (result < 0)
            return esi_command_fail_lost(run, result);
        esi_notices_show(&notices, observation.notices, observation.notice_count);
        /* Certainty requires two observations. */
        if (arguments->once && observation.again && observation.doubtful) {
            esi_observe_pause(&observation, ES_SECOND_LOOK_NS);
            continue;
        }
        result = print_report(&observation, arguments, screen);
        if (result < 0)
            return esi_command_fail_output(result);
        if (is_last(&observation, arguments))
            break;
        esi_observe_pause(&observation, arguments->interval_ns);
    }
    *ret_trouble = find_trouble(observation.diagnosis);
    /* A run that ends successfully removes its segments; this is not a loss of
     * contact. */
    if (observation.vanished && !has_ended(&observation))
        return esi_command_fail(ES_EXIT_LOST,
                                "run '%s' vanished: its segments were removed", run);
    if (observation.verdicts[ES_VERDICT_STALLED] ||
        observation.verdicts[ES_VERDICT_DEAD] ||
        esi_diagnosis_outcome(observation.diagnosis) == ESI_OUTCOME_CERTAIN)
        return ES_EXIT_FINDING;
    /* An unknown state is not a success. */
    return observation.verdicts[ES_VERDICT_UNKNOWN] ? ES_EXIT_LOST : ES_EXIT_SUCCESS;
}

static int observe_run(const struct esi_consumer *consumer,
                       const struct heartbeat_arguments *arguments)
{
    struct esi_observer_config config = {.stalled_after_ns =
                                             arguments->stalled_after_ns,
                                         .servers = consumer->servers,
                                         .tree = &arguments->settings.tree};
    struct es_error error = {.text = ""};
    struct esi_observer *observer;
    struct esi_screen screen;
    int trouble = -1;
    int result;

    result = esi_observer_create(consumer->run, &config, &error, &observer);
    if (result < 0)
        return esi_command_fail_observe(es_run_name(consumer->run), &error, result);
    esi_screen_open(&screen, arguments->colours,
                    arguments->format == ES_FORMAT_TEXT && !arguments->once);
    if (esi_screen_is_live(&screen))
        esi_interrupt_catch(ES_INTERRUPT_FIRST);
    result =
        watch_run(observer, es_run_name(consumer->run), arguments, &screen, &trouble);
    esi_screen_close(&screen);
    if (trouble >= 0 && arguments->format == ES_FORMAT_TEXT)
        esi_command_hint(
            "eventspace events --rank %d --limit 10 %s shows what led there", trouble,
            es_run_name(consumer->run));
    esi_observer_destroy(observer);
    return result;
}

int esi_cmd_heartbeat(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&esi_format_argp, 0, NULL, 0},   {&esi_consumer_argp, 0, NULL, 0},
        {&esi_settings_argp, 0, NULL, 0}, {&esi_colours_argp, 0, NULL, 0},
        {&esi_wide_argp, 0, NULL, 0},     {0}};
    static const struct argp parser = {options, parse_option, "[RUN]", doc, children, 0,
                                       0};
    struct heartbeat_arguments arguments = {.interval_ns = SECOND_NS,
                                            .stalled_after_ns = ESI_STALLED_AFTER_NS};
    struct esi_consumer consumer;
    int status;

    es_scope_config_init(&arguments.settings);
    esi_command_parse(&parser, argc, argv, 0, &arguments);
    status = esi_consumer_open(arguments.run, &arguments.consumer, &consumer);
    if (status != 0)
        return status;
    status = observe_run(&consumer, &arguments);
    esi_consumer_close(&consumer);
    return status;
}
