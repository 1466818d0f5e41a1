/* Idle sleeps: which they are, how long, and of which threads. */
#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "common/trace/trace_reader.h"
#include "fold/idle.h"
#include "tests/tap.h"
#include "tests/unit/off_build.h"

/* The answer of idle_new for the trace that was built; the builder is released. */
struct said {
    char names[128];
    size_t threads;
    uint64_t ns;
    size_t rows; /* that are idle */
};

static struct said ask(struct trace_build *b)
{
    struct aggregate *to = aggregate_new();
    struct symbol_options opt = {.no_inline = false};
    struct symbols *syms = symbols_new(&opt);
    struct strbuf names = STRBUF_INIT;
    struct said said = {.threads = 0};
    struct trace *t = NULL;
    struct symbolizer *frames;
    struct idle *idle;

    if (trace_load_bytes("idle", b->data, b->len, false, &t))
        exit(1);
    frames = symbolizer_new(t, syms, to, PLACE_NONE);
    idle = idle_new(t, frames);
    said.threads = idle_threads(idle, &names);
    snprintf(said.names, sizeof said.names, "%s", names.len ? names.buf : "");
    said.ns = idle_slept(idle);
    for (uint32_t i = 0; i < t->row_limit; i++)
        said.rows += idle_row(idle, &t->rows[i]);
    idle_free(idle);
    symbolizer_free(frames);
    symbols_free(syms);
    aggregate_free(to);
    trace_free(t);
    tb_release(b);
    strbuf_release(&names);
    return said;
}

static uint16_t add(struct trace_build *b, uint32_t tid, const char *comm, const char *stack,
                    enum trace_off_kind kind, uint64_t ns)
{
    uint16_t th = ob_thread(b, 1, tid, comm);

    ob_sleep(b, ob_stack(b, stack, tb_root(b, 0, th)), th, kind, ns, 0);
    return th;
}

static void test_names(void)
{
    struct trace_build b;
    struct said said;

    ob_init(&b);
    said = ask(&b);
    ok(said.threads == 0 && said.ns == 0 && said.rows == 0,
       "a trace without threads has no idle thread");
    is_str(said.names, "", "a trace without idle threads has no names");

    ob_init(&b);
    add(&b, 1, "one", "main/poll", TRACE_OFF_POLL, 1000);
    said = ask(&b);
    ok(said.threads == 1 && said.ns == 1000 && said.rows == 1, "a thread in poll is idle");
    is_str(said.names, "one", "an idle thread has its name");

    ob_init(&b);
    ob_sleep(&b, ob_stack(&b, "main/poll", tb_root(&b, 0, 0)), 0, TRACE_OFF_POLL, 1000, 0);
    said = ask(&b);
    is_str(said.names, "unknown", "an idle stack without a thread is named unknown");

    ob_init(&b);
    add(&b, 1, "pool", "main/poll", TRACE_OFF_POLL, 1000);
    add(&b, 2, "pool", "main/poll", TRACE_OFF_POLL, 1000);
    said = ask(&b);
    ok(said.threads == 2 && said.ns == 2000, "two threads in poll are idle");
    is_str(said.names, "pool", "idle threads of one name are named once");

    ob_init(&b);
    add(&b, 1, "much", "main/poll", TRACE_OFF_POLL, 5000);
    add(&b, 2, "pool", "main/poll", TRACE_OFF_POLL, 3000);
    add(&b, 3, "b", "main/poll", TRACE_OFF_POLL, 1000);
    add(&b, 4, "pool", "main/poll", TRACE_OFF_POLL, 3000);
    add(&b, 5, "a", "main/poll", TRACE_OFF_POLL, 1000);
    said = ask(&b);
    ok(said.threads == 5 && said.ns == 13000 && said.rows == 5, "five threads in poll are idle");
    is_str(said.names, "2 pool, much, a, b",
           "idle names are sorted by their total time, then by name, with their number");

    ob_init(&b);
    for (uint32_t i = 0; i < 5; i++)
        add(&b, 1 + i, ((const char *const[]){"v", "w", "x", "y", "z"})[i], "main/poll",
            TRACE_OFF_POLL, 1000 - 100 * i);
    said = ask(&b);
    is_str(said.names, "v, w, x, y, ...", "at most four idle names are listed");
}

/* A thread's stack, with one sleep in it. */
static bool idle_at(const char *stack)
{
    struct trace_build b;

    ob_init(&b);
    add(&b, 1, "app", stack, TRACE_OFF_LOCK, 1000);
    return ask(&b).threads == 1;
}

/* A function that waits for work counts as such among the six innermost frames; a runtime's lock
 * counts further out, too. */
