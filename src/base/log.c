/* SPDX-License-Identifier: BSD-3-Clause */
/* log - a limited number of lines on standard error: a library in a job of many ranks must not
 * flood it. */
#include "base/base.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static const int most_warnings = 8;

/* One write per line, so that the lines of many ranks do not mix. */
static void line(const char *format, va_list arguments) {
    char text[512] = "mortar: ";
    const size_t head = 8, room = sizeof text - head - 1;
    int length = vsnprintf(text + head, room, format, arguments);
    if (length < 0) return;
    size_t end = head + ((size_t)length < room ? (size_t)length : room - 1);
    text[end++] = '\n';
    if (write(STDERR_FILENO, text, end) < 0) return; /* there is no other place for messages */
}

static void warning(const char *format, va_list arguments) {
    static atomic_int warnings;
    if (*option_text(OPTION_VERBOSE) != '0' && atomic_fetch_add(&warnings, 1) < most_warnings)
        line(format, arguments);
}

void warn(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    warning(format, arguments);
    va_end(arguments);
}

void warn_job(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (launcher_rank() <= 0) warning(format, arguments);
    else if (*option_text(OPTION_VERBOSE) == '2') line(format, arguments);
    va_end(arguments);
}

void note(const char *format, ...) {
    if (*option_text(OPTION_VERBOSE) != '2') return;
    va_list arguments;
    va_start(arguments, format);
    line(format, arguments);
    va_end(arguments);
}
