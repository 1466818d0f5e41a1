/*
 * Suppressions as valgrind has them:
 *
 *     {
 *        a name
 *        Memcheck:Leak
 *        match-leak-kinds: definite,indirect
 *        fun:malloc
 *        ...
 *        obj:/usr/lib/libexample.so*
 *     }
 *
 * Memcheck:Free has no line for kinds. Entries of other tools, and of other errors of memcheck's,
 * are read up to their '}' and ignored.
 */
#include "common/str_starts.h"
#include "driver/suppress/suppress_impl.h"

static bool is(const char *s, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(s, word, len) == 0;
}

/* Whether "Tool,Tool:KIND" is for memcheck and for `kind`. */
static bool is_for(const char *s, size_t len, const char *kind)
{
    static const char tool[] = "Memcheck";
    const char *colon = memchr(s, ':', len);
    size_t tools = colon ? (size_t)(colon - s) : 0, n;

    if (!colon || !is(colon + 1, len - tools - 1, kind))
        return false;
    for (size_t at = 0; at < tools; at += n + 1) {
        const char *comma = memchr(s + at, ',', tools - at);

        n = comma ? (size_t)(comma - s) - at : tools - at;
        if (is(s + at, n, tool))
            return true;
    }
    return false;
}

/* 0, or FLAME_USAGE after a line. */
static int read_kinds(struct suppress_text *t, const char *s, size_t len, unsigned *kinds)
{
    static const struct {
        const char *word;
        unsigned kinds;
    } words[] = {
        {"definite", SUPPRESS_DEFINITE}, {"indirect", SUPPRESS_INDIRECT},
        {"possible", SUPPRESS_OTHER},    {"reachable", SUPPRESS_OTHER},
        {"all", SUPPRESS_ALL},           {"none", 0},
    };
    size_t n;

    *kinds = 0;
    for (size_t at = 0; at <= len; at += n + 1) {
        const char *word = s + at;
        size_t i = 0, to;

        for (n = 0; at + n < len && word[n] != ',';)
            n++;
        for (to = n; to && (word[to - 1] == ' ' || word[to - 1] == '\t');)
            to--;
        for (; to && (*word == ' ' || *word == '\t'); to--)
            word++;
        while (i < ARRAY_LEN(words) && !is(word, to, words[i].word))
            i++;
        if (i == ARRAY_LEN(words))
            return suppress_wrong(t,
                                  "'%s' is no kind of leak; they are definite, indirect, possible, "
                                  "reachable, all and none",
                                  suppress_quote(word, to));
        *kinds |= words[i].kinds;
    }
    return 0;
}

/* "src:file.c:12" is for any line of file.c. */
static size_t without_line(const char *s, size_t len)
{
    size_t n = len;

    while (n && s[n - 1] >= '0' && s[n - 1] <= '9')
        n--;
    return n > 1 && n < len && s[n - 1] == ':' ? n - 1 : len;
}

static int read_frame(struct suppress_text *t, struct suppress_rule *r, const char *s, size_t len)
{
    static const struct {
        const char *word;
        enum suppress_what what;
    } words[] = {{"fun:", SUPPRESS_FUN}, {"obj:", SUPPRESS_OBJ}, {"src:", SUPPRESS_SRC}};

    if (r->nlines == SUPPRESS_FRAMES_MAX)
        return suppress_wrong(t, "there are more than %u frames", SUPPRESS_FRAMES_MAX);
    if (is(s, len, "...")) {
        suppress_add_line(t, r, SUPPRESS_ELLIPSIS, NULL);
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t n = strlen(words[i].word);

        if (len == n || !bytes_start_with(s, len, words[i].word))
            continue;
        len -= n;
        if (words[i].what == SUPPRESS_SRC)
            len = without_line(s + n, len);
        suppress_add_line(t, r, words[i].what, wildcard_new(s + n, len, true));
        return 0;
    }
    return suppress_wrong(t, "'%s' is no frame; frames are fun:NAME, obj:FILE, src:FILE and ...",
                          suppress_quote(s, len));
}

static int unfinished(struct suppress_text *t)
{
    return suppress_wrong(t, "the file ends within an entry; a '}' is missing");
}

static int pass_over(struct suppress_text *t)
{
    const char *s;
    size_t len;
    int more;

    while ((more = suppress_next_line(t, &s, &len)) == 1)
        if (is(s, len, "}"))
            return 0;
    return more ? more : unfinished(t);
}

static int read_frames(struct suppress_text *t, struct suppress_rule *r)
{
    static const char kinds[] = "match-leak-kinds:";
    const char *s;
    size_t len;
    int more, status = 0;

    while (!status && (more = suppress_next_line(t, &s, &len)) == 1) {
        if (is(s, len, "}"))
            return r->nlines ? 0 : suppress_wrong(t, "the entry has no frames; '...' is for all");
        if (!r->nlines && r->facts.kinds != SUPPRESS_MISUSE && bytes_start_with(s, len, kinds))
            status = read_kinds(t, s + sizeof kinds - 1, len - (sizeof kinds - 1), &r->facts.kinds);
        else
            status = read_frame(t, r, s, len);
    }
    if (status)
        return status;
    return more ? more : unfinished(t);
}

/* Reads an entry after its '{'. */
static int read_entry(struct suppress_text *t)
{
    struct suppress_rule *r;
    const char *s, *name;
    size_t len, name_len;
    int more = suppress_next_line(t, &name, &name_len);

    if (more != 1)
        return more ? more : unfinished(t);
    if (is(name, name_len, "}"))
        return suppress_wrong(t, "the entry has no name");
    r = suppress_add_rule(t, name, name_len);
    more = suppress_next_line(t, &s, &len);
    if (more != 1)
        return more ? more : unfinished(t);
    if (!memchr(s, ':', len))
        return suppress_wrong(t, "'%s' does not say what is suppressed; that is Memcheck:Leak",
                              suppress_quote(s, len));
    if (is_for(s, len, "Free"))
        r->facts.kinds = SUPPRESS_MISUSE;
    if (is_for(s, len, "Leak") || r->facts.kinds == SUPPRESS_MISUSE)
        return read_frames(t, r);
    suppress_drop_rule(t);
    return pass_over(t);
}

int suppress_read_memcheck(struct suppress_text *t)
{
    const char *s;
    size_t len;
    int more, status = 0;

    while (!status && (more = suppress_next_line(t, &s, &len)) == 1) {
        if (!is(s, len, "{"))
            return suppress_wrong(t, "'%s' is in no entry; one begins with '{'",
                                  suppress_quote(s, len));
        status = read_entry(t);
    }
    return status ? status : more;
}
