/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* profile_print.c - each record is described once, for all formats. */
#include "config.h"

#include "monitors/profile/profile_print.h"

#include <errno.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "base/table.h"

enum { MATRIX_RANKS_MAX = 16, SENTENCE = 640 };

/* --- Cells ------------------------------------------------------------------------ */

/* A record and its report, which shares refer to. */
struct profile_record {
    const struct esi_profile_report *report;
    const void *item;
};

static void describe_part(struct esi_row *row,
                          const char *heading,
                          uint64_t part,
                          uint64_t whole)
{
    esi_row_quantity(esi_row_if(row, whole > 0), heading, "%.1f",
                     whole > 0 ? 100 * (double)part / (double)whole : 0);
}

static double share_of(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* --- Operations and sites --------------------------------------------------------- */

static const char *class_name(uint16_t code)
{
    const struct es_operation *operation = es_operation_find(code);

    return es_class_name(operation ? (enum es_class)operation->op_class
                                   : ES_CLASS_OTHER);
}

/* The common columns of operations and sites. */
static void describe_sums(struct esi_row *row,
                          const struct esi_profile_report *report,
                          const struct esi_profile_sums *sums,
                          bool is_outer)
{
    bool is_timed = sums->time_ns > 0;
    bool has_calls = sums->timed > 0;

    esi_row_unsigned(row, "calls", "CALLS", sums->calls);
    esi_row_time(esi_row_if(row, is_timed), "time_ns", "TIME", (int64_t)sums->time_ns);
    esi_row_unsigned(row, "open_ns", NULL, sums->open_ns);
    esi_row_real(esi_row_if(row, has_calls), "mean_ns", NULL,
                 esi_profile_sums_mean(sums));
    esi_row_time(esi_row_minor(esi_row_if(row, has_calls), 2), NULL, "MEAN",
                 (int64_t)esi_profile_sums_mean(sums));
    esi_row_time(esi_row_minor(esi_row_if(row, has_calls), 7), "min_ns", "MIN",
                 (int64_t)sums->shortest_ns);
    esi_row_time(esi_row_minor(esi_row_if(row, is_timed), 3), "max_ns", "MAX",
                 (int64_t)sums->longest_ns);
    esi_row_signed(esi_row_if(row, is_timed && sums->longest_rank >= 0), "max_rank",
                   NULL, sums->longest_rank);
    esi_row_unsigned(row, "bytes", NULL, sums->bytes);
    esi_row_bytes(esi_row_minor(esi_row_if(row, sums->bytes > 0), 4), NULL, "BYTES",
                  (int64_t)sums->bytes);
    esi_row_unsigned(esi_row_minor(row, 6), "ranks", "RANKS", sums->ranks);
    esi_row_real(esi_row_if(row, !is_outer), "run_share", NULL,
                 share_of(sums->time_ns, report->run_ns));
    describe_part(esi_row_minor(esi_row_if(row, !is_outer && is_timed), 5), "% RUN",
                  sums->time_ns, report->run_ns);
    esi_row_real(esi_row_if(row, !is_outer), "mpi_share", NULL,
                 share_of(sums->time_ns, report->mpi_ns));
    describe_part(esi_row_minor(esi_row_if(row, !is_outer && is_timed), 1), "% MPI",
                  sums->time_ns, report->mpi_ns);
}

static void describe_operation(struct esi_row *row, const void *data)
{
    const struct profile_record *record = data;
    const struct esi_profile_operation *operation = record->item;

    esi_row_text(row, "type", NULL, "operation");
    esi_row_long_text(row, "operation", "OPERATION", 12,
                      es_operation_name(operation->code));
    esi_row_text(row, "class", NULL, class_name(operation->code));
    describe_sums(row, record->report, &operation->sums, operation->is_outer);
}

static void describe_site(struct esi_row *row, const void *data)
{
    const struct profile_record *record = data;
    const struct esi_profile_site *site = record->item;
    const char *text = site->text && *site->text ? site->text : NULL;

    esi_row_text(row, "type", NULL, "site");
    esi_row_long_text(row, "site", "LINE", 16, text);
    esi_row_long_text(row, "operation", "OPERATION", 12, es_operation_name(site->code));
    esi_row_text(row, "class", NULL, class_name(site->code));
    describe_sums(row, record->report, &site->sums, site->is_outer);
}

/* --- Ranks ------------------------------------------------------------------------ */

static void describe_rank(struct esi_row *row, const void *data)
{
    const struct profile_record *record = data;
    const struct esi_profile_rank *rank = record->item;
    bool is_up = rank->run_ns > 0;

    esi_row_text(row, "type", NULL, "rank");
    esi_row_signed(row, "rank", "RANK", rank->rank);
    esi_row_long_text(esi_row_minor(row, 3), "host", "HOST", 8, rank->host);
    esi_row_signed(row, "pid", NULL, rank->pid);
    esi_row_unsigned(esi_row_minor(row, 4), "threads", "THREADS", rank->threads);
    esi_row_time(esi_row_minor(esi_row_if(row, is_up), 2), "run_ns", "RUN",
                 (int64_t)rank->run_ns);
    esi_row_time(row, "mpi_ns", "MPI", (int64_t)rank->mpi_ns);
    esi_row_real(esi_row_if(row, is_up), "share", NULL, rank->share);
    esi_row_quantity(esi_row_if(row, is_up), "% MPI", "%.1f", 100 * rank->share);
    esi_row_unsigned(row, "calls", "CALLS", rank->calls);
    esi_row_unsigned(row, "messages", "SENT", rank->messages);
    esi_row_bytes(esi_row_minor(row, 1), "bytes", "BYTES SENT", (int64_t)rank->bytes);
    esi_row_bool(row, "ended", NULL, rank->ended);
    esi_row_bool(row, "partial", NULL, rank->partial);
}

/* --- Sizes ------------------------------------------------------------------------ */

/* Calls of one operation class and size. */
struct size_record {
    const struct esi_profile_report *report;
    enum es_class op_class;
    int size;
};

static uint64_t least_bytes(int size)
{
    return size > 0 ? UINT64_C(1) << (size - 1) : 0;
}

static uint64_t most_bytes(int size)
{
    return (UINT64_C(1) << size) - 1;
}

static void describe_size(struct esi_row *row, const void *data)
{
    const struct size_record *record = data;

    esi_row_text(row, "type", NULL, "size");
    esi_row_text(row, "class", NULL, es_class_name(record->op_class));
    esi_row_unsigned(row, "least_bytes", NULL, least_bytes(record->size));
    esi_row_unsigned(row, "most_bytes", NULL, most_bytes(record->size));
    esi_row_unsigned(row, "calls", NULL,
                     record->report->sizes[record->op_class][record->size]);
}

static uint64_t size_calls(const struct esi_profile_report *report, int size)
{
    uint64_t calls = 0;

    for (int i = 0; i < ESI_PROFILE_CLASSES; i++)
        calls += report->sizes[i][size];
    return calls;
}

/* In the table, sizes are lines and operation classes are columns. */
static void describe_size_line(struct esi_row *row, const void *data)
{
    static const struct {
        enum es_class op_class;
        const char *heading;
    } columns[] = {{ES_CLASS_SEND, "SENT"},
                   {ES_CLASS_RECEIVE, "RECEIVED"},
                   {ES_CLASS_COLLECTIVE, "COLLECTIVE"},
                   {ES_CLASS_ONE_SIDED, "ONE-SIDED"},
                   {ES_CLASS_IO, "I/O"}};
    const struct size_record *record = data;
    char least[ESI_QUANTITY_BYTES], most[ESI_QUANTITY_BYTES];

    if (record->size < 2)
        esi_row_words(row, "SIZE", 0, "%d B", record->size);
    else
        esi_row_words(
            row, "SIZE", 0, "%s to %s",
            esi_quantity_bytes(least, sizeof least, (double)least_bytes(record->size)),
            esi_quantity_bytes(most, sizeof most, (double)most_bytes(record->size)));
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        uint64_t calls = record->report->sizes[columns[i].op_class][record->size];

        esi_row_unsigned(esi_row_if(row, calls > 0), NULL, columns[i].heading, calls);
    }
}

