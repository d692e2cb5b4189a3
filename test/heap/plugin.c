/* SPDX-License-Identifier: BSD-3-Clause */
/* plugin - a library that arrives by dlopen and allocates. */
#include <stdlib.h>

void *plugin_allocate(size_t bytes);
void *plugin_allocate(size_t bytes) { return malloc(bytes); }
