/* SPDX-License-Identifier: BSD-3-Clause */
/* ledger - what ranks write down about their calls, read by one that waits long, at any time
 * (src/reach/ledger.c). Numbers: of calls; from 1, the call in which rank 1 differs. */
#include "../crew.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

enum { first_pid = 100 };
static struct flag *done;
static _Atomic uint32_t *told;
static bool dead;

int kill(pid_t pid, int signal) {
    (void)signal;
    expect(pid >= first_pid && pid < first_pid + scene_threads(), "a process that is nobody's");
    errno = dead && pid == first_pid + 1 ? ESRCH : EPERM;
    return -1;
}
uint64_t machine_name_space(void) { return 7; }

static void begin(void) {
    size_t p = (size_t)scene_threads();
    crew_plain();
    struct ledger *ledgers = share(p * sizeof *ledgers);
    done = share(sizeof *done);
    told = share(sizeof *told);
    for (size_t r = 0; r < p; r++) teams[r].ledgers = ledgers, teams[r].ledger = &ledgers[r];
    dead = false;
}

/* As src/mpi/take.c: without the plan, and then with it. */
static void enter(struct team *team, int me) {
    struct ledger_entry entry = {.collective = 3, .root = 1 + (++team->calls % 5), .size_class = 9};
    if (me == 1 && (int)team->calls == scene_number(1)) entry.collective = 4;
    ledger_write(team->ledger, team->calls, entry);
    entry.plan = 5;
    ledger_write(team->ledger, team->calls, entry);
}

static void sign(struct team *team) {
    for (int r = 0; r < team->p; r++)
        ledger_sign(team, r, (struct process){.ids = 7, .id = first_pid + r});
}

/* Nobody has reason to doubt, however far apart the ranks are. */
static void alike(int me) {
    struct team *team = crew_team();
    for (int k = 0; k < scene_number(0); k++) enter(team, me);
    if (me == 0)
        expect(ledger_doubt(team, team->calls).what == DOUBT_NONE, "a doubt without a reason");
}

/* Who differs is found by all that have waited for its entry, and one rank tells the user. */
static void differ(int me) {
    struct team *team = crew_team();
    for (int k = 0; k < scene_number(0); k++) enter(team, me);
    flag_add(done);
    for (uint32_t seen = 0; seen < (uint32_t)team->p;) seen = flag_wait(team, done, seen);
    struct doubt doubt = ledger_doubt(team, team->calls);
    expect(doubt.what == DOUBT_DIFFERS && (int)doubt.mine.number == scene_number(1),
           "a difference is not found");
    if (ledger_give_up(team)) expect(atomic_fetch_add(told, 1) == 0, "two ranks tell the user");
}

/* Rank 1 gives up: who sees that sees what it wrote down before. */
static void given_up(int me) {
    struct team *team = crew_team();
    for (int k = 0; k < scene_number(0); k++) enter(team, me);
    if (me == 1) ledger_give_up(team);
    if (me != 0 || ledger_doubt(team, team->calls).what != DOUBT_GIVEN_UP) return;
    expect(ledger_doubt(team, team->calls).what == DOUBT_DIFFERS, "it is not known why");
}

/* Rank 1 dies; the others look whether it is alive, as soon as they are told. */
static void dies(int me) {
    struct team *team = crew_team();
    dead = true;
    if (me != 1) sign(team);
    if (me == 1) return;
    struct doubt doubt = ledger_doubt(team, 0);
    expect(doubt.what == DOUBT_DEAD && doubt.rank == 1, "a dead rank is not found");
}

const struct scene scenes[] = {{"alike", begin, alike, NULL},
                               {"differ", begin, differ, NULL},
                               {"given_up", begin, given_up, NULL},
                               {"dies", begin, dies, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
