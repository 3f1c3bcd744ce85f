/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* partner_classes.c - finds the events that have a partner in a class. */
#include "config.h"

#include "monitors/search/domains/partner_classes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/eventset/segmented.h"

/* A class used before or after a dot, and its bits in the record of an event. */
struct dotted {
    uint32_t class_number;
    uint32_t partner_count;
    const uint32_t *partners; /* their indexes in `dotted`; none for a plain class */
    uint32_t base;            /* bit: its own conditions hold */
    uint32_t in;              /* bit: the event is in it; = base for a plain class */
    uint32_t found;           /* first of the bits for the partners */
};

/* Records of the events of a trace, starting with index `first` + 1. */
struct records {
    unsigned char *bytes;
    uint32_t *links; /* position + 1 in `links` of the last partner; 0 = none */
    uint32_t first;
    uint32_t count;
    size_t capacity;
};

struct partner_link {
    struct es_event_id other;
    uint32_t next; /* position + 1 */
};

struct joined {
    struct es_event_id id;
    uint32_t dotted;
};

struct esi_partner_classes {
    struct dotted *dotted;
    uint32_t dotted_count;
    uint32_t *partner_places; /* the memory of all `partners` */
    size_t record_bytes;
    bool keeps_links;
    struct records *records; /* by trace */
    size_t traces;
    struct esi_segmented links; /* struct partner_link */
    uint32_t unused;            /* position + 1 of the first free link; 0 = none */
    struct joined *work;        /* events that joined and whose partners have not
                                   been updated yet */
    size_t work_count;
    size_t work_capacity;
    esi_partner_joined_fn joined;
    void *data;
    uint64_t missed;
};

/* --- Bits ------------------------------------------------------------------------- */

static bool get_bit(const unsigned char *record, uint32_t bit)
{
    return record[bit / 8] >> bit % 8 & 1;
}

static void set_bit(unsigned char *record, uint32_t bit)
{
    record[bit / 8] |= (unsigned char)(1u << bit % 8);
}

/* NULL if there is no such event or it was forgotten. */
static unsigned char *record_of(const struct esi_partner_classes *partners,
                                struct es_event_id id)
{
    const struct records *records;

    if (id.trace >= partners->traces)
        return NULL;
    records = &partners->records[id.trace];
    if (id.index <= records->first || id.index > records->first + records->count)
        return NULL;
    return records->bytes +
           (size_t)(id.index - 1 - records->first) * partners->record_bytes;
}

/* Whether the record existed once. */
static bool is_forgotten(const struct esi_partner_classes *partners,
                         struct es_event_id id)
{
    return id.trace < partners->traces && id.index > 0 &&
           id.index <= partners->records[id.trace].first;
}

/* Whether an event is in a class after a dot, or would be with partners. */
static bool is_in_any(const struct esi_partner_classes *partners, struct es_event_id id)
{
    const unsigned char *record = record_of(partners, id);

    for (size_t i = 0; record && i < partners->record_bytes; i++)
        if (record[i] != 0)
            return true;
    return false;
}

/* --- Creation --------------------------------------------------------------------- */

static void find_dotted(const struct es_pattern_file *file,
                        const bool *needed,
                        bool *is_dotted,
                        uint32_t *ret_count,
                        size_t *ret_partners)
{
    uint32_t classes = esi_pattern_classes(file);
    size_t partners = 0;

    for (uint32_t c = 0; c < classes; c++) {
        const struct esi_pattern_class *class = esi_pattern_class(file, c);
        if (!needed[c] || class->partner_count == 0)
            continue;
        is_dotted[c] = true;
        for (size_t i = 0; i < class->partner_count; i++)
            is_dotted[class->partners[i]] = true;
        partners += class->partner_count;
    }
    *ret_count = 0;
    for (uint32_t c = 0; c < classes; c++)
        *ret_count += is_dotted[c];
    *ret_partners = partners;
}

