#include "driver/leak/leakgroups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/basename.h"
#include "common/hash.h"
#include "render/text/value.h"

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

static void add_class(struct strbuf *sb, const struct leak *leak)
{
    if (leak->class == LEAK_GROWTH)
        strbuf_addf(sb, " a pass, fit %.2f", leak->fit);
    else
        strbuf_addf(sb, ", %s", leak_class_names[leak->class]);
    if (leak->class == LEAK_REGION) {
        strbuf_addch(sb, ' ');
        add_cut(sb, leak->region);
    }
}

void leak_group_add(struct strbuf *sb, const struct leak_group *g)
{
    value_add_blocks(sb, g->bytes, g->blocks);
    add_class(sb, g->leak);
    strbuf_addstr(sb, ": ");
    leak_add_place(sb, leak_place(g->leak));
    strbuf_addstr(sb, " (");
    add_owner(sb, g);
    strbuf_addch(sb, ')');
    if (g->leak->kept_by)
        strbuf_addf(sb, ", kept by %s", g->leak->kept_by);
    if (g->leak->through)
        strbuf_addf(sb, " through %s", g->leak->through);
}

uint64_t leak_hash_frames(uint64_t hash, const struct leak *leak)
{
    for (size_t i = 0; i < leak->nframes; i++) {
        const struct leak_frame *f = &leak->frames[i];

        hash = fnv_text(hash, f->function);
        hash = fnv_text(hash, f->file ? base_name(f->file) : NULL);
    }
    return hash;
}

uint64_t leak_group_fingerprint(const struct leak_group *g)
{
    uint64_t hash = fnv_text(FNV_BASIS, leak_class_names[g->leak->class]);

    if (g->leak->region)
        hash = fnv_text(hash, g->leak->region);
    return leak_hash_frames(hash, g->leak);
}
