/* SPDX-License-Identifier: BSD-3-Clause */
/* sync.h - a part of reach.h: the barrier (sync.c) and waiting (waits.c, wait.c). */
#ifndef MORTAR_SYNC_H
#define MORTAR_SYNC_H

#include "reach/reach.h"

/* ---- sync.c ---- */
/* A new team's barrier has one gate. sync_shape gives it a tree of gates, `fan` ranks or gates
 * meeting at each, those of a memory domain first; p: it stays as it is. At most once; all ranks
 * call it alike between the same two barriers. Local. */
void sync_begin(struct team *team);
void sync_shape(struct team *team, uint32_t fan);
/* The fan that suits the figures (option FAN). */
uint32_t sync_fan(const struct figures *figures);
/* From now on, in sync_all and sync_briefly, each rank lights its beacon and watches those of all
 * others; who acts gate by gate still meets the others there. Needs team->unlit. At most once; all
 * ranks call it alike between the same two barriers. Local. */
void sync_watch(struct team *team);
/* Whichever of them suits the figures (option FAN); as these. */
void sync_suit(struct team *team);
/* Gates that a tree of any shape has at most. */
static inline size_t gates_most(int p) { return (size_t)p + most_rungs; }
/* A full barrier. Tells all ranks flags of enum trouble, and returns those of all. */
uint32_t sync_all(struct team *team, uint32_t trouble);
/* The same gate by gate. True: all have met at the rung that sync_climbed now returns, I am the
 * last of them, and what they wrote before is visible; *trouble is theirs. I may write to their
 * memory until I go on: to the next gate or, if there is none (sync_is_top), to sync_release.
 * False: call sync_wait. */
bool sync_meet(struct team *team, uint32_t *trouble);
/* Both return the trouble of all ranks. */
uint32_t sync_release(struct team *team);
uint32_t sync_wait(struct team *team);
/* sync_all and sync_wait in two steps, see flag_wait_briefly. True: the barrier is over, and
 * *trouble that of all ranks. False: call the longer one. */
bool sync_briefly(struct team *team, uint32_t *trouble);
uint32_t sync_longer(struct team *team);
bool sync_wait_briefly(struct team *team, uint32_t *trouble);
uint32_t sync_wait_longer(struct team *team);
static inline const struct rung *sync_climbed(const struct team *team) {
    return &team->rungs[team->climbed - 1];
}
static inline bool sync_is_top(const struct team *team) {
    return team->climbed == team->rung_count;
}
/* The last rank, in the order of the seats, of those that the rung's number i stands for. */
static inline int sync_last_below(const struct team *team, const struct rung *rung, uint32_t i) {
    uint32_t end = rung->first + (i + 1) * rung->step, p = (uint32_t)team->p;
    uint32_t seat = (end < p ? end : p) - 1;
    return team->seats_differ ? (int)team->seats[seat] : (int)seat;
}
/* Measures the barrier and asks rank 0 for its caches: sets sync_seconds, usual_sync_seconds,
 * l2_bytes and l3_bytes of figures. known: seconds of the barrier of an earlier team of as many
 * ranks; 0: there was none. Only rank 0's counts. Collective. */
void sync_measure(struct team *team, double known);
/* Adds sum_words values to sums over all ranks; sums_read returns the sums after the next barrier.
 * `sums` must stay valid until then. Every rank adds in the same sequence. A second sums_add before
 * sums_read first writes the earlier sums to the earlier `sums`. Local; with a wire sums_add is
 * collective and returns the sums at once. */
void sums_add(struct team *team, const uint64_t values[sum_words], uint64_t sums[sum_words]);
void sums_read(struct team *team, uint64_t sums[sum_words]);
/* True if every rank passes true. Collective. */
bool team_agree(struct team *team, bool fine);
/* Copies rank 0's text, at most 63 characters, to all ranks. Collective. */
void team_tell(struct team *team, char text[64]);

/* ---- waits.c: tells waiting for late ranks from moving data; without a report it costs one
 * branch ---- */
/* waits_begin: before a call that is to be reported; now: clock_seconds. After the call team->waits
 * holds its waits, until waits_end. Local. */
void waits_begin(struct team *team, double now);
void waits_end(struct team *team);
/* For the barrier, if waits.open: before arriving; before releasing, on the last rank; after being
 * released. */
void waits_arrive(struct team *team);
void waits_tell(struct team *team);
void waits_hear(struct team *team);
/* After a wait for one peer, if waits.on: counts the part of my latest wait that lies before
 * `entered`. That is when the peer entered the call; the peer publishes it with its data. */
void waits_for(struct team *team, int rank, double entered);

/* ---- wait.c: the one wait loop; see also flag.h ---- */
/* Called after each second of a wait, by the rank that waits, with the team that it waits on, which
 * may still be in its set-up. Need not return. Set by mpi/. */
extern void (*wait_doubt)(const struct team *team);
/* Drives the host MPI behind a call, see comms.h. Local. */
void drive_due(struct team *team);
/* Waits until done(state) returns true. `done` must itself drive what is waited for. */
void wait_until(struct team *team, bool (*done)(void *state), void *state);

#endif
