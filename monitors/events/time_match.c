/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* time_match.c - a table with chains, and a list from the oldest match to the newest.
 */
#include "config.h"

#include "monitors/events/time_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct es_time_matcher {
    struct es_match **chains; /* owned */
    size_t chain_count;       /* a power of two */
    size_t max;
    size_t count;
    uint64_t unmatched;
    struct es_match *oldest;
    struct es_match *newest;
};

static size_t chain_of(const struct es_match_key *key, size_t chain_count)
{
    uint64_t words[sizeof *key / sizeof(uint64_t)];
    uint64_t hash = 0;

    memcpy(words, key, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return (size_t)hash & (chain_count - 1);
}

int es_time_matcher_create(size_t max, struct es_time_matcher **ret_matcher)
{
    struct es_time_matcher *matcher = calloc(1, sizeof *matcher);

    if (!matcher)
        return -ENOMEM;
    matcher->max = max;
    matcher->chain_count = 1024;
    matcher->chains = calloc(matcher->chain_count, sizeof *matcher->chains);
    if (!matcher->chains) {
        free(matcher);
        return -ENOMEM;
    }
    *ret_matcher = matcher;
    return 0;
}

void es_time_matcher_destroy(struct es_time_matcher *matcher)
{
    if (!matcher)
        return;
    while (matcher->oldest) {
        struct es_match *match = matcher->oldest;

        matcher->oldest = match->newer;
        free(match);
    }
    free(matcher->chains);
    free(matcher);
}

/* Without memory for more the chains just stay long. */
static void widen(struct es_time_matcher *matcher)
{
    size_t chain_count = matcher->chain_count * 4;
    struct es_match **chains = calloc(chain_count, sizeof *chains);

    if (!chains)
        return;
    for (struct es_match *match = matcher->oldest; match; match = match->newer) {
        size_t chain = chain_of(&match->key, chain_count);

        match->next = chains[chain];
        chains[chain] = match;
    }
    free(matcher->chains);
    matcher->chains = chains;
    matcher->chain_count = chain_count;
}

static void append(struct es_time_matcher *matcher, struct es_match *match)
{
    match->older = matcher->newest;
    match->newer = NULL;
    if (matcher->newest)
        matcher->newest->newer = match;
    else
        matcher->oldest = match;
    matcher->newest = match;
}

static void unlist(struct es_time_matcher *matcher, struct es_match *match)
{
    if (match->older)
        match->older->newer = match->newer;
    else
        matcher->oldest = match->newer;
    if (match->newer)
        match->newer->older = match->older;
    else
        matcher->newest = match->older;
}

static void forget(struct es_time_matcher *matcher, struct es_match *match)
{
    struct es_match **at =
        &matcher->chains[chain_of(&match->key, matcher->chain_count)];

    while (*at != match)
        at = &(*at)->next;
    *at = match->next;
    unlist(matcher, match);
    matcher->count--;
    if (match->members_left > 0)
        matcher->unmatched += match->members - match->members_left;
    free(match);
}

/* Makes room for one more.  What is in use is passed over; it is looked at again when
 * all others have been. */
static void age(struct es_time_matcher *matcher)
{
    struct es_match *oldest = matcher->oldest;

    if (matcher->count < matcher->max || !oldest)
        return;
    if (oldest->users == 0) {
        forget(matcher, oldest);
        return;
    }
    unlist(matcher, oldest);
    append(matcher, oldest);
}

static struct es_match *find(const struct es_time_matcher *matcher,
                             const struct es_match_key *key)
{
    struct es_match *match = matcher->chains[chain_of(key, matcher->chain_count)];

    while (match && memcmp(&match->key, key, sizeof *key) != 0)
        match = match->next;
    return match;
}

static struct es_match *make(struct es_time_matcher *matcher,
                             const struct es_match_key *key,
                             uint32_t members,
                             uint32_t befores)
{
    struct es_match *match = calloc(1, sizeof *match);
    size_t chain;

    if (!match)
        return NULL;
    age(matcher);
    if (matcher->count >= matcher->chain_count)
        widen(matcher);
    match->key = *key;
    match->members = members;
    match->members_left = members;
    match->befores_left = befores;
    chain = chain_of(key, matcher->chain_count);
    match->next = matcher->chains[chain];
    matcher->chains[chain] = match;
    append(matcher, match);
    matcher->count++;
    return match;
}

struct es_match *es_time_matcher_meet(struct es_time_matcher *matcher,
                                      const struct es_match_key *key,
                                      uint32_t members,
                                      uint32_t befores,
                                      int *ret_result)
{
    struct es_match *match = find(matcher, key);

    *ret_result = 0;
    if (match && (match->members_left == 0 || match->members != members))
        return NULL;
    if (!match)
        match = make(matcher, key, members, befores);
    if (!match) {
        *ret_result = -ENOMEM;
        return NULL;
    }
    match->members_left--;
    match->users++;
    return match;
}

void es_time_matcher_leave(struct es_time_matcher *matcher, struct es_match *match)
{
    match->users--;
    if (match->users == 0 && match->members_left == 0)
        forget(matcher, match);
}
