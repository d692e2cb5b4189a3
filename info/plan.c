/* SPDX-License-Identifier: BSD-3-Clause */
/* plan - `mortar info --plan "alltoall 128x24 64"`: what mortar would run on 128 nodes with 24
 * ranks each, the plans that it considers, and the parts of their expected times: latency of
 * messages, overhead of the ranks, bytes, contention, and work inside the nodes. A part is the time
 * that would be saved if it cost nothing. */
#include "info/info.h"

#include "plan/plan.h"
#include "tuning/tuning.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { shown = 12, most_asked_ranks = 1 << 20 };

struct question {
    enum collective collective;
    struct shape shape;
    int p, nodes;
    int *lowest; /* [p] the lowest rank on each rank's node */
};

/* Reads "128x24", or "5,3,1" (ranks on each node). False: neither. */
static bool read_map(const char *text, struct question *q) {
    int nodes = 0, each = 0, used = 0;
    q->lowest = calloc(most_asked_ranks, sizeof *q->lowest);
    if (!q->lowest) return false;
    if (sscanf(text, "%dx%d%n", &nodes, &each, &used) == 2 && text[used] == 0) {
        if (nodes < 1 || each < 1 || nodes > most_asked_ranks / each) return false;
        q->nodes = nodes;
        q->p = nodes * each;
        for (int r = 0; r < q->p; r++) q->lowest[r] = r / each * each;
        return true;
    }
    for (const char *at = text; *at;) {
        char *end;
        long count = strtol(at, &end, 10);
        if (end == at || count < 1 || count > most_asked_ranks - q->p || (*end && *end != ','))
            return false;
        for (int first = q->p; q->p < first + (int)count; q->p++) q->lowest[q->p] = first;
        q->nodes++;
        at = *end ? end + 1 : end;
    }
    return q->p > 0;
}

/* NULL, or what is wrong with the text. */
static const char *read_question(const char *text, struct question *q) {
    static char why[192];
    char collective[32] = "", map[64] = "", size[32] = "0", more[32] = "";
    int words = sscanf(text, "%31s %63s %31s %31s", collective, map, size, more), c = 0;
    size_t length = strlen(size);
    uint64_t bytes;
    *q = (struct question){0};
    while (c < COLLECTIVES && strcmp(collective_names[c], collective) != 0) c++;
    if (length > 1 && toupper((unsigned char)size[length - 1]) == 'B') size[length - 1] = 0;
    if (words >= 1 && c == COLLECTIVES)
        snprintf(why, sizeof why,
                 "mortar takes no collective named \"%s\" (mortar info lists them)", collective);
    else if (words < 2) snprintf(why, sizeof why, "words are missing");
    else if (!read_map(map, q))
        snprintf(why, sizeof why,
                 "\"%s\" is not a node map such as 128x24 or 5,3,1, of at most %d ranks", map,
                 most_asked_ranks);
    else if (q->p < 2) snprintf(why, sizeof why, "one rank alone has nothing to exchange");
    else if (parse_bytes(size, &bytes) != 0)
        snprintf(why, sizeof why, "\"%s\" is not a number of bytes such as 64, 4K or 1M", size);
    else if (*more) snprintf(why, sizeof why, "\"%s\" is one word too many", more);
    else {
        q->collective = (enum collective)c;
        q->shape =
            (struct shape){.collective = (enum collective)c, .bytes = bytes, .unsized = words == 2};
        return NULL;
    }
    return why;
}

/* ---- the figures on those nodes; caches as on this machine ---- */

struct figures imagined_node(int ranks) {
    const struct machine_facts *facts = machine_facts();
    struct figures node = figures_of_node(ranks);
    node.processors = ranks;
    node.shares = true;
    node.sync_seconds = node.usual_sync_seconds = ranks > 1 ? sync_usual(ranks, ranks) : 0;
    node.l2_bytes = facts->l2;
    node.l3_bytes = facts->l3 * (size_t)facts->l3s;
    node.slot = option_number(OPTION_SLOT) / 2 / 64 * 64;
    node.space_bytes = (size_t)1 << 40;
    node.space_ample = true;
    return node;
}

/* Returns the expected seconds of a plan. part[]: latency, overhead, bytes, contention, the
 * rest. */
static double parts(const struct figures *f, const struct shape *asked, const struct plan *plan,
                    double part[5]) {
    const struct shape priced = shape_priced(f, asked), *shape = &priced;
    double all = plan->algorithm->code->cost(f, shape, &plan->arguments), rest = all;
    for (int i = 0; i < 4; i++) {
        struct figures other = *f;
        if (i == 0) other.network.latency = 0;
        if (i == 1) other.network.overhead = other.network.gap = 0;
        if (i == 2) other.network.byte = other.network.node_byte = 0;
        if (i == 3) other.network.one = other.network.many = 0;
        part[i] = all - plan->algorithm->code->cost(&other, shape, &plan->arguments);
        if (i < 3) rest -= part[i];
    }
    part[2] -= part[3]; /* bytes without contention */
    part[4] = rest > 0 ? rest : 0;
    return all;
}

