/* SPDX-License-Identifier: BSD-3-Clause */
/* libgpu - a stand-in for the drivers of GPUs: one range of addresses that it calls a device's
 * memory, or the host's that is registered. Built as NVIDIA's library and as AMD's (ROCM). */
#include <stdint.h>
#include <string.h>

enum { nobodys, registered, device };

int cuPointerGetAttribute(void *value, int attribute, uintptr_t address);
int hsa_amd_pointer_info(const void *address, void *info, void *alloc, void *count, void *agents);
int hsa_agent_get_info(uint64_t agent, int attribute, void *value);
void pretend(const void *start, uintptr_t bytes, int owner);

static uintptr_t first, length;
static int owner = nobodys;

void pretend(const void *start, uintptr_t bytes, int whose) {
    first = (uintptr_t)start;
    length = bytes;
    owner = whose;
}

static int owner_of(uintptr_t address) { return address - first < length ? owner : nobodys; }

#ifdef ROCM
/* As hsa_ext_amd.h has it, a structure that begins with its size: type 1 is memory that a program
 * got from the library, 2 memory that is registered, 0 any other. */
int hsa_amd_pointer_info(const void *address, void *info, void *alloc, void *count, void *agents) {
    enum { known = 40 };
    uint32_t size, type = 0;
    uint64_t agent = 7000 + device;
    memcpy(&size, info, sizeof size);
    if (size < known + sizeof agent || alloc || count || agents) return 0x1001;
    if (owner_of((uintptr_t)address) == registered) type = 2, agent = 7000;
    if (owner_of((uintptr_t)address) == device) type = 1;
    memcpy((char *)info + sizeof size, &type, sizeof type);
    if (type) memcpy((char *)info + known, &agent, sizeof agent);
    return 0;
}

int hsa_agent_get_info(uint64_t agent, int attribute, void *value) {
    uint32_t gpu = agent == 7000 + device;
    if (attribute != 17 || agent < 7000) return 0x1001;
    memcpy(value, &gpu, sizeof gpu);
    return 0;
}
#else
/* Attribute 2 is the memory type; 2 is a device's, 1 the host's. Driver calls fail (here: 1) for
 * memory they do not know. */
int cuPointerGetAttribute(void *value, int attribute, uintptr_t address) {
    unsigned type = owner_of(address) == device ? 2 : 1;
    if (attribute != 2 || owner_of(address) == nobodys) return 1;
    memcpy(value, &type, sizeof type);
    return 0;
}
#endif
