/* SPDX-License-Identifier: BSD-3-Clause */
/* mortar-sim - collectives timed in a simulation, by SimGrid's SMPI: one process in which the ranks
 * are coroutines. sim/simulate starts it on a platform. All ranks enter a call at one simulated
 * instant; the time ends when the last one leaves. Simulated times have no noise, so each is taken
 * once, after what a plan needs once has been done. Results are verified, byte by byte.
 *
 * mortar-sim COLLECTIVE SIZE[,SIZE...] PLAN... [--late SECONDS] [--unverified] [--warm] [--lean]
 *   PLAN       a plan, `native`, or `auto` for what mortar chooses
 *   --late     each rank enters later, by up to so much; the times are means over some calls
 *   --warm     first a call of the host MPI that is not timed: some algorithms set something up
 *   --model    instead, what the cost model expects of each plan, in the same columns; whatever
 *              PLAN is
 *   --lean     all ranks have one buffer in common and nothing is verified: for sizes whose
 *              buffers would not fit into memory */
#include "reach/host.h"

#include "calls.h"

#include "plan/plan.h"

#include "sim.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int mortar_engine_open(void *library, const char *folder);

enum { late_turns = 5 };

struct settings {
    int call;
    char **plans, *sizes;
    int plan_count;
    double late;
    bool verify, warm, model, chooses; /* chooses: of a plan `auto` */
};

/* The first rank speaks, and ends the process for all. */
static void refuse(int me, const char *what, const char *text, const char *expected) {
    while (me != 0) world_meet(0, NULL);
    fprintf(stderr, "mortar-sim: %s \"%s\": %s\n", what, text, expected);
    _exit(2);
}

static struct settings read_settings(int argc, char **argv, int me) {
    struct settings settings = {.verify = true};
    char names[320];
    if (argc < 4)
        refuse(me, "arguments", argc > 1 ? argv[1] : "",
               "expected COLLECTIVE SIZES PLAN... (see sim/bench.c)");
    settings.call = call_find(argv[1]);
    snprintf(names, sizeof names, "expected %s", call_names());
    if (settings.call < 0) refuse(me, "collective", argv[1], names);
    settings.sizes = argv[2];
    settings.plans = argv + 3;
    for (int i = 3; i < argc; i++) {
        char *end = NULL;
        if (strcmp(argv[i], "--unverified") == 0) {
            settings.verify = false;
        } else if (strcmp(argv[i], "--warm") == 0) {
            settings.warm = true;
        } else if (strcmp(argv[i], "--model") == 0) {
            settings.model = true;
        } else if (strcmp(argv[i], "--lean") == 0) {
            lean = true;
            settings.verify = false;
        } else if (strcmp(argv[i], "--late") == 0) {
            const char *text = i + 1 < argc ? argv[++i] : "";
            settings.late = strtod(text, &end);
            if (end == text || *end || settings.late < 0)
                refuse(me, "--late", text, "expected seconds");
        } else {
            struct plan plan;
            char why[192];
            settings.chooses = settings.chooses || strcmp(argv[i], "auto") == 0;
            if (strcmp(argv[i], "auto") != 0 && plan_parse(argv[i], &plan, why, sizeof why) != 0)
                refuse(me, "plan", argv[i], why);
            settings.plans[settings.plan_count++] = argv[i];
        }
    }
    return settings;
}

/* Made for each size: the buffers of large jobs would not all fit. */
static struct buffers buffers_for(const struct settings *settings, size_t block, int ranks,
                                  int me) {
    size_t sent = call_send_bytes(settings->call, block, ranks, me),
           received = call_recv_bytes(settings->call, block, ranks, me);
    size_t entries = (size_t)ranks * sizeof(int);
    struct buffers buffers = {.counts = malloc(entries),
                              .displs = malloc(entries),
                              .types = malloc((size_t)ranks * sizeof *buffers.types)};
    if (lean) {
        buffers.send = world_common(0, sent + 64);
        buffers.recv = world_common(1, received + 64);
    } else {
        buffers.send = aligned_alloc(64, (sent + 127) / 64 * 64);
        buffers.recv = aligned_alloc(64, (received + 127) / 64 * 64);
    }
    if (!buffers.send || !buffers.recv || !buffers.counts || !buffers.displs || !buffers.types)
        refuse(0, "size", settings->sizes, "expected less: out of memory");
    return buffers;
}

static void free_buffers(struct buffers *buffers) {
    if (!lean) {
        free(buffers->send);
        free(buffers->recv);
    }
    free(buffers->counts);
    free(buffers->displs);
    free(buffers->types);
}

static struct shape shape_of(const char *collective, size_t block) {
    struct shape shape = {.bytes = block};
    for (int c = 0; c < COLLECTIVES; c++)
        if (strcmp(collective_names[c], collective) == 0) shape.collective = (enum collective)c;
    shape.unsized = among(shape.collective, UNSIZED);
    return shape;
}

/* Every size begins anew: ranks are to know nothing of calls of another. */
static void forget_calls(struct team *team) {
    memset(team->last_calls, 0, sizeof team->last_calls);
}

/* Which plan will run: makes it, so that what it needs once is not timed. NULL: nobody knows; the
 * host MPI. */
static const struct plan *prepare(const char *collective, size_t block) {
    setting_up = true;
    struct team *team = team_of(MPI_COMM_WORLD);
    struct shape shape = shape_of(collective, block);
    static bool aliased;
    if (lean && team && team->node && !aliased)
        world_alias(team->node->space, team->node->figures.space_bytes);
    aliased = true;
    if (team) forget_calls(team);
    const struct plan *plan = team ? plan_for(team, &shape) : NULL;
    setting_up = false;
    return plan;
}