static void print_far(const struct figures *f, const struct shape *shape) {
    static struct candidate candidates[most_candidates];
    const struct network *net = &f->network;
    int count = plan_candidates(f, shape, true, candidates);
    printf(
        "  network: latency %.2f us, %.2f us of a rank for each message, %.2f us of a node, %.2f GB/s a rank, %.2f GB/s a node\n",
        net->latency * 1e6, net->overhead * 1e6, net->gap * 1e6, 1e-9 / net->byte,
        1e-9 / net->node_byte);
    if (net->one > 0 || net->many > 0)
        printf(
            "  when all nodes send at once bytes take %.2f times as long (one message of each at a time), %.2f times (very many)\n",
            1 + net->one, 1 + net->many);
    printf("  %-48s %10s = %9s %9s %9s %10s %9s us\n", "plan", "us", "latency", "messages", "bytes",
           "contention", "in nodes");
    for (int i = 0, rows = 0; i < count && rows < shown; i++) {
        struct plan plan;
        double part[5];
        plan_parse(candidates[i].text, &plan, NULL, 0);
        if (!plan.algorithm->code->run || candidates[i].seconds < 0) continue;
        double all = parts(f, shape, &plan, part);
        printf("%c %-48s %10.2f = %9.2f %9.2f %9.2f %10.2f %9.2f\n", rows++ ? ' ' : '*', plan.text,
               all * 1e6, part[0] * 1e6, part[1] * 1e6, part[2] * 1e6, part[3] * 1e6,
               part[4] * 1e6);
    }
    printf(
        "%d plans in all. * is the model's choice: among plans within 5 %% of the cheapest, the one whose nodes send the\n"
        "fewest messages, and the fewest at a time. The MPI library's own time is not known beforehand. It is measured in the\n"
        "program (MORTAR_TUNE), and its collective runs if it is faster%s.\n",
        count, net->measured ? "" : ", and until then if the network was not measured");
}

/* For one node: the usual variant of each algorithm. */
static void print_near(const struct figures *f, const struct shape *shape) {
    static struct candidate candidates[most_candidates];
    int count = plan_candidates(f, shape, true, candidates);
    printf("  %-32s %10s\n", "plan", "us");
    for (int i = 0; i < count; i++)
        if (candidates[i].variant == USUAL && candidates[i].seconds >= 0)
            printf("%c %-32s %10.2f\n", i == 0 ? '*' : ' ', candidates[i].text,
                   candidates[i].seconds * 1e6);
    printf(
        "* is what mortar begins with, if there is a processor for each rank and buffers are in the shared heap.\n");
}

/* The network of the tuning file, if it has one; else the usual one. */
static struct network network_here(void) {
    struct tuning_file file;
    char why[320];
    const struct network_facts *facts = &network_usual;
    const char *path = option_text(OPTION_TUNING);
    if (*path && tuning_read(path, &file, why, sizeof why) == 0) {
        for (int s = 0; s < file.count; s++)
            if (tuning_network(&file.sets[s])->pairs > 0) facts = tuning_network(&file.sets[s]);
    } else if (*path) {
        fprintf(stderr, "mortar info: the tuning file %s is not used: %s\n", path, why);
    }
    return network_of(facts);
}

int explain_plan(const char *text) {
    struct places places = {0};
    struct question q;
    const char *why = read_question(text, &q);
    if (!why && places_make(&places, q.p, q.lowest) != 0) why = "out of memory";
    if (why) {
        fprintf(
            stderr,
            "mortar info: \"%s\" is not a call: %s; expected a collective, nodes x ranks (or the ranks of each node), and the "
            "bytes of a block, for instance \"alltoall 128x24 64\" or \"allreduce 5,3,1 1K\"\n",
            text, why);
        free(q.lowest);
        return 2;
    }
    char blocks[64] = "";
    if (q.shape.unsized && q.collective != COLL_barrier)
        snprintf(blocks, sizeof blocks, ", blocks of unknown size");
    else if (q.collective != COLL_barrier)
        snprintf(blocks, sizeof blocks, ", blocks of %zu bytes", q.shape.bytes);
    printf("%s on %d ranks, %d node%s%s\n", collective_names[q.collective], q.p, q.nodes,
           q.nodes > 1 ? "s" : "", blocks);
    struct figures node = imagined_node(places.most), figures = figures_over(&places, &node);
    if (q.nodes == 1) {
        print_near(&node, &q.shape);
    } else {
        figures.network = network_here();
        print_far(&figures, &q.shape);
    }
    places_free(&places);
    free(q.lowest);
    return 0;
}
