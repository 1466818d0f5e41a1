/*
 * The trace of the off-CPU recorder: what tracer/output/offtrace.c writes, common/'s reader
 * finds, also when the writer is killed or its disk is full; and every way for such a
 * trace to be wrong is refused.
 */
#include "tracer/output/offtrace.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "common/trace/sleepclass.h"
#include "common/strbuf.h"
#include "common/trace/trace_reader.h"
#include "fold/fold.h"
#include "tests/tap.h"
#include "tests/unit/said.h"
#include "tests/unit/trace_build.h"

static char dir[] = "/tmp/flame-test-XXXXXX";
static char path[64];
static char *const arguments[] = {(char *)"app", (char *)"", (char *)"-x", NULL};

static struct offtrace *begin(void)
{
    struct offtrace_init init = {
        .path = path, .pid = getpid(), .argv = arguments, .depth = 128, .hz = 99};

    unlink(path);
    return offtrace_new(&init);
}

static struct trace *load(void)
{
    struct trace *t = NULL;

    trace_load(path, &t);
    return t;
}

static const struct trace_off_row *find_row(const struct trace *t, uint32_t node, uint16_t thread,
                                            uint16_t kind)
{
    const struct trace_off_row *rows = t ? trace_off_rows(t) : NULL;

    for (uint32_t id = 0; rows && id < t->row_limit; id++)
        if (rows[id].node == node && rows[id].thread == thread && rows[id].kind == kind)
            return &rows[id];
    return NULL;
}

