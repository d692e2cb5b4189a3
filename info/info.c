/* SPDX-License-Identifier: BSD-3-Clause */
/* info - `mortar info`: the tables of options, algorithms, orders and copy kernels, and what this
 * machine offers. It includes the same list.h files as the library, so both always agree. --plans:
 * plans.c; --plan: plan.c; --orders: orders.c; --tuning and --merge: tuning.c */
#define _GNU_SOURCE
#include "info/health.h"
#include "info/info.h"

#include "base/base.h"
#include "copy/copy.h"
#include "include/mortar.h"
#include "order/order.h"

#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
#define COLLECTIVE(name, ...) COLL_##name,
#include "coll/collectives.h"
#undef COLLECTIVE
    COLLECTIVES
};

struct name {
    const char *name, *about;
};
static const struct name collectives[] = {
#define COLLECTIVE(name, symbol, sent, received, more, family, about) {#name, about},
#include "coll/collectives.h"
#undef COLLECTIVE
};

struct row {
    const char *name, *takes, *about;
    unsigned collectives;
};
static const struct row algorithms[] = {
#define ALGORITHM(name, collectives, takes, about) {#name, takes, about, collectives},
#include "coll/list.h"
#undef ALGORITHM
};
enum { count_of_algorithms = sizeof algorithms / sizeof *algorithms };

enum {
#define PATH(name, about) PATH_##name,
#include "reach/list.h"
#undef PATH
    PATHS
};
static const struct name data_paths[] = {
#define PATH(name, about) {#name, about},
#include "reach/list.h"
#undef PATH
};

static void print_options(void) {
    printf("Options: environment variables, or `mortar run --option NAME=VALUE`\n");
    for (int o = 0; o < OPTIONS; o++) {
        const struct option_row *row = &option_rows[o];
        printf("  %-18s %-26s default %-13s %s\n", row->name, row->unit,
               *row->value ? row->value : "(none)", row->meaning);
        if (strcmp(option_text((enum option)o), row->value) != 0)
            printf("  %-18s is set to %s\n", "", option_text((enum option)o));
    }
    printf(
        "MORTAR_MPI=FILE in the environment names the MPI library that `mortar bench` and its kin "
        "open\n");
}

static void print_tables(void) {
    printf("Collectives that mortar takes\n");
    for (int c = 0; c < COLLECTIVES; c++)
        printf("  %-21s %s\n", collectives[c].name, collectives[c].about);
    printf("Algorithms (a plan is written name(argument, ...), e.g. pull(morton))\n");
    for (int a = 0; a < count_of_algorithms; a++)
        printf("  %-13s (%s)%*s %s\n", algorithms[a].name, algorithms[a].takes,
               17 - (int)strlen(algorithms[a].takes), "", algorithms[a].about);
    printf("Orders\n");
    for (int o = 0; o < ORDERS; o++) printf("  %-12s %s\n", orders[o].name, orders[o].about);
    printf("Copy kernels\n");
    for (int k = 0; k < KERNELS; k++)
        printf("  %-12s %s%s\n", kernels[k].name, kernels[k].about,
               kernels[k].usable() ? "" : " (not here)");
    printf(
        "  %-12s plain for a block's first bytes, nt for the rest: hybrid(64K); hybrid: L2 cache / ranks bytes\n",
        "hybrid");
    printf("MPI libraries (by their names for the dynamic linker)\n");
#define LIBRARY(soname, abi, whose) printf("  %-16s %s\n", soname, whose);
#include "abi/libraries.h"
#undef LIBRARY
    printf("Data paths (to buffers outside the shared heap; in a plan, e.g. pull(rows, cma))\n");
    for (int p = 0; p < PATHS; p++)
        printf("  %-12s %s%s\n", data_paths[p].name, data_paths[p].about,
               path_here(p) ? "" : " (not here)");
}

/* --orders [P [DOMAINS]] */
static int list_orders(int count, char **words) {
    uint64_t p = 0, domains = 2;
    bool fine = count < 1 || (parse_bytes(words[0], &p) == 0 && p > 0 && p <= 1 << 16);
    if (fine &&
        (count < 2 || (parse_bytes(words[1], &domains) == 0 && domains > 0 && domains <= p)))
        return print_orders((uint32_t)p, (uint32_t)domains);
    fprintf(
        stderr,
        "mortar info: --orders %s%s%s: expected a number of ranks, at most 65536, and a number of domains, at most one per rank\n",
        words[0], count > 1 ? " " : "", count > 1 ? words[1] : "");
    return 2;
}

