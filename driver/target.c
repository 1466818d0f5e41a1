/*
 * target.c: is the command one that a preloaded library can record?
 *
 * The rules are the kernel's and the dynamic loader's own (execve(2),
 * ld.so(8)): `#!` is followed as the kernel does it, four times at most; a
 * program without PT_INTERP has no loader that could preload anything; in
 * secure-execution mode (AT_SECURE) the loader ignores LD_PRELOAD paths. Whether
 * that mode will be on is foretold exactly, rather than refusing every file with
 * a set-user-id bit: root may record its own set-user-id programs, and so may
 * anyone on a file system mounted nosuid.
 *
 * Not done: running the program with a marker in its environment to see whether
 * the library answers. That would run it, which is what must not happen first.
 */
#define _GNU_SOURCE
#include "driver/target.h"

#include <elf.h>
#include <gelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/error.h"
#include "common/strbuf.h"

/* How often one `#!` may lead to the next; the kernel's own limit. */
#define SCRIPT_DEPTH 4
/* The kernel reads this much of a file to see what it is. */
#define HEAD_SIZE 256

/* The first bytes of a file and what the file is. */
struct image {
    struct stat st;
    int fd;
    size_t len;
    union {
        char bytes[HEAD_SIZE + 1]; /* NUL-terminated */
        unsigned char ident[EI_NIDENT];
        Elf64_Ehdr elf64;
    } head;
};

/* 0, or what is wrong with `path` as a file that execvp would take. */
static int executable_errno(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0)
        return EACCES;
    return 0;
}

static int not_runnable(const char *name, int err)
{
    switch (err) {
    case ENOENT:
        return flame_error(FLAME_USAGE, "%s: no such program; check the name", name);
    case EISDIR:
        return flame_error(FLAME_USAGE, "%s: is a directory; name the program in it", name);
    case EACCES:
        return flame_error(FLAME_USAGE, "%s: not executable; 'chmod +x' may be what it lacks",
                           name);
    default:
        return flame_error(FLAME_USAGE, "%s: %s; check the name", name, strerror(err));
    }
}

static int search_path(const char *command, char **path)
{
    const char *dirs = getenv("PATH");
    int worst = ENOENT;

    /* What the C library searches when PATH is not set. */
    if (!dirs)
        dirs = "/bin:/usr/bin";
    for (;;) {
        size_t len = strcspn(dirs, ":");
        struct strbuf candidate = STRBUF_INIT;
        int err;

        strbuf_add(&candidate, dirs, len);
        if (len)
            strbuf_addch(&candidate, '/');
        strbuf_addstr(&candidate, command);
        err = executable_errno(candidate.buf);
        if (!err) {
            *path = strbuf_detach(&candidate, NULL);
            return 0;
        }
        /* Not a directory that we may not look into. */
        if (err == EACCES && access(candidate.buf, F_OK) == 0)
            worst = EACCES;
        strbuf_release(&candidate);
        if (!dirs[len])
            break;
        dirs += len + 1;
    }
    if (worst == ENOENT)
        return flame_error(FLAME_USAGE, "%s: no such program in PATH; check the name", command);
    return not_runnable(command, worst);
}

int target_find(const char *command, char **path)
{
    int err;

    *path = NULL;
    if (!*command)
        return flame_error(FLAME_USAGE, "the command's name is empty; name a program");
    if (!strchr(command, '/'))
        return search_path(command, path);
    err = executable_errno(command);
    if (err)
        return not_runnable(command, err);
    *path = xstrdup(command);
    return 0;
}

