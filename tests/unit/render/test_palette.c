/* Colours: stable, readable, and where marks and separators lead. */
#include "render/palette.h"
#include "tests/tap.h"

#include <math.h>

static const char *const all[] = {"hot",    "mem",  "io",     "java",   "js",    "perl",
                                  "python", "rust", "wakeup", "chain",  "red",   "green",
                                  "blue",   "aqua", "yellow", "purple", "orange"};

static struct rgb color(const char *palette, const char *name, bool similar)
{
    return palette_color(palette_find(palette), name, strlen(name), similar);
}

static bool same(struct rgb a, struct rgb b)
{
    return a.r == b.r && a.g == b.g && a.b == b.b;
}

static int distance(struct rgb a, struct rgb b)
{
    return abs(a.r - b.r) + abs(a.g - b.g) + abs(a.b - b.b);
}

/* Contrast of a label (#111) on the colour, as WCAG 2 defines it. */
static double contrast(struct rgb c)
{
    uint8_t part[3] = {c.r, c.g, c.b};
    double weight[3] = {.2126, .7152, .0722}, l = 0, dark = pow((17 / 255. + .055) / 1.055, 2.4);

    for (int i = 0; i < 3; i++) {
        double v = part[i] / 255.;

        l += weight[i] * (v <= .03928 ? v / 12.92 : pow((v + .055) / 1.055, 2.4));
    }
    return (l + .05) / (dark + .05);
}

static void test_readable(void)
{
    static const char *const marks[] = {"", "_[i]", "_[k]", "_[j]", "_[w]"};

    for (size_t p = 0; p < ARRAY_LEN(all); p++) {
        double worst = 100;
        int distinct = 0;
        struct rgb last = {0};

        for (int i = 0; i < 2000; i++) {
            char name[64];
            struct rgb c;

            snprintf(name, sizeof name, "%s%d%s", i % 2 ? "core::f" : "g", i,
                     marks[i % ARRAY_LEN(marks)]);
            c = color(all[p], name, i % 3 == 0);
            worst = fmin(worst, contrast(c));
            distinct += !same(c, last);
            last = c;
        }
        ok(worst >= 4.5, "%s: labels are readable (contrast at least %.1f)", all[p], worst);
        ok(distinct > 1500, "%s: names have distinct colours", all[p]);
    }
}

static void test_names(void)
{
    struct strbuf names = STRBUF_INIT;

    for (size_t p = 0; p < ARRAY_LEN(all); p++)
        ok(palette_find(all[p]) >= 0, "palette %s is found", all[p]);
    is_int(palette_find("beige"), -1, "an unknown palette is not found");
    is_int(palette_find(""), -1, "an empty palette name is not found");
    palette_add_names(&names);
    ok(strncmp(names.buf, "hot mem ", 8) == 0, "palette_add_names lists the palettes");
    strbuf_release(&names);
}

static void test_stable(void)
{
    /* Fixed values on purpose: the same input must draw the same bytes tomorrow. */
    struct rgb c = color("mem", "main", false);

    ok(same(c, color("mem", "main", false)), "a name keeps its colour");
    ok(!same(c, color("mem", "mains", false)), "another name has another colour");
    ok(!same(c, color("hot", "main", false)), "another palette has another colour");
    ok(distance(color("hot", "read_line", true), color("hot", "read_file", true)) < 12,
       "--hash: names that begin alike have similar colours");
    ok(distance(color("hot", "read_line", true), color("hot", "write_file", true)) > 12,
       "--hash: names that begin differently have other colours");
    ok(same(color("hot", "libc.so`read", true), color("hot", "read", true)),
       "--hash: a module before the name does not change the colour");
}

