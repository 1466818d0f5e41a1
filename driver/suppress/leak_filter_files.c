/*
 * Files of suppressions: those of the options, then those that the environment names. Those that
 * the sanitizers' own variable names are read as well, so that a test environment made for
 * sanitizers works.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/files/outfile.h"
#include "driver/suppress/leak_filter_impl.h"
#include "driver/suppress/builtin_suppressions.h"

/* Reads files with colons between their names. */
static int read_list(struct suppressions *to, const char *list)
{
    int status = 0;

    while (*list && !status) {
        size_t n = strcspn(list, ":");
        char *path = xmemdup0(list, n);

        if (n)
            status = suppressions_read(to, path);
        free(path);
        list += n + (list[n] == ':');
    }
    return status;
}

/* Reads the file in LSAN_OPTIONS. It holds NAME=VALUE with ':', ',' or blanks between; quotes are
 * around a value that has such. */
static int read_sanitizers(struct suppressions *to, const char *options)
{
    static const char wanted[] = "suppressions=", between[] = ":, \t\r\n";
    const char *s = options;
    int status = 0;

    while (!status && *(s += strspn(s, between))) {
        size_t name = strcspn(s, ":, \t\r\n=");
        const char *value = s + name + (s[name] == '='), *end;
        char quote = *value == '"' || *value == '\'' ? *value : '\0';

        value += quote != '\0';
        end = quote ? strchr(value, quote) : value + strcspn(value, between);
        if (!end)
            end = value + strlen(value);
        if (strncmp(s, wanted, sizeof wanted - 1) == 0 && end > value) {
            char *path = xmemdup0(value, (size_t)(end - value));

            status = suppressions_read(to, path);
            free(path);
        }
        s = end + (quote && *end);
    }
    return status;
}

static int read_rules(struct leak_filter *h)
{
    const char *ours = getenv("FLAME_LEAK_SUPPRESSIONS"), *theirs = getenv("LSAN_OPTIONS");
    int status = 0;

    for (size_t i = 0; i < h->o->suppressions.n && !status; i++)
        status = suppressions_read(h->rules, h->o->suppressions.items[i]);
    if (!status && ours)
        status = read_list(h->rules, ours);
    else if (!status && theirs)
        status = read_sanitizers(h->rules, theirs);
    /* Built-in suppressions describe leaks. With --live the user asked for every live block, so
     * they do not apply. */
    if (!status && h->o->known && h->what == LEAK_FILTER_LEAKS)
        status =
            suppressions_parse(h->rules, "known.supp", true, known_supp, known_supp_len(), NULL);
    return status;
}

static int check_writable(const char *path)
{
    struct outfile probe;
    struct stat st;
    int err;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return flame_error(FLAME_USAGE, "leak: --write-baseline %s: is no regular file", path);
    err = outfile_open(&probe, path);
    if (err)
        return flame_cannot_write(path, err);
    outfile_abort(&probe);
    return 0;
}

int leak_filter_load(struct leak_filter **out, const struct leak_filter_options *o,
                     enum leak_filter_kind what)
{
    struct leak_filter *h = xcalloc(1, sizeof *h);
    int status;

    h->o = o;
    h->what = what;
    h->rules = suppressions_new();
    status = read_rules(h);
    if (!status && o->baseline)
        status = baseline_read(&h->known, o->baseline, leak_filter_view(h));
    if (!status && o->write_baseline)
        status = check_writable(o->write_baseline);
    if (!status && o->write_baseline)
        h->now = baseline_new();
    if (status) {
        leak_filter_free(h);
        h = NULL;
    }
    *out = h;
    return status;
}

void leak_filter_free(struct leak_filter *h)
{
    struct taken_out *t, *next;

    if (!h)
        return;
    HASH_ITER (hh, h->taken_out, t, next) {
        HASH_DEL(h->taken_out, t);
        free(t);
    }
    suppressions_free(h->rules);
    baseline_free(h->known);
    baseline_free(h->now);
    free(h);
}

struct suppressions *leak_filter_rules(struct leak_filter *h)
{
    return h->rules;
}
