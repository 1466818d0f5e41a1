/*
 * merge.c: cost of merging folded stacks in each of flame's three ways.
 *
 *     merge FILE...
 *
 * Reads each file of folded stacks into memory and adds all its lines to a stackset (whole stacks
 * by hash: flame collapse), an aggregate (a tree by parent and frame: flame fold) and a frametree
 * (a tree with counts, columns and totals: flame render). Then it sorts each, in a process of its
 * own. Prints the CPU seconds and the memory that they took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/folded.h"
#include "fold/aggregate.h"
#include "fold/stacks/stackset.h"
#include "render/frametree.h"

struct merger {
    const char *name;
    void (*add)(const struct folded_line *line);
    void (*finish)(FILE *out);
};

static uint32_t ids[FOLDED_FRAMES_MAX];
static struct aggregate *tree;
static struct stackset *set;
static struct frametree frames;

static void drop(void *opaque, const char *text, size_t len)
{
    fwrite(text, 1, len, opaque);
}

/* The ids of a stack's frames, root first, as `id` gives them. */
static size_t split(const struct folded_line *l, uint32_t (*id)(const char *, size_t))
{
    const char *s = l->stack, *end = s + l->len;
    size_t n = 0;

    for (;;) {
        const char *semi = memchr(s, ';', (size_t)(end - s));

        ids[n++] = id(s, (size_t)((semi ? semi : end) - s));
        if (!semi)
            return n;
        s = semi + 1;
    }
}

static uint32_t set_id(const char *s, size_t len)
{
    return stackset_name(set, s, len);
}

static void set_add(const struct folded_line *l)
{
    struct stackset_count count = {l->count.whole, 0};

    stackset_add(set, ids, split(l, set_id), &count, NULL);
}

static void set_finish(FILE *out)
{
    stackset_write(set, 0, out);
}

static uint32_t tree_id(const char *s, size_t len)
{
    return aggregate_safe_frame(tree, s, len);
}

static void tree_add(const struct folded_line *l)
{
    size_t n = split(l, tree_id);
    uint32_t at = 0;

    for (size_t i = 0; i < n; i++)
        at = aggregate_push(tree, at, ids[i]);
    aggregate_add(tree, at, (int64_t)l->count.whole);
}

static void tree_finish(FILE *out)
{
    aggregate_write(tree, drop, out);
}

static void frames_add(const struct folded_line *l)
{
    frametree_add(&frames, l);
}

static void frames_finish(FILE *out FLAME_UNUSED)
{
    frametree_finish(&frames);
}

static const struct merger mergers[] = {{"stackset", set_add, set_finish},
                                        {"aggregate", tree_add, tree_finish},
                                        {"frametree", frames_add, frames_finish}};

static double cpu(long *kib)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    *kib = u.ru_maxrss;
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void measure(const struct merger *m, const struct strbuf *text, const char *file)
{
    double begun, merged, done;
    long before, after;
    size_t lines = 0;
    FILE *out = fopen("/dev/null", "w");

    tree = aggregate_new();
    set = stackset_new();
    frametree_init(&frames, false);
    begun = cpu(&before);
    for (const char *s = text->buf, *end; (end = strchr(s, '\n')); s = end + 1) {
        struct folded_line line;

        if (folded_parse_line(s, (size_t)(end - s), &line) == 1) {
            m->add(&line);
            lines++;
        }
    }
    merged = cpu(&after);
    m->finish(out);
    done = cpu(&after);
    printf("%-10s %s: %zu stacks: merged in %.2f s, in order in %.2f s, %ld MB\n", m->name, file,
           lines, merged - begun, done - merged, (after - before) / 1024);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct strbuf text = STRBUF_INIT;
        FILE *f = fopen(argv[i], "r");

        if (!f || strbuf_read_fd(&text, fileno(f)) < 0) {
            perror(argv[i]);
            return 1;
        }
        fclose(f);
        for (size_t m = 0; m < ARRAY_LEN(mergers); m++) {
            fflush(stdout);
            if (fork() == 0) {
                measure(&mergers[m], &text, argv[i]);
                exit(0);
            }
            wait(NULL);
        }
        strbuf_release(&text);
    }
    return 0;
}