static void test_round(void)
{
    struct trace_module m = {.start = 0x1000, .end = 0x2000, .bias = 0x1000};
    struct off_sleep s = {.blocked_ns = 100, .runq_ns = 7};
    struct off_oncpu on = {.cpu_ns = 11, .runq_ns = 3, .stack = 1};
    const struct trace_off_thread *th;
    const struct trace_off_row *r;
    struct offtrace *o = begin();
    uint32_t epoch, root, pc, call, futex, kernel, waker, woken;
    struct strbuf folded = STRBUF_INIT;
    struct trace_string name;
    uint16_t main, other;
    struct trace *t;

    if (!ok(o != NULL, "offtrace_new creates a trace"))
        return;
    main = offtrace_thread(o, 10, 10, "app");
    other = offtrace_thread(o, 10, 11, "a name of too many letters");
    epoch = offtrace_epoch(o);
    is_int(epoch, 1, "the first epoch is 1");
    m.first_epoch = epoch;
    m.end_epoch = epoch + 1;
    offtrace_module(o, &m, "/bin/app");
    root = offtrace_root(o, main, epoch);
    pc = offtrace_node(o, root, TRACE_NODE_PC, 0x1500);
    call = offtrace_name(o, pc, TRACE_NODE_NAME, "read pipe:[*]", 13);
    kernel = offtrace_name(o, pc, TRACE_NODE_KERNEL, "pipe_read", 9);
    futex = offtrace_node(o, pc, TRACE_NODE_FUTEX, 0x1ff0);
    waker = offtrace_node(o, call, TRACE_NODE_WAKER, futex);
    woken = offtrace_node(o, waker, TRACE_NODE_WAKER, kernel);
    is_int(offtrace_root(o, main, epoch), root, "offtrace_root returns the same root again");
    is_int(offtrace_node(o, root, TRACE_NODE_PC, 0x1500), pc,
           "offtrace_node returns the same node again");
    is_int(offtrace_name(o, pc, TRACE_NODE_NAME, "read pipe:[*]!", 13), call,
           "offtrace_name returns the same name again");
    ok(offtrace_node(o, root, TRACE_NODE_PC_EXACT, 0x1500) != pc,
       "a node of another kind is another node");
    ok(offtrace_name(o, root, TRACE_NODE_NAME, "read pipe:[*]", 13) != call,
       "a name under another parent is another node");
    is_int(offtrace_node(o, 0, TRACE_NODE_PC, 1), 0, "node 0 gets no child node");
    is_int(offtrace_name(o, 0, TRACE_NODE_NAME, "x", 1), 0, "node 0 gets no child name");
    offtrace_sleep(o, woken, main, TRACE_OFF_LOCAL, &s);
    s.blocked_ns = 300;
    s.cut = true;
    offtrace_sleep(o, woken, main, TRACE_OFF_LOCAL, &s);
    s.blocked_ns = 50;
    s.cut = false;
    offtrace_sleep(o, woken, main, TRACE_OFF_LOCAL, &s);
    offtrace_sleep(o, woken, main, TRACE_OFF_LOCK, &s);
    offtrace_sleep(o, woken, other, TRACE_OFF_LOCAL, &s);
    offtrace_sleep(o, 0, main, TRACE_OFF_LOCAL, &s);
    offtrace_oncpu(o, pc, main, &on);
    on.stack = 0;
    offtrace_oncpu(o, pc, main, &on);
    offtrace_thread_time(o, main, 1000, 20, 3);
    offtrace_thread_time(o, main, 1, 2, 3);
    offtrace_rename(o, main, "renamed");
    offtrace_rest(o, call, main, TRACE_OFF_TRACER, &(struct off_span){4, 3, 2});
    offtrace_rest(o, call, main, TRACE_OFF_TRACER, &(struct off_span){2, 1, 2});
    offtrace_cost(o, 99, 5, 7);

    /* The writer is still at it: everything must be in the file already. */
    t = load();
    if (!ok(t != NULL, "a trace loads while it is being written"))
        return;
    is_int((intmax_t)t->header.lost_calls, 1, "a sleep without a node is counted as lost");
    is_int(t->missing_rows, 0, "an unfinished trace has no missing row");
    is_int((intmax_t)t->nargs, 3, "the trace has the command's arguments");
    is_int(t->header.recorder, TRACE_RECORDER_OFF, "the header has the recorder's kind");
    is_int((intmax_t)t->header.hz, 99, "the header has the sampling rate");
    is_int(t->header.depth, 128, "the header has the stack depth");
    is_int((intmax_t)t->header.stops, 5, "the header has the number of stops");
    is_int((intmax_t)t->header.cost_ns, 6,
           "the header has the time for which threads were stopped");
    is_int((intmax_t)t->header.fallback_stacks, 7, "the header has the number of fallback stacks");
    is_int((intmax_t)t->header.end_monotonic_ns, 99, "the header has the time of the end");
    is_int((intmax_t)t->header.lost_calls, 1, "the header has the number of lost sleeps");
    is_int((intmax_t)t->header.lost_bytes, 50, "the header has the time of lost sleeps");
    is_int(t->header.columns_used, 7, "the header has the number of used columns");
    r = find_row(t, woken, main, TRACE_OFF_LOCAL);
    if (ok(r != NULL, "three sleeps of one stack and kind share a row")) {
        is_int((intmax_t)r->blocked_ns, 450, "a row adds up blocked time");
        is_int((intmax_t)r->runq_ns, 21, "a row adds up run-queue wait");
        is_int((intmax_t)r->sleeps, 3, "a row counts sleeps");
        is_int((intmax_t)r->max_ns, 300, "a row has the longest sleep");
        is_int((intmax_t)r->cut_ns, 300, "a row adds up cut sleeps");
    }
    ok(find_row(t, woken, main, TRACE_OFF_LOCK) != NULL, "a sleep of another kind has another row");
    ok(find_row(t, woken, other, TRACE_OFF_LOCAL) != NULL,
       "a sleep of another thread has another row");
    r = find_row(t, call, main, TRACE_OFF_TRACER);
    if (ok(r != NULL, "the tracer's stops have a row")) {
        is_int((intmax_t)r->blocked_ns, 6, "the row of stops adds up their time");
        is_int((intmax_t)r->sleeps, 4, "the row of stops counts them");
        is_int((intmax_t)r->max_ns, 3, "the row of stops has the longest");
    }
    r = find_row(t, pc, main, TRACE_OFF_ONCPU);
    if (ok(r != NULL, "running code has a row")) {
        is_int((intmax_t)r->cpu_ns, 22, "the row of running code adds up CPU time");
        is_int((intmax_t)r->samples, 1, "the row of running code counts samples");
        is_int((intmax_t)r->sleeps, 0, "the row of running code counts no sleeps");
    }
    th = trace_off_thread_at(t, main);
    is_str(th ? th->comm : NULL, "renamed", "a renamed thread has its new name");
    is_int(th ? (intmax_t)th->sleeps : 0, 4, "a thread's record counts its sleeps");
    is_int(th ? (intmax_t)th->wall_ns : 0, 1001, "a thread's record adds up its time");
    is_int(th ? (intmax_t)th->cpu_ns : 0, 22, "a thread's record adds up its CPU time");
    is_int(th ? (intmax_t)th->runq_ns : 0, 6, "a thread's record adds up its run-queue wait");
    th = trace_off_thread_at(t, other);
    is_str(th ? th->comm : NULL, "a name of too m",
           "a long thread name is shortened to 15 characters");
    ok(!trace_off_thread_at(t, 0) && !trace_off_thread_at(t, other + 1u),
       "thread ids without a record find none");
    ok(t->nodes[woken].kind == TRACE_NODE_WAKER && t->nodes[woken].addr == kernel &&
           t->nodes[woken].parent == waker,
       "a waker's node has its stack and its parent");
    name = trace_node_name(t, &t->nodes[kernel]);
    ok(name.len == 9 && memcmp(name.s, "pipe_read", 9) == 0,
       "a kernel node has its function's name");
    said_begin();
    is_int(fold_loaded(&(struct fold_options){.view = "alloc"}, &t, 1, &folded), FLAME_USAGE,
           "a memory view of an off-CPU trace is refused");
    ok(strstr(said_end(), "no view 'alloc' of it") != NULL,
       "the refusal of a memory view names the view");
    strbuf_release(&folded);
    ok(trace_module_at(t, 0x1500, epoch) && !trace_module_at(t, 0x1500, epoch + 1) &&
           !trace_module_at(t, 0x1500, 0),
       "a module is found in its own epoch only");
    trace_free(t);
    offtrace_free(o);
}

