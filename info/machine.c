/* SPDX-License-Identifier: BSD-3-Clause */
/* machine - what this machine offers to mortar, with the reason for what is missing. */
#include "info/health.h"
#include "info/info.h"

#include "base/base.h"

#include <stdio.h>

void print_machine(void) {
    struct processors set = machine_processors();
    const struct machine_facts *facts = machine_facts();
    printf("This machine\n");
    printf("  %-18s %s\n", "model",
           *facts->cpu ? facts->cpu : "not known (is libhwloc.so.15 installed?)");
    printf("  %-18s %d, for this process %d\n", "processors", facts->processors,
           processors_count(&set));
    printf("  %-18s %zu KiB L1d, %zu KiB L2, %zu KiB L3\n", "caches", facts->l1d >> 10,
           facts->l2 >> 10, facts->l3 >> 10);
    if (launcher_local_ranks() > 0)
        printf("  %-18s %d\n", "ranks on this node", launcher_local_ranks());
    printf("  %-18s %d NUMA, %d sockets, %d L3\n", "domains", facts->numa, facts->sockets,
           facts->l3s);
    static const char *const names[] = {"NUMA node", "socket", "L3 cache"};
    enum domain_kind kinds[DOMAIN_KINDS];
    int count = machine_domain_kinds(kinds);
    printf("  %-18s %s", "  memory domain", count ? "" : "none: all ranks share one");
    for (int k = 0; k < count; k++)
        printf("%s%s", k ? "; with less than two ranks to each, " : "", names[kinds[k]]);
    printf("\n");
    struct findings system = {0};
    health_look(&system);
    for (int i = 0; i < system.count; i++)
        printf("  %-18s %s\n", system.list[i].name, system.list[i].text);
}
