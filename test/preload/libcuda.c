/* SPDX-License-Identifier: BSD-3-Clause */
/* libcuda - a stand-in for the CUDA driver: one function, and one range of addresses that it calls
 * a device's memory. */
#include <stdint.h>

int cuPointerGetAttribute(void *value, int attribute, uintptr_t address);
void pretend_device_memory(const void *start, uintptr_t bytes);

static uintptr_t first, length;

void pretend_device_memory(const void *start, uintptr_t bytes) {
    first = (uintptr_t)start;
    length = bytes;
}

/* Attribute 2 is the memory type; 2 is a device's, 1 the host's. Driver calls fail (here: 1) for
 * memory they do not know. */
int cuPointerGetAttribute(void *value, int attribute, uintptr_t address) {
    if (attribute != 2 || address - first >= length) return 1;
    *(unsigned *)value = 2;
    return 0;
}
