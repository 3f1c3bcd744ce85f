/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace why - why a run hangs or died. */
#include "config.h"

#include "base/options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/consumer.h"
#include "cli/event_source.h"
#include "cli/observe.h"
#include "cli/why_over.h"
#include "monitors/archive/archive_read.h"
#include "monitors/verdict/verdict_print.h"

#define SECOND_NS UINT64_C(1000000000)
#define LEAST_INTERVAL_NS (SECOND_NS / 100)

struct why_arguments {
    const char *run;
    enum esi_format format;
    uint64_t interval_ns;
    bool verbose;
    struct esi_consumer_options consumer;
};

static const struct argp_option options[] = {
    {"interval", 'i', "TIME", 0, "time between two observations (300ms), at least 10ms",
     0},
    {"verbose", 'v', NULL, 0, "all verdicts with all ranks and requests", 0},
    {0},
};

static const char doc[] =
    "Explains why RUN hangs or crashed: ranks that wait for each other (DEADLOCK), "
    "that call different collective operations (MISMATCH), that wait for one in "
    "MPI_Finalize (MISSING), the first that died (DIED); else who holds up others. For "
    "a finished run also leaks (LEAK); for an archive DIR the same, and hidden "
    "deadlocks (LATENT) and receives that raced (RACE).\vIt observes the run twice: a "
    "verdict is certain if no further action of the ranks can invalidate it, and "
    "nothing changed in between.\n"
    "\n"
    "Exit status: 0 nothing is wrong, 1 a certain verdict, 2 usage, 3 the run cannot "
    "be read, 4 possible verdicts, leaks or latent errors only, or threads whose "
    "collectors are off.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct why_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->format;
        state->child_inputs[1] = &arguments->consumer;
        return 0;
    case 'i':
        arguments->interval_ns =
            esi_option_duration(text, "--interval", LEAST_INTERVAL_NS, state);
        return 0;
    case 'v':
        arguments->verbose = true;
        return 0;
    case ARGP_KEY_ARG:
        return esi_command_take_run(text, state, &arguments->run);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int print_diagnosis(const struct esi_diagnosis *diagnosis,
                           const struct why_arguments *arguments)
{
    struct esi_verdict_style style = {
        .all = arguments->verbose, .waits = true, .calm = true};

    if (arguments->format == ES_FORMAT_JSON)
        return esi_diagnosis_print_json(diagnosis, stdout);
    return esi_diagnosis_print_text(diagnosis, &style, stdout);
}

static int give_answer(const struct esi_diagnosis *diagnosis,
                       const struct why_arguments *arguments)
{
    int result = print_diagnosis(diagnosis, arguments);

    if (result < 0 || fflush(stdout) != 0)
        return esi_command_fail_output(result);
    if (diagnosis->count > 0 && arguments->format == ES_FORMAT_TEXT)
        esi_command_hint(
            "eventspace events --rank %d --limit 10 %s shows what led there",
            diagnosis->items[0].ranks.items[0], diagnosis->facts->run);
    switch (esi_diagnosis_outcome(diagnosis)) {
    case ESI_OUTCOME_CERTAIN:
        return ES_EXIT_FINDING;
    case ESI_OUTCOME_POSSIBLE:
        return ES_EXIT_POSSIBLE;
    case ESI_OUTCOME_NOTHING:
        break;
    }
    return ES_EXIT_SUCCESS;
}

static int explain_run(const struct esi_consumer *consumer,
                       const struct why_arguments *arguments)
{
    /* Longer operations are reported at the first observation. */
    struct esi_observer_config config = {.stalled_after_ns = ESI_STALLED_AFTER_NS,
                                         .servers = consumer->servers};
    const char *run = es_run_name(consumer->run);
    struct es_error error = {.text = ""};
    struct esi_observer *observer;
    struct esi_observation observation;
    struct esi_notices notices = {.count = 0};
    int result = esi_observer_create(consumer->run, &config, &error, &observer);

    if (result < 0)
        return esi_command_fail_observe(run, &error, result);
    /* Twice what may still progress, and further while ranks die: the order of their
     * ends is known when all have been recorded. */
    while ((result = esi_observer_look(observer, &observation)) >= 0 &&
           observation.again)
        esi_observe_pause(&observation, arguments->interval_ns);
    if (result < 0) {
        esi_observer_destroy(observer);
        return esi_command_fail_lost(run, result);
    }
    esi_notices_show(&notices, observation.notices, observation.notice_count);
    result = give_answer(observation.diagnosis, arguments);
    if (arguments->format == ES_FORMAT_TEXT)
        esi_command_print_absent(run, consumer->servers);
    result = esi_why_leaks(observation.diagnosis->facts, arguments->format, result);
    esi_observer_destroy(observer);
    return result;
}

int esi_cmd_why(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&esi_format_argp, 0, NULL, 0}, {&esi_consumer_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {
        options, parse_option, "[RUN|DIR]", doc, children, 0, 0};
    struct why_arguments arguments = {.interval_ns = ES_SECOND_LOOK_NS};
    struct esi_consumer consumer;
    int status;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    if (arguments.run && esi_archive_is_one(arguments.run)) {
        esi_event_source_tell_end(arguments.run);
        return esi_why_archive(arguments.run, arguments.format, arguments.verbose);
    }
    status = esi_consumer_open(arguments.run, &arguments.consumer, &consumer);
    if (status != 0)
        return status;
    status = explain_run(&consumer, &arguments);
    esi_consumer_close(&consumer);
    return status;
}
