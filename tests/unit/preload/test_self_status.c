/* preload/runtime/self_status.h: asking by calls and by files, and files that say something else.
 */
#define _GNU_SOURCE
#include "preload/runtime/self_status.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/kernel.h"
#include "tests/tap.h"

static bool files_only(long number, const unsigned long args[6] FLAME_UNUSED)
{
    return number == SYS_openat || number == SYS_read || number == SYS_close;
}

static bool nothing(long number FLAME_UNUSED, const unsigned long args[6] FLAME_UNUSED)
{
    return false;
}

static void test_asking(const char *how, kernel_gate *gate)
{
    struct process p;
    char name[16];

    kernel_gatekeeper = gate;
    self_status_ask(&p);
    self_thread_name(name);
    kernel_gatekeeper = NULL;
    is_int(p.pid, getpid(), "%s: this process", how);
    is_int(p.ppid, getppid(), "%s: its parent", how);
    is_str(p.name, "a name: 15 byte", "%s: its name", how);
    is_str(name, "a name: 15 byte", "%s: its thread's name", how);
}

static struct process read_text(const char *text, bool *good)
{
    char path[4096];
    struct process p;
    int fd;

    snprintf(path, sizeof path, "%s/flame-process-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             (int)getpid());
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        perror(path);
    close(fd);
    *good = self_status_read(path, &p);
    unlink(path);
    return p;
}

static void test_files(void)
{
    struct process p;
    bool good;

    p = read_text("Name:\tSeccomp:\t5\nPid:\t12\nPPid:\t7\nTracerPid:\t9\nSeccomp:\t2\n"
                  "Seccomp_filters:\t3\n",
                  &good);
    ok(good, "a file of that form");
    is_str(p.name, "Seccomp:\t5", "a name is a name");
    ok(p.pid == 12 && p.ppid == 7, "ids of lines that begin so");
    is_int(p.filters, 3, "filters are counted");
    p = read_text("Name:\tx\nPid:\t12\nSeccomp:\t2\n", &good);
    ok(good && p.filters == 1 && p.ppid == 0, "an older kernel does not count them");
    p = read_text("Name:\tx\nPid:\t12\nSeccomp:\t0\nSeccomp_filters:\t0\n", &good);
    ok(good && p.filters == 0, "none");
    p = read_text("Name:\ta very long name that no process has\nPid:", &good);
    ok(good && strlen(p.name) == 16 && p.pid == 0, "cut");
    read_text("", &good);
    ok(!good, "nothing");
    read_text("no such form", &good);
    ok(!good, "something else");
    ok(!self_status_read("/nonexistent", &p), "no file");
}

int main(void)
{
    struct process p;

    prctl(PR_SET_NAME, "a name: 15 bytes and more");
    test_asking("by calls", NULL);
    test_asking("by files", files_only);
    kernel_gatekeeper = nothing;
    self_status_ask(&p);
    kernel_gatekeeper = NULL;
    ok(p.pid == 0 && p.ppid == 0 && p.name[0] == '\0', "where nothing may be asked");
    test_files();
    return done_testing();
}