/* --- Messages --------------------------------------------------------------------- */

static void describe_pair(struct esi_row *row, const void *data)
{
    const struct profile_record *record = data;
    const struct esi_profile_pair *pair = record->item;

    esi_row_text(row, "type", NULL, "messages");
    esi_row_signed(row, "from", "FROM", pair->from);
    esi_row_signed(esi_row_if(row, pair->to >= 0), "to", "TO", pair->to);
    esi_row_unsigned(row, "messages", "MESSAGES", pair->messages);
    esi_row_bytes(row, "bytes", "BYTES", (int64_t)pair->bytes);
}

/* --- Summary ---------------------------------------------------------------------- */

struct summary_record {
    const struct esi_profile_report *report;
    const struct esi_profile_spread *spread;
    const char *run;
};

static bool is_partial(const struct esi_profile_report *report)
{
    for (size_t i = 0; i < report->rank_count; i++)
        if (report->ranks[i].partial)
            return true;
    return false;
}

static uint64_t longest_run_ns(const struct esi_profile_report *report)
{
    uint64_t longest = 0;

    for (size_t i = 0; i < report->rank_count; i++)
        if (report->ranks[i].run_ns > longest)
            longest = report->ranks[i].run_ns;
    return longest;
}

static void describe_summary(struct esi_row *row, const void *data)
{
    const struct summary_record *record = data;
    const struct esi_profile_spread *spread = record->spread;
    bool some = spread->count > 0;

    esi_row_text(row, "type", NULL, "profile");
    esi_row_text(row, "run", NULL, record->run);
    esi_row_unsigned(row, "ranks", NULL, record->report->rank_count);
    esi_row_unsigned(row, "without", NULL, record->report->without);
    esi_row_unsigned(row, "longest_run_ns", NULL, longest_run_ns(record->report));
    esi_row_unsigned(row, "run_ns", NULL, record->report->run_ns);
    esi_row_unsigned(row, "mpi_ns", NULL, record->report->mpi_ns);
    esi_row_real(esi_row_if(row, some), "share", NULL,
                 share_of(record->report->mpi_ns, record->report->run_ns));
    esi_row_real(esi_row_if(row, some), "min_share", NULL, spread->least);
    esi_row_signed(esi_row_if(row, some), "min_rank", NULL, spread->least_rank);
    esi_row_real(esi_row_if(row, some), "median_share", NULL, spread->median);
    esi_row_real(esi_row_if(row, some), "max_share", NULL, spread->most);
    esi_row_signed(esi_row_if(row, some), "max_rank", NULL, spread->most_rank);
    esi_row_signed(esi_row_if(row, spread->outlier >= 0), "outlier", NULL,
                   spread->outlier);
    esi_row_bool(row, "partial", NULL, is_partial(record->report));
}