static void test_names(void)
{
    struct offtrace *o = begin();
    uint32_t root = offtrace_root(o, offtrace_thread(o, 1, 1, "x"), offtrace_epoch(o));
    uint32_t first[2000], bad = 0, nul, plain;
    char text[40000];
    struct trace *t;

    for (int i = 0; i < 2000; i++) {
        snprintf(text, sizeof text, "name %d;\n\x1b", i);
        first[i] = offtrace_name(o, root, TRACE_NODE_NAME, text, strlen(text));
    }
    for (int i = 0; i < 2000; i++) {
        snprintf(text, sizeof text, "name %d;\n\x1b", i);
        bad += WRONG(offtrace_name(o, root, TRACE_NODE_NAME, text, strlen(text)) != first[i], i);
    }
    is_int(bad, 0, "each of 2,000 names is stored once");
    nul = offtrace_name(o, root, TRACE_NODE_NAME, "ab\0cd", 5);
    plain = offtrace_name(o, root, TRACE_NODE_NAME, "ab", 2);
    is_int(nul, plain, "a name ends at a NUL");
    memset(text, 'l', sizeof text);
    ok(offtrace_name(o, root, TRACE_NODE_NAME, text, sizeof text) != 0,
       "a name of 40,000 characters is stored");
    t = load();
    ok(t && trace_node_name(t, &t->nodes[first[1999]]).len == 12,
       "the last of 2,000 names can be read");
    trace_free(t);
    offtrace_free(o);
}

