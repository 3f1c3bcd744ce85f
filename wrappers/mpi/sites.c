/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Sites of calls, where more than a look at the return address is needed: a module that
 * is not known yet, the frames of MPI's Fortran library, numbers.
 *
 * The unwinder is libgcc's.  Fortran programs have it, others do not need it: so it is
 * loaded when a call comes through MPI's Fortran library.
 */
#include "config.h"

#include "wrappers/mpi/sites.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#include "base/hash.h"
#include "tuplespace/modules.h"
#include "wrappers/mpi/ledger.h"
#include "wrappers/mpi/process.h"

/* --- Modules ---------------------------------------------------------------------- */

enum { MODULES_MAX = 256, NO_MODULE_BYTES = 4096 };

struct module_range {
    uint64_t begin;
    uint64_t bytes;
    bool is_binding; /* MPI's Fortran library */
};

static struct module_range ranges[MODULES_MAX];
static _Atomic uint32_t range_count;
static pthread_mutex_t ranges_lock = PTHREAD_MUTEX_INITIALIZER;

/* MPI's Fortran libraries, as they are called: libmpifort, libmpichfort, libfmpich,
 * libmpi_mpifh, libmpi_usempif08 ... */
static bool is_binding(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;

    if (strncmp(name, "libfmpi", 7) == 0)
        return true;
    return strncmp(name, "libmpi", 6) == 0 &&
           (strstr(name, "fort") != NULL || strstr(name, "mpifh") != NULL ||
            strstr(name, "usempi") != NULL);
}

static const struct module_range *find_range(uint64_t address)
{
    /* Pairs with the release in add_range(): the entry is complete. */
    uint32_t count = atomic_load_explicit(&range_count, memory_order_acquire);

    /* Newest first: another module may have come into the place of one that is gone. */
    while (count-- > 0)
        if (address - ranges[count].begin < ranges[count].bytes)
            return &ranges[count];
    return NULL;
}

/* What dl_iterate_phdr(3) looks for, and finds. */
struct module_search {
    uint64_t address;
    struct es_module module;
};

/* Takes over the build id if the note is one. */
static const char *read_note(const char *note,
                             const char *end,
                             struct es_module *module)
{
    ElfW(Nhdr) head;
    const char *name = note + sizeof head;
    const char *content;

    if ((size_t)(end - note) < sizeof head)
        return end;
    memcpy(&head, note, sizeof head);
    if (head.n_namesz > (size_t)(end - name) ||
        head.n_descsz > (size_t)(end - name) - head.n_namesz)
        return end;
    content = name + (head.n_namesz + 3) / 4 * 4;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
        memcmp(name, "GNU", 4) == 0 && head.n_descsz <= ES_BUILD_ID_BYTES) {
        memcpy(module->build_id, content, head.n_descsz);
        module->build_id_bytes = head.n_descsz;
        return end;
    }
    return content + (head.n_descsz + 3) / 4 * 4;
}

static void read_notes(const struct dl_phdr_info *info, struct es_module *module)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const char *note = (const char *)(info->dlpi_addr + part->p_vaddr);
        const char *end = note + part->p_memsz;

        while (part->p_type == PT_NOTE && note < end)
            note = read_note(note, end, module);
    }
}

static void name_module(const char *name, char path[ES_MODULE_PATH_BYTES])
{
    char *whole = *name == '\0' ? NULL : realpath(name, NULL);
    ssize_t length = 0;

    if (*name == '\0') /* the program */
        length = readlink("/proc/self/exe", path, ES_MODULE_PATH_BYTES - 1);
    else
        strncpy(path, whole != NULL ? whole : name, ES_MODULE_PATH_BYTES - 1);
    if (length < 0)
        path[0] = '\0';
    free(whole);
}

