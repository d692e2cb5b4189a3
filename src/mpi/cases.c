/* SPDX-License-Identifier: BSD-3-Clause */
/* cases - writes a call of all ranks to a file that `mortar replay` runs again. Each rank describes
 * its arguments in lines of text, followed by its operands; rank 0 puts them one after the other.
 * bench/replay/case.c reads the file:
 *
 *   mortar case 2; then collective, ranks, root, operation, plan, MPI library, options
 *   and for each rank
 *     rank R
 *     topology none | graph INS OUTS and their ranks | cart DIMENSIONS and extent, period of each
 *     send | recv  none | in place | LOW HIGH WORDS: the bytes from the buffer's address that hold
 *                  data; then for each word of the arguments: count, displacement, type
 *     type NAME | type EXTENT RUNS and per run: offset, bytes
 *     blocks COUNT and per block: place in bytes, elements, number of the word with its type
 *     data BYTES BYTES, and so many bytes: what is sent, and what the receive side held before
 *   sum HASH: of all bytes before this line */
#define _GNU_SOURCE
#include "mpi/verify.h"

#include "include/mortar.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More is not saved: bytes of operands on a rank, of all ranks; runs of a type. */
static const size_t most_data = 16 << 20, most_file = 256 << 20;
static const uint64_t most_runs = 1 << 20;

/* ---- one rank ---- */

static void put_topology(FILE *out, const struct request *r) {
    int kind = MPI_UNDEFINED, ins = 0, outs = 0, count = 0;
    if (among(r->collective, NEIGHBORS)) PMPI_Topo_test(r->comm, &kind);
    if (kind == MPI_CART) PMPI_Cartdim_get(r->comm, &count);
    if (kind == MPI_UNDEFINED || !degrees(r->comm, &ins, &outs)) {
        fputs("topology none\n", out);
        return;
    }
    int most = ins + outs + 3 * count + 1, *list = calloc((size_t)most * 2, sizeof *list);
    if (!list) return;
    if (kind == MPI_CART) {
        PMPI_Cart_get(r->comm, count, list, list + count, list + 2 * count);
        fprintf(out, "topology cart %d", count);
        for (int i = 0; i < count; i++) fprintf(out, " %d %d", list[i], list[count + i]);
    } else {
        int me, *weights = list + most;
        PMPI_Comm_rank(r->comm, &me);
        if (kind == MPI_GRAPH) {
            PMPI_Graph_neighbors(r->comm, me, ins, list);
            memcpy(list + ins, list, (size_t)outs * sizeof *list);
        } else {
            PMPI_Dist_graph_neighbors(r->comm, ins, list, weights, outs, list + ins, weights + ins);
        }
        fprintf(out, "topology graph %d %d", ins, outs);
        for (int i = 0; i < ins + outs; i++) fprintf(out, " %d", list[i]);
    }
    fputc('\n', out);
    free(list);
}

/* A predefined type by its name, another one as the runs of its data. False: it has no layout, or
 * too many runs. */
static bool put_type(FILE *out, MPI_Datatype type) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    if (type_is_predefined(type)) {
        PMPI_Type_get_name(type, name, &length);
        fprintf(out, "type %s\n", *name ? name : "MPI_BYTE");
        return true;
    }
    const struct layout *layout = layout_of(type);
    uint64_t runs = 0;
    for (uint32_t n = 0; layout && n < layout->nests; n++) {
        uint64_t of_nest = 1;
        for (uint32_t l = 0; l < layout->nest[n].levels; l++)
            of_nest *= layout->nest[n].loop[l].count;
        runs += of_nest;
    }
    if (!layout || runs > most_runs) return false;
    fprintf(out, "type %td %llu", layout->extent, (unsigned long long)runs);
    for (uint32_t n = 0; n < layout->nests; n++) {
        const struct nest *nest = &layout->nest[n];
        size_t at[LAYOUT_LEVELS] = {0};
        for (bool more = true; more;) {
            ptrdiff_t place = nest->at;
            for (uint32_t l = 0; l < nest->levels; l++)
                place += (ptrdiff_t)at[l] * nest->loop[l].step;
            fprintf(out, " %td %zu", place, nest->bytes);
            more = false;
            for (uint32_t l = nest->levels; l-- > 0 && !more;)
                if (++at[l] < nest->loop[l].count) more = true;
                else at[l] = 0;
        }
    }
    fputc('\n', out);
    return true;
}