static void test_threads(void)
{
    const struct trace_off_thread *th;
    struct offtrace *o = begin();
    uint16_t mine = 0, theirs, id = 0, last = 0;
    bool distinct = true;
    struct trace *t;
    char comm[16];

    mine = offtrace_thread(o, 7, 7, "mine");
    for (int i = 1; i < TRACE_OFF_THREADS_MAX; i++) {
        id = offtrace_thread(o, 100, 100 + i, "worker");
        distinct &= row(id > last, "thread %d: record %d comes after %d", i, id, last);
        last = id;
    }
    ok(distinct, "the first %d threads have records of their own", TRACE_OFF_THREADS_MAX);
    is_int(offtrace_thread(o, 7, 8, "mine"), mine,
           "once records run out, threads of one name and process share a record");
    theirs = offtrace_thread(o, 55, 56, "worker");
    ok(theirs != 0 && theirs != mine, "once records run out, threads of one name share a record");
    offtrace_rename(o, mine, "renamed");
    for (int i = 0; i < TRACE_OFF_THREADS_MAX; i++) {
        snprintf(comm, sizeof comm, "n%d", i);
        offtrace_thread(o, 200 + i, 200 + i, comm);
    }
    ok(offtrace_thread(o, 9, 9, "one more name") != 0,
       "once records run out, a thread with a new name shares a record");
    t = load();
    th = t ? trace_off_thread_at(t, mine) : NULL;
    is_int(th ? th->uses : 0, 2, "a shared record counts its threads");
    is_str(th ? th->comm : "", "mine", "a shared record keeps its name");
    is_int(th ? th->pid : 0, 7, "a shared record keeps its process if all threads have that one");
    th = t ? trace_off_thread_at(t, theirs) : NULL;
    is_int(th ? (intmax_t)th->pid : -1, 0, "a shared record of several processes has process 0");
    trace_free(t);
    offtrace_free(o);
}

/* Writes until it is killed in the middle of it. */
static void test_killed(void)
{
    struct off_sleep s = {.blocked_ns = 1};
    struct trace *t;
    uint64_t sum = 0;
    pid_t child;
    int status;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        struct offtrace *o = begin();
        uint16_t th = offtrace_thread(o, 1, 1, "x");
        uint32_t root = offtrace_root(o, th, offtrace_epoch(o)), n = root;

        for (uint32_t i = 1;; i++) {
            n = i % 100 ? offtrace_node(o, n, TRACE_NODE_PC, i) : root;
            offtrace_sleep(o, n, th, TRACE_OFF_LOCK, &s);
            if (i == 50000)
                raise(SIGKILL);
        }
    }
    waitpid(child, &status, 0);
    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
       "the writing process is killed by SIGKILL");
    t = load();
    ok(t && t->missing_rows == 0, "the trace of a killed writer loads");
    for (uint32_t id = 0; t && id < t->row_limit; id++)
        sum += trace_off_rows(t)[id].blocked_ns;
    is_int((intmax_t)sum, 50000, "the trace of a killed writer has every sleep");
    trace_free(t);
}

static void test_full(void)
{
    struct off_sleep s = {.blocked_ns = 2};
    uint32_t n, made = 0, failed = 0;
    struct rlimit old, lim;
    struct offtrace *o;
    struct trace *t;
    uint16_t th;

    getrlimit(RLIMIT_FSIZE, &old);
    lim = old;
    lim.rlim_cur = 8 * TRACE_SEGMENT_SIZE;
    setrlimit(RLIMIT_FSIZE, &lim);
    o = begin();
    th = offtrace_thread(o, 1, 1, "x");
    n = offtrace_root(o, th, offtrace_epoch(o));
    for (uint32_t i = 0; i < 100000; i++) {
        uint32_t child = offtrace_node(o, n, TRACE_NODE_PC, i);

        made += child != 0;
        failed += child == 0;
        offtrace_sleep(o, child, th, TRACE_OFF_LOCK, &s);
    }
    ok(made > 1000 && failed > 1000, "a file size limit makes some nodes fail");
    offtrace_name(o, n, TRACE_NODE_NAME, "short", 5);
    t = load();
    ok(t && t->header.lost_calls > 0, "the header counts lost sleeps at a file size limit");
    ok(t && t->header.lost_calls >= failed && t->missing_rows == 0,
       "the header counts every lost sleep at a file size limit");
    is_int(t ? (intmax_t)t->header.lost_bytes : 0, t ? (intmax_t)t->header.lost_calls * 2 : -1,
           "the header adds up the time of lost sleeps");
    trace_free(t);
    offtrace_free(o);
    setrlimit(RLIMIT_FSIZE, &old);
}

