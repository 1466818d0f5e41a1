/*
 * complete.c: completion scripts for three shells.
 *
 * All three complete the commands, the options of each, the values of an option (words, or else a
 * file or a directory by its placeholder), and the user's own command behind mem, leak and off. The
 * scripts are made once, at installation, and do not run flame when a key is pressed.
 */
#include "common/options/complete.h"

#include "common/error.h"

enum value { VALUE_NONE, VALUE_WORDS, VALUE_FILE, VALUE_DIR, VALUE_ANY };

static enum value value_of(const struct opts_row *row)
{
    if (!row->arg)
        return VALUE_NONE;
    if (row->words || row->add_words)
        return VALUE_WORDS;
    if (strstr(row->arg, "FILE"))
        return VALUE_FILE;
    return strcmp(row->arg, "DIR") == 0 ? VALUE_DIR : VALUE_ANY;
}

/* A value that is optional comes behind '=', so it is no word of its own. */
static bool value_is_next_word(const struct opts_row *row)
{
    return row->arg && row->arg[0] != '[';
}

/* The first sentence or line of a text, without characters that a shell's quoted word or a
 * description in brackets cannot hold. */
static void add_words_of(struct strbuf *sb, const char *text)
{
    for (const char *s = text; *s && *s != '\n' && strncmp(s, "; ", 2) != 0; s++)
        if (!strchr("'\"[]:\\`$%", *s))
            strbuf_addch(sb, *s);
}

/* ---- bash ---- */

static void bash_option(void *arg, const struct opts_row *row, size_t at)
{
    struct strbuf *sb = arg;

    (void)at;
    strbuf_addf(sb, "--%s ", row->name);
    if (row->letter)
        strbuf_addf(sb, "-%c ", row->letter);
}

/* The options whose value is the next word, to find where a command of the user's begins. */
static void bash_valued(void *arg, const struct opts_row *row, size_t at)
{
    if (value_is_next_word(row))
        bash_option(arg, row, at);
}

static void bash_value(void *arg, const struct opts_row *row, size_t at)
{
    static const char *const how[] = {
        [VALUE_FILE] = "-f", [VALUE_DIR] = "-d", [VALUE_ANY] = "-W ''"};
    struct strbuf *sb = arg, words = STRBUF_INIT;
    enum value value = value_of(row);

    (void)at;
    if (!value_is_next_word(row))
        return;
    strbuf_addf(sb, "        --%s", row->name);
    if (row->letter)
        strbuf_addf(sb, "|-%c", row->letter);
    opts_add_words(row, &words);
    if (value == VALUE_WORDS)
        strbuf_addf(sb, ") how=(-W '%s') ;;\n", words.buf);
    else
        strbuf_addf(sb, ") how=(%s) ;;\n", how[value]);
    strbuf_release(&words);
}

static void bash_command(struct strbuf *sb, const struct opts_command *c)
{
    strbuf_addf(sb, "    %s)\n        options='", c->name);
    opts_each(c, bash_option, sb);
    strbuf_addf(sb, "'\n        runs=%d\n        valued=' ", c->operands == OPTS_COMMAND);
    opts_each(c, bash_valued, sb);
    strbuf_addstr(sb, "'\n        case $before in\n");
    opts_each(c, bash_value, sb);
    strbuf_addstr(sb, "        esac ;;\n");
}

