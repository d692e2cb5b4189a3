/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "crew.h"

#include "test/passed.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { behind = 4096 };
static const double most_seconds = 1;

static void count_poll(struct team *team) { ++*(long *)team->progress_state; }

static void *begin(void *argument) {
    struct rank *rank = argument;
    rank->crew->body(rank);
    return NULL;
}

/* Every rank waits in its own way, as far as the machine allows. */
static unsigned patience_of(const struct crew *crew, uint64_t *random) {
    static const unsigned modes[] = {WAIT_AUTO, WAIT_AUTO, WAIT_YIELD, WAIT_FUTEX, WAIT_SPIN};
    return modes[draw_below(random, crew->spinning ? 5 : 4)];
}

/* Where the region of a rank that has none seems to begin: who computes with it all the same, hits
 * nothing. */
static char *const nowhere = (char *)((uintptr_t)1 << 45);

static void give_block(struct crew *crew, struct rank *rank, struct segment_name *name) {
    size_t region = crew->room / 2;
    expect(region % 4096 == 0, "the region is a number of pages");
    rank->block =
        mmap(NULL, crew->room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(rank->block != MAP_FAILED, "mmap");
    rank->team.region = rank->has_region ? rank->block : nowhere;
    rank->team.region_bytes = rank->has_region ? region : 0;
    if (!rank->has_region || crew->reach == REACH_DIRECT) return;
    int fd = segment_create("unit-region", region);
    expect(fd >= 0 && segment_name(fd, name) == 0, "segment_create: %d", fd);
    void *shared = mmap(rank->block, region, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    expect(shared == rank->block, "mmap");
}

static void know_peers(struct crew *crew, struct team *team, const struct segment_name *names) {
    team->names = calloc((size_t)crew->p, sizeof *team->names);
    expect(team->names != NULL, "calloc");
    memcpy(team->names, names, (size_t)crew->p * sizeof *names);
    team_shares(team);
    if (crew->reach != REACH_DIRECT) return;
    for (int writable = 0; writable < 2; writable++) {
        team->peers[writable] = calloc((size_t)crew->p, sizeof(uintptr_t));
        expect(team->peers[writable] != NULL, "calloc");
        for (int r = 0; r < crew->p; r++)
            team->peers[writable][r] = (uintptr_t)crew->ranks[r].team.region;
    }
}

/* One domain or several, of any ranks or of consecutive ones, numbered in the order of their first
 * ranks: the same map on all. */
static void give_domains(const struct crew *crew, struct team *team) {
    uint64_t random = crew->seed;
    uint32_t p = (uint32_t)crew->p, domains = 1 + draw_below(&random, 4),
             consecutive = draw_below(&random, 2), number[4];
    team->figures.domains = 1;
    if (domains == 1 || crew->one_domain) return;
    expect((team->domain_of = malloc(p * sizeof *team->domain_of)) != NULL, "malloc");
    for (uint32_t d = 0; d < domains; d++) number[d] = UINT32_MAX;
    team->figures.domains = 0;
    for (uint32_t r = 0; r < p; r++) {
        uint32_t drawn = consecutive ? r * domains / p : draw_below(&random, domains);
        if (number[drawn] == UINT32_MAX) number[drawn] = team->figures.domains++;
        team->domain_of[r] = number[drawn];
    }
}

static void build(struct crew *crew, struct segment_name *names) {
    uint64_t random = crew->seed, fans = ~crew->seed;
    uint32_t p = (uint32_t)crew->p, fan = draw_below(&fans, 2) ? p : 2 + draw_below(&fans, 4);
    bool watch = draw_below(&fans, 2) && p <= few_ranks;
    /* Not known, a core for each, or ranks that share them. */
    int processors = (int[]){0, crew->p, 1, 2}[draw_below(&fans, 4)];
    size_t bytes = control_size(crew->p, crew->slot, 0);
    crew->office = crew->wired ? office_open() : NULL;
    crew->memory = mmap(NULL, bytes + behind, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    expect(crew->memory != MAP_FAILED, "mmap"); /* most of it is never touched */
    memset((char *)crew->memory + bytes, 0x5a, behind);
    for (int r = 0; r < crew->p; r++) {
        struct rank *rank = &crew->ranks[r];
        memset(rank, 0, sizeof *rank);
        rank->crew = crew;
        rank->common = crew->seed;
        rank->own = draw(&random);
        rank->team.p = crew->p;
        rank->team.me = r;
        rank->has_region =
            crew->reach != REACH_NOTHING && (crew->all_have_regions || draw_below(&random, 8) != 0);
        team_attach(&rank->team, crew->memory, crew->slot, 0);
        give_domains(crew, &rank->team);
        rank->team.figures.processors = processors;
        sync_shape(&rank->team, fan);
        if (watch) sync_watch(&rank->team);
        rank->team.patience.mode = patience_of(crew, &random);
        rank->team.patience.crowded = crew->p > processors_here() || draw_below(&random, 2);
        rank->team.progress = count_poll;
        rank->team.progress_state = &rank->polls;
        give_block(crew, rank, &names[r]);
        if (crew->wired) office_join(crew->office, &rank->team, draw(&random));
    }
    for (int r = 0; r < crew->p; r++) have_passed(&crew->ranks[r].team, crew->epoch);
    for (int r = 0; r < crew->p; r++) know_peers(crew, &crew->ranks[r].team, names);
}

static void tear_down(struct crew *crew, struct segment_name *names) {
    const char *end = (char *)crew->memory + control_size(crew->p, crew->slot, 0);
    for (int i = 0; i < behind; i++)
        expect(end[i] == 0x5a, "p=%d: byte %d behind the shared memory was written", crew->p, i);
    for (int r = 0; r < crew->p; r++) {
        struct rank *rank = &crew->ranks[r];
        if (rank->team.plans_free) rank->team.plans_free(&rank->team);
        if (crew->wired) office_leave(&rank->team);
        team_release(&rank->team);
    }
    for (int r = 0; r < crew->p; r++) {
        struct rank *rank = &crew->ranks[r];
        munmap(rank->block, crew->room);
        if (names[r].bytes) close(names[r].fd);
    }
    if (crew->wired) office_close(crew->office);
    expect(mappings_named("unit-region") == 0,
           "p=%d: peers' regions are still mapped after team_release", crew->p);
    munmap(crew->memory, control_size(crew->p, crew->slot, 0) + behind);
}

void crew_run(struct crew *crew) {
    struct segment_name names[most_ranks] = {{0}};
    build(crew, names);
    crew->start = clock_seconds();
    for (int r = 0; r < crew->p; r++)
        expect(pthread_create(&crew->ranks[r].thread, NULL, begin, &crew->ranks[r]) == 0,
               "pthread_create");
    for (int r = 0; r < crew->p; r++) pthread_join(crew->ranks[r].thread, NULL);
    tear_down(crew, names);
}

int crews_run(const int *sizes, size_t count, int calls, uint64_t *random,
              void (*prepare)(struct crew *crew, uint64_t *random)) {
    static struct crew crew;
    int runs = 0;
    for (size_t i = 0; i < count; i++)
        for (enum reach reach = REACH_NOTHING; reach <= REACH_MAPPED; reach++) {
            crew = (struct crew){.p = sizes[i], .reach = reach, .seed = draw(random)};
            crew.spinning = sizes[i] <= processors_here() && sizes[i] <= 4;
            prepare(&crew, random);
            crew.epoch =
                draw_below(random, 2) ? UINT32_MAX - draw_below(random, (uint32_t)calls) : 0;
            crew.all_have_regions = reach != REACH_NOTHING && draw_below(random, 3) != 0;
            crew_run(&crew);
            runs++;
        }
    return runs;
}

bool crew_goes_on(struct rank *rank) {
    struct crew *crew = rank->crew;
    if (rank->team.me == 0) atomic_store(&crew->late, clock_seconds() - crew->start > most_seconds);
    sync_all(&rank->team, 0);
    bool late = atomic_load(&crew->late);
    sync_all(&rank->team, 0);
    return !late;
}

int processors_here(void) {
    struct processors set = machine_processors();
    return processors_count(&set);
}

void dawdle(uint64_t *random) {
    uint32_t what = draw_below(random, 64);
    if (what == 0) usleep(draw_below(random, 1500));
    else if (what < 12)
        for (uint32_t i = draw_below(random, 20); i > 0; i--) sched_yield();
    else if (what < 24)
        for (uint32_t i = draw_below(random, 3000); i > 0; i--)
            atomic_signal_fence(memory_order_seq_cst);
}

bool mapping_of(uintptr_t address, char *line, size_t size) {
    FILE *file = fopen("/proc/self/maps", "r");
    bool found = false;
    while (file && !found && fgets(line, (int)size, file)) {
        unsigned long start, end;
        found = sscanf(line, "%lx-%lx ", &start, &end) == 2 && start <= address && address < end;
    }
    if (file) fclose(file);
    return found;
}

int mappings_named(const char *word) {
    FILE *file = fopen("/proc/self/maps", "r");
    char line[512];
    int count = 0;
    while (file && fgets(line, sizeof line, file)) count += strstr(line, word) != NULL;
    if (file) fclose(file);
    return count;
}

enum outcome crew_calls(struct rank *rank, struct team *team, const struct algorithm_code *code,
                        const struct call *call, const struct arguments *arguments) {
    const struct single *single = single_for(code, team, call, arguments);
    struct single_state state;
    if (!single || call->trouble || draw_below(&rank->own, 2))
        return code->run(team, call, arguments);
    bool over = single_begin(single, team, call, arguments, &state);
    expect(over == (state.passed && !state.trouble), "single_begin");
    enum outcome outcome = single_end(single, team, call, arguments, &state);
    if (outcome == FAILED && blocks_cut) return DONE;
    expect(!over || outcome == DONE, "without trouble a call returned %d", (int)outcome);
    return outcome;
}
