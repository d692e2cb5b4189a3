/* SPDX-License-Identifier: BSD-3-Clause */
/* library - an MPI library that knows only datatypes; see library.h. Types are made as the MPI
 * standard's section on derived datatypes says, byte by byte. */
#include "library.h"

#include "reach/comms.h"
#include "reach/host.h"

#include <stdlib.h>
#include <string.h>

struct host host = {.type_free = PMPI_Type_free,
                    .type_get_envelope_c = PMPI_Type_get_envelope_c,
                    .type_get_contents_c = PMPI_Type_get_contents_c};
struct changes changes;

bool type_is_fresh(MPI_Datatype type) {
    (void)type;
    return false;
}

/* A handle is the first one of its kind and a number. Its upper bits are those of MPICH's types. */
enum { first_made = 0x4c7e0000 };
static struct made made[most_made];
static int made_count, handed_out;
static MPI_Type_delete_attr_function *drop;

struct float_int {
    float a;
    int b;
};
struct double_int {
    double a;
    int b;
};
struct short_int {
    short a;
    int b;
};
struct long_double_int {
    long double a;
    int b;
};
static const struct {
    MPI_Datatype type;
    size_t size, second; /* where the int of a pair begins; 0: no pair */
} givens[] = {
    {MPI_BYTE, 1, 0},
    {MPI_SHORT, 2, 0},
    {MPI_INT, 4, 0},
    {MPI_DOUBLE, 8, 0},
    {MPI_LONG_DOUBLE, sizeof(long double), 0},
    {MPI_FLOAT_INT, sizeof(struct float_int), offsetof(struct float_int, b)},
    {MPI_DOUBLE_INT, sizeof(struct double_int), offsetof(struct double_int, b)},
    {MPI_SHORT_INT, sizeof(struct short_int), offsetof(struct short_int, b)},
    {MPI_LONG_DOUBLE_INT, sizeof(struct long_double_int), offsetof(struct long_double_int, b)},
};
static const size_t firsts[] = {0, 0, 0, 0, 0, 4, 8, 2, sizeof(long double)}; /* of pairs */
_Static_assert(sizeof givens / sizeof *givens == given_count, "as the header says");
static struct made given[given_count];

static void add_bytes(struct made *type, ptrdiff_t at, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) type->place[type->size++] = at + (ptrdiff_t)i;
}

struct made *made_of(MPI_Datatype type) {
    for (int g = 0; g < given_count; g++)
        if (givens[g].type == type) return &given[g];
    int index = (int)type - first_made;
    must(index >= 0 && index < made_count, "a handle that nobody gave");
    return &made[index];
}

static void start(void) {
    for (int g = 0; g < given_count; g++) {
        struct made *type = &given[g];
        type->combiner = MPI_COMBINER_NAMED;
        type->place = malloc(givens[g].size * sizeof *type->place);
        must(type->place != NULL, "no memory");
        add_bytes(type, 0, givens[g].second ? firsts[g] : givens[g].size);
        if (givens[g].second) add_bytes(type, (ptrdiff_t)givens[g].second, sizeof(int));
        type->ub = (ptrdiff_t)givens[g].size;
    }
    layouts_start();
}

void library_begin(void) {
    if (!drop) start();
    made_count = handed_out = 0;
}

void library_end(void) {
    must(handed_out == 0, "%d handles were not freed", handed_out);
    for (int i = 0; i < made_count; i++) {
        if (made[i].kept) drop((MPI_Datatype)(first_made + i), 1, made[i].kept, NULL);
        free(made[i].place);
    }
}

struct made *library_new(void) {
    struct made *type = &made[made_count++];
    must(made_count <= most_made, "too many types");
    *type = (struct made){.place = malloc(most_data * sizeof *type->place)};
    must(type->place != NULL, "no memory");
    return type;
}

int library_count(void) { return made_count; }

MPI_Datatype library_type(int number) {
    if (number < given_count) return givens[number].type;
    return (MPI_Datatype)(first_made + number - given_count);
}

/* ---- what src/mpi/compile.c calls ---- */

int PMPI_Type_get_envelope(MPI_Datatype type, int *ints, int *addresses, int *types, int *kind) {
    const struct made *t = made_of(type);
    *ints = t->integers;
    *addresses = t->numbers - t->integers;
    *types = t->parts;
    *kind = t->combiner;
    return MPI_SUCCESS;
}

