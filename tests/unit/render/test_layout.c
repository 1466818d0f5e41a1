/* Layout of frames: order, edges, frames left out, and fitting of text. */
#include "render/layout.h"
#include "render/backends/textfit.h"
#include "tests/tap.h"

#include <math.h>

static void build(struct frametree *t, const char *const *lines)
{
    frametree_init(t, false);
    for (; *lines; lines++) {
        struct folded_line line;

        if (folded_parse_line(*lines, strlen(*lines), &line) == 1)
            frametree_add(t, &line);
    }
    frametree_finish(t);
}

static void is_frame(const struct frametree *t, const struct layout *l, size_t i, const char *name,
                     uint32_t depth, double x, double width)
{
    const struct layout_frame *f = &l->frames[i];
    const struct frametree_name *n = frametree_name(t, f->node);

    ok(i < l->n && n->len == strlen(name) && !memcmp(n->s, name, n->len) && f->depth == depth &&
           fabs(f->x - x) < 1e-9 && fabs(f->width - width) < 1e-9,
       "frame %zu is %s at depth %u, x %g, width %g", i, name, depth, x, width);
}

static void test_places(void)
{
    static const char *const lines[] = {"m;b;x 30", "m;a 20", "m;b 10", "m 40", "n 100", NULL};
    struct frametree t;
    struct layout l;

    build(&t, lines);
    layout_make(&l, &t, 1000, 0.1);
    is_int(l.n, 6, "all frames of a tree are laid out");
    is_int(l.depth, 3, "the layout has the depth of its deepest frame");
    is_frame(&t, &l, 0, "all", 0, 0, 1000);
    is_frame(&t, &l, 1, "m", 1, 0, 500);
    is_frame(&t, &l, 2, "a", 2, 0, 100);
    is_frame(&t, &l, 3, "b", 2, 100, 200);
    is_frame(&t, &l, 4, "x", 3, 100, 150);
    is_frame(&t, &l, 5, "n", 1, 500, 500);
    is_int(l.frames[3].start.whole, 20, "a frame has its left edge as a count");
    layout_release(&l);

    layout_make(&l, &t, 1000, 160);
    is_int(l.n, 4, "narrow frames and the frames above them are left out");
    is_frame(&t, &l, 2, "b", 2, 100, 200);
    is_int(l.depth, 2, "leaving out frames lowers the picture");
    layout_release(&l);

    layout_make(&l, &t, 1000, 5000);
    is_int(l.n, 1, "the root is never left out");
    layout_release(&l);
    frametree_release(&t);
}

static void test_zero(void)
{
    static const char *const none[] = {"a;b 0", NULL};
    static const char *const some[] = {"a;b 0", "c 2", NULL};
    struct frametree t;
    struct layout l;

    build(&t, none);
    layout_make(&l, &t, 1000, 0);
    is_int(l.n, 1, "a tree of zero counts has only its root");
    layout_release(&l);
    frametree_release(&t);

    build(&t, some);
    layout_make(&l, &t, 1000, 0);
    is_int(l.n, 2, "frames of zero width are left out");
    is_frame(&t, &l, 1, "c", 1, 0, 1000);
    layout_release(&l);
    frametree_release(&t);
}

/* Children lie inside their parent, side by side, whatever the counts. */
static void test_random(void)
{
    int wrong = 0;

    for (unsigned seed = 1, round = 0; round < 40; round++) {
        struct frametree t;
        struct layout l;

        frametree_init(&t, false);
        for (int i = 0; i < 200; i++) {
            char text[128] = "";
            struct folded_line line;

            for (int f = rand_r(&seed) % 7; f >= 0; f--)
                snprintf(text + strlen(text), 4, "%c%s", 'a' + rand_r(&seed) % 5, f ? ";" : "");
            snprintf(text + strlen(text), 24, " %d.%d", rand_r(&seed) % 1000, rand_r(&seed) % 10);
            folded_parse_line(text, strlen(text), &line);
            frametree_add(&t, &line);
        }
        frametree_finish(&t);
        layout_make(&l, &t, 1180, round % 3);
        for (size_t i = 1; i < l.n; i++) {
            size_t p = i - 1, left = i - 1;

            while (l.frames[p].depth >= l.frames[i].depth)
                p--;
            while (left > p && l.frames[left].depth > l.frames[i].depth)
                left--;
            wrong += WRONG(l.frames[p].node != t.nodes[l.frames[i].node].parent, i);
            wrong += WRONG(l.frames[i].x < l.frames[p].x - 1e-6, i);
            wrong += WRONG(
                l.frames[i].x + l.frames[i].width > l.frames[p].x + l.frames[p].width + 1e-6, i);
            if (left > p)
                wrong += WRONG(l.frames[left].x + l.frames[left].width > l.frames[i].x + 1e-6, i);
            wrong += WRONG(l.frames[i].width < round % 3, i);
        }
        layout_release(&l);
        frametree_release(&t);
    }
    is_int(wrong, 0, "in 40 random trees children lie within their parents, side by side");
}

static void test_text(void)
{
    const char *name = "std::vector<int>::push_back";
    size_t len = strlen(name), last = 0;
    int wrong = 0;

    is_int(textfit(name, len, 1000, 12, "Verdana", 0), len, "a name that fits is shown in full");
    is_int(textfit(name, len, 20, 12, "Verdana", 0), 0,
           "two letters and dots are too short to show");
    is_int(textfit("ab", 2, 20, 12, "Verdana", 0), 2, "a short name that fits is shown");
    is_int(textfit(name, len, 0, 12, "Verdana", 0), 0, "a frame without room shows no name");
    is_int(textfit(name, len, -5, 12, "Verdana", 0), 0, "a frame of negative width shows no name");
    is_int(textfit("", 0, 50, 12, "Verdana", 0), 0, "an empty name is shown as empty");
    for (double w = 0; w < 300; w += 0.5) {
        size_t fits = textfit(name, len, w, 12, "monospace", 0);

        wrong += WRONG(fits < last, w);
        wrong += WRONG(fits > 0 && fits < len && ((double)fits + 2) * 12 * 0.602 > w + 1e-6, w);
        last = fits;
    }
    is_int(wrong, 0, "more room never shows less of a name, and dots fit too");
    ok(textfit("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 18, 60,
               12, "Verdana", 0) %
               3 ==
           0,
       "a name is never cut within a character");
    is_int(textfit("\xff\xff\xff", 3, 500, 12, "Verdana", 0), 3,
           "invalid bytes count as characters");
}

int main(void)
{
    test_places();
    test_zero();
    test_random();
    test_text();
    return done_testing();
}