/* Assigns numbers to the classes and their bits. */
static void number_dotted(struct esi_partner_classes *partners,
                          const struct es_pattern_file *file,
                          const bool *is_dotted,
                          uint32_t *place_of)
{
    uint32_t bits = 0, at = 0, places = 0;

    for (uint32_t c = 0; c < esi_pattern_classes(file); c++)
        if (is_dotted[c])
            place_of[c] = at++;
    for (uint32_t c = 0; c < esi_pattern_classes(file); c++) {
        const struct esi_pattern_class *class = esi_pattern_class(file, c);
        struct dotted *dotted = &partners->dotted[place_of[c]];
        if (!is_dotted[c])
            continue;
        *dotted = (struct dotted){.class_number = c, .base = bits, .in = bits};
        bits++;
        if (class->partner_count == 0)
            continue;
        dotted->partner_count = (uint32_t) class->partner_count;
        dotted->partners = partners->partner_places + places;
        dotted->in = bits++;
        dotted->found = bits;
        bits += dotted->partner_count;
        for (size_t i = 0; i < class->partner_count; i++) {
            partners->partner_places[places++] = place_of[class->partners[i]];
            partners->keeps_links |=
                esi_pattern_class(file, class->partners[i])->partner_count > 0;
        }
    }
    partners->record_bytes = (bits + 7) / 8;
}

static int make_dotted(struct esi_partner_classes *partners,
                       const struct es_pattern_file *file,
                       const bool *is_dotted,
                       size_t partner_count)
{
    uint32_t *place_of = calloc(esi_pattern_classes(file) + 1, sizeof *place_of);

    partners->dotted = calloc(partners->dotted_count, sizeof *partners->dotted);
    partners->partner_places = calloc(partner_count, sizeof *partners->partner_places);
    if (!place_of || !partners->dotted || !partners->partner_places) {
        free(place_of);
        return -ENOMEM;
    }
    number_dotted(partners, file, is_dotted, place_of);
    free(place_of);
    return 0;
}

int esi_partner_classes_create(const struct es_pattern_file *file,
                               const bool *is_class_needed,
                               esi_partner_joined_fn joined,
                               void *data,
                               struct esi_partner_classes **ret_partners)
{
    bool *is_dotted = calloc(esi_pattern_classes(file) + 1, sizeof *is_dotted);
    struct esi_partner_classes *partners = calloc(1, sizeof *partners);
    size_t partner_count;
    int result = -ENOMEM;

    if (!is_dotted || !partners)
        goto out;
    esi_segmented_init(&partners->links, sizeof(struct partner_link), 6);
    partners->joined = joined;
    partners->data = data;
    find_dotted(file, is_class_needed, is_dotted, &partners->dotted_count,
                &partner_count);
    if (partners->dotted_count > 0)
        result = make_dotted(partners, file, is_dotted, partner_count);
    else
        result = 0;
out:
    free(is_dotted);
    if (result < 0 || partners->dotted_count == 0) {
        esi_partner_classes_destroy(partners);
        partners = NULL;
    }
    if (result == 0)
        *ret_partners = partners;
    return result;
}

void esi_partner_classes_destroy(struct esi_partner_classes *partners)
{
    if (!partners)
        return;
    for (uint32_t trace = 0; trace < partners->traces; trace++) {
        free(partners->records[trace].bytes);
        free(partners->records[trace].links);
    }
    esi_segmented_fini(&partners->links);
    free(partners->records);
    free(partners->work);
    free(partners->partner_places);
    free(partners->dotted);
    free(partners);
}

/* --- Records ---------------------------------------------------------------------- */

static int make_trace(struct esi_partner_classes *partners, uint32_t trace)
{
    size_t traces = partners->traces;

    if (trace < traces)
        return 0;
    if (ESI_ARRAY_RESERVE(partners->records, partners->traces, (size_t)trace + 1) < 0)
        return -ENOMEM;
    memset(partners->records + traces, 0,
           (partners->traces - traces) * sizeof *partners->records);
    return 0;
}

static int reserve_record(const struct esi_partner_classes *partners,
                          struct records *records)
{
    size_t needed = records->count + 1u;

    return partners->keeps_links
               ? esi_array_grow_pair(&records->bytes, partners->record_bytes,
                                     &records->links, sizeof *records->links,
                                     &records->capacity, needed)
               : esi_array_grow(&records->bytes, &records->capacity, needed,
                                partners->record_bytes);
}

