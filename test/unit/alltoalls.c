/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoalls - the alltoalls that send messages, with threads as ranks: every plan that the planner
 * knows and some more, 1 to 16 ranks, equal blocks and blocks of any size, known to all or not,
 * none, longer than what travels behind its sizes, in place. The whole receive buffer is compared;
 * and of every call the messages and bytes that the ranks sent, with what the papers say:
 *   direct, pairwise  p - 1 messages; every block once
 *   bruck(k)          (k - 1) log_k p messages; a block once for each digit of its way that is not
 *                     0; where bytes cost nothing those of the first round are whole send buffers
 *   mnco              about 2 sqrt p messages; a block to its owner and from there
 * Sizes that only sender and receiver know cost 8 bytes for each block and message, and after that,
 * as long as they stay the same, 8 bytes for each message.
 * alltoalls [SEED [RANKS]]: up to so many */
#include "crew.h"

#include "coll/flat/owners.h"
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_plans = 32, most_gap = 24, guard = 16 };
enum style {
    EQUAL,
    EQUAL_IN_PLACE,
    FIRST,
    AGAIN,
    ONE_OTHER,
    KNOWN,
    SPARSE,
    LENGTHY,
    MUTUAL_IN_PLACE,
    NOTHING,
    STYLES
};

static struct plan plans[most_plans];
static int plan_count;

static void add_plan(const char *text) {
    char why[192];
    expect(plan_count < most_plans && plan_parse(text, &plans[plan_count], why, sizeof why) == 0,
           "%s: %s", text, why);
    plan_count++;
}

static void add_plans(void) {
    static const char *const more[] = {"direct(1)", "direct(3)", "pairwise(3)", "bruck(3)",
                                       "bruck(5)",  "bruck(16)", "bruck(64)"};
    for (int a = 0; a < ALGORITHMS; a++) {
        const struct algorithm_code *code = algorithms[a].code;
        if (!code->run || code->where != BY_MESSAGES ||
            !among(COLL_alltoallv, algorithms[a].collectives))
            continue;
        for (const char *const *v = code->variants; *v; v++) add_plan(*v);
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) add_plan(more[i]);
}

/* ---- a call, as all ranks know it ---- */

struct exchange {
    const struct plan *plan;
    enum style style;
    uint64_t seed;
    int p;
    const struct tiling *tiling; /* of mnco */
    bool whole;                  /* bruck's first round sends whole buffers, if there are more */
    bool scarce;                 /* one rank lacks memory */
};

static bool is_equal(enum style style) { return style == EQUAL || style == EQUAL_IN_PLACE; }
static bool is_known(enum style style) { return is_equal(style) || style == KNOWN; }

static size_t size_of(const struct exchange *x, int source, int dest) {
    bool mutual = x->style == MUTUAL_IN_PLACE && source > dest;
    uint64_t random = x->seed + 1000003 * (uint64_t)(mutual ? dest : source) +
                      7919 * (uint64_t)(mutual ? source : dest);
    draw(&random);
    if (is_equal(x->style)) return 1 + x->seed % 40;
    if (x->style == NOTHING) return 0;
    if (x->style == SPARSE && draw_below(&random, 3)) return 0;
    if (x->style == LENGTHY && draw_below(&random, 4) == 0)
        return 10000 + draw_below(&random, 30000);
    if (x->style == ONE_OTHER && source == (int)(x->seed % (uint64_t)x->p) &&
        dest == (int)(x->seed / 64 % (uint64_t)x->p))
        return 99;
    return 1 + draw_below(&random, 60);
}
static size_t bytes_between(const struct call *call, int source, int dest) {
    return size_of(call->asker, source, dest);
}

static char byte_of(const struct exchange *x, int source, int dest, size_t at) {
    return (char)(x->seed * 5 + (uint64_t)source * 31 + (uint64_t)dest * 17 + at * 3 + at / 251);
}

/* ---- what it has to cost ---- */

static int digits_of(int number, int radix) {
    int digits = 0;
    for (; number; number /= radix) digits += number % radix != 0;
    return digits;
}