/* The first numbers are int, the next ones addresses, the rest counts. */
static void tell(MPI_Datatype type, size_t ints, size_t addresses, size_t counts, size_t types,
                 int *integer, MPI_Aint *address, MPI_Count *count, MPI_Datatype *part) {
    const struct made *t = made_of(type);
    must(ints + addresses + counts == (size_t)t->numbers && ints == (size_t)t->integers &&
             types == (size_t)t->parts && t->combiner != MPI_COMBINER_NAMED,
         "contents of another size");
    const MPI_Count *number = t->number;
    for (size_t i = 0; i < ints; i++) integer[i] = (int)*number++;
    for (size_t i = 0; i < addresses; i++) address[i] = (MPI_Aint)*number++;
    for (size_t i = 0; i < counts; i++) count[i] = *number++;
    for (size_t i = 0; i < types; i++) {
        part[i] = t->part[i];
        handed_out += made_of(part[i])->combiner != MPI_COMBINER_NAMED;
    }
}

int PMPI_Type_get_contents(MPI_Datatype type, int ints, int addresses, int types, int integer[],
                           MPI_Aint address[], MPI_Datatype part[]) {
    tell(type, (size_t)ints, (size_t)addresses, 0, (size_t)types, integer, address, NULL, part);
    return MPI_SUCCESS;
}

int PMPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count *ints, MPI_Count *addresses,
                             MPI_Count *counts, MPI_Count *types, int *kind) {
    const struct made *t = made_of(type);
    *ints = t->integers;
    *addresses = t->large ? 0 : t->numbers - t->integers;
    *counts = t->numbers - t->integers - *addresses;
    *types = t->parts;
    *kind = t->combiner;
    return MPI_SUCCESS;
}

int PMPI_Type_get_contents_c(MPI_Datatype type, MPI_Count ints, MPI_Count addresses,
                             MPI_Count counts, MPI_Count types, int integer[], MPI_Aint address[],
                             MPI_Count count[], MPI_Datatype part[]) {
    tell(type, (size_t)ints, (size_t)addresses, (size_t)counts, (size_t)types, integer, address,
         count, part);
    return MPI_SUCCESS;
}

int PMPI_Type_free(MPI_Datatype *type) {
    must(made_of(*type)->combiner != MPI_COMBINER_NAMED && handed_out > 0, "freed too often");
    handed_out--;
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

int PMPI_Type_size_x(MPI_Datatype type, MPI_Count *size) {
    *size = (MPI_Count)made_of(type)->size;
    return MPI_SUCCESS;
}

int PMPI_Type_get_extent_x(MPI_Datatype type, MPI_Count *lb, MPI_Count *extent) {
    *lb = made_of(type)->lb;
    *extent = made_of(type)->ub - made_of(type)->lb;
    return MPI_SUCCESS;
}

int PMPI_Type_get_true_extent_x(MPI_Datatype type, MPI_Count *low, MPI_Count *extent) {
    const struct made *t = made_of(type);
    ptrdiff_t first = t->size > 0 ? t->place[0] : 0, end = first;
    for (size_t i = 0; i < t->size; i++) {
        if (t->place[i] < first) first = t->place[i];
        if (t->place[i] >= end) end = t->place[i] + 1;
    }
    *low = first;
    *extent = end - first;
    return MPI_SUCCESS;
}

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function *gone,
                            int *key, void *state) {
    (void)copy, (void)state;
    drop = gone;
    *key = 1;
    return MPI_SUCCESS;
}

int PMPI_Type_free_keyval(int *key) {
    *key = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

int PMPI_Type_set_attr(MPI_Datatype type, int key, void *value) {
    (void)key;
    made_of(type)->kept = value;
    return MPI_SUCCESS;
}

int PMPI_Type_get_attr(MPI_Datatype type, int key, void *value, int *found) {
    (void)key;
    *(void **)value = made_of(type)->kept;
    *found = made_of(type)->kept != NULL;
    return MPI_SUCCESS;
}

int PMPI_Pack(const void *from, int count, MPI_Datatype type, void *to, int size, int *position,
              MPI_Comm comm) {
    (void)from, (void)count, (void)type, (void)to, (void)size, (void)position, (void)comm;
    return MPI_SUCCESS;
}

int comm_private(MPI_Comm comm, MPI_Comm *own) {
    *own = comm;
    return MPI_SUCCESS;
}
