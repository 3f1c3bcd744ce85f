/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The cost of collective operations with several variants, which take turns in one run.
 *
 *   mpiexec -n 4 collective direct library kary:2 binomial
 *
 * Each word creates a communicator of that name, with all ranks; the rules of the run
 * (written by collective.sh) select the algorithm or tree of its operations.  "direct"
 * is the MPI library, bypassing preloaded libraries.  The results of all variants are
 * compared.
 *
 * A time is that of a block of consecutive operations, until the last rank has
 * finished, divided by their number.  Operations in which ranks need not wait therefore
 * overlap, as they do in programs.  With --apart, it is the time of one operation that
 * all ranks begin at the same time, until the last rank has finished; this requires
 * that all ranks read one clock, as on one machine.
 */
#include "config.h"

#include <argp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/collective_calls.h"
#include "bench/collective_report.h"

enum { SIZES_MAX = 16, CALLS_MAX = 2000, BYTES_MAX = 1 << 28 };
enum { WARM_UPS = 8, TRIALS = 50 };

/* Initial limit of how late a rank may begin if all have to begin at once. */
#define LATE_NS 250000
#define MARGIN_MAX_NS INT64_C(1000000000)

struct settings {
    struct rounds rounds; /* with the variants */
    MPI_Comm comms[VARIANTS_MAX];
    size_t sizes[SIZES_MAX];
    int size_count;
    const char *operations; /* names separated by commas; NULL for all */
    double block_ns;
    bool apart;
    int64_t margin_ns; /* from the announcement of a start to the agreed time */
    double late_ns;    /* how much later than the agreed time a rank may begin */
    struct routines by_name;
    struct routines direct;
    FILE *figures; /* a text in memory, printed at the end */
    int rank;
    int size;
};

