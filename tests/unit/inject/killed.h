/*
 * killed.h: kills flame while it works on another process, for tests of the consequences.
 *
 * Each request to ptrace and each write to a process's memory is a step; a process ends by SIGKILL
 * before the step whose number is killed_at. Only one file of a test may include it, as it replaces
 * functions of the C library.
 */
#ifndef FLAME_TESTS_UNIT_INJECT_KILLED_H
#define FLAME_TESTS_UNIT_INJECT_KILLED_H

#include <signal.h>
#include <stdarg.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned killed_steps, killed_at = UINT32_MAX;

static void killed_step(void)
{
    if (++killed_steps == killed_at)
        raise(SIGKILL);
}

/* Only requests that give what they find by their last argument. */
long ptrace(enum __ptrace_request request, ...)
{
    va_list args;
    pid_t pid;
    void *at, *data;

    va_start(args, request);
    pid = va_arg(args, pid_t);
    at = va_arg(args, void *);
    data = va_arg(args, void *);
    va_end(args);
    killed_step();
    return syscall(SYS_ptrace, request, pid, at, data);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    killed_step();
    return syscall(SYS_pwrite64, fd, bytes, size, at);
}

#endif
