/* Memory of a process as read from /proc (driver/monitor/rss_sampler.h), and the limit above which
 * it is reported. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/trace_format.h"
#include "driver/run/unhooked_memory.h"
#include "driver/monitor/rss_sampler.h"
#include "tests/tap.h"

#define MIB ((uint64_t)1 << 20)

static char dir[] = "/tmp/watch.XXXXXX";

static void trace_of(const char *format, pid_t pid, uint64_t peak)
{
    struct trace_header h = {.peak_bytes = peak};
    char path[128];
    int fd, n = snprintf(path, sizeof path, "%s/", dir);

    snprintf(path + n, sizeof path - (size_t)n, format, (int)pid);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (write(fd, &h, sizeof h) != (ssize_t)sizeof h)
        ok(false, "a trace is written");
    close(fd);
}

static pid_t ended(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    return pid;
}

/* Samples until a process is found. How long that takes depends on the machine. */
static struct rss_sampler *watch_once(void)
{
    for (unsigned ms = 20;; ms *= 2) {
        struct rss_sampler *w = rss_sampler_start(dir);
        size_t n;

        usleep(ms * 1000);
        rss_sampler_stop(w);
        rss_sampler_seen(w, &n);
        if (n || ms > 20000)
            return w;
        rss_sampler_free(w);
    }
}

static void clean_up(void)
{
    DIR *d = opendir(dir);

    for (struct dirent *entry; (entry = readdir(d));)
        unlinkat(dirfd(d), entry->d_name, 0);
    closedir(d);
    rmdir(dir);
}

int main(void)
{
    void *block = mmap(NULL, 20 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const struct rss_sample *seen;
    struct rss_sample look;
    struct rss_sampler *w;
    size_t n;

    if (!mkdtemp(dir))
        return 1;
    memset(block, 1, 20 * MIB);
    ok(rss_sampler_look((uint32_t)getpid(), &look) && look.anon_bytes >= 20 * MIB &&
           look.anon_bytes < 1024 * MIB,
       "rss_sampler reads the process's own anonymous memory");
    is_str(look.comm, "test_rss_sample", "rss_sampler reads the process's own name");
    ok(!rss_sampler_look((uint32_t)ended(), &look),
       "rss_sampler finds no memory of an ended process");

    trace_of("test.%d.0.flame", getpid(), 1000);
    trace_of("another.program.%d.12.flame", getpid(), 3000);
    trace_of("gone.%d.0.flame", ended(), 5000);
    trace_of("%d.part", getpid(), 7000);
    trace_of(".%d.flame", getpid(), 9000);
    w = watch_once();
    seen = rss_sampler_seen(w, &n);
    if (is_int(n, 1, "rss_sampler finds one process, by the names of complete traces")) {
        is_int(seen->pid, getpid(), "rss_sampler finds the running process");
        is_int(seen->malloc_bytes, 3000,
               "rss_sampler has the highest malloc peak of the process's traces");
        ok(seen->anon_bytes >= 20 * MIB, "rss_sampler has the process's anonymous memory");
    }
    rss_sampler_free(w);
    rss_sampler_free(NULL);
    rss_sampler_stop(NULL);
    ok(!rss_sampler_seen(NULL, &n) && n == 0, "a sampler that was not started has no samples");

    ok(unhooked_memory_is_much(64 * MIB, 16 * MIB),
       "anonymous memory of four times malloc's peak is reported");
    ok(!unhooked_memory_is_much(64 * MIB, 17 * MIB),
       "anonymous memory below four times malloc's peak is not reported");
    ok(!unhooked_memory_is_much(31 * MIB, 0), "anonymous memory below 32 MiB is not reported");
    clean_up();
    return done_testing();
}
