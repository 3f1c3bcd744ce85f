/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Event sets as ordered streams from any source. */
#include "config.h"

#include "monitors/causality/set_source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/pipeline.h"
#include "monitors/archive/archive_read.h"
#include "monitors/causality/causality_archive.h"
#include "monitors/eventset/event_pipeline.h"
#include "monitors/eventset/set_read.h"

int esi_set_source_detect(const char *path,
                          enum esi_set_source_kind *ret_kind,
                          struct es_error *error)
{
    struct stat status;

    if (!path) {
        *ret_kind = ES_SET_SOURCE_RUN;
    } else if (strcmp(path, "-") == 0) {
        *ret_kind = ES_SET_SOURCE_INPUT;
    } else if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode) && !esi_archive_is_one(path))
            return es_error_set_at(error, -EINVAL, path, 0, 0,
                                   "a directory that is not an archive of a run");
        *ret_kind =
            S_ISDIR(status.st_mode) ? ES_SET_SOURCE_ARCHIVE : ES_SET_SOURCE_FILE;
    } else if (errno == ENOENT && !strchr(path, '/')) {
        *ret_kind = ES_SET_SOURCE_RUN;
    } else {
        return es_error_set_at(error, -errno, path, 0, 0, "%s", strerror(errno));
    }
    return 0;
}

static int read_file(const struct esi_set_source_config *config,
                     struct esi_set_source_facts *facts,
                     struct es_error *error)
{
    struct esi_set_read_config read;

    (void)facts;
    esi_set_read_config_init(&read, config->sink);
    read.attributes = config->attributes;
    read.threads = config->threads;
    return esi_set_read_file(config->path, &read, error);
}

void esi_set_source_found(const struct esi_set_source_config *config,
                          const struct esi_causality *causality,
                          struct esi_set_source_facts *facts)
{
    facts->is_matched = true;
    facts->is_incomplete = esi_causality_is_incomplete(causality);
    esi_causality_totals(causality, &facts->totals);
    if (config->found)
        config->found(config->found_data, causality);
}

struct archive_reading {
    const struct esi_set_source_config *config; /* borrowed */
    struct esi_archive_reader *reader;
    struct esi_causality *causality;
    bool is_threaded;
};

static int match_archive(void *data,
                         const struct es_set_sink *sink,
                         struct es_error *error)
{
    struct archive_reading *reading = data;
    const struct esi_causality_config search = {.sink = *sink,
                                                .listener = reading->config->listener,
                                                .attributes =
                                                    reading->config->attributes};
    int result = esi_causality_create(&search, &reading->causality);

    return result < 0 ? result
                      : esi_causality_read_archive(reading->causality, reading->reader,
                                                   reading->is_threaded, error);
}

/* A few tuples are matched faster than threads start.  The number of tuples is known
 * only if the recording has ended. */
static bool needs_threads(const struct esi_set_source_config *config,
                          const struct esi_archive_reader *reader)
{
    enum { FEW_TUPLES = 4096 };
    const struct esi_archive_facts *facts = &esi_archive_tables(reader)->facts;
    unsigned threads = config->threads ? config->threads : esi_pipeline_processors();

    return threads > 1 && (facts->ended_ns == 0 || facts->tuples > FEW_TUPLES);
}

/* A listener expects to be called by the calling thread, so that thread does the
 * matching. */
static int read_archive(const struct esi_set_source_config *config,
                        struct esi_set_source_facts *facts,
                        struct es_error *error)
{
    struct archive_reading reading = {.config = config, .reader = config->archive};
    int result =
        reading.reader ? 0 : esi_archive_open(config->path, error, &reading.reader);

    if (result < 0)
        return result;
    reading.is_threaded = needs_threads(config, reading.reader);
    result =
        reading.is_threaded && !config->listener.told
            ? esi_event_pipeline_read(match_archive, &reading, &config->sink, error)
            : match_archive(&reading, &config->sink, error);
    if (reading.causality)
        esi_set_source_found(config, reading.causality, facts);
    esi_causality_destroy(reading.causality);
    if (!config->archive)
        esi_archive_read_close(reading.reader);
    return result;
}

static int read_run(const struct esi_set_source_config *config,
                    struct esi_set_source_facts *facts,
                    struct es_error *error)
{
    if (!config->read_run)
        return es_error_set_at(error, -ENOENT, config->path, 0, 0,
                               "no such file or archive");
    return config->read_run(config->run_data, config, facts, error);
}

int esi_set_source_read(const struct esi_set_source_config *config,
                        struct esi_set_source_facts *ret_facts,
                        struct es_error *error)
{
    static int (*const readers[])(const struct esi_set_source_config *config,
                                  struct esi_set_source_facts *facts,
                                  struct es_error *error) = {
        [ES_SET_SOURCE_FILE] = read_file,
        [ES_SET_SOURCE_INPUT] = read_file,
        [ES_SET_SOURCE_ARCHIVE] = read_archive,
        [ES_SET_SOURCE_RUN] = read_run,
    };
    struct esi_set_source_facts facts = {.kind = ES_SET_SOURCE_ARCHIVE};
    int result =
        config->archive ? 0 : esi_set_source_detect(config->path, &facts.kind, error);

    if (result == 0)
        result = readers[facts.kind](config, &facts, error);
    if (result == 0 && ret_facts)
        *ret_facts = facts;
    return result;
}
