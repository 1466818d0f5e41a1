#define _GNU_SOURCE
#include "driver/doctor/programlook.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/basename.h"
#include "common/error.h"
#include "common/preloadable.h"
#include "common/strbuf.h"
#include "driver/doctor/settings.h"
#include "driver/doctor/verdicts.h"
#include "driver/run/launch.h"
#include "driver/run/runtimes.h"
#include "driver/run/target.h"
#include "driver/run/unhooked_memory.h"
#include "fold/symbols/debpackage.h"
#include "fold/symbols/debugfile.h"
#include "fold/symbols/debugkind.h"
#include "fold/symbols/inlined_frames.h"
#include "fold/symbols/elfsym.h"

/* ---- names ---- */

/* The debug file of `e` by build-id, by link or from servers; NULL: not found. */
static struct elfsym *debug_file(const struct elfsym *e)
{
    struct elfsym *found = NULL;
    struct debug_dirs dirs;
    const uint8_t *id;
    size_t n;

    debug_dirs_init(&dirs, NULL, 0);
    id = elfsym_build_id(e, &n);
    if (id)
        found = debugfile_by_build_id(&dirs, id, n);
    if (!found)
        found = debugfile_by_link(&dirs, e);
    if (!found && id)
        found = debugfile_from_servers(id, n, elfsym_path(e));
    debug_dirs_release(&dirs);
    return found;
}

/* libdwarf may know zstd, or not. */
static bool is_unread(const struct elfsym *e)
{
    struct dwarfline *d = dwarfline_open(elfsym_path(e), NULL);
    bool unread = !d || !dwarfline_has_units(d);

    dwarfline_close(d);
    return unread;
}

static const char no_lines[] = "no source lines and no inlined functions";

/* The command is `what`, a space and `path`. */
static void print_cost(const char *cost, const char *what, const char *path)
{
    struct strbuf command = STRBUF_INIT;

    strbuf_addf(&command, "%s %s", what, path);
    verdict_cost(cost, command.buf);
    strbuf_release(&command);
}

/* Prints whether lines can be read, for a file with debug information. */
static void print_lines(const char *subject, const char *path, const struct elfsym *e)
{
    enum debugkind kind = debugkind_of(e);

    if (kind == DEBUGKIND_ZSTD && is_unread(e)) {
        verdict_print(VERDICT_PART, subject,
                      "%s has names, and lines that are compressed by zstd, which libdwarf here "
                      "cannot read",
                      path);
        print_cost(no_lines, "objcopy --decompress-debug-sections", path);
    } else if (kind == DEBUGKIND_SPLIT) {
        verdict_print(VERDICT_PART, subject,
                      "%s has names and lines; inlined functions are in .dwo files, which are not "
                      "read",
                      path);
        verdict_cost("no inlined functions", "build it without -gsplit-dwarf");
    } else {
        verdict_print(VERDICT_YES, subject, "%s has names, lines and inlined functions", path);
    }
}

/* Appends the command that brings the symbols of the file at `path`. */
static void add_remedy(struct strbuf *command, const char *path, const struct elfsym *e)
{
    struct strbuf package = STRBUF_INIT;
    size_t n;

    if (debpackage_of_symbols(DEBPACKAGE_LISTS, path, &package))
        debpackage_add_command(DEBPACKAGE_RELEASE, package.buf, command);
    else
        strbuf_addstr(command, "build it with -g, and do not strip it");
    if (elfsym_build_id(e, &n) && !secure_getenv("DEBUGINFOD_URLS"))
        strbuf_addstr(command, ", or export DEBUGINFOD_URLS=" SETTINGS_DEBUG_SERVER);
    strbuf_release(&package);
}

/* Prints that the file lacks symbols, which neither a debug file nor a server has. */
static void print_few(const char *subject, const char *path, const struct elfsym *e,
                      const char *what, const char *cost)
{
    struct strbuf command = STRBUF_INIT;
    size_t n;

    verdict_print(VERDICT_PART, subject, "%s %s%s", path, what,
                  elfsym_build_id(e, &n) && secure_getenv("DEBUGINFOD_URLS")
                      ? " (the servers of DEBUGINFOD_URLS have nothing)"
                      : "");
    add_remedy(&command, path, e);
    verdict_cost(cost, command.buf);
    strbuf_release(&command);
}

