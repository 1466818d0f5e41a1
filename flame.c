/*
 * flame.c: the command table, nothing else. Each command lives in the folder
 * of its stage as NAME_main.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/fsize.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"mem", mem_main, "run a command, record its memory, draw it"},
    {"leak", leak_main, "run a command, fail when memory is live at its end"},
    {"off", off_main, "trace where threads wait, and for whom, and draw it"},
    {"fold", fold_main, "turn traces into folded stacks"},
    {"collapse", collapse_main, "turn other profilers' text into folded stacks"},
    {"diff", diff_main, "compare two profiles"},
    {"render", render_main, "draw folded stacks or a trace as a flame graph"},
    {"top", top_main, "list symbols with what they and their callees took"},
    {NULL, NULL, NULL},
};

static void usage(FILE *to)
{
    fputs("usage: flame COMMAND [OPTION...] [ARG...]\n\n", to);
    for (size_t i = 0; commands[i].name; i++)
        fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fputs(
        "\n'flame COMMAND --help' tells more, as do the man pages flame(1) and flame-COMMAND(1).\n",
        to);
}

static int run(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)) {
        usage(stdout);
        return FLAME_OK;
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts("flame " FLAME_VERSION);
        return FLAME_OK;
    }
    if (argc < 2) {
        usage(stderr);
        return FLAME_USAGE;
    }
    for (size_t i = 0; commands[i].name; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return flame_error(FLAME_USAGE, "unknown command '%s'; 'flame help' lists them", argv[1]);
}

/* Help that nobody could read has not been given. */
static int check_output(int status)
{
    int err = fflush(stdout) == 0 ? 0 : errno;

    if (status != FLAME_OK || !ferror(stdout))
        return status;
    return flame_error(FLAME_FAILED, "standard output: cannot write%s%s", err ? ": " : " all of it",
                       err ? strerror(err) : "");
}

int main(int argc, char **argv)
{
    fsize_ignore_signal();
    return check_output(run(argc, argv));
}
