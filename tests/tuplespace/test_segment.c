/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The owning side of segments: the file, its header, and adding elements. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/process.h"
#include "fixture.h"
#include "tests/suites.h"
#include "tuplespace/started.h"

static struct esi_segment_config config_for(const char *run)
{
    struct esi_segment_config config;

    esi_segment_config_init(&config);
    config.run = run;
    config.host = "testhost";
    config.calibrate_ns = 0;
    return config;
}

static void the_file_is_private_and_nearly_empty(void **state)
{
    struct esi_segment_config config;
    struct es_segment *segment;
    struct stat status;
    char run[64], name[128];
    int fd;

    (void)state;
    config = config_for(fixture_run("segment", run));
    config.rank = 3;
    assert_int_equal(esi_segment_create(&config, NULL, &segment), 0);
    snprintf(name, sizeof name, "/eventspace.%s.testhost.3.%d", run, (int)getpid());
    fd = shm_open(name, O_RDONLY, 0);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &status), 0);
    close(fd);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_true(status.st_size > 1 << 30);
    assert_in_range(status.st_blocks * 512, 1, 65536);
    esi_segment_destroy(segment);
    assert_true(shm_open(name, O_RDONLY, 0) < 0);
}

static void the_header_tells_who_writes(void **state)
{
    struct esi_segment_layout *layout;
    struct es_segment *segment;
    char run[64];

    (void)state;
    segment = fixture_segment(fixture_run("segment", run), 2);
    layout = esi_segment_layout(segment);
    assert_int_equal(layout->magic, ES_SEGMENT_MAGIC);
    assert_int_equal(layout->pid, getpid());
    assert_true(layout->pid_start > 0);
    assert_string_equal(layout->run, run);
    assert_int_equal(layout->world_rank, 2);
    assert_true(layout->clock.frequency_hz > 0);
    esi_segment_set_rank(segment, 7, 9);
    assert_int_equal(layout->world_rank, 7);
    assert_int_equal(layout->world_size, 9);
    esi_segment_destroy(segment);
}

/* A header of minor version 2 is shorter.  The bytes behind it
 * are not read as fields. */
static void a_long_header_tells_job_and_launcher(void **state)
{
    struct esi_segment_config config;
    struct es_segment_info info;
    struct es_segment *segment;
    struct es_run *run;
    char name[64];

    (void)state;
    config = config_for(fixture_run("segment", name));
    config.job = "4711";
    config.launcher = "srun";
    assert_int_equal(esi_segment_create(&config, NULL, &segment), 0);
    run = fixture_open(name);
    es_segment_view_info(es_run_segment(run, 0), &info);
    assert_string_equal(info.job, "4711");
    assert_string_equal(info.launcher, "srun");
    es_run_close(run);
    esi_segment_layout(segment)->header_bytes = ES_SEGMENT_HEADER_BYTES;
    run = fixture_open(name);
    assert_int_equal(es_run_segment_count(run), 1);
    es_segment_view_info(es_run_segment(run, 0), &info);
    assert_string_equal(info.job, "");
    assert_string_equal(info.launcher, "");
    es_run_close(run);
    esi_segment_destroy(segment);
}

static struct es_segment *make_spawned(const char *run, int rank, uint64_t spawn)
{
    struct esi_segment_config config;
    struct es_segment *segment;

    esi_segment_config_init(&config);
    config.run = run;
    config.host = "here";
    config.program = "test";
    config.rank = rank;
    config.calibrate_ns = 0;
    config.spawn = spawn;
    assert_int_equal(esi_segment_create(&config, NULL, &segment), 0);
    return segment;
}

