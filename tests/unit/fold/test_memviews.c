/* Each view's value of a row, and that a row's flags are heeded. */
#include "fold/viewtable.h"
#include "render/palette.h"
#include "tests/tap.h"

static int64_t value(const char *name, const struct trace_row *r)
{
    static const struct trace_node nodes[] = {
        {.kind = TRACE_NODE_PC},
        {.kind = TRACE_NODE_MAPPING, .addr = TRACE_MAPPING_BREAK},
        {.kind = TRACE_NODE_MAPPING, .addr = TRACE_MAPPING_FILE},
    };
    static const struct trace t = {.header = {.peak_epoch = 5}, .nodes = nodes};

    return view_find(name)->value(&t, r);
}

/* A verdict is on blocks that other rows count. */
static void verdicts(void)
{
    static const struct {
        uint16_t flag;
        const char *view;
        int64_t leaked;
    } all[] = {
        {TRACE_ROW_LEAKED, "definite", 50}, {TRACE_ROW_LEAKED_BY_LEAK, "indirect", 50},
        {TRACE_ROW_INNER, "inner", 0},      {TRACE_ROW_REACHED, "reachable", 0},
        {TRACE_ROW_REGION, "region", 0},    {TRACE_ROW_GROWTH, "growth", 0},
        {TRACE_ROW_RESIDENT, "rss", 0},     {TRACE_ROW_SWAPPED, "swap", 0},
        {TRACE_ROW_SLACK, "slack", 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct trace_row r = {.alloc_bytes = 50, .alloc_calls = 2, .flags = all[i].flag};

        for (const struct view *v = mem_views; v->name; v++)
            if (strcmp(v->name, "leak") == 0)
                is_int(value(v->name, &r), all[i].leaked, "a %s row in view leak", all[i].view);
            else
                is_int(value(v->name, &r), strcmp(v->name, all[i].view) == 0 ? 50 : 0,
                       "a %s row in view %s", all[i].view, v->name);
    }
}

static bool is_only_label(const char *label)
{
    int n = 0;

    for (const struct view *v = mem_views; v->name; v++)
        n += strcmp(v->label, label) == 0 || (v->grown && strcmp(v->grown->label, label) == 0);
    for (const struct view *v = off_views; v->name; v++)
        n += strcmp(v->label, label) == 0;
    return n == 1;
}

/* A row says all that pictures and error lines need of a view. */
static void is_whole(const struct view *views)
{
    for (const struct view *v = views; v->name; v++) {
        ok(view_find(v->name) == v && view_of_text(v->name) == v, "view %s is found by its name",
           v->name);
        ok(v->what && v->unit && v->title && v->value && v->scale,
           "view %s has a description, a unit, a title and a value", v->name);
        ok(v->label && strlen(v->label) <= VIEW_LABEL_MAX,
           "view %s has a label of %d bytes at most", v->name, VIEW_LABEL_MAX);
        ok(v->label && is_only_label(v->label), "no other view has the label of view %s", v->name);
        ok(palette_find(v->palette) >= 0, "the palette of view %s exists", v->name);
        ok(!v->need || v->need->lack || (!v->need->feature && !v->need->in_trace),
           "a trace without what view %s needs can be told what it lacks", v->name);
        ok(!v->grown == !v->moment_title, "view %s has a title for moments if it has moments",
           v->name);
        if (v->grown) {
            ok(strlen(v->grown->label) <= VIEW_LABEL_MAX && is_only_label(v->grown->label),
               "growth of view %s has a short label of its own", v->name);
            ok(view_of_text(v->grown->name) == v->grown && !view_find(v->grown->name),
               "growth of view %s is known in texts, and no view to ask for", v->name);
        }
    }
}

/* Whether a trace has a view depends on the view's need alone. */
static void needs(void)
{
    struct trace t = {0};

    ok(view_is_in(view_find("alloc"), &t), "each trace of memory has view alloc");
    ok(!view_is_in(view_find("leak"), &t), "a trace without leaks has no view leak");
    t.header.features = TRACE_FEATURE_LEAKS;
    ok(view_is_in(view_find("leak"), &t), "a trace with leaks has view leak");
    is_int(view_asks(view_find("leak")), VIEW_ASKS_SCAN | VIEW_ASKS_EVERY_BLOCK,
           "view leak asks for a scan of every block");
    is_int(view_asks(view_find("live")), 0, "view live asks for nothing");
    is_int(view_asks(view_find("hotcold")), VIEW_ASKS_CPU, "view hotcold asks for samples");
}

int main(void)
{
    struct trace_row r = {.alloc_bytes = 100,
                          .alloc_calls = 10,
                          .free_bytes = 30,
                          .free_calls = 3,
                          .temp_calls = 2,
                          .peak_bytes = 90,
                          .peak_calls = 9,
                          .peak_epoch = 5};
    struct strbuf sb = STRBUF_INIT;

    is_int(value("alloc", &r), 100, "alloc counts allocated bytes");
    is_int(value("count", &r), 10, "count counts allocations");
    is_int(value("live", &r), 70, "live counts allocated less freed bytes");
    is_int(value("peak", &r), 90, "peak uses the value saved at the peak");
    is_int(value("temp", &r), 2, "temp counts temporary allocations");
    r.peak_epoch = 4;
    is_int(value("peak", &r), 70, "peak uses the live bytes of a row unchanged since the peak");
    r.flags = TRACE_ROW_INHERITED;
    is_int(value("alloc", &r), 0, "alloc ignores an inherited row");
    is_int(value("count", &r), 0, "count ignores an inherited row");
    is_int(value("live", &r), 70, "live counts an inherited row");
    r.free_bytes = 130;
    is_int(value("live", &r), -30, "live is negative where more was freed than allocated");
    r.alloc_bytes = UINT64_MAX;
    r.free_bytes = UINT64_MAX - 1;
    is_int(value("live", &r), 1, "live is computed modulo 2^64");

    r = (struct trace_row){.alloc_bytes = 100,
                           .alloc_calls = 10,
                           .free_bytes = 30,
                           .free_calls = 3,
                           .flags = TRACE_ROW_MAPPED};
    for (const struct view *v = mem_views; v->name; v++)
        is_int(value(v->name, &r),
               strcmp(v->name, "mmap") == 0       ? 70
               : strcmp(v->name, "unmapped") == 0 ? 30
                                                  : 0,
               "a mapping row counts in mmap and unmapped only: %s", v->name);
    is_int(value("brk", &r), 0, "brk ignores a mapping of another node");
    r.node = 1;
    is_int(value("brk", &r), 70, "brk counts a mapping of a brk node");
    r.node = 2;
    is_int(value("brk", &r), 0, "brk ignores a mapping of a file's node");
    r = (struct trace_row){.alloc_calls = 10, .flags = TRACE_ROW_FAULT};
    for (const struct view *v = mem_views; v->name; v++)
        is_int(value(v->name, &r), strcmp(v->name, "fault") == 0 ? 10 : 0,
               "a fault row counts in view fault only: %s", v->name);
    verdicts();
    ok(!view_find("") && !view_find("allo"), "view_find refuses empty and partial names");
    view_list(&sb, TRACE_RECORDER_MEM);
    is_str(sb.buf,
           "alloc, count, live, peak, temp, leak, definite, indirect, inner, reachable, region, "
           "growth, mmap, brk, unmapped, rss, swap, slack, kept, fault, touched, sizes, lifetimes, "
           "short, old",
           "view_list names the views of a memory trace");
    is_whole(mem_views);
    is_whole(off_views);
    needs();
    strbuf_release(&sb);
    return done_testing();
}
