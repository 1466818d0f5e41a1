/*
 * The list is made of folded text, as the picture is. The blocks and bytes of all classes are views
 * of one fold, so each address is named once. A child reads debug information if it is needed
 * (fold/fold_in_child.c). A line with bytes is matched to its leak in the lines of blocks by its
 * stack.
 *
 * A stack's first frames are the process, "NAME-PID", and the thread, "NAME-TID".
 */
#include "driver/leak/leaklist.h"

#include <stdlib.h>

#include "common/str_starts.h"
#include "common/folded.h"
#include "common/strbuf.h"
#include "fold/fold.h"

const char *const leak_class_names[LEAK_CLASSES] = {"definite", "indirect", "inner",
                                                    "live",     "region",   "growth"};

/* ---- counts of rows ---- */

static int64_t bytes_of(const struct trace_row *r, uint16_t flag)
{
    return r->flags & flag ? (int64_t)r->alloc_bytes : 0;
}

static int64_t blocks_of(const struct trace_row *r, uint16_t flag)
{
    return r->flags & flag ? (int64_t)r->alloc_calls : 0;
}

#define VALUE(name, of, flag)                                                                      \
    static int64_t name(const struct trace *t FLAME_UNUSED, const struct trace_row *r)             \
    {                                                                                              \
        return of(r, flag);                                                                        \
    }

VALUE(definite_blocks, blocks_of, TRACE_ROW_LEAKED)
VALUE(definite_bytes, bytes_of, TRACE_ROW_LEAKED)
VALUE(indirect_blocks, blocks_of, TRACE_ROW_LEAKED_BY_LEAK)
VALUE(indirect_bytes, bytes_of, TRACE_ROW_LEAKED_BY_LEAK)
VALUE(inner_blocks, blocks_of, TRACE_ROW_INNER)
VALUE(inner_bytes, bytes_of, TRACE_ROW_INNER)
VALUE(region_blocks, blocks_of, TRACE_ROW_REGION)
VALUE(region_bytes, bytes_of, TRACE_ROW_REGION)
VALUE(growth_blocks, blocks_of, TRACE_ROW_GROWTH)
VALUE(growth_bytes, bytes_of, TRACE_ROW_GROWTH)

static int64_t growth_rows(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return r->flags & TRACE_ROW_GROWTH ? (int64_t)r->temp_calls : 0;
}

static int64_t growth_fit(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return r->flags & TRACE_ROW_GROWTH ? (int64_t)r->free_bytes : 0;
}

static int64_t growth_passes(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return r->flags & TRACE_ROW_GROWTH ? (int64_t)r->free_calls : 0;
}

static int64_t live_blocks(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return trace_row_counts(r) ? (int64_t)(r->alloc_calls - r->free_calls) : 0;
}

static int64_t live_bytes(const struct trace *t FLAME_UNUSED, const struct trace_row *r)
{
    return trace_row_counts(r) ? (int64_t)(r->alloc_bytes - r->free_bytes) : 0;
}

#define VIEW(called, counted, value_of)                                                            \
    {                                                                                              \
        .name = called, .unit = counted, .recorder = TRACE_RECORDER_MEM, .scale = 1,               \
        .shape = VIEW_STACK, .value = value_of                                                     \
    }

/* The quantity that a view counts. */
enum counted { BLOCKS, BYTES, ROWS, FIT, PASSES };

/* A view's class of leaks, and its quantity. A block may have no bytes, but there are no bytes
 * without a block: so blocks come first. */
struct listed {
    enum leak_class class;
    enum counted what;
};

static const struct view verdict_views[] = {
    VIEW("definite", "blocks", definite_blocks),
    VIEW("definite", "bytes", definite_bytes),
    VIEW("indirect", "blocks", indirect_blocks),
    VIEW("indirect", "bytes", indirect_bytes),
    VIEW("inner", "blocks", inner_blocks),
    VIEW("inner", "bytes", inner_bytes),
    VIEW("region", "blocks", region_blocks),
    VIEW("region", "bytes", region_bytes),
    {.name = NULL},
};
static const struct listed verdicts_listed[] = {
    {LEAK_DEFINITE, BLOCKS}, {LEAK_DEFINITE, BYTES}, {LEAK_INDIRECT, BLOCKS},
    {LEAK_INDIRECT, BYTES},  {LEAK_INNER, BLOCKS},   {LEAK_INNER, BYTES},
    {LEAK_REGION, BLOCKS},   {LEAK_REGION, BYTES},
};

