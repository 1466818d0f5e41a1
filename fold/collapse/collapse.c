/* The state and the functions that the readers of other profilers' text share; see collapse.h. */
#include "fold/collapse/collapse.h"

#include <stdlib.h>
#include <uthash.h>

#include "common/alloc.h"
#include "common/folded.h"
#include "fold/symbols/plainname.h"

/* A name that was made plain, cached: making it plain takes longer than all other work on it. */
struct made_plain {
    UT_hash_handle hh;
    uint32_t id;
    char name[];
};

void collapse_init(struct collapse *c, const struct collapse_options *opt, struct stackset *stacks)
{
    *c = (struct collapse){.opt = opt, .stacks = stacks};
    c->scratch = c->scratch2 = c->unknown_text = (struct strbuf)STRBUF_INIT;
    c->in.fd = -1;
    c->column = -1;
}

void collapse_release(struct collapse *c)
{
    struct made_plain *known, *next;

    HASH_ITER (hh, c->plain, known, next) {
        HASH_DEL(c->plain, known);
        free(known);
    }
    textinput_close(&c->in);
    strbuf_release(&c->scratch);
    strbuf_release(&c->scratch2);
    strbuf_release(&c->unknown_text);
    folded_columns_release(&c->columns);
    free(c->ids);
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The high bit of each byte that is 0, and perhaps of a byte behind one. */
static uint64_t zeros(uint64_t v)
{
    return (v - EACH(1)) & ~v & EACH(0x80);
}

/* Eight bytes at once: no control character, no ';' and nothing beyond ASCII. */
static bool is_plain_word(const char *s)
{
    uint64_t v;

    memcpy(&v, s, sizeof v);
    return !(((v - EACH(0x20)) | v) & EACH(0x80)) && !zeros(v ^ EACH(';')) &&
           !zeros(v ^ EACH(0x7f));
}

/* Whether folded_add_frame would leave the name as it is; false when in doubt. */
static bool is_plain(const char *name, size_t len)
{
    size_t i = 0;

    if (len > 0 && (name[len - 1] == '.' || (name[len - 1] >= '0' && name[len - 1] <= '9')) &&
        memchr(name, ' ', len))
        return false;
    for (; i + 8 <= len; i += 8)
        if (!is_plain_word(name + i))
            return false;
    for (; i < len; i++)
        if ((signed char)name[i] < 0x20 || name[i] == ';' || name[i] == 0x7f)
            return false;
    return true;
}

static uint32_t safe_name(struct collapse *c, const char *name, size_t len)
{
    struct strbuf safe = STRBUF_INIT;
    uint32_t id;

    if (is_plain(name, len))
        return stackset_name(c->stacks, name, len);
    folded_add_frame(&safe, name, len);
    id = stackset_name(c->stacks, safe.buf, safe.len);
    strbuf_release(&safe);
    return id;
}

uint32_t collapse_name(struct collapse *c, const char *name, size_t len)
{
    struct strbuf plain = STRBUF_INIT;
    struct made_plain *known;

    if (c->opt->perl || !plainname_may((struct span){name, len}))
        return safe_name(c, name, len);
    HASH_FIND(hh, c->plain, name, len, known);
    if (!known) {
        known = xmalloc(sizeof *known + len);
        memcpy(known->name, name, len);
        known->id = plainname(&plain, (struct span){name, len}) ? safe_name(c, plain.buf, plain.len)
                                                                : safe_name(c, name, len);
        strbuf_release(&plain);
        HASH_ADD_KEYPTR(hh, c->plain, known->name, len, known);
    }
    return known->id;
}

uint32_t collapse_name_in(struct collapse *c, const char *name, size_t len, const char *path,
                          size_t path_len)
{
    struct strbuf marked = STRBUF_INIT;
    uint32_t id;

    if (c->opt->place != PLACE_MODULE || path_len == 0)
        return collapse_name(c, name, len);
    folded_add_frame(&marked, name, len);
    if (path_len == strlen("inlined") && memcmp(path, "inlined", path_len) == 0)
        place_mark(&marked, "", 0);
    else
        place_mark_module(&marked, c->opt->place, path, path_len);
    id = stackset_name(c->stacks, marked.buf, marked.len);
    strbuf_release(&marked);
    return id;
}

void collapse_push_id(struct collapse *c, uint32_t id)
{
    if (unlikely(c->n >= FOLDED_FRAMES_MAX)) {
        textinput_refuse(&c->in,
                         "makes a stack of more than 4194304 frames, the most one may have");
        return;
    }
    GROW(c->ids, c->n, c->alloc);
    c->ids[c->n++] = id;
}

void collapse_push(struct collapse *c, const char *name, size_t len)
{
    collapse_push_id(c, collapse_name(c, name, len));
}

void collapse_push_str(struct collapse *c, const char *name)
{
    collapse_push(c, name, strlen(name));
}

void collapse_flush(struct collapse *c, enum collapse_order order,
                    const struct stackset_count *count)
{
    if (order == LEAF_FIRST)
        for (size_t i = 0, j = c->n; i + 1 < j; i++) {
            uint32_t id = c->ids[--j];

            c->ids[j] = c->ids[i];
            c->ids[i] = id;
        }
    /* Empty frames at the leaf: no reader of folded text counts them as frames. */
    while (c->n > 0 && stackset_is_empty(c->stacks, c->ids[c->n - 1]))
        c->n--;
    stackset_add(c->stacks, c->ids, c->n, count, NULL);
    c->samples++;
    c->n = 0;
    /* Readers use names by their ids, so spilling keeps the ids. */
    if (c->spill && spill_is_due(c->spill, c->stacks, true))
        spill_take(c->spill, &c->stacks, true);
}

void collapse_flush_one(struct collapse *c, enum collapse_order order)
{
    static const struct stackset_count one = {1, 0};

    collapse_flush(c, order, &one);
}

void collapse_drop(struct collapse *c)
{
    c->n = 0;
}

void collapse_unknown(struct collapse *c, const char *line, size_t len)
{
    if (c->unknown++ > 0)
        return;
    c->unknown_line = c->in.line;
    strbuf_add(&c->unknown_text, line, len < 120 ? len : 120);
}
