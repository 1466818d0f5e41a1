/*
 * Problem: libunwind unwinds well, but has side effects that a recorder cannot accept. Linked in
 * the usual way it puts its own _Unwind_RaiseException before libgcc's in every program it is
 * preloaded into; it finds modules with dl_iterate_phdr under the loader's lock; it keeps a pipe to
 * test addresses with; its thread-local data is allocated by the program's malloc on first use.
 *
 * Algorithm: dlopen it RTLD_LOCAL and redirect those imports in its own GOT:
 *   dl_iterate_phdr    serves the one module that has the address, from modules.h
 *   mincore, read, write   the address test: kernel_readable, which needs no
 *                      descriptor
 *   pipe2, close       nothing to open, nothing to close
 *   other system calls through common/kernel.h, which asks the sandbox's gate
 *   malloc, free       pages of the recorder's own
 *   __tls_get_addr     its 16 bytes lie in the recorder's own TLS
 *
 * Rejected: static linking (Debian's archive is not position-independent); a remote address space
 * with accessors of the recorder's own (no redirecting, but 0.8 us a frame instead of 9 ns).
 *
 * Source: libunwind 1.6.2's Gtrace.c and Ginit.c for what it calls and when; the imports of 1.8.1.
 */
#define _GNU_SOURCE
#include "unwind/fallback.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libunwind.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/kernel.h"
#include "common/pages.h"
#include "common/processor/arch.h"
#include "unwind/gotpatch.h"
#include "unwind/modules.h"

#define LIBRARY "libunwind.so.8"
#define LIBUNWIND_TLS_MAX 32

/* Whether unw_getcontext is inline code of the header instead of a function. */
#define CONTEXT_INLINE ARCH_LINK

#define STR2(x) #x
#define STR(x) STR2(x)
/* libunwind.h turns unw_step and friends into per-architecture names; these are
 * the names of the local variants, as strings for dlsym. */
#define LOCAL_NAME(fn) "_UL" STR(UNW_TARGET) "_" #fn
#define SHARED_NAME(fn) "_U" STR(UNW_TARGET) "_" #fn

static struct {
    int (*backtrace)(void **, int);
    int (*getcontext)(unw_context_t *);
    int (*init_local)(unw_cursor_t *, unw_context_t *);
    int (*step)(unw_cursor_t *);
    int (*get_reg)(unw_cursor_t *, unw_regnum_t, unw_word_t *);
    void (*flush_cache)(unw_addr_space_t, unw_word_t, unw_word_t);
    int (*set_caching_policy)(unw_addr_space_t, unw_caching_policy_t);
    unw_addr_space_t *local;
    bool ready; /* set last */
} libunwind;

static __thread char tls_block[LIBUNWIND_TLS_MAX] __attribute__((aligned(16)));

/* ---- replacements of libunwind's imports ---- */

/* In every libunwind so far, the callback's data begins with the address that is searched for. If a
 * version had another word there, _dl_find_object would find nothing, and the frame would have no
 * unwind information. */
static int find_module(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
    struct dl_phdr_info info = {0};
    struct module m;

    if (!modules_note(*(const uintptr_t *)data, &m) || !m.phdr)
        return 0;
    info.dlpi_addr = m.bias;
    info.dlpi_name = m.path;
    info.dlpi_phdr = m.phdr;
    info.dlpi_phnum = m.phnum;
    return callback(&info, sizeof info, data);
}

static int test_address(void *addr, size_t len FLAME_UNUSED, unsigned char *vec FLAME_UNUSED)
{
    return kernel_readable((uintptr_t)addr, 1) ? 0 : -1;
}

static int test_address_msync(void *addr, size_t len, int flags FLAME_UNUSED)
{
    return test_address(addr, len, NULL);
}

/* Reports that the pipe has no data, which libunwind takes for success. */
static ssize_t pipe_read(int fd FLAME_UNUSED, void *buf FLAME_UNUSED, size_t n FLAME_UNUSED)
{
    errno = EAGAIN;
    return -1;
}

static ssize_t pipe_write(int fd FLAME_UNUSED, const void *buf FLAME_UNUSED, size_t n)
{
    errno = 0;
    return (ssize_t)n;
}

static int no_pipe2(int fds[2], int flags FLAME_UNUSED)
{
    fds[0] = fds[1] = -1;
    return 0;
}

static int no_pipe(int fds[2])
{
    return no_pipe2(fds, 0);
}

static int close_nothing(int fd)
{
    return fd < 0 ? 0 : (int)kernel_answer(kernel_call(SYS_close, fd));
}

static int own_open(const char *path, int flags, ...)
{
    return (int)kernel_answer(kernel_open(path, flags, 0));
}

