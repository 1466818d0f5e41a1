/*
 * The viewer without a terminal: keys, and the screen after them, column by column.
 */
#include <locale.h>

#include "common/folded.h"
#include "render/view/viewdraw.h"
#include "render/view/viewkeys.h"
#include "tests/tap.h"

static const char text[] = "main;parse;read 40\n"
                           "main;parse;tokenize;grow 20\n"
                           "main;render;grow 30\n"
                           "main 5\n"
                           "work;parse;read 5\n";

static struct frametree tree;
static struct view_column columns[2];
static double *other;
static struct view_source source;
static struct viewmodel m;
static struct cells cells;

static double *counts(const struct frametree *t)
{
    double *self = xcalloc(t->n, sizeof *self);

    for (uint32_t i = 0; i < t->n; i++)
        self[i] = (double)t->nodes[i].self;
    return self;
}

static void build(struct frametree *t, const char *folded)
{
    frametree_init(t, false);
    for (const char *s = folded, *end; *s; s = end + 1) {
        struct folded_line line;

        end = strchr(s, '\n');
        if (folded_parse_line(s, (size_t)(end - s), &line) == 1)
            frametree_add(t, &line);
    }
    frametree_finish(t);
}

static void begin(const char *folded)
{
    build(&tree, folded);
    columns[0] = (struct view_column){
        .name = "a", .title = "Samples", .unit = "samples", .self = counts(&tree)};
    other = counts(&tree);
    for (uint32_t i = 0; i < tree.n; i++)
        other[i] *= 1024;
    columns[1] =
        (struct view_column){.name = "b", .title = "Memory", .unit = "bytes", .self = other};
    source = (struct view_source){
        .tree = &tree, .columns = columns, .ncolumns = 2, .label = "in.folded", .note = ""};
    viewmodel_init(&m, &source, 0);
}

static void end(void)
{
    viewmodel_release(&m);
    cells_release(&cells);
    free((void *)columns[0].self);
    free(other);
    frametree_release(&tree);
}

static void add_utf8(struct strbuf *sb, uint32_t cp)
{
    if (cp < 0x80) {
        strbuf_addch(sb, (char)cp);
    } else if (cp < 0x800) {
        strbuf_addch(sb, (char)(0xc0 | cp >> 6));
        strbuf_addch(sb, (char)(0x80 | (cp & 0x3f)));
    } else {
        strbuf_addch(sb, (char)(0xe0 | cp >> 12));
        strbuf_addch(sb, (char)(0x80 | (cp >> 6 & 0x3f)));
        strbuf_addch(sb, (char)(0x80 | (cp & 0x3f)));
    }
}

/* A line of the screen as UTF-8, without blanks at its end. */
static const char *line(int y)
{
    static struct strbuf sb = STRBUF_INIT;

    viewmodel_settle(&m);
    viewdraw(&m, &cells);
    strbuf_clear(&sb);
    for (int x = 0; x < cells.width; x++) {
        const struct cell *c = cells_at(&cells, y, x);

        if (c->cp != CELL_CONTINUED)
            add_utf8(&sb, c->cp);
        for (int i = 0; i < CELL_MARKS && c->marks[i]; i++)
            add_utf8(&sb, c->marks[i]);
    }
    while (sb.len && sb.buf[sb.len - 1] == ' ')
        strbuf_setlen(&sb, sb.len - 1);
    return sb.buf;
}

static void keys(const char *s)
{
    for (; *s; s++)
        viewmodel_key(&m, (unsigned char)*s);
}

