/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A preload library for tests over hosts. It gives each pretended host clocks of its
 * own.
 *
 * All name spaces share one clock. With this library CLOCK_MONOTONIC and CLOCK_REALTIME
 * of a process show a time set by the file $ES_SKEW_DIR/HOSTNAME, three integers:
 *
 *     OFFSET DRIFT EPOCH    shown = true + OFFSET ns + DRIFT ppb * (true - EPOCH)
 *
 * where "true" and EPOCH are nanoseconds of the kernel's CLOCK_MONOTONIC. Without the
 * variable or the file clocks are unchanged. Deadlines of condition variables are
 * converted back, so that a wait takes as long as it should. Other library calls with
 * absolute times are not replaced; the tested programs do not use them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define ES_EXPORT __attribute__((visibility("default")))
#define NS_PER_S INT64_C(1000000000)

typedef int (*gettime_fn)(clockid_t clock, struct timespec *ret_time);
typedef int (*timedwait_fn)(pthread_cond_t *condition,
                            pthread_mutex_t *mutex,
                            const struct timespec *deadline);

static struct {
    bool is_known;
    bool is_skewed;
    int64_t offset_ns;
    int64_t drift_ppb;
    int64_t epoch_ns;
    gettime_fn gettime;
    timedwait_fn timedwait;
} skew;

/* Called from any function, since constructors of other libraries may read clocks
 * before the constructor of this one has run. */
static void look(void)
{
    const char *folder = getenv("ES_SKEW_DIR");
    char host[65] = "", path[4096];
    long long offset, drift, epoch;

    /* ISO C has no conversion from object to function pointers; POSIX has. */
    *(void **)&skew.gettime = dlsym(RTLD_NEXT, "clock_gettime");
    *(void **)&skew.timedwait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    skew.is_known = true;
    if (!folder || gethostname(host, sizeof host - 1) != 0)
        return;
    snprintf(path, sizeof path, "%s/%s", folder, host);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (fscanf(file, "%lld %lld %lld", &offset, &drift, &epoch) == 3) {
        skew.offset_ns = offset;
        skew.drift_ppb = drift;
        skew.epoch_ns = epoch;
        skew.is_skewed = true;
    }
    fclose(file);
}

__attribute__((constructor)) static void begin(void)
{
    if (!skew.is_known)
        look();
}

static int64_t nanoseconds(const struct timespec *time)
{
    return time->tv_sec * NS_PER_S + time->tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

/* How far the host's clocks are ahead of the kernel's at this true time. */
static int64_t skew_at(int64_t monotonic_ns)
{
    __int128 gained = (__int128)(monotonic_ns - skew.epoch_ns) * skew.drift_ppb;

    return skew.offset_ns + (int64_t)(gained / NS_PER_S);
}

static int64_t skew_now(void)
{
    struct timespec now;

    skew.gettime(CLOCK_MONOTONIC, &now);
    return skew_at(nanoseconds(&now));
}

static bool is_affected(clockid_t clock)
{
    return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME ||
           clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_MONOTONIC_COARSE ||
           clock == CLOCK_REALTIME_COARSE || clock == CLOCK_BOOTTIME;
}

ES_EXPORT int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    if (!skew.is_known)
        look();
    int result = skew.gettime(clock, ret_time);
    if (result != 0 || !skew.is_skewed || !is_affected(clock))
        return result;
    int64_t shown = nanoseconds(ret_time);
    shown += clock == CLOCK_MONOTONIC ? skew_at(shown) : skew_now();
    *ret_time = timespec_of(shown);
    return 0;
}

ES_EXPORT int gettimeofday(struct timeval *restrict ret_time, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return -1;
    *ret_time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

ES_EXPORT int pthread_cond_timedwait(pthread_cond_t *condition,
                                     pthread_mutex_t *mutex,
                                     const struct timespec *deadline)
{
    struct timespec changed = *deadline;

    if (!skew.is_known)
        look();
    if (skew.is_skewed)
        changed = timespec_of(nanoseconds(deadline) - skew_now());
    return skew.timedwait(condition, mutex, &changed);
}
