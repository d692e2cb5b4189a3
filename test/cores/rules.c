/* SPDX-License-Identifier: BSD-3-Clause */
/* rules - caches with sizes, ways with a bandwidth, and fetching ahead, on the simulated node: on
 * small machines it can be worked out by hand which lines come from where, and when. */
#include "cores/cores.h"

#include <stdlib.h>
#include <string.h>

enum { page = line_bytes * page_lines };

/* Two sockets of two groups of two cores. A core has 64 lines, if its cache has an end at all. */
static const struct machine plain = {.cores = 8,
                                     .group = 2,
                                     .socket = 4,
                                     .hand_over = {10, 100, 1000},
                                     .memory = {500, 700},
                                     .l3_time = 20,
                                     .overlap = 10};
static const struct cache_shape one_page = {page, page_lines},
                                four_pages = {4 * page, 4 * page_lines};

static char *memory;
static double took[most_cores];
static int failures;

static void must(bool fine, const char *what, double value) {
    if (fine) return;
    printf("FAILED: %s: %g\n", what, value);
    failures++;
}

static void begin(void) {
    lines_reset();
    memory = shared_take(1 << 20);
}

/* Lines of all ranks. */
static uint64_t came(int source) {
    uint64_t sum = 0;
    for (uint32_t core = 0; core < most_cores; core++) sum += lines_moved[core][source];
    return sum;
}

static double moved(void) {
    double sum = 0;
    for (int s = 0; s < sources; s++) sum += (double)came(s);
    return sum;
}

/* Copies out of so many lines, or into them, and waits for all. */
static void copy(size_t first, size_t lines, bool stores) {
    lines_copy(memory + first * line_bytes, lines * line_bytes, stores);
    line_access(memory + (1 << 20) - 1 - (size_t)rank_now * line_bytes, STORE_IN_SEQUENCE);
}

/* ---- caches ---- */

static size_t reading;
static void five_times(uint32_t rank) {
    for (int pass = 0; rank == 0 && pass < 5; pass++)
        for (size_t i = 0; i < reading; i++) line_access(memory + i * line_bytes, LOAD);
}

static void capacity(void) {
    machine = plain;
    machine.l2 = one_page;
    begin(), reading = page_lines;
    ranks_run(1, five_times);
    must(came(FROM_MEMORY) == page_lines && moved() == page_lines, "what fits stays",
         moved());
    begin(), reading = 2 * page_lines;
    ranks_run(1, five_times);
    must(came(FROM_MEMORY) == 5 * reading, "twice as much never stays", moved());
    machine.l3 = four_pages;
    begin();
    ranks_run(1, five_times);
    must(came(FROM_MEMORY) == reading && came(FROM_SHARED) == 4 * reading,
         "L3 has what L2 throws out", (double)came(FROM_SHARED));
    machine.l2 = machine.l3 = (struct cache_shape){0};
    begin();
    ranks_run(1, five_times);
    must(moved() == (double)reading, "without an end nothing leaves", moved());
}

/* Core 0 reads a page, core 1 of its group another one, core 0 the first again. */
static void in_turns(uint32_t rank) {
    for (uint32_t turn = 0; turn < 3; turn++) {
        if (turn == 2 && rank == 0) memset(lines_moved, 0, sizeof lines_moved);
        for (size_t i = 0; rank == turn % 2 && i < page_lines; i++)
            line_access(memory + turn % 2 * page + i * line_bytes, LOAD);
        ranks_meet();
    }
}

static void inclusion(void) {
    machine = plain;
    machine.l2 = machine.l3 = one_page;
    machine.inclusive = true;
    begin();
    ranks_run(2, in_turns);
    must(came(FROM_MEMORY) == page_lines, "an inclusive L3 takes from L2 what it throws out",
         moved());
    machine.inclusive = false;
    begin();
    ranks_run(2, in_turns);
    must(moved() == 0, "another one does not", moved());
}

/* Core 0 reads or writes a page, then another; core 1 of its group reads the first. */
static void thrown_out(uint32_t rank) {
    if (rank == 0) copy(0, page_lines, true), copy(page_lines, page_lines, false);
    ranks_meet();
    memset(lines_moved, 0, sizeof lines_moved);
    double start = rank_time();
    if (rank == 1) line_access(memory, LOAD);
    if (rank == 1) took[1] = rank_time() - start;
}