static void test_graph(void)
{
    begin(text);
    cells.ascii = true;
    viewmodel_resize(&m, 40, 10);
    is_str(line(0), "Samples: 100 samples  in.folded  view 1~", "graph: the title");
    is_str(line(1), "|all", "graph: the root is at the top");
    is_str(line(2), "|main                                 |",
           "graph: frames are as wide as their counts");
    is_str(line(3), "|parse                  |render       |",
           "graph: siblings are sorted by name");
    is_str(line(4), "|read           |tokeni~|grow         |", "graph: long names are cut");
    keys("jj");
    is_str(line(7), "parse", "graph: down selects the widest frame");
    is_str(line(8), "total 60 samples (60.00%); self 0 sampl~",
           "graph: details show the selected frame's counts");
    viewmodel_key(&m, VIEW_KEY_RIGHT);
    is_str(line(7), "render", "graph: right selects the next frame in the row");
    viewmodel_key(&m, VIEW_KEY_LEFT);
    keys("\r");
    is_str(line(3), "|parse", "graph: Enter zooms in");
    is_str(line(4), "|read                      |tokenize",
           "graph: a zoomed frame spans the screen");
    keys("-");
    is_str(line(3), "|parse                   |render", "graph: - zooms out by one frame");
    keys("0");
    is_str(line(3), "|parse                  |render       |", "graph: 0 zooms out fully");
    keys("ijj");
    is_str(line(6), "|all", "graph: i turns it over");
    is_str(line(5), "|main                                 |",
           "graph: turned over, callees are above");
    keys("k");
    is_str(line(7), "main", "graph: turned over, up selects a callee");
    end();
}

static void test_table(void)
{
    begin(text);
    cells.ascii = true;
    viewmodel_resize(&m, 60, 12);
    keys("t");
    is_str(line(1), "             selfv              total  symbol", "table: the headings");
    is_str(line(2), "        50  50.00%         50  50.00%  grow",
           "table: the largest own count comes first");
    is_str(line(3), "        45  45.00%         45  45.00%  read",
           "table: the second largest own count follows");
    is_str(line(11), "? help  q end  / search  s sort  Enter callers  g graph  v ~",
           "table: the last line names the keys of tables");
    keys("s");
    is_str(line(2), "         5   5.00%         95  95.00%  main", "table: sorted by total");
    is_str(line(3), "         0   0.00%         65  65.00%  parse",
           "table: totals add up over both threads");
    keys("s");
    is_str(line(2), "        50  50.00%         50  50.00%  grow", "table: sorted by name");
    keys("v");
    is_str(line(2), " 50.00 KiB  50.00%  50.00 KiB  50.00%  grow", "table: v shows the other view");
    keys("\r");
    is_str(line(5), "|grow", "callers: Enter shows the symbol in the middle");
    is_str(line(4), "|render                             |tokenize",
           "callers: direct callers are above it");
    is_str(line(3), "|main                               |parse",
           "callers: their callers are above them");
    viewmodel_key(&m, VIEW_KEY_UP);
    is_str(line(9), "render", "callers: up selects a caller");
    is_str(line(10), "total 30.00 KiB, 30,720 bytes (30.00%)",
           "callers: details show the caller's counts");
    keys("-");
    is_int(m.mode, VIEW_MODE_TABLE, "callers: - goes back to the table");
    end();
}

static void test_recursion(void)
{
    begin("a;b;a;c 10\na;b 5\n");
    viewmodel_resize(&m, 60, 12);
    cells.ascii = true;
    keys("tss");
    is_str(line(2), "         0   0.00%         15 100.00%  a",
           "recursion: a total counts a recursive symbol once");
    keys("c");
    is_str(line(6), "|b", "recursion: callees of all calls are below");
    is_str(line(7), "|a", "recursion: the inner call is among the callees");
    end();
}

static void test_search(void)
{
    begin(text);
    cells.ascii = true;
    viewmodel_resize(&m, 80, 12);
    keys("/GROW\r");
    is_str(line(11), "GROW: 1 name, in 50.00% of all; n next, N before",
           "search: a text matches in any case");
    is_str(line(9), "grow", "search: the first match is selected");
    is_str(line(10), "total 20 samples (20.00%); self 20 samples (20.00%)",
           "search: matches are in order");
    keys("n");
    is_str(line(10), "total 30 samples (30.00%); self 30 samples (30.00%)",
           "search: n selects the next match");
    keys("n");
    is_str(line(10), "total 20 samples (20.00%); self 20 samples (20.00%)",
           "search: n behind the last match selects the first");
    keys("N");
    is_str(line(10), "total 30 samples (30.00%); self 30 samples (30.00%)",
           "search: N selects the match before");
    keys("//^(read|work)$/\r");
    is_str(line(11), "/^(read|work)$/: 2 names, in 45.00% of all; n next, N before",
           "search: an expression counts each stack once");
    keys("//(/\r");
    ok(strstr(line(11), "no regular expression: ") == line(11),
       "search: a malformed expression is reported");
    keys("/nowhere\r");
    is_str(line(11), "no name matches", "search: a text without a match is reported");
    keys("/\r");
    ok(!m.match, "search: an empty text ends it");
    keys("/ab\x7f\x7f\x7fre");
    is_str(line(11), "search: re", "search: typing is shown");
    keys("\x1b");
    ok(!m.asking && !m.match, "search: Escape leaves it");
    end();
}

