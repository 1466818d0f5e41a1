#include "driver/leak/leakgroups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "render/value.h"

/* A name that is megabytes long is cut, a terminal is no place for it. */
#define NAME_SHOWN 200

const char *leak_source_path(const struct leak_frame *f)
{
    static char here[4096];
    size_t len;

    if (!f || !f->file)
        return NULL;
    if (!here[0] && !getcwd(here, sizeof here))
        return f->file;
    len = strlen(here);
    if (len > 1 && strncmp(f->file, here, len) == 0 && f->file[len] == '/')
        return f->file + len + 1;
    return strncmp(f->file, "./", 2) == 0 ? f->file + 2 : f->file;
}

static void add_cut(struct strbuf *sb, const char *s)
{
    size_t len = strlen(s), cut = NAME_SHOWN;

    if (len <= NAME_SHOWN) {
        strbuf_add(sb, s, len);
        return;
    }
    /* Not within a character. */
    while (cut > 0 && ((unsigned char)s[cut] & 0xc0) == 0x80)
        cut--;
    strbuf_add(sb, s, cut);
    strbuf_addstr(sb, "...");
}

void leak_add_place(struct strbuf *sb, const struct leak_frame *f)
{
    const char *path = leak_source_path(f);

    if (!f) {
        strbuf_addstr(sb, "[no stack]");
        return;
    }
    add_cut(sb, f->function);
    if (!path)
        return;
    strbuf_addch(sb, ' ');
    add_cut(sb, path);
    if (f->line)
        strbuf_addf(sb, ":%u", f->line);
}

static void add_owner(struct strbuf *sb, const struct leak_group *g)
{
    if (g->processes > 1) {
        strbuf_addf(sb, "%zu processes", g->processes);
        return;
    }
    if (g->threads > 1) {
        strbuf_addf(sb, "%zu threads of ", g->threads);
    } else if (*g->leak->thread) {
        strbuf_addstr(sb, "thread ");
        add_cut(sb, g->leak->thread);
        strbuf_addstr(sb, " of ");
    }
    add_cut(sb, g->leak->process);
    if (g->leak->pid)
        strbuf_addf(sb, " %" PRIu32, g->leak->pid);
}

static int by_stack(const void *pa, const void *pb)
{
    const struct leak *a = *(const struct leak *const *)pa, *b = *(const struct leak *const *)pb;
    int order = leak_compare_frames(a, b);

    if (order)
        return order;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    order = strcmp(a->process, b->process);
    /* The list's order is that of the sizes. */
    return order ? order : (a > b) - (a < b);
}

static int by_size(const void *pa, const void *pb)
{
    const struct leak_group *a = pa, *b = pb;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->blocks != b->blocks)
        return a->blocks < b->blocks ? 1 : -1;
    return (a->leak > b->leak) - (a->leak < b->leak);
}

static bool same_group(const struct leak *a, const struct leak *b)
{
    return a->class == b->class && leak_compare_frames(a, b) == 0;
}

static bool same_process(const struct leak *a, const struct leak *b)
{
    return a->pid == b->pid && strcmp(a->process, b->process) == 0;
}

void leak_groups_make(struct leak_groups *groups, const struct leak_list *l)
{
    const struct leak **sorted = xcalloc(l->n, sizeof *sorted);
    size_t n = 0;

    *groups = (struct leak_groups){.group = xcalloc(l->n, sizeof *groups->group)};
    for (size_t i = 0; i < l->n; i++)
        if (leak_counts(&l->leaks[i]))
            sorted[n++] = &l->leaks[i];
    if (n)
        qsort(sorted, n, sizeof *sorted, by_stack);
    for (size_t i = 0; i < n; i++) {
        const struct leak *leak = sorted[i];
        struct leak_group *g;

        if (i == 0 || !same_group(sorted[i - 1], leak))
            groups->group[groups->n++] = (struct leak_group){.leak = leak};
        g = &groups->group[groups->n - 1];
        g->processes += g->processes == 0 || !same_process(sorted[i - 1], leak);
        g->threads++;
        g->bytes += leak->bytes;
        g->blocks += leak->blocks;
        if (leak->bytes > g->leak->bytes)
            g->leak = leak;
    }
    if (groups->n)
        qsort(groups->group, groups->n, sizeof *groups->group, by_size);
    free(sorted);
}

void leak_groups_release(struct leak_groups *groups)
{
    free(groups->group);
    *groups = (struct leak_groups){0};
}

/* "region NAME", as the outermost frame has it in brackets. */
static void add_class(struct strbuf *sb, const struct leak *leak)
{
    const char *name = leak->nframes ? leak->frames[leak->nframes - 1].function : "";
    size_t len = strlen(name);

    if (leak->class == LEAK_REGION && len > 2)
        strbuf_add(sb, name + 1, len - 2);
    else
        strbuf_addstr(sb, leak_class_names[leak->class]);
}

void leak_group_add(struct strbuf *sb, const struct leak_group *g)
{
    value_add_both(sb, (struct folded_count){.whole = g->bytes}, "bytes");
    strbuf_addstr(sb, " in ");
    value_add_number(sb, (struct folded_count){.whole = g->blocks}, true);
    strbuf_addf(sb, " block%s, ", g->blocks == 1 ? "" : "s");
    add_class(sb, g->leak);
    strbuf_addstr(sb, ": ");
    leak_add_place(sb, leak_place(g->leak));
    strbuf_addstr(sb, " (");
    add_owner(sb, g);
    strbuf_addch(sb, ')');
}

static uint64_t hash_text(uint64_t hash, const char *s)
{
    /* With its NUL, so that no two texts run together. */
    for (size_t i = 0, n = s ? strlen(s) + 1 : 1; i < n; i++)
        hash = (hash ^ (s ? (uint8_t)s[i] : 0)) * 0x100000001b3u;
    return hash;
}

uint64_t leak_group_fingerprint(const struct leak_group *g)
{
    uint64_t hash = hash_text(0xcbf29ce484222325u, leak_class_names[g->leak->class]);

    for (size_t i = 0; i < g->leak->nframes; i++) {
        const struct leak_frame *f = &g->leak->frames[i];
        const char *slash = f->file ? strrchr(f->file, '/') : NULL;

        hash = hash_text(hash, f->function);
        hash = hash_text(hash, slash ? slash + 1 : f->file);
    }
    return hash;
}
