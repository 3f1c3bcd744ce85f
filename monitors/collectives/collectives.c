/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * collectives.c - combines the parts of collective operations.
 *
 * Communicators are found by key, open instances in a table of ends (ends.h) by
 * communicator and number.  The memory of a finished instance is reused for the next
 * instance of its communicator.
 */
#include "config.h"

#include "monitors/collectives/collectives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "monitors/collectives/collective_judge.h"
#include "monitors/collectives/size_class.h"
#include "monitors/follow/ends.h"

enum {
    DEFAULT_OPEN = 65536,
    LAST_RESORT = 60, /* multiple of the patience after which an instance is given up
                         in any case */
    SPARE_MOST = 64,  /* instances a communicator keeps for reuse */
    NUMBERS = 2048,   /* finished instances that a communicator remembers */
};

/* How an instance ended. */
enum ending { ENDING_NONE, ENDING_COMPLETE, ENDING_GIVEN_UP };
#define DEFAULT_PATIENCE_NS UINT64_C(10000000000)

/* One operation with missing parts. */
struct open_instance {
    struct esi_end end;
    struct communicator *communicator;
    uint32_t number;
    bool tree;
    uint32_t version;
    struct esi_collective_traits traits;
    int known;
    int root;
    uint32_t most_bytes;
    uint32_t least_bytes;
    uint64_t newest_ns;    /* latest exit of its parts */
    uint64_t errors_ns[2]; /* the two largest of its parts */
    uint32_t clock;        /* the clock that all parts have read; 0 = several */
    struct esi_collective_arrival *arrivals; /* by rank; the communicator's */
    int *order;                              /* in the memory after the arrivals */
};

/* What was seen of a member. */
struct member {
    bool seen;
    uint32_t first; /* lowest instance number */
    uint32_t newest;
    uint64_t exit_ns; /* in the communicator's instance `done` */
};

struct communicator {
    uint64_t key[2];
    char name[64];
    int size;
    struct member *members;   /* by rank */
    void *spares[SPARE_MOST]; /* memory of finished instances; owned */
    size_t spare_count;
    bool has_done; /* `done` is the number of the last complete, blocking instance */
    uint32_t done;
    /* The last finished instances, by number modulo NUMBERS, so that late or duplicate
     * parts do not start them again.  NULL = none yet. */
    uint32_t *over;
    uint8_t *endings; /* enum ending */
};

struct esi_collectives {
    struct esi_collectives_config config;
    struct communicator **communicators; /* owned */
    size_t communicator_count;
    size_t communicator_capacity;
    struct esi_hash by_key;    /* of communicators */
    struct communicator *last; /* the last one used */
    uint16_t operation;        /* of the last call; 0 = none yet */
    struct esi_collective_traits traits;
    struct esi_ends open; /* of struct open_instance */
    struct esi_collectives_counts counts;
};

int esi_collectives_create(const struct esi_collectives_config *config,
                           struct esi_collectives **ret_analysis)
{
    struct esi_collectives *analysis = calloc(1, sizeof *analysis);

    if (!analysis)
        return -ENOMEM;
    analysis->config = *config;
    if (analysis->config.max_open == 0)
        analysis->config.max_open = DEFAULT_OPEN;
    if (analysis->config.patience_ns == 0)
        analysis->config.patience_ns = DEFAULT_PATIENCE_NS;
    esi_ends_init(&analysis->open, sizeof(struct open_instance),
                  analysis->config.max_open);
    *ret_analysis = analysis;
    return 0;
}

static void free_communicator(struct communicator *communicator)
{
    for (size_t i = 0; i < communicator->spare_count; i++)
        free(communicator->spares[i]);
    free(communicator->members);
    free(communicator->over);
    free(communicator->endings);
    free(communicator);
}

void esi_collectives_destroy(struct esi_collectives *analysis)
{
    int saved_errno = errno;

    if (!analysis)
        return;
    ESI_LIST_FOREACH(struct open_instance, open, &analysis->open.waiting, end.link)
        free(open->arrivals);
    esi_ends_fini(&analysis->open);
    for (size_t i = 0; i < analysis->communicator_count; i++)
        free_communicator(analysis->communicators[i]);
    free(analysis->communicators);
    esi_hash_fini(&analysis->by_key);
    free(analysis);
    errno = saved_errno;
}

