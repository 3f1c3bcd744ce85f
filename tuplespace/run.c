/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A run as seen by an observer on this host: the segments with its id in their
 * names. */
#include "config.h"

#include "eventspace/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/process.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/segment_set.h"
#include "tuplespace/view_private.h"

struct es_run {
    char name[64];
    struct esi_segment_set *set;
    bool owns_set;
    struct esi_segment_list list; /* ordered by rank, pid */
};

/* --- Listing ---------------------------------------------------------------------- */

struct run_list {
    struct es_run_info *runs;
    size_t count;
    size_t capacity;
    uint64_t folder; /* of this process */
    bool everywhere;
};

static struct es_run_info *find_or_add_run(struct run_list *list, const char *run)
{
    struct es_run_info *info;

    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->runs[i].run, run) == 0)
            return &list->runs[i];
    if (ESI_ARRAY_RESERVE(list->runs, list->capacity, list->count + 1) < 0)
        return NULL;
    info = &list->runs[list->count++];
    *info = (struct es_run_info){.elsewhere = true};
    strcpy(info->run, run);
    return info;
}

static void add_readable(const struct es_segment_view *view, struct es_run_info *info)
{
    uint64_t started = view->clock.base_realtime_ns;

    info->alive += !view->kept && esi_segment_view_is_alive(view);
    if (info->started_realtime_ns == 0 || started < info->started_realtime_ns)
        info->started_realtime_ns = started;
}

/* `view` is NULL if the segment cannot be attached because of `rc`. */
static int add_segment(struct run_list *list,
                       const struct esi_segment_name *name,
                       const struct es_segment_view *view,
                       int rc)
{
    bool is_here = view && view->folder == list->folder;
    struct es_run_info *info;

    if (!is_here && !list->everywhere)
        return 0;
    info = find_or_add_run(list, name->run);
    if (!info)
        return -ENOMEM;
    info->segments++;
    info->elsewhere &= !is_here;
    info->unreadable += !view;
    if (view)
        add_readable(view, info);
    else
        /* A segment that is still being created belongs to a living process. */
        info->alive += rc == -EAGAIN && esi_process_is_alive(name->pid, 0);
    return 0;
}

static int list_segment(const struct esi_segment_name *name,
                        const struct stat *status,
                        void *context)
{
    struct es_segment_view *view = NULL;
    int rc = esi_segment_view_attach(name, NULL, &view);

    (void)status;
    if (rc == -ENOMEM)
        return rc;
    rc = add_segment(context, name, view, rc);
    esi_segment_view_detach(view);
    return rc;
}

static int compare_runs(const void *a, const void *b)
{
    const struct es_run_info *x = a;
    const struct es_run_info *y = b;

    if (x->started_realtime_ns != y->started_realtime_ns)
        return x->started_realtime_ns < y->started_realtime_ns ? 1 : -1;
    return strcmp(x->run, y->run);
}

static int list_runs(bool everywhere, struct es_run_info **ret_runs)
{
    struct run_list list = {.folder = esi_run_directory_folder(),
                            .everywhere = everywhere};
    int rc = esi_segment_name_foreach(NULL, list_segment, &list);

    if (rc != 0) {
        free(list.runs);
        return rc;
    }
    if (list.count > 0)
        qsort(list.runs, list.count, sizeof *list.runs, compare_runs);
    *ret_runs = list.runs;
    return (int)list.count;
}

int es_run_list(struct es_run_info **ret_runs)
{
    return list_runs(false, ret_runs);
}

int es_run_list_everywhere(struct es_run_info **ret_runs)
{
    return list_runs(true, ret_runs);
}

/* --- Opening ---------------------------------------------------------------------- */

static int segment_rank(const struct es_segment_view *view)
{
    return atomic_load_explicit(&view->layout->world_rank, memory_order_relaxed);
}

