/* SPDX-License-Identifier: BSD-3-Clause */
/* copy - every row of kernels[] moves exactly its bytes: all alignments of both sides, buffers that
 * end or begin at a page that may not be touched, long blocks, and a block onto itself. */
#include "base/base.h"
#include "copy/copy.h"

#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { page = 4096, around = 64 };

static const size_t long_sizes[] = {
    511,  512,   513,   1000,   4095,    4096,           4097,
    8191, 65536, 65537, 262143, 1 << 20, (1 << 20) + 13, (9 << 20) + 1};
enum { longest = 10 << 20, count_of_long = sizeof long_sizes / sizeof *long_sizes };

static char *pattern, *target; /* guarded; 0xa5 in the target where nothing was written */

static void check_move(const struct kernel *kernel, bool block, size_t to, size_t from,
                       size_t bytes, size_t margin) {
    if (block)
        copy_block(&(struct copier){.kernel = (enum kernel_id)(kernel - kernels)}, target + to,
                   pattern + from, bytes);
    else kernel->move(target + to, pattern + from, bytes);
    bool right = memcmp(target + to, pattern + from, bytes) == 0;
    expect(right, "%s%s: %zu bytes from offset %zu to %zu differ", kernel->name,
           block ? " (copy_block)" : "", bytes, from, to);
    memset(target + to, 0xa5, bytes);
    size_t first = to < margin ? 0 : to - margin,
           end = to + bytes + margin < longest ? to + bytes + margin : longest;
    bool clean = target[first] == (char)0xa5 &&
                 memcmp(target + first, target + first + 1, end - first - 1) == 0;
    expect(clean, "%s%s: %zu bytes to offset %zu: a byte beside them was written", kernel->name,
           block ? " (copy_block)" : "", bytes, to);
}

static void all_alignments(const struct kernel *kernel) {
    for (size_t bytes = 0; bytes <= 300; bytes++)
        for (size_t to = 0; to < 64; to++)
            for (size_t from = 0; from < 64; from++)
                check_move(kernel, (to + from) % 2, around + to, around + from, bytes, around);
}

static void at_the_edges(const struct kernel *kernel, size_t bytes, bool block) {
    size_t margin = bytes <= page ? page : longest;
    check_move(kernel, block, longest - bytes, longest - bytes, bytes, margin);
    check_move(kernel, block, 0, 0, bytes, margin);
    check_move(kernel, block, longest - bytes, 0, bytes, margin);
    check_move(kernel, block, 0, longest - bytes, bytes, margin);
}

/* The hybrid copy: the seam between memcpy and the kernel lies anywhere, also behind the block's
 * end. */
static void at_the_seam(const struct kernel *kernel, uint64_t *random) {
    for (int i = 0; i < 3000; i++) {
        size_t bytes = 1 + draw_below(random, i % 10 ? 2000 : 300000),
               plain = draw_below(random, (uint32_t)bytes + 100);
        size_t to = around + draw_below(random, 64), from = draw_below(random, 64);
        struct copier copier = {.kernel = (enum kernel_id)(kernel - kernels), .plain = plain};
        copy_block(&copier, target + to, pattern + from, bytes);
        expect(memcmp(target + to, pattern + from, bytes) == 0,
               "hybrid(%zu) with %s: %zu bytes differ", plain, kernel->name, bytes);
        expect(target[to - 1] == (char)0xa5 && target[to + bytes] == (char)0xa5,
               "hybrid(%zu) with %s: %zu bytes, and beside them", plain, kernel->name, bytes);
        memset(target + to, 0xa5, bytes);
    }
}

/* A block that is in place already is not even written: a peer may be reading it. */
static void onto_itself(const struct kernel *kernel) {
    struct copier copier = {.kernel = (enum kernel_id)(kernel - kernels)};
    expect(mprotect(pattern, longest, PROT_READ) == 0, "mprotect");
    for (size_t bytes = 0; bytes <= 300; bytes++)
        copy_block(&copier, pattern + bytes, pattern + bytes, bytes);
    for (size_t i = 0; i < count_of_long; i++) copy_block(&copier, pattern, pattern, long_sizes[i]);
    expect(mprotect(pattern, longest, PROT_READ | PROT_WRITE) == 0, "mprotect");
}

/* The words of MORTAR_NT are `auto` and the rows below nt's, in their order: nt.c counts on it. */
static void named_by_option(void) {
    char names[256] = "auto";
    for (int k = KERNEL_nt + 1; k < KERNELS; k++) strcat(strcat(names, "|"), kernels[k].name);
    expect(strcmp(names, option_rows[OPTION_NT].unit) == 0, "MORTAR_NT is one of %s, not of %s",
           names, option_rows[OPTION_NT].unit);
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    named_by_option();
    pattern = guarded(longest);
    target = guarded(longest);
    for (size_t i = 0; i < longest; i += 8) {
        uint64_t word = draw(&random);
        memcpy(pattern + i, &word, 8);
    }
    memset(target, 0xa5, longest);
    int usable = 0;
    for (int k = 0; k < KERNELS; k++) {
        const struct kernel *kernel = &kernels[k];
        if (!kernel->usable()) continue;
        usable++;
        at_the_seam(kernel, &random);
        all_alignments(kernel);
        for (size_t bytes = 0; bytes <= 300; bytes++)
            for (int block = 0; block < 2; block++) at_the_edges(kernel, bytes, block);
        onto_itself(kernel);
        for (size_t i = 0; i < count_of_long; i++) {
            at_the_edges(kernel, long_sizes[i], i % 2);
            check_move(kernel, 1 - i % 2, 1 + draw_below(&random, 64), draw_below(&random, 64),
                       long_sizes[i], around);
        }
    }
    printf("%d of %d kernels, those that this processor has\n", usable, KERNELS);
    return 0;
}
