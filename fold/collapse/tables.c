/*
 * Profilers that export comma-separated tables: Intel VTune, Visual Studio,
 * Xcode Instruments, and Windows Performance Analyzer (xperf).
 *
 * The first line that has the titles a format needs is its head; columns are
 * found by their titles, as their order changes between versions.
 */
#include "fold/collapse/csvread.h"
#include "fold/collapse/readers.h"
#include "fold/collapse/indented.h"

/* Reads on to the head, the first line with both titles. */
static bool find_head(struct collapse *c, struct csvread *v, const char *a, const char *b)
{
    while (textinput_record(&c->in, &v->row))
        if (csvread_split(v, v->row.line.s, v->row.line.len) && csvread_column(v, a) != SIZE_MAX &&
            (!b || csvread_column(v, b) != SIZE_MAX))
            return true;
    return false;
}

static bool has_head(const char *text, size_t len, const char *a, const char *b)
{
    struct span rest = {text, len}, line;
    struct csvread v;
    bool found = false;

    csvread_init(&v);
    for (int i = 0; i < 20 && !found && span_line(&rest, &line); i++)
        found = csvread_split(&v, line.s, line.len) && csvread_column(&v, a) != SIZE_MAX &&
                (!b || csvread_column(&v, b) != SIZE_MAX);
    csvread_release(&v);
    return found;
}

static bool next_row(struct collapse *c, struct csvread *v)
{
    while (textinput_record(&c->in, &v->row)) {
        struct span line = v->row.line;

        if (span_trim(line).len == 0)
            continue;
        if (csvread_split(v, line.s, line.len))
            return true;
        collapse_unknown(c, line.s, line.len);
    }
    return false;
}

static void not_understood(struct collapse *c, const struct csvread *v)
{
    collapse_unknown(c, v->text.buf, v->text.len);
}

/* ---- VTune ---- */

/*
 * Hotspots ("CPU Time:Self") are named module!function, in milliseconds; memory
 * ("Allocations:Self") is function(module), in calls.
 */
void collapse_vtune_run(struct collapse *c)
{
    size_t stack, module, self;
    struct indented t;
    struct csvread v;
    bool memory;

    csvread_init(&v);
    indented_init(&t, c, false, ROOT_FIRST);
    if (!find_head(c, &v, "Function Stack", NULL))
        goto out;
    stack = csvread_column(&v, "Function Stack");
    module = csvread_column(&v, "Module*");
    self = csvread_column(&v, "Allocations:Self");
    memory = self != SIZE_MAX;
    if (!memory)
        self = csvread_column(&v, "CPU Time:Self*");
    if (self == SIZE_MAX)
        self = v.n - 1;
    while (next_row(c, &v)) {
        struct span name = csvread_field(&v, stack), where, number;
        struct stackset_count count = {0, 0};
        size_t depth = span_blanks(name);
        struct strbuf *full = &c->scratch;

        where = csvread_field(&v, module);
        number = span_trim(csvread_field(&v, self));
        name = span_from(name, depth);
        if (number.len && !(memory ? stackset_count_parse(number.s, number.len, &count)
                                   : indented_time(number.s, number.len, true, &count))) {
            not_understood(c, &v);
            continue;
        }
        strbuf_clear(full);
        if (!memory && module != SIZE_MAX) {
            strbuf_add(full, where.s, where.len);
            strbuf_addch(full, '!');
        }
        strbuf_add(full, name.s, name.len);
        if (memory && module != SIZE_MAX) {
            strbuf_addch(full, '(');
            strbuf_add(full, where.s, where.len);
            strbuf_addch(full, ')');
        }
        indented_add(&t, depth, collapse_name(c, full->buf, full->len), &count);
    }
out:
    indented_end(&t);
    indented_release(&t);
    csvread_release(&v);
}

int collapse_vtune_probe(const char *text, size_t len)
{
    return has_head(text, len, "Function Stack", NULL) ? 90 : 0;
}

/* ---- Visual Studio ---- */

/* "8,735" or "8.735", as the machine's language has it. */
static bool vs_number(struct span s, struct stackset_count *out)
{
    char digits[32] = "";
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (strchr("., ", s.s[i]) && s.s[i])
            continue;
        if (!is_digit_ch(s.s[i]) || n == sizeof digits)
            return false;
        digits[n++] = s.s[i];
    }
    return stackset_count_parse(digits, n, out);
}

