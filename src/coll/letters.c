/* SPDX-License-Identifier: BSD-3-Clause */
/* letters - see letters.h. A letter lies in its box and short contents behind it; longer ones lie in the box's room. Blocks that do
 * not fit, and cannot be read straight, go on in the next part, which is the next box: so the sender may be BOXES parts ahead. */
#include "coll/letters.h"

enum { inside = BOX_INSIDE - sizeof(struct letter) };

static bool goes_on(const struct offer *offer) { return offer->how == OFFER_PART && offer->at + offer->window < offer->bytes; }

static struct blocks group_of(const struct blocks *blocks, int first, int most) {
    struct blocks group = *blocks;
    group.count = blocks->count - first < most ? blocks->count - first : most;
    if (first == 0) return group;
    if (group.counts) group.counts = (const char *)group.counts + (size_t)first * group.count_width;
    if (group.displs) group.displs = (const char *)group.displs + (size_t)first * group.displ_width;
    else group.base = block_of(blocks, first).at;
    if (group.layouts) group.layouts += first;
    return group;
}

/* The staged bytes of my box's letter. */
static char *area_of(const struct team *team, int rank, uint64_t op, uint32_t part, const struct letter *letter) {
    return letter->roomy ? box_room_of(team, rank, op, part) : (char *)(uintptr_t)(letter + 1);
}

static void begin_group(const struct team *team, struct sending *s, struct letter *letter) {
    s->group = group_of(s->blocks, s->first, (int)(team->box_room / 2 / sizeof(uint64_t)) - 1);
    letter->first = s->first;
    letter->count = s->group.count;
    s->first += s->group.count;
    letter->roomy = starts_bytes(s->group.count) + blocks_bytes(&s->group) > inside;
    char *area = area_of(team, team->me, s->op, s->part, letter);
    offer_make(team, &letter->offer, area, letter->roomy ? team->box_room : inside, s->most, &s->group);
    s->straight = s->straight || letter->offer.how == OFFER_STRAIGHT;
}

static void continue_group(const struct team *team, struct sending *s, struct letter *letter) {
    *letter = *s->begun;
    offer_next(&letter->offer, area_of(team, team->me, s->op, s->part, letter), letter->roomy ? team->box_room : inside, &s->group);
}

HOT void letter_send(struct team *team, struct sending *s) {
    struct box *box = box_wait_free(team, s->op, s->part);
    struct letter *letter = (struct letter *)(void *)box->inside;
    if (!s->blocks) *letter = (struct letter){.count = 0};
    else if (s->begun) continue_group(team, s, letter);
    else begin_group(team, s, letter);
    s->begun = s->blocks && goes_on(&letter->offer) ? letter : NULL;
    s->more = letter->more = s->begun || (s->blocks && s->first < s->blocks->count);
    box_publish(box, s->op, s->part++, s->readers);
}

void letters_wait(struct team *team, const struct sending *s) {
    if (s->straight) box_wait_free(team, s->op, s->part - 1);
}

HOT bool letter_take(const struct team *team, int source, uint64_t op, uint32_t part, uint32_t out, const struct block *mine,
                     const struct copier *copier) {
    struct box *box = box_of(team, source, op, part);
    const struct letter *letter = (const struct letter *)(const void *)box->inside;
    int index = (int)out - letter->first;
    if (mine && index >= 0 && index < letter->count)
        offer_take(team, source, &letter->offer, area_of(team, source, op, part, letter), index, mine, copier);
    bool more = letter->more;
    box_ack(team, box);
    return more;
}
