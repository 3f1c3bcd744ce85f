/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The examples of the semantics, by decision: the reference has the stated results, and
 * so has every engine with every option.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/search/reference_parse.h"
#include "tests/search/search_case.h"
#include "tests/suites.h"

enum { WORK = 1000000, ANY_COUNT = -1 };

/* The result of predicate Q of a text. */
struct example {
    const char *text;
    const char *matches; /* "p1,p2 q1": {p1,p2} and {q1}; "-": the empty set */
    int assignments;     /* or ANY_COUNT */
};

/* --- Event sets ------------------------------------------------------------------- */

/* The running example. */
static struct small_set make_x(void)
{
    struct small_set set;
    uint32_t p, q, r, p1;

    small_set_init(&set);
    p = small_set_trace(&set, "P");
    q = small_set_trace(&set, "Q");
    r = small_set_trace(&set, "R");
    p1 = small_set_event(&set, p, ES_EVENT_SEND, "A", "", 0);
    small_set_event(&set, p, ES_EVENT_UNARY, "B", "", 0);
    small_set_event(&set, q, ES_EVENT_RECEIVE, "B", "", SMALL_BIT(p1));
    small_set_event(&set, q, ES_EVENT_UNARY, "C", "", 0);
    small_set_event(&set, r, ES_EVENT_UNARY, "C", "", 0);
    small_set_close(&set);
    return set;
}

static const char x_classes[] = "A := [\"\", \"A\", \"\"]; B := [\"\", \"B\", \"\"];"
                                "C := [\"\", \"C\", \"\"]; D := [\"\", \"D\", \"\"];"
                                "ANY := [\"\", \"\", \"\"];";

/* u precedes v; t precedes v but not u. */
static struct small_set make_tuv(void)
{
    struct small_set set;
    uint32_t t, u;

    small_set_init(&set);
    t = small_set_event(&set, small_set_trace(&set, "T"), ES_EVENT_SEND, "T", "", 0);
    u = small_set_event(&set, small_set_trace(&set, "U"), ES_EVENT_SEND, "U", "", 0);
    small_set_event(&set, small_set_trace(&set, "V"), ES_EVENT_RECEIVE, "V", "",
                    SMALL_BIT(t) | SMALL_BIT(u));
    small_set_close(&set);
    return set;
}

/* u precedes only c1, and v only c2; here these are c1 and d1. */
static struct small_set make_uvc(void)
{
    struct small_set set;
    uint32_t u, v;

    small_set_init(&set);
    u = small_set_event(&set, small_set_trace(&set, "U"), ES_EVENT_SEND, "u", "", 0);
    v = small_set_event(&set, small_set_trace(&set, "V"), ES_EVENT_SEND, "v", "", 0);
    small_set_event(&set, small_set_trace(&set, "C"), ES_EVENT_RECEIVE, "c", "",
                    SMALL_BIT(u));
    small_set_event(&set, small_set_trace(&set, "D"), ES_EVENT_RECEIVE, "c", "",
                    SMALL_BIT(v));
    small_set_close(&set);
    return set;
}

/* Two servers that accept two connections each, with other events in between. */
static struct small_set make_servers(void)
{
    static const char *const types[] = {"start", "done", "x", "start", "done"};
    static const char *const names[] = {"P", "Q"};
    struct small_set set;

    small_set_init(&set);
    for (unsigned server = 0; server < 2; server++) {
        uint32_t trace = small_set_trace(&set, names[server]);

        for (unsigned i = 0; i < 5; i++)
            small_set_event(&set, trace, ES_EVENT_UNARY, types[i], "", 0);
    }
    small_set_close(&set);
    return set;
}

/* Two traces with messages, a sync, and attributes:
 *     P: p1 send x  p2 receive y  p3 sync
 *     Q: q1 send y  q2 receive x  q3 sync  q4 unary z */
static struct small_set make_exchange(void)
{
    struct small_set set;
    uint32_t p, q, p1, q1;