static void test_cannot(void)
{
    struct offtrace_init init = {.path = "/nonexistent/a.flame", .pid = 1, .argv = arguments};

    said_begin();
    ok(offtrace_new(&init) == NULL, "offtrace_new fails in a missing directory");
    is_str(said_end(),
           "flame: /nonexistent/a.flame: cannot create the trace: No such file or directory\n",
           "offtrace_new reports its failure in one line");
}

/* ---- the reader's checks ---- */

struct sample {
    struct trace_build b;
    uint32_t root, frame, call, waker, chain, row;
};

static void sample_init(struct sample *s)
{
    struct trace_build *b = &s->b;
    uint32_t thread;

    tb_init(b);
    tb_header(b)->recorder = TRACE_RECORDER_OFF;
    tb_header(b)->features = 0;
    thread = tb_thread(b, 99, "worker");
    s->root = tb_root(b, 1, thread);
    s->frame = tb_node(b, TRACE_NODE_PC, 0x1234, s->root);
    s->call = tb_node(b, TRACE_NODE_FUTEX, 0x1300, s->frame);
    s->waker = tb_node(b, TRACE_NODE_WAKER, s->frame, s->call);
    s->chain = tb_node(b, TRACE_NODE_WAKER, s->call, s->waker);
    s->row = tb_row(b, s->chain, (uint16_t)thread, 100, 2);
}

static struct trace *sample_load(struct sample *s, int *err)
{
    struct trace *t = NULL;

    *err = trace_load_bytes("t.flame", s->b.data, s->b.len, true, &t);
    tb_release(&s->b);
    return t;
}

#define LOADS(what, missing, action)                                                               \
    do {                                                                                           \
        struct sample s;                                                                           \
        struct trace *t;                                                                           \
        int err;                                                                                   \
        sample_init(&s);                                                                           \
        action;                                                                                    \
        t = sample_load(&s, &err);                                                                 \
        is_int(t ? (intmax_t)t->missing_rows : -1, missing, what);                                 \
        trace_free(t);                                                                             \
    } while (0)

#define REFUSED(what, action)                                                                      \
    do {                                                                                           \
        struct sample s;                                                                           \
        int err;                                                                                   \
        sample_init(&s);                                                                           \
        action;                                                                                    \
        ok(sample_load(&s, &err) == NULL && err == FLAME_USAGE, "refused: %s", what);              \
    } while (0)

static const struct trace_off_row *find_class(const struct trace *t, uint32_t stack,
                                              uint16_t thread, uint32_t class)
{
    for (uint32_t id = 1; t && id < t->node_limit; id++)
        if (t->nodes[id].kind == TRACE_NODE_CLASS && t->nodes[id].parent == stack &&
            t->nodes[id].addr == sleepclass_number(class))
            return find_row(t, id, thread, TRACE_OFF_CLASS);
    return NULL;
}

