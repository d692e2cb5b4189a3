/* SPDX-License-Identifier: BSD-3-Clause */
/* fresh SEED - calls with types that the program makes for them. Each rank draws its own types, of
 * all constructors and also MPI_INT, frees some behind the call and uses others again and again;
 * lengths lie around those up to which mortar packs. What a buffer has to hold is made by the
 * library's own MPI_Unpack, gaps included. Prints how many of a loop's calls were examined. */
#include "repeat.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { calls = 1500, looped = 500, most_ranks = 8, unit = 12, most_ints = 1200, room = 1 << 17 };

static int p, me, errors;
static unsigned long all_draw, own_draw; /* the same on all ranks; this rank's */

/* ---- a block of `ints` ints, as this rank has it ---- */

struct form {
    MPI_Datatype type;
    int count; /* elements in a block */
};

enum { kept_forms = 6 };
static struct kept {
    MPI_Datatype type;
    int ints;
} kept[kept_forms];

/* A type of `ints` ints, in places of its own, that lie below `span` ints. */
static MPI_Datatype make(int ints, int span) {
    MPI_Datatype type, inner;
    int lengths[2] = {ints / 2, ints - ints / 2}, places[2] = {ints / 2 + 1, 0};
    MPI_Aint bytes[2] = {0, (span - lengths[1]) * (MPI_Aint)sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    switch (roll(&own_draw, 7)) {
    case 0: MPI_Type_contiguous(ints, MPI_INT, &type); break;
    case 1: MPI_Type_vector(ints, 1, 2, MPI_INT, &type); break;
    case 2: MPI_Type_indexed(2, lengths, places, MPI_INT, &type); break;
    case 3: MPI_Type_create_struct(2, lengths, bytes, types, &type); break;
    case 4:
        MPI_Type_contiguous(1, MPI_INT, &inner);
        MPI_Type_create_hvector(ints, 1, 8, inner, &type);
        MPI_Type_free(&inner);
        break;
    case 5:
        MPI_Type_vector(ints, 1, 2, MPI_INT, &inner);
        MPI_Type_create_resized(inner, 0, span * (MPI_Aint)sizeof(int), &type);
        MPI_Type_free(&inner);
        break;
    default:
        MPI_Type_vector(ints, 1, 2, MPI_INT, &inner);
        MPI_Type_dup(inner, &type);
        MPI_Type_free(&inner);
    }
    MPI_Type_commit(&type);
    return type;
}

/* One of this rank's types for blocks of `ints` ints. */
static struct form draw_form(int ints) {
    int in_element = unit >> roll(&own_draw, 3), k = roll(&own_draw, 2 * kept_forms);
    if (in_element == unit >> 2 && ints > 0 && roll(&own_draw, 4) == 0) in_element = ints;
    if (ints == 0) in_element = unit;
    if (roll(&own_draw, 6) == 0) return (struct form){MPI_INT, ints};
    if (k < kept_forms) return (struct form){kept[k].type, ints / kept[k].ints};
    return (struct form){make(in_element, 2 * in_element), ints / in_element};
}

/* Some of the types that this rank uses again and again end, and others begin, under any handle. */
static void renew_kept(void) {
    for (int k = 0; k < kept_forms; k++) {
        if (kept[k].ints > 0 && roll(&own_draw, 40) > 0) continue;
        if (kept[k].ints > 0) MPI_Type_free(&kept[k].type);
        kept[k].ints = unit >> k % 3;
        kept[k].type = make(kept[k].ints, 2 * kept[k].ints);
    }
}

static void free_form(struct form *form) {
    bool given = form->type == MPI_INT;
    for (int k = 0; k < kept_forms; k++) given = given || kept[k].type == form->type;
    if (!given) MPI_Type_free(&form->type);
}

/* ---- buffers ---- */

static char memory[2][room], should[room];
static int values[most_ranks * most_ints];

static int value(int call, int from, int to, int i) {
    return call * 7919 + from * 104729 + to * 1299709 + i;
}

/* Unpacks `blocks` blocks over what `to` holds. */
static void put(char *to, const struct form *form, int blocks, int ints) {
    int position = 0, bytes = blocks * ints * (int)sizeof(int);
    if (bytes > 0)
        MPI_Unpack(values, bytes, &position, to, blocks * form->count, form->type, MPI_COMM_SELF);
}

static void check(const char *what, int call, const char *is) {
    if (memcmp(is, should, room) == 0) return;
    int at = 0;
    while (is[at] == should[at]) at++;
    if (errors++ < 5) printf("rank %d, call %d, %s: byte %d is wrong\n", me, call, what, at);
}

/* ---- the calls ---- */

static const char *const names[] = {"bcast", "gather", "scatter", "allgather", "alltoall"};

/* From whom, and for whom, is block b that a call brings here? */
static int from_of(int kind, int root, int b) { return kind == 0 || kind == 2 ? root : b; }
static int to_of(int kind) { return kind == 2 || kind == 4 ? me : 0; }

static void call_one(int call, int kind, int root, int ints, bool in_place, MPI_Comm comm) {
    struct form send = draw_form(ints), recv = draw_form(ints);
    bool is_root = me == root;
    int sends = kind == 4 || (kind == 2 && is_root)    ? p
                : kind == 2 || (kind == 0 && !is_root) ? 0
                                                       : 1;
    int recvs = kind >= 3 || (kind == 1 && is_root)   ? p
                : kind == 1 || (kind == 0 && is_root) ? 0
                                                      : 1;
    for (int half = 0; half < 2; half++) memset(memory[half], 17 + half, room);
    memcpy(should, memory[1], room);
    for (int b = 0; b < sends; b++)
        for (int i = 0; i < ints; i++)
            values[b * ints + i] = value(call, me, kind == 2 || kind == 4 ? b : 0, i);
    put(memory[0], &send, sends, ints);
    for (int b = 0; b < recvs; b++)
        for (int i = 0; i < ints; i++)
            values[b * ints + i] = value(call, from_of(kind, root, b), to_of(kind), i);
    put(should, &recv, recvs, ints);
    if (in_place) { /* the blocks to be sent lie where those will be that come */
        for (int b = 0; b < p; b++)
            for (int i = 0; i < ints; i++)
                values[b * ints + i] = kind == 4 ? value(call, me, b, i)
                                       : b == me ? value(call, me, 0, i)
                                                 : -1;
        put(memory[1], &recv, kind >= 3 || (kind == 1 && is_root) ? p : 0, ints);
    }
    const void *sent = in_place && (kind >= 3 || (kind == 1 && is_root)) ? MPI_IN_PLACE : memory[0];
    if (kind == 0)
        MPI_Bcast(memory[!is_root], is_root ? send.count : recv.count,
                  is_root ? send.type : recv.type, root, comm);
    if (kind == 1)
        MPI_Gather(sent, send.count, send.type, memory[1], recv.count, recv.type, root, comm);
    if (kind == 2)
        MPI_Scatter(memory[0], send.count, send.type,
                    in_place && is_root ? MPI_IN_PLACE : memory[1], recv.count, recv.type, root,
                    comm);
    if (kind == 3)
        MPI_Allgather(sent, send.count, send.type, memory[1], recv.count, recv.type, comm);
    if (kind == 4)
        MPI_Alltoall(sent, send.count, send.type, memory[1], recv.count, recv.type, comm);
    if (kind == 2 && in_place && is_root) memcpy(should, memory[1], room); /* nothing comes */
    check(names[kind], call, memory[1]);
    free_form(&send);
    free_form(&recv);
}

/* A message to the next rank is on its way while the call runs. */
static void call_beside(int call, int kind, int root, int ints, bool in_place, MPI_Comm comm) {
    static int out[most_ints], in[most_ints];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    for (int i = 0; i < most_ints; i++) out[i] = call + me + i, in[i] = -1;
    MPI_Irecv(in, most_ints, MPI_INT, (me + p - 1) % p, 1, comm, &requests[0]);
    MPI_Isend(out, most_ints, MPI_INT, (me + 1) % p, 1, comm, &requests[1]);
    call_one(call, kind, root, ints, in_place, comm);
    MPI_Waitall(2, requests, statuses);
    for (int i = 0; i < most_ints; i++) errors += in[i] != call + (me + p - 1) % p + i;
}

/* ---- loops ---- */

static int (*examined)(uint64_t *);

/* The most calls that a rank had examined. */
static int loop(bool fresh, MPI_Comm comm) {
    uint64_t before = 0, after = 0;
    static int numbers[64];
    MPI_Datatype type = MPI_INT;
    if (examined) examined(&before);
    for (int call = 0; call < looped; call++) {
        if (fresh || call == 0) {
            MPI_Type_vector(4, 2, 5, MPI_INT, &type);
            MPI_Type_commit(&type);
        }
        for (int i = 0; i < 64; i++) numbers[i] = me == 0 ? call + i : -1;
        MPI_Bcast(numbers, 2, type, 0, comm);
        for (int i = 0; i < 34; i++) {
            bool data =
                i % 17 % 5 < 2; /* an element ends with its data: the next follows at once */
            errors += numbers[i] != (me == 0 || data ? call + i : -1);
        }
        if (fresh || call == looped - 1) MPI_Type_free(&type);
    }
    if (examined) examined(&after);
    int mine = (int)(after - before), most = 0;
    PMPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, comm);
    return most;
}

