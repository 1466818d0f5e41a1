#include "common/options/opts.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/commands.h"
#include "common/error.h"
#include "common/preloadable.h"

#define FIRST_ROW 256 /* getopt_long's values below are letters */

static const struct opts_row common_rows[] = {
    {"help", 'h', NULL, "this text", .which = 'h'},
    {"version", 0, NULL, "the version of flame", .which = 'v'},
    {0},
};

void opts_each(const struct opts_command *c,
               void (*each)(void *arg, const struct opts_row *row, size_t at), void *arg)
{
    for (size_t i = 0; i < OPTS_TABLES && c->tables[i].rows; i++)
        for (const struct opts_row *r = c->tables[i].rows; r->name || r->help; r++)
            if (r->name)
                each(arg, r, c->tables[i].at + r->at);
    for (const struct opts_row *r = common_rows; r->name; r++)
        each(arg, r, 0);
}

void opts_add_words(const struct opts_row *row, struct strbuf *sb)
{
    if (row->words)
        strbuf_addstr(sb, row->words);
    else if (row->add_words)
        row->add_words(sb);
}

/* Arguments for getopt_long, and the row that each of its answers means. */
struct asked {
    struct option *longs;
    struct strbuf letters;
    const struct opts_row **rows;
    size_t *at;
    size_t n;
};

static int has_value(const struct opts_row *row)
{
    return !row->arg ? no_argument : row->arg[0] == '[' ? optional_argument : required_argument;
}

static void ask_row(void *arg, const struct opts_row *row, size_t at)
{
    struct asked *a = arg;

    a->longs = xreallocarray(a->longs, a->n + 2, sizeof *a->longs);
    a->rows = xreallocarray(a->rows, a->n + 1, sizeof *a->rows);
    a->at = xreallocarray(a->at, a->n + 1, sizeof *a->at);
    a->longs[a->n] = (struct option){row->name, has_value(row), NULL, FIRST_ROW + (int)a->n};
    a->longs[a->n + 1] = (struct option){NULL, 0, NULL, 0};
    a->rows[a->n] = row;
    a->at[a->n++] = at;
    if (row->letter) {
        strbuf_addch(&a->letters, row->letter);
        strbuf_addstr(&a->letters, &"::"[2 - has_value(row)]);
    }
}

static void asked_release(struct asked *a)
{
    free(a->longs);
    free(a->rows);
    free(a->at);
    strbuf_release(&a->letters);
}

static size_t find_row(const struct asked *a, int opt)
{
    if (opt >= FIRST_ROW)
        return (size_t)(opt - FIRST_ROW);
    for (size_t i = 0; i < a->n; i++)
        if (a->rows[i]->letter == opt)
            return i;
    return a->n;
}

/* The long option that a wrong one was probably meant to be, or NULL. */
static const char *meant(const struct asked *a, const char *word)
{
    unsigned least = opts_near(word) + 1, unlike;
    const char *best = NULL;

    for (size_t i = 0; i < a->n; i++) {
        unlike = opts_distance(word, a->longs[i].name, least);
        if (unlike < least) {
            least = unlike;
            best = a->longs[i].name;
        }
    }
    return best;
}

static int unknown_option(const struct opts_command *c, const struct asked *a, const char *word)
{
    char *name = xmemdup0(word + 2, strcspn(word + 2, "="));
    const char *other = meant(a, name);
    size_t len = strlen(name), short_for = 0;

    for (size_t i = 0; i < a->n; i++)
        short_for += len && strncmp(a->longs[i].name, name, len) == 0;
    if (short_for > 1)
        flame_error(FLAME_USAGE,
                    "%s: --%.200s: is short for %zu options; 'flame %s --help' lists "
                    "them",
                    c->name, name, short_for, c->name);
    else if (other)
        flame_error(FLAME_USAGE,
                    "%s: --%.200s: unknown option; did you mean --%s? 'flame %s --help' lists the "
                    "options",
                    c->name, name, other, c->name);
    else
        flame_error(FLAME_USAGE,
                    "%s: --%.200s: unknown option; 'flame %s --help' lists the options", c->name,
                    name, c->name);
    free(name);
    return FLAME_USAGE;
}

static bool is_attach(const char *word)
{
    return strcmp(word, "--attach") == 0 || strncmp(word, "--attach=", 9) == 0;
}

/* "--pid=4711" */
static bool is_pid(const char *word)
{
    return strncmp(word, "--pid=", 6) == 0 && isdigit((unsigned char)word[6]);
}

/* Error line for another command's attach option, and for "--pid=N", which does not attach. */
static int wrong_attach(const struct opts_command *c, const struct asked *a, const char *word)
{
    bool attaches = find_row(a, 'p') < a->n;

    if (!is_pid(word))
        return flame_error(FLAME_USAGE, "%s: %.*s: there is no such option here: %s", c->name,
                           (int)strcspn(word, "="), word, c->no_attach);
    return flame_error(FLAME_USAGE, "%s: %s: --pid puts process ids into names; %s%s", c->name,
                       word, attaches ? "to attach say -p " : c->no_attach,
                       attaches ? word + sizeof "--pid=" - 1 : "");
}

/*
 * Error for getopt_long's '?' and ':': one line that names the option. getopt names a letter in
 * optopt; a long option is only in the word before optind.
 */
