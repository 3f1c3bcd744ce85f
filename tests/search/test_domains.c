/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_domains.c - values of classes: partners (D12), times,
 * comparisons, sets, dropping. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/search/domains/domains.h"
#include "tests/search/small_set.h"
#include "tests/suites.h"

/* --- A file and the events of its classes ----------------------------------------- */

struct fixture {
    struct es_pattern_file *file;
    struct esi_domains *domains;
    struct small_set set;
};

static void parse(struct fixture *fixture, const char *text)
{
    struct es_error error = {.text = ""};

    if (es_pattern_file_parse(text, strlen(text), "test", &fixture->file, &error) < 0)
        fail_msg("%s", error.text);
}

static void sort_events(struct fixture *fixture,
                        const struct esi_domains_listener *listener)
{
    struct es_set_sink sink;
    struct es_error error;

    assert_int_equal(0, esi_domains_create(fixture->file, NULL, listener,
                                           &fixture->domains, &error));
    sink = esi_domains_sink(fixture->domains);
    assert_int_equal(0, small_set_stream(&fixture->set, NULL, &sink));
    assert_int_equal(0, esi_domains_finish(fixture->domains));
}

static void tear_down(struct fixture *fixture)
{
    esi_domains_destroy(fixture->domains);
    es_pattern_file_destroy(fixture->file);
}

/* The class of the first occurrence of a predicate. */
static uint32_t class_of(const struct fixture *fixture, const char *name)
{
    uint32_t predicate = es_pattern_find(fixture->file, name);

    assert_int_not_equal(ES_PATTERN_NONE, predicate);
    return esi_pattern_predicate(fixture->file, predicate)->occurrences[0].class_number;
}

static const struct esi_domain *domain_of(const struct fixture *fixture,
                                          const char *name)
{
    return esi_domains_class(fixture->domains, class_of(fixture, name));
}

static uint64_t events_of(const struct fixture *fixture,
                          const struct esi_domain *domain)
{
    uint64_t events = 0;

    for (uint32_t slot = 0; slot < esi_domain_slots(domain); slot++) {
        struct esi_domain_column column = esi_domain_column(domain, slot);
        for (uint32_t i = 0; i < column.count; i++) {
            struct es_event_id id = {column.trace, column.indexes[i]};
            if (i > 0)
                assert_true(column.indexes[i - 1] < column.indexes[i]);
            events |= SMALL_BIT(small_set_find(&fixture->set, id));
        }
    }
    return events;
}

/* The value that stands for event `number`. */
static struct esi_domain_value value_of(const struct fixture *fixture,
                                        const struct esi_domain *domain,
                                        uint32_t number)
{
    struct esi_domain_value value;

    assert_true(esi_domain_find(domain, fixture->set.events[number].id, &value));
    return value;
}

/* --- The computation X of the semantics ------------------------------------------- */

enum { P1, P2, Q1, Q2, R1 };

static void make_x(struct small_set *set)
{
    uint32_t p, q, r;

    small_set_init(set);
    p = small_set_trace(set, "P");
    q = small_set_trace(set, "Q");
    r = small_set_trace(set, "R");
    small_set_event(set, p, ES_EVENT_SEND, "A", "", 0);
    small_set_event(set, p, ES_EVENT_UNARY, "B", "", 0);
    small_set_event(set, q, ES_EVENT_RECEIVE, "B", "", SMALL_BIT(P1));
    small_set_event(set, q, ES_EVENT_UNARY, "C", "", 0);
    small_set_event(set, r, ES_EVENT_UNARY, "C", "", 0);
    small_set_close(set);
}

