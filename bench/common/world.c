/* SPDX-License-Identifier: BSD-3-Clause */
/* world - ranks, nodes, processors, the MPI library and its own functions, and whether mortar is in
 * this process. */
#define _GNU_SOURCE
#include "bench.h"

#include "tuning/tuning.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void *symbol(void *handle, const char *name, void *place) {
    return *(void **)place = dlsym(handle, name);
}

static void name_mpi(struct world *world) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(text, &length);
    tuning_mpi(text, world->mpi);
}

static void name_machine(struct world *world) {
    char row[256], model[96] = "";
    struct utsname name;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !*model && fgets(row, sizeof row, file))
        sscanf(row, "model name : %95[^\n]", model);
    if (file) fclose(file);
    if (!*model && uname(&name) == 0) snprintf(model, sizeof model, "%s", name.machine);
    snprintf(world->machine, sizeof world->machine, "%s (%d processor%s)", model, world->processors,
             world->processors == 1 ? "" : "s");
}

static void look_around(struct world *world) {
    MPI_Comm node;
    int on_node, my_place, leader;
    nodes_split(world->all, false, &node);
    MPI_Comm_size(node, &on_node);
    MPI_Comm_rank(node, &my_place);
    leader = my_place == 0;
    library.allreduce(&leader, &world->nodes, 1, MPI_INT, MPI_SUM, world->all);
    struct processors mine = machine_processors(), all; /* ranks may be bound to one each */
    library.allreduce(&mine, &all, (int)(sizeof mine / sizeof(uint64_t)), MPI_UINT64_T, MPI_BOR,
                      node);
    MPI_Comm_free(&node);
    world->processors = processors_count(&all);
    int crowded = on_node > world->processors, somewhere;
    library.allreduce(&crowded, &somewhere, 1, MPI_INT, MPI_MAX, world->all);
    world->crowded = somewhere;
}

int world_look(struct world *world) {
    *world = (struct world){.all = MPI_COMM_WORLD, .comm = MPI_COMM_WORLD};
    MPI_Comm_size(MPI_COMM_WORLD, &world->p);
    MPI_Comm_rank(MPI_COMM_WORLD, &world->me);
    if (launcher_ranks() > 1 && world->p == 1) {
        if (launcher_rank() <= 0)
            fprintf(
                stderr,
                "mortar bench: the launcher started %d ranks, but each sees itself alone: %s is not the launcher's. "
                "MORTAR_MPI=FILE names the right MPI library\n",
                launcher_ranks(), library_file());
        else sleep(1); /* or the launcher might end the first rank before it has spoken */
        return 1;
    }
    const char *missing = functions_find();
    if (missing) {
        if (world->me == 0)
            fprintf(stderr, "mortar bench: %s is not found in the MPI library\n", missing);
        return 1;
    }
    look_around(world);
    name_mpi(world);
    name_machine(world);
    /* mortar_plan exists wherever mortar is preloaded, and works where it knows the MPI. */
    symbol(RTLD_DEFAULT, "mortar_plan", &world->plan);
    symbol(RTLD_DEFAULT, "mortar_plans", &world->plans);
    symbol(RTLD_DEFAULT, "mortar_report", &world->report);
    world->loaded = world->plan && world->plan(NULL) == 0;
    const char *(*why)(void);
    world->heap =
        symbol(RTLD_DEFAULT, "mortar_heap_why", &why) ? why() : "the shared heap is not loaded";
    return 0;
}

struct world world_part(const struct world *whole, int ranks) {
    struct world part = *whole;
    bool in = whole->me < ranks;
    MPI_Comm_split(whole->all, in ? 0 : MPI_UNDEFINED, whole->me, &part.all);
    part.comm = part.all, part.p = ranks;
    if (!in) return part;
    look_around(&part);
    name_machine(&part);
    part.crowded = part.crowded || whole->crowded; /* what is free for them may not be theirs */
    return part;
}

void world_part_free(struct world *part) {
    if (part->all != MPI_COMM_NULL) MPI_Comm_free(&part->all);
    part->comm = MPI_COMM_NULL;
}

/* Open MPI shows its settings, wherever they come from, through the MPI tools interface. -1: it has
 * no such setting. */
static int tool_setting(const char *name) {
    int provided, index, count, value = -1;
    MPI_T_cvar_handle handle;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return -1;
    if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        char room[256] = ""; /* an int or a bool */
        if (count == 1 && MPI_T_cvar_read(handle, room) == MPI_SUCCESS) value = room[0] != 0;
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return value;
}

const char *world_cure(const struct world *world) {
    const char *setting;
    int version = 0;
    if (strstr(world->mpi, "Open MPI"))
        return tool_setting("mpi_yield_when_idle") == 0 ? "mpi_yield_when_idle=1" : NULL;
    if (strstr(world->mpi, "Intel")) {
        setting = getenv("I_MPI_THREAD_YIELD");
        return setting && *setting != '0' ? NULL : "I_MPI_THREAD_YIELD=2 I_MPI_SPIN_COUNT=1";
    }
    if (sscanf(world->mpi, "MPICH %d", &version) != 1) return NULL;
    setting = getenv("MPIR_CVAR_DEVICE_COLLECTIVES");
    if (version >= 5)
        return setting && strcmp(setting, "none") == 0 ? NULL : "MPIR_CVAR_DEVICE_COLLECTIVES=none";
    return "no setting known";
}

void world_warn(const struct world *world) {
    const char *setting = world->crowded && world->me == 0 ? world_cure(world) : NULL;
    if (setting)
        fprintf(
            stderr,
            "mortar bench: %d ranks on %d processors, and %s spins while it waits: its times show the scheduler's time "
            "slices more than its algorithms (cure: %s)\n",
            world->p, world->processors, world->mpi, setting);
}

uint64_t world_memory(void) {
    char row[256];
    unsigned long long kilobytes = UINT64_MAX >> 10;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(row, sizeof row, file))
        if (sscanf(row, "MemAvailable: %llu kB", &kilobytes) == 1) break;
    if (file) fclose(file);
    return (uint64_t)kilobytes << 10;
}
