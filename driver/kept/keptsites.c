#define _GNU_SOURCE
#include "driver/kept/keptsites.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/basename.h"
#include "common/str_starts.h"
#include "render/wrappers.h"

static bool is_library_own(const char *name, size_t len)
{
    return starts_with(name, "std::") || starts_with(name, "__gnu_cxx::") ||
           memmem(name, len < 40 ? len : 40, " std::", 6);
}

bool keptsites_is_site(const char *name, size_t len)
{
    static const struct wrappers_options none = {.n = 0};

    return !wrappers_has(&none, WRAPPERS_ALL, name, len) && !is_library_own(name, len);
}

/* Whether functions of that file mostly pass memory on: those of them that have no names do. */
static bool is_of_memory(const char *path)
{
    const char *name = base_name(path);

    return starts_with(name, "libc.so") || starts_with(name, "libstdc++.so") ||
           starts_with(name, "libc++.so") || keptnames_is_allocator(path);
}

/* Appends the name of a frame's function, if that does not only pass memory on. */
static bool name_frame(struct keptnames *names, uint64_t frame, struct strbuf *to)
{
    size_t len;
    const char *made = names->space->frame_text(names->space->arg, frame, &len), *path;
    struct symbol_frames f;
    uint64_t vaddr;

    if (made) {
        strbuf_add(to, made, len);
        return true;
    }
    if (!keptnames_module(names, frame - 1, &vaddr, &path) || keptnames_is_recorder(path))
        return false;
    f = keptnames_functions(names, frame, false);
    if (f.n && keptsites_is_site(f.frame[0].name, f.frame[0].len))
        strbuf_add(to, f.frame[0].name, f.frame[0].len);
    else if (!f.n && !is_of_memory(path))
        strbuf_addf(to, "%s+0x%" PRIx64, base_name(path), vaddr);
    else
        return false;
    return true;
}

/* The frame of a row's site, whose name is appended; 0: it is not known. */
static uint64_t find_frame(struct keptnames *names, uint32_t row, struct strbuf *to)
{
    size_t n = 0, i = 0;
    const uint64_t *inner = row ? names->space->inner(names->space->arg, row, &n) : NULL;

    while (i < n && !name_frame(names, inner[i], to))
        i++;
    return i < n ? inner[i] : 0;
}

bool keptsites_name(struct keptnames *names, uint32_t row, struct strbuf *to)
{
    return find_frame(names, row, to);
}

static uint32_t site_of(struct keptsites *s, struct keptnames *names, uint32_t row)
{
    static const char before[] = "[allocated before]", unknown[] = "[unknown site]";
    struct strbuf name = STRBUF_INIT;
    uint64_t frame = find_frame(names, row, &name);
    uint32_t number;

    if (!frame)
        strbuf_addstr(&name, row ? unknown : before);
    number = keptnames_number(names, name.buf, name.len);
    GROW_FILLED(s->frames, number, s->room, 0);
    if (frame && s->frames[number] && s->frames[number] != frame)
        frame = KEPTSITES_MANY;
    s->frames[number] = frame;
    strbuf_release(&name);
    return number;
}

static bool is_libcs(struct keptnames *names, uint32_t row)
{
    size_t n = 0;
    const uint64_t *inner = row ? names->space->inner(names->space->arg, row, &n) : NULL;
    const char *path;
    uint64_t vaddr;

    return n && keptnames_module(names, inner[0] - 1, &vaddr, &path) &&
           strstr(path, "/libc.so") != NULL;
}

void keptsites_find(struct keptsites *s, struct keptnames *names, uint32_t rows)
{
    *s = (struct keptsites){.n = rows};
    s->of = xreallocarray(NULL, (size_t)rows + 1, sizeof *s->of);
    s->weak = xcalloc((size_t)rows + 1, sizeof *s->weak);
    for (uint32_t row = 0; row < rows; row++) {
        s->of[row] = site_of(s, names, row);
        s->weak[row] = is_libcs(names, row);
    }
}

void keptsites_release(struct keptsites *s)
{
    free(s->of);
    free(s->weak);
    free(s->frames);
}