/* Of dl_iterate_phdr(3): 1 when it is this module. */
static int look_at_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct module_search *search = data;
    struct es_module module = {.begin = UINT64_MAX, .bias = info->dlpi_addr};

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uint64_t begin = info->dlpi_addr + part->p_vaddr;

        if (part->p_type != PT_LOAD)
            continue;
        if (begin < module.begin)
            module.begin = begin;
        if (begin + part->p_memsz > module.end)
            module.end = begin + part->p_memsz;
    }
    if (search->address < module.begin || search->address >= module.end)
        return 0;
    read_notes(info, &module);
    name_module(info->dlpi_name, module.path);
    search->module = module;
    return 1;
}

/* Remembers a module, or a page of code that belongs to none (made by a just-in-time
 * compiler).  NULL: there are too many. */
static const struct module_range *add_range(const struct es_module *module)
{
    const struct module_range *known;
    uint32_t count;

    pthread_mutex_lock(&ranges_lock);
    known = find_range(module->begin);
    count = atomic_load_explicit(&range_count, memory_order_relaxed);
    if ((known == NULL || known->begin != module->begin) && count < MODULES_MAX) {
        struct esi_process *process = esi_process_get();

        ranges[count] = (struct module_range){.begin = module->begin,
                                              .bytes = module->end - module->begin,
                                              .is_binding = is_binding(module->path)};
        known = &ranges[count];
        if (process != NULL && module->path[0] != '\0')
            esi_segment_add_module(process->segment, module);
        atomic_store_explicit(&range_count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&ranges_lock);
    return known;
}

/* The loader's lock is never asked for while ours is held. */
static const struct module_range *make_range(uint64_t address)
{
    struct module_search search = {.address = address};
    int saved_errno = errno;
    const struct module_range *range;

    if (atomic_load_explicit(&range_count, memory_order_relaxed) >= MODULES_MAX)
        return NULL;
    if (dl_iterate_phdr(look_at_module, &search) == 0)
        search.module = (struct es_module){
            .begin = address / NO_MODULE_BYTES * NO_MODULE_BYTES,
            .end = address / NO_MODULE_BYTES * NO_MODULE_BYTES + NO_MODULE_BYTES};
    range = add_range(&search.module);
    errno = saved_errno;
    return range;
}

/* --- Frames of the binding -------------------------------------------------------- */

enum { FRAMES = 4096, FRAME_CHECKS = 4, FRAME_PROBES = 16, FRAME_BYTES = 1 << 20 };

/* How a frame of MPI's Fortran library lies on the stack, by the return address into
 * it; offsets from the frame below. */
struct frame_shape {
    _Atomic uint64_t address;   /* 0 = empty; set last (release) */
    _Atomic uint32_t word;      /* where its own return address is */
    _Atomic uint32_t bytes;     /* where the frame above begins; 0 = it is not known */
    _Atomic uint32_t unchecked; /* calls that are unwound again, to be sure */
};

static struct frame_shape shapes[FRAMES];
static pthread_mutex_t shapes_lock = PTHREAD_MUTEX_INITIALIZER;

/* libgcc's. */
static struct {
    _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
    _Unwind_Word (*get_cfa)(struct _Unwind_Context *);
    _Unwind_Ptr (*get_ip)(struct _Unwind_Context *);
} unwinder;
static pthread_once_t unwinder_once = PTHREAD_ONCE_INIT;

static void load_unwinder(void)
{
    void *library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_LOCAL);

    if (library == NULL)
        return;
    *(void **)&unwinder.get_cfa = dlsym(library, "_Unwind_GetCFA");
    *(void **)&unwinder.get_ip = dlsym(library, "_Unwind_GetIP");
    if (unwinder.get_cfa != NULL && unwinder.get_ip != NULL)
        *(void **)&unwinder.backtrace = dlsym(library, "_Unwind_Backtrace");
}

