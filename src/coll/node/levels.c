/* SPDX-License-Identifier: BSD-3-Clause */
/* levels - reduction within memory domains (NUMA nodes, sockets) first: used by slices on nodes
 * with several. The ranks of a domain share the vector out, and each combines its share of the
 * domain's vectors. After a barrier the partial results, one vector per domain, are combined. So an
 * input is read once, locally, and domains - 1 vectors cross between domains instead of nearly all
 * p (parsons2015 section II: each level reduces before the next). The association depends on the
 * domains only, not on arrival. If domains do not hold consecutive ranks, this is for commutative
 * operations only.
 * Cost    one more barrier; partial results are written and read once.   Scratch  n / (ranks of the
 *         domain) per rank. */
#include "coll/coll.h"

#include <stdlib.h>

static const uint64_t in_stage = UINT64_MAX; /* as an offset */

static uint32_t ranks_in(const struct team *team, uint32_t domain) {
    uint32_t ranks = 0;
    for (int r = 0; r < team->p; r++) ranks += team->domain_of[r] == domain;
    return ranks;
}

static int levels_member(const struct team *team, uint32_t domain, size_t index) {
    int r = 0;
    while (team->domain_of[r] != domain || index-- > 0) r++;
    return r;
}

static size_t levels_index_of(const struct team *team, int rank) {
    size_t index = 0;
    for (int r = 0; r < rank; r++) index += team->domain_of[r] == team->domain_of[rank];
    return index;
}

static struct part my_share(const struct team *team, const struct reduction *reduction) {
    return part_shared(reduction, reduction->count, ranks_in(team, team->domain_of[team->me]),
                       levels_index_of(team, team->me));
}

/* Pays if the traffic that it saves between domains takes longer than a barrier. The cost per byte
 * is an estimate, not measured on a machine with several domains: cost.c's copies between
 * processors minus those within one. */
bool levels_pay(const struct team *team, const struct call *call) {
    static const double crossing_seconds = 1 / 20e9;
    const struct reduction *reduction = call->reduction;
    if (team->figures.domains < 2 || team->figures.domains >= (uint32_t)team->p || !team->domain_of)
        return false;
    if (among(call->shape.collective, SCANS)) return false;
    if (!reduction->commutes && !domains_in_order(team)) return false;
    double p = team->p, domains = team->figures.domains, spared = p - p / domains - (domains - 1);
    double slice = (double)(reduction->count * reduction->bytes) / p;
    return spared > 0 && crowding(&team->figures) * slice * spared * crossing_seconds >=
                             team->figures.usual_sync_seconds;
}

uint32_t levels_post(const struct team *team, const struct reduction *reduction, uint32_t half,
                     char **memory) {
    size_t bytes = my_share(team, reduction).count * reduction->bytes;
    uint64_t *offset = card_at(team, half, team->me);
    *memory = NULL;
    *offset = in_stage;
    if (bytes <= team->figures.slot) return 0;
    /* Other memory's ends would be shown as they are now. */
    *memory = shown_born(0, bytes);
    bool shown = *memory && team_shows(team, *memory, bytes, SHOW_TO_READERS, offset) == SHOWN;
    return shown ? 0 : SEND_UNREACHABLE;
}

/* Where rank `owner` keeps its share of its domain's partial result. */
static char *share_of(const struct team *team, uint32_t half, int owner) {
    const uint64_t *offset = card_at(team, half, owner);
    if (*offset == in_stage) return stage_of(team, half ^ 1, owner, team->figures.slot);
    return (char *)(team->peers[0][owner] + *offset);
}

void levels_combine(const struct team *team, const struct reduction *reduction, uint32_t half) {
    char *to = share_of(team, half, team->me);
    struct part share = my_share(team, reduction);
    size_t bytes = reduction->bytes, strip = strip_elements(reduction);
    uint32_t domain = team->domain_of[team->me];
    for (size_t done = 0, now; done < share.count; done += now, to += now * bytes) {
        now = share.count - done < strip ? share.count - done : strip;
        bool first = true;
        for (int r = team->p - 1; r >= 0; r--) {
            if (team->domain_of[r] != domain) continue;
            const char *vector = posted_vector(team, half, r) + (share.first + done) * bytes;
            if (first) memcpy(to, vector, now * bytes);
            else reduction->combine(reduction, vector, to, now);
            first = false;
        }
    }
}

size_t levels_at(const struct team *team, const struct reduction *reduction, uint32_t half,
                 uint32_t domain, size_t element, const char **at) {
    size_t ranks = ranks_in(team, domain),
           index = (size_t)((double)element / (double)reduction->count * (double)ranks);
    struct part share = part_shared(reduction, reduction->count, ranks, index);
    while (share.first > element) share = part_shared(reduction, reduction->count, ranks, --index);
    while (share.first + share.count <= element)
        share = part_shared(reduction, reduction->count, ranks, ++index);
    int owner = levels_member(team, domain, index);
    *at = share_of(team, half, owner) + (element - share.first) * reduction->bytes;
    return share.first + share.count - element;
}