/* --- Communicators ---------------------------------------------------------------- */

static uint64_t hash_of_key(const uint64_t key[2])
{
    return esi_hash_mix(esi_hash_mix(0, key[0]), key[1]);
}

static bool has_key(const struct communicator *communicator, const uint64_t key[2])
{
    return communicator->key[0] == key[0] && communicator->key[1] == key[1];
}

static struct communicator *make_communicator(const struct esi_collective_call *call)
{
    struct communicator *communicator = calloc(1, sizeof *communicator);

    if (!communicator)
        return NULL;
    communicator->size = call->size;
    memcpy(communicator->key, call->key, sizeof communicator->key);
    communicator->members = calloc((size_t)call->size, sizeof *communicator->members);
    if (communicator->members)
        return communicator;
    free_communicator(communicator);
    return NULL;
}

static struct communicator *add_communicator(struct esi_collectives *analysis,
                                             const struct esi_collective_call *call)
{
    size_t count = analysis->communicator_count;
    struct communicator *made;

    if (ESI_ARRAY_RESERVE(analysis->communicators, analysis->communicator_capacity,
                          count + 1) < 0 ||
        esi_hash_reserve(&analysis->by_key, count + 1) < 0)
        return NULL;
    made = make_communicator(call);
    if (!made)
        return NULL;
    esi_hash_insert(&analysis->by_key, hash_of_key(call->key), count);
    analysis->communicators[analysis->communicator_count++] = made;
    return made;
}

/* NULL if out of memory. */
static struct communicator *find_communicator(struct esi_collectives *analysis,
                                              const struct esi_collective_call *call)
{
    struct communicator *found = analysis->last;

    if (found && has_key(found, call->key))
        return found;
    found = NULL;
    ESI_HASH_FOREACH(slot, &analysis->by_key, hash_of_key(call->key)) {
        uint32_t index = esi_hash_index(&analysis->by_key, slot);

        if (has_key(analysis->communicators[index], call->key))
            found = analysis->communicators[index];
    }
    if (!found)
        found = add_communicator(analysis, call);
    if (found)
        analysis->last = found;
    return found;
}

/* A name may be set at any time, and not in all processes. */
static void take_name(struct communicator *communicator, const char *name)
{
    if (name && *name && strncmp(communicator->name, name, 63) != 0) {
        memset(communicator->name, 0, sizeof communicator->name);
        memcpy(communicator->name, name, strnlen(name, sizeof communicator->name - 1));
    }
}

/* Numbers wrap around, so they are compared by their distance. */
static bool is_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

static void note_member(struct member *member, uint32_t number)
{
    if (!member->seen || is_before(number, member->first))
        member->first = number;
    if (!member->seen || is_before(member->newest, number))
        member->newest = number;
    member->seen = true;
}

/* --- Open instances --------------------------------------------------------------- */

static struct esi_ends_key key_of(const struct communicator *communicator,
                                  uint32_t number)
{
    return (struct esi_ends_key){
        .communicator = {communicator->key[0], communicator->key[1]},
        .sequence = number,
    };
}

static struct open_instance *find_instance(const struct esi_collectives *analysis,
                                           const struct communicator *communicator,
                                           uint32_t number)
{
    struct esi_ends_key key = key_of(communicator, number);

    return esi_ends_find(&analysis->open, &key);
}

/* Unset arrivals, with space for their order; NULL if out of memory. */
static struct esi_collective_arrival *take_arrivals(struct communicator *communicator)
{
    size_t size = (size_t)communicator->size;
    struct esi_collective_arrival *arrivals;

    if (communicator->spare_count > 0)
        arrivals = communicator->spares[--communicator->spare_count];
    else
        arrivals = malloc(size * (sizeof *arrivals + sizeof(int)));
    return arrivals ? memset(arrivals, 0, size * sizeof *arrivals) : NULL;
}

static void give_arrivals(struct communicator *communicator,
                          struct esi_collective_arrival *arrivals)
{
    if (communicator->spare_count < SPARE_MOST)
        communicator->spares[communicator->spare_count++] = arrivals;
    else
        free(arrivals);
}

