/* Stacks of a trace's nodes: their roots, and the names that processes and threads give themselves.
 */
#include "fold/nodestacks.h"

#include <stdlib.h>

#include "common/strbuf.h"
#include "common/trace/trace_reader.h"
#include "fold/fold.h"
#include "tests/tap.h"
#include "tests/unit/off_build.h"

/* Folds the trace that was built; the builder is released. */
static void is_folded(struct trace_build *b, const struct fold_options *opt, const char *want,
                      const char *what)
{
    struct strbuf out = STRBUF_INIT;
    struct trace *t = NULL;

    if (trace_load_bytes("test", b->data, b->len, false, &t) || fold_loaded(opt, &t, 1, &out))
        strbuf_addstr(&out, "refused");
    is_str(out.buf, want, "%s", what);
    trace_free(t);
    tb_release(b);
    strbuf_release(&out);
}

static void nap(struct trace_build *b, uint16_t thread, uint64_t us)
{
    ob_sleep(b, ob_stack(b, "nap", tb_root(b, 0, thread)), thread, TRACE_OFF_TIMER, us * 1000, 0);
}

static void title(struct trace_build *b, uint32_t pid, const char *text)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_add(&sb, (const char *)&pid, sizeof pid);
    strbuf_addstr(&sb, text);
    tb_meta(b, TRACE_META_TITLE, sb.buf, sb.len);
    strbuf_release(&sb);
}

/* Threads of all kinds; each sleeps a microsecond longer than the one before. */
static void build_waits(struct trace_build *b)
{
    uint16_t many;

    ob_init(b);
    nap(b, ob_thread(b, 100, 100, "post"), 1);            /* the first of a process with a title */
    nap(b, ob_thread(b, 100, 101, "post"), 2);            /* a thread by its process's name */
    nap(b, ob_thread(b, 100, 102, "writer"), 3);          /* by its own */
    nap(b, ob_thread(b, 100, 103, "postgres: x y z"), 4); /* longer than the title */
    nap(b, ob_thread(b, 200, 200, ""), 5);                /* no name */
    nap(b, ob_thread(b, 300, 300, "plain"), 6);           /* no title */
    many = ob_thread(b, 0, 7, "pool");                    /* several threads and processes in one */
    tb_thread_at(b, many)->uses = 2;
    nap(b, many, 7);
    nap(b, ob_thread(b, 400, 401, "fifteen letterX"), 8); /* as long as a name can be */
    title(b, 100, "postgres: x");
    title(b, 400, "fifteen letters");
}

static void test_waits(void)
{
    struct fold_options opt = {.view = "off", .no_header = true};
    struct trace_build b;

    build_waits(&b);
    is_folded(&b, &opt,
              "fifteen letterX;nap 8\nplain;nap 6\npool;nap 7\npost;nap 3\npostgres: x y z;nap "
              "4\nunknown;nap 5\n"
              "writer;nap 3\n",
              "off: a thread's root is its own name");
    opt.pid = true;
    build_waits(&b);
    is_folded(&b, &opt,
              "fifteen letterX-400;nap 8\nplain-300;nap 6\npool;nap 7\npostgres: x y z-100;nap "
              "4\npostgres: x-100;nap 3\n"
              "unknown-200;nap 5\nwriter-100;nap 3\n",
              "off with pid: a process's root is its title, a thread with its own name keeps that");
    opt.tid = true;
    build_waits(&b);
    is_folded(&b, &opt,
              "fifteen letterX-400;fifteen letterX-401;nap 8\nplain-300;plain-300;nap 6\npool;2 "
              "threads;nap 7\n"
              "postgres: x y z-100;postgres: x y z-103;nap 4\n"
              "postgres: x-100;post-100;nap 1\npostgres: x-100;post-101;nap 2\n"
              "unknown-200;-200;nap 5\nwriter-100;writer-102;nap 3\n",
              "off with pid and tid: a thread's frame has its own name");
}

static void build_memory(struct trace_build *b)
{
    uint32_t one, root;
    struct trace_header *h;

    tb_init(b);
    h = tb_header(b);
    h->pid = 42;
    memcpy(h->title, "daemon: idle", sizeof "daemon: idle");
    tb_meta_string(b, TRACE_META_EXE, "/bin/daemon");
    one = tb_thread(b, 42, "main");
    root = tb_root(b, 0, one);
    tb_row(b, ob_stack(b, "f", tb_node(b, TRACE_NODE_TRUNCATED, 0, root)), (uint16_t)one, 10, 1);
    tb_row(b, ob_stack(b, "f", tb_root(b, 0, 0)), 0, 30, 1);
}

static void test_memory(void)
{
    struct fold_options opt = {.view = "alloc", .no_header = true, .quiet = true};
    struct trace_build b;

    build_memory(&b);
    is_folded(&b, &opt, "daemon;[truncated];f 10\ndaemon;f 30\n",
              "alloc: the root is the program's name, and a truncated stack is marked");
    opt.tid = true;
    build_memory(&b);
    is_folded(&b, &opt, "daemon;[unknown thread];f 30\ndaemon;main-42;[truncated];f 10\n",
              "alloc with tid: the thread is below the root");
    opt.pid = true;
    opt.tid = false;
    build_memory(&b);
    is_folded(&b, &opt,
              "daemon: idle-42;[truncated];f 10\n"
              "daemon: idle-42;f 30\n",
              "alloc with pid: the root is the process's title");
}

/* A stack that a forked process inherited, from a trace that does not exist. */
static void test_inherited(void)
{
    struct fold_options opt = {.view = "alloc", .no_header = true, .quiet = true};
    struct trace_origin origin = {.pid = 41};
    struct strbuf sb = STRBUF_INIT;
    struct trace_build b;
    uint32_t one;

    tb_init(&b);
    tb_header(&b)->pid = 42;
    tb_meta_string(&b, TRACE_META_EXE, "/bin/child");
    strbuf_add(&sb, (const char *)&origin, sizeof origin);
    strbuf_addstr(&sb, "/nowhere/41.flame");
    tb_meta(&b, TRACE_META_ORIGIN, sb.buf, sb.len);
    strbuf_release(&sb);
    one = tb_thread(&b, 42, "main");
    tb_row(&b, tb_node(&b, TRACE_NODE_INHERITED, 1024, tb_root(&b, 0, one)), (uint16_t)one, 10, 1);
    is_folded(&b, &opt, "child;[inherited] 10\n",
              "alloc: a block from before the fork is marked as inherited");
}

int main(void)
{
    test_waits();
    test_inherited();
    test_memory();
    return done_testing();
}
