/*
 * libflamewait.so begins: maps the run's memory, and patches the modules whose sites are in it.
 *
 * At the constructor, that is, when the C library is ready and the program's own code has not
 * begun. If anything is not as it must be, nothing is patched, one line says why, and the program
 * is traced by stops, as it would be without us.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/env/librarynote.h"
#include "inside/gate.h"
#include "inside/mark.h"
#include "inside/wait/noter.h"

#define MODULES_MOST 16

__asm__(LIBRARY_NOTE_WAITS);

static struct session_head *session;
static struct patch_module patches[MODULES_MOST];
static unsigned npatches;

/* By a system call: the program's standard error may be anything. */
static void say(const char *why, const char *more)
{
    char line[256];
    int n = snprintf(line, sizeof line, "flame: process %d is traced by stops alone: %s%s%s\n",
                     (int)kernel_call(SYS_getpid), why, *more ? ": " : "", more);

    kernel_call(SYS_write, 2, line, n < (int)sizeof line ? n : (int)sizeof line - 1);
}

static const char *map_session(const char *name)
{
    int fd = kernel_open(name, O_RDWR, 0);
    struct stat st;
    long at;

    if (fd < 0)
        return "the memory of this run cannot be opened";
    if (kernel_fstat(fd, &st) < 0)
        st.st_size = 0;
    at = kernel_call(SYS_mmap, 0, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    kernel_call(SYS_close, fd);
    if (kernel_failed(at))
        return "the memory of this run cannot be mapped";
    kernel_call(SYS_madvise, at, st.st_size, MADV_DONTDUMP);
    session = (struct session_head *)at;
    if (!session_is_sound(session, (uint64_t)st.st_size))
        return "the memory of this run is of another version";
    if (stat("/proc/self/ns/pid", &st) < 0 || st.st_ino != session->pid_namespace)
        return "it is in a pid namespace of its own";
    return NULL;
}

static const ElfW(Nhdr) * build_id_of(const struct dl_phdr_info *info)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        const char *at = (const char *)info->dlpi_addr + ph->p_vaddr, *stop = at + ph->p_memsz;

        while (ph->p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) <= stop) {
            const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)at;
            size_t size = sizeof *n + (n->n_namesz + 3u) / 4 * 4 + (n->n_descsz + 3u) / 4 * 4;

            if (size > (size_t)(stop - at))
                break;
            if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(n + 1, "GNU", 4) == 0)
                return n;
            at += size;
        }
    }
    return NULL;
}

static const struct session_module *known_as(const ElfW(Nhdr) * id)
{
    const struct session_module *m =
        (const struct session_module *)((char *)session + session->modules_at);

    for (uint32_t i = 0; i < session->modules; i++)
        if (m[i].build_id_len == id->n_descsz &&
            memcmp(m[i].build_id, (const char *)(id + 1) + 4, id->n_descsz) == 0)
            return &m[i];
    return NULL;
}

static bool wants(int32_t number)
{
    return number == SITE_ANY_NUMBER || session_wants(session, number);
}

/* Where in the module calls of cancellation points are made, for marking them. */
static void find_marked(const struct session_module *known, uintptr_t bias)
{
    const struct patch_site *s = (const struct patch_site *)((char *)session + known->at);

    if (!session->marks)
        return;
    for (uint32_t i = 0; i < known->n; i++)
        if (s[i].kind == SITE_NONE && s[i].reason == SITE_CANCELLATION)
            noter_mark(bias + s[i].call + s[i].call_size);
}

/* Patches a module of the loader's list. Not 0: it went wrong, *why says how. */
static int patch(struct dl_phdr_info *info, size_t size, void *arg)
{
    const ElfW(Nhdr) *id = build_id_of(info);
    const struct session_module *known = id ? known_as(id) : NULL;
    const char **why = arg;
    enum patch_result result;

    (void)size;
    if (!known || npatches == MODULES_MOST)
        return 0;
    result =
        patch_apply(&patches[npatches], (const struct patch_site *)((char *)session + known->at),
                    known->n, info->dlpi_addr, wants);
    if (result == PATCH_DONE) {
        npatches++;
        find_marked(known, info->dlpi_addr);
    } else if (result != PATCH_NOTHING)
        *why = patch_result_name(result);
    return result != PATCH_DONE && result != PATCH_NOTHING;
}

static void undo(void)
{
    while (npatches)
        patch_undo(&patches[--npatches]);
}

/* Our own calls are nobody's business: they go by the gate, too. */
static long by_gate(long number, const unsigned long args[6])
{
    struct patch_call call = {.number = number};

    memcpy(call.args, args, sizeof call.args);
    return flame_gate(&call);
}

static const char *get_ready(const char *name)
{
    const char *why;

    if (!gate_is_in_place())
        return "libflamegate.so is not where it is linked for";
    kernel_way_in = by_gate;
    if (kernel_threads() != 1)
        return "it has threads already";
    why = map_session(name);
    if (!why)
        why = noter_init(session);
    if (!why && (!session->filters || mark_filters() + 1 != (int)session->filters))
        noter_confined();
    return why;
}

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv(SESSION_ENV), *why, *how = "";

    if (!name || getauxval(AT_SECURE))
        return;
    why = get_ready(name);
    if (!why) {
        dl_iterate_phdr(patch, &how);
        if (*how) {
            undo();
            why = "its C library cannot be patched";
        } else if (!npatches) {
            why = "its C library is not known";
        }
    }
    if (why)
        say(why, how);
    else
        patch_handler = noter_see;
}
