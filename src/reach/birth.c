/* SPDX-License-Identifier: BSD-3-Clause */
/* birth - builds the team of a communicator: the ranks meet, share memory and exchange facts: an
 * allgather of cards, and an agreement whether all have what they need. No communicator is made.
 * For several nodes see over.c. Source: li2018 section 2 (the node's ranks share memory); the
 * hand-over of descriptors is mortar's own. */
#define _GNU_SOURCE
#include "reach/host.h"

#include "reach/birth.h"
#include "reach/handover.h"
#include "reach/reach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What each rank sends to all others when they meet. */
struct card {
    struct segment_name control, region;
    struct seat seat;
    struct process process;
    int32_t refused; /* rank 0 could not make the control block: -errno */
};

bool birth_lists(struct team *team) {
    team->names = calloc((size_t)team->p, sizeof *team->names);
    team->world = calloc((size_t)team->p, sizeof *team->world);
    return team->names && team->world;
}

struct card *birth_room(struct team *team) {
    struct card *cards = malloc((size_t)team->p * sizeof *cards);
    if (birth_lists(team) && cards) return cards;
    free(cards);
    return NULL;
}

/* Fills in my card: my heap, my processors and, on rank 0, a new control block. */
static void birth_introduce(struct team *team, struct card *card, size_t control_bytes,
                            int *control_fd) {
    *card = (struct card){.seat.processors = machine_processors(), .process = process_of_this()};
    PMPI_Comm_rank(MPI_COMM_WORLD, &card->seat.rank);
    team->many_threads = host.many_threads;
    shown_begin(team, &card->region);
    *control_fd = -1;
    if (team->me == 0) {
        /* This takes milliseconds the first time. The others wait in the MPI library, and do not go
         * to sleep: the kernel may wake a sleeper on rank 0's processor, where it stays. */
        machine_facts();
        *control_fd = segment_create("mortar-team", control_bytes);
        card->refused = *control_fd < 0 ? *control_fd : segment_name(*control_fd, &card->control);
    }
}

static void count_processors(struct team *team, const struct card *cards) {
    struct processors all = {{0}};
    for (int r = 0; r < team->p; r++)
        for (size_t i = 0; i < sizeof all.bits / sizeof *all.bits; i++)
            all.bits[i] |= cards[r].seat.processors.bits[i];
    int ranks = launcher_local_ranks() > team->p ? launcher_local_ranks() : team->p;
    team->figures.processors = processors_count(&all);
    patience_settle(&team->patience, ranks, team->figures.processors);
    machine_short_slices(option_number(OPTION_SLICE));
}

static void birth_divide(struct team *team, const struct card *cards) {
    struct seat *seats = team->me == 0 ? malloc((size_t)team->p * sizeof *seats) : NULL;
    for (int r = 0; seats && r < team->p; r++) seats[r] = cards[r].seat;
    team_divide(team, seats);
    free(seats);
}

/* Why ranks do not share rank 0's control block. */
static const char cannot_open[] =
    "the ranks cannot open each other's memory (neither /proc/PID/fd nor sockets work)";
static const char cannot_map[] =
    "a rank cannot map the memory to share (limits: ulimit -v, vm.max_map_count)";

/* Rank 0's control block: its own descriptor, or one opened by the block's name in /proc. */
static int control_by_name(const struct team *team, const struct card *cards, int own_fd,
                           size_t bytes) {
    if (team->me == 0) return own_fd;
    return cards[0].control.bytes == bytes ? segment_open(&cards[0].control, true) : -1;
}

/* Sets *memory to rank 0's control block, of which fd is a descriptor; -1: there is none. Returns
 * NULL, or why the ranks do not have it; the same on all ranks. They do not if `fine` is not true
 * on all. */
