/* Frames with their places, damage, and kinds of values; see located.h. */
#include "fold/collapse/located.h"

#include <inttypes.h>
#include <stdarg.h>

#include "common/error.h"
#include "common/folded.h"

static struct span last_component(struct span path)
{
    size_t slash = span_rchr(path, '/');

    return slash == SIZE_MAX ? path : span_from(path, slash + 1);
}

static void add_place(struct strbuf *sb, enum place_kind kind, const struct located *l)
{
    struct span file = last_component(l->file);
    struct strbuf text = STRBUF_INIT;

    if (kind == PLACE_MODULE || file.len == 0) {
        if (l->module.len)
            place_mark_module(sb, kind, l->module.s, l->module.len);
        return;
    }
    strbuf_add(&text, file.s, file.len);
    if (kind == PLACE_LINE && l->line)
        strbuf_addf(&text, ":%" PRIu64, l->line);
    place_mark(sb, text.buf, text.len);
    strbuf_release(&text);
}

uint32_t collapse_located(struct collapse *c, const struct located *l)
{
    enum place_kind kind = c->opt->place;
    struct strbuf *name = &c->scratch2;
    struct strbuf marked = STRBUF_INIT;
    uint32_t id;

    strbuf_clear(name);
    if (l->name.len) {
        strbuf_add(name, l->name.s, l->name.len);
    } else if (l->module.len) {
        struct span module = last_component(l->module);

        strbuf_addf(name, "[%.*s]", (int)(module.len < 4096 ? module.len : 4096), module.s);
    } else {
        strbuf_addstr(name, "[unknown]");
    }
    if (c->opt->srcline && l->file.len) {
        strbuf_addch(name, ' ');
        strbuf_add(name, l->file.s, l->file.len);
        if (l->line)
            strbuf_addf(name, ":%" PRIu64, l->line);
    }
    if (l->inlined)
        strbuf_addstr(name, "_[i]");
    if (kind != PLACE_MODULE && kind != PLACE_FILE && kind != PLACE_LINE)
        return collapse_name(c, name->buf, name->len);
    folded_add_frame(&marked, name->buf, name->len);
    add_place(&marked, kind, l);
    id = stackset_name(c->stacks, marked.buf, marked.len);
    strbuf_release(&marked);
    return id;
}

static void end_with(struct collapse *c, struct strbuf *where, const char *fmt, va_list ap)
{
    char what[sizeof c->in.why];

    collapse_drop(c);
    if (!c->in.error) {
        vsnprintf(what, sizeof what, fmt, ap);
        strbuf_addstr(where, what);
        snprintf(c->in.why, sizeof c->in.why, "%s", where->buf);
        c->in.error = c->in.why;
    }
    strbuf_release(where);
}

void collapse_damaged(struct collapse *c, size_t offset, const char *fmt, ...)
{
    struct strbuf where = STRBUF_INIT;
    va_list ap;

    strbuf_addf(&where, "byte %zu: ", offset);
    va_start(ap, fmt);
    end_with(c, &where, fmt, ap);
    va_end(ap);
}

void collapse_damaged_text(struct collapse *c, const char *text, const char *at, const char *fmt,
                           ...)
{
    struct strbuf where = STRBUF_INIT;
    size_t line = 1;
    va_list ap;

    for (const char *p = text; p < at && (p = memchr(p, '\n', (size_t)(at - p))); p++)
        line++;
    strbuf_addf(&where, "line %zu (byte %zu): ", line, (size_t)(at - text));
    va_start(ap, fmt);
    end_with(c, &where, fmt, ap);
    va_end(ap);
}

/* The names of all kinds of values but one (n: of all). */
static void add_types(struct collapse *c, struct strbuf *sb, const struct span *types, size_t n,
                      size_t but)
{
    size_t start = sb->len;

    for (size_t i = 0; i < n; i++) {
        if (i == but)
            continue;
        strbuf_addstr(sb, sb->len == start ? "" : ", ");
        if (sb->len - start > 100) {
            strbuf_addstr(sb, "...");
            break;
        }
        folded_add_frame(sb, types[i].s, types[i].len);
    }
    (void)c;
}

size_t collapse_pick_type(struct collapse *c, const struct span *types, size_t n, size_t otherwise)
{
    struct strbuf text = STRBUF_INIT;

    if (c->opt->type) {
        for (size_t i = 0; i < n; i++)
            if (span_is(types[i], c->opt->type))
                return i;
        strbuf_addf(&text, "it has no values '%.40s'; it has ", c->opt->type);
        add_types(c, &text, types, n, n);
        snprintf(c->in.why, sizeof c->in.why, "%s", text.buf);
        c->in.error = c->in.why;
        strbuf_release(&text);
        return n;
    }
    if (n > 1) {
        struct strbuf counted = STRBUF_INIT;

        folded_add_frame(&counted, types[otherwise].s, types[otherwise].len);
        add_types(c, &text, types, n, otherwise);
        flame_warn("%s: holds several kinds of values; %s is counted, --type picks another (%s)",
                   c->in.name, counted.buf, text.buf);
        strbuf_release(&counted);
    }
    strbuf_release(&text);
    return otherwise;
}
