/*
 * Each view of a trace of waiting, as text; filters; what is hostile in it. With an
 * argument the sample trace is written to that file, for the tests of the commands.
 */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/trace/sleepclass.h"
#include "common/trace/trace_reader.h"
#include "fold/fold.h"
#include "tests/tap.h"
#include "tests/unit/off_build.h"

#define W "w:  [1m<script>"

/* Locks for which the symbols of this program give a name. */
__attribute__((used)) static pthread_mutex_t one_lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((used)) static struct {
    pthread_mutex_t each[8];
} many_locks;
static struct off_sample sample;

static int note_bias(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(uint64_t *)arg = info->dlpi_addr;
    return 1; /* the program is the first */
}

/* Folds the sample, or `t`, to one text. */
static char *fold(const struct fold_options *opt, struct trace *t)
{
    struct strbuf out = STRBUF_INIT;
    struct trace *own = NULL;

    if (!t) {
        struct trace_build b;

        ob_sample(&b, &sample);
        if (trace_load_bytes("sample", b.data, b.len, false, &own))
            exit(1);
        tb_release(&b);
        t = own;
    }
    if (fold_loaded(opt, &t, 1, &out))
        strbuf_addstr(&out, "refused");
    trace_free(own);
    return strbuf_detach(&out, NULL);
}

static void is_view(const char *view, const char *want)
{
    struct fold_options opt = {.view = view, .symbols.no_inline = true};
    char *got = fold(&opt, NULL);

    is_str(got, want, "%s", view ? view : "off, the default");
    free(got);
}

static void test_views(void)
{
    is_view(NULL, "# flame: view=off unit=us\n"
                  "app;main;load;read  x:y 3001\n"
                  "app;main;send tcp:[*] 720\n"
                  "app;main;take;futex [heap] 2501\n" W ";run;nanosleep 5300\n" W
                  ";run;pthread_cond_wait;futex [heap] 91000\n");
    is_view("wakeup", "# flame: view=wakeup unit=us\n"
                      "[timer];" W " 6300\n"
                      "app;main;push: <b>;futex [heap];" W " 90000\n" W
                      ";run;give;do_futex_[k];futex [heap];app 2001\n");
    is_view("offwake", "# flame: view=offwake unit=us\n"
                       "app;main;load;read  x:y 3001\n"
                       "app;main;send tcp:[*] 720\n"
                       "app;main;take;futex [heap] 500\n"
                       "app;main;take;futex [heap];--;futex [heap]_[w];do_futex_[w];give_[w];"
                       "run_[w];" W "_[w] 2001\n" W ";run;nanosleep;--;[timer]_[w] 5300\n" W
                       ";run;pthread_cond_wait;futex [heap];--;[timer]_[w] 1000\n" W
                       ";run;pthread_cond_wait;futex [heap];--;futex [heap]_[w];push: <b>_[w];"
                       "main_[w];app_[w] 90000\n");
    is_view("chain",
            "# flame: view=chain unit=us\n"
            "app;main;load;read  x:y 3001\n"
            "app;main;send tcp:[*] 720\n"
            "app;main;take;futex [heap] 500\n"
            "app;main;take;futex [heap];--;futex [heap]_[w];do_futex_[w];give_[w];"
            "run_[w];" W "_[w];--;[timer]_[w] 2001\n" W ";run;nanosleep;--;[timer]_[w] 5300\n" W
            ";run;pthread_cond_wait;futex [heap];--;[timer]_[w] 1000\n" W
            ";run;pthread_cond_wait;futex [heap];--;futex [heap]_[w];push: <b>_[w];"
            "main_[w];app_[w] 90000\n");
    is_view("io", "# flame: view=io unit=us\n"
                  "app;[disk files];main;load;read  x:y 3001\n"
                  "app;[network];main;send tcp:[*] 720\n");
    is_view("runq", "# flame: view=runq unit=us\n"
                    "app;[running];main;spin 60\n"
                    "app;main;send tcp:[*] 20\n"
                    "app;main;take;futex [heap] 1\n" W ";[running] 7\n" W ";run;nanosleep 300\n");
    is_view("oncpu", "# flame: view=oncpu unit=us\napp;main;spin 8000\n" W " 1000\n");
    is_view("hotcold", "# flame: view=hotcold unit=us\n"
                       "app;main;spin 8000\n"
                       "app;main_[o];load_[o];read  x:y_[o] 3001\n"
                       "app;main_[o];send tcp:[*]_[o] 720\n"
                       "app;main_[o];take_[o];futex [heap]_[o] 2501\n" W " 1000\n" W
                       ";run_[o];nanosleep_[o] 5300\n" W
                       ";run_[o];pthread_cond_wait_[o];futex [heap]_[o] 91000\n");
}

