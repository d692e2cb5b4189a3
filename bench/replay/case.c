/* SPDX-License-Identifier: BSD-3-Clause */
/* case - reads a case, whose form src/mpi/cases.c describes. */
#include "replay.h"

#include "base/base.h"
#include "include/mortar.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static MPI_Op op_named(const char *name) {
    const struct {
        const char *name;
        MPI_Op op;
    } ops[] = {{"MPI_SUM", MPI_SUM},   {"MPI_PROD", MPI_PROD},     {"MPI_MAX", MPI_MAX},
               {"MPI_MIN", MPI_MIN},   {"MPI_LAND", MPI_LAND},     {"MPI_LOR", MPI_LOR},
               {"MPI_LXOR", MPI_LXOR}, {"MPI_BAND", MPI_BAND},     {"MPI_BOR", MPI_BOR},
               {"MPI_BXOR", MPI_BXOR}, {"MPI_MINLOC", MPI_MINLOC}, {"MPI_MAXLOC", MPI_MAXLOC}};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(ops[i].name, name) == 0) return ops[i].op;
    return MPI_OP_NULL;
}

/* A predefined type by its name; MPI_DATATYPE_NULL: not known here. */
static MPI_Datatype type_named(const char *name) {
    MPI_Datatype some[] = {MPI_BYTE,
                           MPI_CHAR,
                           MPI_SIGNED_CHAR,
                           MPI_UNSIGNED_CHAR,
                           MPI_SHORT,
                           MPI_UNSIGNED_SHORT,
                           MPI_INT,
                           MPI_UNSIGNED,
                           MPI_LONG,
                           MPI_UNSIGNED_LONG,
                           MPI_LONG_LONG_INT,
                           MPI_UNSIGNED_LONG_LONG,
                           MPI_FLOAT,
                           MPI_DOUBLE,
                           MPI_LONG_DOUBLE,
                           MPI_INT8_T,
                           MPI_INT16_T,
                           MPI_INT32_T,
                           MPI_INT64_T,
                           MPI_UINT8_T,
                           MPI_UINT16_T,
                           MPI_UINT32_T,
                           MPI_UINT64_T,
                           MPI_C_BOOL,
                           MPI_C_FLOAT_COMPLEX,
                           MPI_C_DOUBLE_COMPLEX,
                           MPI_C_LONG_DOUBLE_COMPLEX,
                           MPI_2INT,
                           MPI_FLOAT_INT,
                           MPI_DOUBLE_INT,
                           MPI_LONG_INT,
                           MPI_SHORT_INT,
                           MPI_LONG_DOUBLE_INT,
                           MPI_WCHAR,
                           MPI_AINT,
                           MPI_OFFSET,
                           MPI_COUNT,
                           MPI_PACKED,
                           MPI_INTEGER,
                           MPI_REAL,
                           MPI_DOUBLE_PRECISION,
                           MPI_COMPLEX,
                           MPI_DOUBLE_COMPLEX,
                           MPI_LOGICAL,
                           MPI_CHARACTER};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        char its[MPI_MAX_OBJECT_NAME] = "";
        int length = 0;
        if (some[i] == MPI_DATATYPE_NULL) continue; /* a library without Fortran */
        MPI_Type_get_name(some[i], its, &length);
        if (strcmp(its, name) == 0) return some[i];
    }
    return MPI_DATATYPE_NULL;
}

/* ---- the text ---- */

/* Where reading has come to; at NULL: something was not as it must be. */
struct reader {
    char *at, *end;
};

static long long next_number(struct reader *in) {
    char *end;
    if (!in->at) return 0;
    long long number = strtoll(in->at, &end, 10);
    if (end == in->at) in->at = NULL;
    else in->at = end;
    return number;
}

/* Does the text go on with these words? Then they are read. */
static int goes_on(struct reader *in, const char *words) {
    size_t length = strlen(words);
    if (!in->at || (size_t)(in->end - in->at) < length || strncmp(in->at, words, length) != 0)
        return 0;
    in->at += length;
    return 1;
}

static void expect(struct reader *in, const char *words) {
    if (!goes_on(in, words)) in->at = NULL;
}

/* The rest of the line. */
static void next_words(struct reader *in, char *words, size_t size) {
    char *end = in->at ? memchr(in->at, '\n', (size_t)(in->end - in->at)) : NULL;
    *words = 0;
    if (!end || (size_t)(end - in->at) >= size) {
        in->at = NULL;
        return;
    }
    memcpy(words, in->at, (size_t)(end - in->at));
    words[end - in->at] = 0;
    in->at = end + 1;
}

static MPI_Datatype runs_type(struct reader *in) {
    MPI_Aint extent = (MPI_Aint)next_number(in);
    long long runs = next_number(in);
    MPI_Datatype inner, type = MPI_DATATYPE_NULL;
    if (!in->at || runs < 0 || runs > INT_MAX) return type;
    int *lengths = calloc((size_t)runs + 1, sizeof *lengths);
    MPI_Aint *places = calloc((size_t)runs + 1, sizeof *places);
    for (long long i = 0; lengths && places && i < runs; i++) {
        places[i] = (MPI_Aint)next_number(in);
        lengths[i] = (int)next_number(in);
    }
    expect(in, "\n");
    if (lengths && places && in->at) {
        MPI_Type_create_hindexed((int)runs, lengths, places, MPI_BYTE, &inner);
        MPI_Type_create_resized(inner, 0, extent, &type);
        MPI_Type_commit(&type);
        MPI_Type_free(&inner);
    }
    free(lengths);
    free(places);
    return type;
}