static void victims(void) {
    machine = plain;
    machine.l2 = one_page, machine.l3 = four_pages;
    begin();
    ranks_run(2, thrown_out);
    must(came(FROM_SHARED) == 1 && took[1] == machine.l3_time, "from L3", took[1]);
    machine.l3 = (struct cache_shape){0};
    begin();
    ranks_run(2, thrown_out);
    must(came(FROM_MEMORY) == 1 && took[1] == machine.memory[0], "from memory", took[1]);
}

/* All cores read a line, core 0 writes to it, core 7 reads again, then core 6. */
static void written(uint32_t rank) {
    line_access(memory, LOAD);
    ranks_meet();
    if (rank == 0) line_access(memory, STORE_IN_SEQUENCE);
    ranks_meet();
    for (uint32_t reader = 7; reader > 5; reader--) {
        double start = rank_time();
        if (rank == reader) line_access(memory, LOAD), took[rank] = rank_time() - start;
        ranks_meet();
    }
}

/* Core 0 reads a line, which an inclusive L3 then has, too, and writes to it; core 1 reads it. */
static void changed(uint32_t rank) {
    if (rank == 0) line_access(memory, LOAD), line_access(memory, STORE_IN_SEQUENCE);
    ranks_meet();
    double start = rank_time();
    if (rank == 1) line_access(memory, LOAD), took[1] = rank_time() - start;
}

static void ownership(void) {
    machine = plain;
    machine.l2 = one_page, machine.l3 = four_pages, machine.inclusive = true;
    begin();
    ranks_run(2, changed);
    must(took[1] == machine.hand_over[0], "L3 does not have what a core has changed", took[1]);
    for (int inclusive = 0; inclusive < 2; inclusive++) {
        machine.inclusive = inclusive;
        begin();
        ranks_run(8, written);
        must(took[7] == machine.hand_over[2], "a writer takes it from all caches", took[7]);
        must(took[6] == (inclusive ? machine.l3_time : machine.hand_over[0]), "then a group has it",
             took[6]);
    }
}

/* ---- memory and ways ---- */

static void first_touch(uint32_t rank) {
    if (rank == 0) line_access(memory, LOAD), line_access(memory + page, LOAD), lines_flush();
    ranks_meet();
    double start = rank_time();
    if (rank == 1) line_access(memory + line_bytes, LOAD);
    if (rank == 4) line_access(memory + page + line_bytes, LOAD);
    took[rank] = rank_time() - start;
}

static void homes(void) {
    machine = plain;
    begin();
    ranks_run(5, first_touch);
    must(took[1] == 500 && took[4] == 700, "memory is where it was touched first", took[4]);
}

/* Each of some cores copies 640 lines of its own, which core `owner` has touched, or, of core 0,
 * core 4. */
enum { stream = 10 * page_lines };
static uint32_t owner, streaming; /* bits: these cores */
static bool storing;
static void streams(uint32_t rank) {
    for (size_t i = 0; i < 8 * stream; i += page_lines)
        if (rank == (i < stream ? 4 : owner)) line_access(memory + i * line_bytes, LOAD);
    ranks_meet();
    if (rank == 0) lines_flush();
    ranks_meet();
    double start = rank_time();
    if (streaming >> rank & 1)
        lines_copy(memory + rank * stream * line_bytes, stream * line_bytes, storing);
    line_access(memory + (1 << 20) - 1 - rank * line_bytes, STORE_IN_SEQUENCE);
    took[rank] = rank_time() - start;
}

static double longest(uint32_t first, uint32_t cores) {
    double most = 0;
    begin();
    owner = first, streaming = cores;
    ranks_run(8, streams);
    for (int r = 0; r < 8; r++) most = took[r] > most ? took[r] : most;
    return most;
}

static void expect_ratio(const char *what, double a, double b, double wanted) {
    must(a / b > 0.95 * wanted && a / b < 1.05 * wanted, what, a / b);
}