static bool is(const struct exchange *x, const char *name) {
    return strcmp(x->plan->algorithm->name, name) == 0;
}
static int radix_of(const struct exchange *x) {
    return x->plan->arguments.number ? (int)x->plan->arguments.number : 2;
}
static int owner_of(const struct exchange *x, int source, int dest) {
    const struct tiling *t = x->tiling;
    return t
        ->owner[group_of(x->p, t->rows, source) * t->columns + group_of(x->p, t->columns, dest)];
}

/* In how many messages a block travels, and in how many of them its size has to be told. */
static int hops(const struct exchange *x, int source, int dest, int *told) {
    *told = 0;
    if (is(x, "bruck")) return *told = digits_of((dest - source + x->p) % x->p, radix_of(x));
    if (!is(x, "mnco")) return source != dest;
    int owner = owner_of(x, source, dest);
    *told = owner != source;
    return *told + (owner != dest);
}

/* Messages that a rank sends where every block has bytes, and those of them that tell sizes. */
static int messages_of(const struct exchange *x, int me, int *telling) {
    int count = 0, p = x->p;
    *telling = 0;
    if (is(x, "bruck")) {
        for (int64_t width = 1; width < p; width *= radix_of(x))
            for (int d = 1; d < radix_of(x); d++) count += d * width < p;
        return *telling = count;
    }
    if (!is(x, "mnco")) return p - 1;
    const struct tiling *t = x->tiling;
    for (int c = 0; c < t->columns; c++)
        *telling += t->owner[group_of(p, t->rows, me) * t->columns + c] != me;
    if (t->tile_of[me] >= 0)
        for (int r = 0; r < p; r++)
            count += r != me && group_of(p, t->columns, r) == t->tile_of[me] % t->columns;
    return *telling + count;
}

/* What bruck sends in its first round besides the blocks that go. */
static uint64_t idle_bytes(const struct exchange *x) {
    int p = x->p, k = radix_of(x), moving = p - (p + k - 1) / k;
    if (!is(x, "bruck") || !is_equal(x->style) || !x->whole || p <= k) return 0;
    return (uint64_t)(p * ((k - 1) * p - moving)) * size_of(x, 0, 0);
}

/* The papers' formulas where the ranks are a power of the radix, or of four. */
static void check_paper(const struct exchange *x, int me, int messages) {
    int power = 1, log = 0, root = 1;
    while (root * root < x->p) root++;
    if (is(x, "bruck")) {
        for (; power < x->p; power *= radix_of(x)) log++;
        if (power == x->p)
            expect(messages == log * (radix_of(x) - 1), "%s, p=%d: %d messages", x->plan->text,
                   x->p, messages);
    } else if (is(x, "mnco")) {
        expect(messages <= 2 * root + 1, "%s, p=%d: %d messages", x->plan->text, x->p, messages);
        if (root * root == x->p && x->plan->arguments.owners == OWNERS_rows)
            expect(messages == 2 * root - 1 - (me / root == me % root), "%s, p=%d: %d messages",
                   x->plan->text, x->p, messages);
    } else {
        expect(messages == x->p - 1, "%s, p=%d: %d messages", x->plan->text, x->p, messages);
    }
}

static struct traffic sent[most_ranks];

static void check_traffic(const struct exchange *x, struct rank *rank, struct traffic before) {
    const struct traffic *now = rank->team.wire->traffic;
    int me = rank->team.me, p = x->p, telling, told;
    struct traffic mine = {.messages = now->messages - before.messages,
                           .bytes = now->bytes - before.bytes};
    bool one_each =
        is_equal(x->style) || x->style == FIRST || x->style == AGAIN || x->style == KNOWN;
    if (one_each) {
        expect(mine.messages == (uint64_t)messages_of(x, me, &telling),
               "%s, p=%d, style %d: rank %d sent %d messages, not %d", x->plan->text, p, x->style,
               me, (int)mine.messages, messages_of(x, me, &telling));
        check_paper(x, me, (int)mine.messages);
    }
    sent[me] = mine;
    sync_all(&rank->team, 0);
    uint64_t bytes = 0, data = 0, words = 0, sizes = 0;
    for (int i = 0; i < p && me == 0; i++) {
        bytes += sent[i].bytes;
        messages_of(x, i, &telling);
        words += (uint64_t)telling;
        for (int j = 0; j < p; j++)
            data += size_of(x, i, j) * (uint64_t)hops(x, i, j, &told), sizes += (uint64_t)told;
    }
    data += idle_bytes(x);
    uint64_t least = data + (is_known(x->style) ? 0 : 8 * words),
             most = least + (is_known(x->style) ? 0 : 8 * sizes);
    if (x->style == FIRST) least = most;
    if (x->style == AGAIN) most = least;
    if (me == 0)
        expect(bytes >= least && bytes <= most,
               "%s, p=%d, style %d: %zu bytes were sent, not %zu to %zu", x->plan->text, p,
               x->style, (size_t)bytes, (size_t)least, (size_t)most);
    sync_all(&rank->team, 0);
}

