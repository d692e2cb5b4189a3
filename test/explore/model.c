/* SPDX-License-Identifier: BSD-3-Clause */
/* model - the memory model RC11: what happens before what, which values a read may return, and
 * whether sequentially consistent operations can be put in one order.
 *
 * Coherence is kept as events are added, because a new event happens before nothing. The order of
 * sequentially consistent operations is checked as the paper says: its relation psc has no circle.
 * Such a circle can only close when a read takes an old value or a write is not the last of its
 * word, so visit.c asks only then. */
#include "inside.h"

#include <string.h>

struct clock happened[most_ids], caused[most_ids];
struct clock thread_happened[most_threads], thread_caused[most_threads];
static struct clock message[most_ids];      /* of a write: what a read of it acquires */
static struct clock offered[most_threads];  /* what a fence that acquires would acquire */
static struct clock released[most_threads]; /* at the last fence that releases */

static void join(struct clock *to, const struct clock *with) {
    for (int t = 0; t < most_threads; t++)
        if (to->seen[t] < with->seen[t]) to->seen[t] = with->seen[t];
}

static bool acquires(int order) {
    return order != memory_order_relaxed && order != memory_order_release;
}
static bool releases(int order) { return order >= memory_order_release; }

void model_begin(void) {
    memset(thread_happened, 0, sizeof thread_happened);
    memset(thread_caused, 0, sizeof thread_caused);
    memset(offered, 0, sizeof offered);
    memset(released, 0, sizeof released);
}

void model_execute(int id) {
    int t = thread_of(id);
    const struct event *event = event_at(&now, id);
    struct clock *before = &thread_happened[t];
    before->seen[t] = thread_caused[t].seen[t] = (int16_t)(number_of(id) + 1);
    if (event->kind == READ && event->from != initial) {
        join(&thread_caused[t], &caused[event->from]);
        join(&offered[t], &message[event->from]);
        if (acquires(event->order)) join(before, &message[event->from]);
    } else if (event->kind == WRITE) {
        message[id] = releases(event->order) ? *before : released[t];
        int from = event->joined ? event[-1].from : initial;
        if (from != initial) join(&message[id], &message[from]);
    } else if (event->kind == FENCE) {
        if (acquires(event->order)) join(before, &offered[t]);
        if (releases(event->order)) released[t] = *before;
    }
    happened[id] = *before;
    caused[id] = thread_caused[t];
}

int model_least(const struct graph *graph, const struct clock *before, int word) {
    int least = 0;
    for (int u = 0; u < most_threads; u++) {
        int end = before->seen[u] < graph->count[u] ? before->seen[u] : graph->count[u];
        for (int i = 0; i < end; i++) {
            const struct event *event = &graph->event[u][i];
            if (event->word != word) continue;
            int id = event->kind == READ ? event->from : u * most_events + i;
            int position = graph_position(graph, word, id);
            if (position > least) least = position;
        }
    }
    return least;
}

bool model_splits(struct graph *graph, int word, int position) {
    if (position == graph->writes[word]) return true;
    return !event_at(graph, graph->written[word][position])->joined;
}

/* ---- the order of sequentially consistent events ---- */

enum { bits = 64, set_words = (most_ids + bits - 1) / bits };
struct set {
    uint64_t has[set_words];
};
static inline void put(struct set *set, int id) { set->has[id / bits] |= 1ull << id % bits; }
static inline bool has(const struct set *set, int id) {
    return set->has[id / bits] >> id % bits & 1;
}
static inline void unite(struct set *to, const struct set *with) {
    for (int i = 0; i < set_words; i++) to->has[i] |= with->has[i];
}

static int ids[most_ids], id_count;
static int strong[most_ids], strong_count; /* those that are sequentially consistent */
static int16_t place[most_ids];            /* in its word's order: of a write, or of the one read */
static struct set later[most_ids];         /* what it happens before */
static struct set bound[most_ids];         /* the relation scb of the paper */

static bool happens_before(int a, int b) {
    return a != b && number_of(a) < happened[b].seen[thread_of(a)];
}