static void test_reach(void)
{
    ok(idle_at("main/sem_wait/futex"), "a thread in sem_wait is idle");
    ok(idle_at("main/pthread_cond_wait/1/2/3/4/5/futex"),
       "a waiting function as the sixth innermost frame counts");
    ok(!idle_at("main/pthread_cond_wait/1/2/3/4/5/6/futex"),
       "a waiting function as the seventh innermost frame does not count");
    ok(idle_at("pthread_cond_wait/futex"), "a waiting function as the thread's first frame counts");
    ok(idle_at("main/sem_timedwait/futex") && idle_at("main/cnd_timedwait/futex") &&
           idle_at("main/sem_clockwait/futex") && idle_at("main/pthread_cond_clockwait/futex"),
       "waiting functions with a timeout count");
    ok(!idle_at("main/__lll_lock_wait/pthread_cond_wait/futex") &&
           !idle_at("main/pthread_cond_wait/pthread_mutex_lock/futex"),
       "a lock beside a waiting function makes it not idle");
    ok(!idle_at("main/pthread_mutex_lock/1/2/3/4/pthread_cond_wait/futex"),
       "a lock as the sixth innermost frame counts");
    ok(idle_at("main/pthread_mutex_lock/1/2/3/4/5/pthread_cond_wait/futex"),
       "a lock as the seventh innermost frame does not count");
    ok(!idle_at("ObjectMonitor::enter/1/2/3/4/5/6/7/8/9/pthread_cond_wait/futex"),
       "a runtime's lock counts however far out it is");
    ok(idle_at("ObjectMonitor::wait/1/2/3/4/5/6/7/8/9/pthread_cond_wait/futex"),
       "a runtime's monitor wait counts however far out it is");
    ok(idle_at("ObjectMonitor::enter/ObjectMonitor::wait/pthread_cond_wait/futex"),
       "of two runtime functions the innermost counts");
}

/* Sleeps of one thread are added up by their stack. */
static void test_sums(void)
{
    struct trace_build b;
    struct said said;
    uint32_t root, poll, lock;
    uint16_t th;

    ob_init(&b);
    th = ob_thread(&b, 1, 1, "app");
    root = tb_root(&b, 0, th);
    poll = ob_stack(&b, "main", root);
    ob_sleep(&b, ob_stack(&b, "poll 3 fds", poll), th, TRACE_OFF_POLL, 400, 50);
    ob_sleep(&b, ob_stack(&b, "read pipe", poll), th, TRACE_OFF_LOCAL, 400, 50);
    ob_sleep(&b, ob_stack(&b, "read file", poll), th, TRACE_OFF_FILE, 100, 0);
    ob_oncpu(&b, poll, th, 100000, 70000);
    said = ask(&b);
    ok(said.threads == 1 && said.ns == 900 && said.rows == 2,
       "nine tenths of a stack's time in waiting calls make it idle, without its other sleeps");

    ob_init(&b);
    th = ob_thread(&b, 1, 1, "app");
    root = tb_root(&b, 0, th);
    lock = ob_stack(&b, "main", root);
    ob_sleep(&b, ob_stack(&b, "poll 3 fds", lock), th, TRACE_OFF_POLL, 9000, 0);
    ob_sleep(&b, ob_stack(&b, "futex", lock), th, TRACE_OFF_LOCK, 1, 0);
    said = ask(&b);
    is_int((intmax_t)said.threads, 0, "one lock taken from a stack makes it not idle");

    ob_init(&b);
    th = ob_thread(&b, 1, 1, "app");
    root = tb_root(&b, 0, th);
    ob_sleep(&b, ob_stack(&b, "main/poll", root), th, TRACE_OFF_POLL, 0, 0);
    is_int((intmax_t)ask(&b).threads, 0, "a thread without sleep time is not idle");
}

/* ---- names of addresses ---- */

static __attribute__((noinline)) uint64_t caller(void)
{
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

static inline __attribute__((always_inline)) uint64_t inlined_sem_wait(void)
{
    uint64_t pc = caller();

    __asm__ volatile("" ::: "memory");
    return pc;
}

static __attribute__((noinline)) uint64_t takes_mutex_here(void)
{
    uint64_t pc = inlined_sem_wait();

    __asm__ volatile("" ::: "memory");
    return pc;
}

static int note_bias(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(uint64_t *)arg = info->dlpi_addr;
    return 1; /* the program is the first */
}

/* An address with several inlined frames: the innermost one decides. An address that is not a
 * return address does not count. */
static bool idle_in_code(enum trace_node_kind kind)
{
    uint64_t bias = 0, pc = takes_mutex_here();
    struct trace_build b;
    char exe[4096] = "";
    uint16_t th;
    uint32_t node;

    if (readlink("/proc/self/exe", exe, sizeof exe - 1) <= 0)
        exit(1);
    dl_iterate_phdr(note_bias, &bias);
    ob_init(&b);
    tb_module_plain(&b, bias, pc + (1 << 20), bias, exe);
    th = ob_thread(&b, 1, 1, "app");
    node = tb_node(&b, kind, pc, tb_root(&b, 0, th));
    ob_sleep(&b, ob_stack(&b, "futex", node), th, TRACE_OFF_LOCK, 1000, 0);
    return ask(&b).threads == 1;
}

static void test_inlined(void)
{
    ok(idle_in_code(TRACE_NODE_PC), "an inlined function that waits for work makes a thread idle");
    ok(!idle_in_code(TRACE_NODE_FUTEX),
       "a futex at a waiting function's address does not make a thread idle");
}

int main(void)
{
    test_names();
    test_reach();
    test_sums();
    test_inlined();
    return done_testing();
}
