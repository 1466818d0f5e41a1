#include "tracer/objects/heldfds.h"

#include <dirent.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/procpath.h"
#include "tracer/objects/fdinfo.h"

/* proc_pid_fdinfo(5): the flags are octal, and O_CLOEXEC is 02000000. Its digits are read as if
 * they were decimal. */
#define CLOEXEC_DIGIT 1000000u
#define CLOEXEC_BIT 2u

static bool closes_on_exec(pid_t tid, int fd, struct strbuf *text)
{
    char name[32];
    uint64_t flags;

    snprintf(name, sizeof name, "fdinfo/%d", fd);
    return fds_text(tid, name, text) && fdinfo_number(text->buf, text->len, "flags", &flags) &&
           flags / CLOEXEC_DIGIT % 10 & CLOEXEC_BIT;
}

void heldfds_look(struct heldfds *h, struct fds *f, pid_t pid, pid_t tid, bool by_exec)
{
    DIR *dir = opendir(proc_path(tid, "fd").s);
    struct strbuf text = STRBUF_INIT;

    h->n = 0;
    for (struct dirent *d; dir && h->n < OFF_SET_MAX && (d = readdir(dir));) {
        struct off_object object;
        int fd = atoi(d->d_name);

        if (d->d_name[0] == '.')
            continue;
        fds_object(f, pid, tid, fd, &object);
        if (object.kind == OFF_ON_FILE)
            object.kind = OFF_ON_LOCK;
        if (object.kind != OFF_ON_PIPE && object.kind != OFF_ON_UNIX &&
            object.kind != OFF_ON_INET && object.kind != OFF_ON_LOCK)
            continue;
        if (by_exec && !closes_on_exec(tid, fd, &text))
            continue;
        GROW(h->object, h->n, h->room);
        h->object[h->n++] = object;
    }
    if (dir)
        closedir(dir);
    strbuf_release(&text);
}
