#define _GNU_SOURCE
#include "preload/runtime/config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "preload/runtime/log.h"

#define DEFAULT_OUT "%e.%p.flame"

static bool parse_number(const char *s, size_t len, uint64_t min, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;

    if (len == 0 || len > 15)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(s[i] - '0');
    }
    if (value < min || value > max)
        return false;
    *out = value;
    return true;
}

static bool parse_flag(const char *s, size_t len, bool *out)
{
    if (len != 1 || (s[0] != '0' && s[0] != '1'))
        return false;
    *out = s[0] == '1';
    return true;
}

/* Files are opened by name later, so the name must outlive chdir. */
static bool set_path(struct config *c, const char **out, const char *s, size_t len)
{
    size_t at = 0, room = sizeof c->paths - c->used;
    char *path = c->paths + c->used;

    if (room > CONFIG_PATH_MAX)
        room = CONFIG_PATH_MAX;
    if (len == 0 || len + 1 >= room)
        return false;
    if (s[0] != '/') {
        long n = kernel_call(SYS_readlinkat, AT_FDCWD, "/proc/self/cwd", path, room - 2);

        /* A sandbox forbids to read it: the path is used as it is. */
        if (n <= 0 && n != -EPERM)
            return false;
        at = n > 0 ? (size_t)n : 0;
        if (at && path[at - 1] != '/')
            path[at++] = '/';
    }
    if (at + len >= room)
        return false;
    memcpy(path + at, s, len);
    path[at + len] = '\0';
    c->used += at + len + 1;
    *out = path;
    return true;
}

static bool key_is(const char *s, size_t len, const char *key)
{
    return len == strlen(key) && memcmp(s, key, len) == 0;
}

static bool parse_clock(const char *value, size_t len, enum config_clock *clock)
{
    if (key_is(value, len, "time"))
        *clock = CONFIG_TIME;
    else if (key_is(value, len, "bytes"))
        *clock = CONFIG_BYTES;
    else
        return false;
    return true;
}

static void parse_one(struct config *c, const char *s, size_t len)
{
    const char *eq = memchr(s, '=', len);
    size_t klen = eq ? (size_t)(eq - s) : len;
    const char *value = eq ? eq + 1 : s + len;
    size_t vlen = len - klen - (eq ? 1 : 0);
    char copy[128];
    uint64_t number;
    bool ok = false, reported;

    if (key_is(s, klen, "out"))
        ok = set_path(c, &c->out, value, vlen);
    else if (key_is(s, klen, "notes"))
        ok = set_path(c, &c->notes, value, vlen);
    else if (key_is(s, klen, "sites"))
        ok = set_path(c, &c->sites, value, vlen);
    else if (key_is(s, klen, "snapshots"))
        ok = set_path(c, &c->snapshots, value, vlen);
    else if (key_is(s, klen, "depth") && (ok = parse_number(value, vlen, 8, 65536, &number)))
        c->depth = (uint32_t)number;
    else if (key_is(s, klen, "sample"))
        ok = parse_number(value, vlen, 0, (uint64_t)1 << 40, &c->sample);
    else if (key_is(s, klen, "max-disk"))
        ok = parse_number(value, vlen, 0, (uint64_t)1 << 40, &c->max_disk);
    else if (key_is(s, klen, "modules") && (ok = parse_number(value, vlen, 1, 4096, &number)))
        c->modules = (uint32_t)number;
    else if (key_is(s, klen, "record"))
        ok = parse_flag(value, vlen, &c->record);
    else if (key_is(s, klen, "quiet"))
        ok = parse_flag(value, vlen, &c->quiet);
    else if (key_is(s, klen, "follow"))
        ok = parse_flag(value, vlen, &c->follow);
    else if (key_is(s, klen, "unfollowed"))
        ok = parse_flag(value, vlen, &c->unfollowed);
    else if (key_is(s, klen, "inherit"))
        ok = parse_flag(value, vlen, &c->inherit);
    else if (key_is(s, klen, "referee"))
        ok = parse_flag(value, vlen, &c->referee);
    else if (key_is(s, klen, "leak"))
        ok = parse_flag(value, vlen, &c->leak);
    else if (key_is(s, klen, "tagged"))
        ok = parse_flag(value, vlen, &c->tagged);
    else if (key_is(s, klen, "kept"))
        ok = parse_flag(value, vlen, &c->kept);
    else if (key_is(s, klen, "misuse"))
        ok = parse_flag(value, vlen, &c->misuse);
    else if (key_is(s, klen, "filtered"))
        ok = parse_flag(value, vlen, &reported); /* evaluated by config_is_filtered */
    else if (key_is(s, klen, "rss"))
        ok = parse_flag(value, vlen, &c->rss);
    else if (key_is(s, klen, "python"))
        ok = parse_flag(value, vlen, &c->python);
    else if (key_is(s, klen, "patch"))
        ok = parse_flag(value, vlen, &c->patch);
    else if (key_is(s, klen, "touched") && (ok = parse_number(value, vlen, 0, 4096, &number)))
        c->touched = (uint32_t)number;
    else if (key_is(s, klen, "lifetimes"))
        ok = parse_clock(value, vlen, &c->lifetimes);
    if (c->quiet)
        log_disable();
    if (ok)
        return;
    if (len >= sizeof copy)
        len = sizeof copy - 1;
    memcpy(copy, s, len);
    copy[len] = '\0';
    log_line(
        "FLAMEMEM_OPTIONS: '", copy,
        "' is ignored; known are out=PATH, depth=8..65536, sample=BYTES, quiet=0|1, follow=0|1, "
        "filtered=0|1, inherit=0|1, kept=0|1, leak=0|1, lifetimes=time|bytes, "
        "max-disk=BYTES, misuse=0|1, modules=N, "
        "notes=PATH, patch=0|1, python=0|1, record=0|1, referee=0|1, rss=0|1, sites=PATH, "
        "snapshots=DIR, tagged=0|1, "
        "touched=CPUS, unfollowed=0|1",
        NULL);
}

