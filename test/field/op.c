/* SPDX-License-Identifier: BSD-3-Clause */
/* op.c - one collective from its number to the verdict. */
#include <stdio.h>
#include <stdlib.h>
#include "field.h"

#define K(name) "MPI_" #name,
const char *const kind_names[COLLECTIVES] = {KINDS(K)};
#undef K

static bool all_blocks(enum kind kind) { return kind != Bcast && kind != Barrier && kind < Reduce; }

void op_plan(struct op *op, enum kind kind, enum how how, struct comm *comm, long call, int power,
             enum place place) {
    *op = (struct op){
        .kind = kind, .how = how, .comm = comm, .call = call, .request = MPI_REQUEST_NULL};
    op->send.bottom = op->recv.bottom = MPI_DATATYPE_NULL;
    if (comm->ambiguous && kind >= Neighbor_alltoall && kind <= Neighbor_alltoallw)
        op->kind = kind = Neighbor_allgatherv;
    if (kind == Barrier) return;
    struct dice shared = {mix(mix(settings.seed, (uint64_t)call),
                              (uint64_t)comm->number * 4096 + (uint64_t)comm->colour)};
    struct dice own = {mix(roll(&shared), (uint64_t)comm->me)};
    int most = settings.largest;
    if (all_blocks(kind) || kind == Reduce_scatter || kind == Reduce_scatter_block)
        for (int p = comm->size; p > 4 && most > 4; p = (p + 1) / 2) most--;
    op->power = power < most ? power : most;
    op->bytes = chance(&shared, 4) ? 0 : draw_bytes(&shared, op->power);
    if (kind < Reduce) moves_plan(op, shared, own, place);
    else reductions_plan(op, shared, own, place);
}

void op_fill(struct op *op, long call) {
    op->call = call;
    at_op(op);
    int background = (int)(mix((uint64_t)call, (uint64_t)op->comm->me) & 255);
    side_fill(&op->send, background, op);
    side_fill(&op->recv, background ^ 255, op);
}

/* "block 2, byte 109 of 120", or where else a wrong byte lies */
static void where(const struct side *side, long wrong, char *text, size_t room) {
    long place = wrong - (side->base - side->memory);
    for (int b = 0; b < side->blocks; b++) {
        const struct block *block = &side->block[b];
        long byte = 0;
        for (long i = 0; block->layout && i < block->count; i++)
            for (int r = 0; r < block->layout->runs; r++) {
                const struct run *run = &block->layout->run[r];
                long at = block->at + i * block->layout->extent + run->at;
                if (place >= at && place < at + run->bytes) {
                    snprintf(text, room, "block %d of %d, byte %ld of %ld", b, side->blocks,
                             byte + place - at, block->count * block->layout->bytes);
                    return;
                }
                byte += run->bytes;
            }
    }
    snprintf(text, room, "outside all %d blocks, at %ld of %ld", side->blocks, wrong, side->bytes);
}

static int side_text(const struct side *side, const char *name, char *text, size_t room) {
    static const char *const places[PLACES] = {"heap", "stack", "static", "mmap", "MPI_Alloc_mem"};
    if (!side->memory || !side->blocks) return snprintf(text, room, ", %s: nothing", name);
    const struct block *block = &side->block[0];
    return snprintf(text, room,
                    ", %s: %d blocks in %s%s, the first %ld times %ld bytes in %d runs, extent %ld",
                    name, side->blocks, places[side->place],
                    side->bottom != MPI_DATATYPE_NULL ? " from MPI_BOTTOM" : "", block->count,
                    block->layout->bytes, block->layout->runs, block->layout->extent);
}

int op_text(const struct op *op, char *text, size_t room) {
    static const char *const hows[] = {"", "nonblocking ", "persistent "};
    size_t used = (size_t)snprintf(text, room, "%s%s%s %s, root %d, about %ld bytes", hows[op->how],
                                   kind_names[op->kind], op->in_place ? " in place" : "",
                                   reduction_name(op), op->root, op->bytes);
    if (used < room) used += (size_t)side_text(&op->send, "send", text + used, room - used);
    if (used < room) used += (size_t)side_text(&op->recv, "receive", text + used, room - used);
    return (int)(used < room ? used : room - 1);
}

static void check_side(struct op *op, struct side *side, const char *name) {
    long wrong = side_wrong(side), many = 0;
    char text[100];
    if (wrong < 0) return;
    for (long i = wrong; i < side->bytes; i++) many += side->memory[i] != side->expected[i];
    where(side, wrong, text, sizeof text);
    at_op(op);
    failed("%s buffer: %s is %d instead of %d, %ld bytes wrong", name, text,
           (unsigned char)side->memory[wrong], (unsigned char)side->expected[wrong], many);
}

void op_check(struct op *op) {
    check_side(op, &op->recv, "receive");
    check_side(op, &op->send, "send");
}

void op_end(struct op *op) {
    if (op->kind != Barrier) {
        side_close(&op->send);
        side_close(&op->recv);
    }
    at_op(NULL);
    free(op->shares);
    op->shares = NULL;
}
