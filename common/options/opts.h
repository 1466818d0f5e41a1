/*
 * opts.h: the options of a command as a table, from which the parser, the help text, the
 * shells' completions and the check of the manual pages are made.
 *
 * A command describes itself once, in a struct opts_command: usage, tables of rows, what follows
 * the options. A row describes one option completely: its name and letter, the placeholder of its
 * value, its help, which function takes the value (values.h has the common ones) and where in the
 * command's own struct the value goes. Adding an option is adding a row.
 *
 * All strings and tables are the caller's and must outlive the call; a value is a piece of argv and
 * is borrowed. Not thread-safe, because getopt_long has its state in globals.
 */
#ifndef FLAME_COMMON_OPTIONS_OPTS_H
#define FLAME_COMMON_OPTIONS_OPTS_H

#include <stdbool.h>

#include "common/strbuf.h"

/* One option as the command line has it. */
struct opts_given {
    const char *command; /* "render" */
    const char *name;    /* as messages name it: "--width", or "-o" */
    const char *value;   /* NULL: no value */
};

struct opts_row;

/*
 * Takes an option: `at` is the row's place in the command's struct. 0, or FLAME_USAGE after
 * a line on standard error that begins with the command's name.
 */
typedef int opts_take(void *at, const struct opts_row *row, const struct opts_given *given);

struct opts_row {
    const char *name; /* "output"; NULL with a help text: a line between rows of the help */
    char letter;      /* 'o'; 0: none */
    const char *arg;  /* "FILE"; "[FILE]": the value is optional; NULL: it has none */
    const char
        *help; /* one line or more: lines are broken where they are too long, and at each '\n' */
    opts_take *take;
    size_t at;          /* offset in the command's struct (of its table's part) */
    double least, most; /* of numbers */
    const char *words;  /* what the value may be, blank-separated; NULL: anything */
    void (*add_words)(struct strbuf *sb); /* appends those words, where a table has them */
    void (*add_help)(struct strbuf *sb);  /* appends a line on each word behind `help` */
    int which;                            /* for the row's own function */
    bool hidden;                          /* another name of a row above: not in the help */
};

/* Rows, and where in the command's struct the part lies that they are about. */
struct opts_table {
    const struct opts_row *rows; /* the last one is all zero */
    size_t at;
};

enum opts_operands {
    OPTS_FILES,   /* files or '-', anywhere between the options */
    OPTS_COMMAND, /* a command and its own options: the first word that is none ends ours */
};

#define OPTS_TABLES 8

struct opts_command {
    const char *name;    /* "render" */
    const char *summary; /* of one line, for the list of commands */
    const char *usage;   /* what follows "flame render "; several forms: a line each */
    const char *about;   /* a paragraph, with its line breaks */
    struct opts_table tables[OPTS_TABLES];
    enum opts_operands operands;
    const char *no_attach; /* of a command without -p: what attaches to a process; NULL: nothing */
    void (*add_help)(struct strbuf *sb); /* appends what comes last in the help, or NULL */
};

/*
 * Reads argv (argv[0] is the command's name) into `target`, the command's struct. -1: continue, and
 * *operands is the index of the first word that is no option; else the exit status, with --help or
 * --version answered on standard output, or one line on standard error.
 */
int opts_parse(const struct opts_command *c, void *target, int argc, char **argv, int *operands);

/* Appends the help of a command. */
void opts_add_help(const struct opts_command *c, struct strbuf *sb);

/* Calls `each` with every row that has a name, those of --help and --version last. */
void opts_each(const struct opts_command *c,
               void (*each)(void *arg, const struct opts_row *row, size_t at), void *arg);

/* Appends the words that a row's value may be, blank-separated; nothing if any value is allowed. */
void opts_add_words(const struct opts_row *row, struct strbuf *sb);

/*
 * Distance of two words: the number of letters to change, add, drop or swap with their neighbour.
 * At most `most` + 1 is returned.
 */
unsigned opts_distance(const char *a, const char *b, unsigned most);

/* Distance within which a word is a likely correction of `word`. */
unsigned opts_near(const char *word);

#endif