void program_examine_names(const char *subject, const char *path)
{
    static const char lines[] = ".debug_info", names[] = ".symtab", few[] = ".gnu_debugdata";
    struct elfsym *e = elfsym_open(path), *debug;

    if (!e)
        return;
    debug = elfsym_has_section(e, lines) ? NULL : debug_file(e);
    if (elfsym_has_section(e, lines))
        print_lines(subject, path, e);
    else if (debug)
        verdict_print(VERDICT_YES, subject, "%s has names and lines in %s", path,
                      elfsym_path(debug));
    else if (elfsym_has_section(e, names) || elfsym_has_section(e, few))
        print_few(subject, path, e, "has names of functions, no lines", no_lines);
    else
        print_few(subject, path, e, "is stripped: only what it exports has a name",
                  "other functions show as module and offset");
    if (debug)
        elfsym_close(debug);
    elfsym_close(e);
}

void program_examine_libc(void)
{
    Dl_info info;
    void *at = dlsym(RTLD_DEFAULT, "malloc");

    if (at && dladdr(at, &info) && info.dli_fname)
        program_examine_names("names of libc", info.dli_fname);
}

/* ---- languages ---- */

static void examine_language(const char *path)
{
    const char *advice = runtimes_advice(path);

    if (!advice)
        return;
    verdict_print(VERDICT_PART, "language", "%s", advice);
    verdict_cost("frames without them are the runtime's, or addresses",
                 strstr(advice, "--jit-names") ? "flame mem --jit-names -- COMMAND, and the same "
                                                 "with run and off"
                                               : NULL);
}

/* ---- the program as a whole ---- */

static void examine_allocator(const char *path)
{
    const char *own = unhooked_memory_allocator(path), *call = unhooked_memory_call(path);

    if (own) {
        verdict_print(VERDICT_PART, "allocator", "%s is inside of the program", own);
        verdict_cost("what it hands out is seen as mappings only",
                     "flame mem --view mmap -- COMMAND");
    } else if (call) {
        verdict_print(VERDICT_PART, "allocator", "calls of %s are not seen, as those of malloc are",
                      call);
        verdict_cost("what it hands out is seen as mappings only",
                     "flame mem --view mmap -- COMMAND");
    } else {
        verdict_print(VERDICT_YES, "allocator", "malloc is the C library's, or a preloaded one");
    }
}

/* The interpreter in PATH of a script that begins with `#!/usr/bin/env python3`, or NULL. */
static char *by_env(const char *script)
{
    char found[PATH_MAX], line[PRELOADABLE_HEAD], *word, *end = NULL;
    FILE *f = fopen(script, "r");
    bool read = f && fgets(line, sizeof line, f);

    if (f)
        fclose(f);
    if (!read || !strtok_r(line, " \t\n", &end))
        return NULL;
    word = strtok_r(NULL, " \t\n", &end);
    if (word && strcmp(word, "-S") == 0)
        word = strtok_r(NULL, " \t\n", &end);
    if (!word || strchr(word, '/') || preloadable_find(word, getenv("PATH"), found, sizeof found))
        return NULL;
    return realpath(found, NULL);
}

/* The file that the process executes in the end: a script's interpreter, or the file itself. */
static void find_binary(const char *path, struct strbuf *binary)
{
    struct preloadable_answer answer;
    char *named = NULL;

    preloadable_judge(path, &preloadable_here, &answer);
    if (strcmp(base_name(answer.interpreter), "env") == 0)
        named = by_env(path);
    strbuf_addstr(binary, named ? named : answer.interpreter[0] ? answer.interpreter : path);
    free(named);
}

static int examine(const char *path, const char *shim)
{
    struct strbuf why = STRBUF_INIT, binary = STRBUF_INIT;
    int status = target_refusal(path, shim, &why);

    if (!status && why.len) {
        verdict_print(VERDICT_NO, "memory", "%s", why.buf);
        verdict_cost("no flame mem, leak and run; waits can be recorded", "flame off -- COMMAND");
        status = FLAME_FAILED;
    } else if (!status) {
        verdict_print(VERDICT_YES, "memory", "%s can be recorded", path);
    }
    if (status != FLAME_USAGE) {
        find_binary(path, &binary);
        if (!status)
            examine_allocator(binary.buf);
        program_examine_names("names", binary.buf);
        examine_language(binary.buf);
    }
    strbuf_release(&why);
    strbuf_release(&binary);
    return status;
}

int program_examine(const char *command)
{
    char *path = NULL, *shim = NULL, *real;
    int status = target_find(command, &path);

    if (!status)
        status = launch_find_shim(&shim);
    if (!status) {
        launch_choose_shim(path, &shim);
        real = realpath(path, NULL);
        status = examine(real ? real : path, shim);
        free(real);
    }
    free(path);
    free(shim);
    return status;
}
