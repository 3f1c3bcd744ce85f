/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* latent.c - counts and prints the findings. */
#include "config.h"

#include "monitors/latent/latent.h"

#include <inttypes.h>

#include "base/plain.h"
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

static void put_call(const struct esi_replay_call *call,
                     const char *key,
                     struct esi_json_out *out)
{
    esi_json_out_begin_object(out, key);
    esi_json_out_signed(out, "rank", call->rank);
    esi_json_out_signed(out, "thread", call->thread);
    esi_json_out_unsigned(out, "number", call->number);
    esi_json_out_string(out, "operation", name_of(call->operation));
    esi_json_out_string(out, "communicator",
                        call->communicator[0] ? call->communicator : NULL);
    esi_json_out_unsigned(out, "start_unix_ns", call->start);
    esi_json_out_end(out);
}

static void put_finding(const struct esi_replay_finding *finding,
                        struct esi_json_out *out)
{
    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "type", "latent");
    esi_json_out_unsigned(out, "times", finding->times);
    esi_json_out_begin_array(out, "steps");
    for (size_t i = 0; i < finding->step_count; i++) {
        const struct esi_replay_step *step = &finding->steps[i];

        esi_json_out_begin_object(out, NULL);
        put_call(&step->call, "call", out);
        put_call(&step->awaited, "awaited", out);
        esi_json_out_string(out, "reason", reason_names[step->reason]);
        esi_json_out_bool(out, "hidden", step->hidden);
        esi_json_out_string(out, "request",
                            step->request ? name_of(step->request) : NULL);
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
    esi_json_out_end(out);
}

static void put_race(const struct esi_race *race, struct esi_json_out *out)
{
    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "type", "race");
    esi_json_out_string(out, "reason", race_names[race->reason]);
    esi_json_out_unsigned(out, "times", race->times);
    esi_json_out_string(out, "receiver", race->receiver);
    esi_json_out_string(out, "communicator", race->communicator);
    esi_json_out_signed(out, "tag", race->tag);
    esi_json_out_unsigned(out, "receive", race->receive.index);
    esi_json_out_unsigned(out, "other", race->other.index);
    esi_json_out_string(out, "sender", race->sender);
    esi_json_out_string(out, "other_sender", race->other_sender);
    esi_json_out_signed(out, "stop_unix_ns", race->stop_ns);
    esi_json_out_end(out);
}

void esi_latent_print_json(const struct esi_latent *latent, struct esi_json_out *out)
{
    for (size_t i = 0; i < esi_replay_finding_count(latent->replay); i++)
        put_finding(esi_replay_finding(latent->replay, i), out);
    for (size_t i = 0; i < esi_races_count(latent->races); i++)
        put_race(esi_races_at(latent->races, i), out);
    esi_leaks_print_json(&latent->leaks, out);
}