static void bash(struct strbuf *sb, const struct opts_command *const *commands, size_t n)
{
    strbuf_addstr(sb,
                  "# bash completion for flame, made by 'flame --complete bash'\n"
                  "_flame() {\n"
                  "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                  "    local options='' valued='' runs=0 how=() i\n"
                  "    COMPREPLY=()\n"
                  "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
                  "        mapfile -t COMPREPLY < <(compgen -W '");
    for (size_t i = 0; i < n; i++)
        strbuf_addf(sb, "%s ", commands[i]->name);
    strbuf_addstr(sb, "help --help --version' -- \"$word\")\n"
                      "        return\n"
                      "    fi\n"
                      "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < n; i++)
        bash_command(sb, commands[i]);
    strbuf_addstr(sb, "    help)\n        options='");
    for (size_t i = 0; i < n; i++)
        strbuf_addf(sb, "%s ", commands[i]->name);
    strbuf_addstr(sb, "'\n        how=(-W \"$options\") ;;\n"
                      "    esac\n"
                      "    for ((i = 2; runs && i < COMP_CWORD; i++)); do\n"
                      "        case ${COMP_WORDS[i]} in\n"
                      "        -*) [[ $valued = *\" ${COMP_WORDS[i]} \"* ]] && i=$((i + 1)) ;;\n"
                      "        *) if declare -F _command_offset >/dev/null; then\n"
                      "               _command_offset $i\n"
                      "           else\n"
                      "               mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                      "           fi\n"
                      "           return ;;\n"
                      "        esac\n"
                      "    done\n"
                      "    if [ ${#how[@]} = 0 ]; then\n"
                      "        case $word in\n"
                      "        -*) how=(-W \"$options\") ;;\n"
                      "        *) if [ $runs = 1 ]; then how=(-c); else how=(-f); fi ;;\n"
                      "        esac\n"
                      "    fi\n"
                      "    mapfile -t COMPREPLY < <(compgen \"${how[@]}\" -- \"$word\")\n"
                      "}\n"
                      "complete -o filenames -o bashdefault -F _flame flame\n");
}

/* ---- zsh ---- */

static void zsh_option(void *arg, const struct opts_row *row, size_t at)
{
    struct strbuf *sb = arg, words = STRBUF_INIT;
    enum value value = value_of(row);

    (void)at;
    strbuf_addstr(sb, "            '*");
    if (row->letter)
        strbuf_setlen(sb, sb->len - 2);
    if (row->letter)
        strbuf_addf(sb, "'*'{-%c%s,--%s%s}'", row->letter, row->arg ? "+" : "", row->name,
                    row->arg ? "=" : "");
    else
        strbuf_addf(sb, "--%s%s", row->name, !row->arg ? "" : row->arg[0] == '[' ? "=-" : "=");
    strbuf_addch(sb, '[');
    add_words_of(sb, row->help);
    strbuf_addch(sb, ']');
    opts_add_words(row, &words);
    if (value == VALUE_WORDS)
        strbuf_addf(sb, ":value:(%s)", words.buf);
    else if (value != VALUE_NONE)
        strbuf_addf(sb, ":value:%s",
                    value == VALUE_FILE  ? "_files"
                    : value == VALUE_DIR ? "_files -/"
                                         : " ");
    strbuf_addstr(sb, "' \\\n");
    strbuf_release(&words);
}

static void zsh(struct strbuf *sb, const struct opts_command *const *commands, size_t n)
{
    strbuf_addstr(sb, "#compdef flame\n"
                      "# zsh completion for flame, made by 'flame --complete zsh'\n"
                      "_flame() {\n"
                      "    local -a commands\n"
                      "    commands=(\n");
    for (size_t i = 0; i < n; i++) {
        strbuf_addf(sb, "        '%s:", commands[i]->name);
        add_words_of(sb, commands[i]->summary);
        strbuf_addstr(sb, "'\n");
    }
    strbuf_addstr(sb, "        'help:what a command does'\n"
                      "    )\n"
                      "    if (( CURRENT == 2 )); then\n"
                      "        _describe command commands\n"
                      "        return\n"
                      "    fi\n"
                      "    local command=${words[2]}\n"
                      "    shift words\n"
                      "    (( CURRENT-- ))\n"
                      "    case $command in\n"
                      "    help) _describe command commands ;;\n");
    for (size_t i = 0; i < n; i++) {
        strbuf_addf(sb, "    %s)\n        _arguments -s \\\n", commands[i]->name);
        opts_each(commands[i], zsh_option, sb);
        strbuf_addf(sb, "            '%s' ;;\n",
                    commands[i]->operands == OPTS_COMMAND ? "*::command:_normal" : "*:file:_files");
    }
    strbuf_addstr(
        sb, "    esac\n"
            "}\n"
            "if [ \"$funcstack[1]\" = _flame ]; then _flame; else compdef _flame flame; fi\n");
}

/* ---- fish ---- */

struct fish {
    struct strbuf *sb;
    const char *command;
};

static void fish_option(void *arg, const struct opts_row *row, size_t at)
{
    static const char *const how[] = {[VALUE_NONE] = "",
                                      [VALUE_WORDS] = " -x",
                                      [VALUE_FILE] = " -r -F",
                                      [VALUE_DIR] = " -x -a '(__fish_complete_directories)'",
                                      [VALUE_ANY] = " -x"};
    const struct fish *f = arg;
    struct strbuf words = STRBUF_INIT;

    (void)at;
    strbuf_addf(f->sb, "complete -c flame -n '__fish_seen_subcommand_from %s' -l %s", f->command,
                row->name);
    if (row->letter)
        strbuf_addf(f->sb, " -s %c", row->letter);
    strbuf_addstr(f->sb, how[value_of(row)]);
    opts_add_words(row, &words);
    if (words.len)
        strbuf_addf(f->sb, " -a '%s'", words.buf);
    strbuf_addstr(f->sb, " -d '");
    add_words_of(f->sb, row->help);
    strbuf_addstr(f->sb, "'\n");
    strbuf_release(&words);
}

static void fish(struct strbuf *sb, const struct opts_command *const *commands, size_t n)
{
    strbuf_addstr(sb, "# fish completion for flame, made by 'flame --complete fish'\n");
    for (size_t i = 0; i < n; i++) {
        struct fish f = {sb, commands[i]->name};

        strbuf_addf(sb, "complete -c flame -n __fish_use_subcommand -f -a %s -d '",
                    commands[i]->name);
        add_words_of(sb, commands[i]->summary);
        strbuf_addstr(sb, "'\n");
        opts_each(commands[i], fish_option, &f);
        if (commands[i]->operands == OPTS_COMMAND)
            strbuf_addf(sb,
                        "complete -c flame -n '__fish_seen_subcommand_from %s' -x -a "
                        "'(__fish_complete_subcommand)'\n",
                        commands[i]->name);
    }
    strbuf_addstr(sb, "complete -c flame -n __fish_use_subcommand -f -a help -d 'what a command "
                      "does'\n");
}

int complete_write(const char *shell, const struct opts_command *const *commands, size_t n,
                   FILE *to)
{
    static const struct {
        const char *name;
        void (*make)(struct strbuf *sb, const struct opts_command *const *commands, size_t n);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    struct strbuf sb = STRBUF_INIT;

    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        if (strcmp(shell, shells[i].name) == 0) {
            shells[i].make(&sb, commands, n);
            fwrite(sb.buf, 1, sb.len, to);
            strbuf_release(&sb);
            return FLAME_OK;
        }
    return flame_error(FLAME_USAGE, "--complete %s: expected bash, zsh or fish", shell);
}
