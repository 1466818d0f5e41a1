#include "tests/unit/trace_several.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/files/trace_file.h"
#include "tests/unit/trace_build.h"

static void build(struct trace_build *b, uint32_t i, uint32_t traces, bool recorded)
{
    const struct trace_fileset of = {.id = {7, 7}, .file = i, .files = traces};
    uint32_t root;

    tb_init(b);
    tb_header(b)->recorder = TRACE_RECORDER_MEM;
    tb_header(b)->pid = i + 1;
    tb_header(b)->start_monotonic_ns = i + 1;
    tb_header(b)->traces = i ? 0 : traces;
    if (recorded)
        tb_meta(b, TRACE_META_RECORDING, &of, sizeof of);
    tb_meta_string(b, TRACE_META_EXE, "/bin/app");
    root = tb_root(b, 0, tb_thread(b, i + 1, "app"));
    tb_row(b, tb_node(b, TRACE_NODE_PC, 0x1500, root), 1, 100 + i, 1);
}

static void append(struct several *s, const void *bytes, size_t len)
{
    s->data = xrealloc(s->data, s->len + len);
    memcpy(s->data + s->len, bytes, len);
    s->len += len;
}

void several_init(struct several *s, uint32_t traces, bool recorded)
{
    struct trace_place *places = xcalloc(traces, sizeof *places);
    struct trace_list list = {.magic = TRACE_LIST_MAGIC, .traces = traces};
    uint64_t size = trace_list_size(traces);

    *s = (struct several){.data = NULL};
    for (uint32_t i = 0; i < traces; i++) {
        struct trace_build b;

        build(&b, i, traces, recorded);
        places[i] = (struct trace_place){.at = s->len, .size = b.len};
        append(s, b.data, b.len);
        tb_release(&b);
    }
    s->list_at = s->len;
    s->data = xrealloc(s->data, s->len + size);
    s->len += size;
    memset(s->data + s->list_at, 0, size);
    memcpy(s->data + s->list_at, &list, sizeof list);
    memcpy(s->data + s->list_at + sizeof list, places, traces * sizeof *places);
    free(places);
}

void several_release(struct several *s)
{
    free(s->data);
}

struct trace_list *several_list(struct several *s)
{
    return (struct trace_list *)(s->data + s->list_at);
}

struct trace_place *several_place(struct several *s, uint32_t i)
{
    return (struct trace_place *)(several_list(s) + 1) + i;
}

struct trace_header *several_header(struct several *s, uint32_t i)
{
    return (struct trace_header *)(s->data + several_place(s, i)->at);
}

int several_write(const struct several *s, const char *path, size_t len)
{
    FILE *f = fopen(path, "w");
    int err = 0;

    if (!f)
        return -errno;
    if (fwrite(s->data, 1, len, f) != len)
        err = -EIO;
    return fclose(f) ? -EIO : err;
}
