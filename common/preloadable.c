/*
 * preloadable.c: the rules are the kernel's and the dynamic loader's own (execve(2), ld.so(8)).
 *
 * `#!` is followed as the kernel does it, four times at most. A program without PT_INTERP has no
 * loader that could preload anything. In secure-execution mode the loader ignores paths in
 * LD_PRELOAD. This code predicts that mode exactly instead of refusing every file with a
 * set-user-id bit: root may record its own set-user-id programs, and so may any user on a file
 * system mounted nosuid.
 *
 * Rejected: running the program with a marker in its environment to see whether the library
 * answers, because the check must come before the program first runs.
 */
#define _GNU_SOURCE
#include "common/preloadable.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/basename.h"
#include "common/str_starts.h"
#include "common/elfdyn.h"
#include "common/kernel.h"
#include "common/processor/processor.h"
#include "common/str_span.h"

/* How often one `#!` may lead to the next; the kernel's own limit. */
#define SCRIPT_DEPTH 4
/* Directories that the C library searches when PATH is not set. */
#define DEFAULT_DIRS "/bin:/usr/bin"
/* Headers of glibc 2.31 lack it. */
#ifndef __NR_faccessat2
#define __NR_faccessat2 439
#endif

const struct preloadable_machine preloadable_here = {.word = ELFCLASS64,
                                                     .order = ELFDATA2LSB,
#ifndef __GLIBC__
                                                     .musl = true,
#endif
                                                     .processor = PROCESSOR_ELF};

/* Direct system calls, here and below: fakeroot, fakechroot and their like interpose the C
 * library's functions, and exec ignores them. */
int preloadable_access(const char *path, int mode)
{
    long err = kernel_call(__NR_faccessat2, AT_FDCWD, path, mode, AT_EACCESS);

    /* Before Linux 5.8, or forbidden: check with the real ids. */
    if (err == -ENOSYS || err == -EPERM)
        err = kernel_call(SYS_faccessat, AT_FDCWD, path, mode);
    return (int)-err;
}

int preloadable_executable(const char *path)
{
    struct stat st;

    long err = kernel_call(SYS_newfstatat, AT_FDCWD, path, &st, 0);

    if (err < 0)
        return (int)-err;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    return S_ISREG(st.st_mode) && preloadable_access(path, X_OK) == 0 ? 0 : EACCES;
}

/* DIR/NAME; "" is the present directory. False: it does not fit. */
static bool join(char *buf, size_t size, const char *dir, size_t len, const char *name)
{
    size_t rest = strlen(name);

    if (len + 1 + rest >= size)
        return false;
    memcpy(buf, dir, len);
    if (len)
        buf[len++] = '/';
    memcpy(buf + len, name, rest + 1);
    return true;
}

int preloadable_find(const char *name, const char *dirs, char *buf, size_t size)
{
    int worst = ENOENT;

    for (const char *s = dirs ? dirs : DEFAULT_DIRS;;) {
        size_t len = span_until(s, ":");
        int err = join(buf, size, s, len, name) ? preloadable_executable(buf) : ENAMETOOLONG;

        if (!err)
            return 0;
        /* The file itself is not executable; the cause is not a directory without search
         * permission. */
        if (err == EACCES && preloadable_access(buf, F_OK) == 0)
            worst = EACCES;
        if (err == ENAMETOOLONG && worst == ENOENT)
            worst = ENAMETOOLONG;
        if (!s[len])
            return worst;
        s += len + 1;
    }
}

/* Does not wait: the name may be a pipe's by now. */
static int open_file(const char *path)
{
    return kernel_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
}

/* Reason for secure-execution mode when this file runs, or PRELOADABLE_YES. */
static enum preloadable secure_because(int fd)
{
    uid_t uid = (uid_t)kernel_call(SYS_getuid), euid = (uid_t)kernel_call(SYS_geteuid);
    gid_t gid = (gid_t)kernel_call(SYS_getgid), egid = (gid_t)kernel_call(SYS_getegid);
    struct statfs fs;
    struct stat st;
    bool gains;

    if (kernel_call(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) < 0)
        return PRELOADABLE_YES;
    gains = kernel_call(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0L, 0L, 0L, 0L) != 1 &&
            !(kernel_call(SYS_fstatfs, fd, &fs) == 0 && (fs.f_flags & ST_NOSUID));
    if (gains && (st.st_mode & S_ISUID))
        euid = st.st_uid;
    /* Without group execute the bit means mandatory locking. */
    if (gains && (st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP))
        egid = st.st_gid;
    if (euid != uid)
        return PRELOADABLE_SETUID;
    if (egid != gid)
        return PRELOADABLE_SETGID;
    if (gains && uid != 0 &&
        kernel_call(SYS_fgetxattr, fd, "security.capability", NULL, (size_t)0) > 0)
        return PRELOADABLE_CAPABILITIES;
    return PRELOADABLE_YES;
}