/* 0 or -errno; *im is to be closed when 0. */
static int image_open(struct image *im, const char *path)
{
    ssize_t n;
    int err;

    *im = (struct image){.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (im->fd < 0)
        return -errno;
    if (fstat(im->fd, &im->st) < 0 || (n = pread(im->fd, im->head.bytes, HEAD_SIZE, 0)) < 0) {
        err = -errno;
        close(im->fd);
        return err;
    }
    im->len = (size_t)n;
    return 0;
}

static bool is_elf(const struct image *im)
{
    return im->len >= EI_NIDENT && memcmp(im->head.ident, ELFMAG, SELFMAG) == 0;
}

/* The interpreter a `#!` line names, or NULL when it is not such a file. */
static char *script_interpreter(const struct image *im)
{
    const char *s = im->head.bytes;
    size_t len;

    if (im->len < 2 || s[0] != '#' || s[1] != '!')
        return NULL;
    s += 2;
    s += strspn(s, " \t");
    len = strcspn(s, " \t\n");
    return xmemdup0(s, len);
}

static bool same_machine(const struct image *a, const struct image *b)
{
    return a->head.ident[EI_CLASS] == b->head.ident[EI_CLASS] &&
           a->head.ident[EI_DATA] == b->head.ident[EI_DATA] &&
           a->head.elf64.e_machine == b->head.elf64.e_machine;
}

/*
 * The loader the program asks for, "" when it asks for none, NULL when the
 * file's program headers cannot be read. The caller frees it.
 */
static char *elf_interpreter(const struct image *im)
{
    const Elf64_Ehdr *eh = &im->head.elf64;
    char name[256];

    if (im->len < sizeof *eh || eh->e_phentsize != sizeof(Elf64_Phdr))
        return NULL;
    for (unsigned i = 0; i < eh->e_phnum; i++) {
        Elf64_Phdr ph;
        size_t len;

        if (pread(im->fd, &ph, sizeof ph, (off_t)(eh->e_phoff + i * sizeof ph)) != sizeof ph)
            return NULL;
        if (ph.p_type != PT_INTERP)
            continue;
        len = ph.p_filesz < sizeof name ? ph.p_filesz : sizeof name;
        if (pread(im->fd, name, len, (off_t)ph.p_offset) != (ssize_t)len)
            return NULL;
        return xmemdup0(name, strnlen(name, len));
    }
    return xstrdup("");
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Why the loader would run this file in secure-execution mode, or NULL. */
static const char *secure_because(const struct image *im)
{
    struct statvfs fs;

    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return NULL;
    if (fstatvfs(im->fd, &fs) == 0 && (fs.f_flag & ST_NOSUID))
        return NULL;
    if ((im->st.st_mode & S_ISUID) && im->st.st_uid != getuid())
        return "set-user-id";
    /* Without group execute the bit means mandatory locking. */
    if ((im->st.st_mode & S_ISGID) && (im->st.st_mode & S_IXGRP) && im->st.st_gid != getgid())
        return "set-group-id";
    if (getuid() != 0 && fgetxattr(im->fd, "security.capability", NULL, 0) > 0)
        return "given file capabilities";
    return NULL;
}

/* One of gcc's sanitizer libraries among what the file needs (clang links them in). */
static bool needs_sanitizer(const struct image *im)
{
    static const char *const names[] = {"libasan.so", "libtsan.so", "libhwasan.so"};
    bool found = false;
    Elf_Scn *scn = NULL;
    Elf *elf;

    if (elf_version(EV_CURRENT) == EV_NONE || !(elf = elf_begin(im->fd, ELF_C_READ, NULL)))
        return false;
    while (!found && (scn = elf_nextscn(elf, scn))) {
        GElf_Shdr shdr;
        Elf_Data *data;
        GElf_Dyn dyn;

        if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_DYNAMIC ||
            !(data = elf_getdata(scn, NULL)))
            continue;
        for (int i = 0; gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
            const char *name = dyn.d_tag == DT_NEEDED
                                   ? elf_strptr(elf, shdr.sh_link, (size_t)dyn.d_un.d_val)
                                   : NULL;

            for (size_t k = 0; name && k < ARRAY_LEN(names); k++)
                found = found || strncmp(name, names[k], strlen(names[k])) == 0;
        }
    }
    elf_end(elf);
    return found;
}

static int check_elf(const char *path, const struct image *im, const char *shim)
{
    const char *secure;
    struct image lib;
    char *loader;
    int status = 0;

    if (image_open(&lib, shim) < 0)
        return target_check_shim(shim);
    close(lib.fd);
    if (!same_machine(im, &lib))
        return flame_error(FLAME_USAGE,
                           "%s: built for another processor or word size than %s; record it on its "
                           "own kind with a flame built for it",
                           path, base_name(shim));
    secure = secure_because(im);
    if (secure)
        return flame_error(FLAME_USAGE,
                           "%s: is %s, so the loader would ignore the recorder; record a copy "
                           "without the privilege",
                           path, secure);
    loader = elf_interpreter(im);
    if (!loader)
        status = flame_error(FLAME_USAGE, "%s: damaged ELF file; build or install it again", path);
    else if (!*loader && strncmp(base_name(path), "ld-linux", 8) != 0)
        status = flame_error(FLAME_USAGE,
                             "%s: is linked statically, nothing can be preloaded into it; link it "
                             "dynamically to record it",
                             path);
    else if (strncmp(base_name(loader), "ld-musl", 7) == 0)
        status = flame_error(FLAME_USAGE,
                             "%s: uses musl, this recorder is built for the GNU C library; build "
                             "the program against glibc to record it",
                             path);
    free(loader);
    if (!status && needs_sanitizer(im))
        status = flame_error(FLAME_USAGE,
                             "%s: is built with a sanitizer, which must be loaded first and has an "
                             "allocator of its own; record a build without it",
                             path);
    return status;
}

int target_check(const char *path, const char *shim)
{
    char *at = xstrdup(path);
    int status = 0;

    for (int depth = 0;; depth++) {
        struct image im;
        char *next;
        int err = image_open(&im, at);

        /* Executable but not readable: nothing can be known. */
        if (err == -EACCES)
            break;
        if (err) {
            status = flame_error(FLAME_USAGE, "%s: %s; check the name", at, strerror(-err));
            break;
        }
        if (is_elf(&im)) {
            status = check_elf(at, &im, shim);
            close(im.fd);
            break;
        }
        next = script_interpreter(&im);
        close(im.fd);
        /* execvp hands a file it does not know to the shell. */
        if (!next)
            next = xstrdup("/bin/sh");
        err = executable_errno(next);
        if (err || depth == SCRIPT_DEPTH) {
            status = flame_error(FLAME_USAGE, "%s: its interpreter '%s' cannot be run: %s", at,
                                 next, err ? strerror(err) : "too many scripts in a row");
            free(next);
            break;
        }
        free(at);
        at = next;
    }
    free(at);
    return status;
}

int target_check_shim(const char *shim)
{
    struct image im;
    int err = image_open(&im, shim);

    if (err)
        return flame_error(FLAME_USAGE,
                           "%s: the recorder's library cannot be read: %s; FLAME_MEM_SHIM may name "
                           "another",
                           shim, strerror(-err));
    close(im.fd);
    if (!is_elf(&im) || im.len < sizeof(Elf64_Ehdr) || im.head.elf64.e_type != ET_DYN)
        return flame_error(FLAME_USAGE,
                           "%s: is not a shared library; FLAME_MEM_SHIM may name the right one",
                           shim);
    return 0;
}