static void the_examples_of_the_semantics_hold(void **state)
{
    static const struct {
        const char *class_text;
        uint64_t events;
    } rows[] = {
        {"[\"\", \"A\", \"\"]", SMALL_BIT(P1)},
        {"[\"\", \"B\", \"\"]", SMALL_BIT(P2) | SMALL_BIT(Q1)},
        {"[\"P\", \"\", \"\"].[\"Q\", \"\", \"\"]", SMALL_BIT(P1)},
        {"[\"Q\", \"\", \"\"].[\"P\", \"A\", \"\"]", SMALL_BIT(Q1)},
        {"[\"Q\", \"\", \"\"].[\"P\", \"B\", \"\"]", 0},
        {"[\"\", \"\", \"\"].[\"\", \"\", \"\"]", SMALL_BIT(P1) | SMALL_BIT(Q1)},
        {"[\"\", \"\", \"\"]", 31},
        {"[\"type\" = \"C\", \"process\" = \"R\"]", SMALL_BIT(R1)},
    };
    struct fixture fixture;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[128];
        snprintf(text, sizeof text, "Q := %s;", rows[i].class_text);
        parse(&fixture, text);
        make_x(&fixture.set);
        sort_events(&fixture, NULL);
        assert_int_equal(rows[i].events, events_of(&fixture, domain_of(&fixture, "Q")));
        tear_down(&fixture);
    }
}

static void only_classes_of_occurrences_are_kept(void **state)
{
    struct fixture fixture;
    const struct esi_domain *b;
    struct esi_domain_value value = {9, 9};

    (void)state;
    parse(&fixture, "A := [\"\", \"A\", \"\"]; B := [\"\", \"B\", \"\"];"
                    "Q := B.A; Z := [\"\", \"Z\", \"\"];");
    make_x(&fixture.set);
    sort_events(&fixture, NULL);
    b = domain_of(&fixture, "B");
    assert_true(esi_domain_is_single(b));
    assert_int_equal(2, esi_domain_count(b));
    assert_int_equal(2, esi_domain_slots(b));
    assert_int_equal(0, esi_domain_slot_of(b, 0));
    assert_int_equal(1, esi_domain_slot_of(b, 1));
    assert_int_equal(ES_PATTERN_NONE, esi_domain_slot_of(b, 2));
    assert_int_equal(ES_PATTERN_NONE, esi_domain_slot_of(b, 77));
    assert_false(esi_domain_find(b, (struct es_event_id){0, 1}, &value));
    assert_false(esi_domain_find(b, (struct es_event_id){2, 1}, &value));
    assert_int_equal(9, value.slot);
    assert_string_equal("B", esi_domain_type(b, value_of(&fixture, b, Q1)));
    assert_int_equal(SMALL_BIT(Q1), events_of(&fixture, domain_of(&fixture, "Q")));
    assert_int_equal(0, esi_domain_count(domain_of(&fixture, "Z")));
    assert_string_equal("R", esi_domains_trace_name(fixture.domains, 2));
    assert_null(esi_domains_trace_name(fixture.domains, 3));
    assert_false(esi_domains_need_attributes(fixture.domains));
    tear_down(&fixture);
}

/* --- Partners --------------------------------------------------------------------- */

static void a_send_of_several_receives_joins_once(void **state)
{
    struct fixture fixture;
    uint32_t p, q, send, receive;

    (void)state;
    parse(&fixture, "S := [kind = \"send\"]; R := [kind = \"receive\"];"
                    "SR := S.R; RS := R.S; SS := S.S;");
    small_set_init(&fixture.set);
    p = small_set_trace(&fixture.set, "P");
    q = small_set_trace(&fixture.set, "Q");
    send = small_set_event(&fixture.set, p, ES_EVENT_SEND, "x", "", 0);
    small_set_event(&fixture.set, p, ES_EVENT_SEND, "y", "", 0);
    receive =
        small_set_event(&fixture.set, q, ES_EVENT_RECEIVE, "", "", SMALL_BIT(send));
    small_set_event(&fixture.set, q, ES_EVENT_RECEIVE, "", "", SMALL_BIT(send));
    small_set_event(&fixture.set, q, ES_EVENT_RECEIVE, "", "", 0);
    small_set_close(&fixture.set);
    sort_events(&fixture, NULL);
    assert_int_equal(SMALL_BIT(send), events_of(&fixture, domain_of(&fixture, "SR")));
    assert_int_equal(1, esi_domain_count(domain_of(&fixture, "SR")));
    assert_string_equal("x", esi_domain_type(domain_of(&fixture, "SR"),
                                             (struct esi_domain_value){0, 0}));
    assert_int_equal(SMALL_BIT(receive) | SMALL_BIT(receive + 1),
                     events_of(&fixture, domain_of(&fixture, "RS")));
    assert_int_equal(0, esi_domain_count(domain_of(&fixture, "SS")));
    tear_down(&fixture);
}

