/* SPDX-License-Identifier: BSD-3-Clause */
/* compile - makes a layout (src/copy/layout.h) from a datatype. MPI_Type_get_contents tells how a
 * type was made: each constructor repeats its parts, so the parts are compiled first. The layout is
 * an attribute of the type and is freed with it, because the program may free the handle after a
 * call and MPI may use it again for another type. */
#include "mpi/calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The arguments of a constructor. number: its integers, addresses and counts, one after the other.
 * So the order is the same for int and for large counts, except for subarrays. */
struct contents {
    int combiner;
    MPI_Count *number;
    size_t types, integers;
    MPI_Datatype *type;
};

/* Is this a type without a constructor? Such types have no contents and must not be freed. */
static bool is_given(int combiner) {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/* How many arguments of each sort the type's constructor had. False: MPI reports an error. */
struct envelope {
    MPI_Count ints, addresses, counts, types;
    int combiner;
};
static bool envelope_of(MPI_Datatype type, struct envelope *e) {
    int ints, addresses, types;
    if (host.type_get_envelope_c)
        return host.type_get_envelope_c(type, &e->ints, &e->addresses, &e->counts, &e->types,
                                        &e->combiner) == MPI_SUCCESS;
    if (PMPI_Type_get_envelope(type, &ints, &addresses, &types, &e->combiner) != MPI_SUCCESS)
        return false;
    e->ints = ints, e->addresses = addresses, e->counts = 0, e->types = types;
    return true;
}

static int combiner_of(MPI_Datatype type) {
    struct envelope envelope;
    return envelope_of(type, &envelope) ? envelope.combiner : MPI_COMBINER_NAMED;
}

bool type_is_made(MPI_Datatype type) { return !is_given(combiner_of(type)); }

bool type_is_predefined(MPI_Datatype type) {
    return !is_type(type) || combiner_of(type) == MPI_COMBINER_NAMED;
}

static void contents_drop(struct contents *contents) {
    for (size_t k = 0; k < contents->types; k++)
        if (type_is_made(contents->type[k])) host.type_free(&contents->type[k]);
    free(contents->number);
    free(contents->type);
}

/* The contents of a type that was made by a constructor; free them with contents_drop. False: no
 * memory, or MPI reports an error. */
static bool contents_of(MPI_Datatype type, struct contents *contents) {
    struct envelope e;
    if (!envelope_of(type, &e)) return false;
    contents->combiner = e.combiner;
    contents->types = 0; /* none to be freed yet */
    contents->integers = (size_t)e.ints;
    contents->number =
        malloc((size_t)(e.ints + e.addresses + e.counts + 1) * sizeof *contents->number);
    contents->type = malloc((size_t)(e.types + 1) * sizeof *contents->type);
    int *integer = malloc((size_t)(e.ints + 1) * sizeof *integer);
    MPI_Aint *address = malloc((size_t)(e.addresses + 1) * sizeof *address);
    int error = MPI_ERR_NO_MEM;
    bool room = contents->number && contents->type && integer && address;
    if (room && host.type_get_envelope_c)
        error =
            host.type_get_contents_c(type, e.ints, e.addresses, e.counts, e.types, integer, address,
                                     contents->number + e.ints + e.addresses, contents->type);
    else if (room)
        error = PMPI_Type_get_contents(type, (int)e.ints, (int)e.addresses, (int)e.types, integer,
                                       address, contents->type);
    if (error == MPI_SUCCESS) {
        contents->types = (size_t)e.types;
        for (size_t k = 0; k < (size_t)e.ints; k++) contents->number[k] = integer[k];
        for (size_t k = 0; k < (size_t)e.addresses; k++)
            contents->number[(size_t)e.ints + k] = address[k];
    }
    free(address);
    free(integer);
    if (error != MPI_SUCCESS) contents_drop(contents);
    return error == MPI_SUCCESS;
}

/* The types of MPI_MINLOC and MPI_MAXLOC: a value and an int, as the compiler lays out such a
 * struct. */
static bool compile_pair(MPI_Datatype type, struct draft *draft) {
    struct float_int {
        float a;
        int b;
    };
    struct double_int {
        double a;
        int b;
    };
    struct long_int {
        long a;
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
    const struct {
        MPI_Datatype type;
        size_t first, second;
    } pairs[] = {
        {MPI_FLOAT_INT, sizeof(float), offsetof(struct float_int, b)},
        {MPI_DOUBLE_INT, sizeof(double), offsetof(struct double_int, b)},
        {MPI_LONG_INT, sizeof(long), offsetof(struct long_int, b)},
        {MPI_SHORT_INT, sizeof(short), offsetof(struct short_int, b)},
        {MPI_LONG_DOUBLE_INT, sizeof(long double), offsetof(struct long_double_int, b)},
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        if (type != pairs[k].type) continue;
        draft_run(draft, 0, pairs[k].first);
        draft_run(draft, (ptrdiff_t)pairs[k].second, sizeof(int));
        return true;
    }
    return false;
}

static bool compile_given(MPI_Datatype type, struct draft *draft) {
    MPI_Count size, lb, extent;
    if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS) return false;
    if (PMPI_Type_get_extent_x(type, &lb, &extent) != MPI_SUCCESS) return false;
    if (lb != 0 || extent != size) return compile_pair(type, draft);
    draft_run(draft, 0, (size_t)size);
    return true;
}

/* From the innermost dimension in memory outwards. In each dimension `parts` of `sizes` elements
 * are taken, from `starts` on. */
static bool subarray(struct draft *draft, const struct contents *contents, const struct draft *part,
                     ptrdiff_t extent) {
    const MPI_Count *number = contents->number;
    size_t dimensions = (size_t)number[0];
    bool large = contents->integers == 2; /* the order comes second, not last */
    const MPI_Count *sizes = number + (large ? 2 : 1), *parts = sizes + dimensions,
                    *starts = parts + dimensions;
    bool c_order = (large ? number[1] : starts[dimensions]) == MPI_ORDER_C;
    struct draft inner = {0};
    draft_repeat(&inner, part, 0, 1, 0);
    ptrdiff_t step = extent;
    for (size_t k = 0; k < dimensions; k++) {
        size_t d = c_order ? dimensions - 1 - k : k;
        struct draft outer = {0};
        draft_repeat(&outer, &inner, (ptrdiff_t)starts[d] * step, (size_t)parts[d], step);
        draft_drop(&inner);
        inner = outer;
        step *= (ptrdiff_t)sizes[d];
    }
    draft_repeat(draft, &inner, 0, 1, 0);
    draft_drop(&inner);
    return true;
}

/* `count` blocks of `length` elements, `step` bytes from one block to the next. */
static void blocks(struct draft *draft, const struct draft *part, ptrdiff_t extent, MPI_Count count,
                   MPI_Count length, MPI_Count step) {
    struct draft block = {0};
    draft_repeat(&block, part, 0, (size_t)length, extent);
    draft_repeat(draft, &block, 0, (size_t)count, (ptrdiff_t)step);
    draft_drop(&block);
}

/* Applies a constructor that has one part. False: mortar does not know the constructor. */
static bool construct(struct draft *draft, const struct contents *contents,
                      const struct draft *part, ptrdiff_t extent) {
    const MPI_Count *number = contents->number, count = number[0];
    switch (contents->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: draft_repeat(draft, part, 0, 1, 0); return true;
    case MPI_COMBINER_CONTIGUOUS: draft_repeat(draft, part, 0, (size_t)count, extent); return true;
    case MPI_COMBINER_VECTOR:
        blocks(draft, part, extent, count, number[1], number[2] * extent);
        return true;
    case MPI_COMBINER_HVECTOR:
        blocks(draft, part, extent, count, number[1], number[2]);
        return true;
    case MPI_COMBINER_SUBARRAY: return subarray(draft, contents, part, extent);
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED: {
        ptrdiff_t unit = contents->combiner == MPI_COMBINER_INDEXED ? extent : 1;
        for (MPI_Count i = 1; i <= count && !draft->failed; i++)
            draft_repeat(draft, part, (ptrdiff_t)number[count + i] * unit, (size_t)number[i],
                         extent);
        return true;
    }
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK: {
        ptrdiff_t unit = contents->combiner == MPI_COMBINER_INDEXED_BLOCK ? extent : 1;
        for (MPI_Count i = 0; i < count && !draft->failed; i++)
            draft_repeat(draft, part, (ptrdiff_t)number[2 + i] * unit, (size_t)number[1], extent);
        return true;
    }
    default: return false;
    }
}

static bool compile(MPI_Datatype type, struct draft *draft);

/* Compiles part k of a type. *extent: bytes from one element of it to the next. */
static bool compile_part(const struct contents *contents, size_t k, struct draft *part,
                         ptrdiff_t *extent) {
    MPI_Count lb, bytes;
    if (PMPI_Type_get_extent_x(contents->type[k], &lb, &bytes) != MPI_SUCCESS) return false;
    *extent = (ptrdiff_t)bytes;
    return compile(contents->type[k], part);
}

static bool compile_made(const struct contents *contents, struct draft *draft) {
    bool fine = true, structure = contents->combiner == MPI_COMBINER_STRUCT;
    if (!structure && contents->types != 1) return false;
    for (size_t k = 0; k < contents->types && fine; k++) {
        struct draft part = {0};
        ptrdiff_t extent;
        fine = compile_part(contents, k, &part, &extent);
        /* For a struct: block lengths, and displacements. */
        const MPI_Count *length = contents->number + 1, *at = length + contents->types;
        if (fine && structure)
            draft_repeat(draft, &part, (ptrdiff_t)at[k], (size_t)length[k], extent);
        else if (fine) fine = construct(draft, contents, &part, extent);
        draft_drop(&part);
    }
    return fine && !draft->failed;
}

static bool compile(MPI_Datatype type, struct draft *draft) {
    if (!type_is_made(type)) return compile_given(type, draft);
    struct contents contents;
    if (!contents_of(type, &contents)) return false;
    bool fine = compile_made(&contents, draft);
    contents_drop(&contents);
    return fine;
}

static struct layout *compile_make(MPI_Datatype type) {
    struct draft draft = {0};
    MPI_Count lb, extent, size, low, span;
    bool fine = PMPI_Type_get_extent_x(type, &lb, &extent) == MPI_SUCCESS &&
                PMPI_Type_get_true_extent_x(type, &low, &span) == MPI_SUCCESS &&
                PMPI_Type_size_x(type, &size) == MPI_SUCCESS && compile(type, &draft);
    struct layout *layout = fine ? draft_finish(&draft, (ptrdiff_t)extent) : NULL;
    draft_drop(&draft);
    if (!layout || (layout->size == (size_t)size &&
                    (size == 0 || (layout->low == low && layout->high == low + span))))
        return layout;
    /* Its contents contradict what the library says. Open MPI 4 takes a vector of bytes with stride
     * -1 for contiguous, so it sends others than those that its contents tell. */
    free(layout);
    return NULL;
}

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static int key = MPI_KEYVAL_INVALID; /* outside MPI_Init .. MPI_Finalize */
static MPI_Comm packer = MPI_COMM_NULL;
/* The attribute of a type. */
struct kept_layout {
    struct layout *layout;  /* NULL: this type does not compile */
    _Atomic bool committed; /* as last seen */
    _Atomic uint32_t asked; /* by type_is_steady */
};
/* A type that is made for each call anew is never asked for so often: its end would make void what
 * was remembered of all calls. */
enum { steady = 64 };

static int compile_drop(MPI_Datatype type, int keyval, void *kept, void *state) {
    (void)type, (void)keyval, (void)state;
    struct kept_layout *end = kept;
    if (end->asked > steady) atomic_fetch_add(&changes.calls, 1);
    shown_free(end->layout);
    free(end);
    return MPI_SUCCESS;
}

/* Not in a call: where another communicator is being made meanwhile, by a nonblocking call or
 * another thread, Open MPI makes one after the other, and ranks may wait for each other. */
void layouts_start(void) {
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, compile_drop, &key, NULL);
    comm_private(MPI_COMM_SELF, &packer);
}