static void test_roots(void)
{
    struct fold_options opt = {.view = "chain", .pid = true, .tid = true, .no_header = true};
    char *got = fold(&opt, NULL);

    ok(strstr(got, "app-100;app-100;main;take;futex [heap];--;futex [heap]_[w];do_futex_[w];"
                   "give_[w];run_[w];" W "-101_[w];" W "-100_[w];--;[timer]_[w] 2001\n"),
       "chain: names of sleeper and waker have process and thread");
    free(got);
    opt.view = "wakeup";
    got = fold(&opt, NULL);
    ok(strstr(got, "[timer];" W "-100;" W "-101 6300\n"),
       "wakeup: the sleeper's name above the waker has process and thread");
    free(got);
}

static void add_class(struct trace_build *b, uint32_t stack, uint16_t thread, uint64_t longest,
                      uint64_t sleeps)
{
    uint64_t number = sleepclass_number(longest ? sleepclass_of(longest) : SLEEPCLASS_UNKNOWN);
    struct trace_off_row *r =
        ob_sleep(b, tb_node(b, TRACE_NODE_CLASS, number, stack), thread, TRACE_OFF_CLASS, 0, 0);

    r->sleeps = sleeps;
    r->max_ns = longest;
}

/* Two threads' sleeps in one place, each thread with a longest one. */
static void test_latency(void)
{
    struct fold_options opt = {.view = "latency", .no_header = true};
    struct trace_build b;
    struct trace *t = NULL;
    uint16_t one, two;
    uint32_t stack;
    char *got;

    ob_init(&b);
    tb_header(&b)->features |= TRACE_FEATURE_LATENCY;
    one = ob_thread(&b, 1, 1, "app");
    two = ob_thread(&b, 1, 2, "app");
    stack = ob_stack(&b, "main/poll", tb_root(&b, 0, one));
    ob_sleep(&b, stack, one, TRACE_OFF_POLL, 5000, 0);
    add_class(&b, stack, one, 1000, 1);
    add_class(&b, stack, one, 1100000, 3);
    add_class(&b, stack, one, 0, 4);
    add_class(&b, ob_stack(&b, "main/poll", tb_root(&b, 0, two)), two, 1150000, 2);
    ob_sleep(&b, ob_stack(&b, "[short sleeps]", tb_root(&b, 0, two)), two, TRACE_OFF_TOO_SHORT, 9,
             0)
        ->sleeps = 7;
    ok(trace_load_bytes("classes", b.data, b.len, false, &t) == 0,
       "a trace with duration classes loads");
    got = fold(&opt, t);
    is_str(got,
           "app;[short sleeps] 7\n"
           "app;main;poll;[1.048576ms to 1.179647ms] 3\n"
           "app;main;poll;[960ns to 1.023us] 1\n"
           "app;main;poll;[longest 1.15ms] 1\n"
           "app;main;poll;[longest 1.1ms] 1\n"
           "app;main;poll;[no duration known] 4\n",
           "latency: classes add up, and each thread's longest sleep is exact");
    free(got);
    opt.view = "off";
    got = fold(&opt, t);
    is_str(got, "app;main;poll 5\n", "off does not count rows of duration classes");
    free(got);
    opt.view = "runq";
    got = fold(&opt, t);
    is_str(got, "", "runq does not count rows of duration classes");
    free(got);
    trace_free(t);
    tb_release(&b);
    opt.view = "latency";
    got = fold(&opt, NULL);
    is_str(got, "refused", "latency: a trace without the feature is refused");
    free(got);
}

