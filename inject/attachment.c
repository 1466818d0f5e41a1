#define _GNU_SOURCE
#include "inject/attachment.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/preloadable.h"
#include "common/procpath.h"
#include "common/strbuf.h"
#include "inject/allstop.h"
#include "inject/agent_image.h"
#include "inject/agent_state.h"
#include "inject/agent_trace.h"
#include "inject/heap_search.h"
#include "inject/leak_verdicts.h"
#include "inject/linkmap.h"
#include "inject/maps_snapshot.h"
#include "inject/got_slots.h"
#include "inject/old_blocks.h"
#include "inject/python_target.h"
#include "inject/threadregs.h"
#include "tracer/objects/proctask.h"
#include "tracer/ptrace/attach_error.h"

/* Time limit for finding the loader at rest and stopping all threads, at the start and at the
 * end. */
#define COME_NS 10000000000u
#define LEAVE_NS 10000000000u
/* After this time loader_works is less strict. */
#define HURRY_NS 2000000000u
/* Time limit of one attempt to follow modules during the recording. */
#define FOLLOW_NS 20000000u
/* Time limit for no thread to run in the agent any more. */
#define QUIET_NS 1000000000u
/* Pause between two attempts. */
#define LOOK_NS 2500000
/* A process that began less than this ago may still be about to execute its program, or be in its
 * loader. Any other may be so, too, for a moment. */
#define YOUNG_NS 1000000000u
#define SETTLE_NS 60000000u
#define AGAIN_NS 20000000

#define PF_EXITING 0x00000004ul /* include/linux/sched.h of the kernel */

struct attachment {
    pid_t pid;
    struct procmem mem;
    struct maps_snapshot maps;
    struct linkmap link;
    struct allstop *stop;
    struct got_slots slots;
    struct agent_state agent;
    struct agent_trace *trace;
    struct sigreturn_frame_code code;
    bool no_python, has_python;
    bool leaks, resident;
    bool knows_old; /* blocks from before are looked for, as malloc is glibc's */
    attachment_kept *kept;
    void *kept_arg;
    bool no_stops_between;
    size_t unhooked;
    /* From the auxiliary vector of the program that it executed last. */
    struct facts {
        uintptr_t phdr; /* in the first page of the program's file */
        uint64_t phnum;
        uintptr_t random; /* 16 random bytes on its stack: another address in each execution */
    } facts;
    struct strbuf refusal; /* why it cannot be recorded, a line for the user; "": it can be */
    bool unreadable;       /* its own data in /proc could not be read */
    bool gone, executed;
};

/* Whether there is time for another attempt; pauses before each but the first. */
static bool look_again(uint64_t *until, uint64_t patience_ns)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (!*until) {
        *until = now + patience_ns;
        return true;
    }
    nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    return now < *until;
}

/* ---- checks of the process ---- */

static int refuse(struct attachment *a, const char *why)
{
    strbuf_clear(&a->refusal);
    strbuf_addf(&a->refusal, "process %d cannot be recorded from now on: %s", (int)a->pid, why);
    return FLAME_USAGE;
}

static int judge(struct attachment *a)
{
    struct preloadable_answer answer;
    const char *name;

    preloadable_judge(proc_path(a->pid, "exe").s, &preloadable_here, &answer);
    switch (answer.verdict) {
    case PRELOADABLE_STATIC:
        return refuse(a, "it is linked statically, so its calls of malloc have no slots");
    case PRELOADABLE_MUSL:
        return refuse(a, "it uses musl, whose loader does not report what it loads; start it with "
                         "'flame mem' instead");
    case PRELOADABLE_SANITIZER:
    case PRELOADABLE_LEAK_SANITIZER:
        return refuse(a, "it is built with a sanitizer, which has an allocator of its own");
    case PRELOADABLE_MACHINE:
        return refuse(a, "it is built for another processor or word size");
    default:
        break;
    }
    if (maps_snapshot_has(&a->maps, "/libasan.so", &name) ||
        maps_snapshot_has(&a->maps, "/libtsan.so", &name) ||
        maps_snapshot_has(&a->maps, "/libhwasan.so", &name))
        return refuse(a, "it has a sanitizer loaded, which has an allocator of its own");
    if (maps_snapshot_has(&a->maps, "/libflamemem.so", &name))
        return refuse(a, "it is recorded by libflamemem.so already");
    return 0;
}