/* Adds the record of the next event of a trace, with the bits of its own conditions. */
static int add_record(struct esi_partner_classes *partners,
                      const struct es_set_event *event,
                      const uint64_t *classes)
{
    struct records *records;
    unsigned char *record;

    if (make_trace(partners, event->id.trace) < 0)
        return -ENOMEM;
    records = &partners->records[event->id.trace];
    if (records->count == records->capacity && reserve_record(partners, records) < 0)
        return -ENOMEM;
    if (records->count == 0)
        records->first = event->id.index - 1;
    record = records->bytes + records->count * partners->record_bytes;
    memset(record, 0, partners->record_bytes);
    if (partners->keeps_links)
        records->links[records->count] = 0;
    records->count++;
    for (uint32_t d = 0; event->kind != ES_EVENT_UNARY && d < partners->dotted_count;
         d++) {
        uint32_t c = partners->dotted[d].class_number;
        if (classes[c / 64] >> c % 64 & 1)
            set_bit(record, partners->dotted[d].base);
    }
    return 0;
}

/* Frees the links of a forgotten event for reuse. */
static void free_links(struct esi_partner_classes *partners, uint32_t head)
{
    while (head != 0) {
        struct partner_link *link = esi_segmented_at(&partners->links, head - 1);
        uint32_t next = link->next;

        link->next = partners->unused;
        partners->unused = head;
        head = next;
    }
}

void esi_partner_classes_forget(struct esi_partner_classes *partners,
                                uint32_t trace,
                                uint32_t index)
{
    struct records *records;
    uint32_t drop;

    if (trace >= partners->traces)
        return;
    records = &partners->records[trace];
    if (index <= records->first + 1)
        return;
    drop = index - 1 - records->first;
    if (drop > records->count)
        drop = records->count;
    /* Move records only if at most as many stay as go. */
    if (drop < records->count - drop)
        return;
    for (uint32_t i = 0; records->links && i < drop; i++)
        free_links(partners, records->links[i]);
    memmove(records->bytes, records->bytes + drop * partners->record_bytes,
            (records->count - drop) * partners->record_bytes);
    if (records->links)
        memmove(records->links, records->links + drop,
                (records->count - drop) * sizeof *records->links);
    records->first += drop;
    records->count -= drop;
}

uint64_t esi_partner_classes_missed(const struct esi_partner_classes *partners)
{
    return partners->missed;
}

uint64_t esi_partner_classes_bytes(const struct esi_partner_classes *partners)
{
    uint64_t bytes = sizeof *partners + esi_segmented_bytes(&partners->links) +
                     partners->traces * sizeof *partners->records +
                     partners->work_capacity * sizeof *partners->work;

    for (uint32_t trace = 0; trace < partners->traces; trace++)
        bytes += partners->records[trace].capacity *
                 (partners->record_bytes +
                  (partners->keeps_links ? sizeof *partners->records->links : 0));
    return bytes;
}

/* --- Joining ---------------------------------------------------------------------- */

static int push_work(struct esi_partner_classes *partners,
                     struct es_event_id id,
                     uint32_t dotted)
{
    if (ESI_ARRAY_RESERVE(partners->work, partners->work_capacity,
                          partners->work_count + 1) < 0)
        return -ENOMEM;
    partners->work[partners->work_count++] = (struct joined){id, dotted};
    return 0;
}

/* `id` has a partner in class `place`, and may join classes because of it. */
static int found_partner(struct esi_partner_classes *partners,
                         struct es_event_id id,
                         unsigned char *record,
                         uint32_t number,
                         uint32_t place)
{
    const struct dotted *dotted = &partners->dotted[number];
    bool is_in = get_bit(record, dotted->base);

    for (uint32_t i = 0; i < dotted->partner_count; i++) {
        if (dotted->partners[i] == place)
            set_bit(record, dotted->found + i);
        is_in &= get_bit(record, dotted->found + i);
    }
    if (!is_in || get_bit(record, dotted->in))
        return 0;
    set_bit(record, dotted->in);
    if (partners->keeps_links && push_work(partners, id, number) < 0)
        return -ENOMEM;
    return partners->joined(partners->data, dotted->class_number, id);
}

