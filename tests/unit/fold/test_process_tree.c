/* Descent of processes, from the headers of traces. */
#include "fold/analysis/process_tree.h"
#include "common/trace/trace_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/tap.h"
#include "tests/unit/trace_build.h"

struct who {
    uint32_t pid, ppid;
    uint64_t start;
    const char *comm;
    bool forked;
    uint64_t namespace, fork_start;
    uint32_t fork_pid;
};

static void build(struct trace_build *b, const struct who *w)
{
    struct trace_header *h;

    tb_init(b);
    tb_meta_string(b, TRACE_META_COMM, w->comm);
    h = tb_header(b);
    h->pid = w->pid;
    h->ppid = w->ppid;
    h->start_monotonic_ns = w->start;
    h->pid_namespace = w->namespace;
    h->features |= w->forked ? TRACE_FEATURE_FORKED : 0;
    h->fork_pid = w->fork_pid;
    h->fork_start_ns = w->fork_start;
}

static struct trace *trace_of(const struct who *w)
{
    struct trace_build b;
    struct trace *t = NULL;

    build(&b, w);
    if (trace_load_bytes("test", b.data, b.len, false, &t))
        exit(1);
    tb_release(&b);
    return t;
}

static void add_all(struct process_tree *p, const struct who *w, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct trace *t = trace_of(&w[i]);

        process_tree_add(p, t);
        trace_free(t);
    }
}

static void is_below(struct process_tree *p, const struct who *w, const char *want,
                     const char *what)
{
    struct trace *t = trace_of(w);

    process_tree_place(p, t);
    is_str(t->ancestors, want, "%s", what);
    is_int(t->is_fork, w->forked, "%s: forked or executed as recorded", what);
    trace_free(t);
}

#define ADD(p, list) add_all(p, list, sizeof(list) / sizeof(list)[0])

static void a_build(void)
{
    static const struct who w[] = {{100, 1, 10, "make", false, 0, 0, 0},
                                   {101, 100, 20, "make", true, 0, 10, 100},
                                   {101, 100, 30, "sh", false, 0, 0, 0},
                                   {102, 101, 40, "gcc", false, 0, 0, 0},
                                   {103, 102, 50, "cc1", false, 0, 0, 0}};
    struct process_tree *p = process_tree_new(false), *ids = process_tree_new(true);

    ADD(p, w);
    ADD(ids, w);
    is_below(p, &w[0], "", "the first process has no ancestor");
    is_below(p, &w[1], "make", "a forked child is below its parent");
    is_below(p, &w[2], "make",
             "an executed program is below its process's parent, not below itself");
    is_below(p, &w[4], "make;sh;gcc", "a grandchild has all its ancestors");
    is_below(p, &w[4], "make;sh;gcc", "a second lookup finds the same ancestors");
    is_below(ids, &w[4], "make-100;sh-101;gcc-102", "ancestors have process ids on request");
    process_tree_free(p);
    process_tree_free(ids);
}

static void ids_used_again(void)
{
    static const struct who w[] = {
        {7, 1, 10, "early", false, 0, 0, 0}, {8, 7, 11, "one", false, 0, 0, 0},
        {7, 1, 20, "late", false, 0, 0, 0},  {8, 7, 21, "two", false, 0, 0, 0},
        {9, 7, 5, "before", false, 0, 0, 0}, {8, 55, 30, "stranger's", false, 0, 0, 0},
        {8, 7, 22, "two", true, 0, 0, 0},    {8, 7, 23, "three", false, 0, 0, 0}};
    struct process_tree *p = process_tree_new(false);

    ADD(p, w);
    is_below(p, &w[1], "early", "a reused pid: the ancestor is the process that had it before");
    is_below(p, &w[3], "late", "a reused pid: the ancestor is the process that has it now");
    is_below(p, &w[4], "", "a reused pid: the ancestor is not a process that got it afterwards");
    is_below(p, &w[7], "late", "a reused pid of the process itself keeps the ancestor");
    process_tree_free(p);
}

static void namespaces(void)
{
    static const struct who w[] = {{7, 0, 10, "outer", false, 1, 0, 0},
                                   {7, 0, 11, "inner", false, 2, 0, 0},
                                   {9, 7, 20, "child", false, 1, 0, 0},
                                   {9, 7, 21, "child", false, 2, 0, 0},
                                   {1, 0, 30, "init", true, 3, 10, 7}};
    struct process_tree *p = process_tree_new(false);

    ADD(p, w);
    is_below(p, &w[2], "outer", "pids of one namespace find its processes");
    is_below(p, &w[3], "inner", "pids of another namespace find that one's processes");
    is_below(p, &w[4], "outer",
             "the first process of a new namespace has the process that forked it");
    process_tree_free(p);
}

