/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * set_blocks.c - reads lines in blocks, which threads parse.
 *
 * Blocks are in a ring.  The calling thread reads the file into free blocks and takes
 * the oldest when it is parsed; workers parse any.  The caller parses a wanted block
 * that no worker has begun, so everything also works without workers.
 */
#include "config.h"

#include "monitors/eventset/set_blocks.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pipeline.h"
#include "monitors/eventset/event_batch.h"
#include "monitors/eventset/set_line.h"

enum { BLOCK_BYTES = 1 << 18, MOST_THREADS = 16, MOST_BLOCKS = MOST_THREADS + 2 };

enum block_state { BLOCK_FREE, BLOCK_READ, BLOCK_TAKEN, BLOCK_PARSED };

struct parsed_block {
    enum block_state state; /* under lock */
    char *text;             /* owned */
    size_t capacity;
    size_t begin; /* start of the first line to parse */
    size_t length;
    uint64_t lines_before;
    struct esi_set_line *line; /* owned */
    struct esi_set_block told;
    struct esi_event_batch events; /* owned; many of their texts are in `text` */
    uint64_t *lines;               /* owned; per event */
    size_t line_capacity;
};

struct esi_set_blocks {
    FILE *stream;
    const char *source;
    unsigned threads; /* requested number */
    bool has_ended;   /* the stream ended or failed */
    int failure;      /* its error, reported after the last block */
    uint64_t lines;   /* number of lines read */
    char *rest;       /* owned: the start of a line whose end is not read yet */
    size_t rest_length;
    size_t rest_capacity;
    struct parsed_block ring[MOST_BLOCKS];
    size_t ring_size;
    size_t head;  /* number of the oldest block; its index is modulo `ring_size` */
    size_t tail;  /* number of the next block to read */
    bool is_lent; /* the caller uses the oldest block */
    pthread_mutex_t lock;
    pthread_cond_t work;
    pthread_cond_t parsed;
    bool is_over;
    pthread_t workers[MOST_THREADS];
    unsigned worker_count;
};

static struct parsed_block *block_at(struct esi_set_blocks *blocks, size_t number)
{
    return &blocks->ring[number % blocks->ring_size];
}

/* --- Parsing ---------------------------------------------------------------------- */

static int keep_event(struct parsed_block *block,
                      const struct es_set_event *event,
                      uint64_t line)
{
    size_t count = block->events.count;

    if (ESI_ARRAY_RESERVE(block->lines, block->line_capacity, count + 1) < 0 ||
        esi_event_batch_add(&block->events, event) < 0)
        return -ENOMEM;
    block->lines[count] = line;
    return 0;
}

static int parse_line(struct parsed_block *block,
                      char *text,
                      size_t length,
                      const struct esi_set_place *place)
{
    struct es_set_event event;
    int code;

    if (strspn(text, " \t\r") == length)
        return 0;
    code = esi_set_line_event(block->line, text, length, place, &event,
                              &block->told.error);
    return code < 0 ? code : keep_event(block, &event, place->line);
}

static void parse_block(const struct esi_set_blocks *blocks, struct parsed_block *block)
{
    struct esi_set_place place = {blocks->source, block->lines_before};
    char *text = block->text + block->begin;
    char *end = block->text + block->length;

    block->events.kept = block->text;
    block->events.kept_bytes = block->length;
    while (text < end && block->told.code == 0) {
        char *stop = memchr(text, '\n', (size_t)(end - text));

        if (!stop)
            stop = end; /* the last line has no end; there is space for the 0 */
        *stop = '\0';
        place.line++;
        block->told.code = parse_line(block, text, (size_t)(stop - text), &place);
        text = stop + 1;
    }
    block->told.line = place.line;
    esi_event_batch_seal(&block->events);
    block->told.events = block->events.events;
    block->told.count = block->events.count;
    block->told.lines = block->lines;
}

static void clear_block(struct parsed_block *block)
{
    esi_event_batch_clear(&block->events);
    block->told = (struct esi_set_block){.count = 0};
}

/* --- Workers ---------------------------------------------------------------------- */

/* Parses a taken block; the lock is held before and after. */
static void parse_taken(struct esi_set_blocks *blocks, struct parsed_block *block)
{
    block->state = BLOCK_TAKEN;
    pthread_mutex_unlock(&blocks->lock);
    parse_block(blocks, block);
    pthread_mutex_lock(&blocks->lock);
    block->state = BLOCK_PARSED;
    pthread_cond_signal(&blocks->parsed);
}

