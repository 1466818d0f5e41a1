#define _GNU_SOURCE
#include "fold/symbols/perfmap.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/strbuf.h"

/* Most ranges that begin below an address and are examined; ranges nest rarely. */
#define LOOK_BACK 64

struct range {
    uint64_t start, end;
    const char *name;
    uint32_t len;
    uint32_t line; /* a later line counts */
};

struct perfmap {
    struct range *ranges; /* sorted by start, then line */
    size_t n, alloc;
    char *owned;
};

static bool hex(const char **s, const char *end, uint64_t *out)
{
    const char *start = *s;

    *out = 0;
    if (end - *s > 2 && (*s)[0] == '0' && ((*s)[1] | 32) == 'x')
        start = *s += 2;
    for (; *s < end; (*s)++) {
        char c = (char)(**s | 32);
        unsigned digit;

        if (**s >= '0' && **s <= '9')
            digit = (unsigned)(**s - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        else
            break;
        if (*s - start >= 16)
            return false;
        *out = *out << 4 | digit;
    }
    return *s > start && *s < end && *(*s)++ == ' ';
}

static void add_line(struct perfmap *map, const char *s, const char *end, uint32_t line)
{
    struct range r = {.line = line};
    uint64_t size;

    if (end > s && end[-1] == '\r')
        end--;
    if (!hex(&s, end, &r.start) || !hex(&s, end, &size) || s == end || size == 0 ||
        __builtin_add_overflow(r.start, size, &r.end) || end - s > UINT32_MAX)
        return;
    r.name = s;
    r.len = (uint32_t)(end - s);
    GROW(map->ranges, map->n, map->alloc);
    map->ranges[map->n++] = r;
}

static int by_start(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

struct perfmap *perfmap_parse(const char *text, size_t len)
{
    struct perfmap *map = xcalloc(1, sizeof *map);
    const char *end = text + len;
    uint32_t line = 0;

    for (const char *s = text, *next; s < end && line < UINT32_MAX; s = next) {
        const char *nl = memchr(s, '\n', (size_t)(end - s));

        next = nl ? nl + 1 : end;
        add_line(map, s, nl ? nl : end, ++line);
    }
    if (map->n)
        qsort(map->ranges, map->n, sizeof *map->ranges, by_start);
    return map;
}

/* The file, if it is safe to read; -1: it is not. */
static int open_map(uint32_t pid)
{
    char path[64];
    struct stat st;
    int fd;

    snprintf(path, sizeof path, "/tmp/perf-%u.map", pid);
    fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()))
        return fd;
    close(fd);
    return -1;
}

/* Times of files are those of the kernel's last tick. */
#define TICKS_NS 1000000000u

static bool is_older(int fd, uint64_t since_ns)
{
    struct stat st;

    return fstat(fd, &st) == 0 &&
           (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec + TICKS_NS <
               since_ns;
}

bool perfmap_is_there(uint32_t pid, uint64_t since_ns)
{
    int fd = open_map(pid);
    bool there = fd >= 0 && !is_older(fd, since_ns);

    if (fd >= 0)
        close(fd);
    return there;
}

struct perfmap *perfmap_open(uint32_t pid, uint64_t since_ns)
{
    struct strbuf text = STRBUF_INIT;
    struct perfmap *map = NULL;
    int fd = open_map(pid);
    size_t len;

    if (fd < 0)
        return NULL;
    if (!is_older(fd, since_ns) && strbuf_read_fd(&text, fd) == 0) {
        char *bytes = strbuf_detach(&text, &len);

        map = perfmap_parse(bytes, len);
        map->owned = bytes;
    }
    close(fd);
    strbuf_release(&text);
    return map;
}

void perfmap_free(struct perfmap *map)
{
    if (!map)
        return;
    free(map->ranges);
    free(map->owned);
    free(map);
}

const char *perfmap_find(const struct perfmap *map, uint64_t addr, size_t *len)
{
    const struct range *best = NULL;
    size_t lo = 0, hi = map->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (map->ranges[mid].start <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (size_t back = 0; back < LOOK_BACK && lo > 0; back++) {
        const struct range *r = &map->ranges[--lo];

        if (addr < r->end && (!best || r->line > best->line))
            best = r;
    }
    if (!best)
        return NULL;
    *len = best->len;
    return best->name;
}
