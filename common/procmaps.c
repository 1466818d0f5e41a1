#define _GNU_SOURCE
#include "common/procmaps.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* "/proc/PID/maps" or "/proc/self/maps", without printf. */
static void name_file(int pid, char name[32])
{
    char digits[12];
    size_t n = 0, at = 6;

    memcpy(name, "/proc/", 6);
    if (pid == 0) {
        memcpy(name + at, "self", 4);
        at += 4;
    }
    for (; pid > 0; pid /= 10)
        digits[n++] = (char)('0' + pid % 10);
    while (n)
        name[at++] = digits[--n];
    memcpy(name + at, "/maps", 6);
}

bool procmaps_each(int pid, bool (*visit)(const struct procmap *map, void *arg), void *arg)
{
    char name[32], buf[2048];
    size_t have = 0;
    bool done = false, skipping = false;
    int fd;

    name_file(pid, name);
    fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    while (!done) {
        ssize_t n = syscall(SYS_read, fd, buf + have, sizeof buf - have);
        char *line = buf, *end;

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        have += (size_t)n;
        while (!done && (end = memchr(line, '\n', have - (size_t)(line - buf)))) {
            struct procmap map;

            if (!skipping && procmaps_parse(line, (size_t)(end - line), &map))
                done = visit(&map, arg);
            skipping = false;
            line = end + 1;
        }
        have -= (size_t)(line - buf);
        memmove(buf, line, have);
        if (have == sizeof buf) { /* a path longer than any: what is needed came first */
            struct procmap map;

            if (!skipping && !done && procmaps_parse(buf, have, &map))
                done = visit(&map, arg);
            skipping = true;
            have = 0;
        }
    }
    syscall(SYS_close, fd);
    return done;
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