static bool read_facts(pid_t pid, struct facts *f)
{
    Elf64_auxv_t v[64];
    int fd = open(proc_path(pid, "auxv").s, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, v, sizeof v);

    if (fd >= 0)
        close(fd);
    *f = (struct facts){.phdr = 0};
    for (ssize_t i = 0; i < n / (ssize_t)sizeof *v; i++) {
        if (v[i].a_type == AT_PHDR)
            f->phdr = v[i].a_un.a_val;
        if (v[i].a_type == AT_PHNUM)
            f->phnum = v[i].a_un.a_val;
        if (v[i].a_type == AT_RANDOM)
            f->random = v[i].a_un.a_val;
    }
    return f->phdr && f->phnum;
}

/* Whether it has executed another program since it was inspected. Then nothing that is known of it
 * holds, and a call by an address of before would run whatever is there now. */
static bool has_executed(const struct attachment *a)
{
    struct facts f;

    return !read_facts(a->pid, &f) || f.phdr != a->facts.phdr || f.phnum != a->facts.phnum ||
           f.random != a->facts.random;
}

/* ---- stops ---- */

/* Tries once to stop all threads. */
static enum allstop_answer try_stop(struct attachment *a)
{
    enum allstop_answer answer = allstop_stop(a->stop);

    if (answer == ALLSTOP_GONE)
        a->gone = true;
    return answer;
}

/*
 * Whether the loader is active in a stopped thread. A thread that sleeps in a futex waits for the
 * loader's lock, and has changed nothing yet. `hurried`: only if the thread is in the loader's own
 * code, and not in a call that the loader has made.
 *
 * An active loader cannot make a slot's write wrong: its list is consistent, its modules stay
 * mapped while all threads are stopped, and a slot is written only if it has the value that was
 * read. But the loader may write to the slot itself later, which is noticed (got_slots_differ). So
 * this check keeps that rare.
 */
static bool loader_works(struct attachment *a, bool hurried)
{
    size_t n;
    const struct allstop_thread *t = allstop_threads(a->stop, &n);

    for (size_t i = 0; i < n; i++) {
        const struct user_regs_struct *r = &t[i].regs;
        uintptr_t start = a->maps.loader_start, end = a->maps.loader_end;

        if (t[i].nr == SYS_futex)
            continue;
        if (threadregs_pc(r) - start < end - start ||
            (!hurried && agent_trace_passes(a->trace, &a->mem, t[i].tid, r, start, end)))
            return true;
    }
    return false;
}

static const char executes[] = "it executes one program after the other";

/* Stops all threads at a moment at which slots can be written, and returns 0. FLAME_FAILED: there
 * was no such moment, with *why; another enum flame_exit after an error line. `prepare` is called
 * before each attempt, while the process runs, after the list of modules has been read. */