static void test_hues(void)
{
    struct rgb grey = color("mem", "-", false), dark = color("hot", "--", true);

    ok(grey.r == grey.g && grey.g == grey.b, "the frame - is grey");
    ok(dark.r == dark.g && dark.g == dark.b && dark.r < grey.r, "the frame -- is a darker grey");
    ok(!same(color("mem", "---", false), dark), "the frame --- has a name's colour");
    for (size_t p = 0; p < ARRAY_LEN(all); p++) {
        struct rgb plain = color(all[p], "work", false);

        ok(!same(plain, color(all[p], "work_[i]", false)), "%s: an inlined frame differs", all[p]);
        ok(!same(plain, color(all[p], "work_[k]", false)), "%s: a kernel frame differs", all[p]);
        ok(!same(plain, color(all[p], "work_[j]", false)), "%s: a jitted frame differs", all[p]);
        ok(!same(plain, color(all[p], "work_[w]", false)), "%s: a waker differs", all[p]);
    }
    ok(same(color("java", "java/util/List.add", false),
            color("green", "java/util/List.add", false)),
       "java: a package is green");
    ok(same(color("java", "JVM::run", false), color("yellow", "JVM::run", false)),
       "java: the VM's C++ is yellow");
    ok(same(color("java", "memcpy", false), color("red", "memcpy", false)), "java: C is red");
    ok(same(color("js", "foo app.js:12", false), color("green", "foo app.js:12", false)),
       "js: a script's function is green");
    ok(same(color("perl", "Perl_pp_add", false), color("green", "Perl_pp_add", false)),
       "perl: Perl's own function is green");
    ok(same(color("rust", "app::run", false), color("orange", "app::run", false)),
       "rust: an application's function is orange");
    ok(!same(color("rust", "core::fmt::write", false), color("orange", "core::fmt::write", false)),
       "rust: core has another colour than the application");
    ok(same(color("python", "f (app.py:3)", false), color("yellow", "f (app.py:3)", false)),
       "python: a script's function is yellow");
}

static void test_hops(void)
{
    int chain = palette_find("chain");
    struct rgb sleeper = palette_color(chain, "f", 1, false);

    for (unsigned h = 1; h < 8; h++) {
        struct rgb one = palette_color_hops(chain, "f", 1, h);

        ok(distance(one, palette_color_hops(chain, "f_[w]", 5, h + 1)) > 30 &&
               distance(one, sleeper) > 30,
           "chain: waker %u differs from the next one and from the sleeper", h);
    }
    ok(same(palette_color_hops(chain, "--", 2, 1), palette_color(chain, "--", 2, false)),
       "chain: the separator of wakers is grey");
    ok(!same(palette_color_random(chain, "f", 1, 1), palette_color_random(chain, "f", 1, 2)),
       "--random: another frame has another shade");
}

static void test_marks(void)
{
    is_int(palette_strip_mark("foo_[i]", 7), 3, "palette_strip_mark strips an annotation");
    is_int(palette_strip_mark("foo_[x]", 7), 7, "palette_strip_mark keeps other brackets");
    is_int(palette_strip_mark("_[k]", 4), 0,
           "palette_strip_mark strips an annotation without a name to nothing");
    is_int(palette_strip_mark("[k]", 3), 3, "palette_strip_mark keeps a name that is too short");
    is_int(palette_strip_mark("f_[\0]", 5), 5, "palette_strip_mark keeps a NUL in brackets");
}

static void test_thread(void)
{
    bool differ = false;

    for (int i = 0; i < 40; i++) {
        char name[16];
        int n = snprintf(name, sizeof name, "worker-%d", i);
        struct rgb c = palette_thread(name, (size_t)n);

        differ = differ || !same(c, palette_thread("worker-0", 8));
        /* Contrast to white by WCAG 2: luminance under 0.183 is 4.5 to 1; this is above it. */
        ok(0.2126 * c.r * c.r + 0.7152 * c.g * c.g + 0.0722 * c.b * c.b < 0.175 * 255 * 255,
           "the colour of thread %s is dark enough for a white label", name);
        ok(same(c, palette_thread(name, (size_t)n)), "the colour of a thread is stable");
    }
    ok(differ, "threads have different colours");
}

static void test_delta(void)
{
    struct rgb up = palette_delta(10, 10), down = palette_delta(-10, 10),
               none = palette_delta(0, 10);
    struct rgb little = palette_delta(1, 10);

    ok(up.r > up.g && up.g > up.b, "growth is orange-red");
    ok(down.b > down.g && down.g > down.r, "a fall is blue");
    ok(none.b - none.r < 10 && none.b >= none.g && none.g >= none.r, "no difference is grey");
    ok(little.g > up.g && little.r > little.g, "little growth is paler");
    ok(contrast(up) >= 4.5 && contrast(down) >= 4.5 && contrast(none) >= 4.5,
       "all colours of differences are readable");
    none = palette_delta(5, 0);
    ok(none.g > up.g, "growth without a largest change is pale");
}

int main(void)
{
    test_names();
    test_stable();
    test_readable();
    test_hues();
    test_hops();
    test_marks();
    test_thread();
    test_delta();
    return done_testing();
}