/* ---- one rank's call ---- */

struct half {
    char *memory;
    size_t bytes;
    int64_t counts[most_ranks], displs[most_ranks];
    struct blocks blocks;
};

/* What I have for all, or get from them: equal blocks back to back, others with gaps here and
 * there, in any order. */
static void lay(const struct exchange *x, struct rank *rank, struct half *half, bool sends) {
    int p = x->p, order[most_ranks], gaps = is_equal(x->style) ? 0 : (int)draw_below(&rank->own, 2);
    size_t at = guard;
    for (int k = 0; k < p; k++) {
        int other =
            gaps && draw_below(&rank->own, 2) ? (int)draw_below(&rank->own, (uint32_t)k + 1) : k;
        order[k] = order[other];
        order[other] = k;
    }
    for (int k = 0; k < p; k++) {
        int b = order[k], me = rank->team.me;
        half->counts[b] = (int64_t)size_of(x, sends ? me : b, sends ? b : me);
        half->displs[b] = (int64_t)at - guard;
        at += (size_t)half->counts[b] + (gaps ? draw_below(&rank->own, most_gap) : 0);
    }
    half->bytes = at + guard;
    half->memory = malloc(half->bytes);
    memset(half->memory, 0x77, half->bytes);
    half->blocks = byte_runs(half->memory + guard, p, half->counts, half->displs);
}

static void fill(const struct exchange *x, int me, const struct half *half, char *image,
                 bool sent_by_me) {
    for (int b = 0; b < x->p; b++)
        for (size_t k = 0; k < (size_t)half->counts[b]; k++)
            image[guard + half->displs[b] + (int64_t)k] =
                sent_by_me ? byte_of(x, me, b, k) : byte_of(x, b, me, k);
}

static void one_call(struct rank *rank, struct exchange *x) {
    struct team *team = &rank->team;
    struct half send, recv;
    bool in_place = x->style == EQUAL_IN_PLACE || x->style == MUTUAL_IN_PLACE,
         equal = is_equal(x->style);
    const struct algorithm_code *code = x->plan->algorithm->code;
    if (in_place && !code->copies_in) return;
    lay(x, rank, &recv, false);
    if (in_place) send = recv, send.memory = NULL;
    else lay(x, rank, &send, true);
    fill(x, team->me, &send, in_place ? recv.memory : send.memory, true);
    struct call call = {.shape = {.collective = equal ? COLL_alltoall : COLL_alltoallv,
                                  .bytes = equal ? size_of(x, 0, 0) : 0,
                                  .unsized = !equal},
                        .send = (in_place ? recv.memory : send.memory) + guard,
                        .recv = recv.memory + guard,
                        .in_place = in_place,
                        .sends = equal ? NULL : &send.blocks,
                        .recvs = equal ? NULL : &recv.blocks,
                        .bytes_between = x->style == KNOWN ? bytes_between : NULL,
                        .asker = x};
    team->figures.network = (struct network){.byte = x->whole ? 0 : 1};
    dawdle(&rank->own);
    struct traffic before = *team->wire->traffic;
    expect(can_run(x->plan->algorithm, &x->plan->arguments, &team->figures, &call.shape), "%s",
           x->plan->text);
    if (x->scarce) call.trouble = scarce_begin(rank, true);
    enum outcome outcome = code->run(team, &call, &x->plan->arguments);
    if (x->scarce && !scarce_end(rank, outcome)) {
        free(recv.memory);
        free(send.memory);
        return;
    }
    expect(outcome == DONE, "%s, p=%d, style %d fails", x->plan->text, x->p, x->style);
    char *image = malloc(recv.bytes);
    memset(image, 0x77, recv.bytes);
    fill(x, team->me, &recv, image, false);
    for (size_t at = 0; at < recv.bytes; at++)
        expect(recv.memory[at] == image[at], "%s, p=%d, style %d: rank %d: byte %zu of %zu",
               x->plan->text, x->p, x->style, team->me, at, recv.bytes);
    free(image);
    free(recv.memory);
    free(send.memory);
    if (!x->scarce) check_traffic(x, rank, before);
}