static struct open_instance *begin_instance(struct esi_collectives *analysis,
                                            struct communicator *communicator,
                                            const struct esi_collective_call *call)
{
    struct esi_ends_key key = key_of(communicator, call->instance);
    struct esi_collective_arrival *arrivals = take_arrivals(communicator);
    struct open_instance *instance =
        arrivals ? esi_ends_add(&analysis->open, &key) : NULL;

    if (!instance) {
        free(arrivals);
        return NULL;
    }
    instance->communicator = communicator;
    instance->number = call->instance;
    instance->least_bytes = UINT32_MAX;
    instance->arrivals = arrivals;
    instance->order = (int *)(void *)(arrivals + communicator->size);
    esi_ends_wait(&analysis->open, &instance->end, 1);
    return instance;
}

static void end_instance(struct esi_collectives *analysis,
                         struct open_instance *instance)
{
    give_arrivals(instance->communicator, instance->arrivals);
    esi_ends_forget(&analysis->open, &instance->end);
}

/* --- Finished instances ----------------------------------------------------------- */

/* If out of memory, late parts start an instance again, which is then given up. */
static void remember_communicator(struct communicator *communicator,
                                  uint32_t number,
                                  enum ending ending)
{
    if (!communicator->over)
        communicator->over = calloc(NUMBERS, sizeof *communicator->over);
    if (!communicator->endings)
        communicator->endings = calloc(NUMBERS, sizeof *communicator->endings);
    if (!communicator->over || !communicator->endings)
        return;
    communicator->over[number % NUMBERS] = number;
    communicator->endings[number % NUMBERS] = (uint8_t)ending;
}

static enum ending ending_of(const struct communicator *communicator, uint32_t number)
{
    if (!communicator->over || !communicator->endings ||
        communicator->over[number % NUMBERS] != number)
        return ENDING_NONE;
    return (enum ending)communicator->endings[number % NUMBERS];
}

/* Whether so many later ones are finished that this one is not remembered. */
static bool is_forgotten(const struct communicator *communicator, uint32_t number)
{
    return communicator->over && communicator->endings &&
           communicator->endings[number % NUMBERS] != ENDING_NONE &&
           is_before(number, communicator->over[number % NUMBERS]);
}

/* Whether a part is missing because the first instance seen of a member is later. */
static bool is_beginning(const struct open_instance *instance)
{
    const struct communicator *communicator = instance->communicator;

    for (int rank = 0; rank < communicator->size; rank++) {
        const struct member *member = &communicator->members[rank];

        if (!instance->arrivals[rank].known && member->seen &&
            is_before(instance->number, member->first))
            return true;
    }
    return false;
}

/* Whether a missing member was seen in a later operation. */
static bool was_passed(const struct open_instance *instance)
{
    const struct communicator *communicator = instance->communicator;

    for (int rank = 0; rank < communicator->size; rank++) {
        const struct member *member = &communicator->members[rank];

        if (!instance->arrivals[rank].known && member->seen &&
            is_before(instance->number, member->newest))
            return true;
    }
    return false;
}

/* --- Finishing instances ---------------------------------------------------------- */

/* Work is the time between two consecutive operations; nonblocking ones may finish at
 * any time. */
static double find_imbalance(struct open_instance *instance)
{
    struct communicator *communicator = instance->communicator;
    int size = communicator->size;
    bool known = communicator->has_done && !instance->traits.nonblocking &&
                 instance->number == communicator->done + 1;
    double sum = 0;
    uint64_t slowest = 0;

    for (int rank = 0; rank < size && known; rank++) {
        struct esi_collective_arrival *arrival = &instance->arrivals[rank];
        uint64_t before_ns = communicator->members[rank].exit_ns;

        arrival->work_ns =
            arrival->enter_ns > before_ns ? arrival->enter_ns - before_ns : 0;
        sum += (double)arrival->work_ns;
        slowest = arrival->work_ns > slowest ? arrival->work_ns : slowest;
    }
    for (int rank = 0; rank < size; rank++)
        communicator->members[rank].exit_ns = instance->arrivals[rank].exit_ns;
    communicator->has_done = !instance->traits.nonblocking;
    communicator->done = instance->number;
    return known && sum > 0 ? (double)slowest * size / sum - 1 : -1;
}

