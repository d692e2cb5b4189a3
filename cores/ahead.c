/* SPDX-License-Identifier: BSD-3-Clause */
/* ahead - lines that are on their way before their core needs them: because the program has asked
 * for them, or because it reads or stores in sequence. The latter is the stream prefetcher of L2,
 * as Intel's optimization manual describes it: a load stream and a store stream of a page of 4 KiB
 * are followed, 32 streams in all; two lines in sequence begin one; each further line brings up to
 * two others, no more than 20 lines ahead and no farther than the page's end. `ahead` of them are
 * under way at most. Store streams fetch their lines for writing. It does not know where a copy
 * ends, and so fetches lines that nobody needs. Only streams upwards are followed. */
#include "cores.h"

#include <string.h>

enum { streams = 32, at_once = 2, reach = 20, most_ahead = 64, noted = 128 };
static struct core {
    struct stream {
        uint32_t page; /* + 1; 0: none */
        bool stores;
        uint8_t last, next; /* lines of the page: used, to be fetched */
    } streams[streams];
    double until[most_ahead]; /* those under way: when they come */
    uint32_t oldest;
    struct {
        uint32_t number; /* + 1 */
        double comes;
    } notes[noted];
} cores[most_cores];

void ahead_reset(void) { memset(cores, 0, sizeof cores); }

void ahead_note(uint32_t number, uint32_t core, double comes) {
    cores[core].notes[number % noted].number = number + 1;
    cores[core].notes[number % noted].comes = comes;
}

double ahead_comes(uint32_t number, uint32_t core, double now) {
    const struct core *c = &cores[core];
    bool known = c->notes[number % noted].number == number + 1;
    return known ? later(now, c->notes[number % noted].comes) : now;
}

static bool fetch(struct core *c, uint32_t number, uint32_t me, bool stores, double now) {
    const struct line *line = line_at(number);
    if (holds(line, me)) return true;
    uint32_t most = machine.ahead < most_ahead ? machine.ahead : most_ahead;
    if (c->until[c->oldest % most] > now) return false;
    double comes = stores ? line_owned(number, me, now) : line_comes(number, me, now);
    c->until[c->oldest++ % most] = comes;
    ahead_note(number, me, comes);
    return true;
}

void ahead_of(uint32_t number, uint32_t core, bool stores, double now) {
    if (machine.ahead == 0) return;
    struct core *c = &cores[core];
    uint32_t page = number / page_lines, at = number % page_lines;
    struct stream *s = &c->streams[(page * 2 + stores) * 2654435761u >> 27];
    if (s->page != page + 1 || s->stores != stores) {
        *s = (struct stream){.page = page + 1, .stores = stores, .last = (uint8_t)at};
        return;
    }
    if (at == s->last) return;
    bool follows = at == s->last + 1u;
    s->last = (uint8_t)at;
    if (!follows || s->next <= at) s->next = (uint8_t)(at + 1);
    for (int i = 0; follows && i < at_once; i++) {
        if (s->next >= page_lines || s->next > at + reach) return;
        if (!fetch(c, page * page_lines + s->next, core, stores, now)) return;
        s->next++;
    }
}