static const struct view live_views[] = {
    VIEW("live", "blocks", live_blocks),
    VIEW("live", "bytes", live_bytes),
    {.name = NULL},
};
static const struct listed live_listed[] = {{LEAK_LIVE, BLOCKS}, {LEAK_LIVE, BYTES}};

static const struct view growth_views[] = {
    VIEW("growth", "blocks", growth_blocks), VIEW("growth", "bytes", growth_bytes),
    VIEW("growth", "rows", growth_rows),     VIEW("growth", "millionths", growth_fit),
    VIEW("growth", "passes", growth_passes), {.name = NULL},
};
static const struct listed growth_listed[] = {
    {LEAK_GROWTH, BLOCKS}, {LEAK_GROWTH, BYTES},  {LEAK_GROWTH, ROWS},
    {LEAK_GROWTH, FIT},    {LEAK_GROWTH, PASSES},
};

/* ---- one stack ---- */

/* Cuts "NAME-123" after its name and returns the number. */
static uint32_t cut_number(char *name)
{
    char *dash = strrchr(name, '-'), *end;
    unsigned long n = dash ? strtoul(dash + 1, &end, 10) : 0;

    if (!n || *end || n > UINT32_MAX)
        return 0;
    *dash = '\0';
    return (uint32_t)n;
}

static char *cut_at(char *s, char c)
{
    char *at = strchr(s, c);

    if (!at)
        return NULL;
    *at = '\0';
    return at + 1;
}

static struct leak_frame parse_frame(char *text)
{
    static const char inlined[] = "_[i]";
    struct leak_frame f = {.function = text, .module = ""};
    size_t len, mark = sizeof inlined - 1;
    char *module = cut_at(text, PLACE_MARK), *file = module ? cut_at(module, PLACE_MARK) : NULL;
    char *colon = file ? strrchr(file, ':') : NULL;

    if (module)
        f.module = module;
    if (colon) {
        *colon = '\0';
        f.file = file;
        f.line = (unsigned)strtoul(colon + 1, NULL, 10);
    }
    len = strlen(text);
    if (len > mark && strcmp(text + len - mark, inlined) == 0) {
        f.inlined = true;
        text[len - mark] = '\0';
    }
    return f;
}

/* Removes the outermost frame "[region NAME]" from the stack: it is not a function. */
static void take_region(struct leak *leak)
{
    static const char begin[] = "[region ";
    char *name = leak->nframes ? (char *)leak->frames[leak->nframes - 1].function : NULL;
    size_t len = name ? strlen(name) : 0;

    leak->region = "";
    if (len < sizeof begin || strncmp(name, begin, sizeof begin - 1) != 0)
        return;
    name[len - 1] = '\0';
    leak->region = name + sizeof begin - 1;
    leak->nframes--;
}

/* Parses the frames of `rest`, the text after the first ';'. NULL: the stack has no frames. */
static void parse_frames(struct leak *leak, char *rest)
{
    size_t frames = 0;

    for (const char *s = rest; s; s = strchr(s, ';'), s = s ? s + 1 : NULL)
        frames++;
    leak->frames = xcalloc(frames, sizeof *leak->frames);
    leak->nframes = frames;
    while (frames > 0) {
        char *next = cut_at(rest, ';');

        leak->frames[--frames] = parse_frame(rest);
        rest = next;
    }
}

void leak_take_frames(struct leak *leak)
{
    parse_frames(leak, cut_at(leak->text, ';'));
}

