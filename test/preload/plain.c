/* SPDX-License-Identifier: BSD-3-Clause */
/* plain - a program without MPI. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *text = malloc(100);
    if (!text) return 1;
    strcpy(text, "no MPI here");
    puts(text);
    free(text);
    return 0;
}
