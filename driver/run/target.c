/*
 * target.c: common/preloadable.h's answers in words.
 */
#define _GNU_SOURCE
#include "driver/run/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/basename.h"
#include "common/error.h"
#include "common/preloadable.h"

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
    char found[PATH_MAX];
    int err = preloadable_find(command, getenv("PATH"), found, sizeof found);

    if (err == ENOENT)
        return flame_error(FLAME_USAGE, "%s: no such program in PATH; check the name", command);
    if (err)
        return not_runnable(command, err);
    *path = xstrdup(found);
    return 0;
}

int target_find(const char *command, char **path)
{
    int err;

    *path = NULL;
    if (!*command)
        return flame_error(FLAME_USAGE, "the command's name is empty; name a program");
    if (!strchr(command, '/'))
        return search_path(command, path);
    err = preloadable_executable(command);
    if (err)
        return not_runnable(command, err);
    *path = xstrdup(command);
    return 0;
}

/* 0 and what machine the library is for, or FLAME_USAGE after a line. */
static int read_shim(const char *shim, struct preloadable_machine *machine)
{
    int fd = open(shim, O_RDONLY | O_CLOEXEC), err = errno;
    Elf64_Ehdr head = {0};
    ssize_t n;

    if (fd >= 0) {
        n = pread(fd, &head, sizeof head, 0);
        err = n < 0 ? errno : 0;
        close(fd);
    }
    if (fd < 0 || err)
        return flame_error(FLAME_USAGE,
                           "%s: the recorder's library cannot be read: %s; FLAME_MEM_SHIM may name "
                           "another",
                           shim, strerror(err));
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_type != ET_DYN)
        return flame_error(FLAME_USAGE,
                           "%s: is not a shared library; FLAME_MEM_SHIM may name the right one",
                           shim);
    *machine = (struct preloadable_machine){.word = head.e_ident[EI_CLASS],
                                            .order = head.e_ident[EI_DATA],
                                            .processor = head.e_machine};
    return 0;
}

int target_check_shim(const char *shim)
{
    struct preloadable_machine machine;

    return read_shim(shim, &machine);
}

static int gains_privileges(const char *path, const char *how)
{
    return flame_error(FLAME_USAGE,
                       "%s: is %s, so the loader would ignore the recorder; record a copy without "
                       "the privilege",
                       path, how);
}

static int refuse(const char *path, const struct preloadable_answer *answer, const char *shim)
{
    const char *file = answer->interpreter[0] ? answer->interpreter : path;

    switch (answer->verdict) {
    case PRELOADABLE_NO_FILE:
        if (!answer->interpreter[0])
            return not_runnable(path, answer->err);
        return flame_error(
            FLAME_USAGE, "%s: its interpreter '%s' cannot be run: %s", path, answer->interpreter,
            answer->err == ELOOP ? "too many scripts in a row" : strerror(answer->err));
    case PRELOADABLE_DAMAGED:
        return flame_error(FLAME_USAGE, "%s: damaged ELF file; build or install it again", file);
    case PRELOADABLE_STATIC:
        return flame_error(FLAME_USAGE,
                           "%s: is linked statically, nothing can be preloaded into it; link it "
                           "dynamically to record it",
                           file);
    case PRELOADABLE_MACHINE:
        return flame_error(FLAME_USAGE,
                           "%s: built for another processor or word size than %s; record it on its "
                           "own kind with a flame built for it",
                           file, base_name(shim));
    case PRELOADABLE_MUSL:
        return flame_error(FLAME_USAGE,
                           "%s: uses musl, this recorder is built for the GNU C library; build "
                           "the program against glibc to record it",
                           file);
    case PRELOADABLE_SANITIZER:
        return flame_error(FLAME_USAGE,
                           "%s: is built with a sanitizer, which must be loaded first and has an "
                           "allocator of its own; record a build without it",
                           file);
    case PRELOADABLE_SETUID:
        return gains_privileges(file, "set-user-id");
    case PRELOADABLE_SETGID:
        return gains_privileges(file, "set-group-id");
    case PRELOADABLE_CAPABILITIES:
        return gains_privileges(file, "given file capabilities");
    default: /* what may not be read passes */
        return 0;
    }
}

int target_check(const char *path, const char *shim)
{
    struct preloadable_machine machine;
    struct preloadable_answer answer;
    int status = read_shim(shim, &machine);

    if (status)
        return status;
    preloadable_judge(path, &machine, &answer);
    /* execvp hands a file it does not know to the shell. */
    if (answer.verdict == PRELOADABLE_NO_FORMAT)
        preloadable_judge("/bin/sh", &machine, &answer);
    return refuse(path, &answer, shim);
}
