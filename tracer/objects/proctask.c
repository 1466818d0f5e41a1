#define _GNU_SOURCE
#include "tracer/objects/proctask.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/proc_stat.h"
#include "common/basename.h"
#include "common/clock.h"
#include "common/loaderline.h"
#include "common/procpath.h"

ssize_t task_read(pid_t tid, const char *what, char *buf, size_t size)
{
    int fd = open(proc_path(tid, what).s, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return -1;
    n = read(fd, buf, size - 1);
    close(fd);
    if (n >= 0)
        buf[n] = '\0';
    return n;
}

bool task_call_parse(const char *text, struct task_call *out)
{
    const char *at = text;
    uint64_t word[8];
    char *end;
    size_t n = 0;

    *out = (struct task_call){.where = TASK_RUNS, .nr = -1};
    if (strncmp(text, "running", 7) == 0)
        return true;
    out->nr = (int)strtol(at, &end, 10);
    if (end == at)
        return false;
    for (at = end; n < ARRAY_LEN(word); n++, at = end) {
        word[n] = strtoull(at, &end, 16);
        if (end == at)
            break;
    }
    if (out->nr < 0) {
        out->where = TASK_FAULTS;
        out->sp = n > 0 ? word[0] : 0;
        out->pc = n > 1 ? word[1] : 0;
        return true;
    }
    if (n < ARRAY_LEN(word))
        return false;
    out->where = TASK_IN_CALL;
    memcpy(out->args, word, sizeof out->args);
    out->sp = word[6];
    out->pc = word[7];
    return true;
}

bool task_call(pid_t tid, struct task_call *out)
{
    char text[256];

    return task_read(tid, "syscall", text, sizeof text) > 0 && task_call_parse(text, out);
}

bool task_sched_parse(const char *text, struct off_sched *out)
{
    uint64_t *const numbers[] = {&out->cpu_ns, &out->runq_ns, &out->turns};
    const char *at = text;
    char *end;

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++, at = end) {
        *numbers[i] = strtoull(at, &end, 10);
        if (end == at)
            return false;
    }
    return true;
}

bool task_sched_read(int fd, struct off_sched *out)
{
    char text[96];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);

    if (n <= 0)
        return false;
    text[n] = '\0';
    return task_sched_parse(text, out);
}

bool task_sched(pid_t tid, struct off_sched *out)
{
    int fd = open(proc_path(tid, "schedstat").s, O_RDONLY | O_CLOEXEC);
    bool known;

    if (fd < 0)
        return false;
    known = task_sched_read(fd, out);
    close(fd);
    return known;
}

/* Text after "NAME:" in /proc/TID/status, read into `text`; NULL: there is none. */
static const char *status_line(pid_t tid, const char *name, char *text, size_t size)
{
    size_t len = strlen(name);

    if (task_read(tid, "status", text, size) <= 0)
        return NULL;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, len) == 0 && line[len] == ':')
            return line + len + 1;
    }
    return NULL;
}

long task_status(pid_t tid, const char *name)
{
    char text[4096];
    const char *value = status_line(tid, name, text, sizeof text);

    return value ? strtol(value, NULL, 10) : -1;
}

bool task_is_first(pid_t tid)
{
    char text[4096];
    const char *at = status_line(tid, "NStgid", text, sizeof text);
    long id = 0;

    /* A number for each namespace, ours first. */
    while (at && *at != '\n') {
        char *end;
        long n = strtol(at, &end, 10);

        if (end == at)
            break;
        id = n;
        at = end + strspn(end, "\t ");
    }
    return id == 1;
}

static bool in_mask(pid_t tid, const char *name, int sig)
{
    char text[4096];
    const char *mask = status_line(tid, name, text, sizeof text);

    return mask && strtoull(mask, NULL, 16) >> (sig - 1) & 1;
}

bool task_catches(pid_t tid, int sig)
{
    return in_mask(tid, "SigCgt", sig);
}

bool task_ignores(pid_t tid, int sig)
{
    if (sig == SIGCHLD || sig == SIGCONT || sig == SIGURG || sig == SIGWINCH)
        return !task_catches(tid, sig);
    return in_mask(tid, "SigIgn", sig);
}

bool task_state(pid_t tid, char *state, unsigned long *flags)
{
    char text[1024];
    const char *letter, *bits;

    if (task_read(tid, "stat", text, sizeof text) <= 0)
        return false;
    letter = proc_stat_field(text, PROC_STAT_STATE);
    bits = proc_stat_field(text, PROC_STAT_FLAGS);
    if (!letter || !bits)
        return false;
    *state = *letter;
    *flags = strtoul(bits, NULL, 10);
    return true;
}

uint64_t task_age_ns(pid_t tid)
{
    uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK), began, now = clock_ns(CLOCK_BOOTTIME);
    char text[1024];
    const char *ticks;

    if (task_read(tid, "stat", text, sizeof text) <= 0 ||
        !(ticks = proc_stat_field(text, PROC_STAT_STARTTIME)))
        return 0;
    began = strtoull(ticks, NULL, 10) * (1000000000 / hz);
    return now > began ? now - began : 0;
}

bool task_faults(pid_t tid, uint64_t *n)
{
    char text[1024];
    const char *minor, *major;

    if (task_read(tid, "stat", text, sizeof text) <= 0)
        return false;
    minor = proc_stat_field(text, PROC_STAT_MINFLT);
    major = proc_stat_field(text, PROC_STAT_MAJFLT);
    if (!minor || !major)
        return false;
    *n = strtoul(minor, NULL, 10) + strtoul(major, NULL, 10);
    return true;
}

bool task_is_32bit(pid_t pid)
{
    char ident[EI_NIDENT + 1];

    return task_read(pid, "exe", ident, sizeof ident) == EI_NIDENT &&
           memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] == ELFCLASS32;
}

/* If the thread runs a loader that was started by hand, replaces its name by that of the program it
 * runs. */
static void name_program(pid_t tid, char comm[16])
{
    char text[4096];
    ssize_t n = task_read(tid, "cmdline", text, sizeof text);
    const char *program = n > 0 ? loaderline_program(text, (size_t)n) : NULL;

    if (program)
        snprintf(comm, 16, "%.15s", base_name(program));
}

bool task_comm(pid_t tid, char comm[16])
{
    char text[64];
    ssize_t n = task_read(tid, "comm", text, sizeof text);

    if (n <= 0)
        return false;
    text[strcspn(text, "\n")] = '\0';
    snprintf(comm, 16, "%.15s", text);
    if (loaderline_is_loader(comm))
        name_program(tid, comm);
    return true;
}

bool task_has_file(pid_t pid, const char *name)
{
    DIR *dir = opendir(proc_path(pid, "fd").s);
    char link[256];
    bool has = false;

    for (struct dirent *d; dir && !has && (d = readdir(dir));) {
        ssize_t n = readlinkat(dirfd(dir), d->d_name, link, sizeof link - 1);

        link[n > 0 ? n : 0] = '\0';
        has = strcmp(link, name) == 0;
    }
    if (dir)
        closedir(dir);
    return has;
}
