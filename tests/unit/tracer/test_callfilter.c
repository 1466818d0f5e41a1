/*
 * The filter without a tracer: calls that would stop fail with ENOSYS then, and calls that pass are
 * made. Each case is a child process that loads the filter.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inproc/gate.h"
#include "inproc/syscall_mark.h"
#include "tests/tap.h"
#include "tests/unit/this_libc.h"
#include "tracer/ptrace/callfilter.h"

/* Results of a child, as bits. */
enum {
    OWN_STOPS = 1,   /* a call of the C library's that can sleep */
    OWN_GOES_BY = 2, /* one that cannot */
    GATE_STOPS = 4,
    GATE_MAKES = 8, /* the call was made: its own error came back */
    MARKED = 16,    /* so was each that was marked, and no other from there */
    MARKED_ELSE = 32,
    NOT_LOADED = 64,
};

static long (*gate)(const struct patch_call *);

/* A place in this test for calls, used like the gate. */
long marked_place(const struct patch_call *call);
__asm__(".pushsection .text\n" PATCH_RAW_CODE("marked_place", "hidden") ".popsection\n");
#define MARKED_RETURN ((uintptr_t)marked_place + PATCH_RAW_RETURN)

/* Calls whose arguments the kernel refuses if they reach it. */
static const struct patch_call marked_calls[] = {
    {.number = SYS_read, .args = {(unsigned long)-1}},
    {.number = SYS_recvfrom, .args = {(unsigned long)-1}},
    {.number = SYS_sendto, .args = {(unsigned long)-1}},
    {.number = SYS_epoll_pwait, .args = {(unsigned long)-1, 0, 0, 1}},
    {.number = SYS_poll, .args = {8, 1, 1}},
    {.number = SYS_pselect6, .args = {(unsigned long)-1}},
    {.number = SYS_futex, .args = {1, 0, 0, 0, 0, 7}},
    {.number = SYS_nanosleep, .args = {8}},
};

/* Whether all of them are made, or none, from that place, with the mark of the number + `away`. */
static bool all(patch_enter_kernel *from, bool made, long away)
{
    for (size_t i = 0; i < sizeof marked_calls / sizeof *marked_calls; i++) {
        struct patch_call call = marked_calls[i];
        long got;

        if (away >= 0) {
            syscall_mark_put(&call);
            call.args[syscall_mark_argument(call.number)] += (unsigned long)away << 32;
        }
        got = from(&call);
        if ((got != -ENOSYS) != made)
            return false;
    }
    return true;
}

/* The call that continues an interrupted one has its marked registers. */
static bool restarts(void)
{
    struct patch_call call = {.number = SYS_nanosleep};

    syscall_mark_put(&call);
    call.number = SYS_restart_syscall;
    return marked_place(&call) == -EINTR;
}

static int calls_now(uintptr_t lets_by, uintptr_t lets_marked)
{
    const struct patch_call read_nothing = {.number = SYS_read, .args = {(unsigned long)-1}};
    struct callfilter *f;
    int said = 0;
    long got;

    if (callfilter_new(&f, lets_by, lets_marked) < 0 || callfilter_load(f) < 0)
        return NOT_LOADED;
    if (syscall(SYS_read, -1, NULL, 0) < 0 && errno == ENOSYS)
        said |= OWN_STOPS;
    if (syscall(SYS_getppid) > 0)
        said |= OWN_GOES_BY;
    got = gate(&read_nothing);
    if (got == -ENOSYS)
        said |= GATE_STOPS;
    if (got == -EBADF)
        said |= GATE_MAKES;
    if (all(marked_place, true, 0) && restarts())
        said |= MARKED;
    if (!all(marked_place, false, -1) || !all(marked_place, false, 1) ||
        !all(gate, said & GATE_MAKES, 0))
        said |= MARKED_ELSE;
    return said;
}

static int in_child(uintptr_t lets_by, uintptr_t lets_marked)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        syscall(SYS_exit, calls_now(lets_by, lets_marked)); /* exit_group stops, too */
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* libflamegate.so lies where the recorder does. */
static bool load_gate(void)
{
    const char *shim = getenv("SHIM"), *slash = shim ? strrchr(shim, '/') : NULL;
    char path[4096];
    void *lib;

    snprintf(path, sizeof path, "%.*s/libflamegate.so", slash ? (int)(slash - shim) : 5,
             slash ? shim : "build");
    lib = dlopen(path, RTLD_NOW);
    if (!lib) {
        diag("%s", dlerror());
        return false;
    }
    gate = (long (*)(const struct patch_call *))dlsym(lib, "flame_gate");
    return gate != NULL;
}

int main(void)
{
    uintptr_t by_gate;

    if (!ok(load_gate(), "libflamegate.so loads and exports flame_gate"))
        return done_testing();
    by_gate = (uintptr_t)gate + PATCH_RAW_RETURN;
    is_int((uintptr_t)gate == GATE_CODE, gate_can_be_placed(),
           "the loader maps libflamegate.so at its link address where possible");
    is_int(in_child(0, 0), OWN_STOPS | OWN_GOES_BY | GATE_STOPS,
           "a filter without a gate address stops all calls");
    is_int(in_child(by_gate, 0), OWN_STOPS | OWN_GOES_BY | GATE_MAKES,
           "a filter with the gate's address passes the gate's calls and stops all others");
    is_int(in_child(by_gate - 2, 0), OWN_STOPS | OWN_GOES_BY | GATE_STOPS,
           "a filter with a nearby address stops the gate's calls");
    is_int(in_child(by_gate ^ 0x100000000ul, 0), OWN_STOPS | OWN_GOES_BY | GATE_STOPS,
           "the filter compares the upper 32 bits of the gate's address");
    is_int(in_child(by_gate, MARKED_RETURN % SYSCALL_MARK_PAGE),
           OWN_STOPS | OWN_GOES_BY | GATE_MAKES | MARKED,
           "the filter passes marked calls from the place of the mark");
    is_int(in_child(by_gate, MARKED_RETURN % SYSCALL_MARK_PAGE - 2),
           OWN_STOPS | OWN_GOES_BY | GATE_MAKES,
           "the filter stops marked calls from any other place");
    return done_testing();
}
