/* SPDX-License-Identifier: BSD-3-Clause */
/* cut - a new write offers itself to a read that is there already. All that was added after the
 * read goes, but for what the write needs. Different graphs could be cut back to the same one; the
 * cut is made only from the one in which all that goes, and the read, took the latest choice. */
#include "inside.h"

/* Of a cut that `thread`'s new write makes: what the write needs. */
static bool needed(int id, int thread) {
    return number_of(id) < thread_caused[thread].seen[thread_of(id)];
}
static bool before_in(struct graph *graph, int id, uint32_t stamp, int thread) {
    return id == initial || event_at(graph, id)->stamp <= stamp || needed(id, thread);
}

/* Did this event, which is cut away, take the latest choice? */
static bool is_latest(int id, int thread) {
    struct event *event = event_at(&now, id);
    if (event->kind == FENCE) return true;
    int mine = event->kind == READ ? event->from : id;
    if (!before_in(&now, mine, event->stamp, thread)) return false;
    int position = graph_position(&now, event->word, mine);
    for (int p = position + 1; p <= now.writes[event->word]; p++)
        if (before_in(&now, graph_id_at(&now, event->word, p), event->stamp, thread)) return false;
    if (event->kind == READ) return true;
    for (int u = 0; u < most_threads; u++)
        for (int i = 0; i < now.count[u]; i++) {
            struct event *read = &now.event[u][i];
            if (read->kind == READ && read->from == id &&
                before_in(&now, u * most_events + i, event->stamp, thread))
                return false;
        }
    return true;
}

static bool may_cut(int read, int thread) {
    uint32_t stamp = event_at(&now, read)->stamp;
    for (int u = 0; u < most_threads; u++)
        for (int i = 0; i < now.count[u]; i++) {
            int id = u * most_events + i;
            if (now.event[u][i].stamp < stamp || needed(id, thread)) continue;
            if (!is_latest(id, thread)) return false;
        }
    return true;
}

/* Leaves what was there before the read, the read, and what the write needs. */
static void remove_rest(struct graph *graph, int read, int thread) {
    uint32_t stamp = event_at(graph, read)->stamp;
    int count[most_threads] = {0};
    for (int u = 0; u < most_threads; u++)
        for (int i = 0; i < graph->count[u]; i++)
            if (before_in(graph, u * most_events + i, stamp, thread)) count[u] = i + 1;
    for (int w = 0; w < word_count; w++) {
        int kept = 0;
        for (int i = 0; i < graph->writes[w]; i++) {
            int id = graph->written[w][i];
            if (number_of(id) < count[thread_of(id)]) graph->written[w][kept++] = (int16_t)id;
        }
        graph->writes[w] = kept;
    }
    graph->events = 0;
    for (int u = 0; u < most_threads; u++) {
        graph->count[u] = count[u];
        graph->events += count[u];
    }
}

bool cut(struct graph *rest, int read, int thread) {
    if (!may_cut(read, thread)) return false;
    graph_copy(rest, &now);
    remove_rest(rest, read, thread);
    return true;
}
