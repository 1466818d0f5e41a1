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
    is_int(p.pid, getpid(), "%s: self_status_ask finds the process id", how);
    is_int(p.ppid, getppid(), "%s: self_status_ask finds the parent's id", how);
    is_str(p.name, "a name: 15 byte", "%s: self_status_ask finds the process's name", how);
    is_str(name, "a name: 15 byte", "%s: self_thread_name finds the thread's name", how);
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
    ok(good, "self_status_read reads a status file");
    is_str(p.name, "Seccomp:\t5", "a name that looks like a line is read as a name");
    ok(p.pid == 12 && p.ppid == 7, "ids are read from the lines that begin with their key");
    is_int(p.filters, 3, "the number of seccomp filters is read");
    p = read_text("Name:\tx\nPid:\t12\nSeccomp:\t2\n", &good);
    ok(good && p.filters == 1 && p.ppid == 0,
       "one seccomp filter is assumed where the kernel does not count them");
    p = read_text("Name:\tx\nPid:\t12\nSeccomp:\t0\nSeccomp_filters:\t0\n", &good);
    ok(good && p.filters == 0, "a process without seccomp has 0 filters");
    p = read_text("Name:\ta very long name that no process has\nPid:", &good);
    ok(good && strlen(p.name) == 16 && p.pid == 0,
       "a truncated status file gives a truncated name and no id");
    read_text("", &good);
    ok(!good, "an empty status file is refused");
    read_text("no such form", &good);
    ok(!good, "a file of another format is refused");
    ok(!self_status_read("/nonexistent", &p), "a missing status file is refused");
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
    ok(p.pid == 0 && p.ppid == 0 && p.name[0] == '\0',
       "self_status_ask leaves all fields empty where no call is allowed");
    test_files();
    return done_testing();
}
