#define _GNU_SOURCE
#include "fold/symbols/debpackage.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A list is some kilobytes; the longest, of documentation and headers, some megabytes. */
#define LIST_MAX (16u << 20)

/* /lib is /usr/lib nowadays, and lists may have either. */
static const char *without_usr(const char *path)
{
    return strncmp(path, "/usr/", 5) == 0 ? path + 4 : path;
}

static bool is_listed(const struct strbuf *list, const char *path)
{
    const char *wanted = without_usr(path), *end = list->buf + list->len;
    size_t len = strlen(wanted);

    for (const char *line = list->buf; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        const char *bare = without_usr(line);

        stop = stop ? stop : end;
        if (bare <= stop && (size_t)(stop - bare) == len && memcmp(bare, wanted, len) == 0)
            return true;
        line = stop + 1;
    }
    return false;
}

static bool has(int dir, const char *name, const char *path)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct strbuf list = STRBUF_INIT;
    off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    bool found = false;

    if (size >= 0 && size < (off_t)LIST_MAX && lseek(fd, 0, SEEK_SET) == 0 &&
        strbuf_read_fd(&list, fd) == 0)
        found = is_listed(&list, path);
    if (fd >= 0)
        close(fd);
    strbuf_release(&list);
    return found;
}

/* "libfoo1:amd64.list" is libfoo1's. The C library's symbols have a package of the old kind. */
static void add_package(struct strbuf *out, const char *list)
{
    size_t len = strcspn(list, ":");

    if (!list[len])
        len -= sizeof ".list" - 1;
    strbuf_add(out, list, len);
    strbuf_addstr(out, len == 5 && memcmp(list, "libc6", 5) == 0 ? "-dbg" : "-dbgsym");
}

static bool is_list(const char *name)
{
    size_t len = strlen(name);

    return len > sizeof ".list" - 1 && strcmp(name + len - (sizeof ".list" - 1), ".list") == 0;
}

bool debpackage_of_symbols(const char *lists, const char *path, struct strbuf *out)
{
    DIR *dir = *path == '/' ? opendir(lists) : NULL;
    const struct dirent *e;
    bool found = false;

    while (dir && !found && (e = readdir(dir)))
        if (is_list(e->d_name) && has(dirfd(dir), e->d_name, path)) {
            add_package(out, e->d_name);
            found = true;
        }
    if (dir)
        closedir(dir);
    return found;
}
