#define _GNU_SOURCE
#include "driver/rundir/output_link.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/basename.h"
#include "common/strbuf.h"
#include "driver/rundir/rundir.h"

/* The absolute path of a file that need not exist. Release it; empty: its folder does not exist. */
static struct strbuf absolute(const char *path)
{
    struct strbuf folder = STRBUF_INIT, whole = STRBUF_INIT;
    const char *name = base_name(path);
    char *real;

    strbuf_add(&folder, path, (size_t)(name - path));
    real = realpath(folder.len ? folder.buf : ".", NULL);
    if (real)
        strbuf_addf(&whole, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
    free(real);
    strbuf_release(&folder);
    return whole;
}

void output_link_make(const char *dir, const char *output)
{
    struct strbuf target = absolute(output), link = STRBUF_INIT;

    strbuf_addf(&link, "%s/" RUNDIR_RESULT, dir);
    if (rundir_is_trace(base_name(output)) && target.len && symlink(target.buf, link.buf) != 0)
        strbuf_clear(&link); /* the run cannot be found by its output's name, nothing else */
    strbuf_release(&link);
    strbuf_release(&target);
}

static bool leads_to(const char *dir, const char *target)
{
    struct strbuf link = STRBUF_INIT;
    char there[PATH_MAX];
    struct stat st;
    ssize_t n = -1;

    strbuf_addf(&link, "%s/" RUNDIR_RESULT, dir);
    if (lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid())
        n = readlink(link.buf, there, sizeof there);
    strbuf_release(&link);
    return n >= 0 && (size_t)n == strlen(target) && memcmp(there, target, (size_t)n) == 0;
}

static char *find_in(const char *parent, const char *target)
{
    struct strbuf dir = STRBUF_INIT;
    DIR *d = opendir(parent);
    struct dirent *e;
    bool found = false;

    while (d && !found && (e = readdir(d))) {
        if (!rundir_is_name(e->d_name))
            continue;
        strbuf_clear(&dir);
        strbuf_addf(&dir, "%s/%s", parent, e->d_name);
        found = leads_to(dir.buf, target);
    }
    if (d)
        closedir(d);
    if (found)
        return strbuf_detach(&dir, NULL);
    strbuf_release(&dir);
    return NULL;
}

char *output_link_find(const char *output)
{
    const char *tmp = getenv("TMPDIR");
    struct strbuf target = absolute(output), beside = STRBUF_INIT;
    char *found = NULL;

    if (target.len) {
        strbuf_add(&beside, target.buf, (size_t)(base_name(target.buf) - target.buf));
        if (tmp && *tmp)
            found = find_in(tmp, target.buf);
        if (!found)
            found = find_in("/tmp", target.buf);
        if (!found)
            found = find_in(beside.buf, target.buf);
    }
    strbuf_release(&beside);
    strbuf_release(&target);
    return found;
}
