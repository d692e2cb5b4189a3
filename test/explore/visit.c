/* SPDX-License-Identifier: BSD-3-Clause */
/* visit - the search. A run replays the events of a graph and then adds events, one thread after
 * the other, until the execution is complete. Where a read has several values to choose from, or a
 * write several places, the run takes the latest, and the graphs with the others are kept for
 * later. A new write also offers itself to the reads that are there already: the graph is cut back
 * to what came before the read and what the write needs. The cut is made only from the one graph in
 * which all that is cut away took the latest choices; so no execution is visited twice. */
#define _GNU_SOURCE
#include "inside.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct found found;
int executed[most_threads];
static int executed_all, threads;
static bool extending; /* all threads have said what they want first */
static enum how search;
static bool halfway[most_threads]; /* between the read and the write of one step */
static bool finished[most_threads];
static struct request wanted[most_threads];
static jmp_buf over;
enum { COMPLETE = 1, REFUSED, STUCK, WRONG };

static _Noreturn void leave(int how) {
    current = -1;
    _longjmp(over, how);
}

/* Only what has been executed counts: the rest may be what the model refuses. */
_Noreturn void fault(const char *what) {
    for (int w = 0; w < word_count; w++) {
        int kept = 0;
        for (int i = 0; i < now.writes[w]; i++) {
            int id = now.written[w][i];
            if (number_of(id) < executed[thread_of(id)]) now.written[w][kept++] = (int16_t)id;
        }
        now.writes[w] = kept;
    }
    memcpy(now.count, executed, sizeof now.count);
    if (!model_consistent()) leave(REFUSED);
    snprintf(found.fault, sizeof found.fault, "%s", what);
    leave(WRONG);
}

static void execute(int id) {
    struct event *event = event_at(&now, id);
    if (event->kind == READ)
        event->value = event->from == initial ? words[event->word].initial
                                              : event_at(&now, event->from)->value;
    model_execute(id);
    trace_add(id);
    executed[thread_of(id)]++;
    executed_all++;
}

/* ---- what a run may choose ---- */

static bool satisfies(const struct event *event, uint64_t value) {
    return !event->awaits || value != event->old;
}

/* The latest position that this read may take; -1: none yet. */
static int latest(int thread, const struct event *event) {
    int least = model_least(&now, &thread_happened[thread], event->word);
    for (int p = now.writes[event->word]; p >= least; p--)
        if (satisfies(event, graph_value(&now, event->word, p))) return p;
    return -1;
}

static struct event read_for(const struct request *want) {
    return (struct event){.kind = READ,
                          .order = want->order,
                          .word = (int16_t)want->word,
                          .joined = want->what >= ADD && want->what <= SWAP_IF,
                          .awaits = want->what == AWAIT,
                          .old = want->expected};
}

static struct event fence_for(const struct request *want) {
    return (struct event){.kind = FENCE, .order = want->order, .word = -1};
}

/* A word that ranks await must not come back to what they have seen. */
static void add_read(int thread, const struct request *want) {
    struct event event = read_for(want);
    int word = want->word, least = model_least(&now, &thread_happened[thread], word);
    int best = latest(thread, &event);
    if (best != now.writes[word]) fault("a word that is waited for goes back to its old value");
    event.from = (int16_t)graph_id_at(&now, word, best);
    int id = graph_add(&now, thread, event);
    for (int p = least; p < best; p++) {
        if (!satisfies(&event, graph_value(&now, word, p))) continue;
        struct graph *other = pending_push(&now);
        event_at(other, id)->from = (int16_t)graph_id_at(&now, word, p);
        other->changed = true;
    }
    execute(id);
}

/* ---- a write, and the reads that could take it ---- */

/* The next position before *p that this write may follow in the graph. read: the id of the event
 * before it, which counts if it is joined. False: there is none. */
static bool next_position(struct graph *graph, int thread, struct event *event, int read, int *p) {
    int least = model_least(graph, &thread_happened[thread], event->word);
    if (event->joined) {
        int after = graph_position(graph, event->word, event_at(graph, read)->from);
        if (*p <= after) return false;
        *p = after;
        return model_splits(graph, event->word, after);
    }
    while (--*p >= least)
        if (model_splits(graph, event->word, *p)) return true;
    return false;
}

static void offer_to(int read, int thread, struct event *event) {
    static struct graph rest;
    if (!satisfies(event_at(&now, read), event->value) || !cut(&rest, read, thread)) return;
    static const struct clock nothing;
    const struct clock *known = number_of(read) > 0 ? &happened[read - 1] : &nothing;
    int least = model_least(&rest, known, event->word);
    int mine = thread * most_events + rest.count[thread];
    for (int p = rest.writes[event->word] + 1; next_position(&rest, thread, event, mine - 1, &p);) {
        if (p < least) break;
        struct graph *other = pending_push(&rest);
        graph_add(other, thread, *event);
        graph_place(other, mine, p);
        event_at(other, read)->from = (int16_t)mine;
        other->changed = true;
    }
}

static void add_write(int thread, const struct request *want, uint64_t value) {
    struct event event = {.kind = WRITE,
                          .order = want->order,
                          .word = (int16_t)want->word,
                          .joined = halfway[thread],
                          .value = value};
    for (int u = 0; search == OPTIMAL && u < threads; u++)
        for (int i = thread_caused[thread].seen[u]; i < now.count[u]; i++)
            if (now.event[u][i].kind == READ && now.event[u][i].word == event.word)
                offer_to(u * most_events + i, thread, &event);
    int mine = thread * most_events + now.count[thread], best = -1;
    for (int p = now.writes[event.word] + 1; next_position(&now, thread, &event, mine - 1, &p);) {
        if (best < 0) {
            best = p;
            continue;
        }
        struct graph *other = pending_push(&now);
        graph_add(other, thread, event);
        graph_place(other, mine, p);
        other->changed = true;
    }
    if (best < 0) leave(REFUSED);
    if (best != now.writes[event.word]) now.changed = true;
    graph_add(&now, thread, event);
    graph_place(&now, mine, best);
    execute(mine);
}