/* A frame and what stands above it. */
struct frame_search {
    uint64_t address; /* returned to in the frame looked for ... */
    uint64_t frame;   /* ... whose callee's frame this is */
    bool found;
    uint64_t above_address;
    uint64_t above_frame; /* 0 = there is none */
};

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *data)
{
    struct frame_search *search = data;

    if (search->found) {
        search->above_address = unwinder.get_ip(context);
        search->above_frame = unwinder.get_cfa(context);
        return _URC_END_OF_STACK;
    }
    search->found = unwinder.get_ip(context) == search->address &&
                    unwinder.get_cfa(context) == search->frame;
    return _URC_NO_REASON;
}

/* The word that holds the return address, from the end of the frame down. */
static uint64_t find_word(const struct frame_search *search)
{
    uint64_t at = search->above_frame;

    while (at > search->frame) {
        at -= sizeof(uintptr_t);
        if (*(const uintptr_t *)(uintptr_t)at == search->above_address)
            return at;
    }
    return 0;
}

/* Unwinds the stack and describes the frame; bytes 0: it cannot be told. */
static void unwind_frame(uint64_t address,
                         uint64_t frame,
                         uint32_t *ret_word,
                         uint32_t *ret_bytes)
{
    struct frame_search search = {.address = address, .frame = frame};
    uint64_t at = 0;
    int saved_errno = errno;

    *ret_word = 0;
    *ret_bytes = 0;
    pthread_once(&unwinder_once, load_unwinder);
    if (unwinder.backtrace != NULL)
        unwinder.backtrace(look_at_frame, &search);
    errno = saved_errno;
    if (search.above_frame > frame && search.above_frame - frame < FRAME_BYTES)
        at = find_word(&search);
    if (at != 0) {
        *ret_word = (uint32_t)(at - frame);
        *ret_bytes = (uint32_t)(search.above_frame - frame);
    }
}

/* The entry of an address, or an empty one; NULL: too many hash alike. */
static struct frame_shape *shape_of(uint64_t address)
{
    size_t at = (size_t)(esi_hash_u64(address) >> 32);

    for (size_t i = 0; i < FRAME_PROBES; i++) {
        struct frame_shape *shape = &shapes[(at + i) % FRAMES];
        /* Pairs with the release in add_shape(). */
        uint64_t known = atomic_load_explicit(&shape->address, memory_order_acquire);

        if (known == address || known == 0)
            return shape;
    }
    return NULL;
}

static void add_shape(uint64_t address, uint64_t frame)
{
    uint32_t word, bytes;
    struct frame_shape *shape;

    unwind_frame(address, frame, &word, &bytes);
    pthread_mutex_lock(&shapes_lock);
    shape = shape_of(address);
    if (shape != NULL &&
        atomic_load_explicit(&shape->address, memory_order_relaxed) == 0) {
        atomic_store_explicit(&shape->word, word, memory_order_relaxed);
        atomic_store_explicit(&shape->bytes, bytes, memory_order_relaxed);
        atomic_store_explicit(&shape->unchecked, FRAME_CHECKS, memory_order_relaxed);
        atomic_store_explicit(&shape->address, address, memory_order_release);
    }
    pthread_mutex_unlock(&shapes_lock);
}

/* A frame whose size changes from call to call is of no use. */
static void check_shape(struct frame_shape *shape, uint64_t address, uint64_t frame)
{
    uint32_t word, bytes;

    atomic_fetch_sub_explicit(&shape->unchecked, 1, memory_order_relaxed);
    unwind_frame(address, frame, &word, &bytes);
    if (word != atomic_load_explicit(&shape->word, memory_order_relaxed) ||
        bytes != atomic_load_explicit(&shape->bytes, memory_order_relaxed))
        atomic_store_explicit(&shape->bytes, 0, memory_order_relaxed);
}

