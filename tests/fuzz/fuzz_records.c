/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Feeds texts to the reader of an archive's ledgers and profiles, which also reads
 * replies of tuple servers. Accepted records are the same when they are written and
 * read again. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/archive/archive_records.h"
#include "tests/fuzz/fuzz_target.h"

enum { PROCESSES = 4 };

/* Returns the records as text; caller frees. */
static char *written(const struct esi_archive_records *records, size_t *ret_length)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, ret_length);

    require(stream != NULL);
    esi_archive_records_write(records, stream);
    require(fclose(stream) == 0);
    return text;
}

static void check_records(enum esi_archive_record_kind kind,
                          const char *data,
                          size_t size)
{
    struct es_error error = {.text = ""};
    struct esi_archive_records records, again;
    size_t length, length_again;
    char *text, *text_again;
    int rc = esi_archive_records_parse(kind, data, size, PROCESSES, &error, &records);

    if (rc != 0) {
        require(rc == -EINVAL && error.text[0] != '\0' && error.line > 0);
        return;
    }
    text = written(&records, &length);
    require(esi_archive_records_parse(kind, text, length, PROCESSES, &error, &again) ==
            0);
    text_again = written(&again, &length_again);
    require(length == length_again && memcmp(text, text_again, length) == 0);
    esi_archive_records_fini(&records);
    esi_archive_records_fini(&again);
    free(text);
    free(text_again);
}

FUZZ_TARGET(fuzz_records, data, size)
{
    check_records(ESI_RECORD_LEDGER, (const char *)data, size);
    check_records(ESI_RECORD_PROFILE, (const char *)data, size);
    return 0;
}
