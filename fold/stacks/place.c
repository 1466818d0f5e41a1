#include "fold/stacks/place.h"

#include "common/folded.h"
#include "fold/stacks/span.h"

static struct span base_span(struct span path)
{
    return span_from(path, span_rchr(path, '/') + 1);
}

void place_mark(struct strbuf *sb, const char *place, size_t len)
{
    strbuf_addch(sb, PLACE_MARK);
    folded_add_frame(sb, place, len);
}

static void add_module(struct strbuf *sb, enum place_kind kind, struct span base)
{
    bool brackets = kind != PLACE_MODULE && !span_begins(base, "[");

    if (brackets)
        strbuf_addch(sb, '[');
    folded_add_frame(sb, base.s, base.len);
    if (brackets)
        strbuf_addch(sb, ']');
}

void place_mark_module(struct strbuf *sb, enum place_kind kind, const char *path, size_t len)
{
    struct span base = base_span((struct span){path, len});

    strbuf_addch(sb, PLACE_MARK);
    if (base.len)
        add_module(sb, kind, base);
}

/* Where a place that begins at s[at] ends: at the next frame, or at the line's count. */
static size_t place_end(const char *s, size_t at, size_t line_end)
{
    const char *semi = memchr(s + at, ';', line_end - at);
    size_t end = line_end;

    if (semi)
        return (size_t)(semi - s);
    while (end > at && s[end - 1] != ' ')
        end--;
    return end > at ? end - 1 : line_end;
}

void place_strip_text(struct strbuf *text)
{
    static const char heading[] = "# flame: " FOLDED_MODULES "=" FOLDED_MODULES_MARKED "\n";
    char *s = text->buf;
    size_t to = 0, line_end = 0;

    for (size_t i = 0; i < text->len;) {
        if (i >= line_end) {
            const char *nl = memchr(s + i, '\n', text->len - i);

            line_end = nl ? (size_t)(nl - s) + 1 : text->len;
            if (line_end - i == sizeof heading - 1 && memcmp(s + i, heading, line_end - i) == 0) {
                i = line_end;
                continue;
            }
        }
        if (s[i] == PLACE_MARK) {
            i = place_end(s, i, line_end - (s[line_end - 1] == '\n'));
            continue;
        }
        s[to++] = s[i++];
    }
    strbuf_setlen(text, to);
}

static bool ends_in_one_of(struct span s, const char *const *endings, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (span_ends(s, endings[i]))
            return true;
    return false;
}

/* "f (FILE)". */
static bool find_file(struct span name, struct span *file)
{
    static const char *const endings[] = {".c",   ".h",  ".cc", ".cpp", ".cxx",  ".hh", ".hpp",
                                          ".hxx", ".rs", ".go", ".py",  ".java", ".S"};
    size_t open = span_last_open(name);

    if (!span_ends(name, ")") || open == SIZE_MAX || open == 0)
        return false;
    *file = base_span(span_from(span_to(name, name.len - 1), open + 1));
    return ends_in_one_of(*file, endings, ARRAY_LEN(endings));
}

/* "f (MODULE)": what C++ and others put into parentheses there is no module. */
static bool in_parentheses(struct span name, struct span *module)
{
    static const char *const endings[] = {".dll", ".exe", ".dylib", ".ko", ".so"};
    size_t open = span_last_open(name);
    struct span in;

    if (!span_ends(name, ")") || open == SIZE_MAX || open == 0)
        return false;
    in = span_from(span_to(name, name.len - 1), open + 1);
    if (span_begins(in, "in "))
        in = span_from(in, 3);
    *module = in;
    if (in.len == 0 || span_is(in, "[unknown]"))
        return false;
    return in.s[0] == '/' || in.s[0] == '[' || span_find(in, ".so.") ||
           ends_in_one_of(in, endings, ARRAY_LEN(endings));
}

/* Finds "[MODULE+0x1f]", "[MODULE]", but not the names in brackets that are no file's. */
static bool in_brackets(struct span name, struct span *module)
{
    struct span in;
    const char *plus;

    if (name.len < 3 || name.s[0] != '[' || name.s[name.len - 1] != ']')
        return false;
    in = span_from(span_to(name, name.len - 1), 1);
    plus = span_find(in, "+0x");
    if (plus)
        in.len = (size_t)(plus - in.s);
    *module = in;
    return in.len > 0 && !span_begins(in, "unknown") && !span_is(in, "truncated") &&
           span_chr(in, '[') == SIZE_MAX;
}

static bool find_module(struct span name, struct span *module)
{
    size_t tick = span_chr(name, '`');

    if (span_ends(name, "_[k]")) {
        *module = span_of("[kernel]");
        return true;
    }
    if (span_ends(name, "_[j]")) {
        *module = span_of("[jit]");
        return true;
    }
    if (name.len > 4 && name.s[name.len - 4] == '_' && name.s[name.len - 3] == '[' &&
        name.s[name.len - 1] == ']')
        name.len -= 4;
    if (tick != SIZE_MAX && tick > 0 && tick < name.len) {
        *module = span_to(name, tick);
        return true;
    }
    return in_brackets(name, module) || in_parentheses(name, module);
}

/* Begins with FILE:NUMBER: as Python's do. */
static bool find_line_before(struct span name, struct span *file, struct span *number)
{
    size_t colon = span_chr(name, ':');
    struct span rest = span_from(name, colon == SIZE_MAX ? name.len : colon + 1);

    *number = span_to(rest, span_digits(rest));
    rest = span_from(rest, number->len);
    if (colon == SIZE_MAX || number->len == 0 || !span_begins(rest, ":"))
        return false;
    *file = base_span(span_to(name, colon));
    return span_ends(*file, ">") || (file->len > 1 && span_chr(*file, '.') != SIZE_MAX);
}

/* Ends in FILE:NUMBER, the file being a word with a point in it. */
static bool find_line_behind(struct span name, struct span *file, struct span *number)
{
    size_t end, colon, from;

    if (span_ends(name, ")"))
        name.len--;
    for (end = name.len; end > 0 && name.s[end - 1] >= '0' && name.s[end - 1] <= '9';)
        end--;
    if (end == name.len || end < 2 || name.s[end - 1] != ':')
        return false;
    colon = from = end - 1;
    while (from > 0 && !strchr(" (:", name.s[from - 1]))
        from--;
    *file = base_span(span_from(span_to(name, colon), from));
    *number = span_from(name, end);
    return from > 0 && file->len > 1 && span_chr(*file, '.') != SIZE_MAX;
}

bool place_find(enum place_kind kind, const char *name, size_t len, struct strbuf *out)
{
    size_t own = place_name_len(name, len);
    struct span text = {name, own}, file, number, module;

    if (own < len) {
        strbuf_add(out, name + own + 1, len - own - 1);
        return own + 1 < len;
    }
    if (kind != PLACE_MODULE &&
        (find_line_before(text, &file, &number) || find_line_behind(text, &file, &number))) {
        folded_add_frame(out, file.s, file.len);
        if (kind == PLACE_LINE) {
            strbuf_addch(out, ':');
            strbuf_add(out, number.s, number.len);
        }
        return true;
    }
    if (kind != PLACE_MODULE && find_file(text, &file)) {
        folded_add_frame(out, file.s, file.len);
        return true;
    }
    if (!find_module(text, &module) || (module = base_span(module)).len == 0)
        return false;
    add_module(out, kind, module);
    return true;
}
