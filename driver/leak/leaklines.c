#include "driver/leak/leaklines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/error.h"
#include "render/value.h"

/* A name that is megabytes long is cut, a terminal is no place for it. */
#define NAME_SHOWN 200

/* What was lost in one stack in one way. */
struct line {
    const struct leak *leak; /* the largest of them */
    uint64_t bytes, blocks;
    size_t threads, processes;
};

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

void leak_add_owner(struct strbuf *sb, const struct leak *leak, size_t nthreads, size_t nprocesses)
{
    if (nprocesses > 1) {
        strbuf_addf(sb, "%zu processes", nprocesses);
        return;
    }
    if (nthreads > 1) {
        strbuf_addf(sb, "%zu threads of ", nthreads);
    } else if (*leak->thread) {
        strbuf_addstr(sb, "thread ");
        add_cut(sb, leak->thread);
        strbuf_addstr(sb, " of ");
    }
    add_cut(sb, leak->process);
    if (leak->pid)
        strbuf_addf(sb, " %" PRIu32, leak->pid);
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
    const struct line *a = pa, *b = pb;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->blocks != b->blocks)
        return a->blocks < b->blocks ? 1 : -1;
    return (a->leak > b->leak) - (a->leak < b->leak);
}

static bool same_line(const struct leak *a, const struct leak *b)
{
    return a->class == b->class && leak_compare_frames(a, b) == 0;
}

static bool same_process(const struct leak *a, const struct leak *b)
{
    return a->pid == b->pid && strcmp(a->process, b->process) == 0;
}

static size_t make_lines(const struct leak_list *l, struct line *lines)
{
    const struct leak **sorted = xcalloc(l->n, sizeof *sorted);
    size_t n = 0, nlines = 0;

    for (size_t i = 0; i < l->n; i++)
        if (leak_counts(&l->leaks[i]))
            sorted[n++] = &l->leaks[i];
    if (n)
        qsort(sorted, n, sizeof *sorted, by_stack);
    for (size_t i = 0; i < n; i++) {
        const struct leak *leak = sorted[i];
        struct line *line;

        if (i == 0 || !same_line(sorted[i - 1], leak))
            lines[nlines++] = (struct line){.leak = leak};
        line = &lines[nlines - 1];
        line->processes += line->processes == 0 || !same_process(sorted[i - 1], leak);
        line->threads++;
        line->bytes += leak->bytes;
        line->blocks += leak->blocks;
        if (leak->bytes > line->leak->bytes)
            line->leak = leak;
    }
    if (nlines)
        qsort(lines, nlines, sizeof *lines, by_size);
    free(sorted);
    return nlines;
}

static void add_line(struct strbuf *sb, const struct line *line)
{
    value_add_both(sb, (struct folded_count){.whole = line->bytes}, "bytes");
    strbuf_addstr(sb, " in ");
    value_add_number(sb, (struct folded_count){.whole = line->blocks}, true);
    strbuf_addf(sb, " block%s, %s: ", line->blocks == 1 ? "" : "s",
                leak_class_names[line->leak->class]);
    leak_add_place(sb, leak_place(line->leak));
    strbuf_addstr(sb, " (");
    leak_add_owner(sb, line->leak, line->threads, line->processes);
    strbuf_addch(sb, ')');
}

void leak_lines_print(const struct leak_list *l, size_t most)
{
    struct line *lines = xcalloc(l->n, sizeof *lines);
    size_t n = make_lines(l, lines);
    struct strbuf sb = STRBUF_INIT;

    for (size_t i = 0; i < n && i < most; i++) {
        strbuf_clear(&sb);
        add_line(&sb, &lines[i]);
        flame_warn("  %s", sb.buf);
    }
    if (n > most)
        flame_warn("  and %zu more", n - most);
    strbuf_release(&sb);
    free(lines);
}
