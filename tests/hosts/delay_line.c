/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * delay_line - emulates a long network cable, for kernels without netem.
 *
 *     delay_line MICROSECONDS END END
 *
 * Creates two network devices (taps) with these names and forwards each frame from one
 * to the other after MICROSECONDS.  Prints "ready" once the devices exist.  They may be
 * moved to other namespaces, and disappear when this program ends.  SIGUSR1 makes the
 * delay four times as long.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* Maximum number of frames in flight in one direction; further frames are dropped. */
enum { FRAMES = 4096, FRAME_BYTES = 2048 };

struct frame {
    uint64_t due_ns;
    size_t length;
    unsigned char bytes[FRAME_BYTES];
};

/* One direction. No frame is delayed less than an earlier one, so they keep order. */
struct lane {
    int from;
    int to;
    size_t first;
    size_t count;
    struct frame *frames;
};

static volatile sig_atomic_t longer; /* SIGUSR1 came */

static void ask_for_longer(int signal)
{
    (void)signal;
    longer = 1;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void give_up(const char *what)
{
    fprintf(stderr, "delay_line: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int make_end(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};

    if (strlen(name) >= sizeof request.ifr_name) {
        errno = ENAMETOOLONG;
        give_up(name);
    }
    memcpy(request.ifr_name, name, strlen(name) + 1);
    int end = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (end < 0 || ioctl(end, TUNSETIFF, &request) != 0)
        give_up(name);
    return end;
}

static struct lane make_lane(int from, int to)
{
    struct frame *frames = calloc(FRAMES, sizeof *frames);

    if (!frames)
        give_up("memory");
    return (struct lane){.from = from, .to = to, .frames = frames};
}

/* Reads frames that have arrived. A device whose link is down returns none. */
static void take(struct lane *lane, uint64_t delay_ns)
{
    unsigned char spare[FRAME_BYTES];

    for (;;) {
        struct frame *frame = &lane->frames[(lane->first + lane->count) % FRAMES];
        int is_full = lane->count == FRAMES;
        ssize_t length = read(lane->from, is_full ? spare : frame->bytes, FRAME_BYTES);
        if (length <= 0)
            return;
        if (is_full)
            continue;
        frame->due_ns = now_ns() + delay_ns;
        frame->length = (size_t)length;
        lane->count++;
    }
}

/* Writes frames that are due. A frame that cannot be written is lost, as on any
 * cable. */
static void give(struct lane *lane, uint64_t now)
{
    while (lane->count > 0 && lane->frames[lane->first].due_ns <= now) {
        struct frame *frame = &lane->frames[lane->first];
        ssize_t written = write(lane->to, frame->bytes, frame->length);
        (void)written;
        lane->first = (lane->first + 1) % FRAMES;
        lane->count--;
    }
}

/* Waits until a frame is due or arrives. */
static void rest(const struct lane lanes[2])
{
    struct pollfd ends[2] = {{.fd = lanes[0].from, .events = POLLIN},
                             {.fd = lanes[1].from, .events = POLLIN}};
    uint64_t now = now_ns(), left = UINT64_MAX;
    struct timespec time;

    for (int i = 0; i < 2; i++) {
        if (lanes[i].count == 0)
            continue;
        uint64_t due = lanes[i].frames[lanes[i].first].due_ns;
        uint64_t wait = due > now ? due - now : 0;
        left = wait < left ? wait : left;
    }
    time.tv_sec = (time_t)(left / 1000000000);
    time.tv_nsec = (long)(left % 1000000000);
    if (ppoll(ends, 2, left == UINT64_MAX ? NULL : &time, NULL) < 0 && errno != EINTR)
        give_up("poll");
    if ((ends[0].revents | ends[1].revents) & (POLLERR | POLLHUP | POLLNVAL))
        exit(0); /* an end is gone with its host */
}

int main(int argc, char **argv)
{
    char *end;

    if (argc != 4) {
        fprintf(stderr, "usage: delay_line MICROSECONDS END END\n");
        return 2;
    }
    uint64_t delay_ns = strtoull(argv[1], &end, 10) * 1000;
    if (*end != '\0') {
        fprintf(stderr, "delay_line: '%s': expected microseconds\n", argv[1]);
        return 2;
    }
    int one = make_end(argv[2]), other = make_end(argv[3]);
    struct lane lanes[2] = {make_lane(one, other), make_lane(other, one)};
    prctl(PR_SET_TIMERSLACK, 1);
    signal(SIGUSR1, ask_for_longer);
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        rest(lanes);
        if (longer) {
            longer = 0;
            delay_ns *= 4;
        }
        for (int i = 0; i < 2; i++) {
            take(&lanes[i], delay_ns);
            give(&lanes[i], now_ns());
        }
    }
}