/* A bcast from and to addresses. */
static void from_bottom(MPI_Comm comm) {
    for (int call = 0; call < 30; call++) {
        int number[3] = {me == 0 ? call : -1, -2, me == 0 ? call + 1 : -1}, lengths[2] = {1, 1};
        MPI_Aint at[2];
        MPI_Datatype type;
        MPI_Get_address(&number[0], &at[0]);
        MPI_Get_address(&number[2], &at[1]);
        MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Bcast(MPI_BOTTOM, 1, type, 0, comm);
        MPI_Type_free(&type);
        errors += number[0] != call || number[1] != -2 || number[2] != call + 1;
    }
}

int main(int count, char **words) {
    MPI_Comm comm;
    MPI_Init(&count, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    all_draw = strtoul(count > 1 ? words[1] : "1", NULL, 10);
    own_draw = all_draw * 1000 + (unsigned long)me;
    uint64_t none;
    examined = (int (*)(uint64_t *))dlsym(RTLD_DEFAULT, "mortar_examined");
    if ((examined && examined(&none) != 0) || p > most_ranks) return 2;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call < calls; call++) {
        static const int steps[] = {1, 2, 4, 10, 20, 42, 43, 44, 86, 100};
        int kind = roll(&all_draw, 5), root = roll(&all_draw, p);
        int ints = unit * (roll(&all_draw, 20) ? steps[roll(&all_draw, 10)] : 0);
        renew_kept();
        bool in_place = roll(&all_draw, 4) == 0;
        (call % 3 ? call_one : call_beside)(call, kind, root, ints, in_place, comm);
    }
    for (int k = 0; k < kept_forms; k++) MPI_Type_free(&kept[k].type);
    from_bottom(comm);
    int made = loop(true, comm), again = loop(false, comm), count_of[] = {calls};
    if (me == 0) printf("examined of %d: %d with new types, %d with one\n", looped, made, again);
    MPI_Comm_free(&comm);
    return repeat_end(NULL, errors, count_of, 1);
}
