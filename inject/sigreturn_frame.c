#define _GNU_SOURCE
#include "inject/sigreturn_frame_impl.h"

#include <stdlib.h>
#include <sys/uio.h>

#include "common/alloc.h"

/* ---- code ---- */

#define CHUNK 65536u
#define OVERLAP 16u /* more than the longest pattern, and a multiple of its alignment */
/* Number of bytes of code that are searched in all. */
#define CODE_MOST ((size_t)256 << 20)

static void look_for(uintptr_t *found, const uint8_t *code, size_t size, uintptr_t at,
                     const uint8_t *bytes, size_t n)
{
    const uint8_t *p = code;

    while (!*found && (p = memmem(p, size - (size_t)(p - code), bytes, n))) {
        if ((size_t)(p - code) % sigreturn_frame_bytes.align == 0)
            *found = at + (uintptr_t)(p - code);
        p++;
    }
}

static bool is_complete(const struct sigreturn_frame_code *c)
{
    return c->call && c->call_ret && c->sigreturn;
}

/* Searches a mapping; chunks overlap. */
static size_t look_in(struct sigreturn_frame_code *c, const struct procmem *m,
                      const struct maps_snapshot_map *map)
{
    const struct sigreturn_frame_bytes *b = &sigreturn_frame_bytes;
    size_t step = CHUNK - OVERLAP, done = 0;
    uint8_t *code = xmalloc(CHUNK);

    for (uintptr_t at = map->start; at < map->end && !is_complete(c); at += step, done += step) {
        size_t size = map->end - at < CHUNK ? map->end - at : CHUNK;

        if (!procmem_read(m, at, code, size))
            break;
        look_for(&c->call, code, size, at, b->call_ret, b->call_size);
        look_for(&c->call_ret, code, size, at, b->call_ret, b->call_ret_size);
        look_for(&c->sigreturn, code, size, at, b->sigreturn, b->sigreturn_size);
    }
    free(code);
    return done;
}

bool sigreturn_frame_find(struct sigreturn_frame_code *c, const struct procmem *m,
                          const struct maps_snapshot *maps, uintptr_t first)
{
    const struct maps_snapshot_map *map = maps_snapshot_find(maps, first);
    size_t done = 0;

    *c = (struct sigreturn_frame_code){0};
    if (map && map->exec && map->read)
        done = look_in(c, m, map);
    for (size_t i = 0; i < maps->n && !is_complete(c) && done < CODE_MOST; i++)
        if (maps->maps[i].exec && maps->maps[i].read)
            done += look_in(c, m, &maps->maps[i]);
    return c->call != 0;
}

/* ---- the frame's memory ---- */

/* Copies all bytes to or from a thread's memory. False: not all were copied. */
static bool copy(pid_t tid, bool write, uintptr_t at, void *bytes, size_t size)
{
    struct iovec here = {bytes, size}, there = {(void *)at, size}; /* NOLINT */
    ssize_t n = write ? process_vm_writev(tid, &here, 1, &there, 1, 0)
                      : process_vm_readv(tid, &here, 1, &there, 1, 0);

    return n == (ssize_t)size;
}

bool sigreturn_frame_save(struct sigreturn_frame *w, uintptr_t at, size_t size)
{
    w->at = at;
    w->size = size;
    w->was = xmalloc(size);
    return copy(w->tid, false, at, w->was, size);
}

bool sigreturn_frame_write(const struct sigreturn_frame *w, const void *bytes)
{
    return copy(w->tid, true, w->at, (void *)bytes, w->size);
}

void sigreturn_frame_drop(struct sigreturn_frame *w)
{
    free(w->was);
    *w = (struct sigreturn_frame){.tid = w->tid};
}

void sigreturn_frame_lift(struct sigreturn_frame *w)
{
    if (w->at)
        sigreturn_frame_write(w, w->was);
    sigreturn_frame_drop(w);
}