/* Updates `id` for a partner that is in the class `place`. */
static int report_member(struct esi_partner_classes *partners,
                         struct es_event_id id,
                         uint32_t place)
{
    unsigned char *record = record_of(partners, id);
    int result = 0;

    partners->missed += is_forgotten(partners, id);
    for (uint32_t d = 0; record && result == 0 && d < partners->dotted_count; d++) {
        const struct dotted *dotted = &partners->dotted[d];
        bool asks = false;
        for (uint32_t i = 0; i < dotted->partner_count; i++)
            asks |= dotted->partners[i] == place;
        if (asks && get_bit(record, dotted->base))
            result = found_partner(partners, id, record, d, place);
    }
    return result;
}

/* Updates `id` for all classes of its partner. */
static int tell_all(struct esi_partner_classes *partners,
                    struct es_event_id id,
                    struct es_event_id other)
{
    int result = 0;

    for (uint32_t place = 0; result == 0 && place < partners->dotted_count; place++) {
        const unsigned char *record = record_of(partners, other);
        if (record && get_bit(record, partners->dotted[place].in))
            result = report_member(partners, id, place);
    }
    return result;
}

static int add_link(struct esi_partner_classes *partners,
                    struct es_event_id id,
                    struct es_event_id other)
{
    struct records *records = &partners->records[id.trace];
    uint32_t *head;
    struct partner_link link;

    if (!record_of(partners, id))
        return 0;
    head = &records->links[id.index - 1 - records->first];
    link = (struct partner_link){other, *head};
    if (partners->unused != 0) {
        struct partner_link *free_one =
            esi_segmented_at(&partners->links, partners->unused - 1);

        *head = partners->unused;
        partners->unused = free_one->next;
        *free_one = link;
        return 0;
    }
    if (esi_segmented_count(&partners->links) >= UINT32_MAX - 1)
        return -EOVERFLOW;
    if (esi_segmented_push(&partners->links, &link) < 0)
        return -ENOMEM;
    *head = (uint32_t)esi_segmented_count(&partners->links);
    return 0;
}

/* Updates the partners of events that joined, which may then join, too. */
static int tell_partners(struct esi_partner_classes *partners)
{
    int result = 0;

    while (result == 0 && partners->work_count > 0) {
        struct joined joined = partners->work[--partners->work_count];
        const struct records *records = &partners->records[joined.id.trace];
        uint32_t at = record_of(partners, joined.id)
                          ? records->links[joined.id.index - 1 - records->first]
                          : 0;
        while (result == 0 && at != 0) {
            const struct partner_link *link =
                esi_segmented_at(&partners->links, at - 1);
            at = link->next;
            result = report_member(partners, link->other, joined.dotted);
        }
    }
    partners->work_count = 0;
    return result;
}

static int join_partners(struct esi_partner_classes *partners,
                         struct es_event_id a,
                         struct es_event_id b)
{
    int result = 0;

    if (partners->keeps_links) {
        result = add_link(partners, a, b);
        if (result == 0)
            result = add_link(partners, b, a);
    }
    if (result == 0)
        result = tell_all(partners, a, b);
    if (result == 0)
        result = tell_all(partners, b, a);
    return result < 0 ? result : tell_partners(partners);
}

int esi_partner_classes_event(struct esi_partner_classes *partners,
                              const struct es_set_event *event,
                              const uint64_t *classes)
{
    int result = add_record(partners, event, classes);

    if (result < 0 || event->kind == ES_EVENT_UNARY || event->kind == ES_EVENT_SEND)
        return result;
    /* The first half of a sync names an event that has no record yet, which is
     * ignored. */
    for (uint32_t i = 0; result == 0 && i < event->partner_count; i++)
        if (record_of(partners, event->partners[i]))
            result = join_partners(partners, event->id, event->partners[i]);
        else if (is_forgotten(partners, event->partners[i]) &&
                 is_in_any(partners, event->id))
            partners->missed++;
    return result;
}