static void collect(void) {
    id_count = strong_count = 0;
    for (int t = 0; t < most_threads; t++)
        for (int i = 0; i < now.count[t]; i++) {
            int id = ids[id_count++] = t * most_events + i;
            struct event *event = event_at(&now, id);
            if (event->order == memory_order_seq_cst) strong[strong_count++] = id;
            place[id] = -1;
            if (event->kind == READ)
                place[id] = (int16_t)graph_position(&now, event->word, event->from);
            if (event->kind == WRITE) place[id] = (int16_t)graph_position(&now, event->word, id);
        }
    memset(later, 0, sizeof later);
    for (int a = 0; a < id_count; a++)
        for (int b = 0; b < id_count; b++)
            if (happens_before(ids[a], ids[b])) put(&later[ids[a]], ids[b]);
}

/* Adds what follows `id` by program order, happens-before, program order, where each step in
 * program order is between different words. */
static void bind_far(int id) {
    int t = thread_of(id), next = id + 1, end = t * most_events + now.count[t];
    int word = event_at(&now, id)->word;
    while (next < end && event_at(&now, next)->word == word) next++;
    if (next >= end) return;
    for (int u = 0; u < most_threads; u++) {
        int i = 0, other = -2; /* the word of all events since the first that `next` precedes */
        while (i < now.count[u] && !has(&later[next], u * most_events + i)) i++;
        for (bool mixed = false; i < now.count[u]; i++) {
            int his = now.event[u][i].word;
            if (other != -2 && (mixed || his != other)) put(&bound[id], u * most_events + i);
            if (other != -2 && his != other) mixed = true;
            other = his;
        }
    }
}

static void bind(void) {
    memset(bound, 0, sizeof bound);
    for (int a = 0; a < id_count; a++) {
        int id = ids[a], word = event_at(&now, id)->word;
        for (int i = number_of(id) + 1; i < now.count[thread_of(id)]; i++)
            put(&bound[id], thread_of(id) * most_events + i);
        for (int b = 0; b < id_count && word >= 0; b++) {
            struct event *other = event_at(&now, ids[b]);
            if (other->word != word || ids[b] == id) continue;
            if (has(&later[id], ids[b])) put(&bound[id], ids[b]);
            if (other->kind == WRITE && place[ids[b]] > place[id]) put(&bound[id], ids[b]);
        }
        bind_far(id);
    }
}

/* Do two fences stand in the paper's relation psc_F by reads and writes of one word between? */
static bool fences_ordered(int a, int b) {
    if (has(&later[a], b)) return true;
    int wrote[most_words], read[most_words]; /* the least places that follow fence a */
    for (int w = 0; w < word_count; w++) wrote[w] = read[w] = most_writes + 1;
    for (int i = 0; i < id_count; i++) {
        struct event *event = event_at(&now, ids[i]);
        if (event->word < 0 || !has(&later[a], ids[i])) continue;
        int *least = event->kind == WRITE ? &wrote[event->word] : &read[event->word];
        if (place[ids[i]] < *least) *least = place[ids[i]];
    }
    for (int i = 0; i < id_count; i++) {
        struct event *event = event_at(&now, ids[i]);
        int w = event->word, at = place[ids[i]];
        if (w < 0 || !has(&later[ids[i]], b)) continue;
        if (at > wrote[w] || at > read[w] || (event->kind == READ && at == wrote[w])) return true;
    }
    return false;
}

bool model_consistent(void) {
    static struct set after[most_ids];
    collect();
    if (strong_count < 2) return true;
    bind();
    for (int s = 0; s < strong_count; s++) {
        struct set from = {0}, *to = &after[s];
        bool fence = event_at(&now, strong[s])->kind == FENCE;
        unite(&from, &bound[strong[s]]);
        for (int i = 0; fence && i < id_count; i++)
            if (has(&later[strong[s]], ids[i])) unite(&from, &bound[ids[i]]);
        memset(to, 0, sizeof *to);
        for (int b = 0; b < strong_count; b++) {
            bool other = event_at(&now, strong[b])->kind == FENCE, reached = has(&from, strong[b]);
            for (int i = 0; other && !reached && i < id_count; i++)
                reached = has(&from, ids[i]) && has(&later[ids[i]], strong[b]);
            if (reached || (fence && other && s != b && fences_ordered(strong[s], strong[b])))
                put(to, b);
        }
    }
    for (int k = 0; k < strong_count; k++)
        for (int s = 0; s < strong_count; s++)
            if (has(&after[s], k)) unite(&after[s], &after[k]);
    for (int s = 0; s < strong_count; s++)
        if (has(&after[s], s)) return false;
    return true;
}
