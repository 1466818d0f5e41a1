/*
 * The filter without a tracer: calls that would stop fail with ENOSYS then, and calls that go by
 * are made. Each case is a child process that loads the filter.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inside/gate.h"
#include "tests/tap.h"
#include "tests/unit/this_libc.h"
#include "tracer/ptrace/callfilter.h"

/* What a child says: a row of bits. */
enum {
    OWN_STOPS = 1,   /* a call of the C library's that can sleep */
    OWN_GOES_BY = 2, /* one that cannot */
    GATE_STOPS = 4,
    GATE_MAKES = 8, /* the call was made: its own error came back */
    NOT_LOADED = 64,
};

static long (*gate)(const struct patch_call *);

static int calls_now(uintptr_t lets_by)
{
    const struct patch_call read_nothing = {.number = SYS_read, .args = {(unsigned long)-1}};
    struct callfilter *f;
    int said = 0;
    long got;

    if (callfilter_new(&f, lets_by) < 0 || callfilter_load(f) < 0)
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
    return said;
}

static int in_child(uintptr_t lets_by)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(calls_now(lets_by));
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

    if (!ok(load_gate(), "the gate is loaded"))
        return done_testing();
    by_gate = (uintptr_t)gate + PATCH_RAW_RETURN;
    is_int((uintptr_t)gate == GATE_CODE, gate_can_be_placed(),
           "the loader puts it where it is linked for");
    is_int(in_child(0), OWN_STOPS | OWN_GOES_BY | GATE_STOPS, "without a place all calls stop");
    is_int(in_child(by_gate), OWN_STOPS | OWN_GOES_BY | GATE_MAKES,
           "calls by the gate go by, all others stop");
    is_int(in_child(by_gate - 2), OWN_STOPS | OWN_GOES_BY | GATE_STOPS,
           "the place is one address, not what lies around it");
    is_int(in_child(by_gate ^ 0x100000000ul), OWN_STOPS | OWN_GOES_BY | GATE_STOPS,
           "all of its 64 bits");
    return done_testing();
}
