/* SPDX-License-Identifier: BSD-3-Clause */
/* planner - the candidates for any call on any team, with figures as a strange machine or a wrong
 * tuning file might give them: costs are numbers, the list is sorted, native is its end, each text
 * is a plan that can run, and equal figures give equal lists. */
#include "fuzz.h"

#include "plan/plan.h"
#include "reach/messages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 512 };

/* Seconds as a tuning file may give them: above 0, and up to 1e6. */
static double some_seconds(struct food *food) {
    static const double strange[] = {5e-324, 1e-300, 1e-30, 1e-15, 1, 100, 1e5, 1e6};
    uint64_t drawn = eat(food, 256);
    if (drawn < 8) return strange[drawn];
    double value = 1 + (double)(drawn % 9);
    for (uint64_t i = 0; i < 1 + drawn % 13; i++) value /= 10;
    return value;
}

static double some_ratio(struct food *food) {
    uint64_t drawn = eat(food, 256);
    return drawn < 100 ? 0 : drawn < 250 ? 1 + (double)(drawn - 100) / 16 : 1e6;
}

static struct network some_network(struct food *food) {
    struct network_facts facts = network_usual;
    if (eat(food, 4) > 0) {
        facts.latency_seconds = some_seconds(food);
        facts.send_seconds = some_seconds(food);
        facts.receive_seconds = some_seconds(food);
        facts.node_message_seconds = some_seconds(food);
        facts.byte_seconds = some_seconds(food);
        facts.node_byte_seconds = some_seconds(food);
        facts.one_partner_ratio = some_ratio(food);
        facts.many_partners_ratio = some_ratio(food);
        facts.pairs = (int)eat(food, 3);
    }
    return network_of(&facts);
}

static struct figures some_node(struct food *food, int p) {
    static const double syncs[] = {0, 1e-9, 1e-7, 1e-6, 1e-5, 1e-3, 1, 100};
    struct figures node = figures_of_node(p);
    node.domains = 1 + (uint32_t)eat(food, (uint64_t)(p < 16 ? p : 16));
    node.processors = (int)eat(food, 600);
    node.sync_seconds = syncs[eat(food, 8)];
    node.usual_sync_seconds = sync_usual(p, node.processors);
    node.l2_bytes = eat_size(food, 40);
    node.l3_bytes = eat_size(food, 44);
    node.shares = eat(food, 2);
    node.slot = 128 + eat_size(food, 30);
    node.box_room = eat_size(food, 30);
    node.edge_count = eat_size(food, 20);
    return node;
}

/* Places of ranks that have been spread over two nodes or more: in blocks, in turns, or anyhow. */
static struct places some_places(struct food *food, int p) {
    int lowest[most_ranks], first[most_ranks], nodes = 2 + (int)eat(food, (uint64_t)p - 1);
    unsigned how = (unsigned)eat(food, 3);
    struct places places;
    for (int n = 0; n < nodes; n++) first[n] = -1;
    for (int r = 0; r < p; r++) {
        int node = how == 0 ? r * nodes / p : how == 1 ? r % nodes : (int)eat(food, 256) % nodes;
        if (r < 2) node = how == 2 ? r : node;
        if (first[node] < 0) first[node] = r;
        lowest[r] = first[node];
    }
    must(places_make(&places, p, lowest) == 0, "places of %d ranks", p);
    return places;
}

/* A call of p ranks, with blocks that an address space can hold. */
static struct shape some_shape(struct food *food, int p) {
    static const size_t most = (size_t)1 << 47;
    struct shape shape = {.collective = (enum collective)eat(food, COLLECTIVES),
                          .bytes = eat_size(food, 46)};
    if (shape.bytes > most / (size_t)p) shape.bytes = most / (size_t)p;
    unsigned flags = (unsigned)eat(food, 16);
    shape.unsized =
        among(shape.collective, UNSIZED) || ((flags & 1) && among(shape.collective, NEIGHBORS));
    if (shape.collective == COLL_barrier) shape.bytes = 0;
    shape.ordered = flags & 2;
    shape.rounds = flags & 4;
    if (flags & 8) shape.beside = (int)eat(food, 64);
    return shape;
}