static void print_summary_text(const struct summary_record *record, FILE *stream)
{
    const struct esi_profile_report *report = record->report;
    const struct esi_profile_spread *spread = record->spread;
    char span[ESI_QUANTITY_BYTES];
    char words[SENTENCE];
    int used;

    if (spread->count == 0) {
        esi_text_prose_print(stream, "run '%s': MPI is not initialized yet",
                             record->run);
        return;
    }
    used = snprintf(
        words, sizeof words,
        "run '%s': %zu rank%s, %s; in MPI %.1f %% of the time (least %.1f %%: rank %d, "
        "median %.1f %%, most %.1f %%: rank %d)",
        record->run, report->rank_count, report->rank_count == 1 ? "" : "s",
        esi_quantity_time(span, sizeof span, (double)longest_run_ns(report)),
        100 * share_of(report->mpi_ns, report->run_ns), 100 * spread->least,
        spread->least_rank, 100 * spread->median, 100 * spread->most,
        spread->most_rank);
    if (spread->outlier >= 0 && used > 0 && (size_t)used < sizeof words)
        snprintf(words + used, sizeof words - (size_t)used,
                 "; rank %d stands out with %.1f %%", spread->outlier,
                 100 * spread->outlier_share);
    esi_text_prose_print(stream, "%s", words);
    if (report->without > 0)
        esi_text_prose_print(stream, "%zu process%s no profile", report->without,
                             report->without == 1 ? " has" : "es have");
    if (is_partial(report))
        esi_text_tone_print(stream, ESI_TONE_DOUBT,
                            "not all calls are counted: the segment of a rank had no "
                            "room for them");
}