static MPI_Datatype next_type(struct reader *in) {
    char name[MPI_MAX_OBJECT_NAME];
    expect(in, " type ");
    if (in->at && strncmp(in->at, "MPI", 3) != 0) return runs_type(in);
    next_words(in, name, sizeof name);
    MPI_Datatype type = type_named(name);
    if (type == MPI_DATATYPE_NULL) in->at = NULL;
    return type;
}

static void read_blocks(struct reader *in, struct replay_side *side) {
    expect(in, "blocks");
    long long count = next_number(in);
    side->blocks = in->at && count >= 0 ? calloc((size_t)count + 1, sizeof *side->blocks) : NULL;
    if (!side->blocks) {
        in->at = NULL;
        return;
    }
    for (side->count_of_blocks = 0; in->at && side->count_of_blocks < count;) {
        struct replay_block *block = &side->blocks[side->count_of_blocks++];
        block->place = (MPI_Aint)next_number(in);
        block->count = (int)next_number(in);
        block->word = (int)next_number(in);
        if (block->word < 0 || block->word >= side->words) in->at = NULL;
    }
    expect(in, "\n");
}

static void read_side(struct reader *in, struct replay_side *side) {
    *side = (struct replay_side){.type = MPI_DATATYPE_NULL};
    if (goes_on(in, "in place\n")) {
        side->buffer = MPI_IN_PLACE;
        return;
    }
    if (goes_on(in, "none\n")) return;
    long long low = next_number(in), high = next_number(in), words = next_number(in);
    expect(in, "\n");
    if (!in->at || words < 0 || words > INT_MAX || high < low) {
        in->at = NULL;
        return;
    }
    size_t room = (size_t)words + 1;
    side->words = (int)words;
    side->room = (size_t)(high - low);
    side->memory = calloc(side->room + 1, 1);
    side->counts = calloc(room, sizeof *side->counts);
    side->displs = calloc(room, sizeof *side->displs);
    side->far_displs = calloc(room, sizeof *side->far_displs);
    side->types = calloc(room, sizeof(MPI_Datatype));
    if (!side->memory || !side->counts || !side->displs || !side->far_displs || !side->types) {
        in->at = NULL;
        return;
    }
    side->buffer = side->memory - low;
    for (int i = 0; i < side->words && in->at; i++) {
        long long count = next_number(in), displ = next_number(in);
        if (count < 0 || count > INT_MAX) in->at = NULL; /* a call with large counts */
        side->counts[i] = (int)count;
        side->displs[i] = (int)displ;
        side->far_displs[i] = (MPI_Aint)displ;
        side->types[i] = next_type(in);
    }
    if (side->words > 0) side->count = side->counts[0], side->type = side->types[0];
    read_blocks(in, side);
}

/* ---- the communicator ---- */

/* `count` numbers, to be freed; never NULL unless reading has failed. */
static int *next_list(struct reader *in, int count) {
    int *list = in->at && count >= 0 ? calloc((size_t)count + 2, sizeof *list) : NULL;
    if (!list) in->at = NULL;
    for (int i = 0; list && i < count; i++) list[i] = (int)next_number(in);
    return list;
}

static void read_cart(struct reader *in, MPI_Comm *comm) {
    int count = (int)next_number(in), *pairs = next_list(in, 2 * count);
    int *extents = calloc(2 * (size_t)(count > 0 ? count : 1), sizeof *extents);
    if (in->at && extents) {
        int *periods = extents + count;
        for (int i = 0; i < count; i++) extents[i] = pairs[2 * i], periods[i] = pairs[2 * i + 1];
        MPI_Cart_create(MPI_COMM_WORLD, count, extents, periods, 0, comm);
    }
    free(pairs);
    free(extents);
}

static void read_graph(struct reader *in, MPI_Comm *comm) {
    int ins = (int)next_number(in), outs = (int)next_number(in);
    int *from = next_list(in, ins), *to = next_list(in, outs);
    if (in->at) /* Weights: compilers take MPI_UNWEIGHTED for a mistake. */
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, from, from, outs, to, to, MPI_INFO_NULL,
                                       0, comm);
    free(from);
    free(to);
}

static void read_topology(struct reader *in, MPI_Comm *comm) {
    *comm = MPI_COMM_WORLD;
    expect(in, "topology ");
    if (goes_on(in, "cart")) read_cart(in, comm);
    else if (goes_on(in, "graph")) read_graph(in, comm);
    else expect(in, "none");
    expect(in, "\n");
}

/* ---- the case ---- */

