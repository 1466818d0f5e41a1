/*
 * Any bytes as a log of the state machine: a line that is read is written so that it reads as
 * equal, and the machine survives any events, in any order.
 */
#include <stdlib.h>

#include "tests/unit/replayer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_again(struct strbuf *sb, struct replay_memory *m, const char *line, size_t len)
{
    struct replay_record r;

    strbuf_clear(sb);
    if (replay_read(&r, m, line, len) == 0)
        replay_add(sb, &r);
}

/* A line that is written, read and written again is equal. */
static void check_line(const char *line, size_t len)
{
    struct replay_memory memory = {.words = NULL};
    struct strbuf once = STRBUF_INIT, twice = STRBUF_INIT;

    write_again(&once, &memory, line, len);
    write_again(&twice, &memory, once.buf, once.len);
    if (once.len != twice.len || memcmp(once.buf, twice.buf, once.len) != 0)
        abort();
    strbuf_release(&once);
    strbuf_release(&twice);
    replay_memory_release(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size, *to;
    struct replayed r;

    for (; at < end; at = to + 1) {
        to = memchr(at, '\n', (size_t)(end - at));
        to = to ? to : end;
        check_line(at, (size_t)(to - at));
    }
    replay_run(&r, (const char *)data, size);
    replayed_release(&r);
    return 0;
}
