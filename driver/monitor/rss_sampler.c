/*
 * rss_sampler.c: each round lists the directory, as a run may become many processes at any time.
 * The trace of an ended process is recognized by its pid, which no process has any more.
 */
#define _GNU_SOURCE
#include "driver/monitor/rss_sampler.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/files/plainfile.h"
#include "common/procpath.h"
#include "common/trace_format.h"
#include "driver/monitor/periodic_thread.h"

#define ENDING ".flame"
#define FIRST_MS 10u
#define LAST_MS 500u

struct rss_sampler {
    struct periodic_thread *ticker; /* NULL: sampling has ended */
    unsigned pause_ms;
    char *dir;
    struct rss_sample *seen; /* only the thread uses it until it has ended */
    size_t n, alloc;
};

/* ---- one process ---- */

bool rss_sampler_look(uint32_t pid, struct rss_sample *seen)
{
    char line[256];
    unsigned long long kib;
    FILE *f;

    *seen = (struct rss_sample){.pid = pid};
    f = fopen(proc_path((pid_t)pid, "status").s, "re");
    if (!f)
        return false;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %llu kB", &kib) == 1 ||
            sscanf(line, "VmSwap: %llu kB", &kib) == 1)
            seen->anon_bytes += kib * 1024;
        else if (sscanf(line, "Name: %16[^\n]", seen->comm) != 1)
            continue;
    fclose(f);
    return true;
}

static struct rss_sample *find(struct rss_sampler *w, uint32_t pid)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->seen[i].pid == pid)
            return &w->seen[i];
    GROW(w->seen, w->n, w->alloc);
    w->seen[w->n] = (struct rss_sample){.pid = pid};
    return &w->seen[w->n++];
}

/* Records the largest memory, and malloc's peak by then: both only grow. */
static void note(struct rss_sampler *w, const struct rss_sample *now, uint64_t malloc_bytes)
{
    struct rss_sample *at = find(w, now->pid);

    if (now->anon_bytes > at->anon_bytes) {
        at->anon_bytes = now->anon_bytes;
        memcpy(at->comm, now->comm, sizeof at->comm);
    }
    if (malloc_bytes > at->malloc_bytes)
        at->malloc_bytes = malloc_bytes;
}

/* ---- one round ---- */

/* The PID of EXE.PID.N.flame; 0: the name is another. */
static uint32_t pid_of_name(const char *name)
{
    size_t end = strlen(name), begin;
    unsigned long pid = 0;

    if (end < strlen(ENDING) || strcmp(name + end - strlen(ENDING), ENDING) != 0)
        return 0;
    for (end -= strlen(ENDING); end && name[end - 1] != '.';)
        end--;
    for (begin = end ? end - 1 : 0; begin && name[begin - 1] != '.';)
        begin--;
    if (begin)
        pid = strtoul(name + begin, NULL, 10);
    return pid <= INT32_MAX ? (uint32_t)pid : 0;
}

/* Reads the header of a process's trace. Subtracts the recorder's own memory from the process's,
 * and returns malloc's peak. */
static uint64_t recorded_peak(int dir, const char *name, struct rss_sample *now)
{
    struct trace_header h = {.own_bytes = 0};
    int fd = plainfile_openat(dir, name, O_RDONLY | O_NOFOLLOW);
    bool whole = fd >= 0 && pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h;

    if (fd >= 0)
        close(fd);
    if (!whole)
        return 0;
    now->anon_bytes -= h.own_bytes < now->anon_bytes ? h.own_bytes : now->anon_bytes;
    return h.peak_bytes + h.inherited_bytes;
}

static void look(struct rss_sampler *w)
{
    DIR *dir = opendir(w->dir);
    struct dirent *d;

    while (dir && (d = readdir(dir))) {
        uint32_t pid = pid_of_name(d->d_name);
        struct rss_sample now;

        if (pid && kill((pid_t)pid, 0) == 0 && rss_sampler_look(pid, &now))
            note(w, &now, recorded_peak(dirfd(dir), d->d_name, &now));
    }
    if (dir)
        closedir(dir);
}

/* ---- sampling ---- */

static unsigned look_again(void *arg)
{
    struct rss_sampler *w = arg;

    look(w);
    w->pause_ms = w->pause_ms * 2 < LAST_MS ? w->pause_ms * 2 : LAST_MS;
    return w->pause_ms;
}

struct rss_sampler *rss_sampler_start(const char *dir)
{
    struct rss_sampler *w = xcalloc(1, sizeof *w);

    w->dir = xstrdup(dir);
    w->pause_ms = FIRST_MS;
    w->ticker = periodic_thread_start(look_again, FIRST_MS, w);
    if (w->ticker)
        return w;
    rss_sampler_free(w);
    return NULL;
}

void rss_sampler_stop(struct rss_sampler *w)
{
    if (!w)
        return;
    periodic_thread_stop(w->ticker);
    w->ticker = NULL;
}

const struct rss_sample *rss_sampler_seen(const struct rss_sampler *w, size_t *n)
{
    *n = w ? w->n : 0;
    return w ? w->seen : NULL;
}

void rss_sampler_free(struct rss_sampler *w)
{
    if (!w)
        return;
    rss_sampler_stop(w);
    free(w->seen);
    free(w->dir);
    free(w);
}
