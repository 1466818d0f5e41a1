/*
 * Captured stacks compared with libunwind's. A victim is stopped at arbitrary moments. Each time
 * its stack, taken from one copy, must be the one that libunwind-ptrace finds reading word by word.
 */
#include "tracer/stacks/capture.h"

#include <libunwind-ptrace.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/procmaps.h"
#include "common/trace/trace_reader.h"
#include "tests/tap.h"

#define FRAMES_MAX 20000

static char dir[] = "/tmp/flame-test-XXXXXX";
static char trace_path[64], program[64];

static struct offtrace *trace_begin(void)
{
    struct offtrace_init init = {.path = trace_path, .pid = getpid(), .depth = 128};

    unlink(trace_path);
    return offtrace_new(&init);
}

static pid_t start(const char *what)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execl(program, program, what, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL);
    return pid;
}

static void finish(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* CPU time of the process, in nanoseconds. */
static int64_t used(pid_t pid)
{
    struct timespec ts = {0};
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) == 0)
        clock_gettime(clock, &ts);
    return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static bool run_a_while(pid_t pid, unsigned us)
{
    struct timespec ts = {0, (long)us * 1000};
    int status;

    ptrace(PTRACE_CONT, pid, 0, 0);
    nanosleep(&ts, NULL);
    kill(pid, SIGSTOP);
    for (;;) {
        if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
            return false;
        if (WSTOPSIG(status) == SIGSTOP)
            return true;
        ptrace(PTRACE_CONT, pid, 0, WSTOPSIG(status));
    }
}

/* Lets the process run for a while and stops it. Its own signals are passed on. If other processes
 * have the CPU, it would be where it was, so it gets some more time. */
static bool run_and_stop(pid_t pid, unsigned us)
{
    int64_t before = used(pid);

    for (int tries = 0; tries < 50; tries++) {
        if (!run_a_while(pid, us))
            return false;
        if (used(pid) - before >= us * 500LL)
            break;
    }
    return true;
}

static int referee_walk(unw_addr_space_t as, void *upt, uintptr_t *pcs)
{
    unw_cursor_t c;
    unw_word_t pc;
    int n = 0;

    if (unw_init_remote(&c, as, upt) != 0)
        return 0;
    do {
        if (unw_get_reg(&c, UNW_REG_IP, &pc) != 0 || !pc)
            break;
        pcs[n++] = pc;
    } while (n < FRAMES_MAX && unw_step(&c) > 0);
    return n;
}

/*
 * In a few instructions of libgcc's (where it enters a handler) the unwind tables are wrong, and
 * both walks find a return address that is none. Flame's walk ends there, or before it; libunwind
 * guesses on from it. This is no difference. (Debian 11's does so at the end of a stack now and
 * then.)
 */
static bool no_code(pid_t pid, uintptr_t pc)
{
    struct procmap map;

    return !procmaps_find(pid, pc, &map) || !map.exec;
}

/*
 * There, too, the address may be the handler's and the frame not: flame's walk is lost, libunwind's
 * ends. It is not where the victim's stacks end: fewer than one in ten do.
 */
struct endings {
    uintptr_t outermost[150]; /* libunwind's, by round */
    bool lost[150];           /* ours was, and has the same frames */
    uintptr_t
        further[150]; /* where libunwind stopped within our stack: the stack's outermost frame */
};

/* One round in ten or more of libunwind's ends with that frame. */
static bool is_usual(const struct endings *e, int rounds, uintptr_t outermost)
{
    int like = 0;

    for (int i = 0; i < rounds; i++)
        like += e->outermost[i] == outermost;
    return like * 10 >= rounds;
}

static int lost_alone(const struct endings *e, int rounds)
{
    int alone = 0;

    for (int i = 0; i < rounds; i++)
        alone += e->lost[i] && is_usual(e, rounds, e->outermost[i]);
    return alone;
}

/* libunwind gives up in the loader now and then. Then flame's stack is right if it begins with
 * libunwind's and ends where libunwind's stacks of other rounds do. */
static int beyond_the_end(const struct endings *e, int rounds)
{
    int wrong = 0;

    for (int i = 0; i < rounds; i++)
        wrong += e->further[i] && !is_usual(e, rounds, e->further[i]);
    return wrong;
}