/* A lock that passes among workers, for whom a boss had held it. */
static void test_alike(void)
{
    struct fold_options opt = {.view = "chain", .no_header = true};
    struct trace_build b;
    struct trace *t = NULL;
    uint32_t lock, node, unlock[4];
    char *got;

    ob_init(&b);
    for (uint32_t i = 0; i < 4; i++)
        unlock[i] = ob_stack(&b, "unlock/futex g",
                             tb_root(&b, 0, ob_thread(&b, 1, 2 + i, i < 3 ? "worker" : "boss")));
    lock = ob_stack(&b, "lock/futex g", tb_root(&b, 0, ob_thread(&b, 1, 1, "worker")));
    node = ob_waker(&b, ob_waker(&b, ob_waker(&b, lock, unlock[0]), unlock[1]), unlock[2]);
    ob_sleep(&b, ob_waker(&b, node, unlock[3]), 1, TRACE_OFF_LOCK, 5000, 0);
    ok(trace_load_bytes("round", b.data, b.len, false, &t) == 0,
       "a trace of a lock passed among threads loads");
    tb_release(&b);
    got = fold(&opt, t);
    ok(strstr(got, "lock;futex g;--;futex g_[w];unlock_[w];worker_[w];--;futex g_[w];unlock_[w];"
                   "boss_[w] 5\n"),
       "chain: adjacent links with equal text are one");
    free(got);
    opt.tid = true;
    got = fold(&opt, t);
    ok(strstr(got, "worker-2_[w];worker_[w];--;futex g_[w];unlock_[w];worker-3_[w];worker_[w];--;"),
       "chain: links of threads shown with their ids stay separate");
    free(got);
    trace_free(t);
}

static void test_filters(void)
{
    static const char *const comms[] = {"nobody", "app"};
    static const char *const regexes[] = {"^send", "^do_futex$"};
    struct fold_options opt = {.view = "off", .comms = comms, .ncomms = 2, .no_header = true};
    char *got = fold(&opt, NULL);

    is_str(got,
           "app;main;load;read  x:y 3001\napp;main;send tcp:[*] 720\n"
           "app;main;take;futex [heap] 2501\n",
           "comms: threads are selected by name");
    free(got);
    opt.view = "offwake";
    opt.excludes = regexes;
    opt.nexcludes = 2;
    got = fold(&opt, NULL);
    is_str(got, "app;main;load;read  x:y 3001\napp;main;take;futex [heap] 500\n",
           "excludes: stacks are excluded by a frame, also a waker's, without its annotation");
    free(got);
    opt = (struct fold_options){.view = "off", .idle = true, .no_header = true};
    got = fold(&opt, NULL);
    is_str(got,
           "app;main;load;read  x:y 3001\napp;main;send tcp:[*] 720\n"
           "app;main;take;futex [heap] 2501\n" W ";run;nanosleep 5300\n",
           "idle: a worker's waiting for work is left out, its other sleeps are not");
    free(got);
}

/* Two threads, one that sleeps in `frames` of that kind for nine seconds, then one second
 * elsewhere: is it idle? */
static bool is_idle(const char *frames, enum trace_off_kind kind, uint64_t elsewhere)
{
    struct fold_options opt = {.view = "off", .idle = true, .no_header = true};
    struct trace_build b;
    struct trace *t = NULL;
    uint32_t root;
    uint16_t app;
    bool idle;
    char *got;

    ob_init(&b);
    app = ob_thread(&b, 1, 1, "app");
    root = tb_root(&b, 0, app);
    ob_sleep(&b, ob_stack(&b, frames, root), app, kind, 9000000000, 0);
    ob_sleep(&b, ob_stack(&b, "other/read x", root), app, TRACE_OFF_FILE, elsewhere, 0);
    if (trace_load_bytes("idle", b.data, b.len, false, &t))
        exit(1);
    got = fold(&opt, t);
    idle = !strstr(got, "9000000\n");
    free(got);
    trace_free(t);
    tb_release(&b);
    return idle;
}

