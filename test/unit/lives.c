/* SPDX-License-Identifier: BSD-3-Clause */
/* lives - what mortar has of a communicator is that communicator's (src/reach/team.c), although
 * handles are used again, calls that make and free communicators are seen or not, attributes are
 * deleted late, freeing fails, callbacks use what is being freed, and other threads make
 * communicators meanwhile. All that ends says farewell once, and no memory is left.
 * The MPI library is played here, and so is when a communicator gets its team.
 * lives [SEED [STEPS]] */
#include "reach/host.h"

#include "reach/birth.h"
#include "reach/reach.h"
#include "reach/wire.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { handles = 6, most_made = 1 << 20, key = 77 };
static uint64_t chance;
struct host host;

/* ---- the MPI library: handles, and the attribute of each ---- */

static struct one {
    uint64_t number; /* of the communicator, from 1; 0: the handle is free */
    void *attribute;
    bool seen;      /* it was made by a call that was seen */
    bool bare;      /* it got no attribute when it should have */
    bool stale;     /* the one before had no attribute, and was freed by a call that was not seen */
    bool under_way; /* freed, but messages are under way: its attribute is deleted later */
} all[handles];
static uint64_t made;
static char met[most_made], said[most_made];
static uint64_t turn[most_made]; /* when mortar first saw it */
static uint64_t turns;
static long met_count, begun, kept_count, late, busy, refused;
static MPI_Comm_delete_attr_function *deleted;

static MPI_Comm handle_of(int i) { return (MPI_Comm)(0x44000010 + i); }
static struct one *one_of(MPI_Comm comm) { return &all[comm - handle_of(0)]; }

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *end,
                            int *number, void *state) {
    (void)copy, (void)state;
    deleted = end;
    *number = key;
    return MPI_SUCCESS;
}
int PMPI_Comm_free_keyval(int *number) {
    *number = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}
int PMPI_Comm_set_attr(MPI_Comm comm, int number, void *value) {
    expect(number == key && one_of(comm)->number && !one_of(comm)->attribute, "an attribute twice");
    if (draw_below(&chance, 20) == 0) {
        one_of(comm)->bare = true;
        return MPI_ERR_OTHER;
    }
    one_of(comm)->attribute = value;
    return MPI_SUCCESS;
}

static void delete_attribute(MPI_Comm comm) {
    void *value = one_of(comm)->attribute;
    one_of(comm)->attribute = NULL;
    if (value) deleted(comm, key, value, NULL);
}

static void free_handle(MPI_Comm comm) {
    delete_attribute(comm);
    *one_of(comm) = (struct one){.stale = one_of(comm)->stale};
}

/* The handler of each: none of the program's. */
int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *handler) {
    expect(one_of(comm)->number, "the handler of what is free");
    return *handler = host.errors_return, MPI_SUCCESS;
}
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
    return (void)comm, (void)handler, MPI_ERR_OTHER;
}
int PMPI_Errhandler_free(MPI_Errhandler *handler) { return (void)handler, MPI_ERR_OTHER; }
int PMPI_Comm_call_errhandler(MPI_Comm comm, int error) {
    return (void)comm, (void)error, MPI_ERR_OTHER;
}

void progress_stop(struct team *team) { (void)team; }

/* ---- start.c, spare.c and others: a communicator's number is in what mortar has of it ---- */

static struct team *team_with(uint64_t number) {
    struct team *team = calloc(1, sizeof *team);
    expect(team, "memory");
    team->birth = number;
    return team;
}
const char *start_meet(MPI_Comm comm, struct young *young) {
    uint64_t number = one_of(comm)->number;
    *young = (struct young){.p = 1 + (int)draw_below(&chance, 4), .group = number};
    if (!turn[number]) turn[number] = ++turns;
    expect(!met[number], "communicator %lu is met twice", (unsigned long)number);
    met[number] = 1;
    met_count++;
    return draw_below(&chance, 6) ? NULL : "never a team";
}
struct team *start_native(const struct young *young, const char *why) {
    struct team *team = draw_below(&chance, 20) ? team_with(young->group) : NULL;
    if (team) team->why_native = why;
    return team;
}
struct team *start_look(struct young *young, MPI_Comm comm, bool at_once) {
    expect(young->group == one_of(comm)->number, "a look at another communicator");
    if (!at_once && draw_below(&chance, 2)) return NULL;
    begun++;
    return team_with(young->group);
}
bool start_due(const struct young *young) { return young->weight > 2; }
bool start_at_once(void) { return false; }
bool has_threads(MPI_Comm comm) { return (void)comm, false; }
void team_release(struct team *team) { (void)team; }
void team_forget_comm(struct team *team) { (void)team; }
void control_unmap(void *memory, size_t bytes) { (void)memory, (void)bytes; }
void wire_close(struct team *team) { (void)team; }
void spare_owes(uint64_t group, uint64_t ticks) { (void)group, (void)ticks; }
bool spare_keep(struct team *team) {
    if (team->why_native || draw_below(&chance, 2)) return false;
    kept_count++;
    free(team);
    return true;
}
struct team *spare_drop(bool all_of_them) {
    return (void)all_of_them, NULL;
}

static uint64_t number_in(struct met what) {
    return what.team ? what.team->birth : what.young ? what.young->group : 0;
}