static void halves_of_a_sync_are_partners(void **state)
{
    struct fixture fixture;
    uint32_t p, q, sync;

    (void)state;
    parse(&fixture, "PQ := [\"P\", \"\", \"\"].[\"Q\", \"\", \"\"];"
                    "QP := [\"Q\", \"\", \"\"].[\"P\", \"\", \"\"];");
    small_set_init(&fixture.set);
    p = small_set_trace(&fixture.set, "P");
    q = small_set_trace(&fixture.set, "Q");
    small_set_event(&fixture.set, p, ES_EVENT_UNARY, "", "", 0);
    sync = small_set_sync(&fixture.set, p, q, "sync");
    small_set_close(&fixture.set);
    sort_events(&fixture, NULL);
    assert_int_equal(SMALL_BIT(sync), events_of(&fixture, domain_of(&fixture, "PQ")));
    assert_int_equal(SMALL_BIT(sync + 1),
                     events_of(&fixture, domain_of(&fixture, "QP")));
    tear_down(&fixture);
}

/* A send is received twice. The first receive joins a class only
 * because of the second. */
static void who_joins_late_lets_partners_join(void **state)
{
    struct fixture fixture;
    uint32_t p, q, send, first, last;

    (void)state;
    parse(&fixture, "X := [\"\", \"x\", \"\"]; S := [kind = \"send\"]; SX := S.X;"
                    "F := [\"\", \"first\", \"\"]; Q := F.SX; QQ := S.Q;");
    small_set_init(&fixture.set);
    p = small_set_trace(&fixture.set, "P");
    q = small_set_trace(&fixture.set, "Q");
    send = small_set_event(&fixture.set, p, ES_EVENT_SEND, "", "", 0);
    first = small_set_event(&fixture.set, q, ES_EVENT_RECEIVE, "first", "",
                            SMALL_BIT(send));
    last = small_set_event(&fixture.set, q, ES_EVENT_RECEIVE, "x", "", SMALL_BIT(send));
    small_set_close(&fixture.set);
    sort_events(&fixture, NULL);
    assert_int_equal(SMALL_BIT(last), events_of(&fixture, domain_of(&fixture, "X")));
    assert_int_equal(SMALL_BIT(send), events_of(&fixture, domain_of(&fixture, "SX")));
    assert_int_equal(SMALL_BIT(first), events_of(&fixture, domain_of(&fixture, "Q")));
    assert_int_equal(SMALL_BIT(send), events_of(&fixture, domain_of(&fixture, "QQ")));
    tear_down(&fixture);
}

struct told {
    const struct fixture *fixture;
    char text[256];
};

static int note(void *data, uint32_t class_number, struct es_event_id id)
{
    struct told *told = data;
    const struct esi_domain *domain =
        esi_domains_class(told->fixture->domains, class_number);
    struct esi_domain_value value;
    size_t length = strlen(told->text);

    assert_true(esi_domain_find(domain, id, &value));
    snprintf(told->text + length, sizeof told->text - length, "%s%u.%u",
             length ? " " : "", id.trace, id.index);
    return 0;
}

/* Sends are received in reverse order; columns are sorted at any time. */
static void listeners_are_told_of_those_that_join(void **state)
{
    struct fixture fixture;
    struct told told = {.fixture = &fixture};
    struct esi_domains_listener listener = {.joined = note, .data = &told};
    uint32_t p, q;

    (void)state;
    parse(&fixture, "SR := [\"\", \"s\", \"\"].[\"\", \"r\", \"\"];");
    small_set_init(&fixture.set);
    p = small_set_trace(&fixture.set, "P");
    q = small_set_trace(&fixture.set, "Q");
    for (unsigned i = 0; i < 3; i++)
        small_set_event(&fixture.set, p, ES_EVENT_SEND, "s", "", 0);
    for (unsigned i = 3; i > 0; i--)
        small_set_event(&fixture.set, q, ES_EVENT_RECEIVE, "r", "", SMALL_BIT(i - 1));
    small_set_close(&fixture.set);
    sort_events(&fixture, &listener);
    assert_string_equal("0.3 0.2 0.1", told.text);
    assert_int_equal(7, events_of(&fixture, domain_of(&fixture, "SR")));
    tear_down(&fixture);
}