static void test_names(void)
{
    begin("\x1b[2J\xff;\xe2\x80\xae"
          "x;\xe5\x90\x8d\xe5\x89\x8d;e\xcc\x81t 10\n");
    viewmodel_resize(&m, 12, 10);
    is_str(line(2), "\xe2\x96\x8f\\x1b[2J\\xff", "names: escape sequences are escaped");
    is_str(line(3), "\xe2\x96\x8f\\u{202e}x", "names: bidirectional marks are escaped");
    is_str(line(4), "\xe2\x96\x8f\xe5\x90\x8d\xe5\x89\x8d", "names: wide characters are shown");
    is_int(cells_at(&cells, 4, 2)->cp, CELL_CONTINUED, "names: a wide character takes two columns");
    is_int(cells_at(&cells, 4, 3)->cp, 0x524d,
           "names: the character behind a wide one is in its column");
    is_str(line(5),
           "\xe2\x96\x8f"
           "e\xcc\x81t",
           "names: combining characters stay with their base");
    is_int(cells_at(&cells, 5, 2)->cp, 't', "names: combining characters take no column");
    viewmodel_resize(&m, 4, 10);
    is_str(line(4), "\xe2\x96\x8f\xe5\x90\x8d\xe2\x80\xa6",
           "names: no half character is shown at an edge");
    cells.ascii = true;
    viewmodel_resize(&m, 20, 10);
    is_str(line(4), "|\\u{540d}\\u{524d}", "names: ASCII mode escapes other characters");
    end();
}

/* At any size something is shown, and nothing lies outside of the screen. */
static void test_sizes(void)
{
    bool good = true;

    begin(text);
    for (int w = 1; w < 320; w += 9)
        for (int h = 1; h < 90; h += h < 8 ? 1 : 27) {
            viewmodel_resize(&m, w, h);
            for (const char *k = "gtcf?"; *k; k++) {
                viewmodel_key(&m, (uint32_t)*k);
                line(0);
                good &= cells.width == w && cells.height == h;
                m.overlay = VIEW_OVERLAY_NONE;
            }
        }
    ok(good, "screens from 1x1 to 316x89 are drawn");
    m.mode = VIEW_MODE_GRAPH;
    viewmodel_resize(&m, 300, 80);
    keys("0");
    viewmodel_key(&m, VIEW_KEY_END);
    ok(strstr(line(78), "total "), "details are above the last line of a large screen");
    end();
}

/* One source replaces another. */
static void test_feed(void)
{
    struct frametree more;
    struct view_column column;
    struct view_source next;

    begin(text);
    cells.ascii = true;
    viewmodel_resize(&m, 60, 12);
    keys("jj\rj");
    build(&more, "aaa;x 100\nmain;parse;aa 1\nmain;parse;read 80\nmain;parse;tokenize 1\n");
    column = columns[0];
    column.self = counts(&more);
    next = source;
    next.tree = &more;
    next.columns = &column;
    next.ncolumns = 1;
    viewmodel_feed(&m, &next);
    is_str(line(9), "read", "feed: the selected frame is found by its names");
    is_str(line(10), "total 80 samples (43.96%), 97.56% of the zoom; self 80 samp~",
           "feed: the zoomed frame is found by its names");
    keys("c");
    viewmodel_feed(&m, &source);
    is_str(line(5), "|read", "feed: the symbol in the middle is found by its name");
    is_str(line(4), "|parse", "feed: the symbol in the middle has its callers");
    viewmodel_feed(&m, &next);
    viewmodel_feed(&m, &source);
    keys("tj");
    viewmodel_feed(&m, &next);
    is_str(line(9), "read", "feed: the selected row of the table is found by its name");
    viewmodel_feed(&m, &source);
    frametree_release(&more);
    free((void *)column.self);
    end();
}

