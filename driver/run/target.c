/* target.c: messages for the verdicts of common/preloadable.h. */
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
#include "common/elfdyn.h"
#include "common/error.h"
#include "common/preloadable.h"
#include "common/strbuf.h"

static void not_runnable(const char *name, int err, struct strbuf *why)
{
    switch (err) {
    case ENOENT:
        strbuf_addf(why, "%s: no such program; check the name", name);
        break;
    case EISDIR:
        strbuf_addf(why, "%s: is a directory; name the program in it", name);
        break;
    case EACCES:
        strbuf_addf(why, "%s: not executable; 'chmod +x' may be what it lacks", name);
        break;
    default:
        strbuf_addf(why, "%s: %s; check the name", name, strerror(err));
    }
}

static int not_found(const char *command, int err)
{
    struct strbuf why = STRBUF_INIT;
    int status;

    not_runnable(command, err, &why);
    status = flame_error(FLAME_USAGE, "%s", why.buf);
    strbuf_release(&why);
    return status;
}

static int search_path(const char *command, char **path)
{
    char found[PATH_MAX];
    int err = preloadable_find(command, getenv("PATH"), found, sizeof found);

    if (err == ENOENT)
        return flame_error(FLAME_USAGE, "%s: no such program in PATH; check the name", command);
    if (err)
        return not_found(command, err);
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
        return not_found(command, err);
    *path = xstrdup(command);
    return 0;
}

/* Reads the machine that the library is for: 0, or FLAME_USAGE after a line. */
static int read_shim(const char *shim, struct preloadable_machine *machine)
{
    int fd = open(shim, O_RDONLY | O_CLOEXEC), err = errno;
    static const char *const gnu[] = {"libc.so.6"};
    static const char *const any[] = {"libc."};
    Elf64_Ehdr head = {0};
    struct elfdyn e;
    bool musl = false;
    ssize_t n;

    if (fd >= 0) {
        n = pread(fd, &head, sizeof head, 0);
        err = n < 0 ? errno : 0;
        musl = elfdyn_open(&e, fd) && elfdyn_needs(&e, any, ARRAY_LEN(any)) &&
               !elfdyn_needs(&e, gnu, ARRAY_LEN(gnu));
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
                                            .musl = musl,
                                            .processor = head.e_machine};
    return 0;
}

int target_check_shim(const char *shim)
{
    struct preloadable_machine machine;

    return read_shim(shim, &machine);
}

static bool is_of_32_bits(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    unsigned char ident[EI_NIDENT] = {0};
    bool is = fd >= 0 && pread(fd, ident, sizeof ident, 0) == (ssize_t)sizeof ident &&
              memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] == ELFCLASS32;

    if (fd >= 0)
        close(fd);
    return is;
}

static bool is_of_go(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct elfdyn e;
    bool is = fd >= 0 && elfdyn_open(&e, fd) && elfdyn_has_note(&e, "Go", 4);

    if (fd >= 0)
        close(fd);
    return is;
}

static void gains_privileges(const char *path, const char *how, struct strbuf *why)
{
    strbuf_addf(why,
                "%s: is %s, so the loader would ignore the recorder; record a copy without "
                "the privilege",
                path, how);
}

static void refuse(const char *path, const struct preloadable_answer *answer, const char *shim,
                   struct strbuf *why)
{
    const char *file = answer->interpreter[0] ? answer->interpreter : path;

