/* Memory of a process seen from outside: driver/monitor/rss_sampler.h, and what of it is worth a
 * word. */
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

/* Looks until something has been seen: how long that takes is the machine's affair. */
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
       "our own memory is seen");
    is_str(look.comm, "test_rss_sample", "and our name");
    ok(!rss_sampler_look((uint32_t)ended(), &look), "a process that has ended is not");

    trace_of("test.%d.0.flame", getpid(), 1000);
    trace_of("another.program.%d.12.flame", getpid(), 3000);
    trace_of("gone.%d.0.flame", ended(), 5000);
    trace_of("%d.part", getpid(), 7000);
    trace_of(".%d.flame", getpid(), 9000);
    w = watch_once();
    seen = rss_sampler_seen(w, &n);
    if (is_int(n, 1, "one process is seen, by the names of traces that are whole")) {
        is_int(seen->pid, getpid(), "the one that runs");
        is_int(seen->malloc_bytes, 3000, "with what was recorded of it");
        ok(seen->anon_bytes >= 20 * MIB, "and its memory");
    }
    rss_sampler_free(w);
    rss_sampler_free(NULL);
    rss_sampler_stop(NULL);
    ok(!rss_sampler_seen(NULL, &n) && n == 0, "nobody may have watched");

    ok(unhooked_memory_is_much(64 * MIB, 16 * MIB), "four times what malloc gave is much");
    ok(!unhooked_memory_is_much(64 * MIB, 17 * MIB), "less is not");
    ok(!unhooked_memory_is_much(31 * MIB, 0), "nor is what any process may have");
    clean_up();
    return done_testing();
}
