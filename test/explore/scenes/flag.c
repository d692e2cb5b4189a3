/* SPDX-License-Identifier: BSD-3-Clause */
/* flag - src/reach/flag.h and the wait loop with its sleepers, src/reach/wait.c. Number: of
 * rounds. */
#include "../crew.h"

enum { most_rounds = 4 };
static struct flag *flags; /* [2] */
static uint32_t *data;     /* [most_rounds] */

static void begin(void) {
    crew_plain();
    flags = share(2 * sizeof *flags);
    data = share(most_rounds * sizeof *data);
    name_memory(&flags[0], sizeof *flags, "flag");
    name_memory(&flags[1], sizeof *flags, "other flag");
    name_memory(data, most_rounds * sizeof *data, "data");
}

/* Rank 0 sets the flag round after round, ahead of the others, who wait for each. */
static void set(int me) {
    uint32_t rounds = (uint32_t)scene_number(0);
    for (uint32_t k = 0; me == 0 && k < rounds; k++) {
        data[k] = k + 1;
        flag_set(&flags[0], k + 1);
    }
    for (uint32_t seen = 0; me != 0 && seen < rounds;) {
        seen = flag_wait(crew_team(), &flags[0], seen);
        expect(data[seen - 1] == seen, "a waiter that was released reads old data");
    }
}

/* All but rank 0 add to the flag; rank 0 waits for all of them. */
static void add(int me) {
    uint32_t all = (uint32_t)(scene_threads() - 1), seen = 0;
    if (me > 0) {
        data[me] = 1;
        flag_add(&flags[0]);
    }
    while (me == 0 && seen < all) seen = flag_wait(crew_team(), &flags[0], seen);
    for (uint32_t r = 1; me == 0 && r <= all; r++)
        expect(data[r] == 1, "a waiter that was released reads old data");
}

/* Two ranks release each other in turn: each is a waiter and a waker. */
static void turns(int me) {
    uint32_t rounds = (uint32_t)scene_number(0);
    for (uint32_t k = 1; k <= rounds; k++) {
        if (me == 1) expect(flag_wait(crew_team(), &flags[0], k - 1) == k, "a turn is left out");
        if (me == 1) expect(data[0] == 2 * k - 1, "old data");
        data[0] = 2 * k - (me == 0);
        flag_set(&flags[me], k);
        if (me == 0) expect(flag_wait(crew_team(), &flags[1], k - 1) == k, "a turn is left out");
        if (me == 0) expect(data[0] == 2 * k, "old data");
    }
}

const struct scene scenes[] = {
    {"set", begin, set, NULL}, {"add", begin, add, NULL}, {"turns", begin, turns, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
