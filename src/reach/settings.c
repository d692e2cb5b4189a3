/* SPDX-License-Identifier: BSD-3-Clause */
/* settings - makes sure that the ranks of a team have the same settings and the same version of
 * mortar. Some launchers do not pass variables to other nodes, so ranks may differ without intent,
 * and would then make different choices.
 *
 * If ranks differ and the communicator has all ranks of the job, all take over rank 0's settings.
 * These are the process's, so they change for all its communicators; that is safe, because each
 * rank passes here between the same two calls of each of them. It is not safe if only some ranks
 * are here, since their other communicators have ranks that know nothing of it, nor if threads make
 * calls on several communicators at once. Such a communicator stays native. In the same way, and on
 * the same condition, the ranks learn whether all of their nodes are crowded. */
#include "reach/host.h"

#include "include/mortar.h"
#include "reach/birth.h"
#include "reach/reach.h"

#include <stdlib.h>
#include <string.h>

void (*settings_changed)(void);

/* The first exchange: a bitwise AND over the ranks. A word and its complement are still complements
 * afterwards only if the word was the same on all ranks. This exchange must stay the same in every
 * version of mortar. */
enum { VERSION, NOT_VERSION, SETTINGS, NOT_SETTINGS, FLAGS, WORDS };
/* FLAGS; NO_WISH << o: option o, a WISH, is not set. HAS_ROOM: to remember these ranks. CROWDED: my
 * node is. */
enum { ONE_THREAD = 1, NO_WISH = 2 };
static const uint64_t HAS_ROOM = (uint64_t)1 << 63, CROWDED = (uint64_t)1 << 62;
_Static_assert(OPTIONS < 61, "a bit of a word for each");

static _Atomic uint64_t wishes = 0;    /* bits NO_WISH << o: some rank has set option o */
static _Atomic bool all_known = false; /* wishes are those of all ranks of the job */
/* All ranks of the job have the same settings, and make their calls in one thread each. So ranks
 * that meet on a communicator know of each other whether they have exchanged this before. */
static _Atomic bool all_alike = false;
/* That, and all of their nodes are crowded. */
static _Atomic bool all_crowded = false;

/* Groups of ranks that have found each other alike, as all_alike: programs split MPI_COMM_WORLD
 * into the same groups again and again. A group is remembered by all of its ranks, or by none. */
enum { most_groups = 256 };
static uint64_t alike[most_groups];
static int alike_count;

static bool are_alike_already(uint64_t group) {
    for (int i = 0; i < alike_count && group; i++)
        if (alike[i] == group) return true;
    return false;
}

bool settings_are_alike(void) { return all_alike; }

HOT bool settings_say_crowded(void) {
    return atomic_load_explicit(&all_crowded, memory_order_relaxed);
}

/* Has each processor of this node so many ranks of the job, or more? */
static bool is_crowded(void) {
    enum { many = 4 };
    int ranks = launcher_local_ranks();
    return ranks >= many && ranks >= many * machine_online();
}

static uint64_t group_of(MPI_Comm comm, int p) {
    int *world = spare_ranks(comm, p);
    uint64_t group = spare_group(world, p);
    free(world);
    return group;
}

bool settings_wanted(enum option option) {
    return all_known ? wishes & (uint64_t)NO_WISH << option : *option_text(option) != 0;
}

static void settings_introduce(uint64_t words[WORDS]) {
    words[VERSION] = hash_text(HASH_START, MORTAR_VERSION);
    words[SETTINGS] = HASH_START;
    words[FLAGS] = host.many_threads ? 0 : ONE_THREAD;
    if (is_crowded()) words[FLAGS] |= CROWDED;
    for (int o = 0; o < OPTIONS; o++) {
        const char *text = option_text((enum option)o);
        if (option_rows[o].whose == ALIKE) words[SETTINGS] = hash_text(words[SETTINGS], text);
        if (option_rows[o].whose == WISH && !*text) words[FLAGS] |= (uint64_t)NO_WISH << o;
    }
    words[NOT_VERSION] = ~words[VERSION];
    words[NOT_SETTINGS] = ~words[SETTINGS];
}

/* True on the lowest rank that passes true: it prints the warning for all. Collective. */
static bool settings_first_of(MPI_Comm comm, int me, bool mine) {
    int first = mine ? me : INT32_MAX, found = INT32_MAX;
    host_combine(&first, &found, 1, MPI_INT, MPI_MIN, comm);
    return mine && found == me;
}

/* What rank 0 of the communicator sends to all. */
struct speaker {
    int64_t bytes; /* of its options' texts, with their '\0's */
    int32_t rank;  /* in MPI_COMM_WORLD */
    char version[52];
};