static void test_latency(void)
{
    static const uint64_t took[] = {5000, 1100000, 5010, 1150000, 1100000};
    struct off_sleep s = {.runq_ns = 1};
    const struct trace_off_row *r;
    struct offtrace *o = begin();
    uint16_t main, other;
    uint32_t stack, nodes;
    struct trace *t;

    if (!ok(o != NULL, "offtrace_new creates a trace for sleep durations"))
        return;
    main = offtrace_thread(o, 10, 10, "app");
    other = offtrace_thread(o, 10, 11, "app");
    stack = offtrace_name(o, offtrace_root(o, main, offtrace_epoch(o)), TRACE_NODE_NAME, "f", 1);
    for (size_t i = 0; i < ARRAY_LEN(took); i++) {
        s.whole_ns = took[i];
        s.more = false;
        offtrace_latency(o, stack, i == 4 ? other : main, &s);
        s.more = true; /* an earlier part of the same sleep */
        offtrace_latency(o, stack, main, &s);
    }
    s = (struct off_sleep){.whole_ns = 77, .cut = true};
    offtrace_latency(o, stack, main, &s);
    offtrace_latency(o, 0, main, &s);
    t = load();
    ok(t && t->header.features & TRACE_FEATURE_LATENCY, "the header has the latency feature");
    r = find_class(t, stack, main, sleepclass_of(1100000));
    if (ok(r != NULL, "a duration class has a row")) {
        is_int((intmax_t)r->sleeps, 2, "the row of a class counts each sleep once");
        is_int((intmax_t)r->max_ns, 1150000, "the row of a class has the longest sleep");
        is_int((intmax_t)(r->blocked_ns + r->runq_ns + r->cpu_ns), 0,
               "the row of a class has no time of its own");
    }
    r = find_class(t, stack, main, sleepclass_of(5000));
    is_int(r ? (intmax_t)r->sleeps : -1, 2, "sleeps of another class have another row");
    r = find_class(t, stack, other, sleepclass_of(1100000));
    is_int(r ? (intmax_t)r->sleeps : -1, 1, "sleeps of another thread have another row");
    r = find_class(t, stack, main, SLEEPCLASS_UNKNOWN);
    is_int(r ? (intmax_t)r->sleeps : -1, 1, "a cut sleep is in the class of unknown durations");
    nodes = 0;
    for (uint32_t id = 1; t && id < t->node_limit; id++)
        nodes += t->nodes[id].kind == TRACE_NODE_CLASS;
    is_int(nodes, 3, "each class has one node");
    trace_free(t);
    offtrace_free(o);
    unlink(path);
}

/* A class on the frame of the sample's call. */
static struct trace_off_row *add_class(struct sample *s, uint64_t number)
{
    uint32_t node = tb_node(&s->b, TRACE_NODE_CLASS, number, s->call), row;
    struct trace_off_row *r;

    row = tb_row(&s->b, node, 0, 0, 0);
    r = (struct trace_off_row *)tb_row_at(&s->b, row);
    r->kind = TRACE_OFF_CLASS;
    return r;
}

static void test_classes(void)
{
    LOADS("a row of a duration class loads", 0, add_class(&s, sleepclass_number(3)));
    LOADS("a row of unknown durations loads", 0,
          add_class(&s, sleepclass_number(SLEEPCLASS_UNKNOWN)));
    REFUSED("a class number out of range",
            add_class(&s, sleepclass_number(SLEEPCLASS_UNKNOWN + 1)));
    REFUSED("a class number of memory traces", add_class(&s, 1u << 8));
    REFUSED("a class number of more than 32 bits",
            add_class(&s, (uint64_t)1 << 40 | SLEEPCLASS_BASE));
    REFUSED("a row of a sleep on a class node",
            add_class(&s, SLEEPCLASS_BASE)->kind = TRACE_OFF_LOCK);
    REFUSED("a row of a class on a stack node", tb_row_at(&s.b, s.row)->flags = TRACE_OFF_CLASS);
    REFUSED("a frame whose parent is a class",
            tb_node_at(&s.b, s.call)->parent =
                tb_node(&s.b, TRACE_NODE_CLASS, SLEEPCLASS_BASE, s.frame));
}

