#include "driver/run/runopts.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/basename.h"
#include "common/error.h"
#include "common/outfile.h"
#include "render/backend.h"

static bool ends_with(const char *s, const char *ending)
{
    size_t len = strlen(s), n = strlen(ending);

    return len > n && strcmp(s + len - n, ending) == 0;
}

/* NAME-mem.svg for a command called NAME, without what would be awkward in a file name. */
static void default_output(struct run_options *o)
{
    struct strbuf name = STRBUF_INIT;

    strbuf_addstr(&name, base_name(o->subject));
    for (size_t i = 0; i < name.len; i++)
        if (iscntrl((unsigned char)name.buf[i]) || (i == 0 && name.buf[i] == '-'))
            name.buf[i] = '_';
    strbuf_addf(&name, "-%s.svg", o->me);
    o->owned_output = strbuf_detach(&name, NULL);
    o->output = o->owned_output;
}

static int wrong_ending(const struct run_options *o)
{
    struct strbuf endings = STRBUF_INIT;

    backend_add_endings(&endings);
    flame_error(FLAME_USAGE,
                "%s: -o %s: its ending does not say what to write; end it in .flame, %s", o->me,
                o->output, endings.buf);
    strbuf_release(&endings);
    return FLAME_USAGE;
}

static bool is_directory(const char *path)
{
    struct stat st;

    return ends_with(path, "/") || strcmp(path, "/") == 0 ||
           (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* What the ending says, and whether the file can be made. */
static int check_output(struct run_options *o)
{
    struct outfile probe;
    struct stat st;
    int err;

    if (o->directories && is_directory(o->output)) {
        o->kind = RUN_OUTPUT_DIRECTORY;
        return 0;
    }
    if (ends_with(o->output, ".folded"))
        o->kind = RUN_OUTPUT_FOLDED;
    else if (ends_with(o->output, ".flame"))
        o->kind = RUN_OUTPUT_TRACE;
    else if (backend_for_file(o->output))
        o->kind = RUN_OUTPUT_PICTURE;
    else
        return wrong_ending(o);
    if (stat(o->output, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return flame_cannot_write(o->output, -EISDIR);
        /* Opening a pipe would wait for its reader. */
        if (!S_ISREG(st.st_mode))
            return 0;
    }
    err = outfile_open(&probe, o->output);
    if (err)
        return flame_cannot_write(o->output, err);
    outfile_abort(&probe);
    return 0;
}

int run_options_parse(const struct opts_command *c, struct run_options *o, int argc, char **argv)
{
    int first, status = opts_parse(c, o, argc, argv, &first);

    if (status >= 0 || o->only_shim)
        return status;
    o->command = argv + first;
    if (first >= argc)
        return flame_error(FLAME_USAGE, "%s: no command to run; 'flame %s --help' tells more",
                           o->me, o->me);
    o->subject = o->command[0];
    return run_options_finish(o);
}

int run_options_finish(struct run_options *o)
{
    int status;

    if (!o->output)
        default_output(o);
    status = check_output(o);
    return status ? status : -1;
}

void run_options_release(struct run_options *o)
{
    free(o->owned_output);
    o->owned_output = NULL;
    opts_list_release(&o->hide.suppressions);
}
