/*
 * Any bytes as a file of several traces. Those that do not begin like a trace are changes to a
 * correct file of three: records of 12 bytes, the offset (4) and the value (8). Offsets beyond the
 * file count from the list at its end.
 *
 * Traces that can be opened lie in the file, and do not overlap.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/files/trace_file.h"
#include "common/trace/trace_reader.h"
#include "tests/unit/trace_several.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TRACES 3
#define OPENED 300 /* a file of a fuzzer has no more than some */

static void check_place(const char *path, uint32_t number, uint64_t len, uint64_t *end)
{
    struct trace_file f;
    struct trace *t;
    char part[64];

    snprintf(part, sizeof part, "%s/%u", path, number);
    if (trace_file_open(part, 0, &f))
        return;
    if (!f.is_part || f.at < *end || f.size > len || f.at > len - f.size)
        abort();
    *end = f.at + f.size;
    close(f.fd);
    if (trace_load_quietly(part, &t) == 0)
        trace_free(t);
}

static void try(const uint8_t *data, size_t size)
{
    uint64_t end = 0;
    uint32_t n = 0;
    char path[32];
    int fd = memfd_create("traces", MFD_CLOEXEC);

    if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size))
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (trace_file_count(path, &n) == 0)
        for (uint32_t i = 1; i <= n + 1 && i <= OPENED; i++)
            check_place(path, i, size, &end);
    close(fd);
}

static void try_changed(const uint8_t *data, size_t size)
{
    struct several s;

    several_init(&s, TRACES, true);
    for (; size >= 12; data += 12, size -= 12) {
        uint32_t at;

        memcpy(&at, data, 4);
        if (at >= s.len - 8)
            at = (uint32_t)(s.list_at + at % (s.len - s.list_at - 8));
        memcpy(s.data + at, data + 4, 8);
    }
    try(s.data, s.len);
    several_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (trace_magic_matches(data, size))
        try(data, size);
    else
        try_changed(data, size);
    return 0;
}
