/* SPDX-License-Identifier: BSD-3-Clause */
/* windows - attachments through a stand-in for XPMEM: what is attached once is found again, those
 * in use stay, of too many the oldest goes, everything is given back; and which memory is sound
 * enough to be shown. */
#define _GNU_SOURCE
#include "reach/windows.h"

#include "reach/reach.h"
#include "unit.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MADE, REMOVED, GOT, RELEASED, ATTACHED, DETACHED, MISTAKES, COUNTS };
static const uint64_t far = (uint64_t)1 << 40, window = (uint64_t)64 << 20;

static void counted(const char *when, int which, int expected) {
    static void (*ask)(int *);
    if (!ask) ask = (void (*)(int *))dlsym(dlopen(XPMEM_STAND_IN, RTLD_NOW), "xpmem_counts");
    int counts[COUNTS];
    ask(counts);
    expect(counts[which] == expected && counts[MISTAKES] == 0,
           "%s: %d of kind %d instead of %d, %d mistakes", when, counts[which], which, expected,
           counts[MISTAKES]);
}

/* The stand-in attaches this process's memory where it lies. */
static struct window *hold(struct source *source, uint64_t address, size_t bytes) {
    struct window *held;
    char *at = window_hold(source, address, bytes, &held);
    expect((uint64_t)(uintptr_t)at == address, "%llx lies at %p", (unsigned long long)address,
           (void *)at);
    return held;
}

static void found_again(struct source *source) {
    struct window *first = hold(source, far + 100, 1000);
    counted("the first buffer", ATTACHED, 1);
    struct window *near = hold(source, far + window - 8, 8);
    counted("a buffer beside it", ATTACHED, 1);
    struct window *across = hold(source, far + window - 8, 16);
    counted("a buffer across the end", ATTACHED, 2);
    expect(first == near && near != across, "windows");
    window_drop(first), window_drop(near), window_drop(across);
    window_drop(hold(source, far + 3 * window / 2, 1));
    counted("a buffer in the longer window", ATTACHED, 2);
    counted("nothing is detached", DETACHED, 0);
}

static void too_many(struct source *source) {
    struct window *kept = hold(source, far, 10);
    for (uint64_t i = 4; i < 40; i++) window_drop(hold(source, far + i * window, 10));
    counted("40 windows", ATTACHED, 2 + 36);
    counted("16 are kept", DETACHED, 2 + 36 - 16);
    window_drop(hold(source, far + 39 * window, 10));
    window_drop(hold(source, far, 10)); /* in use all the time: not among those that went */
    counted("the last and the one in use are there", ATTACHED, 38);
    window_drop(hold(source, far + 4 * window, 10));
    counted("the oldest is not", ATTACHED, 39);
    window_drop(kept);
}

static void soundness(void) {
    enum { page = 4096, pages = 6000 };
    bool (*sound)(const void *, size_t) = paths[PATH_xpmem].code->sound;
    char *memory = mmap(NULL, (size_t)pages * page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(memory != MAP_FAILED, "mmap");
    expect(sound(memory, (size_t)pages * page) && sound(memory + 5, 1) &&
               sound(&memory, sizeof memory),
           "sound");
    static const size_t holes[] = {0, 1, 2047, 2048, 4097, pages - 1};
    for (size_t i = 0; i < sizeof holes / sizeof *holes; i++) {
        char *hole = memory + holes[i] * page;
        munmap(hole, page);
        expect(!sound(memory + 7, (size_t)pages * page - 9), "page %zu is not there", holes[i]);
        if (holes[i] > 0) expect(sound(memory, holes[i] * page), "before the hole");
        void *again = mmap(hole, page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        expect(again == hole, "mmap");
    }
    munmap(memory, (size_t)pages * page);
}

int main(void) {
    int64_t segment, again;
    struct source *source, *same;
    setenv("MORTAR_XPMEM", "no-such-library.so", 1);
    expect(windows_show(&segment) != 0 && segment == 0, "there is no such library");
    windows_hide();
    setenv("MORTAR_XPMEM", XPMEM_STAND_IN, 1);
    expect(windows_show(&segment) == 0 && windows_show(&again) == 0 && segment == again,
           "windows_show");
    counted("one segment", MADE, 1);
    expect(source_enter(segment, &source) == 0 && source_enter(segment, &same) == 0 &&
               source == same,
           "source_enter");
    counted("one source", GOT, 1);
    found_again(source);
    too_many(source);
    source_leave(source);
    counted("a team is left", RELEASED, 0);
    source_leave(same);
    counted("no team is left", RELEASED, 1);
    counted("all windows are given back", DETACHED, 39);
    windows_hide();
    counted("the segment is given back", REMOVED, 1);
    soundness();
    return 0;
}