static const char *control_share(const struct meeting *meeting, int fd, int own_fd, size_t bytes,
                                 bool fine, void **memory) {
    *memory = fd >= 0 ? control_map(fd, bytes) : NULL;
    if (fd >= 0 && fd != own_fd) close(fd);
    if (meet_agree(meeting, *memory && fine)) return NULL;
    bool full = fd >= 0 && !*memory;
    if (*memory) control_unmap(*memory, bytes);
    *memory = NULL;
    return meet_agree(meeting, !full) ? cannot_open : cannot_map;
}

/* Maps rank 0's control block: by its name in /proc, or, if a rank cannot open that, by a
 * descriptor sent over sockets; then the regions are mapped in the same way. As control_share. */
static const char *open_control(struct team *team, const struct meeting *meeting,
                                const struct card *cards, int own_fd, size_t bytes, bool fine,
                                void **memory) {
    int how = option_choice(OPTION_HANDOVER, "auto|proc|socket");
    if (how != 2) {
        int fd = control_by_name(team, cards, own_fd, bytes);
        const char *why = control_share(meeting, fd, own_fd, bytes, fine, memory);
        if (why != cannot_open || how == 1) return why;
    }
    int fd = own_fd, error = handover_by_socket(team, meeting, &fd);
    if (cards[0].control.bytes != bytes)
        error = -EPROTO; /* too short: touching its end would kill us */
    if (error && fd >= 0 && fd != own_fd) close(fd);
    return control_share(meeting, error ? -1 : fd, own_fd, bytes, fine, memory);
}

/* Why rank 0 could not make the control block. */
static const char *refusal(int error) {
    if (error == -EFBIG)
        return "no shared memory: the limit on file size (ulimit -f) is below what the ranks need (MORTAR_SLOT each)";
    if (error == -EMFILE || error == -ENFILE)
        return "no shared memory: the process may open no more files (ulimit -n)";
    if (error == -ENOMEM || error == -ENOSPC) return "no memory to share";
    return "no shared memory: memfd_create was refused";
}

/* Numbers the teams of the job: rank 0's number in MPI_COMM_WORLD, and how many it has begun. */
static uint64_t birth_number(const struct team *team) {
    static _Atomic uint32_t births;
    return ((uint64_t)team->world[0] + 1) << 32 | (atomic_fetch_add(&births, 1) + 1);
}

/* The barrier's time on the latest team of this size, in this process. */
static _Atomic uint32_t usual_p, usual_nanoseconds;

static double usual_seconds(const struct team *team) {
    return usual_p == (uint32_t)team->p ? 1e-9 * usual_nanoseconds : 0;
}

const char *birth_meet(struct team *team, const struct meeting *meeting, struct card *cards,
                       size_t space) {
    size_t slot = option_number(OPTION_SLOT) / 2 / 64 * 64, least = 64 * (size_t)team->p;
    if (slot < least) slot = least;
    size_t bytes = control_size(team->p, slot, space);
    struct card card;
    void *memory = NULL;
    int fd;
    birth_introduce(team, &card, bytes, &fd);
    if (meet_gather(meeting, &card, cards, sizeof card) != 0)
        memset(cards, 0, (size_t)team->p * sizeof *cards); /* then the next step fails, on all */
    for (int r = 0; r < team->p; r++)
        team->names[r] = cards[r].region, team->world[r] = cards[r].seat.rank;
    const char *why = cards[0].refused ? refusal(cards[0].refused) : NULL;
    if (!why)
        why = open_control(team, meeting, cards, fd, bytes, progress_start(team) == 0, &memory);
    if (memory) {
        team_attach(team, memory, slot, space);
        team_shares(team);
        /* For all ranks: one of them may die before it has signed, and be waited for. */
        for (int r = 0; r < team->p; r++) ledger_sign(team, r, cards[r].process);
        count_processors(team, cards);
        if (team->me == 0) atomic_store(&team->control->birth, birth_number(team));
        birth_divide(team, cards);
        sync_suit(team);
        sync_measure(team, usual_seconds(team));
        team->birth = atomic_load(&team->control->birth);
        usual_p = (uint32_t)team->p;
        usual_nanoseconds = (uint32_t)(team->figures.sync_seconds * 1e9);
    }
    if (fd >= 0) close(fd);
    return why;
}