/* The bytes from the buffer's address in which the data of the spots lie. */
static void reach_of(const struct spots *spots, const char *buffer, ptrdiff_t *low,
                     ptrdiff_t *high) {
    bool any = false;
    *low = *high = 0;
    for (int i = 0; i < spots->count; i++) {
        const struct spot *spot = &spots->list[i];
        MPI_Aint lb, extent, first, span;
        if (spot->bytes == 0) continue;
        PMPI_Type_get_extent(spot->typed.type, &lb, &extent);
        PMPI_Type_get_true_extent(spot->typed.type, &first, &span);
        ptrdiff_t rest = (ptrdiff_t)(spot->typed.count - 1) * extent;
        ptrdiff_t at = spot->at - buffer + first;
        ptrdiff_t least = rest < 0 ? at + rest : at, most = (rest < 0 ? at : at + rest) + span;
        if (!any || least < *low) *low = least;
        if (!any || most > *high) *high = most;
        any = true;
    }
}

/* One side of the call. False: a type cannot be described. */
static bool put_side(FILE *out, const struct request *r, const struct half *half,
                     const struct spots *spots, int p) {
    ptrdiff_t low, high;
    if (half->buffer == MPI_IN_PLACE || spots->count == 0) {
        fputs(half->buffer == MPI_IN_PLACE ? "in place\n" : "none\n", out);
        return true;
    }
    int words = half->counts ? spots->count : 1;
    if (r->collective == COLL_reduce_scatter) words = p;
    reach_of(spots, half->buffer, &low, &high);
    fprintf(out, "%td %td %d\n", low, high, words);
    for (int i = 0; i < words; i++) {
        long long displ = half->displs ? (long long)entry_of(half->displs, displ_width(r), i) : 0;
        long long count = half->counts ? (long long)entry_of(half->counts, entry_width(r), i)
                                       : (long long)half->count;
        MPI_Datatype type = half->type;
        if (half->types) type = count > 0 ? half->types[i] : MPI_BYTE; /* may be invalid if empty */
        fprintf(out, "%lld %lld ", count, displ);
        if (!put_type(out, type)) return false;
    }
    fprintf(out, "blocks %d", spots->count);
    for (int i = 0; i < spots->count; i++) {
        const struct spot *spot = &spots->list[i];
        bool empty = spot->bytes == 0;
        fprintf(out, " %td %lld %d", empty ? 0 : spot->at - (const char *)half->buffer,
                empty ? 0ll : (long long)spot->typed.count, i < words ? i : 0);
    }
    fputc('\n', out);
    return true;
}

/* This rank's part; NULL: it cannot be described. */
static char *describe(const struct verification *v, const struct team *team, size_t most,
                      size_t *bytes) {
    const struct request *r = v->request;
    struct spots sent = {0};
    char *text = NULL, *operands = NULL;
    FILE *out = open_memstream(&text, bytes);
    bool fine = out && spots_find(&sent, r, team, SENT) && sent.bytes + v->written.bytes <= most &&
                (operands = malloc(sent.bytes + 1)) && spots_move(&sent, operands, true);
    if (fine) {
        fprintf(out, "rank %d\n", team->me);
        put_topology(out, r);
        fputs("send ", out);
        fine = put_side(out, r, &r->send, &sent, team->p);
        fputs("recv ", out);
        fine = put_side(out, r, &r->recv, &v->written, team->p) && fine;
        fprintf(out, "data %zu %zu\n", sent.bytes, v->written.bytes);
        fwrite(operands, 1, sent.bytes, out);
        fwrite(v->before, 1, v->written.bytes, out);
        fputc('\n', out);
    }
    free(operands);
    free(sent.list);
    if (!out || fclose(out) != 0) fine = false;
    if (fine) return text;
    free(text);
    return NULL;
}

/* ---- all ranks ---- */