/* --- Printing --------------------------------------------------------------------- */

/* What to print, and where. */
struct profile_printing {
    const struct esi_profile_report *report;
    const struct esi_profile_style *style;
    FILE *stream;
};

static bool is_text(const struct profile_printing *printing)
{
    return printing->style->format == ESI_ROWS_TABLE;
}

/* The items of an array accepted by `wanted` (NULL = all), up to the limit of the
 * style.  A table has the heading `title` and is omitted if it would be empty. */
struct profile_table {
    const char *title;
    const void *items;
    size_t count;
    size_t item_bytes;
    esi_row_describe *describe;
    const void *empty; /* an item without values */
    bool (*wanted)(const void *item);
};

static const void *item_at(const struct profile_table *table, size_t index)
{
    return (const char *)table->items + index * table->item_bytes;
}

static size_t count_wanted(const struct profile_table *table)
{
    size_t count = 0;

    for (size_t i = 0; i < table->count; i++)
        count += !table->wanted || table->wanted(item_at(table, i));
    return count;
}

static void print_title(const struct profile_printing *printing,
                        const char *title,
                        size_t shown,
                        size_t all)
{
    fputc('\n', printing->stream);
    if (shown < all)
        esi_text_line_print(printing->stream, 0, "%s (%zu of %zu):", title, shown, all);
    else
        esi_text_line_print(printing->stream, 0, "%s:", title);
}

static int print_table(const struct profile_printing *printing,
                       const struct profile_table *table)
{
    struct profile_record record = {printing->report, table->empty};
    size_t all = count_wanted(table), limit = printing->style->limit;
    size_t left = limit > 0 && limit < all ? limit : all;
    struct esi_rows rows;
    int rc;

    if (is_text(printing) && all == 0)
        return 0;
    if (is_text(printing))
        print_title(printing, table->title, left, all);
    esi_rows_init(&rows, printing->style->format, printing->stream, table->describe);
    rc = esi_rows_begin(&rows, &record);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < table->count && left > 0; i++) {
        record.item = item_at(table, i);
        if (table->wanted && !table->wanted(record.item))
            continue;
        esi_rows_add(&rows, &record);
        left--;
    }
    return esi_rows_finish(&rows);
}

static bool has_class(const void *item, enum es_class op_class)
{
    const struct esi_profile_operation *operation = item;
    const struct es_operation *known = es_operation_find(operation->code);

    return known && known->op_class == op_class;
}

static bool is_one_sided(const void *item)
{
    return has_class(item, ES_CLASS_ONE_SIDED);
}

static bool is_io(const void *item)
{
    return has_class(item, ES_CLASS_IO);
}

static bool is_neither(const void *item)
{
    return !is_one_sided(item) && !is_io(item);
}

