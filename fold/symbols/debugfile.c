/*
 * Finding separate debug files in the places that gdb's manual describes ("Debugging Information
 * in Separate Files").
 *
 * A file is used only if it proves to be the right one: by its build-id, or else by the CRC-32
 * over all of it that .gnu_debuglink asks for.
 */
#include "fold/symbols/debugfile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "common/alloc.h"
#include "common/strbuf.h"
#include "fold/symbols/debuginfod.h"

static void add_dir(struct debug_dirs *d, const char *s, size_t len)
{
    if (len == 0)
        return;
    d->dir = xreallocarray(d->dir, d->n + 1, sizeof *d->dir);
    d->dir[d->n++] = xmemdup0(s, len);
}

void debug_dirs_init(struct debug_dirs *d, const char *const *extra, size_t nextra)
{
    const char *env = getenv("FLAME_DEBUG_DIRS");

    *d = (struct debug_dirs){0};
    for (size_t i = 0; i < nextra; i++)
        add_dir(d, extra[i], strlen(extra[i]));
    while (env && *env) {
        size_t len = strcspn(env, ":");

        if (len == strlen("none") && memcmp(env, "none", len) == 0)
            return;
        add_dir(d, env, len);
        env += len + (env[len] == ':');
    }
    add_dir(d, "/usr/lib/debug", strlen("/usr/lib/debug"));
}

void debug_dirs_release(struct debug_dirs *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->dir[i]);
    free(d->dir);
    *d = (struct debug_dirs){0};
}

static bool has_build_id(const struct elfsym *e, const uint8_t *id, size_t len)
{
    size_t have_len;
    const uint8_t *have = elfsym_build_id(e, &have_len);

    return have && have_len == len && memcmp(have, id, len) == 0;
}

struct elfsym *debugfile_by_build_id(const struct debug_dirs *d, const uint8_t *id, size_t len)
{
    struct elfsym *e = NULL;

    if (len < 2 || len > 64)
        return NULL;
    for (size_t i = 0; i < d->n && !e; i++) {
        struct strbuf sb = STRBUF_INIT;

        strbuf_addf(&sb, "%s/.build-id/%02x/", d->dir[i], id[0]);
        for (size_t k = 1; k < len; k++)
            strbuf_addf(&sb, "%02x", id[k]);
        strbuf_addstr(&sb, ".debug");
        e = elfsym_open(sb.buf);
        if (e && !has_build_id(e, id, len)) {
            elfsym_close(e);
            e = NULL;
        }
        strbuf_release(&sb);
    }
    return e;
}

struct elfsym *debugfile_from_servers(const uint8_t *id, size_t len, const char *what)
{
    char *path = debuginfod_fetch(id, len, what);
    struct elfsym *e = path ? elfsym_open(path) : NULL;

    free(path);
    if (e && !has_build_id(e, id, len)) {
        elfsym_close(e);
        e = NULL;
    }
    return e;
}

static bool checksum_matches(const char *path, uint32_t want)
{
    unsigned char buf[8192];
    uLong crc = crc32(0, NULL, 0);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t n;

    if (fd < 0)
        return false;
    while ((n = read(fd, buf, sizeof buf)) > 0)
        crc = crc32(crc, buf, (uInt)n);
    close(fd);
    return n == 0 && (uint32_t)crc == want;
}

/* `path` if it is the debug file of `e`. */
static struct elfsym *accept_link(const struct elfsym *e, const char *path, uint32_t crc)
{
    struct elfsym *found;
    const uint8_t *id, *found_id;
    struct stat a, b;
    size_t len, found_len;

    /* A link that leads back to the file itself adds nothing. */
    if (stat(path, &a) != 0 || !S_ISREG(a.st_mode) ||
        (stat(elfsym_path(e), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino))
        return NULL;
    found = elfsym_open(path);
    if (!found)
        return NULL;
    id = elfsym_build_id(e, &len);
    found_id = elfsym_build_id(found, &found_len);
    if (id && found_id ? has_build_id(found, id, len) : checksum_matches(path, crc))
        return found;
    elfsym_close(found);
    return NULL;
}

struct elfsym *debugfile_by_link(const struct debug_dirs *d, const struct elfsym *e)
{
    struct strbuf sb = STRBUF_INIT;
    const char *path = elfsym_path(e), *slash = strrchr(path, '/');
    int dir_len = slash ? (int)(slash - path) : 0;
    const char *name;
    struct elfsym *found;
    uint32_t crc;

    name = elfsym_debuglink(e, &crc);
    if (!name || !slash)
        return NULL;
    strbuf_addf(&sb, "%.*s/%s", dir_len, path, name);
    found = accept_link(e, sb.buf, crc);
    if (!found) {
        strbuf_clear(&sb);
        strbuf_addf(&sb, "%.*s/.debug/%s", dir_len, path, name);
        found = accept_link(e, sb.buf, crc);
    }
    for (size_t i = 0; i < d->n && !found; i++) {
        strbuf_clear(&sb);
        strbuf_addf(&sb, "%s%.*s/%s", d->dir[i], dir_len, path, name);
        found = accept_link(e, sb.buf, crc);
    }
    strbuf_release(&sb);
    return found;
}

struct elfsym *debugfile_alternate(const struct debug_dirs *d, const struct elfsym *e)
{
    struct strbuf sb = STRBUF_INIT;
    const char *slash = strrchr(elfsym_path(e), '/');
    struct elfsym *found;
    const char *path;
    const uint8_t *id;
    size_t len;

    path = elfsym_debugaltlink(e, &id, &len);
    if (!path || len == 0)
        return NULL;
    if (path[0] != '/' && slash)
        strbuf_add(&sb, elfsym_path(e), (size_t)(slash - elfsym_path(e)) + 1);
    strbuf_addstr(&sb, path);
    found = elfsym_open(sb.buf);
    strbuf_release(&sb);
    if (found && has_build_id(found, id, len))
        return found;
    elfsym_close(found);
    return debugfile_by_build_id(d, id, len);
}
