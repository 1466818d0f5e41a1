#define _GNU_SOURCE
#include "tracer/perf/perfopen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

int perf_open(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
    long fd = syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

    return fd < 0 ? -errno : (int)fd;
}

static int paranoid(void)
{
    struct strbuf text = STRBUF_INIT;
    int level = strbuf_read_file(&text, PARANOID, 64) == 0 ? atoi(text.buf) : 0;

    strbuf_release(&text);
    return level;
}

void perf_refusal(int err, const char *needs, struct strbuf *why)
{
    if ((err == -EACCES || err == -EPERM) && paranoid() > 2)
        strbuf_addf(why,
                    "the kernel refuses perf_event_open, as kernel.perf_event_paranoid is %d; "
                    "lower it to 2 (sysctl kernel.perf_event_paranoid=2), or give the right "
                    "CAP_PERFMON",
                    paranoid());
    else if (err == -EACCES || err == -EPERM)
        strbuf_addstr(why, "perf_event_open is refused, as by a container's seccomp filter; allow "
                           "it there, or run outside");
    else if (err == -ENOSYS || err == -ENOENT)
        strbuf_addstr(why, "this kernel has no perf_event_open (CONFIG_PERF_EVENTS); take another");
    else if (err == -EMFILE || err == -ENFILE)
        strbuf_addf(why, "%s: %s; raise ulimit -n", strerror(-err), needs);
    else
        strbuf_addf(why, "perf_event_open: %s", strerror(-err));
}
