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

/* Copies the value of a line NAME=VALUE, quoted or not. False: no such line, or other characters
 * than names of releases have. */
static bool release_value(const char *text, const char *name, char *out, size_t size)
{
    size_t len = strlen(name), n;

    while (strncmp(text, name, len) != 0 || text[len] != '=') {
        text = strchr(text, '\n');
        if (!text)
            return false;
        text++;
    }
    text += len + 1;
    text += *text == '"' || *text == '\'';
    n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");
    if (n == 0 || n >= size || !strchr("\"'\n", text[n]))
        return false;
    memcpy(out, text, n);
    out[n] = '\0';
    return true;
}

/* Appends the command that adds the archive of debug symbols. */
static void add_archive(const char *text, struct strbuf *out)
{
    char id[16], codename[32];

    if (!release_value(text, "ID", id, sizeof id) ||
        !release_value(text, "VERSION_CODENAME", codename, sizeof codename))
        return;
    if (strcmp(id, "debian") == 0)
        strbuf_addf(out, "echo deb http://deb.debian.org/debian-debug %s-debug main", codename);
    else if (strcmp(id, "ubuntu") == 0)
        strbuf_addf(out,
                    "sudo apt install ubuntu-dbgsym-keyring && "
                    "echo deb http://ddebs.ubuntu.com %s main universe",
                    codename);
    else
        return;
    strbuf_addstr(out, " | sudo tee /etc/apt/sources.list.d/debug.list && sudo apt update && ");
}

void debpackage_add_command(const char *release, const char *package, struct strbuf *out)
{
    static const char apart[] = "-dbgsym";
    size_t len = strlen(package), end = sizeof apart - 1;
    struct strbuf text = STRBUF_INIT;

    if (len > end && strcmp(package + len - end, apart) == 0 &&
        strbuf_read_file(&text, release, LIST_MAX) == 0)
        add_archive(text.buf, out);
    strbuf_addf(out, "sudo apt install %s", package);
    strbuf_release(&text);
}
