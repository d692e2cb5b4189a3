/* SPDX-License-Identifier: BSD-3-Clause */
/* topology - what hwloc knows about the machine. The library is not linked, but opened at first use
 * and closed again: mortar works without it, and the MPI library may have a copy of its own. It
 * reads some 50 files per processor, a millisecond on 2 processors, so what one process has found
 * out others of the node can be told. */
#include "base/base.h"

#include <dlfcn.h>
#include <hwloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct machine_facts facts = {.numa = 1, .sockets = 1, .l3s = 1};
/* [kind][facts.processors], by the system's number of a processor. */
static uint32_t *domains[DOMAIN_KINDS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* hwloc's functions, found by name. */
static struct {
    __typeof__(&hwloc_topology_init) init;
    __typeof__(&hwloc_topology_set_synthetic) set_synthetic;
    __typeof__(&hwloc_topology_set_xml) set_xml;
    __typeof__(&hwloc_topology_set_flags) set_flags;
    __typeof__(&hwloc_topology_set_components) set_components;
    __typeof__(&hwloc_topology_load) load;
    __typeof__(&hwloc_topology_destroy) destroy;
    __typeof__(&hwloc_get_type_depth) type_depth;
    __typeof__(&hwloc_get_nbobjs_by_depth) count_at;
    __typeof__(&hwloc_get_obj_by_depth) object_at;
    __typeof__(&hwloc_bitmap_isset) is_set;
    __typeof__(&hwloc_bitmap_last) last;
} h;

static bool topology_find(void *library, const char *name, void *place) {
    void *symbol = dlsym(library, name);
    *(void **)place = symbol;
    return symbol != NULL;
}

static bool find_all(void *library) {
    return topology_find(library, "hwloc_topology_init", &h.init) &&
           topology_find(library, "hwloc_topology_set_synthetic", &h.set_synthetic) &&
           topology_find(library, "hwloc_topology_set_xml", &h.set_xml) &&
           topology_find(library, "hwloc_topology_set_flags", &h.set_flags) &&
           topology_find(library, "hwloc_topology_set_components", &h.set_components) &&
           topology_find(library, "hwloc_topology_load", &h.load) &&
           topology_find(library, "hwloc_topology_destroy", &h.destroy) &&
           topology_find(library, "hwloc_get_type_depth", &h.type_depth) &&
           topology_find(library, "hwloc_get_nbobjs_by_depth", &h.count_at) &&
           topology_find(library, "hwloc_get_obj_by_depth", &h.object_at) &&
           topology_find(library, "hwloc_bitmap_isset", &h.is_set) &&
           topology_find(library, "hwloc_bitmap_last", &h.last);
}

static int count_of(hwloc_topology_t topology, hwloc_obj_type_t type) {
    int depth = h.type_depth(topology, type);
    if (depth == HWLOC_TYPE_DEPTH_UNKNOWN || depth == HWLOC_TYPE_DEPTH_MULTIPLE) return 0;
    return (int)h.count_at(topology, depth);
}

static hwloc_obj_t object(hwloc_topology_t topology, hwloc_obj_type_t type, int i) {
    return h.object_at(topology, h.type_depth(topology, type), (unsigned)i);
}

static size_t cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t type) {
    return count_of(topology, type) > 0 ? object(topology, type, 0)->attr->cache.size : 0;
}

/* Fills domains[kind] with the object of a type that each processor belongs to. Returns the number
 * of objects, at least one. */
static int topology_divide(hwloc_topology_t topology, hwloc_obj_type_t type,
                           enum domain_kind kind) {
    int count = count_of(topology, type);
    domains[kind] = calloc((size_t)facts.processors, sizeof(uint32_t));
    for (int i = 0; i < count && domains[kind]; i++)
        for (int p = 0; p < facts.processors; p++)
            if (h.is_set(object(topology, type, i)->cpuset, (unsigned)p))
                domains[kind][p] = (uint32_t)i;
    return count > 0 ? count : 1;
}

static void read_facts(hwloc_topology_t topology) {
    facts.processors = h.last(object(topology, HWLOC_OBJ_MACHINE, 0)->cpuset) + 1;
    facts.l1d = cache_bytes(topology, HWLOC_OBJ_L1CACHE);
    facts.l2 = cache_bytes(topology, HWLOC_OBJ_L2CACHE);
    facts.l3 = cache_bytes(topology, HWLOC_OBJ_L3CACHE);
    facts.numa = topology_divide(topology, HWLOC_OBJ_NUMANODE, DOMAIN_NUMA);
    facts.sockets = topology_divide(topology, HWLOC_OBJ_PACKAGE, DOMAIN_SOCKET);
    facts.l3s = topology_divide(topology, HWLOC_OBJ_L3CACHE, DOMAIN_L3);
    hwloc_obj_t package =
        count_of(topology, HWLOC_OBJ_PACKAGE) > 0 ? object(topology, HWLOC_OBJ_PACKAGE, 0) : NULL;
    for (unsigned i = 0; package && i < package->infos_count; i++)
        if (strcmp(package->infos[i].name, "CPUModel") == 0)
            snprintf(facts.cpu, sizeof facts.cpu, "%s", package->infos[i].value);
}

