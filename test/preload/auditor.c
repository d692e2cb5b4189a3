/* SPDX-License-Identifier: BSD-3-Clause */
/* auditor - for LD_AUDIT: sees every library and every function, as a tracer does, and does
 * nothing. */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>

unsigned la_version(unsigned version) { return version; }

unsigned la_objopen(struct link_map *library, Lmid_t list, uintptr_t *cookie) {
    (void)library, (void)list, (void)cookie;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
