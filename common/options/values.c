#include "common/options/values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"

#define SECOND_NS 1e9
#define LONGEST_NS (86.4e6 * SECOND_NS) /* a thousand days */

int opts_wrong_value(const struct opts_given *given, const char *what, ...)
{
    char text[400];
    va_list ap;

    va_start(ap, what);
    vsnprintf(text, sizeof text, what, ap);
    va_end(ap);
    return flame_error(FLAME_USAGE, "%s: %s %s: expected %s", given->command, given->name,
                       given->value, text);
}

int opts_take_true(void *at, const struct opts_row *row, const struct opts_given *given)
{
    (void)row, (void)given;
    *(bool *)at = true;
    return 0;
}

int opts_take_false(void *at, const struct opts_row *row, const struct opts_given *given)
{
    (void)row, (void)given;
    *(bool *)at = false;
    return 0;
}

int opts_take_text(void *at, const struct opts_row *row, const struct opts_given *given)
{
    (void)row;
    *(const char **)at = given->value;
    return 0;
}

int opts_take_list(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct opts_list *l = at;

    (void)row;
    l->items = xreallocarray(l->items, l->n + 1, sizeof *l->items);
    l->items[l->n++] = given->value;
    return 0;
}

void opts_list_release(struct opts_list *l)
{
    free(l->items);
    *l = (struct opts_list){0};
}

int opts_find_word(const char *words, const char *word)
{
    size_t want = strlen(word), len;
    int i = 0;

    for (const char *w = words; *w; w += len + (w[len] == ' '), i++) {
        len = strcspn(w, " ");
        if (len == want && strncmp(w, word, len) == 0)
            return i;
    }
    return -1;
}

/* "a b c" as "a, b or c". */
static void add_choice(struct strbuf *sb, const char *words)
{
    size_t len;

    for (const char *w = words; *w; w += len + (w[len] == ' ')) {
        len = strcspn(w, " ");
        if (w != words)
            strbuf_addstr(sb, strchr(w, ' ') ? ", " : " or ");
        strbuf_add(sb, w, len);
    }
}

/* The index of the value among the row's words, or -1 after a line. */
static int find_word(const struct opts_row *row, const struct opts_given *given)
{
    struct strbuf words = STRBUF_INIT, choice = STRBUF_INIT;
    int i;

    opts_add_words(row, &words);
    i = opts_find_word(words.buf, given->value);
    if (i < 0) {
        add_choice(&choice, words.buf);
        opts_wrong_value(given, "%s", choice.buf);
    }
    strbuf_release(&words);
    strbuf_release(&choice);
    return i;
}

/* A name of letters, digits and other characters that need no quotes. */
static bool is_name(const char *s)
{
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("._-+", *s))
            return false;
    return true;
}

int opts_wrong_pid(const struct opts_given *given, bool several)
{
    const char *name = given->value,
               *what = several ? "process ids, as 123 or 123,456" : "a process id, as 123";

    if (*name && !isdigit((unsigned char)*name) && *name != '-' && is_name(name))
        return opts_wrong_value(given, "%s; 'pgrep %s' lists those of a program", what, name);
    return opts_wrong_value(given, "%s", what);
}

int opts_take_pid(void *at, const struct opts_row *row, const struct opts_given *given)
{
    char *end;
    unsigned long v;

    (void)row;
    errno = 0;
    v = strtoul(given->value, &end, 10);
    if (!isdigit((unsigned char)*given->value) || *end || errno || v < 1 || v > INT32_MAX)
        return opts_wrong_pid(given, false);
    *(unsigned *)at = (unsigned)v;
    return 0;
}

int opts_take_word(void *at, const struct opts_row *row, const struct opts_given *given)
{
    int i = find_word(row, given);

    if (i < 0)
        return FLAME_USAGE;
    *(int *)at = i;
    return 0;
}

int opts_take_choice(void *at, const struct opts_row *row, const struct opts_given *given)
{
    if (find_word(row, given) < 0)
        return FLAME_USAGE;
    *(const char **)at = given->value;
    return 0;
}

int opts_take_uint(void *at, const struct opts_row *row, const struct opts_given *given)
{
    char *end;
    unsigned long v;

    errno = 0;
    v = strtoul(given->value, &end, 10);
    if (!isdigit((unsigned char)*given->value) || *end || errno || (double)v < row->least ||
        (double)v > row->most)
        return opts_wrong_value(given, "a number from %.0f to %.0f", row->least, row->most);
    *(unsigned *)at = (unsigned)v;
    return 0;
}

/* A number within the row's limits; *end gets what stands behind it. */
static bool number(const struct opts_row *row, const char *s, double *value, char **end)
{
    double v = strtod(s, end);

    if (*end == s || !isfinite(v) || v < row->least || v > row->most)
        return false;
    *value = v;
    return true;
}

int opts_take_double(void *at, const struct opts_row *row, const struct opts_given *given)
{
    char *end;
    double v;

    if (!number(row, given->value, &v, &end) || *end)
        return opts_wrong_value(given, "a number from %g to %g", row->least, row->most);
    *(double *)at = v;
    return 0;
}

int opts_take_pixels(void *at, const struct opts_row *row, const struct opts_given *given)
{
    char *end;
    double v;

    if (!number(row, given->value, &v, &end) || (*end && strcmp(end, "px") != 0))
        return opts_wrong_value(given, "pixels from %g to %g", row->least, row->most);
    *(double *)at = v;
    return 0;
}

bool opts_parse_bytes(const char *s, uint64_t *bytes)
{
    unsigned long long value;
    unsigned shift = 0;
    char *end;

    if (!isdigit((unsigned char)*s))
        return false;
    errno = 0;
    value = strtoull(s, &end, 10);
    if (errno)
        return false;
    switch (*end) {
    case 'g':
    case 'G':
        shift += 10; /* fall through */
    case 'm':
    case 'M':
        shift += 10; /* fall through */
    case 'k':
    case 'K':
        shift += 10;
        end++;
    }
    if (*end || value > UINT64_MAX >> shift)
        return false;
    *bytes = (uint64_t)value << shift;
    return true;
}

int opts_take_bytes(void *at, const struct opts_row *row, const struct opts_given *given)
{
    uint64_t v;

    if (!opts_parse_bytes(given->value, &v) || (row->most > 0 && (double)v > row->most))
        return row->most > 0 ? opts_wrong_value(given, "bytes, as 4096, 4k or 1m, up to %.0fg",
                                                row->most / (1 << 30))
                             : opts_wrong_value(given, "bytes, as 4096, 4k or 1m");
    *(uint64_t *)at = v;
    return 0;
}

bool opts_parse_time(const char *s, uint64_t unit, uint64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    char *end;
    double v;

    v = strtod(s, &end);
    /* strtod knows signs, exponents and other bases, too. */
    if ((!isdigit((unsigned char)*s) && *s != '.') || end != s + strspn(s, "0123456789."))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (strcmp(end, units[i].name) == 0) {
            unit = units[i].ns;
            end += strlen(end);
        }
    if (*end || v * (double)unit > LONGEST_NS)
        return false;
    *ns = (uint64_t)(v * (double)unit + 0.5);
    return true;
}

int opts_take_time(void *at, const struct opts_row *row, const struct opts_given *given)
{
    uint64_t ns;

    if (!opts_parse_time(given->value, (uint64_t)row->which, &ns) || (double)ns < row->least)
        return opts_wrong_value(given, "a time such as %s, 20ms or 500us",
                                row->which == 1000000000 ? "10, 1.5s" : "100");
    *(uint64_t *)at = ns;
    return 0;
}
