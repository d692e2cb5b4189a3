/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "fibers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { stack_bytes = 256 << 10, slot = 4096, space = 1 << 30 };
enum state { READY, ON_FLAG, ON_MESSAGES, ON_QUESTION, ENDED };
enum progress { UNDER_WAY, FINISHED, TOLD };

struct request {
    enum progress progress;
    bool sends;
    int peer, tag, mishaps, depth;
    void *data;
    size_t bytes;
};
struct letter {
    struct letter *next;
    int from, tag, request; /* request of the sender; -1: finished already */
    char *data;
    size_t bytes;
    int depth;
    bool owned;
};
struct fiber {
    ucontext_t context;
    char *stack;
    enum state state;
    const struct flag *flag; /* ON_FLAG: until it differs from old */
    uint32_t old;
    int first, count; /* ON_MESSAGES: until one of these requests is finished, or all are told */
    bool (*done)(void *state);
    void *done_state;
    int depth; /* of the messages that this rank has seen */
    struct request *requests;
    int room;
    struct letter *letters; /* that came before they were asked for, the oldest first */
    struct team team, node;
    struct wire wire;
    struct traffic traffic;
    struct fate fate;
    int under_way;
};

static struct fiber *fibers;
static const struct world *world;
static int now = -1, deepest;
static ucontext_t scheduler;
static uint64_t random_state;
static void *memory[most_fibers];
static size_t memory_bytes[most_fibers];

/* ---- waiting, instead of reach/wait.c ---- */

static void leave(enum state state) {
    struct fiber *fiber = &fibers[now];
    fiber->state = state;
    swapcontext(&fiber->context, &scheduler);
}

void (*wait_doubt)(const struct team *team);

uint32_t flag_wait(struct team *team, struct flag *flag, uint32_t old) {
    (void)team;
    fibers[now].flag = flag;
    fibers[now].old = old;
    leave(ON_FLAG);
    return flag_look(flag);
}

/* There is no longer wait. */
bool flag_wait_briefly(struct team *team, struct flag *flag, uint32_t old) {
    flag_wait(team, flag, old);
    return true;
}
void flag_wait_longer(struct team *team, struct flag *flag, uint32_t old) {
    (void)team, (void)flag, (void)old;
}

/* Ranks always have time. */
bool flag_wait_for(struct team *team, struct flag *flag, uint32_t old, double seconds) {
    (void)seconds;
    flag_wait(team, flag, old);
    return true;
}

void flag_wake(struct flag *flag) { (void)flag; }

void wait_until(struct team *team, bool (*done)(void *state), void *state) {
    (void)team;
    fibers[now].done = done;
    fibers[now].done_state = state;
    if (!done(state)) leave(ON_QUESTION);
}

/* ---- messages ---- */

static void finish(int rank, int request, int mishaps, int depth) {
    struct request *r = &fibers[rank].requests[request];
    r->progress = FINISHED;
    r->mishaps = mishaps;
    r->depth = depth;
}

/* The receiver's request gets the letter. */
static void hand_over(int to, int request, const struct letter *letter) {
    struct request *want = &fibers[to].requests[request];
    size_t bytes = letter->bytes < want->bytes ? letter->bytes : want->bytes;
    if (bytes && want->data) memcpy(want->data, letter->data, bytes);
    if (world->hand)
        world->hand(&(struct handed){letter->from, to, letter->data, letter->bytes, letter->depth});
    if (letter->depth > deepest) deepest = letter->depth;
    int mishaps = letter->bytes > want->bytes ? CAME_CUT : letter->bytes == 0 ? CAME_EMPTY : 0;
    finish(to, request, mishaps, letter->depth);
    if (letter->request >= 0) finish(letter->from, letter->request, 0, 0);
    if (letter->owned) free(letter->data);
}

/* The oldest open receive of this rank for messages of `from` with this tag; -1: none. */
static int find_want(int rank, int from, int tag) {
    for (int r = 0; r < fibers[rank].room; r++) {
        const struct request *q = &fibers[rank].requests[r];
        if (q->progress == UNDER_WAY && !q->sends && q->peer == from && q->tag == tag) return r;
    }
    return -1;
}

