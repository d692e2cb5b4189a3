/* SPDX-License-Identifier: BSD-3-Clause */
/* csv - CSV files that several runs add to, and sizes as people write them. */
#include "bench.h"

#include <errno.h>
#include <string.h>

FILE *csv_open(const char *path, const char *header) {
    char first[512] = "";
    FILE *csv = fopen(path, "a+");
    if (!csv) {
        fprintf(stderr, "mortar bench: --csv %s: %s\n", path, strerror(errno));
        return NULL;
    }
    rewind(csv);
    size_t length = fread(first, 1, strlen(header), csv);
    fseek(csv, 0, SEEK_END);
    bool ends = true; /* with a whole row; not after a full disk, or a kill */
    if (length > 0 && fseek(csv, -1, SEEK_END) == 0) ends = fgetc(csv) == '\n';
    fseek(csv, 0, SEEK_END);
    if (length == 0) fputs(header, csv);
    else if (strcmp(first, header) != 0) {
        fprintf(
            stderr,
            "mortar bench: --csv %s: the file exists and is none of ours (its first line differs)\n",
            path);
        fclose(csv);
        return NULL;
    } else if (!ends) {
        fprintf(
            stderr,
            "mortar bench: --csv %s: its last row is not whole; remove it, or name another file\n",
            path);
        fclose(csv);
        return NULL;
    }
    return csv;
}

void csv_text(FILE *csv, const char *text) {
    if (!strpbrk(text, ",\"")) {
        fputs(text, csv);
        return;
    }
    fputc('"', csv);
    for (; *text; text++) fprintf(csv, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', csv);
}

int csv_close(FILE *csv) {
    if (!csv) return 0;
    bool lost = ferror(csv); /* rows that could not be written are no longer there to fail again */
    if (fclose(csv) == 0 && !lost) return 0;
    fprintf(stderr, "mortar bench: the CSV file is not complete: %s\n",
            lost ? "rows could not be written (is the disk full?)" : strerror(errno));
    return 1;
}

const char *size_text(size_t bytes, char *text, size_t size) {
    if (bytes >> 20 && bytes % (1 << 20) == 0) snprintf(text, size, "%zuM", bytes >> 20);
    else if (bytes >> 10 && bytes % (1 << 10) == 0) snprintf(text, size, "%zuK", bytes >> 10);
    else snprintf(text, size, "%zu", bytes);
    return text;
}