    switch (answer->verdict) {
    case PRELOADABLE_NO_FILE:
        if (!answer->interpreter[0]) {
            not_runnable(path, answer->err, why);
            return;
        }
        strbuf_addf(why, "%s: its interpreter '%s' cannot be run: %s", path, answer->interpreter,
                    answer->err == ELOOP ? "too many scripts in a row" : strerror(answer->err));
        break;
    case PRELOADABLE_DAMAGED:
        strbuf_addf(why, "%s: damaged ELF file; build or install it again", file);
        break;
    case PRELOADABLE_STATIC:
        strbuf_addf(why, "%s: is linked statically, nothing can be preloaded into it; %s", file,
                    is_of_go(file)
                        ? "for its memory, 'flame collapse' reads heap profiles that Go writes "
                          "(runtime/pprof, /debug/pprof/heap)"
                        : "link it dynamically to record it");
        break;
    case PRELOADABLE_MACHINE:
        if (is_of_32_bits(file))
            strbuf_addf(why,
                        "%s: is a 32-bit program, of which flame records none; build it for "
                        "64 bits (without -m32) to record it",
                        file);
        else
            strbuf_addf(why,
                        "%s: built for another processor or word size than %s; record it on its "
                        "own kind with a flame built for it",
                        file, base_name(shim));
        break;
    case PRELOADABLE_MUSL:
        strbuf_addf(why,
                    "%s: uses musl, and beside %s there is no recorder for it, as flame "
                    "was built without musl-gcc; install musl-tools and build flame again, "
                    "or build the program against glibc",
                    file, base_name(shim));
        break;
    case PRELOADABLE_GNU:
        strbuf_addf(why, "%s: uses the GNU C library, and %s is for musl; unset FLAME_MEM_SHIM",
                    file, shim);
        break;
    case PRELOADABLE_SANITIZER:
        strbuf_addf(why,
                    "%s: is built with a sanitizer, which must be loaded first and has an "
                    "allocator of its own; record a build without it",
                    file);
        break;
    case PRELOADABLE_SETUID:
        gains_privileges(file, "set-user-id", why);
        break;
    case PRELOADABLE_SETGID:
        gains_privileges(file, "set-group-id", why);
        break;
    case PRELOADABLE_CAPABILITIES:
        gains_privileges(file, "given file capabilities", why);
        break;
    default: /* a file that may not be read passes */
        break;
    }
}

bool target_uses_musl(const char *path)
{
    struct preloadable_answer answer;

    preloadable_judge(path, &preloadable_here, &answer);
    return answer.verdict == PRELOADABLE_MUSL;
}

int target_check_traced(const char *path)
{
    struct preloadable_answer answer;
    const char *file;

    preloadable_judge(path, &preloadable_here, &answer);
    file = answer.interpreter[0] ? answer.interpreter : path;
    if (answer.verdict != PRELOADABLE_MACHINE || !is_of_32_bits(file))
        return 0;
    return flame_error(FLAME_USAGE, "%s: is a 32-bit program, whose system calls cannot be traced",
                       file);
}

static int judge(const char *path, const char *shim, struct preloadable_answer *answer)
{
    struct preloadable_machine machine;
    int status = read_shim(shim, &machine);

    if (status)
        return status;
    preloadable_judge(path, &machine, answer);
    /* execvp hands a file it does not know to the shell. */
    if (answer->verdict == PRELOADABLE_NO_FORMAT)
        preloadable_judge("/bin/sh", &machine, answer);
    return 0;
}

int target_refusal(const char *path, const char *shim, struct strbuf *why)
{
    struct preloadable_answer answer;
    int status = judge(path, shim, &answer);

    if (!status)
        refuse(path, &answer, shim, why);
    return status;
}

int target_check(const char *path, const char *shim)
{
    struct strbuf why = STRBUF_INIT;
    int status = target_refusal(path, shim, &why);

    if (!status && why.len)
        status = flame_error(FLAME_USAGE, "%s", why.buf);
    strbuf_release(&why);
    return status;
}

static enum target_memory memory_of(const struct preloadable_answer *answer)
{
    switch (answer->verdict) {
    case PRELOADABLE_STATIC:
        return TARGET_CHILDREN_MEMORY;
    case PRELOADABLE_MUSL:
        return TARGET_NO_MEMORY;
    default: /* a sanitizer that looks for leaks fails under a tracer */
        return TARGET_MEMORY;
    }
}

int target_check_waits(const char *path, const char *shim, enum target_memory *memory)
{
    struct strbuf why = STRBUF_INIT;
    struct preloadable_answer answer;
    int status = judge(path, shim, &answer);

    if (status)
        return status;
    *memory = memory_of(&answer);
    refuse(path, &answer, shim, &why);
    if (*memory != TARGET_MEMORY)
        flame_warn("%s; its waits are recorded%s", why.buf,
                   *memory == TARGET_CHILDREN_MEMORY ? ", and memory of programs that it starts"
                                                     : "");
    else if (why.len)
        status = flame_error(FLAME_USAGE, "%s", why.buf);
    strbuf_release(&why);
    return status;
}