/* From a return address into the binding and the frame below to those above it. */
static bool go_up(uint64_t *address, uint64_t *frame)
{
    struct frame_shape *shape = shape_of(*address);
    uint32_t word, bytes, unchecked;

    if (shape != NULL &&
        ESI_UNLIKELY(atomic_load_explicit(&shape->address, memory_order_relaxed) == 0))
        add_shape(*address, *frame);
    if (shape == NULL ||
        atomic_load_explicit(&shape->address, memory_order_acquire) != *address)
        return false;
    unchecked = atomic_load_explicit(&shape->unchecked, memory_order_relaxed);
    if (ESI_UNLIKELY(unchecked - 1 < FRAME_CHECKS))
        check_shape(shape, *address, *frame);
    bytes = atomic_load_explicit(&shape->bytes, memory_order_relaxed);
    word = atomic_load_explicit(&shape->word, memory_order_relaxed);
    if (bytes == 0)
        return false;
    *address = *(const uintptr_t *)(uintptr_t)(*frame + word);
    *frame += bytes;
    return true;
}

/* --- Finding a site --------------------------------------------------------------- */

enum { DEEPEST = 4 }; /* frames of the binding above each other */

void esi_site_find(struct esi_thread *thread)
{
    const struct esi_process *process = esi_process_get();
    uint64_t address = thread->entered, frame = thread->frame;
    const struct module_range *range = NULL;

    if (process == NULL)
        return;
    if (!esi_process_wants_sites(process)) {
        thread->module_begin = 0;
        thread->module_bytes = UINT64_MAX;
        return;
    }
    for (int depth = 0; depth < DEEPEST; depth++) {
        range = find_range(address);
        if (range == NULL)
            range = make_range(address);
        if (range == NULL || !range->is_binding || !go_up(&address, &frame))
            break;
    }
    thread->site = address;
    if (range != NULL && address == thread->entered && !range->is_binding) {
        thread->module_begin = range->begin;
        thread->module_bytes = range->bytes;
    }
}

/* --- Numbers ---------------------------------------------------------------------- */

enum { SITE_PROBES = 32 };

/* In the ledger, where readers find who posted a request. */
_Atomic(_Atomic uint64_t *) esi_site_numbers;
static pthread_mutex_t numbered_lock = PTHREAD_MUTEX_INITIALIZER;

/* Made by the first call that posts a request.  NULL without memory. */
static _Atomic uint64_t *make_numbers(void)
{
    _Atomic uint64_t *made;

    pthread_mutex_lock(&numbered_lock);
    made = atomic_load_explicit(&esi_site_numbers, memory_order_relaxed);
    if (made == NULL) {
        made = esi_ledger_take_aside(sizeof *made << ESI_SITE_NUMBERS_LOG2);
        atomic_store_explicit(&esi_ledger->sites,
                              esi_ledger_place(made, ESI_SITE_NUMBERS_LOG2),
                              memory_order_release);
        atomic_store_explicit(&esi_site_numbers, made, memory_order_release);
    }
    pthread_mutex_unlock(&numbered_lock);
    return made;
}

uint16_t esi_site_number_slowly(uint64_t site)
{
    size_t at = (size_t)(esi_hash_u64(site) >> 32);
    /* Pairs with the release in make_numbers(): it is zero. */
    _Atomic uint64_t *numbers =
        atomic_load_explicit(&esi_site_numbers, memory_order_acquire);

    if (site == 0)
        return 0;
    if (numbers == NULL)
        numbers = make_numbers();
    for (size_t i = 0; i < SITE_PROBES && numbers != NULL; i++) {
        _Atomic uint64_t *place = &numbers[(at + i) % ESI_SITE_NUMBERS];
        uint64_t known = atomic_load_explicit(place, memory_order_relaxed);

        if (known == 0)
            atomic_compare_exchange_strong_explicit(
                place, &known, site, memory_order_relaxed, memory_order_relaxed);
        if (known == 0 || known == site)
            return (uint16_t)((at + i) % ESI_SITE_NUMBERS + 1);
    }
    return 0;
}