static int note_kept(void *data, const struct es_set_event *event)
{
    struct told *told = data;
    size_t length = strlen(told->text);

    snprintf(told->text + length, sizeof told->text - length, "%s%u.%u",
             length ? " " : "", event->id.trace, event->id.index);
    return 0;
}

/* Events without a class and events that cannot have a partner are not reported; an
 * event of two classes is reported once. */
static void listeners_are_told_once_of_those_that_are_kept(void **state)
{
    struct fixture fixture;
    struct told told = {.fixture = &fixture};
    struct esi_domains_listener listener = {.kept = note_kept, .data = &told};
    uint32_t p, q;

    (void)state;
    parse(&fixture, "A := [\"\", \"a\", \"\"]; B := [\"Q\", \"\", \"\"]; AB := A || B;"
                    "SR := [\"\", \"s\", \"\"].[\"\", \"r\", \"\"];");
    small_set_init(&fixture.set);
    p = small_set_trace(&fixture.set, "P");
    q = small_set_trace(&fixture.set, "Q");
    small_set_event(&fixture.set, p, ES_EVENT_SEND, "s", "", 0);
    small_set_event(&fixture.set, p, ES_EVENT_UNARY, "s", "", 0);
    small_set_event(&fixture.set, p, ES_EVENT_UNARY, "b", "", 0);
    small_set_event(&fixture.set, p, ES_EVENT_UNARY, "a", "", 0);
    small_set_event(&fixture.set, q, ES_EVENT_UNARY, "a", "", 0);
    small_set_close(&fixture.set);
    sort_events(&fixture, &listener);
    assert_string_equal("0.1 0.4 1.1", told.text);
    tear_down(&fixture);
}

static int refuse(void *data, uint32_t class_number, struct es_event_id id)
{
    (void)data;
    (void)class_number;
    (void)id;
    return -77;
}

static void a_listener_ends_the_stream(void **state)
{
    struct esi_domains_listener listener = {.joined = refuse};
    struct fixture fixture;
    struct es_set_sink sink;
    struct es_error error;

    (void)state;
    parse(&fixture, "Q := [\"Q\", \"\", \"\"].[\"\", \"\", \"\"];");
    make_x(&fixture.set);
    assert_int_equal(
        0, esi_domains_create(fixture.file, NULL, &listener, &fixture.domains, &error));
    sink = esi_domains_sink(fixture.domains);
    assert_int_equal(-77, small_set_stream(&fixture.set, NULL, &sink));
    tear_down(&fixture);
}

/* --- Facts about values ----------------------------------------------------------- */

