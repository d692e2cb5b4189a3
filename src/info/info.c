/* SPDX-License-Identifier: BSD-3-Clause */
/* info - `mortar info`: the tables of options, algorithms, orders and copy kernels, and what this machine offers.
 * `mortar info --plans alltoall` prints one plan per line: what tests and sweeps enumerate. Reads the same list.h files as the
 * library, so it cannot say anything else. */
#include "info/info.h"

#include "base/base.h"
#include "copy/copy.h"
#include "include/mortar.h"
#include "order/order.h"

#include <stdio.h>
#include <string.h>

enum {
#define COLLECTIVE(name, about) COLL_##name,
#include "coll/collectives.h"
#undef COLLECTIVE
    COLLECTIVES
};

struct name {
    const char *name, *about;
};
static const struct name collectives[] = {
#define COLLECTIVE(name, about) {#name, about},
#include "coll/collectives.h"
#undef COLLECTIVE
};

struct row {
    const char *name, *takes, *about;
    unsigned collectives;
};
#define BIT(collective) (1u << COLL_##collective)
static const struct row algorithms[] = {
#define ALGORITHM(name, collectives, takes, about) {#name, takes, about, collectives},
#include "coll/list.h"
#undef ALGORITHM
};
enum { count_of_algorithms = sizeof algorithms / sizeof *algorithms };

static void print_options(void) {
    printf("Options: environment variables, or `mortar run --option NAME=VALUE`\n");
    for (int o = 0; o < OPTIONS; o++) {
        const struct option_row *row = &option_rows[o];
        printf("  %-18s %-19s default %-6s %s\n", row->name, row->unit, *row->value ? row->value : "(none)", row->meaning);
        if (strcmp(option_text((enum option)o), row->value) != 0) printf("  %-18s is set to %s\n", "", option_text((enum option)o));
    }
}

static void print_tables(void) {
    printf("Collectives that mortar takes\n");
    for (int c = 0; c < COLLECTIVES; c++) printf("  %-12s %s\n", collectives[c].name, collectives[c].about);
    printf("Algorithms (a plan is written name(argument, ...), e.g. pull(morton))\n");
    for (int a = 0; a < count_of_algorithms; a++)
        printf("  %-8s (%s)%*s %s\n", algorithms[a].name, algorithms[a].takes, 14 - (int)strlen(algorithms[a].takes), "",
               algorithms[a].about);
    printf("Orders\n");
    for (int o = 0; o < ORDERS; o++) printf("  %-12s %s\n", orders[o].name, orders[o].about);
    printf("Copy kernels\n");
    for (int k = 0; k < KERNELS; k++) printf("  %-12s %s\n", kernels[k].name, kernels[k].about);
    printf("Data paths\n");
    printf("  %-12s %s\n", "heap", "loads and stores in the ranks' shared heaps (malloc, new, allocate, numpy)");
    printf("  %-12s %s\n", "stage", "copies through a shared segment: any buffer (stack, static, mmap)");
}

static void print_plans(const struct row *row) {
    if (!strstr(row->takes, "order")) printf("%s\n", row->name);
    else
        for (int o = 0; o < ORDERS; o++)
            for (int inner = 0; inner < (orders[o].nests ? (int)ORDERS : 1); inner++)
                if (!orders[o].nests) printf("%s(%s)\n", row->name, orders[o].name);
                else if (!orders[inner].nests) printf("%s(%s(%s))\n", row->name, orders[o].name, orders[inner].name);
    if (strstr(row->takes, "chunk")) printf("%s(192)\n", row->name); /* rounds of an odd, short length */
}

static int list_plans(const char *collective) {
    for (int c = 0; c < COLLECTIVES; c++) {
        if (strcmp(collectives[c].name, collective) != 0) continue;
        for (int a = 0; a < count_of_algorithms; a++)
            if (algorithms[a].collectives >> c & 1) print_plans(&algorithms[a]);
        return 0;
    }
    fprintf(stderr, "mortar info: \"%s\" is no collective that mortar takes; expected one of:", collective);
    for (int c = 0; c < COLLECTIVES; c++) fprintf(stderr, " %s", collectives[c].name);
    fputc('\n', stderr);
    return 2;
}

int main(int count, char **words) {
    if (count == 3 && strcmp(words[1], "--plans") == 0) return list_plans(words[2]);
    if (count == 2 && strcmp(words[1], "--version") == 0) return printf("mortar %s\n", MORTAR_VERSION) < 0;
    if (count != 1) {
        fprintf(stderr, "usage: mortar info [--plans COLLECTIVE]\n");
        return 2;
    }
    printf("mortar %s\n", MORTAR_VERSION);
    print_tables();
    print_options();
    print_machine();
    return 0;
}
