#include "tests/unit/off_build.h"

#include "common/strbuf.h"

void ob_init(struct trace_build *b)
{
    tb_init(b);
    tb_header(b)->recorder = TRACE_RECORDER_OFF;
    tb_header(b)->features = 0;
    tb_header(b)->columns[0] =
        (struct trace_column){.name = "blocked_ns",
                              .unit = TRACE_UNIT_NANOSECONDS,
                              .offset = offsetof(struct trace_off_row, blocked_ns),
                              .width = 8};
}

uint16_t ob_thread(struct trace_build *b, uint32_t pid, uint32_t tid, const char *comm)
{
    uint32_t id = tb_thread(b, tid, comm);
    struct trace_off_thread *th = (struct trace_off_thread *)tb_thread_at(b, id);

    th->sleeps = 0;
    th->pid = pid;
    return (uint16_t)id;
}

uint32_t ob_name(struct trace_build *b, enum trace_node_kind kind, const char *text,
                 uint32_t parent)
{
    uint64_t string = tb_meta_string(b, TRACE_META_STRING, text);

    return tb_node(b, kind, string, parent ? parent : tb_root(b, 0, 0));
}

uint32_t ob_stack(struct trace_build *b, const char *frames, uint32_t parent)
{
    for (const char *end; *frames; frames = end + (*end == '/')) {
        char name[64] = "";

        end = frames + strcspn(frames, "/");
        memcpy(name, frames, (size_t)(end - frames) < 63 ? (size_t)(end - frames) : 63);
        parent = ob_name(b, TRACE_NODE_NAME, name, parent);
    }
    return parent;
}

uint32_t ob_waker(struct trace_build *b, uint32_t sleeper, uint32_t stack)
{
    return tb_node(b, TRACE_NODE_WAKER, stack, sleeper);
}

struct trace_off_row *ob_sleep(struct trace_build *b, uint32_t node, uint16_t thread,
                               enum trace_off_kind kind, uint64_t blocked_ns, uint64_t runq_ns)
{
    uint32_t id = tb_row(b, node, thread, 0, 0);
    struct trace_off_row *r = (struct trace_off_row *)tb_row_at(b, id);

    *r = (struct trace_off_row){.node = node,
                                .thread = thread,
                                .kind = (uint16_t)kind,
                                .blocked_ns = blocked_ns,
                                .runq_ns = runq_ns,
                                .sleeps = 1,
                                .max_ns = blocked_ns + runq_ns};
    return r;
}

struct trace_off_row *ob_oncpu(struct trace_build *b, uint32_t node, uint16_t thread,
                               uint64_t cpu_ns, uint64_t runq_ns)
{
    struct trace_off_row *r = ob_sleep(b, node, thread, TRACE_OFF_ONCPU, 0, runq_ns);

    r->sleeps = r->max_ns = 0;
    r->cpu_ns = cpu_ns;
    r->samples = 1;
    return r;
}

void ob_sample(struct trace_build *b, const struct off_sample *s)
{
    uint32_t main_root, worker_root, lock, unlock, queue, push, disk, net, nap, timer;
    uint16_t app, worker;

    ob_init(b);
    tb_meta_string(b, TRACE_META_EXE, "/bin/app");
    if (s->exe)
        tb_module_plain(b, s->bias, s->futex + (1 << 20), s->bias, s->exe);
    app = ob_thread(b, 100, 100, "app");
    worker = ob_thread(b, 100, 101, "w;\n\033[1m<script>");
    main_root = tb_root(b, 0, app);
    worker_root = tb_root(b, 0, worker);

    /* The main thread waits for a lock that the worker gives back, whom a timer had woken. */
    lock = ob_stack(b, "main/take", main_root);
    unlock = ob_stack(b, "run/give", worker_root);
    unlock = ob_name(b, TRACE_NODE_KERNEL, "do_futex", unlock);
    if (s->futex) {
        lock = tb_node(b, TRACE_NODE_FUTEX, s->futex, lock);
        unlock = tb_node(b, TRACE_NODE_FUTEX, s->futex, unlock);
    } else {
        lock = ob_stack(b, "futex [heap]", lock);
        unlock = ob_stack(b, "futex [heap]", unlock);
    }
    timer = ob_name(b, TRACE_NODE_NAME, "[timer]", 0);
    ob_sleep(b, ob_waker(b, ob_waker(b, lock, unlock), timer), app, TRACE_OFF_LOCK, 2000000, 1000);
    ob_sleep(b, lock, app, TRACE_OFF_LOCK, 500000, 0); /* cut */

    /* The worker waits for work from the main thread. */
    queue = ob_stack(b, "run/pthread_cond_wait/futex [heap]", worker_root);
    push = ob_stack(b, "main/push;\n<b>/futex [heap]", main_root);
    ob_sleep(b, ob_waker(b, queue, push), worker, TRACE_OFF_LOCK, 90000000, 400);
    ob_sleep(b, ob_waker(b, queue, timer), worker, TRACE_OFF_LOCK, 1000000, 0);

    disk = ob_stack(b, "main/load/read \033x;y", main_root);
    ob_sleep(b, disk, app, TRACE_OFF_FILE, 3000499, 0);
    ob_sleep(b, disk, app, TRACE_OFF_FILE, 499, 0); /* 0.5 us twice: rounded once */
    net = ob_stack(b, "main/send tcp:[*]", main_root);
    ob_sleep(b, net, app, TRACE_OFF_NETWORK, 700000, 20000);
    nap = ob_stack(b, "run/nanosleep", worker_root);
    ob_sleep(b, ob_waker(b, nap, timer), worker, TRACE_OFF_TIMER, 5000000, 300000);

    ob_oncpu(b, ob_stack(b, "main/spin", main_root), app, 8000000, 60000);
    ob_oncpu(b, worker_root, worker, 1000000, 7000);
}