static int compare_segments(const void *a, const void *b)
{
    const struct es_segment_view *x = ((const struct esi_listed_segment *)a)->view;
    const struct es_segment_view *y = ((const struct esi_listed_segment *)b)->view;
    int x_rank = segment_rank(x);
    int y_rank = segment_rank(y);

    if (x_rank != y_rank)
        return x_rank < y_rank ? -1 : 1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

int es_run_refresh(struct es_run *run)
{
    struct esi_segment_list *list = &run->list;
    int found = esi_segment_set_update(run->set, list);

    /* More ranks may be known by now. */
    if (found >= 0 && list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare_segments);
    return found;
}

/* Appends the name of a run to an error text. */
static void append_name(char *text, size_t size, const char *name)
{
    size_t length = strlen(text);

    if (length + strlen(name) + 3 < size) {
        strcat(text, length > 0 ? ", " : "");
        strcat(text, name);
    }
}

/* Selects the only live run, or else the only run. */
static int choose_run(struct es_error *error, char out[64])
{
    struct es_run_info *runs;
    char names[256] = "";
    int count = es_run_list(&runs);
    int alive = 0, chosen = 0;

    if (count < 0)
        return es_error_set(error, count, "runs on this host cannot be listed: %s",
                            strerror(-count));
    for (int i = count - 1; i >= 0; i--) {
        alive += runs[i].alive > 0;
        chosen = runs[i].alive > 0 ? i : chosen;
    }
    for (int i = 0; i < count; i++)
        if (alive == 0 || runs[i].alive > 0)
            append_name(names, sizeof names, runs[i].run);
    if (count > 0)
        memcpy(out, runs[chosen].run, 64);
    free(runs);
    if (count == 0)
        return es_error_set(error, -ENOENT, "there is no run on this host");
    if (alive > 1 || (alive == 0 && count > 1))
        return es_error_set(error, -ENOTUNIQ, "there are several %sruns, name one: %s",
                            alive > 1 ? "live " : "", names);
    return 0;
}

static int name_run(const char *name, struct es_error *error, char out[64])
{
    if (!name)
        return choose_run(error, out);
    if (!esi_run_id_is_valid(name))
        return es_error_set(
            error, -EINVAL,
            "run '%.64s': expected 1 to 63 characters of [A-Za-z0-9_-], "
            "with single dots between them",
            name);
    strcpy(out, name);
    return 0;
}

/* A run without readable segments counts as not found; the error says why. */
static int check_found(const struct es_run *run, struct es_error *error)
{
    unsigned int user;

    if (run->list.count > 0)
        return 0;
    if (run->list.unreadable_count > 0) {
        const struct es_error *first = &run->list.unreadable[0];

        return es_error_set_at(error, -EPROTO, first->source, 0, 0, "%s", first->text);
    }
    if (esi_segment_name_find_other(run->name, &user) == 0)
        return es_error_set(error, -EACCES,
                            "run '%s' belongs to user %u, we are user %u", run->name,
                            user, (unsigned)geteuid());
    return es_error_set(error, -ENOENT, "run '%s' has no segments on this host",
                        run->name);
}

/* Creates an empty run on the set. */
static int make_run(struct esi_segment_set *set, bool reads, struct es_run **ret_run)
{
    struct es_run *run = calloc(1, sizeof *run);

    if (!run)
        return -ENOMEM;
    strcpy(run->name, esi_segment_set_run(set));
    run->set = set;
    run->list.reads = reads;
    *ret_run = run;
    return 0;
}

static int read_run(struct es_run *run, struct es_error *error)
{
    int rc = es_run_refresh(run);

    return rc >= 0 ? 0
                   : es_error_set(error, rc, "run '%s': cannot be read: %s", run->name,
                                  strerror(-rc));
}

static int open_run(const char *name,
                    bool may_be_empty,
                    struct es_error *error,
                    struct es_run **ret_run)
{
    struct esi_segment_set *set;
    struct es_run *run;
    char chosen[64];
    int rc = name_run(name, error, chosen);

    if (rc == 0)
        rc = esi_segment_set_create(chosen, &set);
    if (rc != 0)
        return rc;
    rc = make_run(set, true, &run);
    if (rc != 0) {
        esi_segment_set_destroy(set);
        return rc;
    }
    run->owns_set = true;
    rc = read_run(run, error);
    if (rc == 0 && !may_be_empty)
        rc = check_found(run, error);
    if (rc != 0) {
        es_run_close(run);
        return rc;
    }
    *ret_run = run;
    return 0;
}

int es_run_open(const char *name, struct es_error *error, struct es_run **ret_run)
{
    return open_run(name, false, error, ret_run);
}

int es_run_open_empty(const char *name, struct es_error *error, struct es_run **ret_run)
{
    return open_run(name, true, error, ret_run);
}

int esi_run_open_shared(struct esi_segment_set *set,
                        bool reads,
                        struct es_error *error,
                        struct es_run **ret_run)
{
    struct es_run *run;
    int rc = make_run(set, reads, &run);

    if (rc != 0)
        return rc;
    rc = read_run(run, error);
    if (rc != 0) {
        es_run_close(run);
        return rc;
    }
    *ret_run = run;
    return 0;
}

void es_run_close(struct es_run *run)
{
    int saved_errno = errno;

    if (!run)
        return;
    esi_segment_set_release(run->set, &run->list);
    if (run->owns_set)
        esi_segment_set_destroy(run->set);
    free(run);
    errno = saved_errno;
}

const char *es_run_name(const struct es_run *run)
{
    return run->name;
}

size_t es_run_unreadable_count(const struct es_run *run)
{
    return run->list.unreadable_count;
}

const struct es_error *es_run_unreadable(const struct es_run *run, size_t index)
{
    return index < run->list.unreadable_count ? &run->list.unreadable[index] : NULL;
}

size_t es_run_segment_count(const struct es_run *run)
{
    return run->list.count;
}

struct es_segment_view *es_run_segment(const struct es_run *run, size_t index)
{
    return index < run->list.count ? run->list.items[index].view : NULL;
}

const struct esi_segment_list *esi_run_segments(const struct es_run *run)
{
    return &run->list;
}

/* --- Removing, and recording exits ------------------------------------------------ */

struct run_removal {
    bool live;       /* also segments of living processes */
    bool everywhere; /* segments of any folder */
    bool is_named;   /* of one run, including segments of unknown folder */
    uint64_t folder; /* of this process */
    int removed;
};

static bool should_remove_segment(const struct run_removal *removal,
                                  const struct esi_segment_name *name)
{
    struct es_segment_view *view;
    uint64_t folder = 0;
    bool alive;

    /* A segment that cannot be attached is only known by its name: a reused pid
     * protects it. */
    if (esi_segment_view_attach(name, NULL, &view) != 0) {
        alive = esi_process_is_alive(name->pid, 0);
    } else {
        alive = esi_segment_view_is_alive(view);
        folder = view->folder;
        esi_segment_view_detach(view);
    }
    return (removal->live || !alive) &&
           (removal->everywhere || folder == removal->folder ||
            (removal->is_named && folder == 0));
}

static int remove_segment(const struct esi_segment_name *name,
                          const struct stat *status,
                          void *context)
{
    struct run_removal *removal = context;
    char file[ES_SEGMENT_NAME_BYTES];

    (void)status;
    if (!should_remove_segment(removal, name))
        return 0;
    if (esi_segment_name_format(name, file) == 0 && shm_unlink(file) == 0)
        removal->removed++;
    return 0;
}

static int remove_segments(const char *run, bool live, bool everywhere)
{
    struct run_removal removal = {.live = live,
                                  .everywhere = everywhere,
                                  .is_named = run != NULL,
                                  .folder = esi_run_directory_folder()};
    int rc = esi_segment_name_foreach(run, remove_segment, &removal);

    return rc < 0 ? rc : removal.removed;
}

int es_run_remove(const char *run, bool live)
{
    return remove_segments(run, live, false);
}

int es_run_remove_everywhere(const char *run, bool live)
{
    return remove_segments(run, live, true);
}

struct exit_note {
    int pid;
    int status;
    uint64_t ended_ns;
    int noted;
};

static int note_exit(const struct esi_segment_name *name,
                     const struct stat *status,
                     void *context)
{
    struct exit_note *note = context;
    struct esi_segment_layout *layout;
    struct es_segment_view *view;

    (void)status;
    if (name->pid != note->pid || esi_segment_view_attach(name, NULL, &view) != 0)
        return 0;
    layout = view->layout;
    atomic_store_explicit(&layout->exit_status, note->status, memory_order_relaxed);
    atomic_store_explicit(&layout->ended_realtime_ns, note->ended_ns,
                          memory_order_relaxed);
    /* Pairs with the acquire in has_ended(). */
    atomic_store_explicit(&layout->ended, 1, memory_order_release);
    esi_segment_view_detach(view);
    note->noted++;
    return 0;
}

int es_run_note_exit(const char *run, int pid, int status, uint64_t ended_ns)
{
    struct exit_note note = {.pid = pid, .status = status, .ended_ns = ended_ns};
    int rc = esi_segment_name_foreach(run, note_exit, &note);

    return rc < 0 ? rc : note.noted;
}