/* The table separates one-sided operations and I/O. */
static int print_operations(const struct profile_printing *printing)
{
    static const struct esi_profile_operation empty = {.code = 0};
    const struct esi_profile_report *report = printing->report;
    struct profile_table table = {"Operations",
                                  report->operations,
                                  report->operation_count,
                                  sizeof *report->operations,
                                  describe_operation,
                                  &empty,
                                  NULL};
    int rc;

    if (!is_text(printing))
        return print_table(printing, &table);
    table.wanted = is_neither;
    rc = print_table(printing, &table);
    table.title = "One-sided operations";
    table.wanted = is_one_sided;
    if (rc == 0)
        rc = print_table(printing, &table);
    table.title = "I/O";
    table.wanted = is_io;
    return rc == 0 ? print_table(printing, &table) : rc;
}

static int print_sites(const struct profile_printing *printing)
{
    static const struct esi_profile_site empty = {.text = ""};
    const struct esi_profile_report *report = printing->report;
    const struct profile_table table = {"Lines of source",
                                        report->sites,
                                        report->site_count,
                                        sizeof *report->sites,
                                        describe_site,
                                        &empty,
                                        NULL};

    return print_table(printing, &table);
}

static int print_ranks(const struct profile_printing *printing)
{
    static const struct esi_profile_rank empty = {.rank = 0};
    const struct esi_profile_report *report = printing->report;
    const struct profile_table table = {"Ranks",
                                        report->ranks,
                                        report->rank_count,
                                        sizeof *report->ranks,
                                        describe_rank,
                                        &empty,
                                        NULL};

    return print_table(printing, &table);
}

/* --- Sizes and messages ----------------------------------------------------------- */

static int print_size_table(const struct profile_printing *printing)
{
    struct size_record record = {.report = printing->report};
    struct esi_rows rows;
    bool has_some = false;
    int rc;

    for (int i = 0; i < ESI_PROFILE_SIZES; i++)
        has_some |= size_calls(printing->report, i) > 0;
    if (!has_some)
        return 0;
    print_title(printing, "Sizes", 0, 0);
    esi_rows_init(&rows, ESI_ROWS_TABLE, printing->stream, describe_size_line);
    rc = esi_rows_begin(&rows, &record);
    for (record.size = 0; rc == 0 && record.size < ESI_PROFILE_SIZES; record.size++)
        if (size_calls(printing->report, record.size) > 0)
            esi_rows_add(&rows, &record);
    return rc == 0 ? esi_rows_finish(&rows) : rc;
}

static int print_sizes(const struct profile_printing *printing)
{
    struct size_record record = {.report = printing->report};
    struct esi_rows rows;
    int rc;

    if (is_text(printing))
        return print_size_table(printing);
    esi_rows_init(&rows, printing->style->format, printing->stream, describe_size);
    rc = esi_rows_begin(&rows, &record);
    for (int i = 0; rc == 0 && i < ESI_PROFILE_CLASSES; i++)
        for (record.size = 0; record.size < ESI_PROFILE_SIZES; record.size++) {
            record.op_class = (enum es_class)i;
            if (record.report->sizes[i][record.size] > 0)
                esi_rows_add(&rows, &record);
        }
    return rc == 0 ? esi_rows_finish(&rows) : rc;
}

/* Number of ranks of the matrix; 0 if too many for a table. */
static int matrix_ranks(const struct esi_profile_report *report)
{
    int ranks = 0;

    for (size_t i = 0; i < report->pair_count; i++) {
        const struct esi_profile_pair *pair = &report->pairs[i];
        int greatest = pair->from > pair->to ? pair->from : pair->to;

        if (greatest >= MATRIX_RANKS_MAX || pair->from < 0 || pair->to < 0)
            return 0;
        if (greatest >= ranks)
            ranks = greatest + 1;
    }
    return ranks;
}

static const struct esi_profile_pair *find_pair(const struct esi_profile_report *report,
                                                int from,
                                                int to)
{
    for (size_t i = 0; i < report->pair_count; i++)
        if (report->pairs[i].from == from && report->pairs[i].to == to)
            return &report->pairs[i];
    return NULL;
}

static void fill_matrix(const struct esi_profile_report *report,
                        int ranks,
                        struct es_table *table)
{
    char bytes[ESI_QUANTITY_BYTES];