static void test_idle(void)
{
    ok(is_idle("main/epoll_wait 3 fds", TRACE_OFF_POLL, 1000000000), "idle: a main loop is idle");
    ok(!is_idle("main/epoll_wait 3 fds", TRACE_OFF_POLL, 1000000010),
       "idle: a thread with less than nine tenths of waiting is not idle");
    ok(is_idle("main/nanosleep", TRACE_OFF_TIMER, 0), "idle: a main loop that naps is idle");
    ok(is_idle("main/accept", TRACE_OFF_NETWORK, 0), "idle: a main loop that accepts is idle");
    ok(!is_idle("main/read x", TRACE_OFF_FILE, 0), "idle: a read of a file is not idle");
    ok(!is_idle("main/wait4", TRACE_OFF_CHILD, 0), "idle: a wait for a child is not idle");
    ok(!is_idle("main/futex [heap]", TRACE_OFF_LOCK, 0), "idle: a wait for a lock is not idle");
    ok(is_idle("main/CompileQueue::get()/os::PlatformMonitor::wait(long)/pthread_cond_wait/"
               "futex [heap]",
               TRACE_OFF_LOCK, 0),
       "idle: a queue's condition variable is idle");
    ok(!is_idle("main/ObjectMonitor::EnterI(JavaThread*)/os::PlatformEvent::park()/"
                "pthread_cond_wait/futex [heap]",
                TRACE_OFF_LOCK, 0),
       "idle: a condition variable within a lock is not idle");
}

static void test_futex(void)
{
    struct off_sample none = sample;
    struct fold_options opt = {.view = "off", .no_header = true, .symbols.no_inline = true};
    char exe[4096] = "", *got;

    if (readlink("/proc/self/exe", exe, sizeof exe - 1) <= 0)
        exit(1);
    dl_iterate_phdr(note_bias, &sample.bias);
    sample.exe = exe;
    sample.futex = (uint64_t)(uintptr_t)&one_lock;
    got = fold(&opt, NULL);
    ok(strstr(got, "app;main;take;futex one_lock 2501\n"), "a futex is named by its symbol");
    free(got);
    sample.futex = (uint64_t)(uintptr_t)&many_locks.each[2];
    got = fold(&opt, NULL);
    ok(strstr(got, "app;main;take;futex many_locks+0x50 2501\n"),
       "a futex within an array is named by symbol and offset");
    free(got);
    opt.view = "wakeup";
    got = fold(&opt, NULL);
    ok(strstr(got, ";do_futex_[k];futex many_locks+0x50;app 2001\n"),
       "a woken futex is named by symbol and offset");
    free(got);
    sample = (struct off_sample){"/nowhere/lib;so\n.1", 0x1000, 0x1234};
    opt.view = "off";
    got = fold(&opt, NULL);
    ok(strstr(got, "app;main;take;futex lib:so .1+0x234 2501\n"),
       "a futex without a symbol is named by its module");
    free(got);
    sample = none;
}

/* Code outside of any file in a process with this library: two frames, a named one, another. */
static void is_made(const char *library, const char *want)
{
    struct fold_options opt = {.view = "off", .no_header = true};
    struct trace_build b;
    struct trace *t = NULL;
    uint32_t node;
    uint16_t app;
    char *got;

    ob_init(&b);
    tb_module_plain(&b, 0x1000, 0x2000, 0x1000, library);
    app = ob_thread(&b, 1, 1, "app");
    node = tb_node(&b, TRACE_NODE_PC, 0x7001, tb_root(&b, 0, app));
    node = tb_node(&b, TRACE_NODE_PC, 0x7005, node);
    node = tb_node(&b, TRACE_NODE_PC, 0x7009, ob_name(&b, TRACE_NODE_NAME, "call", node));
    ob_sleep(&b, ob_name(&b, TRACE_NODE_NAME, "nanosleep", node), app, TRACE_OFF_TIMER, 5000, 0);
    if (trace_load_bytes("made", b.data, b.len, false, &t))
        exit(1);
    tb_release(&b);
    got = fold(&opt, t);
    is_str(got, want, "a frame in JIT code is named by the loaded library %s", library);
    free(got);
    trace_free(t);
}

static void test_made(void)
{
    is_made("/jvm/lib/server/libjvm.so", "app;[java];call;[java];nanosleep 5\n");
    is_made("/usr/lib/libnode.so.115", "app;[javascript];call;[javascript];nanosleep 5\n");
    is_made("/lib/libjvm.so.txt",
            "app;[unknown+0x7001];[unknown+0x7005];call;[unknown+0x7009];nanosleep 5\n");
}