/* Rates per second are columns of the table, and as many of them are shown as there is room for. */
static void test_rates(void)
{
    double *rate;

    begin(text);
    cells.ascii = true;
    rate = counts(&tree);
    for (uint32_t i = 0; i < tree.n; i++)
        rate[i] = tree.nodes[i].self == 40 ? 2.4 : tree.nodes[i].self == 5 ? -3 : 0;
    source.rates = true;
    viewmodel_feed(&m, &source);
    viewmodel_resize(&m, 84, 12);
    keys("t");
    is_str(line(1), "             selfv     self/s              total    total/s  symbol",
           "rates: the headings");
    is_str(line(2), "        50  50.00%                    50  50.00%             grow",
           "rates: none is shown while none is known");
    columns[0].rate = rate;
    viewmodel_feed(&m, &source);
    is_str(line(2), "        50  50.00%          0         50  50.00%          0  grow",
           "rates: a symbol without any has 0");
    is_str(line(3), "        45  45.00%         -1         45  45.00%         -1  read",
           "rates: own rates add up over stacks");
    keys("s");
    is_str(line(1), "              self    self/sv              total    total/s  symbol",
           "rates: s sorts by the own rate");
    is_str(line(2), "        50  50.00%          0         50  50.00%          0  grow",
           "rates: the largest own rate comes first");
    keys("ss");
    is_str(line(2), "        50  50.00%          0         50  50.00%          0  grow",
           "rates: sorted by the rate with callees");
    keys("S");
    is_str(line(2), "         5   5.00%         -3         95  95.00%         -1  main",
           "rates: S sorts by the column before");
    viewmodel_resize(&m, 90, 12);
    is_str(
        line(10),
        "total 95 samples (95.00%); self 5 samples (5.00%); total/s -1 sample, self/s -3 samples",
        "rates: details show the selected row's");
    viewmodel_resize(&m, 70, 12);
    is_str(line(1), "              self             totalv    total/s  symbol",
           "rates: the one of the sorted column is shown where there is room for one");
    keys("S");
    is_str(line(1), "              self    self/sv              total  symbol",
           "rates: the own rate is shown where the table is sorted by it");
    viewmodel_resize(&m, 60, 12);
    is_str(line(1), "              self              total  symbol",
           "rates: none is shown where there is no room");
    free(rate);
    end();
}

/* A frame that shrank has no width in the graph, and a minus in the table. */
static void test_differences(void)
{
    begin(text);
    cells.ascii = true;
    viewmodel_resize(&m, 60, 12);
    for (uint32_t i = 0; i < tree.n; i++)
        if (tree.nodes[i].self == 40)
            other[i] = -30 * 1024;
    viewmodel_feed(&m, &source);
    keys("v");
    is_str(line(0), "Memory: 30.00 KiB, 30,720 bytes        in.folded  view 2/2 b",
           "differences: the title has the sum");
    is_str(line(4), "|tokenize           |grow                              |read",
           "differences: the graph has what grew");
    keys("t");
    viewmodel_key(&m, VIEW_KEY_END);
    is_str(line(8), "-25.00 KiB -83.33% -25.00 KiB -83.33%  read",
           "differences: the table has what shrank");
    end();
}

static void test_clicks(void)
{
    begin(text);
    cells.ascii = true;
    viewmodel_resize(&m, 40, 10);
    line(0);
    viewmodel_click(&m, 3, 30);
    is_str(line(7), "render", "a click selects a frame");
    viewmodel_click(&m, 3, 30);
    is_str(line(4), "|grow", "a second click zooms in");
    viewmodel_click(&m, 9, 0);
    viewmodel_click(&m, 0, 0);
    viewmodel_click(&m, 99, 99);
    is_str(line(7), "render", "clicks elsewhere do nothing");
    end();
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    test_graph();
    test_table();
    test_recursion();
    test_search();
    test_names();
    test_sizes();
    test_feed();
    test_rates();
    test_differences();
    test_clicks();
    return done_testing();
}