/* The oldest block that is read and not taken, or NULL. */
static struct parsed_block *find_read(struct esi_set_blocks *blocks)
{
    for (size_t number = blocks->head; number < blocks->tail; number++)
        if (block_at(blocks, number)->state == BLOCK_READ)
            return block_at(blocks, number);
    return NULL;
}

static void *run_worker(void *data)
{
    struct esi_set_blocks *blocks = data;

    pthread_mutex_lock(&blocks->lock);
    while (!blocks->is_over) {
        struct parsed_block *block = find_read(blocks);

        if (block)
            parse_taken(blocks, block);
        else
            pthread_cond_wait(&blocks->work, &blocks->lock);
    }
    pthread_mutex_unlock(&blocks->lock);
    return NULL;
}

/* With fewer workers than requested it only takes longer.  Workers block all
 * signals. */
static void start_workers(struct esi_set_blocks *blocks)
{
    unsigned wanted = blocks->threads > 0 ? blocks->threads : esi_pipeline_processors();
    sigset_t all, before;

    if (wanted == 1)
        return;
    if (wanted > MOST_THREADS)
        wanted = MOST_THREADS;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (blocks->worker_count < wanted &&
           pthread_create(&blocks->workers[blocks->worker_count], NULL, run_worker,
                          blocks) == 0)
        blocks->worker_count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    blocks->ring_size = blocks->worker_count + 2;
}

static void stop_workers(struct esi_set_blocks *blocks)
{
    pthread_mutex_lock(&blocks->lock);
    blocks->is_over = true;
    pthread_cond_broadcast(&blocks->work);
    pthread_mutex_unlock(&blocks->lock);
    for (unsigned i = 0; i < blocks->worker_count; i++)
        pthread_join(blocks->workers[i], NULL);
}

/* --- Reading ---------------------------------------------------------------------- */

/* Fills a block from the stream up to its capacity, leaving one byte for a 0. */
static void fill_text(struct esi_set_blocks *blocks, struct parsed_block *block)
{
    size_t room = block->capacity - block->length - 1;
    size_t got;

    errno = 0;
    got = fread(block->text + block->length, 1, room, blocks->stream);
    block->length += got;
    blocks->has_ended = got < room;
    if (blocks->has_ended && ferror(blocks->stream))
        blocks->failure = errno > 0 ? -errno : -EIO;
}

/* Moves the text after the last end of line to the next block. */
static int keep_rest(struct esi_set_blocks *blocks, struct parsed_block *block)
{
    const char *end = memrchr(block->text, '\n', block->length);
    size_t whole = end ? (size_t)(end - block->text) + 1 : 0;

    blocks->rest_length = block->length - whole;
    if (ESI_ARRAY_RESERVE(blocks->rest, blocks->rest_capacity, blocks->rest_length) < 0)
        return -ENOMEM;
    if (blocks->rest_length > 0)
        memcpy(blocks->rest, block->text + whole, blocks->rest_length);
    block->length = whole;
    return 0;
}

static uint64_t count_lines(const char *text, size_t length)
{
    const char *end = text + length;
    uint64_t count = 0;

    for (; (text = memchr(text, '\n', (size_t)(end - text))); text++)
        count++;
    return count;
}

/* Reads whole lines, at least one unless the stream ends.  A line cut off by a read
 * error is dropped. */
static int read_text(struct esi_set_blocks *blocks, struct parsed_block *block)
{
    int code = 0;

    block->begin = block->length = 0;
    if (ESI_ARRAY_RESERVE(block->text, block->capacity,
                          blocks->rest_length + BLOCK_BYTES) < 0)
        return -ENOMEM;
    if (blocks->rest_length > 0)
        memcpy(block->text, blocks->rest, blocks->rest_length);
    block->length = blocks->rest_length;
    blocks->rest_length = 0;
    do {
        if (block->length + 1 >= block->capacity &&
            ESI_ARRAY_RESERVE(block->text, block->capacity, 2 * block->capacity) < 0)
            return -ENOMEM;
        fill_text(blocks, block);
    } while (!blocks->has_ended && !memrchr(block->text, '\n', block->length));
    if (!blocks->has_ended || blocks->failure < 0)
        code = keep_rest(blocks, block);
    block->lines_before = blocks->lines;
    blocks->lines += count_lines(block->text, block->length);
    return code;
}

