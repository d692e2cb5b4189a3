/* SPDX-License-Identifier: BSD-3-Clause */
/* near - parts of peers' regions, mapped side by side: the right bytes for buffers anywhere in a
 * region, whatever has been read before; few mappings for buffers that change; nothing in a
 * child, and nothing left. */
#define _GNU_SOURCE
#include "crew.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { p = 20, me = 3, page = 4096 };
enum { region = 31 << 20, often = 400 };

/* Peers whose regions are files of this process: byte i of rank r's is value(r, i). */
static struct segment_name names[p];
static uintptr_t bases[p];
static char *writable[p];

static char value(int rank, size_t at) { return (char)(at * 31 + at / page + (size_t)rank); }

static void start(void) {
    for (int r = 0; r < p; r++) {
        int error = 0, fd = segment_create("near-region", region);
        expect(fd >= 0 && segment_name(fd, &names[r]) == 0, "segment_create");
        writable[r] = segment_map(fd, region, true, &error);
        expect(writable[r] && peer_map(&names[r], -1, false, &bases[r]) == 0, "maps");
    }
}

static struct team team_of(int ranks, int processors) {
    return (struct team){.p = ranks,
                         .me = me,
                         .figures = {.p = ranks, .processors = processors},
                         .names = names,
                         .peers = {bases, NULL}};
}

/* Reads a byte of every peer's buffer at `first`. Returns how many were read from a piece. */
static int read_from(struct team *team, size_t first, size_t bytes, size_t at) {
    int near = 0;
    for (int r = 0; r < p; r++) {
        writable[r][first + at] = value(r, first + at);
        uintptr_t base = near_peer(team, r, first, bytes);
        near += base != bases[r];
        char got = *(const char *)(base + first + at);
        expect(got == value(r, first + at), "rank %d, %zu of %zu bytes at %zu: %d", r, at, bytes,
               first, got);
    }
    return near;
}

static int read_often(struct team *team, size_t first, size_t bytes) {
    int near = 0;
    for (size_t i = 0; i < often; i++) near = read_from(team, first, bytes, i * 977 % bytes);
    return near;
}

static void where_it_pays(void) {
    struct team few = team_of(4, 2), roomy = team_of(p, p), crowded = team_of(p, 2);
    near_begin(&few), near_begin(&roomy), near_begin(&crowded);
    expect(!few.near && !roomy.near && crowded.near, "only with many ranks to a processor");
    struct near *first = crowded.near;
    near_begin(&crowded);
    expect(crowded.near == first, "begun twice");
    near_end(&crowded), near_end(&crowded);
    expect(!crowded.near && mappings_named("near-region") == 2 * p, "%d mappings, not %d",
           mappings_named("near-region"), 2 * p);
}

static void anywhere(void) {
    static const struct {
        size_t first, bytes;
        bool fits;
    } buffers[] = {
        {0, 1, true},
        {5 * page + 16, 100000, true},
        {near_bytes - page, 3 * page, true},           /* over the end of a piece */
        {3 * near_bytes - 8, near_bytes - page, true}, /* the same, and almost a piece long */
        {3 * near_bytes, near_bytes, true},
        {3 * near_bytes, near_bytes + 1, false},
        {3 * near_bytes + 8, near_bytes, false},
        {region - near_bytes, near_bytes, true},
        {region - page, page, false}, /* a piece that begins like a huge page would go beyond */
    };
    for (size_t b = 0; b < sizeof buffers / sizeof buffers[0]; b++) {
        struct team team = team_of(p, 2);
        near_begin(&team);
        expect(read_from(&team, buffers[b].first, buffers[b].bytes, 0) == 0, "mapped at once");
        int near = read_often(&team, buffers[b].first, buffers[b].bytes);
        expect(near == (buffers[b].fits ? p - 1 : 0), "buffer %zu: %d of %d ranks near", b, near,
               p - 1);
        near_end(&team);
    }
}

/* Two buffers in turns are near, each; of many buffers few are mapped, all are read. */
static void in_turns(void) {
    struct team team = team_of(p, 2);
    near_begin(&team);
    int near = 0;
    for (size_t i = 0; i < (size_t)2 * often; i++)
        near += read_from(&team, i % 2 * region / 2, 1000, i % 1000);
    expect(near > (int)often * p && mappings_named("near-region") == 2 * p + 2 * (p - 1),
           "two buffers in turns: %d near", near);
    near_end(&team);
    near_begin(&team);
    uint32_t mapped = 0;
    const struct near_peer *peer = &team.near->of[0];
    for (size_t i = 0; i < (size_t)20 * often; i++) {
        uint32_t patience = peer->patience;
        read_from(&team, i % 8 * region / 8, 1000, i % 1000);
        mapped += peer->patience != patience;
    }
    expect(mapped >= 2 && mapped <= 8, "eight buffers in turns: %u pieces mapped", mapped);
    near_end(&team);
}

/* Pages that a peer gives back and takes again, and memory that has been dropped here. */
static void what_changes(void) {
    struct team team = team_of(p, 2);
    near_begin(&team);
    expect(read_often(&team, 0, 100000) == p - 1, "near");
    uintptr_t at = near_peer(&team, 0, 0, 100000);
    madvise(writable[0], near_bytes, MADV_REMOVE);
    expect(*(const char *)at == 0, "a page that was given back");
    expect(read_from(&team, near_bytes - 100, 200, 199) == 0, "a buffer that leaves a piece");
    madvise(team.near->area, team.near->bytes, MADV_DONTNEED);
    expect(read_from(&team, 0, 100000, 99999) == p - 1, "dropped pages come again");
    pid_t child = fork();
    if (child == 0) _exit(mapping_of(at, (char[512]){0}, 512));
    int status;
    expect(waitpid(child, &status, 0) == child && status == 0, "a child has the pieces");
    near_end(&team);
}

int main(void) {
    start();
    where_it_pays();
    anywhere();
    in_turns();
    what_changes();
    expect(mappings_named("near-region") == 2 * p, "%d mappings", mappings_named("near-region"));
    return 0;
}
