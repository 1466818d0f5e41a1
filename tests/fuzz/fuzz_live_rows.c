/*
 * Looks twice at a trace that a program writes, which may hold anything: what the driver's threads
 * do while a command runs. The first two bytes of the input say how long the first state of the
 * file is, the third whether both states are what a writer makes, with the bytes in it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/trace/trace_writer.h"
#include "driver/monitor/live_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FILE_ROOM ((size_t)256 << 10)

static void check(const struct live_rows *g)
{
    for (size_t i = 1; i < g->n; i++)
        if (g->changes[i].row <= g->changes[i - 1].row)
            abort(); /* they are ascending */
}

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

/* Writes a header and segments, so that random words come to places that are read. For each segment
 * two bytes give the kind and the size, and two how many bytes of it follow. */
static size_t put_segments(uint8_t *to, const uint8_t *data, size_t size)
{
    struct trace_header h = {.unit = TRACE_UNIT,
                             .byte_order = TRACE_BYTE_ORDER,
                             .version = TRACE_VERSION,
                             .recorder = TRACE_RECORDER_MEM,
                             .pid = 7};
    size_t at = sizeof h;
    uint32_t rows = 0;

    memset(to, 0, FILE_ROOM);
    memcpy(h.magic, TRACE_MAGIC, sizeof h.magic);
    memcpy(to, &h, sizeof h);
    while (size > 4 && at + (size_t)64 * TRACE_UNIT < FILE_ROOM) {
        struct trace_segment s = {.magic = TRACE_SEGMENT_MAGIC,
                                  .type = data[0] % 8 ? TRACE_SEG_ROWS : data[0] / 8u,
                                  .record_size = sizeof(struct trace_row),
                                  .units = data[1] % 8u + (data[1] == 0)};
        size_t room = (size_t)s.units * TRACE_UNIT, n = data[2] | (size_t)data[3] << 8;

        s.index = s.type == TRACE_SEG_ROWS ? rows++ : 0;
        data += 4;
        size -= 4;
        n = at_most(n, size);
        memcpy(to + at, &s, sizeof s);
        if (room > sizeof s)
            memcpy(to + at + sizeof s, data, at_most(n, room - sizeof s));
        data += n;
        size -= n;
        at += room;
    }
    return at;
}

/* The file becomes those bytes. False: it cannot. */
static bool write_state(int fd, bool segments, const uint8_t *part, size_t len)
{
    static uint8_t file[FILE_ROOM];

    if (segments) {
        len = put_segments(file, part, len);
        part = file;
    }
    return ftruncate(fd, 0) == 0 && pwrite(fd, part, len, 0) == (ssize_t)len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_header h = {.pid = 0};
    struct live_rows g = {.n = 0};
    char name[64];
    size_t first;
    int fd;

    if (size < 4)
        return 0;
    first = 3 + (data[0] | (size_t)data[1] << 8) % (size - 3);
    snprintf(name, sizeof name, "/dev/shm/fuzz_live_rows.%d", (int)getpid());
    fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return 0;
    if (write_state(fd, data[2] & 1, data + 3, first - 3)) {
        live_rows_header(name, &h);
        live_rows_read(&g, name, &h);
        check(&g);
    }
    if (write_state(fd, data[2] & 1, data + first, size - first)) {
        live_rows_read(&g, name, &h);
        check(&g);
    }
    live_rows_release(&g);
    close(fd);
    unlink(name);
    return 0;
}