/* asks: by the processors' own instructions too, for which hwloc visits each of them. That takes
 * as long again as reading what the kernel says, and tells more only where the kernel hides the
 * caches, as some virtual machines do. */
static bool topology_load(hwloc_topology_t topology, bool asks) {
    const char *text = option_text(OPTION_TOPOLOGY);
    size_t length = strlen(text);
    bool file = length > 4 && strcmp(text + length - 4, ".xml") == 0;
    /* The whole machine, not only the part that a container allows. */
    h.set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (!asks) h.set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    if (*text && (file ? h.set_xml(topology, text) : h.set_synthetic(topology, text)) != 0) {
        warn_job(
            "MORTAR_TOPOLOGY=%s: expected a synthetic hwloc topology, e.g. \"pack:2 l3:2 core:4 pu:1\", or an .xml file; ignored",
            text);
        return false;
    }
    return h.load(topology) == 0;
}

static bool discover_by(bool asks) {
    hwloc_topology_t topology;
    if (h.init(&topology) != 0) return false;
    bool loaded = topology_load(topology, asks);
    bool enough = loaded && (asks || count_of(topology, HWLOC_OBJ_L2CACHE) > 0);
    if (enough) read_facts(topology);
    h.destroy(topology);
    return enough || !loaded;
}

static void ask_hwloc(void) {
    void *library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    if (library && find_all(library) && !discover_by(false)) discover_by(true);
    if (library) dlclose(library);
}

/* ---- what processes tell each other. Of a pretended machine nothing: others may pretend another
 * one, or none ---- */

struct told {
    struct machine_facts facts;
    uint32_t domains[]; /* [DOMAIN_KINDS][facts.processors] */
};
static struct told *_Atomic heard; /* never freed: facts may lie in it */
static _Atomic bool known;

static void discover(void) {
    struct told *told = heard;
    if (told) {
        facts = told->facts;
        for (int kind = 0; kind < DOMAIN_KINDS; kind++)
            domains[kind] = told->domains + kind * facts.processors;
    } else {
        ask_hwloc();
    }
    known = true;
}

size_t machine_tell(void *place, size_t room) {
    size_t each = (size_t)facts.processors * sizeof(uint32_t);
    size_t bytes = sizeof(struct told) + DOMAIN_KINDS * each;
    struct told *told = place;
    if (!known || each == 0 || bytes > room || *option_text(OPTION_TOPOLOGY)) return 0;
    told->facts = facts;
    for (int kind = 0; kind < DOMAIN_KINDS; kind++) {
        if (!domains[kind]) return 0;
        memcpy(told->domains + kind * facts.processors, domains[kind], each);
    }
    return bytes;
}

void machine_hear(const void *place, size_t bytes) {
    if (bytes == 0 || known || heard || *option_text(OPTION_TOPOLOGY)) return;
    struct told *none = NULL, *told = malloc(bytes);
    if (told) memcpy(told, place, bytes);
    if (!atomic_compare_exchange_strong(&heard, &none, told)) free(told);
}

/* ---- what there is ---- */

const struct machine_facts *machine_facts(void) {
    pthread_once(&once, discover);
    return &facts;
}

size_t machine_l3_bytes(void) {
    /* EPYC processors with stacked caches have 12 MiB for each core, some Ryzen 16. */
    static const size_t most_each = 16 << 20;
    const struct machine_facts *f = machine_facts();
    size_t all = f->l3 * (size_t)f->l3s, most = most_each * (size_t)f->processors;
    return most > 0 && all > most ? most : all;
}

const uint32_t *machine_domains(enum domain_kind kind) {
    pthread_once(&once, discover);
    return domains[kind];
}

int machine_domain_kinds(enum domain_kind kinds[DOMAIN_KINDS]) {
    const struct machine_facts *f = machine_facts();
    const int counts[DOMAIN_KINDS] = {f->numa, f->sockets, f->l3s};
    /* -2: auto; -1: none; else a kind. */
    int wanted = option_choice(OPTION_DOMAINS, "auto|none|numa|socket|l3") - 2, found = 0;
    for (int kind = 0; kind < DOMAIN_KINDS; kind++) {
        if (counts[kind] <= 1 || (wanted != kind && wanted != -2)) continue;
        int at = found++;
        for (; at > 0 && counts[kinds[at - 1]] < counts[kind]; at--) kinds[at] = kinds[at - 1];
        kinds[at] = (enum domain_kind)kind;
    }
    return found;
}
