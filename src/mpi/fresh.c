/* SPDX-License-Identifier: BSD-3-Clause */
/* fresh - short calls with types that the program has just made. Libraries such as ScaLAPACK make a
 * type for each call and free it behind it. To compile it (compile.c), and to keep that with the
 * type, takes several times as long as such a call. So the MPI library packs these data, and the
 * call goes on with contiguous bytes, mostly as a known one (known.c). A type that short calls use
 * again and again is compiled after all. Which ranks pack is their own affair, as their types are.
 */
#include "mpi/fresh.h"

#include "mpi/verify.h"

/* soon: from so many uses on it pays to compile a type. longest: bytes of a side up to which a
 * second copy takes less than to compile its type. */
enum { soon = 8, longest = 2 << 10 };

/* ---- how often a type was used ---- */

/* By handle, and only a hint: another type may drive it out, and what it says may be wrong, but
 * packing is right for every type. When the type ends its handle is forgotten, because the next
 * type mostly gets the same one. */
enum { hints = 256 };
static struct hint {
    _Atomic(MPI_Datatype) type;
    _Atomic unsigned calls;
} hint[hints];
_Static_assert(hints == 1 << 8, "as many as 64 - 56 bits name");

static struct hint *hint_of(MPI_Datatype type) {
    return &hint[hashed((uint64_t)(intptr_t)type) >> 56];
}

bool type_is_fresh(MPI_Datatype type) {
    struct hint *h = hint_of(type);
    if (atomic_load_explicit(&h->type, memory_order_relaxed) != type) {
        if (!is_type(type) || !type_is_made(type)) return false;
        atomic_store_explicit(&h->calls, 0, memory_order_relaxed);
        atomic_store_explicit(&h->type, type, memory_order_relaxed);
    }
    unsigned calls = atomic_load_explicit(&h->calls, memory_order_relaxed);
    if (calls < soon) atomic_store_explicit(&h->calls, calls + 1, memory_order_relaxed);
    return calls < soon;
}

void fresh_forgets(MPI_Datatype type) {
    struct hint *h = hint_of(type);
    if (atomic_load_explicit(&h->type, memory_order_relaxed) == type)
        atomic_store_explicit(&h->type, MPI_DATATYPE_NULL, memory_order_relaxed);
}

/* ---- one side ---- */

struct fresh_side {
    struct half *half;  /* as `go` gets it; NULL: this side stays as it is */
    void *user;         /* the program's buffer */
    struct typed typed; /* all blocks: each begins where the one before it ends */
    char bytes[longest];
};

/* Makes `half` one of bytes, still at the program's address, if it has a fresh type and is
 * short. */
static void look_at(struct fresh_side *side, struct half *half, int blocks) {
    size_t size;
    side->half = NULL;
    if (blocks <= 0 || half->buffer == MPI_IN_PLACE || half->count <= 0 || half->count > longest ||
        type_is_plain(half->type) || !type_bytes(half->type, &size))
        return;
    size_t elements = (size_t)half->count * (size_t)blocks;
    if (size == 0 || size > longest / elements || !type_is_fresh(half->type)) return;
    side->half = half;
    side->user = (void *)(uintptr_t)half->buffer;
    side->typed = (struct typed){half->type, (MPI_Count)elements, true};
    half->count *= (MPI_Count)size;
    half->type = MPI_BYTE;
}

/* Either side: what a block receives may be nobody's, or shorter than the block. False: the
 * library does not pack this, perhaps because the type was not committed. */
static bool fill(struct fresh_side *side) {
    if (!side->half) return true;
    side->half->buffer = side->bytes;
    return move_blocks(&side->typed, side->user, 1, side->bytes, true) == 0;
}

/* ---- the call ---- */

/* The program's call. native: the MPI library has run it, from and to the program's buffers. */
struct fresh {
    const struct request *asked;
    bool native;
};

static int hand_back(const struct request *r) {
    r->fresh->native = true;
    return r->fresh->asked->native(r->fresh->asked);
}

__attribute__((noinline)) bool fresh_run(const struct request *r, struct team *team,
                                         int (*go)(const struct request *), int *error) {
    struct standing at = {.p = team->p, .me = team->me};
    struct block_counts extent = extent_of(r, &at);
    struct fresh fresh = {.asked = r};
    struct request packed = *r;
    struct fresh_side send, recv;
    const bool one = r->collective == COLL_bcast; /* buffer, which both halves name */
    if (team->why_native || team->doubt.what || verify_wanted()) return false;
    look_at(&send, &packed.send, one ? 0 : extent.sends);
    look_at(&recv, &packed.recv, one ? 1 : extent.recvs);
    if (!send.half && !recv.half) return false;
    if (one) packed.send = packed.recv;
    /* One side of bytes is refused where one of the program's type is, or `fill` finds it. For two
     * sides it also counts how far one lies from the other. */
    const struct request *checked = extent.sends > 0 && extent.recvs > 0 ? r : &packed;
    if (is_refused(checked, (struct met){.team = team}, &at) ||
        on_device(team, send.half ? send.user : NULL, recv.half ? recv.user : NULL) ||
        !fill(&send) || !fill(&recv))
        return false;
    if (one) packed.send.buffer = packed.recv.buffer;
    packed.fresh = &fresh;
    packed.native = hand_back;
    *error = go(&packed);
    if (!recv.half || extent.recvs == 0 || fresh.native || *error != MPI_SUCCESS) return true;
    if (move_blocks(&recv.typed, recv.user, 1, recv.bytes, false) != 0) {
        *error = MPI_ERR_OTHER;
        PMPI_Comm_call_errhandler(r->comm, *error);
    }
    return true;
}
