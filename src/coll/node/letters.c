/* SPDX-License-Identifier: BSD-3-Clause */
/* letters - see letters.h. A letter lies in its box. Short contents follow it there, the shortest
 * in its first cache line; longer ones lie in the box's room. Blocks that do not fit and cannot be
 * read in place continue in the next part, in the next box. So the sender may be BOXES parts
 * ahead. */
#include "coll/node/letters.h"

enum { inside = BOX_INSIDE - sizeof(struct letter) };

static const struct copier plain = {.kernel = KERNEL_plain};

static bool goes_on(const struct offer *offer) {
    return offer->how == OFFER_PART && offer->at + offer->window < offer->bytes;
}

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

/* Memory for the staged bytes of my letter. */
static char *own_area(struct team *team, const struct sending *s, struct box *box,
                      struct letter *letter) {
    if (letter->room < 0) return (char *)(letter + 1);
    letter->room = (int16_t)((s->op + s->part) % s->rooms);
    return box_wait_room(team, box, (uint32_t)letter->room);
}

static size_t room_of(const struct team *team, const struct letter *letter) {
    return letter->room < 0 ? inside : team->figures.box_room;
}

static void begin_group(struct team *team, struct sending *s, struct box *box,
                        struct letter *letter) {
    s->group =
        group_of(s->blocks, s->first, (int)(team->figures.box_room / 2 / sizeof(uint64_t)) - 1);
    letter->first = s->first;
    letter->count = s->group.count;
    letter->brief = false;
    s->first += s->group.count;
    letter->room = starts_bytes(s->group.count) + blocks_bytes(&s->group) > inside ? 0 : -1;
    offer_make(team, &letter->offer, own_area(team, s, box, letter), room_of(team, letter), s->most,
               &s->group);
    s->straight = s->straight || letter->offer.how == OFFER_STRAIGHT;
}

static void continue_group(struct team *team, struct sending *s, struct box *box,
                           struct letter *letter) {
    *letter = *s->begun;
    offer_next(&letter->offer, own_area(team, s, box, letter), room_of(team, letter), &s->group);
}

HOT void letter_send_brief(struct team *team, uint64_t op, uint32_t readers,
                           const struct blocks *blocks) {
    struct box *box = box_wait_free(team, op, 0);
    struct letter *letter = (struct letter *)(void *)box->inside;
    size_t each = blocks->each * blocks->layout->size;
    letter->first = 0;
    letter->count = blocks->count;
    letter->more = false;
    letter->brief = true;
    letter->each = (uint32_t)each;
    copy_block(&plain, &letter->offer, blocks->base, each * (size_t)blocks->count);
    box_publish(team, box, op, 0, readers);
}

HOT void letter_send(struct team *team, struct sending *s) {
    if (s->part == 0 && s->blocks && is_brief(s->blocks)) {
        letter_send_brief(team, s->op, s->readers, s->blocks);
        return;
    }
    struct box *box = box_wait_free(team, s->op, s->part);
    struct letter *letter = (struct letter *)(void *)box->inside;
    if (!s->blocks) *letter = (struct letter){.count = 0};
    else if (s->begun) continue_group(team, s, box, letter);
    else begin_group(team, s, box, letter);
    s->begun = s->blocks && goes_on(&letter->offer) ? letter : NULL;
    s->more = letter->more = s->begun || (s->blocks && s->first < s->blocks->count);
    box_publish(team, box, s->op, s->part++, s->readers);
}

void letters_wait(struct team *team, const struct sending *s) {
    if (s->straight) box_wait_free(team, s->op, s->part - 1);
}

static const char *letters_area_of(const struct team *team, int rank, const struct letter *letter) {
    return letter->room < 0 ? (const char *)(letter + 1)
                            : box_room_of(team, rank, (uint32_t)letter->room);
}

HOT static void take_brief(const struct letter *letter, int index, const struct block *mine) {
    const char *from = (const char *)&letter->offer + (size_t)index * letter->each;
    fit_block(mine, letter->each);
    put_block(mine, from, letter->each);
}

HOT enum letter_end letter_take(const struct team *team, int source, uint64_t op, uint32_t part,
                                uint32_t out, const struct block *mine,
                                const struct copier *copier) {
    const struct box *box = box_of(team, source, op, part);
    const struct letter *letter = (const struct letter *)(const void *)box->inside;
    int index = (int)out - letter->first;
    if (mine && index >= 0 && index < letter->count) {
        if (letter->brief) take_brief(letter, index, mine);
        else
            offer_take(team, source, &letter->offer, letters_area_of(team, source, letter), index,
                       mine, copier);
    }
    if (letter->count == 0) return LETTER_LOST;
    return letter->more ? LETTER_GOES_ON : LETTER_OVER;
}