    small_set_init(&set);
    p = small_set_trace(&set, "P");
    q = small_set_trace(&set, "Q");
    p1 = small_set_event(&set, p, ES_EVENT_SEND, "x", "M1(0x0x9ac5730)", 0);
    small_set_number(&set, "tag", 3);
    small_set_number(&set, "bytes", 2048);
    small_set_number(&set, "start", 1000);
    small_set_number(&set, "stop", 2000);
    q1 = small_set_event(&set, q, ES_EVENT_SEND, "y", "a*b", 0);
    small_set_number(&set, "tag", 4);
    small_set_number(&set, "start", 1000);
    small_set_number(&set, "stop", 6000);
    small_set_event(&set, p, ES_EVENT_RECEIVE, "y", "a.b", SMALL_BIT(q1));
    small_set_text(&set, "tag", "4");
    small_set_number(&set, "start", 2000);
    small_set_number(&set, "stop", 5000);
    small_set_event(&set, q, ES_EVENT_RECEIVE, "x", "axb", SMALL_BIT(p1));
    small_set_text(&set, "tag", "any");
    small_set_number(&set, "start", 7000);
    small_set_number(&set, "stop", 8000);
    small_set_number(&set, "time", 2500);
    small_set_sync(&set, p, q, "s");
    small_set_event(&set, q, ES_EVENT_UNARY, "z", "", 0);
    small_set_close(&set);
    return set;
}

static const char exchange_classes[] =
    "X := [\"\", \"x\", \"\"]; Y := [\"\", \"y\", \"\"]; Z := [\"\", \"z\", \"\"];"
    "Send := [kind = \"send\"]; Recv := [kind = \"receive\"]; S := [kind = \"sync\"];"
    "ANY := [\"\", \"\", \"\"]; NONE := [\"\", \"none\", \"\"];";

/* --- Checking --------------------------------------------------------------------- */

/* The event named "p1": the trace's name in lower case, and an index. */
static uint64_t find_event(const struct small_set *set, const char *name)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct es_event_id *id = &set->events[i].id;

        if (set->names[id->trace][0] - 'A' == name[0] - 'a' &&
            id->index == (uint32_t)(name[1] - '0'))
            return SMALL_BIT(i);
    }
    fail_msg("no event %.2s", name);
    return 0;
}

static uint64_t read_events(const struct small_set *set, const char **at)
{
    uint64_t events = 0;

    if (**at == '-')
        (*at)++;
    while (**at != ' ' && **at != '\0') {
        events |= find_event(set, *at);
        *at += 2;
        *at += **at == ',';
    }
    *at += **at == ' ';
    return events;
}

static void check_answer(const struct small_set *set,
                         const struct example *example,
                         const struct reference_answer *answer)
{
    const char *at = example->matches;
    uint32_t count = 0;

    for (; *at != '\0'; count++) {
        uint64_t events = read_events(set, &at);
        uint32_t i = 0;

        while (i < answer->count && answer->matches[i] != events)
            i++;
        if (i == answer->count)
            fail_msg("%s: match %u of \"%s\" is missing", example->text, count + 1,
                     example->matches);
    }
    if (answer->count != count)
        fail_msg("%s: %u matches, not %u", example->text, answer->count, count);
    if (example->assignments != ANY_COUNT)
        assert_int_equal(answer->assignments, example->assignments);
}

static void check_engines(const struct search_case *search,
                          const struct example *example,
                          const struct reference_answer *expected)
{
    for (size_t i = 0; i < search_case_config_count(); i++) {
        const struct search_case_config *config = search_case_config(i);
        struct es_error error = {.text = ""};
        struct search_answer answer;
        const char *fault;

        if (search_case_run(search, "Q", &config->config, &answer, &error) < 0)
            fail_msg("%s: %s: %s", example->text, config->name, error.text);
        fault = search_answer_fault(&answer, expected);
        if (fault)
            fail_msg("%s: %s: %s", example->text, config->name, fault);
        search_answer_clear(&answer);
    }
}

static void check_example(const struct small_set *set,
                          const char *classes,
                          const struct example *example)
{
    static struct reference_file file;
    struct reference_answers *answers;
    struct search_case *search;
    struct es_error error = {.text = ""};
    char text[1024];

    snprintf(text, sizeof text, "%s\n%s", classes, example->text);
    if (search_case_create(text, set, NULL, &search, &error) < 0)
        fail_msg("%s: %s", example->text, error.text);
    reference_convert(search_case_file(search), &file);
    answers = reference_search(&file, set, WORK);
    assert_string_equal(file.predicates[file.predicate_count - 1].name, "Q");
    check_answer(set, example, &answers->of[file.predicate_count - 1]);
    check_engines(search, example, &answers->of[file.predicate_count - 1]);
    reference_answers_destroy(answers);
    search_case_destroy(search);
}