static void test_links(void)
{
    LOADS("a chain of wakers loads", 0, (void)0);
    REFUSED("a waker's stack that is a waker itself", tb_node_at(&s.b, s.chain)->addr = s.waker);
    REFUSED("a waker that is its own stack", tb_node_at(&s.b, s.waker)->addr = s.waker);
    REFUSED("wakers in a circle", tb_node_at(&s.b, s.waker)->parent = s.chain);
    REFUSED("a frame whose parent is a waker", tb_node_at(&s.b, s.frame)->parent = s.waker);
    REFUSED("a waker's stack with id 1", tb_node_at(&s.b, s.waker)->addr = 1);
    REFUSED("a waker's stack beyond the file", tb_node_at(&s.b, s.waker)->addr = 1u << 30);
    REFUSED("a waker's stack with an id of more than 32 bits",
            tb_node_at(&s.b, s.waker)->addr |= (uint64_t)1 << 40);
    REFUSED("a node of an unknown kind", tb_node_at(&s.b, s.call)->kind = TRACE_NODE_WAKER + 1);
    REFUSED("a kernel frame without a string", tb_node_at(&s.b, s.call)->kind = TRACE_NODE_KERNEL;
            tb_node_at(&s.b, s.call)->addr = 0x1301);
    REFUSED("a waker in a trace of memory", tb_header(&s.b)->recorder = TRACE_RECORDER_MEM);
    LOADS("a row is missing while its waker's stack is missing", 1,
          tb_node_at(&s.b, s.waker)->addr = s.chain + 1);
    LOADS("a row is missing while the root of its waker's stack is missing", 1,
          tb_node(&s.b, TRACE_NODE_PC, 5, s.chain + 9);
          tb_node_at(&s.b, s.chain)->addr = s.chain + 1);
}

static void test_kinds(void)
{
    struct sample s;
    struct trace *t;
    int err;

    sample_init(&s);
    ((struct trace_off_row *)tb_row_at(&s.b, s.row))->kind = 12;
    t = sample_load(&s, &err);
    is_int(t ? trace_off_rows(t)[s.row].kind : 99, TRACE_OFF_OTHER,
           "a row of an unknown kind loads as TRACE_OFF_OTHER");
    trace_free(t);
    sample_init(&s);
    ((struct trace_off_row *)tb_row_at(&s.b, s.row))->kind = TRACE_OFF_ONCPU;
    t = sample_load(&s, &err);
    is_int(t ? trace_off_rows(t)[s.row].kind : 99, TRACE_OFF_ONCPU,
           "a row of a known kind keeps it");
    trace_free(t);
    tb_init(&s.b);
    tb_thread(&s.b, 5, "x");
    t = sample_load(&s, &err);
    ok(t && !trace_off_rows(t) && !trace_off_thread_at(t, 1),
       "a memory trace has no off-CPU rows or threads");
    trace_free(t);
}

/* Rectangles of addresses and epochs, many over each other, against a plain search. */
static void test_module_index(void)
{
    struct trace_build b;
    struct trace *t = NULL;
    uint64_t x = 88172645463325252u;
    unsigned wrong = 0, found = 0;

    tb_init(&b);
    for (unsigned i = 0; i < 3000; i++) {
        struct trace_module m = {0};

        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        m.start = x % 5000;
        m.end = m.start + 1 + (x >> 20) % 400;
        m.first_epoch = (uint32_t)(x >> 32) % 700;
        m.end_epoch = i % 3 ? m.first_epoch + 1
                            : (i % 2 ? UINT32_MAX : m.first_epoch + (uint32_t)(x >> 50) % 40);
        tb_module(&b, &m, "m");
    }
    trace_load_bytes("m", b.data, b.len, true, &t);
    for (unsigned i = 0; t && i < 20000; i++) {
        const struct trace_module_view *want = NULL;
        uint64_t addr;
        uint32_t epoch;

        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        addr = x % 5600;
        epoch = (uint32_t)(x >> 32) % 760;
        for (size_t k = t->nmodules; k-- > 0 && !want;)
            if (addr >= t->modules[k].m.start && addr < t->modules[k].m.end &&
                epoch >= t->modules[k].m.first_epoch && epoch < t->modules[k].m.end_epoch)
                want = &t->modules[k];
        wrong += WRONG(trace_module_at(t, addr, epoch) != want, addr);
        found += want != NULL;
    }
    ok(t && found > 5000 && found < 20000, "test setup: some addresses have a module, others none");
    is_int(wrong, 0, "trace_module_at agrees with a plain search");
    trace_free(t);
    tb_release(&b);
}

