/* When a trace is complete (driver/monitor/trace_ingest.h), and what is known of many processes
 * (driver/monitor/run_totals.h). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/trace_format.h"
#include "driver/monitor/trace_ingest.h"
#include "tests/tap.h"

/* ---- a trace is complete ---- */

#define SIZE ((size_t)16 << 10)

static char path[] = "/dev/shm/taken.XXXXXX";

static void *map_trace(int prot)
{
    int fd = open(path, prot & PROT_WRITE ? O_RDWR : O_RDONLY);
    void *p = mmap(NULL, SIZE, prot, MAP_SHARED, fd, 0);

    close(fd);
    return p;
}

static bool is_complete(void)
{
    int fd = open(path, O_RDONLY);
    bool complete = trace_ingest_is_complete(fd);

    close(fd);
    return complete;
}

/* A child that inherits the mapping from this process, and nothing else. */
static pid_t inherit_mapping(int *until)
{
    int pipefd[2];
    char byte;
    pid_t pid;

    if (pipe(pipefd) < 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        close(pipefd[1]);
        _exit(read(pipefd[0], &byte, 1) < 0);
    }
    close(pipefd[0]);
    *until = pipefd[1];
    return pid;
}

static void writers(void)
{
    struct trace_header h = {.version = TRACE_VERSION};
    int fd = mkstemp(path), until = -1;
    void *rw, *ro;
    pid_t child;

    ok(ftruncate(fd, SIZE) == 0, "a file for the trace is made");
    close(fd);
    ok(!is_complete(), "a trace without a header is incomplete");
    rw = map_trace(PROT_READ | PROT_WRITE);
    memcpy(h.magic, TRACE_MAGIC, sizeof h.magic);
    memcpy(rw, &h, sizeof h);
    ok(!is_complete(), "a trace mapped for writing is incomplete");
    child = inherit_mapping(&until);
    munmap(rw, SIZE);
    ok(!is_complete(), "a trace mapped by a forked child is incomplete");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(until);
    ro = map_trace(PROT_READ);
    ok(is_complete(), "a trace with readers only is complete, also after its writer was killed");
    ok(is_complete(), "a second check of a complete trace finds it complete");
    munmap(ro, SIZE);
    fd = open(path, O_WRONLY);
    ok(!is_complete(), "a trace open for writing is incomplete");
    close(fd);
    ok(is_complete(), "a trace closed after writing is complete");
    unlink(path);
}

/* ---- all at once ---- */

#define MS(n) ((uint64_t)(n)*1000000)

static void at_once(void)
{
    /* Two processes that overlap, one that executes another program, and one after all of them. */
    struct run_totals_process p[] = {
        {.pid = 10, .start_ns = MS(100), .end_ns = MS(200), .peak_bytes = 50},
        {.pid = 11, .start_ns = MS(150), .end_ns = MS(250), .peak_bytes = 60},
        {.pid = 12, .start_ns = MS(150), .end_ns = MS(250), .peak_bytes = 1000},
        {.pid = 12, .start_ns = MS(160), .end_ns = MS(250), .peak_bytes = 7},
        {.pid = 10, .start_ns = MS(250), .end_ns = MS(300), .peak_bytes = 1050},
    };
    struct run_totals k = {.process = p, .nprocesses = 5};

    is_int(run_totals_concurrent_peak(&k), 50 + 60 + 1000,
           "concurrent peak: peaks of overlapping processes add up");
    k.nprocesses = 4;
    p[2].peak_bytes = 1;
    is_int(run_totals_concurrent_peak(&k), 50 + 60 + 7,
           "concurrent peak: an executed program replaces the one before");
    p[1].start_ns = p[3].start_ns = MS(200);
    p[2].start_ns = MS(199);
    is_int(run_totals_concurrent_peak(&k), 60 + 7,
           "concurrent peak: a process that begins as others end does not overlap them");
    k.nprocesses = 5;
    is_int(run_totals_pids(&k), 3, "run_totals_pids counts each pid once");
    is_str(run_totals_first(&k)->pid == 10 ? "10" : "another", "10",
           "run_totals_first finds the oldest process");
    k.nprocesses = 0;
    is_int(run_totals_concurrent_peak(&k), 0, "concurrent peak: a run without processes has 0");
}

int main(void)
{
    if (access("/dev/shm", W_OK) < 0)
        memcpy(path, "/var/tmp", 8);
    writers();
    at_once();
    return done_testing();
}