static int stop_at_rest(struct attachment *a, uint64_t patience_ns, const char **why,
                        int (*prepare)(struct attachment *a))
{
    enum linkmap_answer answer;
    uint64_t until = 0, begun = clock_ns(CLOCK_MONOTONIC);
    bool changed;

    *why = "the loader was at work at every attempt";
    while (look_again(&until, patience_ns)) {
        enum allstop_answer stopped;

        answer = linkmap_read(&a->link, &a->mem, &changed);
        if (answer == LINKMAP_BUSY)
            continue;
        if (answer != LINKMAP_OK || !maps_snapshot_read(&a->maps, a->pid, a->link.loader)) {
            a->gone = kill(a->pid, 0) < 0;
            *why = "the loader's list cannot be read";
            return FLAME_FAILED;
        }
        if (prepare)
            prepare(a);
        stopped = try_stop(a);
        if (stopped == ALLSTOP_REFUSED)
            return FLAME_USAGE;
        if (stopped == ALLSTOP_GONE)
            return FLAME_FAILED;
        if (stopped == ALLSTOP_AGAIN) {
            *why = allstop_why(a->stop);
            continue;
        }
        if (has_executed(a)) {
            *why = executes;
            allstop_go(a->stop);
            return FLAME_FAILED;
        }
        if (linkmap_same(&a->link, &a->mem) &&
            !loader_works(a, clock_ns(CLOCK_MONOTONIC) > begun + HURRY_NS))
            return 0;
        *why = "the loader was at work at every attempt";
        allstop_go(a->stop);
    }
    return FLAME_FAILED;
}

/* ---- starting ---- */

static int prepare_slots(struct attachment *a)
{
    got_slots_find(&a->slots, &a->mem, &a->link, &a->maps);
    agent_state_tables(&a->agent, &a->mem, a->trace, &a->link, &a->maps);
    return 0;
}

static int map_guest(struct attachment *a)
{
    uint64_t until = 0;

    while (look_again(&until, COME_NS)) {
        enum allstop_answer answer;
        const char *why;
        int err;

        answer = try_stop(a);
        if (answer == ALLSTOP_REFUSED)
            return FLAME_USAGE;
        if (answer == ALLSTOP_GONE)
            return attach_error_explain(a->pid, ESRCH);
        if (answer == ALLSTOP_AGAIN)
            continue;
        if (has_executed(a)) {
            allstop_go(a->stop);
            return refuse(a, executes);
        }
        /* Both in one stop: the process may call an agent that was left behind at any time. */
        err = agent_state_map(&a->agent, &a->mem, a->stop, &a->code, &a->maps, &why);
        if (!err && !agent_state_fill(&a->agent, &a->mem, a->slots.real)) {
            why = "its memory cannot be written to";
            err = -EIO;
        }
        allstop_go(a->stop);
        if (!err)
            return 0;
        if (err != -EAGAIN) {
            refuse(a, why);
            strbuf_addf(&a->refusal, ": %s", strerror(-err));
            return FLAME_USAGE;
        }
    }
    return refuse(a, allstop_why(a->stop));
}

/* Lets functions of Python have names if the process has an interpreter by now. */
static void follow_python(struct attachment *a)
{
    struct agent_python python;
    uint32_t unnamed;

    if (a->no_python || a->has_python)
        return;
    python_target_find(&python, &unnamed, &a->mem, &a->link);
    python.may_ask = task_status(a->pid, "Seccomp") == 0;
    if (python.version)
        agent_state_python(&a->agent, &a->mem, &python);
    a->has_python = python.version || unnamed;
    if (unnamed)
        agent_trace_unnamed_python(a->trace, unnamed);
}

static int come(struct attachment *a, bool record)
{
    const char *why;
    int status = map_guest(a);

    if (status)
        return status;
    agent_state_hooks(&a->agent, a->slots.hooks);
    follow_python(a);
    status = stop_at_rest(a, COME_NS, &why, prepare_slots);
    if (status == FLAME_FAILED)
        return a->gone ? attach_error_explain(a->pid, ESRCH) : refuse(a, why);
    if (status)
        return status;
    agent_trace_threads(a->trace, a->stop, &a->mem);
    agent_state_switch_maps(&a->agent, &a->mem);
    agent_state_record(&a->agent, &a->mem, record);
    got_slots_write(&a->slots, &a->mem);
    allstop_go(a->stop);
    return 0;
}