static void a_spawned_world_is_found_by_its_mark(void **state)
{
    struct es_segment *segments[3];
    char run[64];

    (void)state;
    fixture_run("segment", run);
    segments[0] = make_spawned(run, 1, 77); /* a launched rank: never found */
    segments[1] = make_spawned(run, 1003, 76);
    segments[2] = make_spawned(run, 2001, 77);
    assert_int_equal(esi_segment_find_spawned(run, 76), 1000);
    assert_int_equal(esi_segment_find_spawned(run, 77), 2000);
    assert_int_equal(esi_segment_find_spawned(run, 78), -ENOENT);
    esi_segment_layout(segments[2])->pid_start++; /* as if the process were gone */
    assert_int_equal(esi_segment_find_spawned(run, 77), -ENOENT);
    for (int i = 0; i < 3; i++)
        esi_segment_destroy(segments[i]);
}

static void a_closed_segment_stays_for_readers(void **state)
{
    struct es_segment *segment;
    struct esi_writer writer;
    struct es_tuple tuple = fixture_tuple(0);
    struct es_cursor cursor = {0};
    struct es_run *run;
    char id[64];

    (void)state;
    segment = fixture_segment(fixture_run("segment", id), 0);
    fixture_element(segment, "0.0/test", 15, &writer);
    esi_writer_write(&writer, &tuple);
    esi_segment_close(segment);
    run = fixture_open(id);
    assert_int_equal(es_element_read(fixture_find(run, "0.0/test"), &cursor, &tuple, 1),
                     1);
    es_run_close(run);
    /* Its process is alive, so the segment counts as live. */
    assert_int_equal(es_run_remove(id, false), 0);
    assert_int_equal(es_run_remove(id, true), 1);
}

static void a_segment_left_under_the_name_is_replaced(void **state)
{
    struct es_segment *old, *young;
    char run[64];

    (void)state;
    old = fixture_segment(fixture_run("segment", run), 0);
    young = fixture_segment(run, 0);
    esi_segment_close(old);
    esi_segment_destroy(young);
    assert_int_equal(es_run_remove(run, true), 0);
}

/* The kinds of files that may occupy a segment's name. */
enum intruder { FILE_OF_OURS, FILE_OF_ANOTHER, LINK, FOLDER, FIFO, LEFT_OF_ANOTHER };

static void make_intruder(enum intruder kind, const char *path, const char *target)
{
    struct esi_segment_layout header = {.magic = ES_SEGMENT_MAGIC, .pid = getpid()};
    int fd;

    if (kind == LINK) {
        assert_int_equal(symlink(target, path), 0);
    } else if (kind == FOLDER) {
        assert_int_equal(mkdir(path, 0700), 0);
    } else if (kind == FIFO) {
        assert_int_equal(mkfifo(path, 0600), 0);
    } else {
        fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
        assert_true(fd >= 0);
        if (kind == LEFT_OF_ANOTHER)
            assert_int_equal(write(fd, &header, sizeof header), sizeof header);
        else
            assert_int_equal(write(fd, "mine", 4), 4);
        close(fd);
        if (kind != FILE_OF_OURS)
            assert_int_equal(chown(path, 12345, 12345), 0);
    }
}

static void check_untouched(enum intruder kind, const char *path, const char *target)
{
    struct stat status;

    assert_int_equal(lstat(path, &status), 0);
    if (kind == FILE_OF_OURS || kind == FILE_OF_ANOTHER)
        assert_int_equal(status.st_size, 4);
    if (kind == LINK) {
        assert_true(S_ISLNK(status.st_mode));
        assert_int_equal(stat(target, &status), 0);
        assert_int_equal(status.st_size, 4);
    }
}