static void describe_instance(const struct esi_collectives *analysis,
                              struct open_instance *open,
                              struct esi_collective_instance *ret_instance)
{
    const struct communicator *communicator = open->communicator;
    uint64_t error_ns = open->errors_ns[0] + open->errors_ns[1];
    struct esi_collective_instance instance = {
        .key = {communicator->key[0], communicator->key[1]},
        .communicator = communicator->name,
        .operation = open->traits.family,
        .instance = open->number,
        .tree = open->tree,
        .version = open->version,
        .size = communicator->size,
        .root = open->root,
        .bytes = open->most_bytes,
        .imbalance = -1,
        .error_ns = error_ns < open->errors_ns[0] ? UINT64_MAX : error_ns,
    };

    if (analysis->config.by_size)
        instance.size_class = esi_size_class_of(open->most_bytes);
    if (open->clock != 0)
        instance.error_ns = ES_SAME_CLOCK_ERROR_NS;
    esi_collective_judge(&open->traits, open->least_bytes > 0, open->arrivals,
                         open->order, &instance);
    *ret_instance = instance;
}

static void give_instance(const struct esi_collectives *analysis,
                          const struct esi_collective_instance *instance)
{
    if (analysis->config.on_instance)
        analysis->config.on_instance(analysis->config.data, instance);
}

static void complete_instance(struct esi_collectives *analysis,
                              struct open_instance *open)
{
    struct esi_collective_instance instance;

    describe_instance(analysis, open, &instance);
    instance.imbalance = find_imbalance(open);
    analysis->counts.complete++;
    analysis->counts.repaired += instance.repaired;
    analysis->counts.impossible += instance.impossible;
    remember_communicator(open->communicator, open->number, ENDING_COMPLETE);
    give_instance(analysis, &instance);
    end_instance(analysis, open);
}

static void give_up(struct esi_collectives *analysis, struct open_instance *open)
{
    struct esi_collective_instance instance;

    /* All that is known is that it used a tree. */
    if (open->known == 0) {
        end_instance(analysis, open);
        return;
    }
    describe_instance(analysis, open, &instance);
    if (is_beginning(open))
        analysis->counts.beginnings++;
    else
        analysis->counts.incomplete++;
    remember_communicator(open->communicator, open->number, ENDING_GIVEN_UP);
    give_instance(analysis, &instance);
    end_instance(analysis, open);
}

void esi_collectives_expire(struct esi_collectives *analysis, uint64_t now_ns)
{
    uint64_t patience_ns = analysis->config.patience_ns;

    ESI_LIST_FOREACH_SAFE(struct open_instance, open, &analysis->open.waiting,
                          end.link) {
        uint64_t age_ns = now_ns > open->newest_ns ? now_ns - open->newest_ns : 0;

        if (age_ns / LAST_RESORT >= patience_ns ||
            (age_ns >= patience_ns && was_passed(open)))
            give_up(analysis, open);
    }
}

void esi_collectives_finish(struct esi_collectives *analysis)
{
    struct open_instance *oldest;

    while ((oldest = esi_ends_oldest(&analysis->open)) != NULL)
        give_up(analysis, oldest);
}

/* --- Adding ----------------------------------------------------------------------- */

static bool is_sound(const struct esi_collective_call *call)
{
    return call->size > 0 && call->rank >= 0 && call->rank < call->size &&
           call->enter_ns > 0 && call->exit_ns >= call->enter_ns &&
           call->root < call->size;
}

static void take_part(struct open_instance *open,
                      const struct esi_collective_call *call)
{
    struct esi_collective_arrival *arrival = &open->arrivals[call->rank];
    uint64_t error_ns = call->error_ns;

    if (open->known == 0) {
        open->clock = call->clock;
        open->root = call->root;
    } else if (open->clock != call->clock) {
        open->clock = 0;
    }
    arrival->known = true;
    arrival->world_rank = call->world_rank;
    arrival->site = call->site;
    arrival->enter_ns = call->enter_ns;
    arrival->exit_ns = call->exit_ns;
    open->known++;
    if (call->bytes > open->most_bytes)
        open->most_bytes = call->bytes;
    if (call->bytes < open->least_bytes)
        open->least_bytes = call->bytes;
    if (call->exit_ns > open->newest_ns)
        open->newest_ns = call->exit_ns;
    if (call->tree && !open->tree) {
        open->tree = true;
        open->version = call->version;
    }
    if (error_ns > open->errors_ns[0]) {
        open->errors_ns[1] = open->errors_ns[0];
        open->errors_ns[0] = error_ns;
    } else if (error_ns > open->errors_ns[1]) {
        open->errors_ns[1] = error_ns;
    }
}

