/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_spill.c - pages that move to a file: see epoch_spill.h. */
#include "config.h"

#include "monitors/order/epoch/epoch_spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct esi_spill {
    int file;
    uint64_t end;
};

/* Not all file systems know files that never had a name. */
static int open_named(const char *folder)
{
    char *path = NULL;
    int file;

    if (asprintf(&path, "%s/eventspace-order-XXXXXX", folder) < 0)
        return -ENOMEM;
    file = mkostemp(path, O_CLOEXEC);
    file = file < 0 ? -errno : file;
    if (file >= 0)
        unlink(path);
    free(path);
    return file;
}

int esi_spill_create(const char *folder,
                     struct es_error *error,
                     struct esi_spill **ret_spill)
{
    struct esi_spill *spill = calloc(1, sizeof *spill);

    if (!spill)
        return es_error_set(error, -ENOMEM, "out of memory");
    spill->file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (spill->file < 0)
        spill->file = open_named(folder);
    if (spill->file < 0) {
        int code = spill->file;

        free(spill);
        return es_error_set(error, code, "cannot spill to %s: %s", folder,
                            strerror(-code));
    }
    *ret_spill = spill;
    return 0;
}

void esi_spill_destroy(struct esi_spill *spill)
{
    if (!spill)
        return;
    close(spill->file);
    free(spill);
}

uint64_t esi_spill_end(const struct esi_spill *spill)
{
    return spill->end;
}

static int write_all(const struct esi_spill *spill, const char *memory, size_t bytes)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t count = pwrite(spill->file, memory + done, bytes - done,
                               (off_t)(spill->end + done));

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count < 0 ? -errno : -ENOSPC;
        done += (size_t)count;
    }
    return 0;
}

/* The file's pages take the place of the memory's, in one step for whoever reads. */
static int replace(const struct esi_spill *spill, void *memory, size_t bytes)
{
    void *pages =
        mmap(NULL, bytes, PROT_READ, MAP_SHARED, spill->file, (off_t)spill->end);
    int code = 0;

    if (pages == MAP_FAILED)
        return -errno;
    if (memcmp(pages, memory, bytes) != 0)
        code = -EIO;
    else if (mremap(pages, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, memory) ==
             MAP_FAILED)
        code = -errno;
    if (code < 0)
        munmap(pages, bytes);
    else /* It need not be in memory; no matter if it stays. */
        (void)madvise(memory, bytes, MADV_DONTNEED);
    return code;
}

int esi_spill_write(struct esi_spill *spill, void *memory, size_t bytes)
{
    int code = write_all(spill, memory, bytes);

    if (code >= 0)
        code = replace(spill, memory, bytes);
    if (code < 0)
        esi_spill_free(spill, spill->end, bytes);
    else
        spill->end += bytes;
    return code;
}

void esi_spill_free(struct esi_spill *spill, uint64_t at, uint64_t bytes)
{
    /* Where that cannot be done the space is given back at the end. */
    (void)fallocate(spill->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at,
                    (off_t)bytes);
}