/* The parent's id is 1 when the parent has ended. */
static void orphans(void)
{
    static const struct who w[] = {
        {5, 1, 10, "server", false, 0, 0, 0}, {6, 1, 20, "server", true, 0, 10, 5},
        {6, 1, 30, "worker", false, 0, 0, 0}, {8, 1, 40, "gone", true, 0, 11, 5},
        {9, 5, 50, "old", true, 0, 0, 0},     {5, 1, 60, "after", false, 0, 0, 0}};
    struct process_tree *p = process_tree_new(false);

    ADD(p, w);
    is_below(p, &w[1], "server", "an orphan has the process that its header names as forking it");
    is_below(p, &w[2], "server", "a program that an orphan executes has the orphan's ancestors");
    is_below(p, &w[3], "", "an orphan of a process without a trace has no ancestor");
    is_below(p, &w[4], "server", "an orphan of an older trace has its parent's pid as ancestor");
    process_tree_free(p);
}

/* Headers that no recorder writes: the search ends, and names stay one frame without control
 * characters. */
static void hostile(void)
{
    static const struct who w[] = {{3, 3, 10, "self", true, 0, 10, 3},
                                   {4, 5, 10, "a", false, 0, 0, 0},
                                   {5, 4, 10, "b", false, 0, 0, 0},
                                   {20, 1, 10, "a;b\n\033[31m 7", true, 0, 0, 0},
                                   {21, 20, 20, "c", false, 0, 0, 0},
                                   {30, 1, 10, "", false, 0, 0, 0},
                                   {31, 30, 20, "d", false, 0, 0, 0},
                                   {0, 0, 0, "zero", true, 0, 0, 0},
                                   {40, 40, UINT64_MAX, "last", false, 0, 0, 0}};
    struct process_tree *p = process_tree_new(false);

    ADD(p, w);
    is_below(p, &w[0], "", "a process that is its own parent has no ancestor");
    is_below(p, &w[1], "",
             "two processes that are each other's parents have no ancestor, the first");
    is_below(p, &w[2], "",
             "two processes that are each other's parents have no ancestor, the second");
    is_below(p, &w[4], "a:b  [31m 7 (fork)",
             "a name with separators and control characters is one frame");
    is_below(p, &w[6], "unknown", "a process without a name is shown as unknown");
    is_below(p, &w[7], "", "a header of zeros has no ancestor");
    is_below(p, &w[8], "", "a process that starts at the largest time has no ancestor");
    process_tree_free(p);
}

static void deep(void)
{
    struct process_tree *p = process_tree_new(false);
    struct who w = {.comm = "x"};
    struct trace *t;
    size_t frames = 1;

    for (uint32_t i = 1; i <= 200; i++) {
        w.pid = i;
        w.ppid = i - 1;
        w.start = i;
        add_all(p, &w, 1);
    }
    t = trace_of(&w);
    process_tree_place(p, t);
    for (const char *s = t->ancestors; *s; s++)
        frames += *s == ';';
    is_int((intmax_t)frames, PROCTREE_ANCESTORS_MAX + 1,
           "the nearest PROCTREE_ANCESTORS_MAX ancestors are kept");
    is_int(strncmp(t->ancestors, PROCTREE_MORE ";x;", sizeof PROCTREE_MORE + 2), 0,
           "omitted ancestors are marked");
    trace_free(t);
    process_tree_free(p);
}

static void files(void)
{
    static const struct who parent = {50, 1, 10, "parent", false, 0, 0, 0},
                            child = {51, 50, 20, "child", false, 0, 0, 0};
    char path[] = "/tmp/flame-proctree.XXXXXX";
    struct process_tree *p = process_tree_new(false);
    int fd = mkstemp(path);
    struct trace_build b;

    build(&b, &parent);
    if (fd < 0 || close(fd) || tb_write(&b, path))
        exit(1);
    tb_release(&b);
    process_tree_add_file(p, path);
    process_tree_add_file(p, path);
    process_tree_add_file(p, "/dev/null");
    process_tree_add_file(p, "/");
    process_tree_add_file(p, "/none");
    is_below(p, &child, "parent",
             "a trace file added by its header is read when its name is needed");
    unlink(path);
    is_below(p, &child, "parent", "a name read once is kept after the file is gone");
    process_tree_free(p);
    p = process_tree_new(false);
    build(&b, &parent);
    tb_write(&b, path);
    process_tree_add_file(p, path);
    tb_release(&b);
    build(&b, &child);
    tb_write(&b, path);
    tb_release(&b);
    is_below(p, &child, "unknown", "a file that now belongs to another process gives no name");
    unlink(path);
    process_tree_free(p);
}

int main(void)
{
    a_build();
    ids_used_again();
    namespaces();
    orphans();
    hostile();
    deep();
    files();
    return done_testing();
}