static const char *operation_name(MPI_Op op) {
    const struct {
        MPI_Op op;
        const char *name;
    } names[] = {{MPI_SUM, "MPI_SUM"},   {MPI_PROD, "MPI_PROD"},     {MPI_MAX, "MPI_MAX"},
                 {MPI_MIN, "MPI_MIN"},   {MPI_LAND, "MPI_LAND"},     {MPI_LOR, "MPI_LOR"},
                 {MPI_LXOR, "MPI_LXOR"}, {MPI_BAND, "MPI_BAND"},     {MPI_BOR, "MPI_BOR"},
                 {MPI_BXOR, "MPI_BXOR"}, {MPI_MINLOC, "MPI_MINLOC"}, {MPI_MAXLOC, "MPI_MAXLOC"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].op == op) return names[i].name;
    return op == MPI_OP_NULL ? "none" : "another";
}

static void put_head(FILE *out, const struct verification *v, const struct team *team,
                     const struct plan *plan) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(version, &length);
    fprintf(out, "mortar case 2\nmortar %s\nmpi %.*s\n", MORTAR_VERSION,
            (int)strcspn(version, "\n"), version);
    fprintf(out, "collective %s\nranks %d\nroot %d\noperation %s\ncall %llu\nplan %s\n",
            collective_names[v->request->collective], team->p, v->request->root,
            operation_name(v->request->op), (unsigned long long)team->calls, plan->text);
    for (int o = 0; o < OPTIONS; o++)
        if (option_rows[o].whose == ALIKE && o != OPTION_PLAN && o != OPTION_VERIFY &&
            strcmp(option_text(o), option_rows[o].value) != 0)
            fprintf(out, "option %s=%s\n", option_rows[o].name, option_text(o));
}

/* Puts all ranks' parts behind the head, and writes the file. 0 or -errno. */
static int write_case(const struct verification *v, const struct team *team,
                      const struct plan *plan, const char *parts, size_t bytes, const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return -ENOMEM;
    put_head(out, v, team, plan);
    fwrite(parts, 1, bytes, out);
    if (fflush(out) == 0)
        fprintf(out, "sum %016llx\n", (unsigned long long)hash_bytes(HASH_START, text, size));
    int error = fclose(out) == 0 ? file_write(path, text, size) : -ENOMEM;
    free(text);
    return error;
}

/* Rank 0 gets all ranks' parts, one after the other. NULL: one has none, or no memory. */
static char *gather_parts(MPI_Comm comm, const struct team *team, const char *part, int bytes,
                          size_t *all) {
    bool root = team->me == 0;
    int *sizes = root ? calloc(2 * (size_t)team->p, sizeof *sizes) : NULL;
    int *places = root && sizes ? sizes + team->p : NULL;
    *all = 0;
    if (!library_agrees(comm, part && (!root || sizes))) {
        free(sizes);
        return NULL;
    }
    host.gather(&bytes, 1, MPI_INT, sizes, 1, MPI_INT, 0, comm);
    for (int r = 0; root && r < team->p; r++) places[r] = (int)*all, *all += (size_t)sizes[r];
    char *parts = root ? malloc(*all + 1) : NULL;
    if (library_agrees(comm, !root || (parts && *all < INT_MAX)))
        host.gatherv(part, bytes, MPI_BYTE, parts, sizes, places, MPI_BYTE, 0, comm);
    else free(parts), parts = NULL;
    free(sizes);
    return parts;
}

void case_write(const struct verification *v, struct team *team, const struct plan *plan) {
    static _Atomic int number;
    size_t most = most_file / (size_t)team->p, bytes = 0, all = 0;
    char path[64];
    char *part = describe(v, team, most < most_data ? most : most_data, &bytes);
    char *parts = gather_parts(v->request->comm, team, part, (int)bytes, &all);
    free(part);
    if (team->me != 0) return;
    snprintf(path, sizeof path, "mortar-case-%d-%d", (int)getpid(), ++number);
    int error = parts ? write_case(v, team, plan, parts, all, path) : 0;
    if (!parts) warn("this call is not saved: it is too large, or has types without a layout");
    else if (error) warn("this call cannot be saved in %s: %s", path, file_why(error));
    else warn("this call is saved: run it again by `mpirun -n %d mortar replay %s`", team->p, path);
    free(parts);
}
