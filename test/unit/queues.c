/* SPDX-License-Identifier: BSD-3-Clause */
/* queues - a carrier of messages between threads, which are the ranks of a crew. Messages between
 * two ranks with one tag arrive in order, others in any; one of a few bytes is copied when it is
 * sent, a short one may be, any other waits, with its bytes where they lie, for who receives it, as
 * a rendezvous does. What nobody receives, and who waits for ever, are failures. */
#define _GNU_SOURCE
#include "crew.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { patience_seconds = 60, eager_bytes = 1 << 16, always_eager_bytes = 8 };
enum progress { UNDER_WAY, FINISHED, TOLD };

struct item {
    struct item *next;
    int from, to, tag;
    char *data, *copy;
    size_t bytes;
    struct desk *desk; /* whose request it is; NULL: it is finished already */
    int request;
};
struct office {
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct item *letters, *wants; /* the oldest first */
};
struct desk {
    struct office *office;
    int me, room;
    uint64_t random;
    enum progress *requests;
    int *mishaps; /* of those that are finished */
};

struct office *office_open(void) {
    struct office *office = calloc(1, sizeof *office);
    expect(office && pthread_mutex_init(&office->lock, NULL) == 0 &&
               pthread_cond_init(&office->news, NULL) == 0,
           "office");
    return office;
}

void office_close(struct office *office) {
    const struct item *left = office->letters ? office->letters : office->wants;
    expect(!left, "a message of %zu bytes from %d to %d with tag %d was %s", left ? left->bytes : 0,
           left ? left->from : 0, left ? left->to : 0, left ? left->tag : 0,
           office->letters ? "not received" : "not sent");
    pthread_cond_destroy(&office->news);
    pthread_mutex_destroy(&office->lock);
    free(office);
}

static void finish(const struct item *item, int mishaps) {
    if (!item->desk) return;
    item->desk->requests[item->request] = FINISHED;
    item->desk->mishaps[item->request] = mishaps;
}

static void deliver(struct office *office, struct item *letter, struct item *want) {
    size_t bytes = letter->bytes < want->bytes ? letter->bytes : want->bytes;
    if (bytes && want->data) memcpy(want->data, letter->data, bytes);
    finish(letter, 0);
    finish(want, letter->bytes > want->bytes ? CAME_CUT : letter->bytes == 0 ? CAME_EMPTY : 0);
    free(letter->copy);
    free(letter);
    free(want);
    pthread_cond_broadcast(&office->news);
}

/* Takes out the first that goes the same way; NULL: none. */
static struct item *take(struct item **list, const struct item *like) {
    for (; *list; list = &(*list)->next) {
        struct item *item = *list;
        if (item->from != like->from || item->to != like->to || item->tag != like->tag) continue;
        *list = item->next;
        return item;
    }
    return NULL;
}

static void append(struct item **list, struct item *item) {
    while (*list) list = &(*list)->next;
    *list = item;
}

static int start(void *state, bool sends, int peer, void *data, size_t bytes, int tag,
                 int request) {
    struct desk *desk = state;
    struct office *office = desk->office;
    long scarce = scarce_pause();
    struct item *item = malloc(sizeof *item);
    bool copied = sends && bytes <= eager_bytes &&
                  (bytes <= always_eager_bytes || draw_below(&desk->random, 2));
    *item = (struct item){.from = sends ? desk->me : peer,
                          .to = sends ? peer : desk->me,
                          .tag = tag,
                          .data = data,
                          .bytes = bytes,
                          .desk = copied ? NULL : desk,
                          .request = request};
    if (copied) item->data = item->copy = memcpy(malloc(bytes + 1), data, bytes);
    pthread_mutex_lock(&office->lock);
    for (; desk->room <= request; desk->room += 64) {
        desk->requests =
            realloc(desk->requests, (size_t)(desk->room + 64) * sizeof *desk->requests);
        desk->mishaps = realloc(desk->mishaps, (size_t)(desk->room + 64) * sizeof *desk->mishaps);
    }
    desk->requests[request] = copied ? FINISHED : UNDER_WAY;
    desk->mishaps[request] = 0;
    struct item *other = take(sends ? &office->wants : &office->letters, item);
    if (!other) append(sends ? &office->letters : &office->wants, item);
    else deliver(office, sends ? item : other, sends ? other : item);
    pthread_mutex_unlock(&office->lock);
    scarce_resume(scarce);
    return 0;
}

static void wait_news(struct desk *desk) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += patience_seconds;
    int error = pthread_cond_timedwait(&desk->office->news, &desk->office->lock, &end);
    expect(error != ETIMEDOUT, "rank %d has waited for messages for %d s", desk->me,
           patience_seconds);
}

static int some(void *state, struct team *team, int first, int count, int *done) {
    struct desk *desk = state;
    (void)team;
    pthread_mutex_lock(&desk->office->lock);
    for (*done = -1;;) {
        int left = 0, finished = 0;
        for (int r = first; r < first + count; r++) {
            left += desk->requests[r] != TOLD;
            if (desk->requests[r] == FINISHED &&
                draw_below(&desk->random, (uint32_t)++finished) == 0)
                *done = r;
        }
        if (left == 0 || *done >= 0) break;
        wait_news(desk);
    }
    if (*done >= 0) desk->requests[*done] = TOLD;
    int mishaps = *done >= 0 ? desk->mishaps[*done] : 0;
    pthread_mutex_unlock(&desk->office->lock);
    return mishaps;
}

static int all(void *state, struct team *team, int first, int count) {
    int mishaps = 0;
    for (int done = 0; done >= 0;) mishaps |= some(state, team, first, count, &done);
    return mishaps;
}

static int look(void *state, int tag) {
    struct desk *desk = state;
    int from = -1;
    uint32_t found = 0; /* any of them: messages of two ranks may overtake each other */
    pthread_mutex_lock(&desk->office->lock);
    for (const struct item *item = desk->office->letters; item; item = item->next)
        if (item->to == desk->me && item->tag == tag && draw_below(&desk->random, ++found) == 0)
            from = item->from;
    pthread_mutex_unlock(&desk->office->lock);
    return from;
}

static const struct carrier queues = {.start = start, .some = some, .all = all, .look = look};

void office_join(struct office *office, struct team *team, uint64_t seed) {
    struct {
        struct wire wire;
        struct traffic traffic;
        struct desk desk;
        struct fate fate;
        int under_way;
    } *all = calloc(1, sizeof *all);
    expect(all != NULL, "calloc");
    all->desk = (struct desk){.office = office, .me = team->me, .random = seed};
    all->wire = (struct wire){.carrier = &queues,
                              .state = &all->desk,
                              .under_way = &all->under_way,
                              .traffic = &all->traffic,
                              .fate = &all->fate};
    team->wire = &all->wire;
    team->figures.where = BY_MESSAGES;
    team->figures.most = 1;
}

void office_leave(struct team *team) {
    struct desk *desk = team->wire->state;
    expect(*team->wire->under_way == 0, "rank %d has left %d messages unfinished", team->me,
           *team->wire->under_way);
    free(desk->requests);
    free(desk->mishaps);
    free(team->wire);
    team->wire = NULL;
}
