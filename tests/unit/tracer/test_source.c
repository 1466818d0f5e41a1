/*
 * The event source with real programs. With arguments it traces for people (and for the shell
 * tests) and prints the events: test_source [-p PID] [-n] [-F] [-d MS] [-z HZ] [-o FILE]
 * [COMMAND...].
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "tests/tap.h"
#include "tests/unit/acts.h"
#include "tests/unit/eventlog.h"
#include "tracer/offcpu/eventtext.h"
#include "tracer/offcpu/kernel_errno.h"

/* The call that the C library's vfork makes. */
#ifdef SYS_vfork
#define VFORK SYS_vfork
#else
#define VFORK SYS_clone
#endif

static int print_events(int argc, char **argv)
{
    struct source_options o = {0};
    struct eventlog log;
    FILE *to = stderr;
    pid_t pids[16];
    int c;

    o.pids = pids;
    while ((c = getopt(argc, argv, "+p:nFd:z:o:")) != -1) {
        switch (c) {
        case 'p':
            pids[o.npids++ % 16] = atoi(optarg);
            break;
        case 'n':
            o.no_filter = true;
            break;
        case 'F':
            o.no_follow = true;
            break;
        case 'd':
            o.duration_ns = strtoull(optarg, NULL, 10) * 1000000u;
            break;
        case 'z':
            o.hz = (unsigned)atoi(optarg);
            break;
        case 'o':
            to = fopen(optarg, "we");
            if (!to)
                return 1;
            break;
        default:
            return 2;
        }
    }
    o.argv = argv[optind] ? argv + optind : NULL;
    eventlog_run(&log, &o);
    for (size_t i = 0; i < log.n; i++) {
        struct strbuf line = STRBUF_INIT;

        event_add_text(&line, &log.events[i]);
        fprintf(to, "%s\n", line.buf);
        strbuf_release(&line);
    }
    fprintf(to, "# %ju stops, %ju us\n", (uintmax_t)log.stops, (uintmax_t)log.held_ns / 1000);
    if (log.failed)
        return log.failed;
    return WIFSIGNALED(log.wait_status) ? 128 + WTERMSIG(log.wait_status)
                                        : WEXITSTATUS(log.wait_status);
}

/* ---- tests ---- */

static struct eventlog run(struct source_options o, const char *const *argv)
{
    struct eventlog log;

    o.argv = (char **)(uintptr_t)argv;
    eventlog_run(&log, &o);
    return log;
}

static struct eventlog play(const struct source_options *o, const char *name)
{
    const char *argv[] = {"/proc/self/exe", "-A", name, NULL};

    return run(*o, argv);
}

/*
 * Rules for every log: a thread's first event is its beginning and its last its end, there is no
 * exit without an entry, and its times do not run backwards. Returns the broken rule, or NULL.
 */
static const char *disorder(const struct eventlog *log)
{
    struct life {
        pid_t tid;
        bool in_call, exiting;
        int nr;
        uint64_t time;
    } *lives = calloc(log->n + 1, sizeof *lives), *l;
    const char *wrong = NULL;
    size_t n = 0, at;

    for (size_t i = 0; i < log->n && !wrong; i++) {
        const struct off_event *e = &log->events[i];

        for (at = 0; at < n && lives[at].tid != e->tid;)
            at++;
        l = &lives[at];
        if (at == n) {
            if (e->kind != OFF_THREAD_BEGIN) {
                wrong = "an event of a thread that has not begun";
                break;
            }
            n++;
            *l = (struct life){.tid = e->tid, .time = e->time};
            continue;
        }
        if (e->time < l->time)
            wrong = "time runs backwards";
        l->time = e->time;
        switch (e->kind) {
        case OFF_THREAD_BEGIN:
            wrong = "a thread begins twice";
            break;
        case OFF_THREAD_END:
            *l = lives[--n];
            break;
        case OFF_ENTRY:
            if (l->in_call && !e->restarted)
                wrong = "an entry within a call";
            l->in_call = !e->cannot_block;
            l->nr = e->nr;
            break;
        case OFF_EXIT:
            if (!l->in_call || l->nr != e->nr)
                wrong = "an exit without its entry";
            l->in_call = false;
            break;
        case OFF_EXEC:
            l->in_call = false;
            break;
        default:
            break;
        }
    }
    if (!wrong && n && !log->left)
        wrong = "a thread without an end";
    free(lives);
    return wrong;
}

