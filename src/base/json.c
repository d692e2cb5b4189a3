/* SPDX-License-Identifier: BSD-3-Clause */
/* json - texts in JSON (RFC 8259). */
#include "base/base.h"

void json_text(FILE *out, const char *text) {
    if (!*text) {
        fputs("null", out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < 0x20) fprintf(out, "\\u%04x", (unsigned)*text);
        else fputc(*text, out);
    }
    fputc('"', out);
}