static bool finishing;
static void farewell(struct met what) {
    static uint64_t last = UINT64_MAX;
    uint64_t number = number_in(what);
    if (number == 0) return;
    if (finishing) { /* on all ranks alike */
        expect(turn[number] < last, "communicator %lu ends too late", (unsigned long)number);
        last = turn[number];
    }
    expect(!said[number], "communicator %lu says farewell twice", (unsigned long)number);
    said[number] = 1;
}

/* ---- what a program does ---- */

static void make(MPI_Comm comm, bool seen) {
    struct one *one = one_of(comm);
    *one = (struct one){.number = ++made, .seen = seen || one->stale};
    if (!one->seen) return;
    turn[made] = ++turns;
    expect(comm_made(MPI_SUCCESS, &comm) == MPI_SUCCESS, "what it was told");
}

/* A collective, that all the later ones count on. */
static void call(MPI_Comm comm) {
    uint64_t number = one_of(comm)->number;
    struct met known = comm_known(comm);
    expect(number_in(known) == 0 || number_in(known) == number, "communicator %lu is taken for %lu",
           (unsigned long)number, (unsigned long)number_in(known));
    if (!known.team && !known.young) known = comm_met(comm);
    expect(number_in(known) == 0 || number_in(known) == number, "communicator %lu meets %lu",
           (unsigned long)number, (unsigned long)number_in(known));
    const struct one *one = one_of(comm);
    expect(one->seen || one->attribute || one->bare, "nothing watches what was not seen made");
    if (known.young) {
        struct team *team = young_counts(known.young, comm, 1);
        expect(!team || team->birth == number, "another one's team");
    }
    if (draw_below(&chance, 10) == 0) {
        struct team *team = team_of(comm);
        expect(!team || team->birth == number, "another one's team, at once");
        if (team && !team->why_native)
            expect(one->attribute || one->bare, "a team that nothing watches");
    }
}

static void end_seen(MPI_Comm comm);

/* Callbacks of one may free the next, and so on. */
static MPI_Comm dying[handles];
static int depth;

static bool is_whole(MPI_Comm comm) {
    for (int i = 0; i < depth; i++)
        if (dying[i] == comm) return false;
    return one_of(comm)->number && !one_of(comm)->under_way;
}

static void callbacks(MPI_Comm comm) {
    dying[depth++] = comm;
    for (int i = 0; i < depth; i++) {
        struct met known = comm_known(dying[i]);
        expect(!known.team && !known.young, "a callback's call on what is being freed is mortar's");
        known = comm_met(dying[i]);
        expect(!known.team && !known.young, "and is met");
    }
    MPI_Comm other = handle_of((int)draw_below(&chance, handles));
    if (is_whole(other) && draw_below(&chance, 2)) end_seen(other);
    depth--;
}

/* MPI_Comm_free, with what may happen in it. */
static int end(MPI_Comm *comm) {
    struct one *one = one_of(*comm);
    callbacks(*comm);
    if (draw_below(&chance, 16) == 0) {
        refused++;
        return MPI_ERR_OTHER;
    }
    one->stale = false;
    if (draw_below(&chance, 4) == 0) {
        one->under_way = true;
        late++;
    } else {
        free_handle(*comm);
        /* Another thread makes one, before this one returns. */
        if (draw_below(&chance, 4) == 0) {
            make(*comm, true);
            busy++;
        }
    }
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

static void end_seen(MPI_Comm comm) {
    MPI_Comm gone = comm;
    team_buries(&gone, end);
}

/* By a function that the program has looked up in the MPI library itself. */
static void end_unseen(MPI_Comm comm) {
    struct one *one = one_of(comm);
    one->stale = !one->attribute && (one->seen || met[one->number]);
    free_handle(comm);
}

static void step(void) {
    MPI_Comm comm = handle_of((int)draw_below(&chance, handles));
    struct one *one = one_of(comm);
    uint32_t what = draw_below(&chance, 8);
    if (one->under_way) {
        if (what == 0) free_handle(comm);
    } else if (!one->number) make(comm, draw_below(&chance, 2));
    else if (what == 0) end_seen(comm);
    else if (what == 1) end_unseen(comm);
    else call(comm);
}

static long living;
static void visit(struct met what) {
    uint64_t number = number_in(what);
    living++;
    expect(number && met[number] && !said[number], "a visit to %lu", (unsigned long)number);
}

int main(int count, char **words) {
    chance = seed_from(count, words);
    int steps = count > 2 ? atoi(words[2]) : 200000;
    expect(steps < most_made, "fewer steps");
    team_farewell = farewell;
    teams_start();
    for (int k = 0; k < steps; k++) step();
    teams_visit(visit);
    finishing = true;
    teams_finish();
    for (int i = 0; i < handles; i++) free_handle(handle_of(i));
    long farewells = 0;
    for (uint64_t number = 1; number <= made; number++) farewells += said[number];
    printf("%lu communicators, %ld met, %ld farewells, %ld teams, %ld kept, %ld living at the end, "
           "%ld freed late, %ld while another thread made one, %ld not freed\n",
           (unsigned long)made, met_count, farewells, begun, kept_count, living, late, busy,
           refused);
    expect(begun && kept_count && late && busy && refused, "too few kinds of ends");
    expect(farewells > met_count / 2, "too few farewells");
    return 0;
}
