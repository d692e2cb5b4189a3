/* SPDX-License-Identifier: BSD-3-Clause */
/* box - src/reach/box.c: rings of boxes, their rooms, and waiting for several sources at a desk.
 * Numbers: of calls; if not 0, readers acknowledge in groups. */
#include "../crew.h"

#include <string.h>

static struct flag *left_by; /* [p] the calls that a rank has left */

/* By rank: boxes that it has filled, and how often it was the last reader of one. Exactly one
 * reader of each filling wakes the owner. */
static int filled_by[most_threads], emptied_by[most_threads];

static void begin(void) {
    crew_plain();
    memset(filled_by, 0, sizeof filled_by);
    memset(emptied_by, 0, sizeof emptied_by);
    left_by = share(most_threads * sizeof *left_by);
    name_memory(left_by, most_threads * sizeof *left_by, "left by");
    size_t p = (size_t)scene_threads(), slot = 64;
    char *boxes = share(boxes_size((int)p, slot));
    name_memory(boxes, boxes_size((int)p, slot), "boxes");
    for (size_t r = 0; r < p; r++) {
        boxes_attach(&teams[r], boxes, slot);
        teams[r].rung_count = 2; /* so many that readers acknowledge in groups */
        name_memory(&teams[0].outboxes[r].desk, 4, "desk");
    }
    for (size_t b = 0; b < p * BOXES; b++) {
        struct box *box = &teams[0].outboxes[b / BOXES].boxes[b % BOXES];
        name_memory(&box->holds, 8, "holds");
        name_memory(&box->rings, 8, "rings");
        name_memory(&box->emptied, 8, "emptied");
        name_memory(&box->taken, 4, "taken");
        name_memory(box->inside, 8, "inside");
    }
}

static uint64_t *inside(struct box *box) { return (uint64_t *)(void *)box->inside; }

static void publish_to(struct team *team, struct box *box, uint64_t op, uint32_t part,
                       uint32_t readers) {
    filled_by[team->me]++;
    box_publish(team, box, op, part, readers);
}

static void acknowledge(struct team *team, struct box *box) {
    if (!box_ack(team, box)) return;
    emptied_by[team->me]++;
    flags_fence();
    box_wake(box);
}

static void take(struct team *team, int source, uint64_t op, uint32_t part, uint64_t value) {
    struct box *box = box_of(team, source, op, part);
    expect(*inside(box) == value, "a box does not hold what was put in");
    acknowledge(team, box);
}

/* Broadcasts. always -1: the ranks in turn; else in groups the root waits for the last call. */
static void cast(struct team *team, int always) {
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        uint64_t op = box_next_op(team);
        int root = always < 0 ? k % team->p : always;
        if (team->me == root) {
            struct box *box = box_wait_free(team, op, 0);
            *inside(box) = op;
            publish_to(team, box, op, 0, scene_number(1) ? ALL_OTHERS : (uint32_t)team->p - 1);
        } else {
            box_wait_for(team, root, op, 0);
            take(team, root, op, 0, op);
        }
    }
    if (team->me == always && scene_number(1)) box_wait_free(team, team->ops, 0);
}
static void one_root(int me) { cast(&teams[me], 0); }
static void last_root(int me) { cast(&teams[me], teams[me].p - 1); }
static void roots(int me) { cast(&teams[me], -1); }

/* One call of many parts, whose data lie in one room. */
static void rooms(int me) {
    struct team *team = &teams[me];
    uint64_t op = box_next_op(team);
    for (uint32_t part = 0; part < (uint32_t)scene_number(0); part++) {
        crew_enter();
        if (me == 0) {
            struct box *box = box_wait_free(team, op, part);
            uint64_t *room = (uint64_t *)(void *)box_wait_room(team, box, 0);
            *room = part;
            publish_to(team, box, op, part, (uint32_t)team->p - 1);
        } else {
            box_wait_for(team, 0, op, part);
            expect(*(uint64_t *)(void *)box_room_of(team, 0, 0) == part, "a wrong room");
            acknowledge(team, box_of(team, 0, op, part));
        }
    }
}

/* Rank 0 takes from all others, as they come; they wait until it has, as senders do whose data it
 * reads in place. late: each of them comes only when the rank before has left the call, so nobody
 * may be kept waiting for a later one. */
static void gather(int me, bool late) {
    struct team *team = &teams[me];
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        uint64_t op = box_next_op(team);
        if (me != 0) {
            uint32_t before = (uint32_t)k;
            if (late && me > 1) before = await_change(&left_by[me - 1], before);
            struct box *box = box_wait_free(team, op, 0);
            *inside(box) = op;
            publish_to(team, box, op, 0, 1);
            box_ring(team, 0);
            box_wait_free(team, op, 0);
            if (late) flag_set(&left_by[me], (uint32_t)k + 1);
            continue;
        }
        bool taken[most_threads] = {true};
        for (int left = team->p - 1; left > 0;) {
            int before = left, settled = 0;
            for (int round = 0; round < 2 && left == before; round++) {
                uint32_t rings = 0;
                for (int s = 1; s < team->p; s++)
                    if (!taken[s]) settled = s; /* the last one, which comes last */
                if (round == 1) rings = box_settle(team, settled, op, 0);
                for (int s = 1; s < team->p; s++)
                    if (!taken[s] && box_ready(team, s, op, 0))
                        take(team, s, op, 0, op), taken[s] = true, left--;
                if (round == 1 && left == before) box_wait_settled(team, settled, op, 0, rings);
            }
        }
    }
}

static void several(int me) { gather(me, false); }
static void late(int me) { gather(me, true); }

static void end(void) {
    int filled = 0, emptied = 0;
    for (int r = 0; r < scene_threads(); r++) filled += filled_by[r], emptied += emptied_by[r];
    expect(emptied == filled, "an owner is woken more or less than once");
}

const struct scene scenes[] = {
    {"one_root", begin, one_root, end}, {"last_root", begin, last_root, end},
    {"roots", begin, roots, end},       {"rooms", begin, rooms, end},
    {"several", begin, several, end},   {"late", begin, late, end}};
const int scene_count = sizeof scenes / sizeof scenes[0];
