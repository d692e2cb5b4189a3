/* SPDX-License-Identifier: BSD-3-Clause */
/* outside - pull, if some rank's buffer lies outside its shared heap and a data path reaches it:
 * ramesh2024 section V-C (XPMEM), and cross memory attach. Each block is loaded and stored directly
 * if both buffers are mapped, and goes by the path otherwise. A path that only reads (CMA) cannot
 * write into a peer's buffer: if any receive buffer is outside, which all ranks know from the
 * barrier's trouble flags, every rank fills its own, in order `rows`. */
#include "coll/coll.h"

#include <errno.h>
#include <sys/uio.h>

/* IOV_MAX is 1024; with 64 pieces the start of a call no longer matters */
enum { most_pieces = 64 };

static const struct walk own_rows = {.order = ORDER_rows};

int outside_prepare(struct team *team, const struct arguments *arguments) {
    int error = team_path(team, arguments->path);
    if (error || paths[arguments->path].code->hold) return error;
    return team_agree(team, team_cells(team, own_rows) != NULL) ? 0 : -ENOMEM;
}

HOT uint32_t outside_trouble(const struct team *team, const struct call *call,
                             const struct arguments *arguments, uint32_t trouble) {
    bool (*sound)(const void *, size_t) = paths[arguments->path].code->sound;
    if (!sound || trouble & (LEAVE | MUST_STAGE)) return trouble;
    if (trouble & SEND_UNREACHABLE && !sound(call->send, send_bytes(&call->shape, team->p)))
        trouble |= MUST_STAGE;
    if (trouble & RECV_UNREACHABLE && !sound(call->recv, call->shape.bytes * (size_t)team->p))
        trouble |= MUST_STAGE;
    return trouble;
}

/* One rank's walk. */
struct tour {
    struct team *team;
    const struct call *call;
    const struct path_code *path;
    void *state;
    uint32_t half;
    /* others' receive buffers are written: use the writable mapping for both sides */
    bool writable;
    /* Blocks that one call of the path will read from one source. */
    int source;
    size_t count;
    struct iovec to[most_pieces], from[most_pieces];
};

HOT static bool read_waiting(struct tour *tour) {
    size_t count = tour->count;
    tour->count = 0;
    return count == 0 ||
           tour->path->read(tour->state, tour->source, tour->to, tour->from, count) == 0;
}

HOT static bool read_later(struct tour *tour, struct cell cell, char *to, uint64_t from) {
    if (tour->count == most_pieces || (tour->count > 0 && tour->source != (int)cell.source))
        if (!read_waiting(tour)) return false;
    size_t bytes = tour->call->shape.bytes;
    tour->source = (int)cell.source;
    tour->to[tour->count] = (struct iovec){to, bytes};
    tour->from[tour->count++] = (struct iovec){(void *)(uintptr_t)from, bytes};
    return true;
}

/* A rank's buffer in my address space; NULL: only the path can read it, or the path failed. */
HOT static char *buffer_of(struct tour *tour, int rank, bool receives) {
    const struct team *team = tour->team;
    const struct shape *shape = &tour->call->shape;
    const struct post *post = post_of(team, tour->half, rank);
    if (rank == team->me && !tour->writable)
        return receives ? tour->call->recv : (char *)(uintptr_t)tour->call->send;
    bool reachable = receives ? post->recv_reachable : post->send_reachable;
    uintptr_t place = receives ? post->recv : post->send;
    if (reachable) return (char *)(team->peers[tour->writable][rank] + place);
    if (rank == team->me) return receives ? tour->call->recv : (char *)(uintptr_t)tour->call->send;
    if (!tour->path->hold) return NULL;
    size_t bytes = receives ? shape->bytes * (size_t)team->p : send_bytes(shape, team->p);
    return tour->path->hold(tour->state, rank, receives, place, bytes);
}

/* In place a rank's own block is where it belongs, and peers may be reading it: do not copy it. */
HOT static bool is_there(const struct tour *tour, struct cell cell) {
    const struct shape *shape = &tour->call->shape;
    const struct post *post = post_of(tour->team, tour->half, (int)cell.source);
    if (cell.source != cell.dest) return false;
    if ((int)cell.source == tour->team->me)
        return (const char *)tour->call->send + cell.dest * send_step(shape) ==
               tour->call->recv + cell.source * shape->bytes;
    return post->send_reachable == post->recv_reachable &&
           post->send + cell.dest * send_step(shape) == post->recv + cell.source * shape->bytes;
}

HOT static bool one_cell(struct tour *tour, struct cell cell, const struct copier *copier) {
    const struct shape *shape = &tour->call->shape;
    if (is_there(tour, cell)) return true;
    char *to = buffer_of(tour, (int)cell.dest, true),
         *from = buffer_of(tour, (int)cell.source, false);
    if (!to || (!from && !tour->path->read)) return false;
    to += cell.source * shape->bytes;
    size_t at = cell.dest * send_step(shape);
    if (!from)
        return read_later(tour, cell, to,
                          post_of(tour->team, tour->half, (int)cell.source)->send + at);
    copy_block(copier, to, from + at, shape->bytes);
    return true;
}

/* Without addresses of peers' memory no rank can write to another's receive buffer. */
static struct walk walk_of(const struct arguments *arguments, uint32_t trouble) {
    bool reads = !paths[arguments->path].code->hold && trouble & RECV_UNREACHABLE;
    return reads ? own_rows : arguments->walk;
}

bool outside_others_write(const struct arguments *arguments, uint32_t trouble) {
    return !orders[walk_of(arguments, trouble).order].own_dest;
}

HOT bool outside_walk(struct team *team, const struct call *call, uint32_t half,
                      const struct arguments *arguments, uint32_t trouble) {
    const struct path_code *path = paths[arguments->path].code;
    struct walk walk = walk_of(arguments, trouble);
    struct tour tour;
    tour.team = team, tour.call = call, tour.half = half;
    tour.path = path, tour.state = team->reached[arguments->path].state;
    tour.writable = outside_others_write(arguments, trouble);
    tour.count = 0;
    const struct cell *cells = team->cells[walk.order][walk.inner];
    bool fine = true;
    for (int k = 0; k < team->p && fine; k++) fine = one_cell(&tour, cells[k], &arguments->copier);
    fine = fine && read_waiting(&tour);
    if (path->drop) path->drop(tour.state);
    return fine;
}