static int inspect_process(struct attachment *a)
{
    enum linkmap_answer answer = LINKMAP_NOT_DYNAMIC;
    uint64_t until = 0;
    bool changed;
    int status;

    if (!read_facts(a->pid, &a->facts) || !maps_snapshot_read(&a->maps, a->pid, 0)) {
        a->unreadable = true; /* also in the middle of an exec */
        return FLAME_USAGE;
    }
    status = judge(a);
    if (status)
        return status;
    answer = linkmap_find(&a->link, &a->mem, a->facts.phdr, a->facts.phnum);
    while ((answer == LINKMAP_OK || answer == LINKMAP_BUSY) && look_again(&until, COME_NS)) {
        answer = linkmap_read(&a->link, &a->mem, &changed);
        if (answer == LINKMAP_OK)
            break;
    }
    if (answer == LINKMAP_NOT_DYNAMIC)
        return refuse(a, "it has no dynamic loader, so its calls of malloc have no slots");
    if (answer == LINKMAP_BUSY)
        return refuse(a, "the loader was at work at every attempt");
    if (answer != LINKMAP_OK || !maps_snapshot_read(&a->maps, a->pid, a->link.loader))
        return refuse(a, "the loader's list cannot be read");
    if (!a->maps.loader_start)
        return refuse(a, "its dynamic loader is not where its list says");
    if (!got_slots_allocator(&a->slots, &a->mem, &a->link))
        return refuse(a, "no module of it defines malloc and free");
    a->knows_old =
        a->kept && old_blocks_are_known(&a->mem, &a->link, &a->maps, a->slots.real[AGENT_MALLOC]);
    return sigreturn_frame_find(&a->code, &a->mem, &a->maps, a->slots.real[AGENT_MALLOC])
               ? 0
               : refuse(a, "no system call instruction is found in it");
}

static void release(struct attachment *a)
{
    allstop_free(a->stop);
    agent_trace_free(a->trace);
    got_slots_release(&a->slots);
    agent_state_release(&a->agent);
    linkmap_release(&a->link);
    maps_snapshot_release(&a->maps);
    procmem_close(&a->mem);
    strbuf_release(&a->refusal);
    free(a);
}

static int begin(struct attachment *a, const struct attachment_options *o)
{
    int status = attach_error_foreseen(o->pid, o->ours), err;

    a->pid = o->pid;
    a->no_python = o->no_python;
    a->leaks = o->leaks;
    a->resident = o->resident;
    a->kept = o->kept;
    a->kept_arg = o->kept_arg;
    a->no_stops_between = o->no_stops_between;
    a->mem.fd = -1;
    a->refusal = (struct strbuf)STRBUF_INIT;
    if (!status && !agent_image_open(&a->agent.blob))
        status = flame_error(FLAME_FAILED, "flame was built without its agent");
    if (!status) {
        err = procmem_open(&a->mem, a->pid);
        if (err)
            status = attach_error_explain(a->pid, err == -ENOENT ? ESRCH : EPERM);
    }
    a->stop = allstop_new(a->pid);
    if (!status)
        status = inspect_process(a);
    if (!status) {
        a->trace = agent_trace_new(o->trace, a->pid, o->depth);
        if (a->trace && a->kept)
            agent_trace_keep_inner(a->trace);
        status = a->trace ? come(a, !o->starts_later) : FLAME_FAILED;
    }
    return status;
}

/* Whether the reason for a refusal may be gone soon: the process has just begun, or executes. */
static bool may_change(const struct attachment *a, uint64_t since)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC), age;

    if (!(a->refusal.len || a->unreadable) || kill(a->pid, 0) < 0)
        return false;
    if (has_executed(a))
        return now - since < COME_NS;
    age = task_age_ns(a->pid);
    return now - since < SETTLE_NS || (age < YOUNG_NS && now - since < YOUNG_NS);
}

