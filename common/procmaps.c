#define _GNU_SOURCE
#include "common/procmaps.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "common/procpath.h"
#include "common/basename.h"
#include "common/loaderline.h"
#include "common/kernel.h"

struct text {
    const char *at, *end;
};

static bool hex(struct text *t, uint64_t *out)
{
    const char *start = t->at;

    *out = 0;
    for (; t->at < t->end; t->at++) {
        char c = *t->at;
        unsigned digit;

        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        else
            break;
        if (t->at - start == 16)
            return false;
        *out = *out << 4 | digit;
    }
    return t->at > start;
}

static bool decimal(struct text *t, uint64_t *out)
{
    const char *start = t->at;

    for (*out = 0; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++)
        *out = *out * 10 + (uint64_t)(*t->at - '0');
    return t->at > start;
}

static bool expect(struct text *t, char c)
{
    return t->at < t->end && *t->at++ == c;
}

bool procmaps_parse(const char *line, size_t len, struct procmap *out)
{
    static const char stack[] = "[stack]";
    struct text t = {line, line + len};
    uint64_t start, end, offset, major, minor, inode;

    if (!hex(&t, &start) || !expect(&t, '-') || !hex(&t, &end) || !expect(&t, ' ') ||
        t.end - t.at < 5 || start >= end)
        return false;
    *out = (struct procmap){.start = start,
                            .end = end,
                            .read = t.at[0] == 'r',
                            .write = t.at[1] == 'w',
                            .exec = t.at[2] == 'x',
                            .shared = t.at[3] == 's',
                            .name = ""};
    t.at += 4;
    if (!expect(&t, ' ') || !hex(&t, &offset))
        return false;
    out->offset = offset;
    if (expect(&t, ' ') && hex(&t, &major) && expect(&t, ':') && hex(&t, &minor) &&
        expect(&t, ' ') && decimal(&t, &inode)) {
        while (t.at < t.end && *t.at == ' ')
            t.at++;
        out->major = (uint32_t)major;
        out->minor = (uint32_t)minor;
        out->inode = inode;
        out->name = t.at;
        out->name_len = (size_t)(t.end - t.at);
    }
    out->stack = len > sizeof stack - 1 &&
                 memcmp(line + len - (sizeof stack - 1), stack, sizeof stack - 1) == 0;
    return true;
}

/* Calls `take` for each line of a file without its newline, until it returns true; a line that is
 * longer than any path is cut. Returns whether `take` returned true. */
static bool each_line(const char *path, bool (*take)(const char *line, size_t len, void *arg),
                      void *arg)
{
    char buf[2048];
    size_t have = 0;
    bool done = false, skipping = false;
    int fd;

    fd = kernel_open(path, O_RDONLY, 0);
    if (fd < 0)
        return false;
    while (!done) {
        long n = kernel_call(SYS_read, fd, buf + have, sizeof buf - have);
        char *line = buf, *end;

        if (n == -EINTR)
            continue;
        if (n <= 0)
            break;
        have += (size_t)n;
        while (!done && (end = memchr(line, '\n', have - (size_t)(line - buf)))) {
            if (!skipping)
                done = take(line, (size_t)(end - line), arg);
            skipping = false;
            line = end + 1;
        }
        have -= (size_t)(line - buf);
        memmove(buf, line, have);
        if (have == sizeof buf) {
            if (!skipping && !done)
                done = take(buf, have, arg);
            skipping = true;
            have = 0;
        }
    }
    kernel_call(SYS_close, fd);
    return done;
}

struct maps_visit {
    bool (*visit)(const struct procmap *map, void *arg);
    void *arg;
};

static bool take_map(const char *line, size_t len, void *arg)
{
    const struct maps_visit *v = arg;
    struct procmap map;

    return procmaps_parse(line, len, &map) && v->visit(&map, v->arg);
}

bool procmaps_each(int pid, bool (*visit)(const struct procmap *map, void *arg), void *arg)
{
    struct maps_visit v = {visit, arg};

    return each_line(proc_path(pid ? pid : PROC_THREAD_SELF, "maps").s, take_map, &v);
}

struct filled_visit {
    struct maps_visit maps;
    bool (*filled)(bool guarded, void *arg);
};

/* VmFlags is the last line of each mapping: flags of two letters (the kernel's
 * Documentation/filesystems/proc.rst). */
static bool has_flag(const char *line, size_t len, const char *flag)
{
    static const char name[] = "VmFlags:";

    if (len < sizeof name - 1 || memcmp(line, name, sizeof name - 1) != 0)
        return false;
    for (size_t i = sizeof name - 1; i + 3 <= len; i++)
        if (line[i] == ' ' && line[i + 1] == flag[0] && line[i + 2] == flag[1])
            return true;
    return false;
}

/* um: missing pages; ui: pages in the page cache that are not in the page table; uw: pages that are
 * written to. */
static bool take_flags(const char *line, size_t len, void *arg)
{
    struct filled_visit *v = arg;

    if (take_map(line, len, &v->maps))
        return true;
    return (has_flag(line, len, "um") || has_flag(line, len, "ui")) &&
           v->filled(has_flag(line, len, "uw"), v->maps.arg);
}

bool procmaps_each_filled(bool (*visit)(const struct procmap *map, void *arg),
                          bool (*filled)(bool guarded, void *arg), void *arg)
{
    struct filled_visit v = {{visit, arg}, filled};

    return each_line(proc_path(PROC_THREAD_SELF, "smaps").s, take_flags, &v);
}

struct program {
    uintptr_t entry;
    char *buf;
    size_t size, len;
};

static bool holds_entry(const struct procmap *map, void *arg)
{
    struct program *p = arg;

    if (p->entry < map->start || p->entry >= map->end)
        return false;
    if (map->name_len < p->size) {
        memcpy(p->buf, map->name, map->name_len);
        p->len = map->name_len;
    }
    return true;
}

long procmaps_program(char *buf, size_t size)
{
    long n = kernel_call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", buf, size - 1);
    struct program p = {getauxval(AT_ENTRY), buf, size, 0};

    buf[n > 0 ? n : 0] = '\0';
    /* A loader that runs a program is not the program itself. */
    if ((n == -EPERM || loaderline_is_loader(base_name(buf))) && procmaps_each(0, holds_entry, &p))
        n = (long)p.len;
    buf[n > 0 ? n : 0] = '\0';
    return n;
}

struct wanted {
    uintptr_t addr;
    struct procmap *out;
};

static bool holds(const struct procmap *map, void *arg)
{
    const struct wanted *w = arg;

    if (w->addr < map->start || w->addr >= map->end)
        return false;
    *w->out = *map;
    return true;
}

bool procmaps_find(int pid, uintptr_t addr, struct procmap *out)
{
    struct wanted w = {addr, out};

    return procmaps_each(pid, holds, &w);
}