MPI_Comm packer_comm(void) { return packer; }

/* The layouts of the types that most calls use. They save an attribute lookup, whose memory is
 * often out of cache if ranks are oversubscribed. */
static _Atomic(const struct layout *) usual[5];

void layouts_finish(void) {
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) usual[i] = NULL;
    if (packer != MPI_COMM_NULL) host.comm_free(&packer);
    if (key != MPI_KEYVAL_INVALID) PMPI_Type_free_keyval(&key);
}

/* MPI cannot be asked whether a type is committed, but the library refuses to pack one that is
 * not. */
static bool is_committed(MPI_Datatype type) {
    if (!type_is_made(type)) return true;
    MPI_Comm own = packer_comm();
    char nothing[1] = "";
    int position = 0;
    return own != MPI_COMM_NULL &&
           PMPI_Pack(nothing, 0, type, nothing, 0, &position, own) == MPI_SUCCESS;
}

HOT static struct kept_layout *kept_with(MPI_Datatype type) {
    void *kept;
    int found = 0;
    return PMPI_Type_get_attr(type, key, &kept, &found) == MPI_SUCCESS && found ? kept : NULL;
}

HOT static int usual_one(MPI_Datatype type) {
    if (type == MPI_DOUBLE) return 0;
    if (type == MPI_INT) return 1;
    if (type == MPI_BYTE) return 2;
    if (type == MPI_FLOAT) return 3;
    return type == MPI_CHAR ? 4 : -1;
}