static void parse_stack(struct leak *leak, bool live)
{
    char *rest = cut_at(leak->text, ';');

    leak->process = leak->text;
    leak->thread = "";
    if (!live) {
        leak->pid = cut_number(leak->text);
        if (rest) {
            char *thread = rest;

            rest = cut_at(thread, ';');
            leak->thread = thread;
            leak->tid = cut_number(thread);
            if (!leak->tid && strcmp(thread, "[unknown thread]") == 0)
                leak->thread = "";
        }
    }
    parse_frames(leak, rest);
    if (leak->class == LEAK_REGION)
        take_region(leak);
}

/* ---- the text ---- */

static int by_text(const void *pa, const void *pb)
{
    return strcmp(((const struct leak *)pa)->text, ((const struct leak *)pb)->text);
}

static void add_blocks(struct leak_list *l, enum leak_class class, const struct folded_line *line)
{
    GROW(l->leaks, l->n, l->room);
    l->leaks[l->n++] = (struct leak){
        .class = class, .blocks = line->count.whole, .text = xmemdup0(line->stack, line->len)};
}

/* The leaks from `first` on are sorted by their texts. */
static void add_other(struct leak_list *l, size_t first, enum counted what,
                      const struct folded_line *line)
{
    struct leak key = {.text = xmemdup0(line->stack, line->len)};
    struct leak *found = bsearch(&key, l->leaks + first, l->n - first, sizeof key, by_text);

    if (found && what == BYTES)
        found->bytes = line->count.whole;
    else if (found && what == ROWS)
        found->rows = line->count.whole;
    else if (found && what == FIT)
        found->fit = (double)line->count.whole / 1e6 / (double)found->rows;
    else if (found && what == PASSES)
        found->passes = line->count.whole / found->rows;
    free(key.text);
}

/* Reads one view's text from `s` on; returns the begin of the next. */
static const char *take_view(struct leak_list *l, size_t first, const struct listed *listed,
                             const char *s, const char *end)
{
    const char *next, *begin = s;

    for (; s < end; s = next + 1) {
        struct folded_line line;

        next = memchr(s, '\n', (size_t)(end - s));
        if (!next)
            next = end;
        if (folded_parse_line(s, (size_t)(next - s), &line) == 1) {
            if (listed->what == BLOCKS)
                add_blocks(l, listed->class, &line);
            else if (l->n > first)
                add_other(l, first, listed->what, &line);
        } else if (s > begin && strncmp(s, "# flame: view=", 14) == 0) {
            break;
        }
    }
    return s;
}

static void take_text(struct leak_list *l, const struct strbuf *text, const struct listed *listed)
{
    const char *s = text->buf, *end = s + text->len;
    size_t first = 0;

    for (; s < end; listed++) {
        if (listed->what == BLOCKS)
            first = l->n;
        s = take_view(l, first, listed, s, end);
        if (listed->what == BLOCKS && l->n > first)
            qsort(l->leaks + first, l->n - first, sizeof *l->leaks, by_text);
    }
}

/* ---- the list ---- */

static int by_size(const void *pa, const void *pb)
{
    const struct leak *a = pa, *b = pb;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->blocks != b->blocks)
        return a->blocks < b->blocks ? 1 : -1;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return leak_compare_frames(a, b);
}

int leak_list_make(struct leak_list *l, struct trace *const *traces, size_t ntraces,
                   enum leak_class what)
{
    bool live = what == LEAK_LIVE;
    struct fold_options opt = {.views = live                  ? live_views
                                        : what == LEAK_GROWTH ? growth_views
                                                              : verdict_views,
                               .pid = !live,
                               .tid = !live,
                               .own = true,
                               .quiet = true,
                               .place = PLACE_ALL,
                               .symbols.lines = true};
    struct strbuf text = STRBUF_INIT;
    int status;

    *l = (struct leak_list){0};
    if (!ntraces)
        return 0;
    status = fold_loaded(&opt, traces, ntraces, &text);
    if (!status) {
        take_text(l, &text,
                  live                  ? live_listed
                  : what == LEAK_GROWTH ? growth_listed
                                        : verdicts_listed);
        for (size_t i = 0; i < l->n; i++)
            parse_stack(&l->leaks[i], live);
        if (l->n)
            qsort(l->leaks, l->n, sizeof *l->leaks, by_size);
    }
    strbuf_release(&text);
    return status;
}