static void partners_are_kept_for_the_received_operator(void **state)
{
    struct fixture fixture;
    const struct esi_domain *s, *r, *w;
    const struct es_event_id *partners;
    struct esi_domain *sets;
    struct esi_domain_value set = {0, 0};
    struct es_event_id events[2];
    uint32_t p, q;

    (void)state;
    parse(&fixture, "S := [\"\", \"s\", \"\"]; R := [\"\", \"r\", \"\"]; W := R.S;"
                    "RR := R & R; Q := S => W; Q2 := S => RR;");
    small_set_init(&fixture.set);
    p = small_set_trace(&fixture.set, "P");
    q = small_set_trace(&fixture.set, "Q");
    small_set_event(&fixture.set, p, ES_EVENT_SEND, "s", "", 0);
    small_set_event(&fixture.set, p, ES_EVENT_SEND, "s", "", 0);
    small_set_event(&fixture.set, q, ES_EVENT_RECEIVE, "r", "", 3);
    small_set_event(&fixture.set, q, ES_EVENT_RECEIVE, "r", "", 0);
    small_set_close(&fixture.set);
    sort_events(&fixture, NULL);
    s = domain_of(&fixture, "S");
    r = domain_of(&fixture, "R");
    w = domain_of(&fixture, "W");
    assert_int_equal(2, esi_domain_partners(w, value_of(&fixture, w, 2), &partners));
    assert_int_equal(0, esi_domain_partners(r, value_of(&fixture, r, 3), &partners));
    assert_int_equal(0, esi_domain_partners(s, value_of(&fixture, s, 0), &partners));
    assert_true(esi_domain_is_received(s, value_of(&fixture, s, 1), w,
                                       value_of(&fixture, w, 2)));
    assert_false(esi_domain_is_received(w, value_of(&fixture, w, 2), s,
                                        value_of(&fixture, s, 1)));
    assert_false(esi_domain_is_received(s, value_of(&fixture, s, 1), r,
                                        value_of(&fixture, r, 3)));

    assert_int_equal(0, esi_domain_create_sets(fixture.domains, &sets));
    events[0] = fixture.set.events[2].id;
    events[1] = fixture.set.events[3].id;
    assert_int_equal(0, esi_domain_add_set(sets, events, 2));
    assert_int_equal(0, esi_domain_add_set(sets, events + 1, 1));
    assert_true(esi_domain_is_received(s, value_of(&fixture, s, 0), sets, set));
    assert_false(esi_domain_is_received(sets, set, s, value_of(&fixture, s, 0)));
    set.position = 1;
    assert_false(esi_domain_is_received(s, value_of(&fixture, s, 0), sets, set));
    esi_domain_destroy(sets);
    tear_down(&fixture);
}

static void values_know_when_they_happened(void **state)
{
    struct fixture fixture;
    const struct esi_domain *a;
    struct esi_domain *sets;
    int64_t first = 1, last = 1;
    uint32_t p;

    (void)state;
    parse(&fixture, "A := [\"\", \"a\", \"\"]; Q := (A --> A) within 5ms;");
    small_set_init(&fixture.set);
    p = small_set_trace(&fixture.set, "P");
    small_set_event(&fixture.set, p, ES_EVENT_SEND, "a", "", 0);
    small_set_number(&fixture.set, "start", 10);
    small_set_number(&fixture.set, "stop", 20);
    small_set_event(&fixture.set, p, ES_EVENT_RECEIVE, "a", "", SMALL_BIT(0));
    small_set_number(&fixture.set, "start", 30);
    small_set_text(&fixture.set, "stop", "40");
    small_set_event(&fixture.set, p, ES_EVENT_UNARY, "a", "", 0);
    small_set_number(&fixture.set, "start", 50);
    small_set_number(&fixture.set, "time", 45);
    small_set_event(&fixture.set, p, ES_EVENT_UNARY, "a", "", 0);
    small_set_text(&fixture.set, "start", "soon");
    small_set_close(&fixture.set);
    sort_events(&fixture, NULL);
    assert_true(esi_domains_need_attributes(fixture.domains));
    a = domain_of(&fixture, "A");
    for (uint32_t i = 0; i < 3; i++) {
        static const int64_t times[] = {10, 40, 45};
        assert_true(esi_domain_time(a, value_of(&fixture, a, i), &first, &last));
        assert_int_equal(times[i], first);
        assert_int_equal(times[i], last);
    }
    assert_false(esi_domain_time(a, value_of(&fixture, a, 3), &first, &last));

    assert_int_equal(0, esi_domain_create_sets(fixture.domains, &sets));
    for (uint32_t count = 0; count <= 4; count++) {
        struct es_event_id events[4];
        for (uint32_t i = 0; i < count; i++)
            events[i] = fixture.set.events[i].id;
        assert_int_equal(0, esi_domain_add_set(sets, events, count));
    }
    assert_true(esi_domain_time(sets, (struct esi_domain_value){0, 3}, &first, &last));
    assert_int_equal(10, first);
    assert_int_equal(45, last);
    assert_false(esi_domain_time(sets, (struct esi_domain_value){0, 0}, &first, &last));
    assert_false(esi_domain_time(sets, (struct esi_domain_value){0, 4}, &first, &last));
    esi_domain_destroy(sets);
    tear_down(&fixture);
}