/* Fills homes[p], and says whether all ranks share one node. Returns NULL, or why the team must
 * stay native; the same on all ranks. */
static const char *birth_places(struct team *team, MPI_Comm comm, struct home *homes,
                                bool *one_node) {
    struct home mine = {.node = machine_node()};
    int ranks = 1;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &mine.world);
    mine.pretended = places_pretended(ranks, mine.world);
    if (mine.pretended == -EINVAL) {
        static _Atomic bool told;
        if (mine.world == 0 && !atomic_exchange(&told, true))
            warn(
                "MORTAR_NODES=%s: expected 3 (nodes), 5,3,1 (ranks on each node) or cyclic:3; all calls go to the MPI library",
                option_text(OPTION_NODES));
        return "MORTAR_NODES is not a number of nodes, nor like 5,3,1 or cyclic:3";
    }
    bool heard = meet_gather(&(struct meeting){.comm = comm}, &mine, homes, sizeof mine) == 0;
    if (!all_agree(comm, heard)) return "the MPI library reports an error";
    for (int r = 0; r < team->p; r++) {
        if (!homes[r].node) return "a rank cannot tell on which node it is (no boot_id in /proc)";
        team->world[r] = homes[r].world;
    }
    *one_node = places_one(homes, team->p);
    return NULL;
}

/* ---- strangers: processes outside this one's MPI_COMM_WORLD, which come by MPI_Comm_spawn or
 * MPI_Comm_connect. They may run without mortar. Each side sees the other as strangers, so all
 * ranks get the same answer without communication ---- */

static _Atomic bool strangers_possible;

void strangers_may_come(void) { atomic_store(&strangers_possible, true); }

bool has_strangers(MPI_Comm comm) {
    enum { some = 256 };
    int ranks[some], theirs[some], p = 0;
    bool found = false;
    MPI_Group group, world;
    /* Open MPI searches the world from its start for each rank: 0.1 to 0.3 s with 16384 ranks in
     * both groups. */
    if (!atomic_load(&strangers_possible)) return false;
    PMPI_Comm_size(comm, &p);
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int first = 0; first < p && !found; first += some) {
        int count = p - first < some ? p - first : some;
        for (int i = 0; i < count; i++) ranks[i] = first + i;
        PMPI_Group_translate_ranks(group, count, ranks, world, theirs);
        for (int i = 0; i < count; i++) found = found || theirs[i] == MPI_UNDEFINED;
    }
    PMPI_Group_free(&world);
    PMPI_Group_free(&group);
    return found;
}

/* Its group has the processes only. */
bool has_threads(MPI_Comm comm) {
    int p = 0, members = 0;
    MPI_Group group;
    if (!host.threadcomm_init) return false;
    PMPI_Comm_size(comm, &p);
    PMPI_Comm_group(comm, &group);
    PMPI_Group_size(group, &members);
    PMPI_Group_free(&group);
    return members < p;
}

void team_build(struct team *team, MPI_Comm comm, struct card *cards, bool one_node) {
    double start = clock_seconds();
    struct meeting all = {.comm = comm};
    const char *why = NULL;
    _Static_assert(sizeof(struct home) <= sizeof *cards, "room for one of them for each rank");
    team->by_arrival = option_choice(OPTION_REDUCE, "ordered|arrival") == 1;
    if (!one_node) why = birth_places(team, comm, (struct home *)cards, &one_node);
    if (!why) why = one_node ? birth_meet(team, &all, cards, 0) : birth_over(team, comm, cards);
    team->why_native = why;
    free(cards);
    team->setup_seconds = clock_seconds() - start;
}