/* Endless combinations of waiters and wakers take limited room. */
static void test_room(void)
{
    char file[128];
    struct offtrace_init init = {.path = file, .pid = 1, .depth = 64};
    struct offtrace *t;
    struct trace *read = NULL;
    uint32_t root, first, other, last = 0;
    bool whole = true;
    uint64_t wakers = 0;

    snprintf(file, sizeof file, "%s/links.flame", dir);
    t = offtrace_new(&init);
    root = offtrace_root(t, offtrace_thread(t, 1, 1, "main"), 0);
    first = offtrace_waker(t, root, offtrace_node(t, root, TRACE_NODE_PC, 1), 0, &whole);
    ok(first && whole, "a first waker gets a full node");
    for (uint64_t i = 2; i <= OFFTRACE_LINKS_MAX / 2; i++)
        last = offtrace_waker(t, root, offtrace_node(t, root, TRACE_NODE_PC, i), 0, &whole);
    ok(last && whole, "wakers get full nodes up to half of the limit");
    other = offtrace_waker(t, first, offtrace_node(t, root, TRACE_NODE_PC, 2), 1, &whole);
    ok(other == first && !whole, "a second link is merged beyond half of the limit");
    for (uint64_t i = OFFTRACE_LINKS_MAX / 2 + 1; i <= OFFTRACE_LINKS_MAX; i++)
        last = offtrace_waker(t, root, offtrace_node(t, root, TRACE_NODE_PC, i), 0, &whole);
    ok(last && whole, "first links get full nodes up to the whole limit");
    last = offtrace_waker(t, root, offtrace_node(t, root, TRACE_NODE_PC, 1u << 30), 0, &whole);
    ok(last && !whole, "a first link beyond the limit is marked incomplete");
    other = offtrace_waker(t, root, offtrace_node(t, root, TRACE_NODE_PC, 1u << 31), 0, &whole);
    ok(other == last && !whole, "all first links beyond the limit share a node");
    other = offtrace_waker(t, root, offtrace_node(t, root, TRACE_NODE_PC, 1), 0, &whole);
    ok(other == first && whole, "a known waker keeps its node beyond the limit");
    is_int((intmax_t)offtrace_cut_chains(t), 3, "merged wakers are counted");
    offtrace_free(t);
    is_int(trace_load(file, &read), 0, "a trace at the limit of waker nodes loads");
    for (uint32_t i = 0; read && i < read->node_limit; i++)
        wakers += read->nodes[i].kind == TRACE_NODE_WAKER;
    is_int((intmax_t)wakers, OFFTRACE_LINKS_MAX + 1,
           "a trace has at most OFFTRACE_LINKS_MAX + 1 waker nodes");
    trace_free(read);
    unlink(file);
}

int main(void)
{
    if (!ok(mkdtemp(dir) != NULL, "a directory for the test's files is made"))
        return done_testing();
    snprintf(path, sizeof path, "%s/a.flame", dir);
    test_round();
    test_latency();
    test_classes();
    test_names();
    test_threads();
    test_killed();
    test_full();
    test_cannot();
    test_links();
    test_room();
    test_kinds();
    test_module_index();
    unlink(path);
    rmdir(dir);
    return done_testing();
}