static void check_candidate(const struct figures *f, const struct shape *shape,
                            const struct candidate *candidate) {
    struct plan plan;
    char why[192];
    must(isfinite(candidate->seconds) && (candidate->seconds >= 0 || candidate->seconds == -1),
         "%s takes %g seconds", candidate->text, candidate->seconds);
    must(plan_parse(candidate->text, &plan, why, sizeof why) == 0, "%s", why);
    must(strcmp(plan.text, candidate->text) == 0 && plan.algorithm == candidate->algorithm,
         "%s is read as %s", candidate->text, plan.text);
    plan_settle(f, &plan);
    must(strcmp(plan.text, candidate->text) == 0, "%s is settled as %s", candidate->text,
         plan.text);
    must(can_run(plan.algorithm, &plan.arguments, f, shape), "%s cannot run", plan.text);
}

static int check_list(const struct figures *f, const struct shape *shape, bool in_reach,
                      struct candidate *list) {
    int count = plan_candidates(f, shape, in_reach, list);
    must(count >= 1 && count < most_candidates, "%d candidates", count);
    must(strcmp(list[count - 1].text, "native") == 0, "%s comes last", list[count - 1].text);
    for (int i = 0; i < count; i++) {
        check_candidate(f, shape, &list[i]);
        for (int j = 0; j < i; j++)
            must(strcmp(list[i].text, list[j].text) != 0, "%s twice", list[i].text);
        /* Over nodes the choice was taken out of the order and put first. */
        if (i < 1 + (f->where != ON_NODE) || i == count - 1) continue;
        double before = list[i - 1].seconds, now = list[i].seconds;
        must(now < 0 || (before >= 0 && before <= now), "%s (%g) before %s (%g)", list[i - 1].text,
             before, list[i].text, now);
    }
    if (f->where != ON_NODE && count > 2 && list[0].seconds >= 0 && list[1].seconds >= 0)
        must(list[0].seconds <= 1.06 * list[1].seconds, "%s (%g) is chosen, not %s (%g)",
             list[0].text, list[0].seconds, list[1].text, list[1].seconds);
    return count;
}

static void check_rivals(const struct figures *f, const struct shape *shape, bool in_reach,
                         const struct candidate *list, int count, int most) {
    static struct candidate room[most_candidates];
    static char texts[most_candidates][64];
    for (int which = RIVALS_likely; which <= RIVALS_copies; which++) {
        int rivals =
            plan_rivals(f, shape, in_reach, list[0].text, (enum rivals)which, room, texts, most);
        must(rivals >= 1 && rivals <= most && strcmp(texts[0], list[0].text) == 0,
             "%d rivals of %s", rivals, list[0].text);
        must(which >= RIVALS_orders || most == 1 || strcmp(list[0].text, "native") == 0 ||
                 strcmp(texts[1], "native") == 0,
             "native is no rival of %s", list[0].text);
        for (int i = 0; i < rivals; i++) {
            int at = 0;
            while (at < count && strcmp(list[at].text, texts[i]) != 0) at++;
            /* With copiers of its own the choice's order need not be the list's. */
            struct plan plan;
            char why[192];
            must(at < count ||
                     (which == RIVALS_copies && plan_parse(texts[i], &plan, why, sizeof why) == 0),
                 "%s is no candidate", texts[i]);
            for (int j = 0; j < i; j++) must(strcmp(texts[i], texts[j]) != 0, "%s", texts[i]);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct candidate list[most_candidates], again[most_candidates];
    struct food food = {data, size};
    bool over = eat(&food, 2), in_reach = eat(&food, 2);
    int p = 2 + (int)eat(&food, most_ranks - 1), rivals = 1 + (int)eat(&food, most_candidates);
    struct shape shape = some_shape(&food, p);
    struct figures figures, node;
    struct places places = {0};
    if (over) {
        struct network network = some_network(&food);
        places = some_places(&food, p);
        node = some_node(&food, places.most);
        figures = figures_over(&places, &node);
        figures.network = network;
        figures.space_bytes = node.space_bytes = eat_size(&food, 48);
        figures.space_ample = node.space_ample = node.space_bytes >> 40;
        figures.edge_count = node.edge_count;
        if (eat(&food, 4) == 0) figures = figures_of_lane(&figures);
    } else {
        figures = some_node(&food, p);
    }
    int count = check_list(&figures, &shape, in_reach, list);
    check_rivals(&figures, &shape, in_reach, list, count, rivals);
    must(plan_candidates(&figures, &shape, in_reach, again) == count, "count");
    for (int i = 0; i < count; i++)
        must(strcmp(list[i].text, again[i].text) == 0, "%s, then %s", list[i].text, again[i].text);
    staging_pays(&figures, &shape);
    if (over) places_free(&places);
    return 0;
}
