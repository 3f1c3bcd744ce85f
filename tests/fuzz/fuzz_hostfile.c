/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Feeds texts to the parser of host files.  Hosts of an accepted file are valid in a
 * path map. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/hostfile.h"
#include "pathmap/map.h"
#include "tests/fuzz/fuzz_target.h"

static void check(const struct esi_hostfile *hostfile)
{
    require(hostfile->count > 0);
    for (size_t i = 0; i < hostfile->count; i++) {
        const struct esi_hostfile_line *host = &hostfile->hosts[i];

        require(host->name[0] != '\0' && strlen(host->name) < 64);
        require(host->slots >= 1 && host->slots <= ESI_MAX_RANKS);
        for (size_t j = 0; j < i; j++)
            require(strcmp(host->name, hostfile->hosts[j].name) != 0);
    }
}

FUZZ_TARGET(fuzz_hostfile, data, size)
{
    struct es_error error = {.text = ""};
    struct esi_hostfile hostfile;
    char *text = malloc(size + 1);

    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    if (esi_hostfile_parse(text, "hosts", &error, &hostfile) == 0) {
        check(&hostfile);
        esi_hostfile_fini(&hostfile);
    } else {
        require(error.text[0] != '\0');
    }
    free(text);
    return 0;
}