/* gcc's sanitizers are libraries, clang's are inside the program, which then exports their entry
 * points. */
static enum preloadable judge_sanitizer(struct elfdyn *e)
{
    static const char *const needs[] = {"libasan.so",         "libtsan.so",
                                        "libhwasan.so",       "libclang_rt.asan",
                                        "libclang_rt.hwasan", "libclang_rt.tsan"};
    static const char *const defines[] = {"__asan_init", "__tsan_init", "__msan_init",
                                          "__hwasan_init"};
    /* LeakSanitizer calls the next malloc, so it works beside flame's. */
    static const char *const leaks[] = {"liblsan.so", "libclang_rt.lsan"};

    if (elfdyn_needs(e, needs, ARRAY_LEN(needs)))
        return PRELOADABLE_SANITIZER;
    for (size_t i = 0; i < ARRAY_LEN(defines); i++)
        if (elfdyn_defines(e, defines[i]))
            return PRELOADABLE_SANITIZER;
    return elfdyn_needs(e, leaks, ARRAY_LEN(leaks)) || elfdyn_defines(e, "__lsan_init")
               ? PRELOADABLE_LEAK_SANITIZER
               : PRELOADABLE_YES;
}

static enum preloadable judge_elf(const char *path, int fd, const struct preloadable_machine *ours)
{
    enum preloadable secure;
    char loader[PRELOADABLE_HEAD];
    struct elfdyn e;
    bool musl;
    int len;

    secure = secure_because(fd);
    if (secure != PRELOADABLE_YES)
        return secure;
    if (ours->word != ELFCLASS64 || !elfdyn_open(&e, fd))
        return PRELOADABLE_DAMAGED;
    len = elfdyn_interpreter(&e, loader, sizeof loader);
    if (len < 0)
        return PRELOADABLE_DAMAGED;
    /* A loader that is run by its name has no PT_INTERP. */
    if (!len && !starts_with(base_name(path), "ld-linux") &&
        !starts_with(base_name(path), "ld-musl"))
        return PRELOADABLE_STATIC;
    musl = starts_with(len ? base_name(loader) : base_name(path), "ld-musl");
    if (musl != ours->musl)
        return musl ? PRELOADABLE_MUSL : PRELOADABLE_GNU;
    return judge_sanitizer(&e);
}

/* Verdict on the file at `path`. A script: PRELOADABLE_YES, with its interpreter in `next`. */
static enum preloadable judge_file(const char *path, const struct preloadable_machine *ours,
                                   char next[PRELOADABLE_HEAD], int *err)
{
    union {
        char bytes[PRELOADABLE_HEAD + 1];
        unsigned char ident[EI_NIDENT];
        Elf64_Ehdr elf;
    } head;
    enum preloadable verdict = PRELOADABLE_NO_FORMAT;
    int fd;
    long n;

    next[0] = '\0';
    *err = preloadable_executable(path);
    if (*err)
        return PRELOADABLE_NO_FILE;
    fd = open_file(path);
    if (fd < 0)
        return PRELOADABLE_UNKNOWN;
    n = kernel_call(SYS_pread64, fd, head.bytes, (size_t)PRELOADABLE_HEAD, (off_t)0);
    head.bytes[n > 0 ? n : 0] = '\0';
    if (n >= (long)sizeof head.elf && memcmp(head.ident, ELFMAG, SELFMAG) == 0) {
        verdict = head.ident[EI_CLASS] != ours->word || head.ident[EI_DATA] != ours->order ||
                          head.elf.e_machine != ours->processor
                      ? PRELOADABLE_MACHINE
                      : judge_elf(path, fd, ours);
    } else if (n >= SELFMAG && memcmp(head.ident, ELFMAG, SELFMAG) == 0) {
        verdict = PRELOADABLE_DAMAGED;
    } else if (n > 2 && head.bytes[0] == '#' && head.bytes[1] == '!') {
        const char *s = head.bytes + 2 + span_of(head.bytes + 2, " \t");
        size_t len = span_until(s, " \t\n");

        memcpy(next, s, len);
        next[len] = '\0';
        verdict = PRELOADABLE_YES;
    }
    kernel_call(SYS_close, fd);
    return verdict;
}

void preloadable_judge(const char *path, const struct preloadable_machine *ours,
                       struct preloadable_answer *answer)
{
    char next[PRELOADABLE_HEAD];

    memset(answer, 0, sizeof *answer);
    for (int depth = 0;; depth++) {
        answer->verdict = judge_file(path, ours, next, &answer->err);
        if (answer->verdict != PRELOADABLE_YES || !next[0])
            return;
        memcpy(answer->interpreter, next, sizeof next);
        path = answer->interpreter;
        if (depth == SCRIPT_DEPTH) {
            answer->verdict = PRELOADABLE_NO_FILE;
            answer->err = ELOOP;
            return;
        }
    }
}
