/*
 * Reader of smaps. The file is read in pieces, into a buffer that is reused, so that reading the
 * file again makes no more memory resident. A line that is longer than the buffer is a path, which
 * is truncated.
 */
#define _GNU_SOURCE
#include "preload/resident/smaps.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "common/basename.h"
#include "common/kernel.h"
#include "common/pages.h"
#include "common/procpath.h"

#define BUFFER ((size_t)32 << 10)

/* In pages, so that processes that do not scan resident memory do not have it. */
static char *buffer;

static bool have_buffer(void)
{
    if (!buffer)
        buffer = pages_alloc(BUFFER);
    return buffer != NULL;
}

/* ---- lines ---- */

static void copy(char *to, const char *s, size_t len)
{
    if (len >= SMAPS_NAME_MAX)
        len = SMAPS_NAME_MAX - 1;
    memcpy(to, s, len);
    to[len] = '\0';
}

static void begin(struct smaps_parser *p, const struct procmap *map)
{
    const char *base = map->name;

    smaps_end(p);
    p->map = (struct smap){.map = *map};
    for (size_t i = 0; i < map->name_len; i++)
        if (map->name[i] == '/')
            base = map->name + i + 1;
    copy(p->map.name, map->name, map->name_len);
    copy(p->map.base, base, (size_t)(map->name + map->name_len - base));
    p->map.map.name = p->map.name;
    p->map.map.name_len = strlen(p->map.name);
    p->has = true;
}

/* Parses a line such as "Rss:       12 kB" into bytes. False: it does not begin with `key`. */
static bool field(const char *line, size_t len, const char *key, uint64_t *out)
{
    size_t at = strlen(key);
    uint64_t n = 0;

    if (len <= at || memcmp(line, key, at) != 0)
        return false;
    while (at < len && line[at] == ' ')
        at++;
    if (at == len || line[at] < '0' || line[at] > '9')
        return false;
    for (; at < len && line[at] >= '0' && line[at] <= '9'; at++) {
        if (n > UINT64_MAX / 16384)
            return false;
        n = n * 10 + (uint64_t)(line[at] - '0');
    }
    *out = n * 1024;
    return true;
}

void smaps_line(struct smaps_parser *p, const char *line, size_t len)
{
    struct procmap map;

    if (len && line[0] >= 'A' && line[0] <= 'Z') {
        if (!field(line, len, "Rss:", &p->map.rss) && !field(line, len, "Swap:", &p->map.swap))
            field(line, len, "AnonHugePages:", &p->map.huge);
        return;
    }
    if (procmaps_parse(line, len, &map))
        begin(p, &map);
}

void smaps_end(struct smaps_parser *p)
{
    if (p->has && p->visit)
        p->visit(&p->map, p->arg);
    p->has = false;
}

/* ---- files ---- */

/* Passes on the whole lines of buffer[0..n). Returns the number of bytes after them, which are
 * moved to the front. */
static size_t take_lines(struct smaps_parser *p, size_t n, bool *skipping)
{
    char *line = buffer, *end;

    while ((end = memchr(line, '\n', n - (size_t)(line - buffer)))) {
        if (!*skipping)
            smaps_line(p, line, (size_t)(end - line));
        *skipping = false;
        line = end + 1;
    }
    n -= (size_t)(line - buffer);
    memmove(buffer, line, n);
    if (n < BUFFER)
        return n;
    if (!*skipping)
        smaps_line(p, buffer, n);
    *skipping = true;
    return 0;
}

static int read_all(int pid, struct smaps_parser *p, const char *what)
{
    int fd = kernel_open(proc_path(pid, what).s, O_RDONLY, 0);
    bool skipping = false;
    size_t have = 0;
    long n;

    if (fd < 0)
        return fd;
    if (!have_buffer()) {
        kernel_call(SYS_close, fd);
        return -ENOMEM;
    }
    while ((n = kernel_call(SYS_read, fd, buffer + have, BUFFER - have)) > 0 || n == -EINTR)
        if (n > 0)
            have = take_lines(p, have + (size_t)n, &skipping);
    kernel_call(SYS_close, fd);
    if (n == 0)
        smaps_end(p);
    return (int)n;
}

int smaps_each(int pid, void (*visit)(const struct smap *m, void *arg), void *arg)
{
    struct smaps_parser p = {.visit = visit, .arg = arg};

    return read_all(pid, &p, "smaps");
}

static void add_up(const struct smap *m, void *arg)
{
    uint64_t *sums = arg;

    sums[0] += m->rss;
    sums[1] += m->swap;
}

int smaps_rollup(int pid, uint64_t *rss, uint64_t *swap)
{
    uint64_t sums[2] = {0, 0};
    struct smaps_parser p = {.visit = add_up, .arg = sums};
    int err = read_all(pid, &p, "smaps_rollup");

    *rss = sums[0];
    *swap = sums[1];
    return err;
}

size_t smaps_estimate(void)
{
    int fd = kernel_open(proc_path(PROC_THREAD_SELF, "statm").s, O_RDONLY, 0);
    size_t pages = 0;
    long n, at = 0;

    if (fd < 0)
        return 0;
    n = have_buffer() ? kernel_call(SYS_read, fd, buffer, BUFFER) : 0;
    kernel_call(SYS_close, fd);
    while (at < n && buffer[at++] != ' ')
        ;
    for (; at < n && buffer[at] >= '0' && buffer[at] <= '9'; at++)
        pages = pages * 10 + (size_t)(buffer[at] - '0');
    return pages;
}

void smaps_warm_up(void)
{
    if (have_buffer())
        memset(buffer, 0, BUFFER);
}