static uint64_t compare(const char *flags, const char *what, int rounds, int at_least)
{
    static uintptr_t theirs[FRAMES_MAX];
    struct offtrace *to = trace_begin();
    struct stacks *s = stacks_new(to, 128);
    unw_addr_space_t as = unw_create_addr_space(&_UPT_accessors, 0);
    int different = 0, deepest = 0, done = 0, both_lost = 0;
    struct endings ends = {0};
    uint64_t fallbacks;
    pid_t pid = start(what);
    struct space *sp = space_new(stacks_spaces(s), pid);
    void *upt = _UPT_create(pid);

    stacks_name_python(s); /* as flame off does: it keeps stack pointers beside the frames */
    unw_set_caching_policy(as, UNW_CACHE_GLOBAL);
    run_and_stop(pid, 20000);
    for (; done < rounds && run_and_stop(pid, 100 + (unsigned)(done * 37) % 900); done++) {
        struct user_regs_struct regs;
        const uintptr_t *ours;
        uint64_t lost = stacks_lost(s);
        int n, m, same = 0;

        ptrace(PTRACE_GETREGS, pid, 0, &regs);
        ours = stacks_walk(s, sp, pid, &regs, false, &n);
        m = referee_walk(as, upt, theirs);
        while (same < n && same < m && (ours[same] & ~REMOTE_EXACT) == theirs[same])
            same++;
        ends.outermost[done] = m > 0 ? theirs[m - 1] : 0;
        ends.lost[done] = stacks_lost(s) > lost && same == n && n == m;
        both_lost += ends.lost[done];
        if (m > 0 && same == m && m < n)
            ends.further[done] = ours[n - 1] & ~REMOTE_EXACT;
        else if ((same != n || n != m) && !(same == n && (no_code(pid, theirs[n - 1]) ||
                                                          (m > n && no_code(pid, theirs[n]))))) {
            if (different++ < 5) {
                diag("%s %s: round %d: %d frames, libunwind has %d; frame %d differs", flags, what,
                     done, n, m, same);
                for (int i = same > 1 ? same - 2 : 0; i < same + 2; i++)
                    diag("  %#lx %#lx", i < n ? (long)ours[i] : 0L, i < m ? (long)theirs[i] : 0L);
            }
        }
        if (n > deepest)
            deepest = n;
    }
    is_int(done, rounds, "%s %s: the program is stopped in every round", flags, what);
    is_int(different, 0, "%s %s: each stack is that of libunwind", flags, what);
    is_int(beyond_the_end(&ends, done), 0,
           "%s %s: a longer stack than libunwind's ends where others do", flags, what);
    ok(deepest >= at_least, "%s %s: the deepest stack has enough frames, %d", flags, what, deepest);
    is_int((intmax_t)stacks_lost(s), both_lost,
           "%s %s: stacks are lost only where libunwind loses them", flags, what);
    is_int(lost_alone(&ends, done), 0, "%s %s: no stack is lost that libunwind has", flags, what);
    fallbacks = stacks_fallbacks(s);
    _UPT_destroy(upt);
    unw_destroy_addr_space(as);
    finish(pid);
    space_release(sp);
    stacks_free(s);
    offtrace_free(to);
    return fallbacks;
}

/* libunwind-ptrace cannot walk out of the vdso. The right stack is known: the frames from the
 * clock's reader to the outermost are always the same. */
static void check_vdso(const char *flags)
{
    uintptr_t outer[64] = {0};
    struct offtrace *to = trace_begin();
    struct stacks *s = stacks_new(to, 128);
    int inside = 0, wrong = 0, nouter = 0;
    pid_t pid = start("clock");
    struct space *sp = space_new(stacks_spaces(s), pid);

    run_and_stop(pid, 20000);
    for (int i = 0; i < 200 && run_and_stop(pid, 200); i++) {
        struct user_regs_struct regs;
        const uintptr_t *ours;
        struct procmap map;
        int n, own = 1;

        ptrace(PTRACE_GETREGS, pid, 0, &regs);
        ours = stacks_walk(s, sp, pid, &regs, false, &n);
        /* In the vdso: it, libc's clock_gettime, ask_clock, clocks, main and outwards. */
        if (n < 3 || n > 64 || !procmaps_find(pid, regs.rip, &map) || map.inode)
            continue;
        if (regs.rip < map.start || map.end - map.start > 16384 || map.offset)
            continue;
        wrong += WRONG((ours[0] & ~REMOTE_EXACT) != regs.rip, inside);
        /* Its functions may call each other. */
        while (own < n && ours[own] >= map.start && ours[own] < map.end)
            own++;
        inside++;
        if (!nouter) {
            nouter = n - own;
            memcpy(outer, ours + own, (size_t)nouter * sizeof *ours);
        }
        wrong += WRONG(n != nouter + own ||
                           memcmp(outer, ours + own, (size_t)nouter * sizeof *ours) != 0,
                       inside);
    }
    ok(inside > 20, "%s: the program is stopped in the vdso often enough, %d times", flags, inside);
    ok(nouter >= 6, "%s: stacks in the vdso have enough callers, %d", flags, nouter);
    is_int(wrong, 0, "%s: stacks in the vdso have equal callers", flags);
    is_int((intmax_t)(stacks_lost(s) + stacks_fallbacks(s)), 0,
           "%s: stacks in the vdso need no fallback", flags);
    finish(pid);
    space_release(sp);
    stacks_free(s);
    offtrace_free(to);
}

static void compare_all(const char *compiler, const char *flags)
{
    char command[512];

    snprintf(command, sizeof command,
             "%s %s -g tests/victims/off/stacked.cc -o %s -pthread 2>/dev/null", compiler, flags,
             program);
    snprintf(command + 300, sizeof command - 300, "%s %s", compiler, flags);
    if (system(command) != 0) {
        skip_key(compiler, "%s cannot build the victim", command + 300);
        return;
    }
    compare(command + 300, "spin", 150, 5);
    compare(command + 300, "throw", 150, 8);
    compare(command + 300, "deep", 30, 3000);
    compare(command + 300, "altstack", 150, 8);
    compare(command + 300, "coroutine", 150, 4);
    compare(command + 300, "block", 60, 4);
    ok(compare(command + 300, "assembler", 150, 5) > 100,
       "%s: libunwind walks frames that no rule describes", command + 300);
    check_vdso(command + 300);
}

int main(void)
{
    if (!ok(mkdtemp(dir) != NULL, "a directory for the test's files is made"))
        return done_testing();
    snprintf(trace_path, sizeof trace_path, "%s/a.flame", dir);
    snprintf(program, sizeof program, "%s/stacked", dir);
    compare_all("g++", "-O0");
    compare_all("g++", "-O2");
    compare_all("g++", "-O2 -fno-omit-frame-pointer -fcf-protection");
    compare_all("clang++", "-O0");
    compare_all("clang++", "-O2");
    unlink(trace_path);
    unlink(program);
    rmdir(dir);
    return done_testing();
}