    for (int from = 0; from < ranks; from++) {
        esi_text_table_cell(table, "%d", from);
        for (int to = 0; to < ranks; to++) {
            const struct esi_profile_pair *pair = find_pair(report, from, to);

            esi_text_table_cell(
                table, "%s",
                pair ? esi_quantity_bytes(bytes, sizeof bytes, (double)pair->bytes)
                     : "-");
        }
    }
}

static int print_matrix(const struct profile_printing *printing, int ranks)
{
    struct esi_text_table_column columns[MATRIX_RANKS_MAX + 1] = {
        {"FROM", ES_TABLE_RIGHT, 0, 0}};
    char titles[MATRIX_RANKS_MAX][16];
    struct es_table *table;
    int rc;

    for (int i = 0; i < ranks; i++) {
        snprintf(titles[i], sizeof titles[i], "TO %d", i);
        columns[i + 1] =
            (struct esi_text_table_column){titles[i], ES_TABLE_RIGHT, 0, 0};
    }
    rc = esi_text_table_create(columns, (size_t)ranks + 1, &table);
    if (rc < 0)
        return rc;
    print_title(printing, "Bytes sent", 0, 0);
    fill_matrix(printing->report, ranks, table);
    rc = esi_text_table_print(table, printing->stream, 0);
    esi_text_table_destroy(table);
    return rc;
}

static int compare_pair_bytes(const void *left, const void *right)
{
    const struct esi_profile_pair *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return (a->messages < b->messages) - (a->messages > b->messages);
}

/* If there are many ranks, prints the pairs with most bytes. */
static int print_pairs(const struct profile_printing *printing)
{
    static const struct esi_profile_pair empty = {.from = 0};
    const struct esi_profile_report *report = printing->report;
    struct esi_profile_pair *sorted = calloc(report->pair_count + 1, sizeof *sorted);
    struct profile_table table = {"Most bytes sent; --matrix FILE has all",
                                  sorted,
                                  report->pair_count,
                                  sizeof *sorted,
                                  describe_pair,
                                  &empty,
                                  NULL};
    int rc;

    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < report->pair_count; i++)
        sorted[i] = report->pairs[i];
    if (is_text(printing))
        qsort(sorted, report->pair_count, sizeof *sorted, compare_pair_bytes);
    rc = print_table(printing, &table);
    free(sorted);
    return rc;
}

static int print_messages(const struct profile_printing *printing)
{
    enum { RANK_WIDTH = 6, CELL_WIDTH = 10 };
    int ranks = is_text(printing) ? matrix_ranks(printing->report) : 0;
    size_t width = esi_text_table_width(printing->stream);

    if (ranks > 0 && (width == 0 || RANK_WIDTH + (size_t)ranks * CELL_WIDTH <= width))
        return print_matrix(printing, ranks);
    return print_pairs(printing);
}

/* --- All -------------------------------------------------------------------------- */

/* CSV has no summary line. */
static int print_summary(const struct profile_printing *printing)
{
    struct esi_profile_spread spread;
    const struct summary_record record = {printing->report, &spread,
                                          printing->style->run};
    int rc = esi_profile_report_spread(printing->report, &spread);

    if (rc < 0 || printing->style->format == ESI_ROWS_CSV)
        return rc;
    if (!is_text(printing))
        return esi_rows_print_json(printing->stream, describe_summary, &record);
    print_summary_text(&record, printing->stream);
    return 0;
}

int esi_profile_print(const struct esi_profile_report *report,
                      const struct esi_profile_style *style,
                      FILE *stream)
{
    static int (*const parts[])(const struct profile_printing *) = {
        print_ranks, print_operations, print_sites, print_sizes, print_messages};
    const struct profile_printing printing = {report, style, stream};
    int rc = print_summary(&printing);

    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && rc == 0; i++)
        if ((style->parts & 1u << i) != 0)
            rc = parts[i](&printing);
    return rc == 0 && ferror(stream) ? -EIO : rc;
}
