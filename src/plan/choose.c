/* SPDX-License-Identifier: BSD-3-Clause */
/* choose - what to run when nobody said: the algorithm with the least expected cost. Buffers out of reach have to be copied twice;
 * from some size on the host MPI, which may have the kernel copy once (CMA), does better. */
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

/* Xeon (Sapphire Rapids) virtual machine with 2 cores, 2026-11, `mortar bench alltoall --buffers stack`, Open MPI 4.1 with CMA:
 * staging loses above 8 KiB at 2 ranks, 16-32 KiB at 4, 64 KiB at 8 and more. */
bool staging_pays(const struct figures *f, const struct shape *shape) { return shape->bytes < (size_t)(f->p < 8 ? f->p : 8) << 13; }

static const struct arguments usual; /* the defaults, by which an algorithm's cost is told */

/* ---- buffers outside the shared heap ---- */

/* EPYC virtual machine with 2 cores, 2026-11, `mortar bench alltoall --buffers stack`: a read by CMA is a system call of 2.5 us
 * (0.5 us elsewhere), and copies 8 GB/s out of caches, 2.1 GB/s through memory. Two barriers, as pull. */
static double cma_cost(const struct figures *f, const struct shape *shape) {
    static const double call_seconds = 2.5e-6, cached_seconds = 1 / 8e9, memory_seconds = 1 / 2.1e9;
    double each = call_seconds + (double)shape->bytes * (streams(f, shape->bytes) ? memory_seconds : cached_seconds);
    return 2 * f->sync_seconds + crowding(f) * ((f->p - 1) * each + copy_seconds(f, 1, shape->bytes));
}

static double xpmem_cost(const struct figures *f, const struct shape *shape) {
    return algorithms[ALGORITHM_pull].code->cost(f, shape, &usual);
}

/* The least expected cost of staging and of the paths that work between these ranks. Where none does: staging or the host MPI. */
static const char *outside_plan(struct team *team, const struct shape *shape) {
    const struct figures *f = &team->figures;
    static const struct {
        enum path_id path;
        double (*cost)(const struct figures *f, const struct shape *shape);
        const char *text;
    } ways[] = {{PATH_xpmem, xpmem_cost, "pull(rows, xpmem)"}, {PATH_cma, cma_cost, "pull(rows, cma)"}};
    const char *best = "cico";
    double least = algorithms[ALGORITHM_cico].code->cost(f, shape, &usual);
    bool works = false;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        double cost = ways[i].cost(f, shape);
        if (cost >= least && (works || staging_pays(f, shape))) continue; /* asks for no path that it would not take */
        if (team_path(team, ways[i].path) != 0) continue;
        works = true;
        if (cost >= least) continue;
        best = ways[i].text;
        least = cost;
    }
    return works || staging_pays(f, shape) ? best : "native";
}

/* ---- buffers in reach ---- */

/* Over several memory domains the order that writes only where it is near (li2018 section 2.4). In one: from many ranks on the
 * curve (section 2.1), in which a rank touches some 2 sqrt(p) buffers instead of p + 1. EPYC virtual machine with 2 cores, 2026-11,
 * `mortar bench`, alltoall, morton against rows: as fast up to 16 ranks, 4-10 % faster at 24 and 32, 1.1-1.6 times at 64. Blocks
 * that have types of their own mostly lie in grids, where blocks for several ranks share pages: they are copied piece by piece in
 * turns (vector.c), few ranks best from the own send buffer. Xeon (Sapphire Rapids, virtual, 4 cores), 256^3 grid, 16 ranks:
 * 1.2-1.4 times as fast as the curve where the senders' runs are the shorter ones, 0.9 the other way. */
static const char *order_for(const struct figures *f, enum collective collective) {
    enum { many = 24 };
    if (f->domains > 1) return "numa(morton)";
    return f->p >= many ? "morton" : collective == COLL_alltoallw ? "columns" : "rows";
}

/* The algorithm's plan, with the hybrid copy (ramesh2024 section V-E) where what is exchanged fits into no cache: a cached store
 * would first read the line that it writes. The same machine, 32 MiB L3, 16 ranks: at 32 KiB (16 MiB in all) plain copies are as
 * fast as non-temporal ones, at 128 KiB (64 MiB) 1.4 times slower. */
static void write_plan(const struct figures *f, const struct shape *shape, const struct algorithm *algorithm, char text[64]) {
    snprintf(text, 64, "%s", algorithm->name);
    if (!strstr(algorithm->takes, "kernel")) return;
    bool hybrid = call_streams(f, shape) && shape->bytes > hybrid_bytes(f) && kernels[KERNEL_nt].usable();
    /* In grids the first bytes of a block are no more likely to be in a cache than others. */
    const char *beyond = shape->collective == COLL_alltoallw ? "nt" : "hybrid", *copier = hybrid ? beyond : "plain";
    if (strstr(algorithm->takes, "order"))
        snprintf(text, 64, "%s(%s, %s)", algorithm->name, order_for(f, shape->collective), copier);
    else snprintf(text, 64, "%s(%s)", algorithm->name, copier);
}

void plan_choose(struct team *team, const struct shape *shape, bool in_reach, struct plan *plan) {
    const struct figures *f = &team->figures;
    char why[192];
    if (f->where != ON_NODE) {
        plan_choose_far(f, shape, plan);
        return;
    }
    /* The others' algorithms see to such buffers by themselves, but long blocks go through the stage in rounds. */
    bool equal = shape->collective == COLL_alltoall || shape->collective == COLL_allgather;
    bool exchange = is_vector(shape->collective) && !among(shape->collective, NEIGHBORS);
    bool rounds = exchange && !f->shares && !staging_pays(f, shape);
    in_reach = in_reach || (!equal && !rounds);
    const struct algorithm *best = &algorithms[ALGORITHM_native];
    double least = 0;
    for (int a = 0; a < ALGORITHMS && in_reach; a++) {
        const struct algorithm_code *code = algorithms[a].code;
        if (!code->cost || !can_run(&algorithms[a], &usual, f, shape)) continue;
        double cost = code->cost(f, shape, &usual);
        if (best->code->run && cost >= least) continue;
        best = &algorithms[a];
        least = cost;
    }
    char text[64];
    if (in_reach) write_plan(f, shape, best, text);
    plan_parse(in_reach ? text : rounds ? "native" : outside_plan(team, shape), plan, why, sizeof why);
    if (!plan->algorithm->code->run && in_reach) plan->reason = "mortar has no algorithm for it";
    else if (!plan->algorithm->code->run)
        plan->reason = "buffers outside the shared heap: the host MPI copies blocks of this size faster";
}
