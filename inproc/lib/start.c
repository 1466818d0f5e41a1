/*
 * The start of libflamewait.so: maps the run's memory, and patches the modules whose sites are
 * listed in it.
 *
 * It runs as a constructor: the C library is ready and the program's own code has not begun. If a
 * condition is not met, nothing is patched, the reason is written to the memory for the tracer
 * (shm_refuse), and the program is traced by stops, as it would be without the library. Nothing is
 * printed, because standard error is the program's own. Where there is no memory (another root, or
 * another pid namespace, from which the tracer's cannot be opened), no reason is reported.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/env/librarynote.h"
#include "inproc/gate.h"
#include "inproc/syscall_mark.h"
#include "inproc/lib/arena.h"
#include "inproc/lib/call_log.h"

#define MODULES_MOST 16

__asm__(LIBRARY_NOTE_WAITS);

static struct shm_view session;
static struct patch_module patches[MODULES_MOST];
static unsigned npatches;

/* Maps a whole file of the run; NULL: this is impossible, or it is none. In another pid namespace
 * the name may lead to any file. */
static void *map_file(const char *name, bool write, struct stat *st)
{
    int fd = kernel_open(name, (write ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY, 0);
    long at;

    if (fd < 0)
        return NULL;
    if (kernel_fstat(fd, st) < 0 || !S_ISREG(st->st_mode))
        st->st_size = 0;
    at = kernel_call(SYS_mmap, 0, st->st_size, write ? PROT_READ | PROT_WRITE : PROT_READ,
                     MAP_SHARED, fd, 0);
    kernel_call(SYS_close, fd);
    if (kernel_failed(at))
        return NULL;
    kernel_call(SYS_madvise, at, st->st_size, MADV_DONTDUMP);
    return (void *)at;
}

/* Maps the programs' file of a sound head. NULL: the file is another one. */
static void *map_shared(const struct shm_head *head)
{
    struct stat st;
    void *at = map_file(head->shared_name, true, &st);

    if (!at || ((uint64_t)st.st_size == head->shared_size && st.st_ino == head->shared_inode))
        return at;
    kernel_call(SYS_munmap, at, st.st_size);
    return NULL;
}

/* Whether the process has the tracer's user ID, or can get it back. */
static bool is_the_tracers(const struct shm_head *head)
{
    uint32_t ids[3];

    return kernel_call(SYS_getresuid, &ids[0], &ids[1], &ids[2]) == 0 &&
           (ids[0] == head->user || ids[1] == head->user || ids[2] == head->user);
}

/* False: there is no session that this library understands, and so no place for a reason. */
static bool map_session(const char *name)
{
    struct stat st;
    const void *mapped = map_file(name, false, &st);
    struct shm_head head; /* copied, so that the checked values are those that are used */
    void *shared = NULL;

    if (!mapped)
        return false;
    if ((uint64_t)st.st_size >= sizeof head) {
        head = *(const struct shm_head *)mapped;
        if (shm_is_sound(&head, mapped, (uint64_t)st.st_size) && is_the_tracers(&head))
            shared = map_shared(&head);
    }
    if (shared)
        shm_view_init(&session, &head, mapped, shared);
    else
        kernel_call(SYS_munmap, mapped, st.st_size);
    return shared != NULL;
}

static bool has_the_tracers_numbers(void)
{
    struct stat st;
    int fd = kernel_open("/proc/self/ns/pid", O_RDONLY, 0);
    bool same = fd >= 0 && kernel_fstat(fd, &st) == 0 && st.st_ino == session.head->pid_namespace;

    if (fd >= 0)
        kernel_call(SYS_close, fd);
    return same;
}

/* Inode of a file of /proc; 0: none. */
static ino_t inode_of(const char *path)
{
    struct stat st;

    return kernel_call(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0 ? st.st_ino : 0;
}

/* Whether CLOCK_MONOTONIC is the tracer's: it is another one in another time namespace. `name`: the
 * session's, "/proc/PID/fd/N" of the tracer. Where this cannot be checked there are mostly no such
 * namespaces. */
static bool has_the_tracers_clock(const char *name)
{
    static const char ns[] = "/ns/time";
    char path[64];
    size_t n = 0, slashes = 0;
    ino_t own;

    for (; name[n] && n < sizeof path - sizeof ns; n++) {
        slashes += name[n] == '/';
        if (slashes == 3)
            break;
        path[n] = name[n];
    }
    memcpy(path + n, ns, sizeof ns);
    own = inode_of("/proc/self/ns/time");
    return !own || !inode_of(path) || own == inode_of(path);
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

static const struct shm_module *known_as(const ElfW(Nhdr) * id)
{
    const struct shm_module *m =
        (const struct shm_module *)((const char *)session.head + session.head->modules_at);

    for (uint32_t i = 0; i < session.head->modules; i++)
        if (m[i].build_id_len == id->n_descsz &&
            memcmp(m[i].build_id, (const char *)(id + 1) + 4, id->n_descsz) == 0)
            return &m[i];
    return NULL;
}

static bool wants(int32_t number)
{
    return number == SITE_ANY_NUMBER || shm_wants(session.head, number);
}

/* Finds the place in the module at which calls of cancellation points are made, for marking them.
 */
static void find_marked(const struct shm_module *known, uintptr_t bias)
{
    const struct patch_site *s =
        (const struct patch_site *)((const char *)session.head + known->at);

    if (!session.head->marks)
        return;
    for (uint32_t i = 0; i < known->n; i++)
        if (s[i].kind == SITE_NONE && s[i].reason == SITE_CANCELLATION)
            call_log_mark(bias + s[i].call + s[i].call_size);
}

/* Patches a module of the loader's list. Not 0: it failed, with *how, an enum patch_result. */
static int patch(struct dl_phdr_info *info, size_t size, void *arg)
{
    const ElfW(Nhdr) *id = build_id_of(info);
    const struct shm_module *known = id ? known_as(id) : NULL;
    uint32_t *how = arg;
    enum patch_result result;

    (void)size;
    if (!known || npatches == MODULES_MOST)
        return 0;
    result = patch_apply(&patches[npatches],
                         (const struct patch_site *)((const char *)session.head + known->at),
                         known->n, info->dlpi_addr, wants);
    if (result == PATCH_DONE) {
        npatches++;
        find_marked(known, info->dlpi_addr);
    } else if (result != PATCH_NOTHING)
        *how = (uint32_t)result;
    return result != PATCH_DONE && result != PATCH_NOTHING;
}

static void undo(void)
{
    while (npatches)
        patch_undo(&patches[--npatches]);
}

/* Our own calls are not reported: they are made by the gate, too. */
static long by_gate(long number, const unsigned long args[6])
{
    struct patch_call call = {.number = number};

    memcpy(call.args, args, sizeof call.args);
    return flame_gate(&call);
}

/* 0, or the reason for failure: an enum shm_refusal. */
static unsigned get_ready(void)
{
    unsigned why;

    if (kernel_threads() != 1)
        return SHM_HAS_THREADS;
    if (!has_the_tracers_numbers())
        return SHM_PID_NAMESPACE;
    arena_begin();
    why = call_log_init(&session);
    if (!why &&
        (!session.head->filters || syscall_mark_filters() + 1 != (int)session.head->filters))
        call_log_confined();
    return why;
}

static unsigned patch_all(uint32_t *how)
{
    dl_iterate_phdr(patch, how);
    if (!*how)
        return npatches ? 0 : SHM_UNKNOWN_LIBC;
    undo();
    return SHM_NOT_PATCHED;
}

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv(SHM_ENV);
    uint32_t how = PATCH_DONE;
    unsigned why = 0;

    if (!name || getauxval(AT_SECURE))
        return;
    if (gate_is_in_place())
        kernel_way_in = by_gate;
    else
        why = SHM_NO_GATE;
    /* No reason is reported, as where there is no memory: the calls just stop. */
    if (!has_the_tracers_clock(name) || !map_session(name))
        return;
    if (!why)
        why = get_ready();
    if (!why)
        why = patch_all(&how);
    if (why)
        shm_refuse(&session, (enum shm_refusal)why, (uint32_t)kernel_call(SYS_getpid), how);
    else
        patch_handler = call_log_see;
}
