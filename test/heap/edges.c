/* SPDX-License-Identifier: BSD-3-Clause */
/* edges - a library may read a little before and behind a block, as it may with the C library:
 * beside every mapping of the region that can be written lies a page that can be read, whatever was
 * taken and given back meanwhile, at the region's ends, and in a forked child; and beside blocks
 * that the region has no room for. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <malloc.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { blocks = 4000, MiB = 1 << 20, lines = 20000 };
static char *block[blocks];
static struct heap_region region;

static struct line {
    uintptr_t start, end;
    char mode[5];
} line[lines];
static int count;

static void read_mappings(void) {
    FILE *in = fopen("/proc/self/maps", "r");
    static char text[4096];
    count = 0;
    while (in && count < lines && fgets(text, sizeof text, in)) {
        struct line *next = &line[count];
        count += sscanf(text, "%lx-%lx %4s", &next->start, &next->end, next->mode) == 3;
    }
    if (in) fclose(in);
    expect(count > 0 && count < lines, "the mappings can be read");
}

static void look_beside_mappings(const char *when) {
    int edges = 0, closed = 0;
    uintptr_t base = (uintptr_t)region.base;
    if (region.bytes == 0) return;
    read_mappings();
    for (int i = 1; i + 1 < count; i++) {
        if (line[i].start < base || line[i].start >= base + region.bytes || line[i].mode[1] != 'w')
            continue;
        edges += 2;
        closed += line[i - 1].end != line[i].start || line[i - 1].mode[0] != 'r';
        closed += line[i + 1].start != line[i].end || line[i + 1].mode[0] != 'r';
    }
    if (closed > 0) printf("%s: %d of %d edges are closed\n", when, closed, edges);
    expect(edges > 0 && closed == 0, when);
}

/* What a library does that works in whole vectors. */
static void read_beside_blocks(void) {
    volatile char sum = 0;
    for (int i = 0; i < blocks; i++) {
        size_t bytes = block[i] ? malloc_usable_size(block[i]) : 0;
        for (int k = 1; block[i] && k <= 64; k++)
            sum = (char)(sum + block[i][-k] + block[i][bytes + (size_t)k - 1]);
    }
}

static void look(const char *when) {
    look_beside_mappings(when);
    read_beside_blocks();
}

static size_t size_of(int i) {
    return i % 100 == 0 ? (size_t)(i + 1) << 12 : (size_t)(i * 37 % 30000 + 20000);
}

int main(void) {
    heap_state(&region);
    look("at the start");
    for (int i = 0; i < blocks; i++) block[i] = malloc(size_of(i));
    look("after malloc");
    for (int i = 0; i < blocks; i += 2) {
        free(block[i]);
        block[i] = NULL;
        if (i % 400 == 0) look("while blocks are freed");
    }
    for (int i = 0; i < blocks; i += 4)
        block[i] = aligned_alloc(4096, (size_of(i) + 4095) & ~(size_t)4095);
    look("after aligned_alloc");
    pid_t pid = fork();
    if (pid == 0) {
        failures = 0;
        read_beside_blocks();
        _exit(failures);
    }
    int status = -1;
    expect(waitpid(pid, &status, 0) == pid && status == 0, "a child may read beside blocks too");
    char *last = NULL, *next; /* until the region is full: its end */
    for (int i = 0; i < 1000 && (next = malloc(MiB)) != NULL; i++) last = next;
    expect(last != NULL && !in_region(last), "the region is full");
    look("when the region is full");
    for (int i = 0; i < blocks; i++) free(block[i]);
    memset(block, 0, sizeof block);
    look("when all is freed");
    struct stat facts;
    expect(region.bytes == 0 || (fstat(region.fd, &facts) == 0 && facts.st_blocks * 512 < 64 * MiB),
           "reading beside blocks costs little memory");
    return failures > 0;
}