static void read_head(struct reader *in, struct replay_case *c) {
    char words[512];
    while (in->at && !(in->end - in->at > 5 && strncmp(in->at, "rank ", 5) == 0)) {
        if (goes_on(in, "collective ")) next_words(in, c->collective, sizeof c->collective);
        else if (goes_on(in, "operation ")) next_words(in, c->operation, sizeof c->operation);
        else if (goes_on(in, "plan ")) next_words(in, c->plan, sizeof c->plan);
        else if (goes_on(in, "ranks ")) c->ranks = (int)next_number(in), expect(in, "\n");
        else if (goes_on(in, "root ")) c->root = (int)next_number(in), expect(in, "\n");
        else next_words(in, words, sizeof words);
    }
}

/* Skips or reads the part of a rank. Making types and communicators is for its own. */
static int is_part_of(struct reader *in, int rank) {
    expect(in, "rank ");
    long long number = next_number(in);
    expect(in, "\n");
    return in->at && number == rank;
}

/* Behind the part that begins here: its last line says how many bytes follow. */
static void skip_part(struct reader *in) {
    char *line = in->at;
    while (line && line < in->end && strncmp(line, "data ", 5) != 0) {
        line = memchr(line, '\n', (size_t)(in->end - line));
        if (line) line++;
    }
    in->at = line && line < in->end ? line + 5 : NULL;
    size_t bytes = (size_t)next_number(in);
    bytes += (size_t)next_number(in);
    expect(in, "\n");
    if (in->at && (size_t)(in->end - in->at) > bytes) in->at += bytes;
    else in->at = NULL;
    expect(in, "\n");
}

/* A receive side without blocks takes its arguments from the send side: the only buffer of a
 * broadcast's root, the count and the type of a reduction on ranks that get nothing. */
static void complete(struct replay_case *c) {
    static char nothing[1 << 12];
    struct replay_side own = c->recv;
    if (own.words > 0 || own.buffer == MPI_IN_PLACE) return;
    c->recv = c->send;
    if (strcmp(c->collective, "bcast") == 0) return;
    c->recv.buffer = nothing;
    c->recv.memory = NULL;
    c->recv.count_of_blocks = 0;
}

static void read_part(struct reader *in, struct replay_case *c) {
    read_topology(in, &c->comm);
    expect(in, "send ");
    read_side(in, &c->send);
    expect(in, "recv ");
    read_side(in, &c->recv);
    expect(in, "data ");
    c->send.data_bytes = (size_t)next_number(in);
    c->recv.data_bytes = (size_t)next_number(in);
    expect(in, "\n");
    if (!in->at || (size_t)(in->end - in->at) < c->send.data_bytes + c->recv.data_bytes) {
        in->at = NULL;
        return;
    }
    c->send.data = in->at;
    c->recv.data = in->at + c->send.data_bytes;
    complete(c);
}

/* Does the file end with the sum of all before it? *bytes: that. So nothing in it has changed since
 * it was saved, and its numbers are those of a call that was made. */
static int has_sum(const char *text, size_t *bytes) {
    char line[32];
    size_t length = strlen("sum 0123456789abcdef\n");
    if (*bytes < length) return 0;
    *bytes -= length;
    snprintf(line, sizeof line, "sum %016llx\n",
             (unsigned long long)hash_bytes(HASH_START, text, *bytes));
    return memcmp(text + *bytes, line, length) == 0;
}

const char *case_open(struct replay_case *c, char *text, size_t bytes) {
    int p, me, fine, all, whole = has_sum(text, &bytes);
    struct reader in = {text, text + bytes};
    *c = (struct replay_case){.comm = MPI_COMM_WORLD};
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    expect(&in, "mortar case 2\n");
    if (!in.at) return "no file that MORTAR_VERIFY of mortar " MORTAR_VERSION " has saved";
    if (!whole) return "it is damaged: since it was saved some of it has changed or is missing";
    read_head(&in, c);
    if (in.at && c->ranks != p) {
        static char why[64];
        snprintf(why, sizeof why, "the call was made by %d ranks, and here are %d", c->ranks, p);
        return why;
    }
    c->op = op_named(c->operation);
    if (in.at && strcmp(c->operation, "another") == 0)
        return "the call had an operation of the program's own";
    for (int r = 0; r < me && in.at; r++)
        if (is_part_of(&in, r)) skip_part(&in);
    if (is_part_of(&in, me)) read_part(&in, c);
    else in.at = NULL;
    fine = in.at != NULL;
    MPI_Allreduce(&fine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all ? NULL : "it has counts or types that cannot be replayed";
}

static void fill_side(const struct replay_side *side) {
    const char *data = side->data;
    if (side->memory) memset(side->memory, 0, side->room);
    for (int b = 0; b < side->count_of_blocks; b++) {
        const struct replay_block *block = &side->blocks[b];
        int size = 0, position = 0;
        MPI_Type_size(side->types[block->word], &size);
        MPI_Unpack(data, size * block->count, &position, (char *)side->buffer + block->place,
                   block->count, side->types[block->word], MPI_COMM_SELF);
        data += (size_t)size * (size_t)block->count;
    }
}

void case_fill(const struct replay_case *c) {
    fill_side(&c->send);
    fill_side(&c->recv);
}
