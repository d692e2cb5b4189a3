/* SPDX-License-Identifier: BSD-3-Clause */
#include "described.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void described_place(char path[4096], const char *name, const char *program, const char *folder) {
    const char *end = strrchr(program, '/');
    if (strchr(name, '/')) snprintf(path, 4096, "%s", name);
    else
        snprintf(path, 4096, "%.*s%s/%s", end ? (int)(end - program) + 1 : 0, program, folder,
                 name);
}

int described_read(const char *path, char name[64],
                   bool (*set)(void *machine, const char *key, char *value), void *machine,
                   char why[256]) {
    FILE *file = fopen(path, "r");
    char line[256];
    snprintf(why, 256, "%s: cannot be read", path);
    if (!file) return -errno;
    snprintf(name, 64, "%s", strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
    bool fine = true;
    for (int number = 1; fine && fgets(line, sizeof line, file); number++) {
        line[strcspn(line, "#\n")] = 0;
        for (size_t n = strlen(line); n > 0 && line[n - 1] == ' '; n--) line[n - 1] = 0;
        if (!*line) continue;
        char *value = line + strcspn(line, " ");
        if (*value) *value++ = 0;
        fine = set(machine, line, value + strspn(value, " "));
        if (!fine)
            snprintf(why, 256, "%.80s:%d: %.80s: no such key, or not such a value", path, number,
                     line);
    }
    fclose(file);
    return fine ? 0 : -EINVAL;
}