static void a_name_that_is_taken_keeps_nobody_uncollected(void **state)
{
    static const enum intruder kinds[] = {FILE_OF_OURS,    LINK,           FOLDER, FIFO,
                                          FILE_OF_ANOTHER, LEFT_OF_ANOTHER};
    char run[64], path[160], target[160];
    struct esi_segment_config config;

    (void)state;
    config = config_for(fixture_run("rival", run));
    config.rank = 3;
    snprintf(path, sizeof path, "/dev/shm/eventspace.%s.testhost.3.%d", run,
             (int)getpid());
    snprintf(target, sizeof target, "/dev/shm/target-%s", run);
    make_intruder(FILE_OF_OURS, target, NULL);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        bool others = kinds[i] == FILE_OF_ANOTHER || kinds[i] == LEFT_OF_ANOTHER;
        struct es_segment *segment;
        struct esi_writer writer;
        unsigned int user;
        struct es_run *seen;

        if (others && geteuid() != 0)
            continue; /* only root can give a file to another user */
        make_intruder(kinds[i], path, target);
        assert_int_equal(esi_segment_create(&config, NULL, &segment), 0);
        assert_true(esi_segment_has_rival(segment, &user));
        assert_int_equal(user, others ? 12345 : geteuid());
        fixture_element(segment, "3.0/test", 15, &writer);
        seen = fixture_open(run);
        assert_non_null(fixture_find(seen, "3.0/test"));
        es_run_close(seen);
        esi_segment_destroy(segment);
        check_untouched(kinds[i], path, target);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(unlink(target), 0);
    assert_int_equal(es_run_remove(run, true), 0);
}

/* The segment's file was removed, and another one was made under its name. */
static void another_file_of_the_name_is_not_removed(void **state)
{
    char run[64], path[160];
    struct es_segment *segment;

    (void)state;
    segment = fixture_segment(fixture_run("renamed", run), 3);
    snprintf(path, sizeof path, "/dev/shm/eventspace.%s.testhost.local.3.%d", run,
             (int)getpid());
    assert_int_equal(unlink(path), 0);
    make_intruder(FILE_OF_OURS, path, NULL);
    esi_segment_destroy(segment);
    check_untouched(FILE_OF_OURS, path, NULL);
    assert_int_equal(unlink(path), 0);
}

/* --- Segments made before the first MPI call -------------------------------------- */

/* Makes one of this process, and opens the run. */
static struct es_run *make_started(char name[64], struct esi_segment_config *ret_config)
{
    struct es_run *run;

    *ret_config = config_for(fixture_run("started", name));
    ret_config->rank = 3;
    ret_config->size = 4;
    ret_config->continues = true;
    assert_int_equal(esi_segment_create_started(ret_config, NULL), 0);
    assert_non_null(getenv(ES_STARTED_VARIABLE));
    run = fixture_open(name);
    assert_int_equal(es_run_segment_count(run), 1);
    assert_true(esi_segment_view_is_before_mpi(es_run_segment(run, 0)));
    return run;
}

static void the_process_continues_its_first_segment(void **state)
{
    struct esi_segment_config config;
    struct es_segment *segment;
    struct es_segment_info info;
    struct esi_writer writer;
    char name[64];
    struct es_run *run = make_started(name, &config);

    (void)state;
    config.rank = 5;
    config.program = "later";
    assert_int_equal(esi_segment_create(&config, NULL, &segment), 0);
    assert_null(getenv(ES_STARTED_VARIABLE));
    fixture_element(segment, "5.0/test", 15, &writer);
    assert_true(es_run_refresh(run) >= 0);
    assert_int_equal(es_run_segment_count(run), 1);
    assert_false(esi_segment_view_is_before_mpi(es_run_segment(run, 0)));
    assert_non_null(fixture_find(run, "5.0/test"));
    es_segment_view_info(es_run_segment(run, 0), &info);
    assert_int_equal(info.rank, 5);
    es_run_close(run);
    run = fixture_open(name); /* readers copy the program when they attach */
    es_segment_view_info(es_run_segment(run, 0), &info);
    assert_string_equal(info.program, "later");
    es_run_close(run);
    esi_segment_destroy(segment);
    assert_int_equal(es_run_remove(name, true), 0);
}