/* Evaluates a comparison of $a and $b, two events with an attribute x each. */
static bool compare(const char *comparison, const char *a, const char *b)
{
    struct fixture fixture;
    const struct esi_pattern_node *node;
    const struct esi_domain *domain;
    struct esi_domain_value left, right;
    char text[256];
    bool holds;
    uint32_t p;

    snprintf(text, sizeof text,
             "E := [\"\", \"\", \"\"]; E $a, $b; Q := ($a --> $b) & %s;", comparison);
    parse(&fixture, text);
    small_set_init(&fixture.set);
    p = small_set_trace(&fixture.set, "P");
    small_set_event(&fixture.set, p, ES_EVENT_UNARY, "t", "", 0);
    if (a)
        small_set_text(&fixture.set, "x", a);
    small_set_event(&fixture.set, p, ES_EVENT_UNARY, "u", "", 0);
    if (b)
        small_set_text(&fixture.set, "x", b);
    else
        small_set_number(&fixture.set, "x", 7);
    small_set_close(&fixture.set);
    sort_events(&fixture, NULL);
    node =
        esi_pattern_predicate(fixture.file, es_pattern_find(fixture.file, "Q"))->root;
    node = node->right;
    assert_int_equal(ES_NODE_COMPARE, node->kind);
    domain = domain_of(&fixture, "E");
    left = value_of(&fixture, domain, node->operands[0].occurrence == 0 ? 0 : 1);
    right = value_of(&fixture, domain, node->operands[1].occurrence == 0 ? 0 : 1);
    holds = esi_domain_compare(node, domain, left, domain, right);
    tear_down(&fixture);
    return holds;
}