static void send_letter(struct fiber *me, int to, struct request *r, int request) {
    struct letter *letter = malloc(sizeof *letter), **last = &fibers[to].letters;
    *letter = (struct letter){.from = now,
                              .tag = r->tag,
                              .request = request,
                              .data = r->data,
                              .bytes = r->bytes,
                              .depth = me->depth + 1};
    if (r->bytes <= world->eager) {
        letter->data = memcpy(malloc(r->bytes + 1), r->data, r->bytes);
        letter->owned = true;
        letter->request = -1;
        r->progress = FINISHED;
    }
    int want = find_want(to, now, r->tag);
    if (want >= 0) {
        hand_over(to, want, letter);
        free(letter);
        return;
    }
    while (*last) last = &(*last)->next;
    *last = letter;
}

static void want_letter(struct fiber *me, struct request *r, int request) {
    for (struct letter **at = &me->letters; *at; at = &(*at)->next) {
        struct letter *letter = *at;
        if (letter->from != r->peer || letter->tag != r->tag) continue;
        *at = letter->next;
        hand_over(now, request, letter);
        free(letter);
        return;
    }
}

static int start(void *state, bool sends, int peer, void *data, size_t bytes, int tag,
                 int request) {
    struct fiber *me = state;
    if (request >= me->room) {
        int room = request + 64;
        me->requests = realloc(me->requests, (size_t)room * sizeof *me->requests);
        for (; me->room < room; me->room++)
            me->requests[me->room] = (struct request){.progress = TOLD};
    }
    struct request *r = &me->requests[request];
    expect(r->progress == TOLD, "%s: rank %d uses request %d again", world->what, now, request);
    *r = (struct request){.sends = sends, .peer = peer, .tag = tag, .data = data, .bytes = bytes};
    if (sends) send_letter(me, peer, r, request);
    else want_letter(me, r, request);
    return 0;
}

/* One of the finished requests, drawn; -1: none is. *left: those that are not told. */
static int pick(const struct fiber *fiber, int *left) {
    int picked = -1;
    uint32_t found = 0;
    *left = 0;
    for (int r = fiber->first; r < fiber->first + fiber->count; r++) {
        enum progress progress = fiber->requests[r].progress;
        *left += progress != TOLD;
        if (progress == FINISHED && draw_below(&random_state, ++found) == 0) picked = r;
    }
    return picked;
}

static int some(void *state, struct team *team, int first, int count, int *done) {
    struct fiber *me = state;
    int left;
    (void)team;
    me->first = first, me->count = count;
    while ((*done = pick(me, &left)) < 0 && left > 0) leave(ON_MESSAGES);
    if (*done < 0) return 0;
    struct request *r = &me->requests[*done];
    r->progress = TOLD;
    if (!r->sends && r->depth > me->depth) me->depth = r->depth;
    return r->mishaps;
}

static int all(void *state, struct team *team, int first, int count) {
    int mishaps = 0;
    for (int done = 0; done >= 0;) mishaps |= some(state, team, first, count, &done);
    return mishaps;
}

static int look(void *state, int tag) {
    const struct fiber *me = state;
    int from = -1;
    uint32_t found = 0;
    for (const struct letter *letter = me->letters; letter; letter = letter->next)
        if (letter->tag == tag && draw_below(&random_state, ++found) == 0) from = letter->from;
    return from;
}

static const struct carrier carrier = {.start = start, .some = some, .all = all, .look = look};

/* ---- the world ---- */

static void join_node(struct fiber *fiber, int me, const int *lowest) {
    const struct world *w = world;
    struct places *places = calloc(1, sizeof *places); /* freed with the team */
    expect(places_make(places, w->p, lowest) == 0, "places");
    struct team *node = &fiber->node, *team = &fiber->team;
    *node = (struct team){.p = ranks_on(places, places->node_of[me]), .me = places->local_of[me]};
    team_attach(node, memory[lowest[me]], slot, space);
    node->names = calloc((size_t)node->p, sizeof *node->names);
    team_reserve_tables(node);
    team->places = places;
    team->node = node;
    team->fullest = figures_of_node(places->most);
    team->fullest.slot = node->figures.slot;
    team->fullest.space_bytes = node->figures.space_bytes;
    team->fullest.space_ample = true;
    team->figures = figures_over(places, &team->fullest);
}

