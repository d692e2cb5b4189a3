/* SPDX-License-Identifier: BSD-3-Clause */
/* trace - the execution that went wrong, in an order in which it could have run. */
#include "inside.h"

#include <stdio.h>

static int trace[most_ids], length;
static struct name {
    uintptr_t from, to;
    const char *name;
} names[most_names];
static int name_count;

void trace_begin(void) { length = name_count = 0; }
void trace_add(int id) { trace[length++] = id; }

void name_memory(const void *memory, size_t bytes, const char *name) {
    if (name_count < most_names)
        names[name_count++] = (struct name){(uintptr_t)memory, (uintptr_t)memory + bytes, name};
}

const char *name_of(uintptr_t address) {
    static char texts[4][64];
    static int turn;
    char *text = texts[turn++ & 3];
    for (int i = name_count - 1; i >= 0; i--)
        if (address >= names[i].from && address < names[i].to) {
            bool futex = address & 1 && address % 4 == 1;
            uintptr_t at = address - names[i].from - (futex ? 1 : 0);
            snprintf(text, sizeof texts[0], "%s%s+%zu", futex ? "futex of " : "", names[i].name,
                     (size_t)at);
            return text;
        }
    snprintf(text, sizeof texts[0], "%#zx", (size_t)address);
    return text;
}

void trace_print(void) {
    static const char *const orders[] = {"relaxed", "consume", "acquire",
                                         "release", "acq_rel", "seq_cst"};
    for (int i = 0; i < length; i++) {
        struct event *event = event_at(&now, trace[i]);
        printf("    rank %d: %-7s ", thread_of(trace[i]), orders[event->order]);
        if (event->kind == FENCE) {
            printf("fence\n");
            continue;
        }
        printf("%s %s %s %#llx", event->kind == READ ? "reads " : "writes",
               name_of(words[event->word].address), event->kind == READ ? "->" : "<-",
               (unsigned long long)event->value);
        bool old = event->kind == READ &&
                   graph_position(&now, event->word, event->from) < now.writes[event->word];
        printf("%s%s\n", event->joined ? ", in one step" : "", old ? " (later overwritten)" : "");
    }
}