static void release(struct leak *leak)
{
    free(leak->frames);
    free(leak->kept_by);
    free(leak->through);
    free(leak->text);
}

void leak_list_release(struct leak_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        release(&l->leaks[i]);
    free(l->leaks);
    *l = (struct leak_list){0};
}

bool leak_counts(const struct leak *leak)
{
    return leak->class != LEAK_INNER;
}

static bool is_in_sum(const struct leak *leak, bool regions)
{
    return leak_counts(leak) && (leak->class == LEAK_REGION) == regions;
}

uint64_t leak_list_bytes(const struct leak_list *l, bool regions)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < l->n; i++)
        sum += is_in_sum(&l->leaks[i], regions) ? l->leaks[i].bytes : 0;
    return sum;
}

uint64_t leak_list_blocks(const struct leak_list *l, bool regions)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < l->n; i++)
        sum += is_in_sum(&l->leaks[i], regions) ? l->leaks[i].blocks : 0;
    return sum;
}

/* ---- frames ---- */

static bool begins_as_one_of(const char *s, const char *const *list)
{
    for (; *list; list++)
        if (starts_with(s, *list))
            return true;
    return false;
}

/* Whether the function lies between the program and malloc, in any library. */
static bool is_allocator(const struct leak_frame *f)
{
    static const char *const names[] = {"operator new",       "__gnu_cxx::new_allocator",
                                        "std::allocator",     "std::__new_allocator",
                                        "__gnu_cxx::__alloc", NULL};
    static const char *const exact[] = {
        "malloc",         "calloc",        "realloc",   "reallocarray",   "memalign",
        "posix_memalign", "aligned_alloc", "strdup",    "strndup",        "__strdup",
        "__strndup",      "asprintf",      "vasprintf", "__libc_memalign"};

    if (begins_as_one_of(f->function, names))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(exact); i++)
        if (strcmp(f->function, exact[i]) == 0)
            return true;
    return false;
}

/* False also for headers of the compiler and of libraries, which are in the program's debug
 * information, too. */
static bool has_own_source(const struct leak_frame *f)
{
    static const char *const elsewhere[] = {"/usr/include/", "/usr/lib/", "/usr/src/", "/rustc/",
                                            NULL};

    return f->file && f->line && !begins_as_one_of(f->file, elsewhere);
}

/* Whether the frame is in the program's own code. A source file alone does not show that, as debug
 * information of the system's libraries may be installed. */
static bool is_programs(const struct leak_frame *f)
{
    static const char *const system[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", NULL};

    return *f->module && !begins_as_one_of(f->module, system);
}

const struct leak_frame *leak_place(const struct leak *leak)
{
    const struct leak_frame *best = leak->nframes ? leak->frames : NULL;
    int best_rank = 0;

    for (size_t i = 0; i < leak->nframes; i++) {
        const struct leak_frame *f = &leak->frames[i];
        int rank = 1;

        if (is_allocator(f))
            continue;
        if (is_programs(f))
            rank = has_own_source(f) ? 4 : 3;
        else if (has_own_source(f))
            rank = 2;
        if (rank > best_rank) {
            best = f;
            best_rank = rank;
        }
    }
    return best;
}

static int compare_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

int leak_compare_frames(const struct leak *a, const struct leak *b)
{
    int regions = compare_text(a->region, b->region);

    if (regions)
        return regions;
    if (a->nframes != b->nframes)
        return a->nframes < b->nframes ? -1 : 1;
    for (size_t i = 0; i < a->nframes; i++) {
        const struct leak_frame *f = &a->frames[i], *g = &b->frames[i];
        int order = strcmp(f->function, g->function);

        if (!order)
            order = compare_text(f->file, g->file);
        if (!order && f->line != g->line)
            order = f->line < g->line ? -1 : 1;
        if (!order)
            order = strcmp(f->module, g->module);
        if (order)
            return order;
    }
    return 0;
}