static int wrong_option(const struct opts_command *c, const struct asked *a, char **argv, int opt)
{
    const char *last = argv[optind - 1], *what = "needs a value";
    char letter[3] = {'-', (char)optopt, '\0'};
    bool is_long = strncmp(last, "--", 2) == 0 && last[2];

    if (opt == '?' && c->no_attach && (is_long ? is_attach(last) : optopt == 'p'))
        return wrong_attach(c, a, is_long ? last : letter);
    if (opt == '?' && is_long && is_pid(last) && (c->no_attach || find_row(a, 'p') < a->n))
        return wrong_attach(c, a, last);
    if (opt == '?' && !is_long)
        what = "unknown option";
    else if (opt == '?' && optopt)
        what = "takes no value";
    else if (opt == '?')
        return unknown_option(c, a, last);
    return flame_error(FLAME_USAGE, "%s: %.*s: %s; 'flame %s --help' lists the options", c->name,
                       is_long ? (int)strcspn(last, "=") : 2, is_long ? last : letter, what,
                       c->name);
}

static int answer(const struct opts_command *c, int which)
{
    struct strbuf sb = STRBUF_INIT;

    if (which == 'v')
        strbuf_addstr(&sb, "flame " FLAME_VERSION "\n");
    else
        opts_add_help(c, &sb);
    fwrite(sb.buf, 1, sb.len, stdout);
    strbuf_release(&sb);
    return FLAME_OK;
}

/* Applies row `i`. -1: parsing continues; else the exit status. */
static int take(const struct opts_command *c, const struct asked *a, void *target, size_t i,
                bool by_letter)
{
    const struct opts_row *row = a->rows[i];
    struct strbuf name = STRBUF_INIT;
    struct opts_given given = {c->name, NULL, optarg};
    int status;

    if (!row->take)
        return answer(c, row->which);
    if (by_letter)
        strbuf_addf(&name, "-%c", row->letter);
    else
        strbuf_addf(&name, "--%s", row->name);
    given.name = name.buf;
    status = row->take((char *)target + a->at[i], row, &given);
    strbuf_release(&name);
    return status ? status : -1;
}

/*
 * Error line for a value that is written apart from an option whose value is optional: "--moments
 * 10ms". The next word is then the command; if there is no program of that name, it was meant to be
 * the value. -1: this is not the case.
 */
static int value_apart(const struct opts_command *c, const struct opts_row *last, int argc,
                       char **argv)
{
    const char *word = argv[optind], *option = argv[optind - 1];
    char found[4096];

    if (c->operands != OPTS_COMMAND || !last || !last->arg || *last->arg != '[' || optind >= argc ||
        strncmp(option, "--", 2) != 0 || !option[2] || strchr(option, '=') || !*word ||
        strchr(word, '/') || preloadable_find(word, getenv("PATH"), found, sizeof found) != ENOENT)
        return -1;
    return flame_error(FLAME_USAGE,
                       "%s: %s: no such program in PATH; if it is the value of --%s, write "
                       "--%s=%s",
                       c->name, word, last->name, last->name, word);
}

int opts_parse(const struct opts_command *c, void *target, int argc, char **argv, int *operands)
{
    struct asked a = {.letters = STRBUF_INIT};
    const struct opts_row *last = NULL;
    int opt, status = -1;
    size_t i;

    strbuf_addstr(&a.letters, c->operands == OPTS_COMMAND ? "+:" : ":");
    opts_each(c, ask_row, &a);
    opterr = 0;
    optind = 0; /* not 1: 0 makes getopt forget its place in another argv */
    while (status < 0 && (opt = getopt_long(argc, argv, a.letters.buf, a.longs, NULL)) != -1) {
        i = find_row(&a, opt);
        if (opt == '?' || opt == ':' || i == a.n)
            status = wrong_option(c, &a, argv, opt);
        else
            status = take(c, &a, target, i, opt < FIRST_ROW);
        last = i < a.n ? a.rows[i] : NULL;
    }
    if (status < 0)
        status = value_apart(c, last, argc, argv);
    *operands = optind;
    asked_release(&a);
    return status;
}

unsigned opts_near(const char *word)
{
    size_t len = strlen(word);

    return len < 3 ? 0 : len < 6 ? 1 : 2;
}

/*
 * Rows of the usual table of edit distances, with a swap of neighbours as one step (the
 * "optimal string alignment" form). Words longer than a row are as unlike as can be.
 */
unsigned opts_distance(const char *a, const char *b, unsigned most)
{
    unsigned row[3][32];
    size_t la = strlen(a), lb = strlen(b);

    if (la >= ARRAY_LEN(row[0]) || lb >= ARRAY_LEN(row[0]))
        return most + 1;
    for (size_t j = 0; j <= lb; j++)
        row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= la; i++) {
        unsigned *now = row[i % 3], *last = row[(i - 1) % 3], *before = row[(i + 1) % 3];

        now[0] = (unsigned)i;
        for (size_t j = 1; j <= lb; j++) {
            unsigned same = a[i - 1] != b[j - 1], least = last[j - 1] + same;

            if (last[j] + 1 < least)
                least = last[j] + 1;
            if (now[j - 1] + 1 < least)
                least = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < least)
                least = before[j - 2] + 1;
            now[j] = least;
        }
    }
    return row[la % 3][lb] <= most ? row[la % 3][lb] : most + 1;
}