void world_open(const struct world *w) {
    int lowest[most_fibers], here[most_fibers] = {0};
    world = w;
    fibers = calloc((size_t)w->p, sizeof *fibers);
    for (int r = 0; r < w->p; r++) {
        lowest[r] = 0;
        while (w->node_of && w->node_of[lowest[r]] != w->node_of[r]) lowest[r]++;
        here[lowest[r]]++;
    }
    for (int r = 0; r < w->p && w->node_of; r++) {
        memory[r] = NULL;
        if (!here[r]) continue;
        memory_bytes[r] = control_size(here[r], slot, space);
        memory[r] = mmap(NULL, memory_bytes[r], PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        expect(memory[r] != MAP_FAILED, "mmap");
    }
    for (int r = 0; r < w->p; r++) {
        struct fiber *fiber = &fibers[r];
        fiber->stack = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        expect(fiber->stack != MAP_FAILED, "mmap");
        fiber->wire = (struct wire){.carrier = &carrier,
                                    .state = fiber,
                                    .under_way = &fiber->under_way,
                                    .traffic = &fiber->traffic,
                                    .fate = &fiber->fate};
        fiber->team = (struct team){.p = w->p, .me = r, .wire = &fiber->wire};
        fiber->team.figures = figures_of_node(w->p);
        fiber->team.figures.where = BY_MESSAGES;
        fiber->team.figures.most = 1;
        fiber->team.figures.network = network_of(&network_usual);
        if (w->node_of) join_node(fiber, r, lowest);
    }
}

static bool may_go_on(const struct fiber *fiber) {
    int left;
    switch (fiber->state) {
    case READY: return true;
    case ON_FLAG: return flag_look(fiber->flag) != fiber->old;
    case ON_MESSAGES: return pick(fiber, &left) >= 0;
    case ON_QUESTION: return fiber->done(fiber->done_state);
    default: return false;
    }
}

static void tell_deadlock(void) {
    for (int r = 0, told = 0; r < world->p && told < 8; r++) {
        const struct fiber *fiber = &fibers[r];
        if (fiber->state == ENDED) continue;
        told++;
        if (fiber->state != ON_MESSAGES) {
            fprintf(stderr, "rank %d waits for ranks of its node\n", r);
            continue;
        }
        for (int q = fiber->first; q < fiber->first + fiber->count; q++)
            if (fiber->requests[q].progress == UNDER_WAY)
                fprintf(stderr, "rank %d waits: %s rank %d, tag %d\n", r,
                        fiber->requests[q].sends ? "it sends to" : "it receives from",
                        fiber->requests[q].peer, fiber->requests[q].tag);
    }
    expect(false, "%s, p=%d, %s: all ranks wait", world->what, world->p,
           world->eager == SIZE_MAX ? "eager" : "rendezvous");
}

static void begin(void) {
    world->body(&fibers[now].team);
    fibers[now].state = ENDED;
}

static void make_ready(struct fiber *fiber) {
    fiber->state = READY;
    fiber->depth = 0;
    getcontext(&fiber->context);
    fiber->context.uc_stack = (stack_t){.ss_sp = fiber->stack, .ss_size = stack_bytes};
    fiber->context.uc_link = &scheduler;
    makecontext(&fiber->context, begin, 0);
}

int world_run(const struct world *w) {
    int ended = 0;
    world = w;
    random_state = w->seed;
    deepest = 0;
    for (int r = 0; r < w->p; r++) make_ready(&fibers[r]);
    while (ended < w->p) {
        /* Each time around in another direction, from another rank. */
        int went = 0, first = (int)draw_below(&random_state, (uint32_t)w->p);
        int step = draw_below(&random_state, 2) ? 1 : w->p - 1;
        for (int i = 0, r = first; i < w->p; i++, r = (r + step) % w->p) {
            struct fiber *fiber = &fibers[r];
            if (!may_go_on(fiber)) continue;
            now = r;
            swapcontext(&scheduler, &fiber->context);
            went++;
            ended += fiber->state == ENDED;
        }
        if (!went) tell_deadlock();
    }
    return deepest;
}

static void settle(struct team *team) {
    if (team->settle) team->settle(team);
}

void world_close(void) {
    struct world last = *world;
    last.body = settle;
    last.hand = NULL;
    world_run(&last);
    for (int r = 0; r < world->p; r++) {
        struct fiber *fiber = &fibers[r];
        expect(!fiber->letters && fiber->under_way == 0, "%s: messages to rank %d are left",
               world->what, r);
        team_release(&fiber->team);
        if (world->node_of) team_release(&fiber->node);
        munmap(fiber->stack, stack_bytes);
        free(fiber->requests);
    }
    for (int r = 0; r < world->p && world->node_of; r++)
        if (memory[r]) munmap(memory[r], memory_bytes[r]);
    free(fibers);
}