static void test_launch(const struct source_options *o, const char *mode)
{
    const char *nap[] = {"sleep", "0.05", NULL}, *seven[] = {"sh", "-c", "exit 7", NULL};
    const char *killed[] = {"sh", "-c", "kill -15 $$", NULL};
    const char *absent[] = {"/nonexistent/program", NULL};
    const struct off_event *in, *out;
    struct eventlog log = run(*o, nap);

    is_int(log.failed, 0, "%s: a program runs", mode);
    is_str(disorder(&log), NULL, "%s: its events are in order", mode);
    ok(log.n && log.events[0].kind == OFF_THREAD_BEGIN && !log.events[0].newborn,
       "%s: the first event is the program's begin event", mode);
    in = eventlog_find(&log, OFF_ENTRY, SYS_clock_nanosleep, 0);
    out = eventlog_find(&log, OFF_EXIT, SYS_clock_nanosleep, 0);
    if (ok(in && out, "%s: the sleep has an entry and an exit", mode)) {
        ok(out->time - in->time >= 50000000, "%s: the sleep lasts 50 ms", mode);
        ok(out->result == 0 && !in->cannot_block, "%s: the exit of the sleep has its result", mode);
    }
    ok(eventlog_find(&log, OFF_ENTRY, SYS_close, 0) &&
           eventlog_find(&log, OFF_ENTRY, SYS_close, 0)->cannot_block &&
           !eventlog_find(&log, OFF_EXIT, SYS_close, 0),
       "%s: a call that only wakes has an entry only", mode);
    ok(eventlog_find(&log, OFF_ENTRY, SYS_mmap, 0) &&
           eventlog_find(&log, OFF_ENTRY, SYS_mmap, 0)->args[2] & PROT_EXEC,
       "%s: a mapping of executable code is reported", mode);
    is_int((intmax_t)eventlog_count(&log, OFF_ENTRY, SYS_getpid), 0,
           "%s: a call that cannot block is not reported", mode);
    is_int((intmax_t)eventlog_count(&log, OFF_EXITING, -1), 1, "%s: the exit is reported once",
           mode);
    ok(log.stops > log.n && log.held_ns > 0, "%s: stops and their time are counted", mode);
    eventlog_free(&log);

    log = run(*o, seven);
    ok(WIFEXITED(log.wait_status) && WEXITSTATUS(log.wait_status) == 7,
       "%s: the exit status of the program is reported", mode);
    eventlog_free(&log);
    log = run(*o, killed);
    ok(WIFSIGNALED(log.wait_status) && WTERMSIG(log.wait_status) == SIGTERM,
       "%s: the signal that killed the program is reported", mode);
    eventlog_free(&log);
    log = run(*o, absent);
    ok(log.failed == FLAME_USAGE && log.n == 0, "%s: a missing program fails without events", mode);
    eventlog_free(&log);
}

static void test_lives(const struct source_options *o, const char *mode)
{
    struct eventlog log = play(o, "thousand");
    const struct off_event *e;

    is_int(log.wait_status, 0, "%s: a program with a thousand threads runs", mode);
    is_int((intmax_t)eventlog_count(&log, OFF_THREAD_BEGIN, -1), 1001,
           "%s: each of a thousand threads begins", mode);
    is_int((intmax_t)eventlog_count(&log, OFF_THREAD_END, -1), 1001,
           "%s: each of a thousand threads ends", mode);
    is_str(disorder(&log), NULL, "%s: events of a thousand threads are in order", mode);
    e = eventlog_find(&log, OFF_THREAD_BEGIN, -1, 1);
    ok(e && e->newborn && e->pid == log.events[0].pid && e->parent_tid == e->pid &&
           e->args[0] & CLONE_THREAD,
       "%s: a thread's begin event has its process and parent", mode);
    eventlog_free(&log);

    log = play(o, "exec");
    ok(WIFEXITED(log.wait_status) && WEXITSTATUS(log.wait_status) == 7,
       "%s: exec by a thread other than the leader works", mode);
    is_str(disorder(&log), NULL, "%s: events around exec by a thread are in order", mode);
    e = eventlog_find(&log, OFF_EXEC, -1, 0);
    if (ok(e, "%s: exec by a thread is reported", mode)) {
        ok(e->tid == e->pid && e->parent_tid && e->parent_tid != e->tid,
           "%s: exec by a thread has the old and the new thread id", mode);
        is_int((intmax_t)eventlog_count(&log, OFF_THREAD_END, -1), 7,
               "%s: exec ends all other threads", mode);
    }
    eventlog_free(&log);

    log = play(o, "spawns");
    is_int(log.wait_status, 0, "%s: a program with many spawns, vforks and forks runs", mode);
    is_str(disorder(&log), NULL, "%s: events of many spawns, vforks and forks are in order", mode);
    is_int((intmax_t)eventlog_count(&log, OFF_THREAD_BEGIN, -1), o->no_follow ? 5 : 245,
           "%s: each followed process is reported", mode);
    is_int((intmax_t)eventlog_count(&log, OFF_EXEC, -1), o->no_follow ? 0 : 80,
           "%s: each exec is reported", mode);
    e = eventlog_find(&log, OFF_ENTRY, VFORK, 0);
    ok(e && !e->cannot_block && eventlog_find(&log, OFF_EXIT, VFORK, 0),
       "%s: a parent in vfork sleeps", mode);
    eventlog_free(&log);
}

