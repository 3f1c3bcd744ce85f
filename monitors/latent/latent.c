/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* latent.c - counts and prints the findings. */
#include "config.h"

#include "monitors/latent/latent.h"

#include <inttypes.h>

#include "base/plain.h"
#include "base/rows.h"
#include "eventspace/operation.h"

size_t esi_latent_count(const struct esi_latent *latent)
{
    size_t count = esi_replay_finding_count(latent->replay) + latent->leaks.count;

    for (size_t i = 0; i < esi_races_count(latent->races); i++)
        count += esi_races_at(latent->races, i)->reason != ESI_RACE_BENIGN;
    return count;
}

/* --- Descriptions ----------------------------------------------------------------- */

static const char *const reason_names[] = {
    [ESI_REPLAY_POST] = "post",
    [ESI_REPLAY_SEND] = "send",
    [ESI_REPLAY_MEMBER] = "member",
};

static const char *const race_names[] = {
    [ESI_RACE_BENIGN] = "benign",
    [ESI_RACE_DIRECTED] = "directed",
    [ESI_RACE_SIZES] = "sizes",
    [ESI_RACE_PEER] = "peer",
};

static const char *const race_words[] = {
    [ESI_RACE_BENIGN] = "benign: both orders give both messages to the same receives",
    [ESI_RACE_DIRECTED] = "the other message is received by its sender's rank",
    [ESI_RACE_SIZES] = "the messages are of different sizes",
    [ESI_RACE_PEER] = "what follows depends on whose message it was",
};

static const char *name_of(uint16_t operation)
{
    return es_operation_name(operation & (uint16_t)~ES_OPERATION_ANY_SOURCE);
}

/* Why a deadlock was hidden, as bits. */
enum { HIDDEN_SENDS = 1, HIDDEN_COLLECTIVES = 2 };

static int find_hiding(const struct esi_replay_finding *finding)
{
    int hiding = 0;

    for (size_t i = 0; i < finding->step_count; i++)
        if (finding->steps[i].hidden)
            hiding |= finding->steps[i].reason == ESI_REPLAY_MEMBER ? HIDDEN_COLLECTIVES
                                                                    : HIDDEN_SENDS;
    return hiding;
}

static const char *hiding_words(int hiding)
{
    switch (hiding) {
    case HIDDEN_SENDS:
        return "sends were buffered";
    case HIDDEN_COLLECTIVES:
        return "a collective operation did not wait for all";
    case HIDDEN_SENDS | HIDDEN_COLLECTIVES:
        return "sends were buffered and a collective operation did not wait for all";
    default:
        return "of timing";
    }
}

/* --- Text ------------------------------------------------------------------------- */

static void print_place(const struct esi_replay_call *call, FILE *stream)
{
    esi_plain_print(stream, "rank %d", call->rank);
    if (call->thread != 0)
        esi_plain_print(stream, " thread %d", call->thread);
}

static void print_call(const struct esi_replay_call *call, FILE *stream)
{
    esi_plain_print(stream, "%s (operation %" PRIu64 ")", name_of(call->operation),
                    call->number);
}

static void print_step(const struct esi_replay_step *step, FILE *stream)
{
    esi_plain_print(stream, "  ");
    print_place(&step->call, stream);
    esi_plain_print(stream, ": ");
    print_call(&step->call, stream);
    if (step->request)
        esi_plain_print(stream, " of %s", name_of(step->request));
    if (step->reason != ESI_REPLAY_MEMBER)
        esi_plain_print(stream, ", tag %d", step->awaited.tag);
    if (step->awaited.communicator[0])
        esi_plain_print(stream, ", on %s", step->awaited.communicator);
    esi_plain_print(stream, ", needs that ");
    print_place(&step->awaited, stream);
    esi_plain_print(stream, " begins ");
    print_call(&step->awaited, stream);
    esi_plain_print(stream, "\n");
}

/* Times are relative to the first operation of the run. */
static void print_finding(const struct esi_replay_finding *finding,
                          uint64_t begin,
                          FILE *stream)
{
    esi_plain_print(stream, "LATENT deadlock: ");
    if (finding->step_count == 1)
        esi_plain_print(stream, "a call that waits for its own thread");
    else
        esi_plain_print(stream, "%zu calls that wait for each other",
                        finding->step_count);
    esi_plain_print(stream, ", hidden because %s", hiding_words(find_hiding(finding)));
    if (finding->times > 1)
        esi_plain_print(stream, "; %" PRIu64 " times, first", finding->times);
    esi_plain_print(stream, finding->times > 1 ? " at %.6f s\n" : "; at %.6f s\n",
                    (double)(finding->steps[0].call.start - begin) / 1e9);
    for (size_t i = 0; i < finding->step_count; i++)
        print_step(&finding->steps[i], stream);
}