bool config_is_filtered(const char *options)
{
    static const char wanted[] = "filtered=1";
    bool filtered = false;

    for (const char *s = options; s && *s;) {
        const char *end = strchr(s, ':');

        filtered = filtered || key_is(s, end ? (size_t)(end - s) : strlen(s), wanted);
        s = end ? end + 1 : NULL;
    }
    return filtered;
}

void config_parse(struct config *c, const char *options)
{
    c->out = c->notes = c->sites = c->snapshots = "";
    c->used = 0;
    c->quiet = c->referee = c->unfollowed = false;
    c->follow = c->inherit = c->record = c->patch = true;
    c->depth = 1024;
    c->python = true;
    c->modules = 0;
    c->sample = 0;
    c->max_disk = 0;
    for (const char *s = options; s && *s;) {
        const char *end = strchr(s, ':');
        size_t len = end ? (size_t)(end - s) : strlen(s);

        if (len)
            parse_one(c, s, len);
        s += len + (end ? 1 : 0);
    }
    if (!c->out[0])
        set_path(c, &c->out, DEFAULT_OUT, strlen(DEFAULT_OUT));
}

struct out {
    char *at, *end;
};

static void put(struct out *o, char ch)
{
    if (o->at < o->end)
        *o->at++ = ch;
    else
        o->at = o->end + 1;
}

static void put_string(struct out *o, const char *s)
{
    while (*s)
        put(o, *s++);
}

bool config_expand(const struct config *c, const char *exe, uint32_t pid, uint32_t n, char *path,
                   size_t size)
{
    struct out o = {path, path + size - 1};
    struct log_number number;
    bool counted = false;

    for (const char *s = c->out; *s && o.at <= o.end; s++) {
        if (*s != '%' || !s[1]) {
            put(&o, *s);
            continue;
        }
        switch (*++s) {
        case 'e':
            for (const char *e = exe; *e; e++)
                put(&o, *e == '/' ? '_' : *e);
            break;
        case 'p':
            put_string(&o, log_unsigned(&number, pid));
            break;
        case 'n':
            put_string(&o, log_unsigned(&number, n));
            counted = true;
            break;
        default:
            if (*s != '%')
                put(&o, '%');
            put(&o, *s);
        }
    }
    if (n > 0 && !counted) {
        put(&o, '.');
        put_string(&o, log_unsigned(&number, n));
    }
    if (o.at > o.end)
        return false;
    *o.at = '\0';
    return true;
}