/* Peers read layouts. So they are shared from the beginning, if this process has a heap. */
static struct layout *in_reach(struct layout *layout) {
    size_t bytes = layout ? layout_footprint(layout) : 0;
    struct layout *born = layout ? shown_born(0, bytes) : NULL;
    if (!born) return layout;
    memcpy(born, layout, bytes);
    free(layout);
    return born;
}

static struct kept_layout *compile_keep(MPI_Datatype type) {
    struct kept_layout *kept = malloc(sizeof *kept);
    if (!kept) return NULL;
    *kept = (struct kept_layout){in_reach(compile_make(type)), is_committed(type), 0};
    if (PMPI_Type_set_attr(type, key, kept) == MPI_SUCCESS) return kept;
    shown_free(kept->layout);
    free(kept);
    return NULL;
}

/* NULL: no memory, or outside MPI_Init .. MPI_Finalize. */
HOT static struct kept_layout *kept_of(MPI_Datatype type) {
    struct kept_layout *kept = key == MPI_KEYVAL_INVALID ? NULL : kept_with(type);
    if (kept || key == MPI_KEYVAL_INVALID) return kept;
    /* Without the lock a second thread could replace, and so free, an attribute in use. */
    pthread_mutex_lock(&making);
    kept = kept_with(type);
    if (!kept) kept = compile_keep(type);
    pthread_mutex_unlock(&making);
    return kept;
}

