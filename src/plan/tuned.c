/* SPDX-License-Identifier: BSD-3-Clause */
/* tuned - plans from a tuning file (MORTAR_TUNING). Rank 0 of a team looks a plan up, and one
 * barrier brings its answer to all ranks, since ranks may see different files. A file that was made
 * on another system is refused as a whole. */
#include "plan/plan.h"

#include "tuning/tuning.h"

#include <pthread.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char mpi_name[96];
/* The set that fits this system; NULL: none. Never freed. */
static const struct tuning_set *tuned;

/* Does this mortar know all plans of the set? */
static bool known(const struct tuning_set *set, char *why, size_t size) {
    for (int e = 0; e < set->count; e++) {
        const struct tuning_entry *entry = &set->entries[e];
        struct plan plan;
        int c = 0;
        while (c < COLLECTIVES && strcmp(collective_names[c], entry->collective) != 0) c++;
        if (c == COLLECTIVES) {
            snprintf(why, size, "\"%s\" is no collective of this mortar", entry->collective);
            return false;
        }
        if (plan_parse(entry->plan, &plan, why, size) != 0) return false;
        if (!(plan.algorithm->collectives >> c & 1)) {
            snprintf(why, size, "%s does not do %s here", entry->plan, entry->collective);
            return false;
        }
    }
    return true;
}

static void tuned_refuse(const char *path, const char *why, const char *cure) {
    warn_job("the tuning file %s is not used: %s; %s", path, why, cure);
}

static void tuned_load(void) {
    static struct tuning_file file;
    struct tuning_set here;
    char why[320];
    const char *path = option_text(OPTION_TUNING);
    if (!*path) return;
    tuning_here(&here, mpi_name);
    const struct tuning_set *set = NULL;
    if (tuning_read(path, &file, why, sizeof why) != 0)
        tuned_refuse(path, why, "mortar chooses by itself");
    else if (!(set = tuning_choose(&file, &here, why, sizeof why)))
        tuned_refuse(path, why, "run `mortar tune` here");
    else if (!known(set, why, sizeof why))
        tuned_refuse(path, why, "run `mortar tune` with this mortar");
    else tuned = set;
    if (!tuned) return tuning_free(&file);
    if (strcmp(set->kernel, here.kernel) != 0)
        note("%s was made under %s, this is %s", path, set->kernel, here.kernel);
    if (strcmp(set->mortar, here.mortar) != 0)
        note("%s was made by mortar %s, this is %s", path, set->mortar, here.mortar);
}

void plan_tuning(const char *mpi_version) {
    tuning_mpi(mpi_version, mpi_name);
    if (*option_text(OPTION_TUNING) && launcher_rank() <= 0) pthread_once(&once, tuned_load);
}

void plan_network(struct team *team) {
    struct network network = team->figures.network;
    if (team->me == 0) {
        pthread_once(&once, tuned_load);
        const struct network_facts *facts = tuning_network(tuned);
        network = network_of(facts);
        if (facts->pairs > 0)
            note("the network is that of the tuning file, measured between %s", facts->between);
    }
    if (messages_tell(team, &network, sizeof network) == 0) team->figures.network = network;
}

static const char *tuned_look_up(const struct team *team, const struct shape *shape,
                                 bool in_reach) {
    pthread_once(&once, tuned_load);
    struct tuning_entry like = {.ranks = team->p,
                                .nodes = team->figures.nodes,
                                .domains = team->domain_of ? (int)team->figures.domains : 1,
                                .fullest = team->figures.most};
    snprintf(like.collective, sizeof like.collective, "%s", collective_names[shape->collective]);
    snprintf(like.buffers, sizeof like.buffers, "%s", in_reach ? "heap" : "outside");
    const struct tuning_entry *entry = tuned ? tuning_find(tuned, &like, shape->bytes) : NULL;
    if (tuned && !entry)
        note(
            "no entry in the tuning file for %s of %zu bytes on %d ranks on %d nodes in %d domains, buffers %s: the model decides",
            like.collective, shape->bytes, like.ranks, like.nodes, like.domains, like.buffers);
    return entry ? entry->plan : "";
}

bool plan_tuned(struct team *team, const struct shape *shape, bool in_reach, struct plan *plan) {
    char text[64] = "";
    if (team->me == 0) snprintf(text, sizeof text, "%s", tuned_look_up(team, shape, in_reach));
    team_tell(team, text);
    if (!*text || plan_parse(text, plan, NULL, 0) != 0) return false;
    if (!plan->algorithm->code->run) plan->reason = "the tuning file says so";
    return true;
}
