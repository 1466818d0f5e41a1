#define _GNU_SOURCE
#include "preload/runtime/self_status.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "common/basename.h"
#include "common/kernel.h"
#include "common/loaderline.h"
#include "common/str_span.h"

/* Reads the beginning of a small file, and terminates it with NUL; returns its length or -errno. */
static long read_file(const char *path, char *buf, size_t size)
{
    int fd = kernel_open(path, O_RDONLY, 0);
    long n;

    if (fd < 0)
        return fd;
    n = kernel_call(SYS_read, fd, buf, size - 1);
    kernel_call(SYS_close, fd);
    buf[n > 0 ? n : 0] = '\0';
    return n;
}

/* Text after "NAME:" and blanks at the beginning of a line. NULL: there is no such line. */
static const char *value_of(const char *text, const char *name)
{
    size_t len = strlen(name);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, len) == 0 && line[len] == ':')
            return line + len + 1 + span_of(line + len + 1, " \t");
    }
    return NULL;
}

static uint32_t number_of(const char *text, const char *name)
{
    const char *s = value_of(text, name);
    uint32_t value = 0;

    for (; s && *s >= '0' && *s <= '9'; s++)
        value = value * 10 + (uint32_t)(*s - '0');
    return value;
}

bool self_status_read(const char *path, struct process *p)
{
    char text[4096];
    const char *name;
    long n = read_file(path, text, sizeof text);

    *p = (struct process){.pid = 0};
    if (n <= 0 || !(name = value_of(text, "Name")))
        return false;
    memcpy(p->name, name, strnlen(name, sizeof p->name - 1));
    p->name[span_until(p->name, "\n")] = '\0';
    p->pid = number_of(text, "Pid");
    p->ppid = number_of(text, "PPid");
    p->filters = number_of(text, "Seccomp") != 0;
    /* Linux has this line since 5.9. */
    p->counted = value_of(text, "Seccomp_filters") != NULL;
    if (p->filters && p->counted)
        p->filters = (int)number_of(text, "Seccomp_filters");
    return true;
}

static char program[16];

void self_set_program(const char *exe)
{
    const char *base = base_name(exe);
    size_t len = strlen(base) < 15 ? strlen(base) : 15;

    memset(program, 0, sizeof program);
    if (!loaderline_is_loader(base))
        memcpy(program, base, len);
}

static void put_right(char *name)
{
    if (unlikely(loaderline_is_loader(name)) && program[0])
        memcpy(name, program, sizeof program);
}

void self_status_ask(struct process *p)
{
    long pid = kernel_call(SYS_getpid), ppid = kernel_call(SYS_getppid);

    *p = (struct process){.pid = 0};
    if (kernel_call(SYS_prctl, PR_GET_NAME, p->name) < 0 || pid < 0 || ppid < 0)
        self_status_read("/proc/self/status", p);
    put_right(p->name);
    if (pid > 0)
        p->pid = (uint32_t)pid;
    if (ppid > 0)
        p->ppid = (uint32_t)ppid;
}

void self_thread_name(char name[16])
{
    char text[64];

    memset(name, 0, 16);
    if (kernel_call(SYS_prctl, PR_GET_NAME, name) != 0 &&
        read_file("/proc/thread-self/comm", text, sizeof text) > 0)
        memcpy(name, text, span_until(text, "\n") < 15 ? span_until(text, "\n") : 15);
    put_right(name);
}