static void bandwidth(void) {
    machine = plain;
    double free_one = longest(0, 1 << 4), free_two = longest(0, 1 << 4 | 1 << 5);
    expect_ratio("without an end two streams do not meet", free_two, free_one, 1);
    expect_ratio("10 lines of 700 ns are under way", free_one, stream * 70, 1);
    machine.link_bandwidth = 0.5; /* a line in 128 ns */
    double one = longest(0, 1 << 4);
    expect_ratio("a link takes its time", one, stream * 128, 1);
    expect_ratio("two streams over one link", longest(0, 1 << 4 | 1 << 6), one, 2);
    storing = true;
    expect_ratio("stores take it, too", longest(0, 1 << 4), one, 1);
    storing = false;
    expect_ratio("two streams in two directions", longest(0, 1 << 4 | 1), one, 1);
    expect_ratio("over none", longest(0, 1 << 1 | 1 << 2), stream * 50, 1);
    machine.link_bandwidth = 0, machine.group_bandwidth[0] = 0.5;
    expect_ratio("two streams into two groups", longest(0, 1 << 4 | 1 << 6), one, 1);
    expect_ratio("two streams into one group", longest(0, 1 << 4 | 1 << 5), one, 2);
    machine.group_bandwidth[0] = 0, machine.memory_bandwidth = 0.5;
    expect_ratio("four streams from one memory", longest(0, 0x36), one, 4);
}

/* Cores 0 and 2, of one group each, share a page; two cores of the other socket read it. */
static void shared_page(uint32_t rank) {
    if (rank == 0 || rank == 2) copy(0, page_lines, false);
    ranks_meet();
    double start = rank_time();
    if (rank >= 4 && rank % 2 == 0) copy((rank - 4) / 2 * (page_lines / 2), page_lines / 2, false);
    took[rank] = rank_time() - start;
}

static void two_givers(void) {
    machine = plain;
    machine.group_bandwidth[1] = 0.05; /* a line in 1280 ns */
    begin();
    ranks_run(7, shared_page);
    expect_ratio("the group whose way is free gives", later(took[4], took[6]),
                 page_lines * 1280.0 / 2, 1);
}

/* Core 0 fills its cache with lines that it has changed or not, then reads as many others. */
static bool changes;
static void replaced(uint32_t rank) {
    if (rank == 0) copy(0, 4 * page_lines, changes);
    double start = rank_time();
    if (rank == 0) copy(4 * page_lines, 4 * page_lines, false);
    took[rank] = rank_time() - start;
}

static void write_back(void) {
    machine = plain;
    machine.l2 = four_pages, machine.memory_bandwidth = 0.5;
    begin(), changes = false;
    ranks_run(1, replaced);
    double clean = took[0];
    begin(), changes = true;
    ranks_run(1, replaced);
    expect_ratio("changed lines go back to memory", took[0], clean, 2);
}

/* Core 0 has written two pages; core 1 of the other group copies a part of them. */
static size_t from, lines, stride;
static void follow(uint32_t rank) {
    if (rank == 0) copy(0, 2 * page_lines, true);
    ranks_meet();
    if (rank == 0) memset(lines_moved, 0, sizeof lines_moved);
    double start = rank_time();
    if (rank == 2)
        for (size_t i = 0; i < lines; i += stride)
            lines_copy(memory + (from + i) * line_bytes, stride > 1 ? 1 : line_bytes, false);
    if (rank == 2) line_fence(), took[2] = rank_time() - start;
}

/* So many lines come. */
static void followed(size_t first, size_t count, size_t step, double wanted, const char *what) {
    begin();
    from = first, lines = count, stride = step;
    ranks_run(3, follow);
    must((double)came(1) == wanted, what, (double)came(1));
}

static void fetching_ahead(void) {
    machine = plain;
    machine.touch = 1;
    followed(0, 8, 1, 8, "nothing ahead");
    followed(0, page_lines, 1, page_lines, "nor of a page");
    double alone = took[2];
    machine.ahead = 20;
    followed(0, page_lines, 1, page_lines, "a page ahead, and no more");
    must(took[2] < 0.6 * alone, "a stream is faster", took[2] / alone);
    followed(0, 8, 1, 2 + 2 * 7, "two more for each line after the first");
    followed(page_lines - 8, 8, 1, 8, "not beyond the page");
    followed(0, 16, 2, 8, "every second line is no stream");
    machine.ahead = 64;
    followed(0, 30, 1, 30 + 20, "so far and no farther");
    machine.ahead = 3;
    followed(0, 16, 1, 16, "while 3 are under way, no others");
}

int main(void) {
    capacity();
    inclusion();
    victims();
    ownership();
    homes();
    bandwidth();
    two_givers();
    write_back();
    fetching_ahead();
    return failures != 0;
}