/* ---- owners ---- */

/* Each tile has an owner of its own; in Morton order, where p is a power of two, the cells of a
 * tile are its owner's segment. */
static void check_tiling(struct team *team, const struct tiling *t, enum owners owners) {
    int tiles = 0, p = team->p;
    for (int r = 0; r < p; r++) {
        if (t->tile_of[r] < 0) continue;
        expect(t->owner[t->tile_of[r]] == r, "p=%d: the owner of tile %d", p, t->tile_of[r]);
        tiles++;
    }
    expect(tiles == t->rows * t->columns && tiles <= p, "p=%d: %d tiles of %d x %d have owners", p,
           tiles, t->rows, t->columns);
    struct exchange x = {.p = p, .tiling = t};
    struct cell cells[most_ranks];
    bool paper = owners == OWNERS_morton && (p & (p - 1)) == 0;
    orders[ORDER_morton].fill(&(struct matrix){.p = (uint32_t)p}, (uint32_t)team->me, cells);
    for (int k = 0; k < p && paper; k++)
        expect(owner_of(&x, (int)cells[k].source, (int)cells[k].dest) == team->me,
               "p=%d: cell (%u, %u) is not of rank %d", p, cells[k].source, cells[k].dest,
               team->me);
}

/* Without a byte: the ranks agree that all have the memory that such calls need, and that is not
 * what is counted. */
static void begin(struct rank *rank, const struct plan *plan) {
    static const int64_t none[most_ranks];
    struct blocks blocks = byte_runs(rank->block, rank->team.p, none, none);
    for (int unsized = 0; unsized < 2; unsized++) {
        struct call call = {
            .shape = {.collective = unsized ? COLL_alltoallv : COLL_alltoall, .unsized = unsized},
            .sends = &blocks,
            .recvs = &blocks};
        expect(plan->algorithm->code->run(&rank->team, &call, &plan->arguments) == DONE,
               "%s without bytes", plan->text);
    }
}

static void all_styles(struct rank *rank, const struct plan *plan, bool scarce) {
    uint64_t seed = 0;
    struct exchange x = {.plan = plan,
                         .p = rank->team.p,
                         .tiling = tiling_for(&rank->team, plan->arguments.owners),
                         .scarce = scarce};
    for (x.style = 0; x.style < STYLES; x.style++) {
        if (x.style != AGAIN && x.style != ONE_OTHER) seed = draw(&rank->common);
        x.seed = seed;
        x.whole = draw_below(&rank->common, 2);
        one_call(rank, &x);
    }
}

static void body(struct rank *rank) {
    for (enum owners owners = OWNERS_rows; owners <= OWNERS_morton; owners++)
        check_tiling(&rank->team, tiling_for(&rank->team, owners), owners);
    for (int i = 0; i < plan_count; i++) {
        all_styles(rank, &plans[i], true);
        begin(rank, &plans[i]);
        all_styles(rank, &plans[i], false);
    }
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    int most = count > 2 ? atoi(words[2]) : most_ranks;
    add_plans();
    for (int p = 1; p <= most; p++) {
        static struct crew crew;
        crew = (struct crew){.p = p,
                             .slot = 64 * most_ranks,
                             .room = 8192,
                             .seed = draw(&random),
                             .body = body,
                             .wired = true};
        crew_run(&crew);
    }
    printf("%d plans on 1 to %d ranks\n", plan_count, most);
    return 0;
}