static void print_race(const struct esi_race *race, FILE *stream)
{
    esi_plain_print(stream,
                    "RACE: %s received event %" PRIu32
                    " from any source, from %s; the message "
                    "of %s could have come first: %s",
                    race->receiver, race->receive.index, race->sender,
                    race->other_sender, race_words[race->reason]);
    esi_plain_print(stream, " (tag %" PRId64 ", on %s", race->tag,
                    race->communicator[0] ? race->communicator : "?");
    if (race->times > 1)
        esi_plain_print(stream, "; %" PRIu64 " like this", race->times);
    esi_plain_print(stream, ")\n");
}

static void print_doubt(uint64_t count, const char *words, FILE *stream)
{
    if (count > 0)
        esi_plain_print(stream, "  %" PRIu64 " %s\n", count, words);
}

static void print_doubts(const struct esi_replay *replay, FILE *stream)
{
    struct esi_replay_totals totals;

    esi_replay_totals(replay, &totals);
    if (!esi_replay_is_incomplete(replay))
        return;
    esi_plain_print(stream,
                    "Not all could be replayed: there may be more latent deadlocks.\n");
    print_doubt(totals.lost, "operations are missing", stream);
    print_doubt(totals.unmatched, "ends of messages have no counterpart", stream);
    print_doubt(totals.unknown, "sends: it is not known which call completed them",
                stream);
    print_doubt(totals.unnumbered, "messages have no number", stream);
    print_doubt(totals.unplaced, "operations are on communicators that are not known",
                stream);
}

void esi_latent_print_text(const struct esi_latent *latent, FILE *stream)
{
    struct esi_replay_totals totals;
    uint64_t benign = 0;

    esi_replay_totals(latent->replay, &totals);
    for (size_t i = 0; i < esi_replay_finding_count(latent->replay); i++)
        print_finding(esi_replay_finding(latent->replay, i), totals.begin, stream);
    for (size_t i = 0; i < esi_races_count(latent->races); i++) {
        const struct esi_race *race = esi_races_at(latent->races, i);

        if (race->reason == ESI_RACE_BENIGN)
            benign += race->times;
        else
            print_race(race, stream);
    }
    if (benign > 0)
        esi_plain_print(stream,
                        "%" PRIu64
                        " benign race%s of receives from any source: both orders "
                        "give the same messages to the same receives\n",
                        benign, benign > 1 ? "s" : "");
    esi_leaks_print_text(&latent->leaks, stream);
    print_doubts(latent->replay, stream);
}

/* --- JSON ------------------------------------------------------------------------- */

static void describe_call(struct esi_row *row,
                          const char *name,
                          const struct esi_replay_call *call)
{
    esi_row_begin_object(row, name);
    esi_row_signed(row, "rank", NULL, call->rank);
    esi_row_signed(row, "thread", NULL, call->thread);
    esi_row_unsigned(row, "number", NULL, call->number);
    esi_row_text(row, "operation", NULL, name_of(call->operation));
    esi_row_text(esi_row_if(row, call->communicator[0]), "communicator", NULL,
                 call->communicator);
    esi_row_unsigned(row, "start_unix_ns", NULL, call->start);
    esi_row_end(row);
}

static void describe_finding(struct esi_row *row, const void *record)
{
    const struct esi_replay_finding *finding = record;

    esi_row_text(row, "type", NULL, "latent");
    esi_row_unsigned(row, "times", NULL, finding->times);
    esi_row_begin_array(row, "steps");
    for (size_t i = 0; i < finding->step_count; i++) {
        const struct esi_replay_step *step = &finding->steps[i];

        esi_row_begin_object(row, NULL);
        describe_call(row, "call", &step->call);
        describe_call(row, "awaited", &step->awaited);
        esi_row_text(row, "reason", NULL, reason_names[step->reason]);
        esi_row_bool(row, "hidden", NULL, step->hidden);
        esi_row_text(row, "request", NULL,
                     step->request ? name_of(step->request) : NULL);
        esi_row_end(row);
    }
    esi_row_end(row);
}

static void describe_race(struct esi_row *row, const void *record)
{
    const struct esi_race *race = record;

    esi_row_text(row, "type", NULL, "race");
    esi_row_text(row, "reason", NULL, race_names[race->reason]);
    esi_row_unsigned(row, "times", NULL, race->times);
    esi_row_text(row, "receiver", NULL, race->receiver);
    esi_row_text(row, "communicator", NULL, race->communicator);
    esi_row_signed(row, "tag", NULL, race->tag);
    esi_row_unsigned(row, "receive", NULL, race->receive.index);
    esi_row_unsigned(row, "other", NULL, race->other.index);
    esi_row_text(row, "sender", NULL, race->sender);
    esi_row_text(row, "other_sender", NULL, race->other_sender);
    esi_row_signed(row, "stop_unix_ns", NULL, race->stop_ns);
}

void esi_latent_print_json(const struct esi_latent *latent, FILE *stream)
{
    for (size_t i = 0; i < esi_replay_finding_count(latent->replay); i++)
        esi_rows_print_json(stream, describe_finding,
                            esi_replay_finding(latent->replay, i));
    for (size_t i = 0; i < esi_races_count(latent->races); i++)
        esi_rows_print_json(stream, describe_race, esi_races_at(latent->races, i));
    esi_leaks_print_json(&latent->leaks, stream);
}
