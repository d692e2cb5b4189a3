/* SPDX-License-Identifier: BSD-3-Clause */
/* graph - graphs of executions, and the stack of those that are still to be visited. */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct graph now;
struct word words[most_words];
int word_count;

static void limit(bool fine, const char *what) {
    if (fine) return;
    printf("too many %s for one execution\n", what);
    trace_print();
    exit(3);
}

int word_of(const volatile void *address, unsigned bytes) {
    for (int w = 0; w < word_count; w++)
        if (words[w].address == (uintptr_t)address) return w;
    limit(word_count < most_words, "words");
    struct word *word = &words[word_count];
    *word = (struct word){.address = (uintptr_t)address, .bytes = bytes};
    if (((uintptr_t)address & 1) == 0) memcpy(&word->initial, (const void *)address, bytes);
    return word_count++;
}

void graph_copy(struct graph *to, const struct graph *from) {
    memcpy(to, from, offsetof(struct graph, written));
    for (int w = 0; w < word_count; w++)
        memcpy(to->written[w], from->written[w],
               (size_t)from->writes[w] * sizeof from->written[w][0]);
    to->changed = from->changed;
    to->forced = from->forced;
    for (int t = 0; t < most_threads; t++)
        memcpy(to->event[t], from->event[t], (size_t)from->count[t] * sizeof from->event[t][0]);
}

int graph_add(struct graph *graph, int thread, struct event event) {
    limit(graph->count[thread] < most_events, "events");
    int number = graph->count[thread]++;
    event.stamp = ++graph->stamp;
    graph->event[thread][number] = event;
    graph->events++;
    return thread * most_events + number;
}

void graph_place(struct graph *graph, int id, int position) {
    int word = event_at(graph, id)->word;
    int16_t *order = graph->written[word];
    limit(graph->writes[word] < most_writes, "writes");
    for (int i = graph->writes[word]++; i > position; i--) order[i] = order[i - 1];
    order[position] = (int16_t)id;
}

int graph_position(const struct graph *graph, int word, int id) {
    if (id == initial) return 0;
    for (int i = graph->writes[word]; i > 0; i--)
        if (graph->written[word][i - 1] == id) return i;
    return -1;
}

int graph_id_at(const struct graph *graph, int word, int position) {
    return position == 0 ? initial : graph->written[word][position - 1];
}

uint64_t graph_value(struct graph *graph, int word, int position) {
    if (position == 0) return words[word].initial;
    return event_at(graph, graph->written[word][position - 1])->value;
}

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

uint64_t graph_hash(struct graph *graph) {
    uint64_t hash = 1;
    for (int t = 0; t < most_threads; t++) {
        hash = mix(hash, (uint64_t)graph->count[t]);
        for (int i = 0; i < graph->count[t]; i++) {
            struct event *event = &graph->event[t][i];
            hash = mix(hash, (uint64_t)event->kind << 16 | (uint16_t)event->word);
            if (event->kind == READ) hash = mix(hash, (uint16_t)event->from);
            if (event->kind == WRITE)
                hash = mix(hash, (uint64_t)graph_position(graph, event->word, t * most_events + i));
        }
    }
    return hash;
}

/* ---- pending graphs ---- */

static struct graph **stack;
static int stacked, room;

struct graph *pending_push(const struct graph *graph) {
    if (stacked == room) {
        stack = realloc(stack, (size_t)(room + 64) * sizeof *stack);
        for (int i = 0; i < 64; i++) stack[room++] = malloc(sizeof **stack);
    }
    graph_copy(stack[stacked], graph);
    return stack[stacked++];
}

bool pending_pop(struct graph *graph) {
    if (stacked == 0) return false;
    graph_copy(graph, stack[--stacked]);
    return true;
}

/* ---- the graphs that the naive search has seen ---- */

static uint64_t *set;
static size_t set_room, set_count;

bool seen_before(uint64_t hash) {
    hash |= hash == 0;
    if (2 * set_count >= set_room) {
        uint64_t *old = set;
        size_t old_room = set_room;
        set_room = set_room ? 4 * set_room : 1 << 16;
        set = calloc(set_room, sizeof *set);
        set_count = 0;
        for (size_t i = 0; i < old_room; i++)
            if (old[i]) seen_before(old[i]);
        free(old);
    }
    size_t at = hash % set_room;
    for (; set[at]; at = (at + 1) % set_room)
        if (set[at] == hash) return true;
    set[at] = hash;
    set_count++;
    return false;
}

void seen_forget(void) {
    free(set);
    set = NULL;
    set_room = set_count = 0;
}