/* Which plan has run calls since it was looked last: what is timed may be another than what was
 * prepared, where ranks learn a call's size from the one before. */
static struct {
    const struct plan *plan;
    uint64_t calls;
} seen[1024];
static const char *ran;

static void look_at(const struct team *team, const struct plan *plan,
                    const struct evidence *evidence) {
    (void)team, (void)evidence;
    size_t i = 0;
    while (i < sizeof seen / sizeof *seen - 1 && seen[i].plan && seen[i].plan != plan) i++;
    if (plan->tally.calls > (seen[i].plan ? seen[i].calls : 0)) ran = plan->text;
    seen[i].plan = plan;
    seen[i].calls = plan->tally.calls;
}

static const char *latest_plan(void) {
    struct team *team = team_of(MPI_COMM_WORLD);
    ran = "native";
    if (team) plan_visit(team, look_at);
    return ran;
}

/* The time from when the first rank may enter to the last one's leaving, and the mean of what ranks
 * spent inside. Delays are as even and as little ordered as the multiples of the golden ratio. */
static double timed_call(const struct settings *settings, const struct buffers *buffers,
                         size_t block, int ranks, int turn, double *inside, int *error) {
    int me;
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    charge_settle(); /* what came before */
    double spot = (1.0 + me + (double)turn * ranks) * 0.6180339887498949,
           start = world_meet(world_clock(), NULL);
    world_spend(settings->late * (spot - (double)(int64_t)spot));
    double entered = world_clock();
    int failed = call_make(settings->call, buffers, block, ranks);
    charge_settle();
    double left = world_clock(), end = world_meet(left, NULL);
    world_meet(left - entered, inside);
    if (failed) *error = failed;
    return end - start;
}

static void expect(const char *collective, size_t block, int ranks, int me) {
    static struct candidate list[most_candidates];
    struct shape shape = shape_of(collective, block);
    plan_force("");
    prepare(collective, block);
    struct team *team = team_of(MPI_COMM_WORLD);
    int count = me == 0 && team && team->wire
                    ? plan_candidates(&team->figures, &shape, true, list)
                    : 0;
    for (int i = 0; i < count; i++)
        printf("%s,\"%s\",\"%s\",%zu,%d,%.9g,0,expected\n", collective, list[i].text, list[i].text,
               block, ranks, list[i].seconds);
    fflush(stdout);
}

static void measure(const struct settings *settings, const char *collective, const char *text,
                    size_t block, int ranks, int me) {
    struct buffers buffers = buffers_for(settings, block, ranks, me);
    plan_force(strcmp(text, "auto") == 0 ? "" : text);
    const struct plan *plan = prepare(collective, block);
    call_fill(settings->call, &buffers, lean ? 0 : block, ranks, me);
    for (int r = 0; r < ranks; r++)
        buffers.counts[r] = (int)block, buffers.displs[r] = (int)(block * (size_t)r);
    /* What ranks learn, or agree on, at their first call is not timed either; what the host MPI
     * does in lean simulations, and takes longest, only where that must not be. */
    bool native = !plan || strcmp(plan->text, "native") == 0;
    if (!lean || !native || settings->warm) {
        call_make(settings->call, &buffers, block, ranks);
        if (!lean) call_fill(settings->call, &buffers, block, ranks, me);
    }
    latest_plan();
    int error = MPI_SUCCESS, turns = settings->late > 0 ? late_turns : 1;
    double seconds = 0, inside = 0;
    for (int turn = 0; turn < turns; turn++) {
        double mean;
        seconds += timed_call(settings, &buffers, block, ranks, turn, &mean, &error) / turns;
        inside += mean / turns;
    }
    bool fine = error == MPI_SUCCESS &&
                (!settings->verify || call_check(settings->call, &buffers, block, ranks, me));
    bool wrong = world_meet(!fine, NULL) > 0;
    if (me == 0)
        printf("%s,\"%s\",\"%s\",%zu,%d,%.9g,%.9g,%s\n", collective, text, latest_plan(), block,
               ranks, seconds, inside,
               wrong              ? "WRONG"
               : settings->verify ? "verified"
                                  : "unverified");
    fflush(stdout);
    free_buffers(&buffers);
    if (wrong && me == 0) _exit(3);
}

/* Takes the next of the sizes. The end, where the collective takes no such blocks. */
static size_t next_size(const struct settings *settings, char **next, int me) {
    char *end;
    size_t block = strtoul(*next, &end, 10);
    if (end == *next || (*end && *end != ','))
        refuse(me, "sizes", *next, "expected numbers of bytes with commas between");
    const char *wants = call_wants(settings->call, block);
    if (wants) refuse(me, "sizes", *next, wants);
    *next = *end ? end + 1 : end;
    return block;
}

int main(int argc, char **argv) {
    int ranks, me;
    if (mortar_engine_open(NULL, NULL) != 0) return 2;
    MPI_Init(&argc, &argv);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    struct settings settings = read_settings(argc, argv, me);
    const struct world_prices *prices = world_prices();
    if (prices->gap > 0 || prices->rank_byte > 0)
        world_adapter(prices->overhead, prices->gap, prices->rank_byte);
    if (settings.chooses || settings.model) facts_measure(ranks, me);
    for (char *next = settings.sizes; *next;) next_size(&settings, &next, me);
    for (char *next = settings.sizes; *next;) {
        size_t block = next_size(&settings, &next, me);
        if (settings.model) expect(argv[1], block, ranks, me);
        for (int i = 0; i < settings.plan_count && !settings.model; i++)
            measure(&settings, argv[1], settings.plans[i], block, ranks, me);
    }
    world_meet(0, NULL); /* who leaves early is no rank of its node any more */
    return MPI_Finalize();
}