int attachment_begin(struct attachment **to, const struct attachment_options *o)
{
    uint64_t since = clock_ns(CLOCK_MONOTONIC);
    bool again = true;
    int status = 0;

    *to = NULL;
    while (again) {
        struct attachment *a = xcalloc(1, sizeof *a);

        status = begin(a, o);
        if (!status) {
            *to = a;
            return 0;
        }
        again = may_change(a, since);
        if (a->refusal.len && !again)
            flame_error(status, "%s", a->refusal.buf);
        if (a->unreadable && !again)
            status = attach_error_explain(o->pid, EPERM);
        if (a->trace)
            unlink(o->trace);
        release(a);
        if (again)
            nanosleep(&(struct timespec){0, AGAIN_NS}, NULL);
    }
    return status;
}

/* ---- recording ---- */

static void follow_modules(struct attachment *a)
{
    const char *why;

    if (stop_at_rest(a, FOLLOW_NS, &why, prepare_slots) != 0)
        return; /* tried again at the next attachment_look */
    agent_trace_threads(a->trace, a->stop, &a->mem);
    agent_state_switch_maps(&a->agent, &a->mem);
    got_slots_write(&a->slots, &a->mem);
    allstop_go(a->stop);
    follow_python(a);
    a->agent.behind = false;
}

void attachment_code(const struct attachment *a, uintptr_t *begin, uintptr_t *end)
{
    *begin = a->agent.base;
    *end = a->agent.base + a->agent.blob.text_size;
}

void attachment_record(struct attachment *a)
{
    agent_state_record(&a->agent, &a->mem, true);
}

static void count_unhooked(struct attachment *a)
{
    size_t n = got_slots_unhooked(&a->slots, &a->mem);

    a->unhooked = n > a->unhooked ? n : a->unhooked;
}

/* Lets stacks pass through new modules. Their slots are found and counted, but not written: while
 * threads run, a module may be unloaded between the last look at a slot and the write. */
static void follow_without_stop(struct attachment *a)
{
    if (!maps_snapshot_read(&a->maps, a->pid, a->link.loader))
        return;
    prepare_slots(a);
    agent_state_add_maps(&a->agent, &a->mem);
    count_unhooked(a);
    follow_python(a);
}

/* Whether the process that had the agent's memory is gone. */
static bool is_gone(struct attachment *a)
{
    unsigned long flags;
    char state;

    if (!agent_state_is_there(&a->agent, &a->mem)) {
        a->gone = true;
        a->executed = task_state(a->pid, &state, &flags) && state != 'Z' && state != 'X' &&
                      !(flags & PF_EXITING);
    }
    return a->gone;
}

bool attachment_look(struct attachment *a)
{
    bool changed, known;

    if (a->gone || kill(a->pid, 0) < 0) {
        a->gone = true;
        return false;
    }
    if (!agent_trace_take(a->trace, &a->agent, &a->mem))
        return !is_gone(a);
    known = linkmap_read(&a->link, &a->mem, &changed) == LINKMAP_OK;
    if (known && changed && a->no_stops_between) {
        follow_without_stop(a);
    } else if (known && !a->no_stops_between &&
               (changed || a->agent.behind || got_slots_differ(&a->slots, &a->mem))) {
        a->agent.behind = true;
        follow_modules(a);
    } else if (maps_snapshot_read(&a->maps, a->pid, a->link.loader)) {
        agent_state_places(&a->agent, &a->mem, &a->maps);
    }
    return !a->gone;
}

/* ---- ending ---- */

/* Unmaps the agent's arena, as soon as no thread runs in the agent. */
static void give_back(struct attachment *a)
{
    uint64_t until = 0;

    while (look_again(&until, QUIET_NS)) {
        enum allstop_answer answer = try_stop(a);
        bool done = false;

        if (answer == ALLSTOP_OK) {
            done = agent_state_is_quiet(&a->agent, &a->mem, a->stop) &&
                   agent_state_unmap(&a->agent, &a->mem, a->stop, &a->code);
            allstop_go(a->stop);
        }
        if (done || answer == ALLSTOP_GONE || answer == ALLSTOP_REFUSED)
            return;
    }
}

