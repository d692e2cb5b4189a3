/* SPDX-License-Identifier: BSD-3-Clause */
/* words - the control messages by which leaders that are not known in advance find each other
 * (parsons2015 section III): see words.h. */
#include "coll/nodes/words.h"

#include <errno.h>
#include <stdlib.h>

/* Does the number belong to a finished call? Numbers wrap. */
static bool is_old(const struct words *words, uint32_t number) {
    return (int32_t)(number - words->number) < 0;
}

static int words_keep(struct words *words, struct known known) {
    if (words->count == words->room) {
        int room = words->room ? 2 * words->room : 64;
        struct known *more = realloc(words->known, (size_t)room * sizeof *more);
        if (!more) return -ENOMEM;
        words->known = more;
        words->room = room;
    }
    words->known[words->count++] = known;
    return 0;
}

/* A word arrives even if a call fails, unless messages as such have failed. */
static int words_hear(struct team *team, struct words *words, int from) {
    struct word word;
    bool lost = messages_lost(team);
    int mark = messages_mark(team);
    word_recv(team, from, &word, sizeof word, TAG_WORD);
    messages_finish(team, mark);
    if (!lost && messages_lost(team)) {
        words->lost = true;
        return -EIO;
    }
    words->heard += word.counted;
    return is_old(words, word.number) ? 0 : words_keep(words, (struct known){word.number, from});
}

static bool word_is_there(void *team) { return messages_look(team, TAG_WORD) >= 0; }

static int hear_next(struct team *team, struct words *words) {
    wait_until(team, word_is_there, team);
    return words_hear(team, words, messages_look(team, TAG_WORD));
}

int words_wait(struct team *team, struct words *words, int node, int *rank) {
    for (int looked = 0;;) {
        for (; looked < words->count; looked++) {
            const struct known *known = &words->known[looked];
            if (known->number != words->number || team->places->node_of[known->rank] != node)
                continue;
            *rank = known->rank;
            return 0;
        }
        int error = hear_next(team, words);
        if (error) return error;
    }
}

void words_catch_up(struct team *team, struct words *words, int owed) {
    bool begins = words_begin_window(words);
    int error = 0, kept = 0;
    for (int i = 0; i < words->count; i++)
        if (!is_old(words, words->known[i].number)) words->known[kept++] = words->known[i];
    words->count = kept;
    for (int from; !error && (from = messages_look(team, TAG_WORD)) >= 0;)
        error = words_hear(team, words, from);
    while (begins && !error && words->heard < words->mark) error = hear_next(team, words);
    if (begins) words->mark = words->owed;
    words->owed += (uint64_t)owed;
}

/* Receives all words still owed. Their senders have been in the call already, or will be without my
 * help. */
static void words_settle(struct team *team) {
    struct words *words = words_of(team);
    messages_begin(team, false, false);
    while (!words->lost && words->heard < words->owed) words->lost = hear_next(team, words) != 0;
    free(words->known);
    words->known = NULL;
    words->count = words->room = 0;
}

/* In a call a rank gets words from its parent and from its children in two binomial trees, and
 * other ranks are ahead of it by less than four windows. */
static int most_known(const struct team *team) {
    int steps = 1;
    while (1 << steps < team->places->nodes) steps++;
    return 4 * words_window * (1 + 2 * steps);
}

bool words_ready(struct team *team) {
    struct words *words = words_of(team);
    if (words && words->room == 0 &&
        (words->known = malloc((size_t)most_known(team) * sizeof *words->known)))
        words->room = most_known(team);
    return words && words->room > 0;
}

struct words *words_of(struct team *team) {
    static const char mine;
    bool fresh;
    struct words *words = team_keeps(team, &mine, 0, sizeof *words, &fresh);
    if (words) team->settle = words_settle;
    return words;
}
