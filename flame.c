/*
 * flame.c: the command table, nothing else. Each command lives in the folder
 * of its stage as NAME_main.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/signals/sigxfsz.h"
#include "common/options/complete.h"

static const struct {
    const struct opts_command *command;
    int (*run)(int argc, char **argv);
} commands[] = {
    {&run_command, run_main},       {&mem_command, mem_main},           {&off_command, off_main},
    {&leak_command, leak_main},     {&watch_command, watch_main},       {&pack_command, pack_main},
    {&fold_command, fold_main},     {&collapse_command, collapse_main}, {&diff_command, diff_main},
    {&render_command, render_main}, {&top_command, top_main},           {&path_command, path_main},
    {&dump_command, dump_main},     {&view_command, view_main},         {&live_command, live_main},
    {&doctor_command, doctor_main},
};

/* Help has at most 24 lines of 80 columns. The ratios are those of bench/README.md. */
static const char first_steps[] =
    "Where a program's memory goes, and what its threads wait for:\n"
    "  $ flame run -o app.html -- ./app   both of it, in one page\n"
    "  $ flame live -p PID                a running process, as it goes\n";
static const char costs[] =
    "Cost, times a plain run: mem 1.24, with --sample 512k 1.03; leak 1.32; off 1.06\n"
    "to 1.23, with -p 3 and more, with -p --no-stops about 1 (bench/README.md)\n";

static void usage(FILE *to)
{
    fputs("usage: flame COMMAND [OPTION...] [ARG...]\n", to);
    fputs(first_steps, to);
    putc('\n', to);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        fprintf(to, "  %-9s %s\n", commands[i].command->name, commands[i].command->summary);
    fputs(costs, to);
    fputs("More: flame help COMMAND, flame(1), flame --version, flame --complete SHELL\n", to);
}

/* Words, besides commands, that may come first. */
static const char *const others[] = {"help", "--help", "--version", "--complete"};

static int unknown_command(const char *word)
{
    unsigned least = opts_near(word) + 1;
    const char *meant = NULL;

    for (size_t i = 0; i < ARRAY_LEN(commands) + ARRAY_LEN(others); i++) {
        const char *name =
            i < ARRAY_LEN(commands) ? commands[i].command->name : others[i - ARRAY_LEN(commands)];
        unsigned unlike = opts_distance(word, name, least);

        if (unlike < least) {
            least = unlike;
            meant = name;
        }
    }
    if (meant)
        return flame_error(FLAME_USAGE,
                           "unknown command '%s'; did you mean %s? 'flame help' lists them", word,
                           meant);
    return flame_error(FLAME_USAGE, "unknown command '%s'; 'flame help' lists them", word);
}

static bool is_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* Whether its help is flame's own, the list of commands. */
static bool is_own(const char *word)
{
    return is_help(word) || strcmp(word, "--version") == 0 || strcmp(word, "--complete") == 0;
}

/* "flame help COMMAND" is "flame COMMAND --help". */
static int help_on(char *word)
{
    char *argv[] = {word, (char[]){"--help"}, NULL};

    if (is_own(word)) {
        usage(stdout);
        return FLAME_OK;
    }
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (strcmp(word, commands[i].command->name) == 0)
            return commands[i].run(2, argv);
    return unknown_command(word);
}

static int complete(const char *shell)
{
    const struct opts_command *all[ARRAY_LEN(commands)];

    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        all[i] = commands[i].command;
    return complete_write(shell, all, ARRAY_LEN(all), stdout);
}

static int run(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";

    if (argc < 2) {
        usage(stderr);
        return FLAME_USAGE;
    }
    if (is_help(word) && argc > 3)
        return flame_error(FLAME_USAGE, "help: takes one command; got %d", argc - 2);
    if (is_help(word))
        return help_on(argc > 2 ? argv[2] : argv[1]);
    if (strcmp(word, "--version") == 0) {
        puts("flame " FLAME_VERSION);
        return FLAME_OK;
    }
    if (strcmp(word, "--complete") == 0)
        return complete(argc > 2 ? argv[2] : "");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (strcmp(word, commands[i].command->name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return unknown_command(word);
}

/* Fails if the output was not written completely: then the user has not seen the help. */
static int check_output(int status)
{
    int err = fflush(stdout) == 0 ? 0 : errno;

    if (status != FLAME_OK || !ferror(stdout))
        return status;
    return err ? flame_cannot_write(NULL, -err)
               : flame_error(FLAME_FAILED, "standard output: cannot write all of it");
}

int main(int argc, char **argv)
{
    int status = flame_debug_check();

    sigxfsz_ignore();
    return check_output(status ? status : run(argc, argv));
}