static void test_signals(const struct source_options *o, const char *mode)
{
    struct eventlog log = play(o, "signals");
    const struct off_event *out, *again;

    is_int(log.wait_status, 0, "%s: signals are delivered", mode);
    is_str(disorder(&log), NULL, "%s: events around signals are in order", mode);
    is_int((intmax_t)eventlog_count(&log, OFF_SIGNAL, SIGUSR1), 2, "%s: signals are reported",
           mode);
    out = eventlog_find(&log, OFF_SIGNAL, SIGUSR1, 0);
    ok(out && out->code == SI_USER && out->sender > 0 && out->sender != out->pid,
       "%s: a signal has its sender", mode);
    out = again = NULL;
    for (size_t i = 0; i < log.n; i++) {
        const struct off_event *e = &log.events[i];

        if (e->kind == OFF_EXIT && e->nr == SYS_read && e->result == -ERESTARTSYS)
            out = e;
        if (out && !again && e->kind == OFF_ENTRY && e->tid == out->tid && e->restarted)
            again = e;
    }
    ok(again && again->nr == SYS_read, "%s: an interrupted read is reported as restarted", mode);
    eventlog_free(&log);

    log = play(o, "stops");
    is_int(log.wait_status, 0, "%s: job control works", mode);
    is_int((intmax_t)eventlog_count(&log, OFF_STOPPED, -1), 1, "%s: a job-control stop is reported",
           mode);
    is_int((intmax_t)eventlog_count(&log, OFF_CONTINUED, -1), 1,
           "%s: the end of a job-control stop is reported", mode);
    eventlog_free(&log);
}

/* A filtered command leaves a child behind: that child's calls still work. */
static void test_orphan(void)
{
    const char *argv[] = {"/proc/self/exe", "-A", "orphan", NULL};
    struct source_options o = {.argv = (char **)(uintptr_t)argv};
    struct eventlog log;
    int fd[2], kept;
    char c = 0;

    if (pipe2(fd, O_CLOEXEC) < 0 || (kept = dup(1)) < 0) {
        ok(false, "pipe2() and dup() succeed");
        return;
    }
    fflush(stdout);
    dup2(fd[1], 1);
    eventlog_run(&log, &o);
    dup2(kept, 1);
    close(kept);
    close(fd[1]);
    ok(log.left, "an orphan of the command does not keep the source running");
    ok(read(fd[0], &c, 1) == 1 && c == 'x',
       "an orphan's filtered calls work after the source has ended");
    ok(read(fd[0], &c, 1) == 0, "an orphan runs to its end");
    waitpid(log.tracer, NULL, 0);
    close(fd[0]);
    eventlog_free(&log);
}

int main(int argc, char **argv)
{
    static const struct source_options filtered,
        all = {.no_filter = true}, alone = {.no_follow = true}, sampled = {.hz = 1000},
        all_sampled = {.no_filter = true, .hz = 1000},
        all_alone = {.no_filter = true, .no_follow = true};

    if (argc == 3 && strcmp(argv[1], "-A") == 0)
        _exit(act(argv[2])); /* a leak checker at exit does not work when traced */
    if (argc > 1)
        return print_events(argc, argv);
    test_launch(&filtered, "filter");
    test_launch(&all, "no filter");
    test_lives(&filtered, "filter");
    test_lives(&all, "no filter");
    test_lives(&alone, "filter, not followed");
    test_lives(&all_alone, "no filter, not followed");
    test_lives(&sampled, "filter, sampled");
    test_lives(&all_sampled, "no filter, sampled");
    test_signals(&filtered, "filter");
    test_signals(&all, "no filter");
    test_orphan();
    return done_testing();
}