/* doctor [--json] [PROGRAM]: `mortar doctor` where it has no MPI program that fits the launcher. */
static int examine(int count, char **words) {
    struct findings all = {0};
    bool json = count > 0 && strcmp(words[0], "--json") == 0;
    if (launcher_rank() > 0) return 0;
    found(&all, RED, "MPI", "name the launcher's MPI library: MORTAR_MPI=FILE",
          "no MPI library of this launcher was found, so only this process is seen");
    health_look(&all);
    if (count > json) health_program(&all, words[json]);
    health_left(&all);
    health_batch(&all);
    return health_print(stdout, &all, 1, "mortar doctor", json) == RED;
}

static const char usage[] =
    "usage: mortar info [--plans COLLECTIVE [nodes] | --plan \"COLLECTIVE NODESxRANKS BYTES\" |\n"
    "                    --orders [RANKS [DOMAINS]] | --tuning FILE | --merge OUT FILE...]\n"
    "  --plans COLLECTIVE [nodes]\n"
    "                       the plans that it can run: of ranks on one node, or on several nodes\n"
    "  --plan TEXT          which plan mortar would choose, e.g. \"alltoall 2x4 4096\", and why\n"
    "  --orders [RANKS [DOMAINS]]\n"
    "                       what an order costs; its cells, for so many ranks in so many memory domains\n"
    "  --tuning FILE        what a tuning file says, and whether it counts here\n"
    "  --merge OUT FILE...  one tuning file of several; later files win; OUT is new, or one of them\n"
    "Without an option: collectives, algorithms, orders, copy kernels, MPI libraries, data paths and options,\n"
    "and what this machine offers.\n";

/* Too many words for an option, too few, or no option. */
static int refuse(int count, char **words) {
    static const struct {
        const char *option, *takes;
    } known[] = {{"--plans", "a collective, and maybe the word nodes"},
                 {"--plan", "one text, in quotes: \"alltoall 2x4 4096\""},
                 {"--orders", "at most two numbers"},
                 {"--tuning", "one file"},
                 {"--merge", "the file to write, and at least one to read"},
                 {"--version", "nothing"},
                 {"--help", "nothing"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(words[1], known[i].option) != 0) continue;
        fprintf(stderr, "mortar info: %s", words[1]);
        for (int w = 2; w < count; w++) fprintf(stderr, " %s", words[w]);
        fprintf(stderr, ": %s takes %s (mortar info --help)\n", words[1], known[i].takes);
        return 2;
    }
    fprintf(stderr, "mortar info: %s: expected an option (mortar info --help)\n", words[1]);
    return 2;
}

static int answer(int count, char **words) {
    bool nodes = count == 4 && strcmp(words[3], "nodes") == 0;
    if (count >= 3 && strcmp(words[1], "--plans") == 0 && (count == 3 || nodes))
        return list_plans(words[2], nodes);
    if (count >= 2 && count <= 4 && strcmp(words[1], "--orders") == 0)
        return list_orders(count - 2, words + 2);
    if (count == 3 && strcmp(words[1], "--tuning") == 0) return explain_tuning(words[2]);
    if (count == 3 && strcmp(words[1], "--plan") == 0) return explain_plan(words[2]);
    if (count > 3 && strcmp(words[1], "--merge") == 0)
        return merge_tuning(words[2], count - 3, words + 3);
    if (count == 2 && strcmp(words[1], "--version") == 0)
        return printf("mortar %s\n", MORTAR_VERSION) < 0;
    if (count >= 2 && strcmp(words[1], "doctor") == 0) return examine(count - 2, words + 2);
    if (count == 2 && (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0))
        return fputs(usage, stdout) < 0;
    if (count != 1) return refuse(count, words);
    options_check();
    printf("mortar %s\n", MORTAR_VERSION);
    print_tables();
    print_options();
    print_machine();
    return 0;
}

int main(int count, char **words) {
    int code = answer(count, words);
    return output_end("mortar info", code);
}
