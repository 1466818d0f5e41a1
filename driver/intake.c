/*
 * When a trace is complete is for the kernel to say (writers.h). Where the file system does
 * not know, all traces wait for the end.
 *
 * A file is looked at from when it has a header, since one that is being made is not yet
 * mapped. How often depends on what it costs to look in vain.
 */
#define _GNU_SOURCE
#include "driver/intake.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/strbuf.h"
#include "driver/files/notrecorded.h"
#include "driver/ticker.h"
#include "driver/files/writers.h"

#define LOOK_MS 30u
#define LOOK_SHARE 50u /* looking in vain is so much shorter than the pause after it */

struct intake {
    const struct session *session;
    struct taken *taken;
    struct ticker *ticker;
    uint32_t spares_made;
    uint64_t given_back; /* bytes of disk */
};

bool intake_is_complete(int fd)
{
    struct trace_header h;

    return pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h && trace_magic_matches(&h, sizeof h) &&
           writers_are_gone(fd);
}

static bool tells_writers(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool tells = fd >= 0 && writers_are_told(fd);

    if (fd >= 0)
        close(fd);
    return tells;
}

/* ---- one file ---- */

/* Opened for it: ext4 writes a file that was emptied to the disk when it is closed for the
 * first time afterwards, which is better done before there is something in it. */
static bool empty(const char *path)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    bool emptied = fd >= 0 && ftruncate(fd, 0) == 0;

    if (fd >= 0)
        close(fd);
    return emptied;
}

/* The name is free again; the file is a spare if a place for one is free, or gone. */
static void give_back(struct intake *in, const char *path)
{
    bool emptied = empty(path);
    const char *place = in->session->spares[in->spares_made % RUNNOTES_SPARES];

    if (emptied && renameat2(AT_FDCWD, path, AT_FDCWD, place, RENAME_NOREPLACE) == 0)
        notrecorded_spares(in->session->notes, ++in->spares_made);
    else
        unlink(path);
}

/* What cannot be read is left for the end, where it is told. */
static bool take_if_complete(struct intake *in, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool complete = fd >= 0 && intake_is_complete(fd);
    struct trace *t;
    uint64_t bytes;

    if (fd >= 0)
        close(fd);
    if (!complete || trace_load_quietly(path, &t) != 0)
        return false;
    bytes = (uint64_t)t->header.units * TRACE_UNIT;
    taken_add(in->taken, t, true);
    give_back(in, path);
    in->given_back += bytes;
    if (in->session->disk)
        notrecorded_given_back(in->session->notes, in->given_back);
    return true;
}

/* ---- looking ---- */

/* Taking has to be done at some time; what is looked at in vain is what looks cost. */
static unsigned look(void *arg)
{
    struct intake *in = arg;
    DIR *dir = opendir(in->session->dir);
    uint64_t vain_ns = 0, pause;
    struct dirent *d;

    while (dir && (d = readdir(dir)))
        if (session_is_trace(d->d_name)) {
            struct strbuf path = STRBUF_INIT;
            uint64_t begun = clock_ns(CLOCK_MONOTONIC);

            strbuf_addf(&path, "%s/%s", in->session->dir, d->d_name);
            if (!take_if_complete(in, path.buf))
                vain_ns += clock_ns(CLOCK_MONOTONIC) - begun;
            strbuf_release(&path);
        }
    if (dir)
        closedir(dir);
    pause = vain_ns * LOOK_SHARE / 1000000u;
    return pause > LOOK_MS ? (unsigned)pause : LOOK_MS;
}

struct intake *intake_start(const struct session *session, struct taken *taken)
{
    struct intake *in;

    if (!tells_writers(session->dir))
        return NULL;
    in = xcalloc(1, sizeof *in);
    in->session = session;
    in->taken = taken;
    in->ticker = ticker_start(look, LOOK_MS, in);
    if (in->ticker)
        return in;
    free(in);
    return NULL;
}

void intake_stop(struct intake *in)
{
    if (!in)
        return;
    ticker_stop(in->ticker);
    free(in);
}
