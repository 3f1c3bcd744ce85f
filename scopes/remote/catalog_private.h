/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What the files of the catalog share; nobody else includes it. */
#ifndef ES_SCOPES_REMOTE_CATALOG_PRIVATE_H
#define ES_SCOPES_REMOTE_CATALOG_PRIVATE_H

#include "scopes/remote/catalog.h"
#include "scopes/remote/servers.h"

/* The world ranks of a group. */
struct esi_catalog_group {
    uint64_t key[2]; /* of its communicator */
    int size;
    int first;         /* world rank of its first member; -1 = not known */
    int *ranks;        /* `size` of them; NULL = nobody knew when they were asked ... */
    uint64_t asked_ns; /* ... which was then */
};

struct esi_catalog_communicator {
    uint16_t index;
    struct es_communicator_info info;
};

struct esi_catalog_process {
    struct esi_catalog_process_at public; /* first: they are the same to the outside */
    char *host;
    char *program;
    char server[64]; /* host of the tuple server that tells of it */
    uint64_t made;   /* real time of its clock record */
    size_t element_count;
    struct esi_catalog_communicator *communicators;
    size_t communicator_count;
    size_t communicator_capacity;
};

struct esi_catalog_element {
    struct esi_catalog_element_at public;
    char texts[]; /* name and collector */
};

/* A host that does not answer, and when it is asked again. */
struct esi_catalog_silence {
    char host[64];     /* "" = the home server */
    uint64_t pause_ns; /* between attempts; 0 = it answers */
    uint64_t since_ns;
    uint64_t next_ns;
    int code; /* why */
};

struct esi_catalog {
    struct es_servers *servers; /* borrowed */
    struct esi_catalog_process **processes;
    size_t process_count;
    size_t process_capacity;
    struct esi_catalog_element **elements;
    size_t element_count;
    size_t element_capacity;
    struct es_batch silent; /* its notices */
    struct esi_catalog_silence *silences;
    size_t silence_count;
    size_t silence_capacity;
    struct esi_catalog_group *groups;
    size_t group_count;
    size_t group_capacity;
};

/* Accepts NULL. */
void esi_catalog_free_process(struct esi_catalog_process *process);
void esi_catalog_free_groups(struct esi_catalog *catalog);

#endif
