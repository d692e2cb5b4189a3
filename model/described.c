/* SPDX-License-Identifier: BSD-3-Clause */
#include "described.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_shown(const struct dirent *entry) { return entry->d_name[0] != '.'; }

bool described_place(char path[4096], const char *name, const char *program, const char *folder,
                     char why[256]) {
    const char *end = strrchr(program, '/');
    int before = end ? (int)(end - program) + 1 : 0;
    struct dirent **known;
    if (strchr(name, '/')) return snprintf(path, 4096, "%s", name) > 0;
    snprintf(path, 4096, "%.*s%s/%s", before, program, folder, name);
    if (*name && access(path, F_OK) == 0) return true;
    size_t used = (size_t)snprintf(why, 256, "--machine %.40s: no such description; known:", name);
    snprintf(path, 4096, "%.*s%s", before, program, folder);
    int count = scandir(path, &known, is_shown, alphasort);
    for (int i = 0; i < count && used < 256; i++)
        used += (size_t)snprintf(why + used, 256 - used, " %s", known[i]->d_name);
    if (used < 256) snprintf(why + used, 256 - used, "; or a path with /");
    return false; /* known is not freed: the program ends */
}

int described_read(const char *path, char name[64],
                   bool (*set)(void *machine, const char *key, char *value), void *machine,
                   char why[256]) {
    FILE *file = fopen(path, "r");
    char line[256];
    if (!file) {
        int error = errno;
        snprintf(why, 256, "%.160s: cannot be read: %s", path, strerror(error));
        return -error;
    }
    snprintf(name, 64, "%s", strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
    bool fine = true;
    for (int number = 1; fine && fgets(line, sizeof line, file); number++) {
        fine = strchr(line, '\n') || feof(file); /* a device may never end */
        if (!fine) snprintf(why, 256, "%.80s:%d: too long a line, or no text", path, number);
        line[strcspn(line, "#\n")] = 0;
        for (size_t n = strlen(line); n > 0 && line[n - 1] == ' '; n--) line[n - 1] = 0;
        if (!*line || !fine) continue;
        char *value = line + strcspn(line, " ");
        if (*value) *value++ = 0;
        fine = set(machine, line, value + strspn(value, " "));
        if (!fine)
            snprintf(why, 256, "%.80s:%d: %.80s: no such key, or not such a value", path, number,
                     line);
    }
    int error = ferror(file) ? errno : 0; /* a folder can be opened, and not read */
    fclose(file);
    if (error) snprintf(why, 256, "%.160s: cannot be read: %s", path, strerror(error));
    return error ? -error : fine ? 0 : -EINVAL;
}
