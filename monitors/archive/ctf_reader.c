/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* ctf_reader.c - reads one stream of an archive. */
#include "config.h"

#include "monitors/archive/ctf_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_BYTES = sizeof(struct esi_ctf_head), PIECE_BYTES = 4096 };

struct esi_ctf_reader {
    struct esi_ctf_reader_config config; /* name is owned */
    uint8_t uuid[16];
    uint8_t piece[PIECE_BYTES];
    uint64_t piece_offset; /* position in the file */
    size_t piece_bytes;
    uint64_t offset;  /* of the next record or head */
    uint64_t content; /* end of the packet's records */
    uint64_t end;     /* end of the packet */
    uint64_t sound;   /* end of the last packet that was read completely */
    uint64_t size;    /* size of the file when it was opened */
    uint64_t packets; /* number of packets begun */
    uint64_t discarded;
    uint64_t lost; /* not yet reported */
    uint64_t index;
    uint64_t last_ns;
    bool begins_packet;
    bool peeked;
    struct esi_ctf_record record;
};

int esi_ctf_reader_create(const struct esi_ctf_reader_config *config,
                          struct esi_ctf_reader **ret_reader)
{
    struct esi_ctf_reader *reader;
    struct stat status;

    if (fstatat(config->directory, config->name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -EINVAL;
    reader = calloc(1, sizeof *reader);
    if (!reader)
        return -ENOMEM;
    reader->config = *config;
    memcpy(reader->uuid, config->uuid, sizeof reader->uuid);
    reader->size = (uint64_t)status.st_size;
    reader->config.name = strdup(config->name);
    if (!reader->config.name) {
        free(reader);
        return -ENOMEM;
    }
    *ret_reader = reader;
    return 0;
}

void esi_ctf_reader_destroy(struct esi_ctf_reader *reader)
{
    int saved_errno = errno;

    if (!reader)
        return;
    free((char *)reader->config.name);
    free(reader);
    errno = saved_errno;
}

/* --- Bytes ------------------------------------------------------------------- */

static int fail_reader(const struct esi_ctf_reader *reader,
                       struct es_error *error,
                       const char *words)
{
    return es_error_set_at(error, -EBADMSG, reader->config.name, 0, 0,
                           "the packet around byte %" PRIu64 " is damaged: %s",
                           reader->offset, words);
}

static int read_piece(struct esi_ctf_reader *reader)
{
    int file = openat(reader->config.directory, reader->config.name,
                      O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    size_t done = 0;
    int result = 0;

    if (file < 0)
        return -errno;
    reader->piece_offset = reader->offset;
    while (done < PIECE_BYTES && result == 0) {
        ssize_t got = pread(file, reader->piece + done, PIECE_BYTES - done,
                            (off_t)(reader->offset + done));

        if (got < 0 && errno != EINTR)
            result = -errno;
        if (got == 0)
            break;
        if (got > 0)
            done += (size_t)got;
    }
    reader->piece_bytes = done;
    close(file);
    return result;
}

/* Reads `count` bytes at the current position, which the size of the file must cover.
 * Returns -EIO if the file has become shorter. */
static int look_ahead(struct esi_ctf_reader *reader,
                      size_t count,
                      const uint8_t **ret_bytes)
{
    uint64_t within = reader->offset - reader->piece_offset;

    if (reader->offset < reader->piece_offset || within + count > reader->piece_bytes) {
        int result = read_piece(reader);

        if (result < 0)
            return result;
        within = 0;
        if (count > reader->piece_bytes)
            return -EIO;
    }
    *ret_bytes = reader->piece + within;
    return 0;
}

/* --- Packets ----------------------------------------------------------------- */

/* Returns what is wrong with a head; NULL if it is valid. */
static const char *check_head(const struct esi_ctf_reader *reader,
                              const struct esi_ctf_head *head)
{
    uint64_t records = head->content_bits / 8 - HEAD_BYTES;

    if (head->magic != ESI_CTF_MAGIC)
        return "it does not begin like a packet";
    if (memcmp(head->uuid, reader->uuid, sizeof head->uuid) != 0)
        return "it belongs to another trace";
    if (head->kind != reader->config.kind || head->element != reader->config.element)
        return "it belongs to another stream";
    if (head->packet_bits % 8 || head->content_bits % 8 ||
        head->content_bits < HEAD_BYTES * 8 || head->packet_bits < head->content_bits ||
        head->packet_bits / 8 > ESI_CTF_PACKET_MAX ||
        records % esi_ctf_record_bytes(reader->config.kind))
        return "its size is impossible";
    if (reader->packets > 0 && head->discarded < reader->discarded)
        return "its count of losses is smaller than that of the packet before";
    if (head->index > INT64_MAX || head->index < reader->index)
        return "its tuples were counted before";
    return NULL;
}

/* Begins the packet at the current position.  Returns 1, or 0 if it is incomplete. */
static int begin_packet(struct esi_ctf_reader *reader, struct es_error *error)
{
    const char *words;
    const uint8_t *bytes;
    struct esi_ctf_head head;
    int result;

    if (reader->size - reader->offset < HEAD_BYTES)
        return 0;
    result = look_ahead(reader, HEAD_BYTES, &bytes);
    if (result < 0)
        return result;
    memcpy(&head, bytes, sizeof head);
    words = check_head(reader, &head);
    if (words)
        return fail_reader(reader, error, words);
    if (reader->size - reader->offset < head.packet_bits / 8)
        return 0;
    reader->lost += head.discarded - (reader->packets > 0 ? reader->discarded : 0);
    reader->discarded = head.discarded;
    reader->packets++;
    reader->index = head.index;
    reader->begins_packet = true;
    reader->content = reader->offset + head.content_bits / 8;
    reader->end = reader->offset + head.packet_bits / 8;
    reader->offset += HEAD_BYTES;
    return 1;
}

/* --- Records ----------------------------------------------------------------- */

static void take_late(struct esi_ctf_reader *reader, const uint8_t *bytes)
{
    struct esi_ctf_late_record record;

    memcpy(&record, bytes, sizeof record);
    reader->index = record.index;
    reader->record.tuple = (struct es_tuple){
        .stop = record.stop,
        .operation = record.operation,
        .communicator = record.communicator,
        .start = record.start,
        .sequence = record.sequence,
        .peer = record.peer,
        .tag = record.tag,
        .bytes = record.bytes,
    };
}

static int take_record(struct esi_ctf_reader *reader, struct es_error *error)
{
    uint64_t index = reader->index;
    const uint8_t *bytes;
    int result = look_ahead(reader, esi_ctf_record_bytes(reader->config.kind), &bytes);

    if (result < 0)
        return result;
    if (reader->config.kind == ESI_CTF_LATE)
        take_late(reader, bytes);
    else
        memcpy(&reader->record.tuple, bytes, sizeof reader->record.tuple);
    if (reader->index < index || reader->index > INT64_MAX)
        return fail_reader(reader, error, "its tuples are out of order");
    if (reader->record.tuple.operation == 0 || reader->record.tuple.stop == 0)
        return fail_reader(reader, error, "it has a record that was never written");
    if (!esi_ctf_has_times(&reader->record.tuple))
        return fail_reader(reader, error, "it has a time that cannot be");
    if (reader->record.tuple.stop < reader->last_ns)
        return fail_reader(reader, error, "its time goes backwards");
    reader->last_ns = reader->record.tuple.stop;
    reader->record.index = reader->index++;
    reader->record.lost = reader->lost;
    reader->record.begins_packet = reader->begins_packet;
    reader->lost = 0;
    reader->begins_packet = false;
    reader->peeked = true;
    return 1;
}

int esi_ctf_reader_peek(struct esi_ctf_reader *reader,
                        const struct esi_ctf_record **ret_record,
                        struct es_error *error)
{
    int result = 1;

    while (!reader->peeked && result > 0) {
        if (reader->offset < reader->content) {
            result = take_record(reader, error);
            continue;
        }
        reader->offset = reader->sound = reader->end;
        result = begin_packet(reader, error);
    }
    if (result > 0)
        *ret_record = &reader->record;
    return result;
}

void esi_ctf_reader_next(struct esi_ctf_reader *reader)
{
    reader->offset += esi_ctf_record_bytes(reader->config.kind);
    reader->peeked = false;
}

uint64_t esi_ctf_reader_take_lost(struct esi_ctf_reader *reader)
{
    uint64_t lost = reader->record.lost;

    reader->record.lost = 0;
    return lost;
}

uint64_t esi_ctf_reader_lost_at_end(const struct esi_ctf_reader *reader)
{
    return reader->lost;
}

uint64_t esi_ctf_reader_end(const struct esi_ctf_reader *reader)
{
    return reader->sound;
}