static void fail(const char *what, const char *of)
{
    fprintf(stderr, "collective: %s: %s\n", of, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- Options --------------------------------------------------------------------- */

static const struct argp_option options[] = {
    {"operations", 'o', "LIST", 0, "these, with commas between (all)", 0},
    {"sizes", 's', "LIST", 0, "bytes (8,1024,16384,131072,1048576)", 0},
    {"rounds", 'r', "N", 0, "blocks of each variant (15)", 0},
    {"block", 'b', "MS", 0, "about how long a block takes (3)", 0},
    {"apart", 'a', NULL, 0, "each operation by itself, begun by all at once", 0},
    {"reference", 'f', "VARIANT", 0, "ratios are those to this one (library)", 0},
    {"prefix", 'p', "NAME", 0, "of the figures' names (collective)", 0},
    {0},
};

static long parse_number(const char *text,
                         long least,
                         long most,
                         struct argp_state *state)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (end == text || (*end != '\0' && *end != ',') || value < least || value > most)
        argp_error(state, "\"%s\": expected a number from %ld to %ld", text, least,
                   most);
    return value;
}

static void parse_sizes(const char *text,
                        struct settings *settings,
                        struct argp_state *state)
{
    settings->size_count = 0;
    for (const char *rest = text; rest; rest = strchr(rest, ',')) {
        rest += *rest == ',';
        if (settings->size_count == SIZES_MAX)
            argp_error(state, "more than %d sizes", SIZES_MAX);
        settings->sizes[settings->size_count++] =
            (size_t)parse_number(rest, sizeof(double), BYTES_MAX, state);
    }
}

static const char *reference_name = "library";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct settings *settings = state->input;
    struct rounds *rounds = &settings->rounds;

    switch (key) {
    case 'o':
        settings->operations = text;
        return 0;
    case 's':
        parse_sizes(text, settings, state);
        return 0;
    case 'r':
        rounds->count = (int)parse_number(text, 1, ROUNDS_MAX, state);
        return 0;
    case 'b':
        settings->block_ns = (double)parse_number(text, 1, 10000, state) * 1e6;
        return 0;
    case 'a':
        settings->apart = true;
        return 0;
    case 'f':
        reference_name = text;
        return 0;
    case 'p':
        rounds->prefix = text;
        return 0;
    case ARGP_KEY_ARG:
        if (rounds->variant_count == VARIANTS_MAX)
            argp_error(state, "more than %d variants", VARIANTS_MAX);
        rounds->variants[rounds->variant_count++] = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which variants?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse_option,
    .args_doc = "VARIANT...",
    .doc =
        "Measures collective operations over communicators of these names, in turns; "
        "\"direct\" is the MPI library itself.",
};

static void find_reference(struct settings *settings)
{
    struct rounds *rounds = &settings->rounds;

    for (int i = 0; i < rounds->variant_count; i++)
        if (strcmp(rounds->variants[i], reference_name) == 0) {
            rounds->reference = i;
            return;
        }
    fprintf(stderr, "collective: no variant \"%s\" to compare with\n", reference_name);
    exit(2);
}

static bool is_wanted(const struct settings *settings, const char *operation)
{
    size_t length = strlen(operation);

    if (!settings->operations)
        return true;
    for (const char *rest = settings->operations; rest; rest = strchr(rest, ',')) {
        rest += *rest == ',';
        if (strncmp(rest, operation, length) == 0 &&
            (rest[length] == '\0' || rest[length] == ','))
            return true;
    }
    return false;
}

/* --- Measuring ------------------------------------------------------------------- */

static double greatest_of(const struct settings *settings, double value)
{
    double greatest;

    settings->direct.allreduce(&value, &greatest, 1, MPI_DOUBLE, MPI_MAX,
                               MPI_COMM_WORLD);
    return greatest;
}

/* Nanoseconds per operation in a block of this many. */
static double measure_block(const struct settings *settings,
                            const struct operation *operation,
                            const struct call *call,
                            int calls)
{
    int64_t begin;

    settings->direct.barrier(MPI_COMM_WORLD);
    begin = now_ns();
    for (int i = 0; i < calls; i++)
        operation->run(call);
    return greatest_of(settings, (double)(now_ns() - begin)) / calls;
}

/* The time at which all ranks begin, determined by rank 0. */
static int64_t make_appointment(const struct settings *settings)
{
    int64_t start = now_ns() + settings->margin_ns;

    settings->direct.bcast(&start, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return start;
}

static void sleep_until(int64_t time)
{
    struct timespec until = {.tv_sec = time / 1000000000, .tv_nsec = time % 1000000000};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        continue;
}

/* The times of an operation known to all ranks; the maxima over the ranks. */
struct sight {
    double missed; /* ns after the agreed time when a rank received it */
    double late;   /* when it began */
    double ns;     /* when it finished */
};

static struct sight see_once(const struct settings *settings,
                             const struct operation *operation,
                             const struct call *call)
{
    int64_t start = make_appointment(settings);
    struct sight mine = {.missed = (double)(now_ns() - start)};
    struct sight all;

    sleep_until(start);
    mine.late = (double)(now_ns() - start);
    operation->run(call);
    mine.ns = (double)(now_ns() - start);
    settings->direct.allreduce(&mine, &all, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/* Nanoseconds of one separate operation.  The measurement is repeated if a rank was
 * later than the limit and than a tenth of the time; if the machine is so busy that
 * this happens repeatedly, the limit is raised. */
static double measure_apart(struct settings *settings,
                            const struct operation *operation,
                            const struct call *call)
{
    for (int trial = 1; trial <= TRIALS; trial++) {
        struct sight all = see_once(settings, operation, call);

        if (all.late <= settings->late_ns || all.late <= all.ns / 10)
            return all.ns;
        if (all.missed > 0 && settings->margin_ns < MARGIN_MAX_NS)
            settings->margin_ns *= 2;
        else if (trial % 8 == 0)
            settings->late_ns *= 2;
    }
    fail("the ranks do not come to begin at once", operation->name);
    return 0;
}

static double measure(struct settings *settings,
                      const struct operation *operation,
                      const struct call *call,
                      int calls)
{
    return settings->apart ? measure_apart(settings, operation, call)
                           : measure_block(settings, operation, call, calls);
}

/* Number of operations in a block of the reference. */
static int calibrate(const struct settings *settings,
                     const struct operation *operation,
                     const struct call *call)
{
    double ns = 0;
    int calls = 1;

    for (; calls < CALLS_MAX; calls *= 2) {
        ns = measure_block(settings, operation, call, calls);
        if (ns * calls > settings->block_ns / 4)
            break;
    }
    ns = settings->block_ns / ns;
    return ns < 2 ? 2 : ns > CALLS_MAX ? CALLS_MAX : (int)ns;
}

/* --- One operation of one size --------------------------------------------------- */

static struct call call_of(const struct settings *settings,
                           int variant,
                           const struct call *with)
{
    struct call call = *with;

    call.comm = settings->comms[variant];
    call.routines = strcmp(settings->rounds.variants[variant], "direct") == 0
                        ? &settings->direct
                        : &settings->by_name;
    return call;
}

/* Compares the results of all variants with the first one.  This also completes the
 * setup that MPI library and interposer do at the first operations of a
 * communicator. */
static void compare_results(const struct settings *settings,
                            const struct operation *operation,
                            const struct call *with)
{
    size_t bytes = sizeof(double) * (size_t)with->count * (size_t)settings->size;
    double *expected = malloc(bytes);

    if (!expected)
        fail("no memory", operation->name);
    for (int i = 0; i < settings->rounds.variant_count; i++) {
        struct call call = call_of(settings, i, with);

        memset(call.out, 0, bytes);
        if (settings->rank == 0)
            memcpy(call.out, call.in, bytes);
        operation->run(&call);
        if (i == 0)
            memcpy(expected, call.out, bytes);
        if (memcmp(expected, call.out, bytes) != 0)
            fail("another result than by the first way", settings->rounds.variants[i]);
        measure_block(settings, operation, &call, settings->apart ? 1 : WARM_UPS);
    }
    free(expected);
}

static void measure_rounds(struct settings *settings,
                           const struct operation *operation,
                           const struct call *with)
{
    struct rounds *rounds = &settings->rounds;
    struct call call = call_of(settings, rounds->reference, with);
    int calls;

    compare_results(settings, operation, with);
    calls = settings->apart ? 1 : calibrate(settings, operation, &call);
    for (int r = 0; r < rounds->count; r++)
        for (int i = 0; i < rounds->variant_count; i++) {
            int variant = (i + r) % rounds->variant_count; /* the first place rotates */

            call = call_of(settings, variant, with);
            rounds->ns[variant][r] = measure(settings, operation, &call, calls);
        }
}

/* Small whole numbers: their sums do not depend on the order. */
static double *make_buffer(const struct settings *settings, size_t bytes)
{
    size_t count = bytes / sizeof(double) * (size_t)settings->size;
    double *buffer = malloc(count * sizeof *buffer);

    if (!buffer)
        fail("no memory", "buffer");
    for (size_t i = 0; i < count; i++)
        buffer[i] = (double)((size_t)settings->rank + i % 7);
    return buffer;
}

static void measure_size(struct settings *settings,
                         const struct operation *operation,
                         size_t bytes)
{
    struct call call = {
        .count = (int)(bytes / sizeof(double)),
        .in = make_buffer(settings, bytes),
        .out = make_buffer(settings, bytes),
    };

    settings->rounds.operation = operation->name;
    settings->rounds.bytes = operation->has_data ? bytes : 0;
    measure_rounds(settings, operation, &call);
    if (settings->rank == 0) {
        report_row(&settings->rounds);
        report_figures(&settings->rounds, settings->figures);
    }
    free((double *)call.in);
    free(call.out);
}

static void make_communicators(struct settings *settings)
{
    const struct rounds *rounds = &settings->rounds;

    for (int i = 0; i < rounds->variant_count; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &settings->comms[i]);
        MPI_Comm_set_name(settings->comms[i], rounds->variants[i]);
    }
}

static void set_defaults(struct settings *settings)
{
    static const size_t sizes[] = {8, 1024, 16384, 131072, 1048576};

    memcpy(settings->sizes, sizes, sizeof sizes);
    settings->size_count = sizeof sizes / sizeof *sizes;
    settings->rounds.prefix = "collective";
    settings->rounds.count = 15;
    settings->block_ns = 3e6;
    settings->margin_ns = 4000000;
    settings->late_ns = LATE_NS;
}

static void measure_all(struct settings *settings)
{
    for (int o = 0; o < OPERATION_COUNT; o++) {
        const struct operation *operation = &operations[o];

        for (int s = 0; s < (operation->has_data ? settings->size_count : 1); s++)
            if (is_wanted(settings, operation->name))
                measure_size(settings, operation, settings->sizes[s]);
    }
}

int main(int argc, char **argv)
{
    static struct settings settings; /* too large for the stack */
    char *figures;
    size_t length;

    set_defaults(&settings);
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &settings);
    find_reference(&settings);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &settings.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &settings.size);
    routines_by_name(&settings.by_name);
    routines_of_library(&settings.direct);
    make_communicators(&settings);
    settings.figures = open_memstream(&figures, &length);
    if (!settings.figures)
        fail("no memory", "figures");
    if (settings.rank == 0)
        report_heading(&settings.rounds);
    measure_all(&settings);
    fclose(settings.figures);
    if (settings.rank == 0 && settings.apart)
        printf("\nAll ranks began within %.0f us, or a tenth of the time.\n",
               settings.late_ns / 1e3);
    if (settings.rank == 0)
        fputs(figures, stdout);
    free(figures);
    for (int i = 0; i < settings.rounds.variant_count; i++)
        MPI_Comm_free(&settings.comms[i]);
    MPI_Finalize();
    return 0;
}