static bool looks(const struct attachment *a)
{
    return a->leaks || a->resident || a->kept;
}

static void search_begin(struct heap_search *s, struct attachment *a)
{
    const struct heap_search_target of = {.pid = a->pid,
                                          .mem = &a->mem,
                                          .maps = &a->maps,
                                          .link = &a->link,
                                          .stop = a->stop,
                                          .agent = &a->agent,
                                          .trace = a->trace,
                                          .real_malloc = a->slots.real[AGENT_MALLOC],
                                          .program = a->facts.phdr,
                                          .leaks = a->leaks,
                                          .resident = a->resident,
                                          .kept = a->kept,
                                          .knows_old = a->knows_old};

    heap_search_begin(s, &of);
}

/* Uses the results of a search, once the threads run again. */
static void judge_blocks(struct attachment *a, const struct heap_search *s,
                         struct attachment_sum *sum)
{
    sum->looked = s->done;
    sum->unlooked = s->unlooked;
    sum->look_ns = s->stopped_ns;
    sum->broken = s->broken;
    sum->resident = s->resident;
    sum->scanned = s->heap.scan.scanned;
    if (s->done && a->leaks)
        sum->leaks = leak_verdicts_add(a->trace, &s->heap.scan);
    if (s->done && a->kept)
        a->kept(a->kept_arg, &s->heap, a->trace);
}

static void leave(struct attachment *a, struct attachment_sum *sum)
{
    struct heap_search search = {.done = false};
    const char *why;

    if (looks(a))
        search_begin(&search, a);
    if (stop_at_rest(a, LEAVE_NS, &why, NULL) == 0) {
        agent_state_record(&a->agent, &a->mem, false);
        if (looks(a))
            heap_search_stopped(&search);
        got_slots_restore(&a->slots, &a->mem);
        allstop_go(a->stop);
    } else if (!a->gone) {
        agent_state_record(&a->agent, &a->mem, false);
        snprintf(sum->left_hooks, sizeof sum->left_hooks, "%s", why);
    }
    /* Releases the copy, which may be large, before its blocks are judged. */
    heap_search_end(&search);
    judge_blocks(a, &search, sum);
    heap_search_release(&search);
    if (a->gone)
        return;
    agent_trace_take(a->trace, &a->agent, &a->mem);
    give_back(a);
    agent_state_disown(&a->agent, &a->mem);
}

static int compare(const void *pa, const void *pb)
{
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

    return (a > b) - (a < b);
}

static void sum_stops(const struct attachment *a, struct attachment_sum *sum)
{
    const uint64_t *times;
    uint64_t *sorted;

    sum->stops = allstop_times(a->stop, &times);
    if (!sum->stops)
        return;
    sorted = xreallocarray(NULL, sum->stops, sizeof *sorted);
    memcpy(sorted, times, sum->stops * sizeof *sorted);
    qsort(sorted, sum->stops, sizeof *sorted, compare);
    sum->median_ns = sorted[sum->stops / 2];
    sum->longest_ns = sorted[sum->stops - 1];
    free(sorted);
}

int attachment_end(struct attachment *a, struct attachment_sum *sum)
{
    struct attachment_sum local;

    sum = sum ? sum : &local;
    if (!a->gone && !is_gone(a) && a->no_stops_between)
        count_unhooked(a);
    *sum = (struct attachment_sum){.slots = a->slots.written, .unhooked = a->unhooked};
    if (!a->gone)
        leave(a, sum);
    sum->gone = a->gone;
    sum->executed = a->executed;
    if (looks(a) && !sum->looked && !sum->unlooked)
        sum->unlooked = a->executed ? "it had executed another program"
                        : a->gone   ? "it had ended"
                                    : sum->left_hooks;
    sum->strangers = a->slots.strangers;
    agent_trace_losses(a->trace, &sum->skipped, &sum->lost);
    sum_stops(a, sum);
    agent_trace_end(a->trace, sum->stops);
    release(a);
    return 0;
}