static int own_stat(const char *path, struct stat *st)
{
    return (int)kernel_answer(kernel_call(SYS_newfstatat, AT_FDCWD, path, st, 0));
}

static int own_fstat(int fd, struct stat *st)
{
    return (int)kernel_answer(kernel_call(SYS_fstat, fd, st));
}

static void *own_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    if (flags & MAP_ANONYMOUS)
        at = pages_alloc(size);
    else
        at = (void *)kernel_answer(kernel_call(SYS_mmap, at, size, prot, flags, fd, offset));
    return at ? at : MAP_FAILED;
}

static int own_munmap(void *at, size_t size)
{
    pages_free(at, size);
    return 0;
}

/* libunwind 1.8 makes these calls by syscall(2), 1.6 by their own functions. */
static long own_syscall(long number, ...)
{
    long args[6];
    va_list ap;

    va_start(ap, number);
    for (size_t i = 0; i < ARRAY_LEN(args); i++)
        args[i] = va_arg(ap, long);
    va_end(ap);
    switch (number) {
    case SYS_write:
        return pipe_write((int)args[0], (const void *)args[1], (size_t)args[2]);
    case SYS_mincore:
    case SYS_msync:
        return test_address((void *)args[0], (size_t)args[1], NULL);
    case SYS_mmap:
        return (long)own_mmap((void *)args[0], (size_t)args[1], (int)args[2], (int)args[3],
                              (int)args[4], args[5]);
    case SYS_munmap:
        return own_munmap((void *)args[0], (size_t)args[1]);
    default:
        return kernel_answer(
            kernel_call(number, args[0], args[1], args[2], args[3], args[4], args[5]));
    }
}

static int own_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return (int)kernel_answer(kernel_call(SYS_rt_sigprocmask, how, set, old, 8L));
}

static int own_getpid(void)
{
    return (int)kernel_call(SYS_getpid);
}

/* libunwind asks for memory only to read a file's .debug_frame, a few times a module. */
#define OWN_HEADER 16

static void *own_malloc(size_t size)
{
    size_t total = size + OWN_HEADER;
    char *p = total > size ? pages_alloc(total) : NULL;

    if (!p)
        return NULL;
    memcpy(p, &total, sizeof total);
    return p + OWN_HEADER;
}

static void own_free(void *block)
{
    size_t total;

    if (!block)
        return;
    memcpy(&total, (char *)block - OWN_HEADER, sizeof total);
    pages_free((char *)block - OWN_HEADER, total);
}

struct tls_index {
    unsigned long module, offset;
};

static void *own_tls(const struct tls_index *at)
{
    return tls_block + at->offset;
}

static const struct gotpatch patches[] = {
    {"dl_iterate_phdr", find_module, 0},
    {"mincore", test_address, 0},
    {"msync", test_address_msync, 0},
    {"read", pipe_read, 0},
    {"write", pipe_write, 0},
    {"syscall", own_syscall, 0},
    {"pipe2", no_pipe2, 0},
    {"pipe", no_pipe, 0},
    {"close", close_nothing, 0},
    {"open", own_open, 0},
    {"stat", own_stat, 0},
    {"fstat", own_fstat, 0},
    {"mmap", own_mmap, 0},
    {"munmap", own_munmap, 0},
    {"sigprocmask", own_sigprocmask, 0},
    {"getpid", own_getpid, 0},
    {"malloc", own_malloc, 0},
    {"free", own_free, 0},
};

static const struct gotpatch tls_patch = {"__tls_get_addr", own_tls, 0};

/* ---- loading ---- */

static size_t tls_size(const struct link_map *map)
{
    const ElfW(Ehdr) *ehdr = (const void *)map->l_addr;
    const ElfW(Phdr) *phdr = (const void *)(map->l_addr + ehdr->e_phoff);

    for (int i = 0; i < ehdr->e_phnum; i++)
        if (phdr[i].p_type == PT_TLS)
            /* Initialised data would have to be copied; so far libunwind has none. */
            return phdr[i].p_filesz ? SIZE_MAX : phdr[i].p_memsz;
    return 0;
}