static __attribute__((noinline)) uint64_t caller(void)
{
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

static inline __attribute__((always_inline)) uint64_t inlined_here(void)
{
    uint64_t pc = caller();

    __asm__ volatile("" ::: "memory");
    return pc;
}

static __attribute__((noinline)) uint64_t has_inlined(void)
{
    uint64_t pc = inlined_here();

    __asm__ volatile("" ::: "memory");
    return pc;
}

/* A return address may be several frames; a waker's are in the other order. */
static void test_inlined(void)
{
    struct fold_options opt = {.view = "offwake", .no_header = true};
    uint64_t bias = 0, pc = has_inlined();
    struct trace_build b;
    struct trace *t = NULL;
    char exe[4096] = "", *got;
    uint32_t root, stack;
    uint16_t app;

    if (readlink("/proc/self/exe", exe, sizeof exe - 1) <= 0)
        exit(1);
    dl_iterate_phdr(note_bias, &bias);
    ob_init(&b);
    tb_module_plain(&b, bias, pc + (1 << 20), bias, exe);
    app = ob_thread(&b, 1, 1, "app");
    root = tb_root(&b, 0, app);
    stack = tb_node(&b, TRACE_NODE_PC, pc, root);
    ob_sleep(&b, ob_waker(&b, ob_stack(&b, "nap", stack), ob_stack(&b, "wake", stack)), app,
             TRACE_OFF_OTHER, 5000, 0);
    if (trace_load_bytes("inlined", b.data, b.len, false, &t))
        exit(1);
    got = fold(&opt, t);
    is_str(got,
           "app;has_inlined;inlined_here_[i];nap;--;wake_[w];inlined_here_[w];"
           "has_inlined_[w];app_[w] 5\n",
           "inlined frames are in order for the sleeper and in reverse for the waker");
    free(got);
    trace_free(t);
    tb_release(&b);
}

static void write_map(uint32_t pid, const char *text)
{
    char path[64];
    FILE *f;

    snprintf(path, sizeof path, "/tmp/perf-%" PRIu32 ".map", pid);
    f = text ? fopen(path, "we") : NULL;
    if (f) {
        fputs(text, f);
        fclose(f);
    } else if (unlink(path) < 0) {
        exit(1);
    }
}

/* One address may be two functions in two processes. */
static void test_made_code(void)
{
    struct fold_options opt = {.view = "off", .no_header = true};
    uint32_t pid = 3000000000u + 2 * (uint32_t)getpid(); /* no process has such a large pid */
    struct trace_build b;
    struct trace *t = NULL;
    char *got;

    write_map(pid, "500000 20 one\n");
    write_map(pid + 1, "500000 20 other\n");
    ob_init(&b);
    for (uint32_t i = 0; i < 3; i++) {
        uint16_t th = ob_thread(&b, pid + i, i + 1, "app");
        uint32_t root = tb_root(&b, i, th);

        ob_sleep(&b, ob_stack(&b, "nap", tb_node(&b, TRACE_NODE_PC, 0x500010, root)), th,
                 TRACE_OFF_TIMER, (i + 1) * 1000, 0);
    }
    if (trace_load_bytes("made", b.data, b.len, false, &t))
        exit(1);
    got = fold(&opt, t);
    is_str(got, "app;[unknown+0x500010];nap 3\napp;one_[j];nap 1\napp;other_[j];nap 2\n",
           "JIT code is named by the map of its own process");
    free(got);
    trace_free(t);
    tb_release(&b);
    write_map(pid, NULL);
    write_map(pid + 1, NULL);
}

static void test_refusals(void)
{
    static const char *const wrong[] = {"a(b"};
    struct fold_options opt = {.view = "alloc"};
    char *got = fold(&opt, NULL);

    is_str(got, "refused", "a memory view of an off-CPU trace is refused");
    free(got);
    opt = (struct fold_options){.excludes = wrong, .nexcludes = 1};
    got = fold(&opt, NULL);
    is_str(got, "refused", "a malformed expression is refused");
    free(got);
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        struct trace_build b;
        int err;

        ob_sample(&b, &sample);
        err = tb_write(&b, argv[1]);
        tb_release(&b);
        return err ? 1 : 0;
    }
    test_views();
    test_roots();
    test_alike();
    test_latency();
    test_filters();
    test_idle();
    test_futex();
    test_made();
    test_inlined();
    test_made_code();
    test_refusals();
    return done_testing();
}