static void check_examples(const struct small_set *set,
                           const char *classes,
                           const struct example *examples,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_example(set, classes, &examples[i]);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void check_x(const struct example *examples, size_t count)
{
    struct small_set set = make_x();

    check_examples(&set, x_classes, examples, count);
}

static void check_exchange(const struct example *examples, size_t count)
{
    struct small_set set = make_exchange();

    check_examples(&set, exchange_classes, examples, count);
}

/* --- Text form -------------------------------------------------------------------- */

static void a_clause_may_be_one_term(void **state)
{
    static const struct example examples[] = {
        {"Q := [\"\", \"A\", \"\"];", "p1", 1},
        {"Q := C;", "q2 r1", 2},
        {"C $c; Q := $c;", "q2 r1", 2},
        {"C ~c; Q := ~c;", "-", 1},
        {"C *c; Q := *c;", "-", 1},
        {"D *d; Q := *d;", "-", 1},
        {"Q := D;", "", 0},
    };

    (void)state;
    check_x(examples, COUNT(examples));
}

static void operators_of_one_level_group_to_the_right(void **state)
{
    static const char classes[] = "T := [\"\", \"T\", \"\"]; U := [\"\", \"U\", \"\"];"
                                  "V := [\"\", \"V\", \"\"];";
    static const struct example examples[] = {
        {"Q := A --> B --> C;", "p1,q1,q2", 1},
        {"Q := A --> B || C;", "p1,p2,q2 p1,p2,r1 p1,q1,r1", 3},
        {"Q := A --> (B || C);", "p1,p2,q2 p1,p2,r1 p1,q1,r1", 3},
        {"Q := A --> B | C & B;", "p1,p2 p1,q1 q2,p2 q2,q1 r1,p2 r1,q1", 6},
    };
    static const struct example chains[] = {
        {"Q := T --> U --> V;", "t1,u1,v1", 1},
        {"Q := (T --> U) --> V;", "", 0},
    };
    struct small_set set = make_tuv();

    (void)state;
    check_x(examples, COUNT(examples));
    check_examples(&set, classes, chains, COUNT(chains));
}

static void a_later_declaration_replaces_the_earlier(void **state)
{
    static const struct example examples[] = {
        {"A $x; B $x; Q := $x --> C;", "q1,q2", 1},
        {"A $x; P := $x; B $x; Q := P --> $x;", "p1,p2 p1,q1", 2},
        {"A $x; B *x; Q := $x --> *x;", "p1", 1},
    };

    (void)state;
    check_x(examples, COUNT(examples));
}

/* --- Occurrences and values ------------------------------------------------------- */

static void each_use_of_a_class_is_an_occurrence_of_its_own(void **state)
{
    static const struct example examples[] = {
        {"Q := (A --> B) & (A --> C);", "p1,p2,q2 p1,q1,q2", 2},
        {"Q := C & C;", "q2 r1 q2,r1", 4},
        {"C $c; Q := $c & $c;", "q2 r1", 2},
        {"C $c; C ~c; Q := $c & ~c;", "q2 r1", 2},
        {"B $b; Q := (A --> $b) & ($b --> C);", "p1,q1,q2", 1},
    };

    (void)state;
    check_x(examples, COUNT(examples));
}

static void values_of_predicates_are_their_matches(void **state)
{
    static const struct example examples[] = {
        {"BC := B --> C; BC *x; Q := A --> *x;", "p1", 1},
        {"BC := B --> C; BC *x; Q := A || *x;", "", 0},
        {"BC := B || C; BC *x; Q := A --> *x;", "p1", 1},
        {"BC := B || C; BC ~x; Q := A --> ~x;", "p1", 1},
        {"BC := B || C; Q := A --> BC;", "p1,p2,q2 p1,p2,r1 p1,q1,r1", 3},
        {"BC := B & C; Q := BC <-> BC;",
         "p2,q2 p2,r1 q1,q2 q1,r1 p2,q2,r1 q1,q2,r1 p2,q1,q2 p2,q1,r1", ANY_COUNT},
    };

    (void)state;
    check_x(examples, COUNT(examples));
}

/* Each match has its own inner universal variable (erratum 32): the start which shows
 * that P's first start and last done are no connection differs from that of Q. */
static void each_match_has_its_own_inner_universals(void **state)
{
    static const char classes[] =
        "Start := [type = \"start\"]; Done := [type = \"done\"];"
        "X := [type = \"x\"]; Start *start;"
        "CE := Start -(*start)-> Done; CE *ce;";
    static const struct example examples[] = {
        {"Q := CE;", "p1,p2 p4,p5 q1,q2 q4,q5", 4},
        {"Q := *ce !<-> (X || X);", "p3,q3", 2},
        {"Q := *ce <-> (X || X);", "", 0},
    };
    struct small_set set = make_servers();

    (void)state;
    check_examples(&set, classes, examples, COUNT(examples));
}

/* --- When a predicate holds ------------------------------------------------------- */

static void a_side_that_is_not_needed_is_left_out(void **state)
{
    static const char classes[] = "U := [\"\", \"u\", \"\"]; V := [\"\", \"v\", \"\"];"
                                  "C := [\"\", \"c\", \"\"];";
    static const struct example examples[] = {
        {"Q := (A --> B) | (A --> C);", "p1,p2 p1,q1 p1,q2", 3},
        {"C *c; Q := (A !--> *c) | (B !--> *c);", "p2", 1},
        {"Q := (A --> B) | D;", "p1,p2 p1,q1", 2},
        {"Q := A | (A & B);", "p1 p1,p2 p1,q1", 3},
    };
    static const struct example both[] = {
        {"U $u; V $v; C *c; Q := ($u !--> *c) | ($v !--> *c);", "u1,v1", 1},
        {"U $u; V ~v; C *c; Q := ($u !--> *c) | (~v !--> *c);", "u1", 1},
    };
    struct small_set set = make_uvc();

    (void)state;
    check_x(examples, COUNT(examples));
    check_examples(&set, classes, both, COUNT(both));
}

static void hidden_operands_count_where_they_stand_and_pass_up_nothing(void **state)
{
    static const struct example examples[] = {
        {"B ~b; Q := (A --> ~b) || C;", "p1,r1", 1},
        {"Q := (A --> B) || C;", "p1,p2,r1 p1,q1,r1", 2},
        {"B ~b; Q := (A --> ((~b))) || C;", "p1,r1", 1},
        {"Q := (A | B) --> C;", "p1,q2 q1,q2", 2},
        {"Q := (A & B) --> C;", "p1,p2,q2 p1,q1,q2", 2},
        {"A ~a; Q := (~a & B) --> C;", "q1,q2", 1},
        {"B *b; Q := (*b --> C) || A;", "", 0},
        {"B *b; Q := (A --> *b) || C;", "p1,r1", 1},
        {"B ~b; Q := (~b || ~b) || C;", "", 0},
        {"B ~b; C ~c; Q := (~b || ~c) || C;", "q2 r1", 2},
        {"B ~b; C ~c; Q := (~b || ~c) --> C;", "", 0},
        {"B ~b; C ~c; Q := (~b || ~c) !--> C;", "q2 r1", 2},
        {"B ~b; C ~c; Q := (~b || ~c) <-> C;", "", 0},
    };

    (void)state;
    check_x(examples, COUNT(examples));
}

static void relations_with_a_universal_without_values_hold(void **state)
{
    static const struct example examples[] = {
        {"D *d; Q := (A --> B) & (A --> *d);", "p1,p2 p1,q1", 2},
        {"D *d; Q := (B --> A) & (A --> *d);", "", 0},
        {"D *d; Q := *d --> D;", "", 0},
        {"D *d; Q := *d --> *d;", "-", 1},
        {"D *d; Q := A --> (*d & B);", "p1,p2 p1,q1", 2},
        {"Q := A -(D)-> C;", "p1,q2", 1},
        {"D *d; Q := *d --> at least 3 of B;", "-", 1},
        {"D *d; Q := A & *d.tag = 1;", "p1", 1},
        {"D *d; A $a; Q := $a & *d.tag = $a.tag;", "p1", 1},
    };

    (void)state;
    check_x(examples, COUNT(examples));
}

static void matches_are_distinct_sets_of_what_is_returned(void **state)
{
    static const struct example examples[] = {
        {"B ~b; Q := A --> ~b;", "p1", 1},
        {"Q := C || C;", "q2,r1", 2},
        {"A ~a; B ~b; Q := ~a --> ~b;", "-", 1},
        {"B *b; C *c; Q := *b --> *c;", "", 0},
        {"B ~b; Q := (A --> ~b) & B;", "p1,p2 p1,q1", 2},
        {"A ~a; Q := ~a <-> A;", "p1", 1},
    };

    (void)state;
    check_x(examples, COUNT(examples));
}

/* --- Relations -------------------------------------------------------------------- */

static void relations_are_those_of_sets(void **state)
{
    static const struct example examples[] = {
        {"Q := B <-> B;", "p2 q1", 2},
        {"Q := (A & C) <-> B;", "p1,q1,q2", 1},
        {"Q := A --> C;", "p1,q2", 1},
        {"Q := A -> C;", "p1,q2", 1},
        {"Q := A !--> C;", "p1,r1", 1},
        {"Q := B || C;", "p2,q2 p2,r1 q1,r1", 3},
        {"Q := B !|| C;", "q1,q2", 1},
        {"Q := C !<-> C;", "q2,r1", 2},
        {"Q := (A & C) --> B;", "p1,q1,r1 p1,p2,r1 p1,p2,q2", ANY_COUNT},
    };

    (void)state;
    check_x(examples, COUNT(examples));
}

static void sets_cross_and_halves_of_a_sync_are_concurrent(void **state)
{
    static const struct example examples[] = {
        {"Q := (X --> X) <-> (Y --> Y);", "p1,p2,q1,q2", 1},
        {"Q := (X --> X) --> (Y --> Y);", "", 0},
        {"Q := S || S;", "p3,q3", 2},
        {"Q := X --> S;", "p1,p3 p1,q3 q2,p3 q2,q3", 4},
        {"Q := S --> Z;", "p3,q4 q3,q4", 2},
        {"Q := S <-> S;", "p3 q3", 2},
    };

    (void)state;
    check_exchange(examples, COUNT(examples));
}

static void nothing_of_the_limit_lies_between(void **state)
{
    static const struct example examples[] = {
        {"Q := A -(ANY)-> C;", "", 0},
        {"Q := A -(ANY)-> B;", "p1,p2 p1,q1", 2},
        {"Q := A -(ANY)--> B;", "p1,p2 p1,q1", 2},
        {"ANY *x; Q := A -(*x)-> B;", "p1,p2 p1,q1", 2},
        {"Q := A -([\"\", \"C\", \"\"])-> B;", "p1,p2 p1,q1", 2},
        {"Q := A -([\"Q\", \"\", \"\"].[\"P\", \"\", \"\"])-> C;", "", 0},
        {"Q := A -(B)-> C;", "", 0},
        {"C ~c; Q := A -(D)-> ~c;", "p1", 1},
    };

    (void)state;
    check_x(examples, COUNT(examples));
}

/* --- Classes ---------------------------------------------------------------------- */

static void a_partner_makes_a_class_and_is_no_part_of_it(void **state)
{
    static const struct example examples[] = {
        {"Q := [\"P\", \"\", \"\"].[\"Q\", \"\", \"\"];", "p1", 1},
        {"Q := [\"Q\", \"\", \"\"].[\"P\", \"A\", \"\"];", "q1", 1},
        {"Q := [\"Q\", \"\", \"\"].[\"P\", \"B\", \"\"];", "", 0},
        {"Q := ANY.ANY;", "p1 q1", 2},
        {"Q := A.B;", "p1", 1},
        {"Q := [process = \"Q\"].A;", "q1", 1},
    };
    static const struct example more[] = {
        {"Q := S.S;", "p3 q3", 2},
        {"Q := Send.Recv;", "p1 q1", 2},
        {"SendX := Send.X; Q := SendX.[\"Q\", \"\", \"\"];", "p1", 1},
        {"RecvX := Recv.X; Q := Send.RecvX;", "p1", 1},
        {"Other := Recv; Third := (Other); Q := X.Third;", "p1", 1},
        {"Q := [process = \"P\"].S;", "p3", 1},
    };

    (void)state;
    check_x(examples, COUNT(examples));
    check_exchange(more, COUNT(more));
}

static void strings_match_whole_fields_with_wildcards(void **state)
{
    static const struct example examples[] = {
        {"Q := [\"*\", \"*\", \"M1(0x0x9ac5730)\"];", "p1", 1},
        {"Q := [\"\", \"\", \"M1(*)\"];", "p1", 1},
        {"Q := [\"\", \"\", \"a.b\"];", "p2", 1},
        {"Q := [\"\", \"\", \"a\\*b\"];", "q1", 1},
        {"Q := [\"\", \"\", \"a*b\"];", "p2 q1 q2", 3},
        {"Q := [\"\", \"X\", \"\"];", "", 0},
        {"Q := [kind = \"rec*\"];", "p2 q2", 2},
        {"Q := [\"tag\" = \"*\"];", "p1 p2 q1 q2", 4},
        {"Q := [\"tag\" = \"\", process = \"P\"];", "p1 p2 p3", 3},
        {"Q := [\"type\" = \"y\", \"process\" = \"P\"];", "p2", 1},
        {"Q := [\"text\" = \"\"];", "p1 p2 p3 q1 q2 q3 q4", 7},
    };

    (void)state;
    check_exchange(examples, COUNT(examples));
}

/* --- Beyond the thesis ------------------------------------------------------------ */

static void conditions_compare_numbers_and_texts(void **state)
{
    static const struct example examples[] = {
        {"Q := [bytes >= 2KiB];", "p1", 1},
        {"Q := [bytes > 2048];", "", 0},
        {"Q := [tag = 4];", "p2 q1", 2},
        {"Q := [tag != 4];", "p1", 1},
        {"Q := [tag != \"4\"];", "p1 q2", 2},
        {"Q := [tag =~ \"^[0-9]$\"];", "p1 p2 q1", 3},
        {"Q := [tag !~ \"^[0-9]$\"];", "q2", 1},
        {"Q := [duration > 1us];", "p2 q1", 2},
        {"Q := [duration <= 1us, kind = \"send\"];", "p1", 1},
        {"Q := [bytes < 1];", "", 0},
    };

    (void)state;
    check_exchange(examples, COUNT(examples));
}

static void attributes_of_variables_are_compared(void **state)
{
    static const struct example examples[] = {
        {"Send $s; Recv $r; Q := $s --> $r & $s.tag = $r.tag;", "q1,p2", 1},
        {"Send $s; Recv $r; Q := ($s --> $r) & $s.tag != $r.tag;", "p1,p2 p1,q2 q1,q2",
         3},
        {"Send $s; Recv $r; Q := ($s --> $r) & $s.tag < $r.tag;", "p1,p2", 1},
        {"Send $s; Recv ~r; Q := $s & ~r.text =~ \"^a.b$\" & ~r.tag >= $s.tag;",
         "p1 q1", 2},
        {"Send $s; Recv *r; Q := $s & *r.start > $s.start;", "p1 q1", 2},
        {"Send $s; Q := $s & $s.none != 1;", "", 0},
        {"Send $s; Q := $s & $s.bytes >= 1KiB;", "p1", 1},
        {"Send $s; Q := $s & $s.type = \"x*\";", "p1", 1},
    };

    (void)state;
    check_exchange(examples, COUNT(examples));
}

static void receives_are_told_from_what_merely_comes_later(void **state)
{
    static const struct example examples[] = {
        {"Q := Send => Recv;", "p1,q2 q1,p2", 2},
        {"Q := Send !=> Recv;", "p1,p2 q1,q2", 2},
        {"Q := S => S;", "p3,q3", 2},
        {"Recv *r; Q := Send => *r;", "", 0},
        {"NONE *n; Q := Send => *n;", "p1 q1", 2},
        {"Q := (X --> X) => Y;", "", 0},
        {"Q := (Send & Send) => Recv;", "p1,q1,p2 p1,q1,q2 p1,q2 q1,p2", ANY_COUNT},
    };

    (void)state;
    check_exchange(examples, COUNT(examples));
}

static void values_within_a_time_are_near_each_other(void **state)
{
    static const struct example examples[] = {
        {"Q := (X --> X) within 1500ns;", "p1,q2", 1},
        {"Q := (X --> X) within 1499ns;", "", 0},
        {"Q := (Y --> Y) within 4us;", "q1,p2", 1},
        {"Q := (Y --> Y) within 3us;", "", 0},
        {"Q := (S || S) within 3us;", "", 0},
        {"Y ~y; Q := (X & ~y) within 1500ns;", "p1 q2", 2},
        {"Y *y; Q := (X & *y) within 2500ns;", "q2", 1},
        {"NONE *n; Q := (X & *n) within 1ns;", "p1 q2", 2},
        {"Q := (X --> X) within 2us || NONE | Z;", "q4", 1},
        {"Q := (X | Z) within 1ms;", "p1 q2", 2},
        {"Y ~y; Q := X --> (~y) within 1us;", "p1", 1},
        {"NONE *n; Q := X --> (*n) within 1us;", "p1 q2", 2},
        {"Send $s; Q := ($s.type = \"x*\") within 1us;", "p1", 1},
        {"Send $s; Recv ~r; Q := ($s.tag = ~r.tag) within 3us;", "", 0},
        {"Send $s; Recv ~r; Q := ($s.tag = ~r.tag) within 4us;", "q1", 1},
        {"Xs := X --> X; Xs ~x; Q := S & (~x) within 1us;", "", 0},
        {"Xs := X --> X; Xs ~x; Q := S & (~x) within 2us;", "p3 q3", 2},
    };

    (void)state;
    check_exchange(examples, COUNT(examples));
}

static void values_are_counted(void **state)
{
    static const struct example examples[] = {
        {"Q := A --> at least 2 of B;", "p1", 1},
        {"Q := A --> at least 3 of B;", "", 0},
        {"Q := at least 1 of A --> C;", "q2", 1},
        {"Q := at most 0 of A --> C;", "r1", 1},
        {"Q := C || at most 1 of B;", "q2", 1},
        {"Q := C !|| at least 1 of B;", "q2", 1},
        {"BC := B || C; Q := A --> at least 3 of BC;", "p1", 1},
        {"BC := B || C; Q := A --> at least 4 of BC;", "", 0},
        {"B *b; Q := (A --> at least 2 of B) & (A --> *b);", "p1", 1},
    };

    (void)state;
    check_x(examples, COUNT(examples));
}

SUITE(test_reference)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clause_may_be_one_term),
        cmocka_unit_test(operators_of_one_level_group_to_the_right),
        cmocka_unit_test(a_later_declaration_replaces_the_earlier),
        cmocka_unit_test(each_use_of_a_class_is_an_occurrence_of_its_own),
        cmocka_unit_test(values_of_predicates_are_their_matches),
        cmocka_unit_test(each_match_has_its_own_inner_universals),
        cmocka_unit_test(a_side_that_is_not_needed_is_left_out),
        cmocka_unit_test(hidden_operands_count_where_they_stand_and_pass_up_nothing),
        cmocka_unit_test(relations_with_a_universal_without_values_hold),
        cmocka_unit_test(matches_are_distinct_sets_of_what_is_returned),
        cmocka_unit_test(relations_are_those_of_sets),
        cmocka_unit_test(sets_cross_and_halves_of_a_sync_are_concurrent),
        cmocka_unit_test(nothing_of_the_limit_lies_between),
        cmocka_unit_test(a_partner_makes_a_class_and_is_no_part_of_it),
        cmocka_unit_test(strings_match_whole_fields_with_wildcards),
        cmocka_unit_test(conditions_compare_numbers_and_texts),
        cmocka_unit_test(attributes_of_variables_are_compared),
        cmocka_unit_test(receives_are_told_from_what_merely_comes_later),
        cmocka_unit_test(values_within_a_time_are_near_each_other),
        cmocka_unit_test(values_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