int fallback_init(const char **why)
{
    void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    int err;

    if (!lib) {
        *why = LIBRARY " cannot be loaded; install libunwind8";
        return -ENOENT;
    }
    libunwind.backtrace = (int (*)(void **, int))dlsym(lib, "unw_backtrace");
    libunwind.getcontext = (int (*)(unw_context_t *))dlsym(lib, SHARED_NAME(getcontext));
    libunwind.init_local =
        (int (*)(unw_cursor_t *, unw_context_t *))dlsym(lib, LOCAL_NAME(init_local));
    libunwind.step = (int (*)(unw_cursor_t *))dlsym(lib, LOCAL_NAME(step));
    libunwind.get_reg =
        (int (*)(unw_cursor_t *, unw_regnum_t, unw_word_t *))dlsym(lib, LOCAL_NAME(get_reg));
    libunwind.flush_cache =
        (void (*)(unw_addr_space_t, unw_word_t, unw_word_t))dlsym(lib, SHARED_NAME(flush_cache));
    libunwind.set_caching_policy =
        (int (*)(unw_addr_space_t, unw_caching_policy_t))dlsym(lib, LOCAL_NAME(set_caching_policy));
    libunwind.local = dlsym(lib, LOCAL_NAME(local_addr_space));
    if (!libunwind.backtrace) {
        *why = LIBRARY " has no unw_backtrace; install libunwind8 1.6 or later";
        return -ENOSYS;
    }
    err = gotpatch_apply(lib, patches, ARRAY_LEN(patches));
    if (err >= 0 && tls_size(lib) <= LIBUNWIND_TLS_MAX)
        err = gotpatch_apply(lib, &tls_patch, 1);
    if (err < 0) {
        *why = LIBRARY " cannot be prepared for a traced program";
        return err;
    }
    __atomic_store_n(&libunwind.ready, true, __ATOMIC_RELEASE);
    return 0;
}

bool fallback_is_ready(void)
{
    return __atomic_load_n(&libunwind.ready, __ATOMIC_ACQUIRE);
}

int fallback_walk(uintptr_t *pcs, int max)
{
    return libunwind.backtrace((void **)pcs, max);
}

int fallback_walk_afresh(uintptr_t *pcs, int max)
{
    unw_cursor_t cursor;
    unw_context_t here;
    unw_word_t pc;
    int n = 0;

    if ((!CONTEXT_INLINE && !libunwind.getcontext) || !libunwind.init_local || !libunwind.step ||
        !libunwind.get_reg)
        return -ENOSYS;
    if (libunwind.local && libunwind.set_caching_policy)
        libunwind.set_caching_policy(*libunwind.local, UNW_CACHE_NONE);
#if CONTEXT_INLINE
    unw_getcontext(&here);
#else
    libunwind.getcontext(&here);
#endif
    if (libunwind.init_local(&cursor, &here) < 0)
        return 0;
    while (n < max && libunwind.step(&cursor) > 0) {
        if (libunwind.get_reg(&cursor, UNW_REG_IP, &pc) < 0)
            break;
        pcs[n++] = pc;
    }
    return n;
}

/* libunwind numbers registers as DWARF does: rbp, x29. */
#define FRAME_REG (ARCH_LINK ? 29 : 6)
/* Limit of frames that are walked to reach one. */
#define STEPS_MOST 256

static bool registers_of(unw_cursor_t *cursor, struct walk_regs *out)
{
    unw_word_t pc, sp, bp;

    if (libunwind.get_reg(cursor, UNW_REG_IP, &pc) < 0 ||
        libunwind.get_reg(cursor, UNW_REG_SP, &sp) < 0 ||
        libunwind.get_reg(cursor, FRAME_REG, &bp) < 0)
        return false;
    *out = (struct walk_regs){.pc = pc, .sp = sp, .bp = bp};
    return true;
}

bool fallback_step(struct walk_regs *regs)
{
    struct walk_regs at = {.pc = 0};
    unw_cursor_t cursor;
    unw_context_t here;
    int steps = 0;

    if ((!CONTEXT_INLINE && !libunwind.getcontext) || !libunwind.init_local || !libunwind.step ||
        !libunwind.get_reg)
        return false;
#if CONTEXT_INLINE
    unw_getcontext(&here);
#else
    libunwind.getcontext(&here);
#endif
    if (libunwind.init_local(&cursor, &here) < 0)
        return false;
    while (at.pc != regs->pc || at.sp != regs->sp)
        if (steps++ == STEPS_MOST || libunwind.step(&cursor) <= 0 || !registers_of(&cursor, &at) ||
            at.sp > regs->sp)
            return false;
    if (libunwind.step(&cursor) <= 0 || !registers_of(&cursor, &at) || !at.pc || at.sp <= regs->sp)
        return false;
    *regs = at;
    return true;
}

void fallback_forget(void)
{
    /* Its per-thread cache hangs on its TLS. Forgetting the pointer leaves that
     * memory behind (about 400 KiB), once for each thread and epoch. */
    memset(tls_block, 0, sizeof tls_block);
    if (fallback_is_ready() && libunwind.flush_cache && libunwind.local)
        libunwind.flush_cache(*libunwind.local, 0, 0);
}