void collapse_vsprof_run(struct collapse *c)
{
    struct indented t;
    struct csvread v;

    csvread_init(&v);
    indented_init(&t, c, true, ROOT_FIRST);
    if (find_head(c, &v, "Level", "Function Name")) {
        size_t level = csvread_column(&v, "Level");
        size_t function = csvread_column(&v, "Function Name");
        size_t samples = csvread_column(&v, "Inclusive Samples");

        if (samples == SIZE_MAX)
            samples = function + 1;
        while (next_row(c, &v)) {
            struct span name = csvread_field(&v, function);
            struct stackset_count depth, count;

            if (!vs_number(span_trim(csvread_field(&v, level)), &depth) ||
                !vs_number(csvread_field(&v, samples), &count)) {
                not_understood(c, &v);
                continue;
            }
            if (depth.whole == 0)
                continue;
            /* Blanks inside of names come and go with the version; none are kept. */
            strbuf_clear(&c->scratch);
            for (size_t i = 0; i < name.len; i++)
                if (!is_blank_ch(name.s[i]))
                    strbuf_addch(&c->scratch, name.s[i]);
            indented_add(&t, depth.whole - 1, collapse_name(c, c->scratch.buf, c->scratch.len),
                         &count);
        }
    }
    indented_end(&t);
    indented_release(&t);
    csvread_release(&v);
}

int collapse_vsprof_probe(const char *text, size_t len)
{
    return has_head(text, len, "Level", "Function Name") ? 90 : 0;
}

/* ---- Instruments' own CSV ---- */

void collapse_instruments_csv_run(struct collapse *c)
{
    struct indented t;
    struct csvread v;

    csvread_init(&v);
    indented_init(&t, c, false, ROOT_FIRST);
    if (find_head(c, &v, "Self*", "Symbol Name*")) {
        size_t self = csvread_column(&v, "Self*");
        size_t symbol = csvread_column(&v, "Symbol Name*");

        while (next_row(c, &v)) {
            struct span name = csvread_field(&v, symbol);
            struct span number = csvread_field(&v, self);
            struct stackset_count count;
            size_t depth = span_blanks(name);

            name = span_rtrim(span_from(name, depth));
            if (name.len == 0 || !indented_time(number.s, number.len, false, &count)) {
                not_understood(c, &v);
                continue;
            }
            indented_add(&t, depth, collapse_name(c, name.s, name.len), &count);
        }
    }
    indented_end(&t);
    indented_release(&t);
    csvread_release(&v);
}

int collapse_instruments_csv_probe(const char *text, size_t len)
{
    return has_head(text, len, "Self*", "Symbol Name*") ? 90 : 0;
}

/* ---- Windows Performance Analyzer ---- */

/* "[Root]/ntdll.dll!RtlUserThreadStart/app.exe!main": root first, '/' between frames. */
static void wpa_stack(struct collapse *c, struct span stack)
{
    while (stack.len) {
        struct span frame = span_to(stack, span_chr(stack, '/'));

        stack = span_from(stack, frame.len + 1);
        frame = span_trim(frame);
        if (span_is(frame, "[Root]") || span_is(frame, "n/a"))
            continue;
        if (frame.len)
            collapse_push(c, frame.s, frame.len);
    }
}

static size_t wpa_process(const struct csvread *v)
{
    size_t column = csvread_column(v, "Process*");

    return column != SIZE_MAX ? column : csvread_column(v, "New Process*");
}

void collapse_wpa_run(struct collapse *c)
{
    struct csvread v;

    csvread_init(&v);
    if (find_head(c, &v, "*", NULL) || v.n) {
        size_t process = wpa_process(&v), stack = csvread_column(&v, "Stack");
        size_t count_at = csvread_column(&v, "Count");

        if (stack == SIZE_MAX)
            stack = csvread_column(&v, "New Thread Stack");
        if (count_at == SIZE_MAX)
            count_at = csvread_column(&v, "Weight*");
        while (next_row(c, &v)) {
            struct span name = span_trim(csvread_field(&v, process)), number, where;
            struct stackset_count count = {1, 0};

            number = span_trim(csvread_field(&v, count_at));
            where = span_trim(csvread_field(&v, stack));
            if (where.len == 0 || (number.len && !vs_number(number, &count))) {
                not_understood(c, &v);
                continue;
            }
            if (name.len)
                collapse_push(c, name.s, name.len);
            /* "n/a" alone is no frame but half a name with a '/' in it. */
            if (!span_is(where, "n/a"))
                wpa_stack(c, where);
            if (c->n > 0)
                collapse_flush(c, ROOT_FIRST, &count);
        }
    }
    csvread_release(&v);
}

int collapse_wpa_probe(const char *text, size_t len)
{
    return has_head(text, len, "Stack", "Process*") ||
                   has_head(text, len, "New Thread Stack", "New Process*")
               ? 88
               : 0;
}
