/* SPDX-License-Identifier: BSD-3-Clause */
/* outside - heap/outside.c by itself: beside memory that the region cannot serve lies a page that
 * can be read, whatever part of it is given back; what is left is known, and nothing stays
 * mapped. */
#define _GNU_SOURCE
#include "heap/blocks.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { page = 4096, pages = 10 };

struct blocks blocks;
void region_lock(void) {}
void region_unlock(void) {}

static int failures;

static void expect(bool right, const char *what, int first, int count) {
    if (!right && failures++ < 10) printf("FAIL: %s (%d of %d from %d)\n", what, count, pages, first);
}

/* 'w': can be written, 'r': can be read, '-': neither, ' ': nothing is mapped there. */
static char mode_of(const char *address) {
    char line[512], mode[5], found = ' ';
    uintptr_t from, upto, at = (uintptr_t)address;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %4s", &from, &upto, mode) == 3 && from <= at && at < upto)
            found = mode[1] == 'w' ? 'w' : mode[0];
    if (maps) fclose(maps);
    return found;
}

/* Pages [first, first + count) of a piece are given back, then the rest. */
static void give(int first, int count) {
    char *piece = outside_take((size_t)pages * page, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS);
    expect(piece != MAP_FAILED && blocks.overflows, "memory", first, count);
    expect(mode_of(piece - page) == 'r' && mode_of(piece + (size_t)pages * page) == 'r',
           "fences of a new piece", first, count);
    outside_give(piece + (size_t)first * page, (size_t)count * page);
    for (int i = 0; i < pages; i++) {
        bool given = i >= first && i < first + count;
        const char *at = piece + (size_t)i * page;
        expect(outside_holds(at) == !given && outside_holds(at + page - 1) == !given,
               "what is known of a page", first, count);
        expect((mode_of(at) == 'w') == !given, "the mode of a page", first, count);
        if (given) continue;
        expect(mode_of(at - page) == 'w' || mode_of(at - page) == 'r', "the page before", first,
               count);
        expect(mode_of(at + page) == 'w' || mode_of(at + page) == 'r', "the page behind", first,
               count);
    }
    if (first > 0) outside_give(piece, (size_t)first * page);
    if (first + count < pages)
        outside_give(piece + (size_t)(first + count) * page,
                     (size_t)(pages - first - count) * page);
    for (int i = -1; i <= pages; i++) {
        const char *at = piece + (ptrdiff_t)i * page;
        expect(!outside_holds(at) && mode_of(at) == ' ', "something is left", first, count);
    }
}

int main(void) {
    for (int first = 0; first < pages; first++)
        for (int count = 1; count <= pages - first; count++) give(first, count);
    return failures > 0;
}