static const char *other_version(MPI_Comm comm, int me, int world) {
    struct speaker zero = {.rank = world, .version = MORTAR_VERSION};
    host.bcast(&zero, (int)sizeof zero, MPI_BYTE, 0, comm);
    bool differs = strncmp(zero.version, MORTAR_VERSION, sizeof zero.version) != 0;
    if (settings_first_of(comm, me, differs))
        warn(
            "rank %d runs mortar %s and rank %d mortar %.52s: their common communicators are left to the MPI library",
            world, MORTAR_VERSION, (int)zero.rank, zero.version);
    return "several versions of mortar";
}

/* Rank 0's texts of the options that must be alike, one after the other, and its rank in the world.
 * The caller frees them. NULL on all ranks: no memory. Collective. */
static char *texts_of_zero(MPI_Comm comm, int me, int world, int32_t *rank) {
    struct speaker zero = {.rank = world};
    for (int o = 0; o < OPTIONS; o++)
        if (option_rows[o].whose == ALIKE)
            zero.bytes += (int64_t)strlen(option_text((enum option)o)) + 1;
    host.bcast(&zero, (int)sizeof zero, MPI_BYTE, 0, comm);
    char *texts = malloc((size_t)zero.bytes), *at = texts;
    for (int o = 0; texts && me == 0 && o < OPTIONS; o++)
        if (option_rows[o].whose == ALIKE) at = stpcpy(at, option_text((enum option)o)) + 1;
    *rank = zero.rank;
    if (!all_agree(comm, texts != NULL)) {
        free(texts);
        return NULL;
    }
    host.bcast(texts, (int)zero.bytes, MPI_BYTE, 0, comm);
    return texts;
}

/* The first option in which I differ from rank 0, and rank 0's text of it; OPTIONS: none. */
static int first_difference(const char *texts, const char **text) {
    for (int o = 0; o < OPTIONS; o++) {
        if (option_rows[o].whose != ALIKE) continue;
        *text = texts;
        if (strcmp(texts, option_text((enum option)o)) != 0) return o;
        texts += strlen(texts) + 1;
    }
    return OPTIONS;
}

static bool take_over(const char *texts) {
    bool fine = true;
    for (int o = 0; o < OPTIONS; o++) {
        if (option_rows[o].whose != ALIKE) continue;
        if (strcmp(texts, option_text((enum option)o)) != 0)
            fine = option_take_over((enum option)o, texts) == 0 && fine;
        texts += strlen(texts) + 1;
    }
    start_settings_changed();
    if (settings_changed) settings_changed();
    return fine;
}

static const char *other_settings(MPI_Comm comm, int me, int world, bool all_here) {
    static const char *const why = "the ranks have different settings";
    const char *theirs = "";
    int32_t rank = 0;
    char *texts = texts_of_zero(comm, me, world, &rank);
    if (!texts) return "out of memory";
    int option = first_difference(texts, &theirs);
    if (settings_first_of(comm, me, option < OPTIONS))
        warn("rank %d has %s='%s' and rank %d '%s'%s", world, option_rows[option].name,
             option_text((enum option)option), (int)rank, theirs,
             all_here ? ", which counts for all"
                      : ": their common communicators are left to the MPI library");
    bool fine = !all_here || option == OPTIONS || take_over(texts);
    free(texts);
    if (!all_here) return why;
    return all_agree(comm, fine) ? NULL : "out of memory";
}

const char *settings_agree(MPI_Comm comm, int p, int me) {
    uint64_t words[WORDS], all[WORDS];
    int ranks = 0, world = 0;
    if (all_alike) return NULL;
    uint64_t group = group_of(comm, p);
    if (are_alike_already(group)) return NULL;
    settings_introduce(words);
    if (group && alike_count < most_groups) words[FLAGS] |= HAS_ROOM;
    if (host_combine(words, all, WORDS, MPI_UINT64_T, MPI_BAND, comm) != MPI_SUCCESS)
        return "the MPI library reports an error";
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &world);
    if (all[VERSION] != ~all[NOT_VERSION]) return other_version(comm, me, world);
    if (p == ranks) {
        atomic_store(&wishes, ~all[FLAGS]);
        atomic_store(&all_known, true);
    }
    bool all_here = p == ranks && all[FLAGS] & ONE_THREAD;
    const char *why = NULL;
    if (all[SETTINGS] != ~all[NOT_SETTINGS]) why = other_settings(comm, me, world, all_here);
    if (all_here && !why) {
        atomic_store(&all_crowded, all[FLAGS] & CROWDED);
        atomic_store(&all_alike, true);
    }
    if (!why && all[FLAGS] & ONE_THREAD && all[FLAGS] & HAS_ROOM) alike[alike_count++] = group;
    return why;
}