/* ---- one operation ---- */

uint64_t request_result(const struct request *want, uint64_t old) {
    switch (want->what) {
    case ADD: return old + want->value;
    case SUB: return old - want->value;
    case OR: return old | want->value;
    case AND: return old & want->value;
    case XOR: return old ^ want->value;
    default: return want->value;
    }
}

/* The thread that adds the next event; it depends on the graph only. -1: none can. */
static int next_thread(void) {
    for (int t = 0; t < threads; t++)
        if (halfway[t]) return t;
    if (now.forced >= 0) return now.forced;
    for (int t = 0; t < threads; t++) {
        if (finished[t]) continue;
        if (wanted[t].what != AWAIT) return t;
        struct event event = read_for(&wanted[t]);
        if (latest(t, &event) >= 0) return t;
    }
    return -1;
}

/* Keeps the other threads that could go on here for later. */
static int any_thread(void) {
    int first = -1;
    now.forced = -1;
    if (seen_before(graph_hash(&now))) leave(STUCK);
    for (int t = 0; t < threads; t++) {
        struct event event = read_for(&wanted[t]);
        if (finished[t] || (wanted[t].what == AWAIT && latest(t, &event) < 0)) continue;
        if (first < 0) first = t;
        else pending_push(&now)->forced = t;
    }
    return first;
}

static int whose_turn(void) {
    if (now.changed && !model_consistent()) leave(REFUSED);
    now.changed = false;
    int t = next_thread();
    if (search == NAIVE && now.forced < 0 && t >= 0 && !halfway[t]) t = any_thread();
    return t;
}

static int turn = -1;

static bool replay(int thread) {
    if (executed[thread] >= now.count[thread]) return false;
    int id = thread * most_events + executed[thread];
    struct event *event = event_at(&now, id);
    if (event->kind == READ && event->from != initial &&
        number_of(event->from) >= executed[thread_of(event->from)])
        return false;
    execute(id);
    return true;
}

static void extend(int thread, const struct request *want, uint64_t old) {
    now.forced = -1;
    turn = -1;
    bool writes = want->what == STORE || halfway[thread];
    if (want->what == BARRIER) execute(graph_add(&now, thread, fence_for(want)));
    else if (writes) add_write(thread, want, request_result(want, old));
    else add_read(thread, want);
}

/* The next event of this thread, from the graph or new. */
static struct event *one_event(int thread, const struct request *want, uint64_t old) {
    while (!replay(thread)) {
        if (extending && executed_all == now.events) {
            if (turn < 0) turn = whose_turn();
            if (turn == thread) {
                extend(thread, want, old);
                break;
            }
        }
        threads_leave();
    }
    struct event *event = event_at(&now, thread * most_events + executed[thread] - 1);
    if (event->word != want->word) {
        printf("the scene does not repeat itself\n");
        exit(3);
    }
    return event;
}

uint64_t perform(struct request request) {
    int thread = current;
    wanted[thread] = request;
    uint64_t old = one_event(thread, &wanted[thread], 0)->value;
    bool steps = request.what >= ADD && request.what <= SWAP_IF;
    if (!steps || (request.what == SWAP_IF && old != request.expected)) return old;
    halfway[thread] = true;
    one_event(thread, &wanted[thread], old);
    halfway[thread] = false;
    return old;
}

/* ---- the search ---- */

static const struct scene *played;

static void body(int thread) {
    played->run(thread);
    finished[thread] = true;
}

static bool all_finished(void) {
    for (int t = 0; t < threads; t++)
        if (!finished[t]) return false;
    return true;
}

static void play(void) {
    extending = false;
    for (int t = 0; t < threads; t++) thread_go_on(t);
    extending = true;
    while (!all_finished()) {
        if (executed_all == now.events) {
            if (turn < 0 && (turn = whose_turn()) < 0) leave(STUCK);
            thread_go_on(turn);
            continue;
        }
        for (int t = 0; t < threads; t++)
            if (!finished[t]) thread_go_on(t);
    }
    leave(now.changed && !model_consistent() ? REFUSED : COMPLETE);
}

static void restart(void) {
    memset(executed, 0, sizeof executed);
    memset(halfway, 0, sizeof halfway);
    memset(finished, 0, sizeof finished);
    executed_all = 0;
    turn = -1;
    model_begin();
    trace_begin();
    race_begin();
    played->begin();
    threads_restart();
}

void visit(const struct scene *scene, int count, enum how how, uint64_t most) {
    played = scene;
    threads = count;
    search = how;
    memset(&found, 0, sizeof found);
    memset(&now, 0, sizeof now);
    now.forced = -1;
    seen_forget();
    threads_begin(count, body);
    pending_push(&now);
    while (pending_pop(&now)) {
        int how_ended = _setjmp(over);
        if (how_ended == 0) {
            restart();
            play();
        }
        if (how_ended == WRONG) return;
        if (how_ended == REFUSED) found.refused++;
        if (how_ended == STUCK && how == OPTIMAL) {
            snprintf(found.fault, sizeof found.fault, "nobody wakes a rank that waits");
            return;
        }
        if (how_ended != COMPLETE) continue;
        if (seen_before(~graph_hash(&now))) {
            found.twice++;
            continue;
        }
        found.executions++;
        if (scene->end) scene->end();
        if (most && found.executions >= most) return;
    }
}