/* Reads one block into the ring. */
static int read_block(struct esi_set_blocks *blocks)
{
    struct parsed_block *block = block_at(blocks, blocks->tail);
    int code = block->line ? 0 : esi_set_line_create(&block->line);

    if (code == 0)
        code = read_text(blocks, block);
    if (code < 0)
        return code;
    pthread_mutex_lock(&blocks->lock);
    block->state = BLOCK_READ;
    blocks->tail++;
    pthread_cond_signal(&blocks->work);
    pthread_mutex_unlock(&blocks->lock);
    return 0;
}

/* --- Interface -------------------------------------------------------------------- */

int esi_set_blocks_create(FILE *stream,
                          const char *source,
                          unsigned threads,
                          struct esi_set_blocks **ret_blocks)
{
    struct esi_set_blocks *blocks = calloc(1, sizeof *blocks);

    if (!blocks)
        return -ENOMEM;
    blocks->stream = stream;
    blocks->source = source;
    blocks->threads = threads;
    blocks->ring_size = 1;
    pthread_mutex_init(&blocks->lock, NULL);
    pthread_cond_init(&blocks->work, NULL);
    pthread_cond_init(&blocks->parsed, NULL);
    *ret_blocks = blocks;
    return 0;
}

void esi_set_blocks_destroy(struct esi_set_blocks *blocks)
{
    if (!blocks)
        return;
    stop_workers(blocks);
    for (size_t i = 0; i < MOST_BLOCKS; i++) {
        struct parsed_block *block = &blocks->ring[i];

        esi_set_line_destroy(block->line);
        esi_event_batch_fini(&block->events);
        free(block->text);
        free(block->lines);
    }
    free(blocks->rest);
    pthread_cond_destroy(&blocks->parsed);
    pthread_cond_destroy(&blocks->work);
    pthread_mutex_destroy(&blocks->lock);
    free(blocks);
}

int esi_set_blocks_header(struct esi_set_blocks *blocks,
                          const char **ret_text,
                          size_t *ret_length,
                          size_t *ret_read)
{
    struct parsed_block *block = block_at(blocks, 0);
    int code = read_block(blocks);
    char *end;

    if (code < 0 || block->length == 0)
        return code < 0 ? code : blocks->failure;
    end = memchr(block->text, '\n', block->length);
    if (!end)
        end = block->text + block->length;
    *ret_text = block->text;
    *ret_length = (size_t)(end - block->text);
    *ret_read = block->length;
    block->begin = *ret_length + 1 < block->length ? *ret_length + 1 : block->length;
    block->lines_before = 1;
    return 1;
}

/* Reads ahead into all free blocks.  Errors are reported in their turn. */
static void read_ahead(struct esi_set_blocks *blocks)
{
    while (!blocks->has_ended && blocks->tail < blocks->head + blocks->ring_size) {
        int code = read_block(blocks);

        if (code < 0) {
            blocks->failure = code;
            blocks->has_ended = true;
        }
    }
}

static void wait_for(struct esi_set_blocks *blocks, struct parsed_block *block)
{
    pthread_mutex_lock(&blocks->lock);
    while (block->state != BLOCK_PARSED)
        if (block->state == BLOCK_READ)
            parse_taken(blocks, block);
        else
            pthread_cond_wait(&blocks->parsed, &blocks->lock);
    pthread_mutex_unlock(&blocks->lock);
}

static void take_back(struct esi_set_blocks *blocks)
{
    clear_block(block_at(blocks, blocks->head));
    pthread_mutex_lock(&blocks->lock);
    block_at(blocks, blocks->head)->state = BLOCK_FREE;
    blocks->head++;
    pthread_mutex_unlock(&blocks->lock);
    blocks->is_lent = false;
}

int esi_set_blocks_next(struct esi_set_blocks *blocks, struct esi_set_block **ret_block)
{
    if (blocks->is_lent) {
        take_back(blocks);
        /* The ring grows while it is empty, because indexes depend on its size. */
        if (!blocks->has_ended && blocks->ring_size == 1)
            start_workers(blocks);
    }
    read_ahead(blocks);
    if (blocks->head == blocks->tail)
        return blocks->failure;
    wait_for(blocks, block_at(blocks, blocks->head));
    blocks->is_lent = true;
    *ret_block = &block_at(blocks, blocks->head)->told;
    return 1;
}