HOT const struct layout *layout_of(MPI_Datatype type) {
    int known = usual_one(type);
    const struct layout *layout =
        known < 0 ? NULL : atomic_load_explicit(&usual[known], memory_order_acquire);
    if (layout || !is_type(type)) return layout;
    const struct kept_layout *kept = kept_of(type);
    layout = kept ? kept->layout : NULL;
    if (known >= 0) atomic_store_explicit(&usual[known], layout, memory_order_release);
    return layout;
}

bool type_is_steady(MPI_Datatype type) {
    if (!is_type(type) || !type_is_made(type)) return true;
    if (key == MPI_KEYVAL_INVALID) return false;
    struct kept_layout *kept = kept_with(type);
    if (!kept && !type_is_fresh(type)) kept = kept_of(type);
    return kept && kept->layout && atomic_fetch_add(&kept->asked, 1) >= steady;
}

/* A no is not remembered: the program may commit the type later. No layout is made for this: the
 * type may be used only once. */
HOT bool type_committed(MPI_Datatype type) {
    if (key == MPI_KEYVAL_INVALID) return true;
    struct kept_layout *kept = kept_with(type);
    if (!kept) return is_committed(type);
    if (atomic_load_explicit(&kept->committed, memory_order_relaxed)) return true;
    if (!is_committed(type)) return false;
    atomic_store_explicit(&kept->committed, true, memory_order_relaxed);
    return true;
}