/* In a child: it makes its own segment, or is not collected. */
static void pass_on_in_child(const struct esi_segment_config *config, bool is_collected)
{
    struct es_segment *segment;
    int status;
    pid_t child = fork();

    if (child == 0) {
        /* A file size limit must cause no signal. */
        const struct rlimit none = {0, 0};
        if (is_collected)
            _exit(esi_segment_create(config, NULL, &segment) != 0);
        setrlimit(RLIMIT_FSIZE, &none);
        esi_segment_pass_on();
        _exit(getenv(ES_STARTED_VARIABLE) != NULL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_child_passes_the_first_segment_on(void **state)
{
    (void)state;
    for (int is_collected = 0; is_collected < 2; is_collected++) {
        struct esi_segment_config config;
        struct es_segment_info info;
        struct es_segment *segment;
        char name[64];
        struct es_run *before = make_started(name, &config);

        pass_on_in_child(&config, is_collected);
        pass_on_in_child(&config, is_collected); /* a second one finds nothing */
        es_segment_view_info(es_run_segment(before, 0), &info);
        assert_int_equal(info.rank, -1);
        es_run_close(before);
        assert_int_equal(es_run_remove(name, true), is_collected ? 2 : 0);
        /* The process itself can still be collected. */
        assert_int_equal(esi_segment_create(&config, NULL, &segment), 0);
        esi_segment_destroy(segment);
    }
}

static void a_first_segment_that_does_not_fit_is_replaced(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct esi_segment_config config;
        struct es_segment *segment;
        struct es_run *after;
        char name[64];

        es_run_close(make_started(name, &config));
        if (i == 0)
            config.host = "otherhost";
        else
            config.arena_bytes /= 2;
        assert_int_equal(esi_segment_create(&config, NULL, &segment), 0);
        after = fixture_open(name);
        assert_int_equal(es_run_segment_count(after), 1);
        assert_false(esi_segment_view_is_before_mpi(es_run_segment(after, 0)));
        es_run_close(after);
        esi_segment_destroy(segment);
        assert_int_equal(es_run_remove(name, true), 0);
    }
}

/* The variable comes from the environment: whatever it says, nothing else is opened. */
static void a_wrong_name_of_a_first_segment_is_ignored(void **state)
{
    static const char *const names[] = {"", "x", "/etc/passwd", "/eventspace.a.b.0.1",
                                        "/eventspace.a.b.0.1/../../etc/passwd"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        setenv(ES_STARTED_VARIABLE, names[i], 1);
        esi_segment_pass_on();
        assert_null(getenv(ES_STARTED_VARIABLE));
    }
}

static void bad_names_are_refused_in_words(void **state)
{
    static const struct {
        const char *run;
        const char *host;
        const char *says;
    } rows[] = {
        {"a..b", "h", "run id 'a..b'"},
        {"", "h", "run id ''"},
        {"ok", "", "host name ''"},
        {"ok", "a/b", "host name 'a/b'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct esi_segment_config config = config_for(rows[i].run);
        struct es_error error = {.text = ""};
        struct es_segment *segment;

        config.host = rows[i].host;
        assert_int_equal(esi_segment_create(&config, &error, &segment), -EINVAL);
        assert_non_null(strstr(error.text, rows[i].says));
    }
}

static void bad_elements_are_refused(void **state)
{
    static const char long_name[] =
        "0123456789012345678901234567890123456789012345678901234567890123";
    struct esi_element_config rows[] = {
        fixture_config("x", 0),        fixture_config("x", (1u << 24) + 1),
        fixture_config(long_name, 15), fixture_config("x", 15),
        fixture_config("x", 15),       fixture_config("x", 15),
    };
    struct es_segment *segment;
    struct esi_writer writer;
    char run[64];

    (void)state;
    rows[3].tuple_bytes = 40;
    rows[4].kind = 0;
    rows[5].collector = long_name;
    segment = fixture_segment(fixture_run("segment", run), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(esi_segment_add_element(segment, &rows[i], &writer), -EINVAL);
    assert_int_equal(esi_segment_layout(segment)->element_count, 0);
    esi_segment_destroy(segment);
}

static void the_ring_is_the_next_power_of_two(void **state)
{
    static const struct {
        uint32_t threshold;
        uint32_t capacity;
    } rows[] = {{1, 2},   {2, 4},   {3, 4},       {4, 8},
                {15, 16}, {16, 32}, {4095, 4096}, {4096, 8192}};
    struct es_segment *segment;
    struct esi_writer writer;
    char run[64], name[64];

    (void)state;
    segment = fixture_segment(fixture_run("segment", run), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(name, sizeof name, "0.%zu/test", i);
        fixture_element(segment, name, rows[i].threshold, &writer);
        assert_int_equal(writer.element->capacity, rows[i].capacity);
        assert_int_equal(writer.element->threshold, rows[i].threshold);
        assert_int_equal((uintptr_t)writer.ring % ES_CACHE_LINE, 0);
    }
    esi_segment_destroy(segment);
}

static void a_full_directory_refuses_and_counts(void **state)
{
    struct esi_element_config config = fixture_config("x", 15);
    struct es_segment *segment;
    struct esi_writer writer;
    char run[64], name[64];

    (void)state;
    segment = fixture_segment(fixture_run("segment", run), 0);
    for (int i = 0; i < 64; i++) {
        snprintf(name, sizeof name, "0.%d/test", i);
        fixture_element(segment, name, 15, &writer);
    }
    assert_int_equal(esi_segment_add_element(segment, &config, &writer), -ENOSPC);
    assert_int_equal(esi_segment_layout(segment)->elements_refused, 1);
    esi_segment_destroy(segment);
}

static void a_name_is_taken_once(void **state)
{
    static const char *const names[] = {"0.0/x", "0.0/y", "0.1/x", "0.1/y", "1.0/x"};
    enum { COUNT = sizeof names / sizeof *names };
    struct es_segment *segment;
    struct esi_writer writer;
    char run[64];

    (void)state;
    segment = fixture_segment(fixture_run("segment", run), 0);
    for (int i = 0; i < 2 * COUNT; i++) {
        struct esi_element_config config = fixture_config(names[i % COUNT], 15);

        assert_int_equal(esi_segment_add_element(segment, &config, &writer),
                         i < COUNT ? 0 : -EEXIST);
    }
    assert_int_equal(esi_segment_layout(segment)->element_count, COUNT);
    assert_int_equal(esi_segment_layout(segment)->elements_refused, 0);
    esi_segment_destroy(segment);
}

static void a_full_arena_shrinks_thresholds(void **state)
{
    struct esi_element_config config = fixture_config("0.0/big", 1 << 20);
    struct es_segment *segment;
    struct esi_writer writer;
    char run[64];

    (void)state;
    /* The element asks for 36 MiB of an arena of 16 MiB: 2^18 slots fit. */
    segment = fixture_segment(fixture_run("segment", run), 0);
    assert_int_equal(esi_segment_add_element(segment, &config, &writer), 0);
    assert_int_equal(writer.element->threshold, 1 << 17);
    assert_int_equal(writer.element->capacity, 1 << 18);
    assert_int_equal(esi_segment_layout(segment)->elements_shrunk, 1);
    esi_segment_destroy(segment);
}

/* --- Threads ---------------------------------------------------------------------- */

struct adder {
    struct es_segment *segment;
    int thread;
};

static void *add_eight(void *argument)
{
    struct adder *adder = argument;

    for (int i = 0; i < 8; i++) {
        struct esi_writer writer;
        struct es_tuple tuple = fixture_tuple(0);
        char name[64];

        snprintf(name, sizeof name, "0.%d/test%d", adder->thread, i);
        fixture_element(adder->segment, name, 15, &writer);
        for (uint64_t j = 0; j <= (uint64_t)(adder->thread * 8 + i); j++)
            esi_writer_write(&writer, &tuple);
    }
    return NULL;
}

static void threads_add_elements_at_the_same_time(void **state)
{
    struct adder adders[8];
    pthread_t threads[8];
    struct es_segment *segment;
    struct es_run *run;
    char id[64];

    (void)state;
    segment = fixture_segment(fixture_run("segment", id), 0);
    for (int i = 0; i < 8; i++) {
        adders[i] = (struct adder){.segment = segment, .thread = i};
        pthread_create(&threads[i], NULL, add_eight, &adders[i]);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    run = fixture_open(id);
    for (int i = 0; i < 64; i++) {
        struct es_element_info info;
        char name[64];

        snprintf(name, sizeof name, "0.%d/test%d", i / 8, i % 8);
        assert_non_null(fixture_find(run, name));
        es_element_view_info(fixture_find(run, name), &info);
        assert_int_equal(info.head, i + 1);
    }
    es_run_close(run);
    esi_segment_destroy(segment);
}

static void no_descriptor_stays_open(void **state)
{
    struct es_segment *segment;
    struct esi_writer writer;
    char run[64];
    int before, after;

    (void)state;
    before = dup(0);
    close(before);
    segment = fixture_segment(fixture_run("segment", run), 0);
    fixture_element(segment, "0.0/test", 15, &writer);
    after = dup(0);
    close(after);
    assert_int_equal(before, after);
    esi_segment_destroy(segment);
}

static void a_removed_file_takes_no_more_elements(void **state)
{
    struct esi_element_config config = fixture_config("0.1/test", 4095);
    struct es_tuple tuple = fixture_tuple(0);
    struct es_segment *segment;
    struct esi_writer first, second;
    char run[64];

    (void)state;
    segment = fixture_segment(fixture_run("segment", run), 0);
    fixture_element(segment, "0.0/test", 15, &first);
    assert_int_equal(es_run_remove(run, true), 1);
    assert_int_equal(esi_segment_add_element(segment, &config, &second), -ESTALE);
    /* The program continues to write to its element. */
    esi_writer_write(&first, &tuple);
    assert_int_equal(first.element->head, 1);
    esi_segment_destroy(segment);
}

/* Uses a process of its own, since the limits cannot be lifted. */
static void limits_of_the_process_cost_arena_only(void **state)
{
    static const int limits[] = {RLIMIT_FSIZE, RLIMIT_AS};
    const char *sanitizers = getenv("ES_SANITIZERS");
    int status;

    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        pid_t pid;

        /* Sanitizers reserve terabytes of addresses, so nothing
         * works with that limit. */
        if (limits[i] == RLIMIT_AS && sanitizers && sanitizers[0])
            continue;
        fflush(stdout);
        pid = fork();
        if (pid == 0) {
            struct rlimit limit = {.rlim_cur = 256 << 20, .rlim_max = 256 << 20};
            struct esi_segment_config config;
            struct es_segment *segment;
            struct esi_element_config element = fixture_config("0.0/test", 4095);
            struct esi_writer writer;
            char run[64];

            if (setrlimit((unsigned)limits[i], &limit) != 0)
                _exit(77);
            config = config_for(fixture_run("limits", run));
            if (esi_segment_create(&config, NULL, &segment) != 0)
                _exit(1);
            if (esi_segment_add_element(segment, &element, &writer) != 0)
                _exit(2);
            esi_segment_destroy(segment);
            _exit(0);
        }
        waitpid(pid, &status, 0);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        if (limits[i] == RLIMIT_AS)
            continue; /* Sanitizers themselves need terabytes of addresses. */
#endif
        assert_int_equal(status, 0);
    }
}

/* Runs in a child: creates a segment when `left_bytes` of address space are left.
 * Returns 0, or the line number of a failed check. */
static int try_with_address_space(uint64_t left_bytes, int wanted)
{
    uint64_t before = esi_process_address_space_left();
    struct esi_element_config element = fixture_config("0.0/test", 4095);
    struct esi_segment_config config;
    struct es_error error = {.text = ""};
    struct rlimit limit;
    struct es_segment *segment;
    struct esi_writer writer;
    char run[64];
    FILE *statm = fopen("/proc/self/statm", "r");
    unsigned long pages;

    if (before != UINT64_MAX || !statm || fscanf(statm, "%lu", &pages) != 1)
        return __LINE__;
    fclose(statm);
    limit.rlim_cur = limit.rlim_max =
        pages * (rlim_t)sysconf(_SC_PAGESIZE) + left_bytes;
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return __LINE__;
    config = config_for(fixture_run("space", run));
    if (esi_segment_create(&config, &error, &segment) != wanted)
        return __LINE__;
    if (wanted != 0)
        return strstr(error.text, "too little address space (ulimit -v)") ? 0
                                                                          : __LINE__;
    if (esi_segment_layout(segment)->segment_bytes > left_bytes / 8)
        return __LINE__;
    if (esi_segment_add_element(segment, &element, &writer) != 0 ||
        writer.element->threshold != 4095)
        return __LINE__;
    if (strcmp(esi_segment_shortage(segment), "address space (ulimit -v)") != 0)
        return __LINE__;
    esi_segment_destroy(segment);
    return 0;
}

static void an_eighth_of_the_address_space_left_is_taken_at_most(void **state)
{
    static const struct {
        uint64_t left_bytes;
        int wanted;
    } cases[] = {{UINT64_C(4) << 20, -ENOMEM},
                 {UINT64_C(12) << 20, 0},
                 {UINT64_C(64) << 20, 0},
                 {UINT64_C(200) << 20, 0},
                 {UINT64_C(4) << 30, 0}};
    const char *sanitizers = getenv("ES_SANITIZERS");
    int status;

    (void)state;
    if (sanitizers && sanitizers[0])
        skip(); /* Sanitizers reserve terabytes of addresses. */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pid_t pid;

        fflush(stdout);
        pid = fork();
        if (pid == 0)
            _exit(try_with_address_space(cases[i].left_bytes, cases[i].wanted) & 255);
        waitpid(pid, &status, 0);
        if (status != 0)
            fail_msg("case %zu: line %d (mod 256)", i, WEXITSTATUS(status));
    }
}

SUITE(test_segment)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_is_private_and_nearly_empty),
        cmocka_unit_test(the_header_tells_who_writes),
        cmocka_unit_test(a_long_header_tells_job_and_launcher),
        cmocka_unit_test(a_spawned_world_is_found_by_its_mark),
        cmocka_unit_test(a_closed_segment_stays_for_readers),
        cmocka_unit_test(a_segment_left_under_the_name_is_replaced),
        cmocka_unit_test(a_name_that_is_taken_keeps_nobody_uncollected),
        cmocka_unit_test(another_file_of_the_name_is_not_removed),
        cmocka_unit_test(the_process_continues_its_first_segment),
        cmocka_unit_test(a_child_passes_the_first_segment_on),
        cmocka_unit_test(a_first_segment_that_does_not_fit_is_replaced),
        cmocka_unit_test(a_wrong_name_of_a_first_segment_is_ignored),
        cmocka_unit_test(bad_names_are_refused_in_words),
        cmocka_unit_test(bad_elements_are_refused),
        cmocka_unit_test(the_ring_is_the_next_power_of_two),
        cmocka_unit_test(a_full_directory_refuses_and_counts),
        cmocka_unit_test(a_name_is_taken_once),
        cmocka_unit_test(a_full_arena_shrinks_thresholds),
        cmocka_unit_test(threads_add_elements_at_the_same_time),
        cmocka_unit_test(no_descriptor_stays_open),
        cmocka_unit_test(a_removed_file_takes_no_more_elements),
        cmocka_unit_test(limits_of_the_process_cost_arena_only),
        cmocka_unit_test(an_eighth_of_the_address_space_left_is_taken_at_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