static void attributes_of_two_events_are_compared(void **state)
{
    static const struct {
        const char *comparison;
        const char *a; /* NULL = no attribute */
        const char *b; /* NULL = the number 7 */
        bool holds;
    } rows[] = {
        {"$a.x = $b.x", "red", "red", true},
        {"$a.x = $b.x", "red", "Red", false},
        {"$a.x != $b.x", "red", "Red", true},
        {"$a.x = $b.x", "7", NULL, true},
        {"$a.x = $b.x", "007", NULL, true},
        {"$a.x = $b.x", "seven", NULL, false},
        {"$a.x != $b.x", "seven", NULL, true},
        {"$a.x != $b.x", NULL, "red", false},
        {"$a.x = $b.x", NULL, "red", false},
        {"$b.x != $a.x", NULL, "red", false},
        {"$a.x < $b.x", "6", NULL, true},
        {"$a.x < $b.x", "7", NULL, false},
        {"$a.x <= $b.x", "7", NULL, true},
        {"$b.x > $a.x", "6", NULL, true},
        {"$a.x < $b.x", "a", "b", false},
        {"$a.x >= $b.x", "b", "a", false},
        {"$a.x >= 1KiB", "1024", "", true},
        {"$a.x != 3", "4", "", true},
        {"$a.x != 3", "four", "", false},
        {"$a.x = \"four\"", "four", "", true},
        {"$a.x != \"four\"", "five", "", true},
        {"$a.x = \"4\"", "4", "", true},
        {"$a.x =~ \"^f.*r$\"", "four", "", true},
        {"$a.x =~ \"^f.*r$\"", "five", "", false},
        {"$a.x !~ \"^f.*r$\"", "five", "", true},
        {"$a.x !~ \"^f.*r$\"", NULL, "", false},
        {"$b.x =~ \"^7$\"", NULL, NULL, true},
        {"$a.type = \"t\"", NULL, NULL, true},
        {"$a.type = $b.type", NULL, NULL, false},
        {"$a.process = $b.process", NULL, NULL, true},
        {"$a.kind = \"unary\"", NULL, NULL, true},
        {"$a.text = $b.text", NULL, NULL, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (compare(rows[i].comparison, rows[i].a, rows[i].b) != rows[i].holds)
            fail_msg("%s of %s and %s", rows[i].comparison, rows[i].a ? rows[i].a : "-",
                     rows[i].b ? rows[i].b : "7");
}

static void sets_are_values(void **state)
{
    struct es_event_id events[100], scratch;
    const struct es_event_id *given;
    struct esi_domain *sets;

    (void)state;
    for (uint32_t i = 0; i < 100; i++)
        events[i] = (struct es_event_id){i / 10, 1 + i % 10};
    assert_int_equal(0, esi_domain_create_sets(NULL, &sets));
    assert_false(esi_domain_is_single(sets));
    for (uint32_t i = 0; i <= 100; i++)
        assert_int_equal(0, esi_domain_add_set(sets, events, i));
    assert_int_equal(101, esi_domain_count(sets));
    assert_int_equal(1, esi_domain_slots(sets));
    assert_int_equal(101, esi_domain_column(sets, 0).count);
    for (uint32_t i = 0; i <= 100; i++) {
        struct esi_domain_value value = {0, i};
        assert_int_equal(i, esi_domain_events(sets, value, &scratch, &given));
        for (uint32_t k = 0; k < i; k++) {
            assert_int_equal(events[k].trace, given[k].trace);
            assert_int_equal(events[k].index, given[k].index);
        }
    }
    assert_true(esi_domain_bytes(sets) >= 5050 * sizeof *events);
    esi_domain_destroy(sets);
    esi_domain_destroy(NULL);
}

/* --- Dropping --------------------------------------------------------------------- */

static int ignore(void *data, uint32_t class_number, struct es_event_id id)
{
    (void)data;
    (void)class_number;
    (void)id;
    return 0;
}

/* The room of dropped events is used again. */
static void events_that_were_dropped_take_no_room(void **state)
{
    struct esi_domains_listener listener = {.joined = ignore};
    struct fixture fixture;
    const struct esi_domain *domain;
    struct es_set_sink sink;
    struct es_error error;
    struct esi_domain_value value;
    int64_t first, last;

    (void)state;
    parse(&fixture, "A := [\"\", \"a\", \"\"]; Q := (A --> A) within 1s;");
    assert_int_equal(
        0, esi_domains_create(fixture.file, NULL, &listener, &fixture.domains, &error));
    sink = esi_domains_sink(fixture.domains);
    assert_int_equal(0, sink.trace(sink.data, 0, "P"));
    domain = domain_of(&fixture, "A");
    for (uint32_t i = 1; i <= 100000; i++) {
        struct es_event_attribute time = {"time", NULL, i};
        struct es_set_event event = {.id = {0, i},
                                     .type = i % 3 ? "a" : "b",
                                     .text = "",
                                     .attributes = &time,
                                     .attribute_count = 1};
        assert_int_equal(0, sink.event(sink.data, &event));
        if (i > 30)
            esi_domains_drop(fixture.domains, class_of(&fixture, "A"), 0, i - 30);
    }
    assert_int_equal(21, esi_domain_count(domain));
    assert_false(esi_domain_find(domain, (struct es_event_id){0, 88}, &value));
    assert_true(esi_domain_find(domain, (struct es_event_id){0, 99998}, &value));
    assert_true(esi_domain_time(domain, value, &first, &last));
    assert_int_equal(99998, first);
    assert_true(esi_domain_bytes(domain) < 4096);
    tear_down(&fixture);
}

SUITE(test_domains)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_the_semantics_hold),
        cmocka_unit_test(only_classes_of_occurrences_are_kept),
        cmocka_unit_test(a_send_of_several_receives_joins_once),
        cmocka_unit_test(halves_of_a_sync_are_partners),
        cmocka_unit_test(who_joins_late_lets_partners_join),
        cmocka_unit_test(listeners_are_told_of_those_that_join),
        cmocka_unit_test(listeners_are_told_once_of_those_that_are_kept),
        cmocka_unit_test(a_listener_ends_the_stream),
        cmocka_unit_test(partners_are_kept_for_the_received_operator),
        cmocka_unit_test(values_know_when_they_happened),
        cmocka_unit_test(attributes_of_two_events_are_compared),
        cmocka_unit_test(sets_are_values),
        cmocka_unit_test(events_that_were_dropped_take_no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