/* The open instance of a call, created if necessary; if NULL, *ret_result has the
 * reason. */
static struct open_instance *open_for(struct esi_collectives *analysis,
                                      struct communicator *communicator,
                                      const struct esi_collective_call *call,
                                      int *ret_result)
{
    struct open_instance *open = find_instance(analysis, communicator, call->instance);

    if (open)
        return open;
    switch (ending_of(communicator, call->instance)) {
    case ENDING_COMPLETE:
        analysis->counts.duplicates++;
        *ret_result = -EEXIST;
        return NULL;
    case ENDING_GIVEN_UP:
        analysis->counts.late++;
        *ret_result = -ESTALE;
        return NULL;
    default:
        open = begin_instance(analysis, communicator, call);
        if (!open)
            *ret_result = -ENOMEM;
        return open;
    }
}

static bool fits_instance(const struct open_instance *open,
                          const struct esi_collective_traits *traits,
                          const struct esi_collective_call *call)
{
    return open->known == 0 ||
           (open->traits.family == traits->family && open->root == call->root);
}

/* Gives up the oldest if there are too many. */
static void make_room(struct esi_collectives *analysis)
{
    struct open_instance *oldest = esi_ends_excess(&analysis->open);

    if (!oldest)
        return;
    analysis->counts.crowded++;
    give_up(analysis, oldest);
}

static int add_to(struct esi_collectives *analysis,
                  struct communicator *communicator,
                  const struct esi_collective_traits *traits,
                  const struct esi_collective_call *call)
{
    int result = 0;
    struct open_instance *open = open_for(analysis, communicator, call, &result);

    if (!open)
        return result;
    if (!fits_instance(open, traits, call)) {
        analysis->counts.mismatched++;
        return -EPROTO;
    }
    if (open->arrivals[call->rank].known) {
        analysis->counts.duplicates++;
        return -EEXIST;
    }
    open->traits = *traits;
    take_part(open, call);
    take_name(communicator, call->communicator);
    note_member(&communicator->members[call->rank], call->instance);
    analysis->counts.calls++;
    if (open->known == communicator->size)
        complete_instance(analysis, open);
    else
        make_room(analysis);
    return 0;
}

/* Fast path: consecutive calls usually have the same operation. */
static bool find_traits(struct esi_collectives *analysis, uint16_t operation)
{
    if (analysis->operation != 0 && analysis->operation == operation)
        return true;
    analysis->operation = 0;
    if (!esi_collective_traits(operation, &analysis->traits))
        return false;
    analysis->operation = operation;
    return true;
}

int esi_collectives_add(struct esi_collectives *analysis,
                        const struct esi_collective_call *call)
{
    struct communicator *communicator;

    if (!is_sound(call) || !find_traits(analysis, call->operation)) {
        analysis->counts.invalid++;
        return -EINVAL;
    }
    communicator = find_communicator(analysis, call);
    if (!communicator)
        return -ENOMEM;
    if (communicator->size != call->size) {
        analysis->counts.invalid++;
        return -EINVAL;
    }
    return add_to(analysis, communicator, &analysis->traits, call);
}

int esi_collectives_add_tree(struct esi_collectives *analysis,
                             const struct esi_collective_call *call)
{
    struct communicator *communicator;
    struct open_instance *open;

    if (call->size <= 0)
        return -EINVAL;
    communicator = find_communicator(analysis, call);
    if (!communicator)
        return -ENOMEM;
    if (communicator->size != call->size)
        return -EINVAL;
    open = find_instance(analysis, communicator, call->instance);
    if (!open && (ending_of(communicator, call->instance) != ENDING_NONE ||
                  is_forgotten(communicator, call->instance)))
        return 0;
    if (!open)
        open = begin_instance(analysis, communicator, call);
    if (!open)
        return -ENOMEM;
    open->tree = true;
    open->version = call->version;
    if (call->exit_ns > open->newest_ns)
        open->newest_ns = call->exit_ns;
    make_room(analysis);
    return 0;
}

void esi_collectives_counts(const struct esi_collectives *analysis,
                            struct esi_collectives_counts *ret_counts)
{
    *ret_counts = analysis->counts;
    ret_counts->open = analysis->open.weight;
}
