/*
 * Palettes.
 *
 * Problem: neighbours must look different, a name must keep its colour from picture to picture,
 * black text must stay readable, and people know the hues by name from flamegraph.pl and inferno
 * (which give the names: hot, mem, io...).
 *
 * Algorithm: a hue is a range in each of the three channels and the name's hash picks the point
 * in it. Most palettes are one hue; a few choose the hue by the form of names in their language.
 * An annotation at the end of a name shifts to another hue in every palette.
 *
 * Rejected: real randomness, also for --random, which gives each frame a shade of its own: two
 * runs over one input would differ, and pictures could not be compared.
 */
#define _GNU_SOURCE
#include "common/str_starts.h"
#include "render/palette.h"

#include <math.h>

#include "common/hash.h"

enum hue {
    HUE_HOT,
    HUE_MEM,
    HUE_IO,
    HUE_RED,
    HUE_GREEN,
    HUE_BLUE,
    HUE_AQUA,
    HUE_YELLOW,
    HUE_PURPLE,
    HUE_ORANGE,
    HUE_SAND,
};

/* Lowest value and span of each channel, and which of the three draws moves it. */
static const struct {
    uint8_t low[3], span[3], draw[3];
} hues[] = {
    [HUE_HOT] = {{226, 86, 40}, {29, 112, 36}, {0, 1, 2}},
    [HUE_MEM] = {{92, 182, 92}, {38, 44, 98}, {0, 1, 2}},
    [HUE_IO] = {{118, 128, 205}, {58, 58, 44}, {1, 1, 0}},
    [HUE_RED] = {{220, 92, 84}, {33, 84, 80}, {0, 1, 1}},
    [HUE_GREEN] = {{92, 176, 72}, {72, 50, 72}, {1, 0, 1}},
    [HUE_BLUE] = {{104, 134, 212}, {70, 66, 40}, {1, 1, 0}},
    [HUE_AQUA] = {{76, 168, 172}, {76, 54, 54}, {1, 0, 0}},
    [HUE_YELLOW] = {{206, 182, 62}, {40, 44, 66}, {0, 0, 1}},
    [HUE_PURPLE] = {{186, 110, 200}, {52, 70, 50}, {0, 1, 0}},
    [HUE_ORANGE] = {{222, 130, 36}, {32, 60, 56}, {0, 1, 1}},
    [HUE_SAND] = {{198, 174, 134}, {40, 40, 44}, {0, 0, 1}},
};

struct name {
    const char *s; /* without its annotation */
    size_t len;
    char mark; /* 'k', 'j', 'i', 'w', 'o' or 0 */
};

static bool has(const struct name *n, const char *part)
{
    return memmem(n->s, n->len, part, strlen(part)) != NULL;
}

static bool name_begins(const struct name *n, const char *part)
{
    return bytes_start_with(n->s, n->len, part);
}

/* Java's frames are package paths; natives and the VM's C++ have other shapes. */
static enum hue hue_java(const struct name *n)
{
    static const char *const roots[] = {"java", "javax", "jdk", "net", "org", "com", "io", "sun"};

    if (has(n, "::") || name_begins(n, "-[") || name_begins(n, "+["))
        return HUE_YELLOW;
    for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
        size_t len = strlen(roots[i]);
        size_t skip = n->len > 0 && n->s[0] == 'L';

        if (n->len > skip + len && memcmp(n->s + skip, roots[i], len) == 0 &&
            (n->s[skip + len] == '/' || n->s[skip + len] == '.'))
            return HUE_GREEN;
    }
    return HUE_RED;
}

static enum hue hue_js(const struct name *n)
{
    if (has(n, "::"))
        return HUE_YELLOW;
    if (has(n, ".js") || name_begins(n, "~") || name_begins(n, "*") ||
        name_begins(n, "LazyCompile:"))
        return HUE_GREEN;
    if (has(n, ":") || name_begins(n, "Builtin"))
        return HUE_AQUA;
    return HUE_RED;
}

static enum hue hue_perl(const struct name *n)
{
    if (has(n, "Perl") || has(n, ".pl") || has(n, ".pm"))
        return HUE_GREEN;
    return has(n, "::") ? HUE_YELLOW : HUE_RED;
}

static enum hue hue_rust(const struct name *n)
{
    static const char *const own[] = {"core::", "std::", "alloc::"};
    struct name path = *n;

    if (name_begins(n, "<")) { /* <alloc::vec::Vec<T> as core::ops::Drop>::drop */
        path.s++;
        path.len--;
    }
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (name_begins(&path, own[i]))
            return HUE_SAND;
    return has(n, "::") ? HUE_ORANGE : HUE_RED;
}

static enum hue hue_python(const struct name *n)
{
    if (has(n, "site-packages") || has(n, "dist-packages"))
        return HUE_AQUA;
    if (has(n, "/lib/python") || name_begins(n, "<frozen"))
        return HUE_BLUE;
    return has(n, ".py") || name_begins(n, "<module>") ? HUE_YELLOW : HUE_RED;
}

static const struct {
    const char *name;
    enum hue hue;
    enum hue (*choose)(const struct name *n); /* NULL: always `hue` */
} palettes[] = {
    {"hot", HUE_HOT, NULL},          {"mem", HUE_MEM, NULL},       {"io", HUE_IO, NULL},
    {"java", HUE_RED, hue_java},     {"js", HUE_RED, hue_js},      {"perl", HUE_RED, hue_perl},
    {"python", HUE_RED, hue_python}, {"rust", HUE_RED, hue_rust},  {"wakeup", HUE_AQUA, NULL},
    {"chain", HUE_BLUE, NULL},       {"red", HUE_RED, NULL},       {"green", HUE_GREEN, NULL},
    {"blue", HUE_BLUE, NULL},        {"aqua", HUE_AQUA, NULL},     {"yellow", HUE_YELLOW, NULL},
    {"purple", HUE_PURPLE, NULL},    {"orange", HUE_ORANGE, NULL}, {"hotcold", HUE_RED, NULL},
};

int palette_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(palettes); i++)
        if (strcmp(palettes[i].name, name) == 0)
            return (int)i;
    return -1;
}

void palette_add_names(struct strbuf *sb)
{
    for (size_t i = 0; i < ARRAY_LEN(palettes); i++)
        strbuf_addf(sb, "%s%s", i ? " " : "", palettes[i].name);
}

static char mark_of(const char *name, size_t len)
{
    if (len >= 4 && name[len - 4] == '_' && name[len - 3] == '[' && name[len - 1] == ']' &&
        strchr("kjiwo", name[len - 2]) && name[len - 2])
        return name[len - 2];
    return 0;
}

size_t palette_strip_mark(const char *name, size_t len)
{
    return mark_of(name, len) ? len - 4 : len;
}

/* Three numbers in [0,1) that look unrelated for different names. */
static void draw_random(const struct name *n, uint32_t seed, double v[3])
{
    /* A finalizer for the hash's weak low bits follows. */
    uint64_t h = fnv_bytes(FNV_BASIS ^ (uint64_t)seed << 32, n->s, n->len);

    for (int i = 0; i < 3; i++) {
        h ^= h >> 31;
        h *= 0x7fb5d329728ea185u;
        h ^= h >> 29;
        v[i] = (double)(h >> 40) / (1u << 24);
    }
}

/*
 * Three numbers that lie near each other for names that begin alike: each
 * character moves the point less than the one before it. A module's path is left
 * out, or all of a library's functions would look the same.
 */
static void draw_similar(const struct name *n, double v[3])
{
    double weight = 0.5, sum = 0;
    size_t i = 0, end = n->len;
    const char *tick = memchr(n->s, '`', n->len);

    if (tick && tick + 1 < n->s + n->len)
        i = (size_t)(tick + 1 - n->s);
    if (end > i + 16)
        end = i + 16;
    for (; i < end; i++, weight *= 0.5)
        sum += weight * ((unsigned char)n->s[i] * 37 % 64) / 64;
    v[0] = sum;
    v[1] = 1 - sum;
    v[2] = sum < 0.5 ? 2 * sum : 2 - 2 * sum;
    for (int k = 0; k < 3; k++)
        v[k] = fmin(fmax(v[k], 0), 0.999999);
}

/* Whether a palette looks green to people with red-green colour blindness: red and aqua do, too. */
static bool looks_green(int palette)
{
    enum hue hue = palettes[palette].hue;

    return !palettes[palette].choose &&
           (hue == HUE_GREEN || hue == HUE_MEM || hue == HUE_AQUA || hue == HUE_RED);
}

static enum hue hue_of(int palette, const struct name *n)
{
    enum hue hue = palettes[palette].choose ? palettes[palette].choose(n) : palettes[palette].hue;

    switch (n->mark) {
    case 'k':
        return palettes[palette].hue == HUE_ORANGE || palettes[palette].hue == HUE_HOT ? HUE_PURPLE
                                                                                       : HUE_ORANGE;
    case 'j':
        return looks_green(palette) ? HUE_YELLOW : HUE_GREEN;
    case 'w':
        return palettes[palette].hue == HUE_AQUA || palettes[palette].hue == HUE_MEM ? HUE_PURPLE
                                                                                     : HUE_AQUA;
    case 'o':
        return palettes[palette].hue == HUE_BLUE || palettes[palette].hue == HUE_IO ? HUE_RED
                                                                                    : HUE_BLUE;
    case 'i':
        if (palettes[palette].choose)
            return HUE_AQUA;
        return hue;
    default:
        return hue;
    }
}

static uint8_t pale(uint8_t v)
{
    return (uint8_t)(v + (255 - v) * 0.45);
}

static struct rgb shade(enum hue hue, const double v[3])
{
    uint8_t c[3];

    for (int i = 0; i < 3; i++)
        c[i] =
            (uint8_t)fmin(hues[hue].low[i] + v[hues[hue].draw[i]] * (hues[hue].span[i] + 1), 255);
    return (struct rgb){c[0], c[1], c[2]};
}

/* The colour of "-" and "--", which are no frames but separate them. */
static bool separator(const char *name, size_t len, struct rgb *c)
{
    uint8_t grey = len == 1 ? 176 : 130;

    *c = (struct rgb){grey, grey, grey};
    return (len == 1 || len == 2) && memcmp(name, "--", len) == 0;
}

static struct rgb color(int palette, const char *name, size_t len, bool similar, uint32_t seed)
{
    struct name n = {name, palette_strip_mark(name, len), mark_of(name, len)};
    struct rgb c;
    double v[3];

    if (separator(name, len, &c))
        return c;
    if (similar)
        draw_similar(&n, v);
    else
        draw_random(&n, seed, v);
    c = shade(hue_of(palette, &n), v);
    /* An inlined frame is its caller's code: the same hue, paler. */
    if (n.mark == 'i' && !palettes[palette].choose)
        c = (struct rgb){pale(c.r), pale(c.g), pale(c.b)};
    return c;
}

struct rgb palette_color(int palette, const char *name, size_t len, bool similar)
{
    return color(palette, name, len, similar, 0);
}

struct rgb palette_color_random(int palette, const char *name, size_t len, uint32_t seed)
{
    return color(palette, name, len, false, seed);
}

/*
 * The hue of a waker. Neighbours are far apart, also to people with colour blindness (t0576
 * measures it; red beside green would not be); the palette's own hue is the sleeper's.
 */
static enum hue hue_of_hops(int palette, unsigned hops)
{
    static const enum hue far[] = {HUE_AQUA, HUE_PURPLE, HUE_YELLOW, HUE_GREEN, HUE_ORANGE};
    enum hue hue = far[(hops - 1) % ARRAY_LEN(far)];

    return hue == palettes[palette].hue ? HUE_RED : hue;
}

struct rgb palette_color_hops(int palette, const char *name, size_t len, unsigned hops)
{
    struct name n = {name, palette_strip_mark(name, len), 0};
    struct rgb c;
    double v[3];

    if (separator(name, len, &c))
        return c;
    draw_random(&n, 0, v);
    return shade(hue_of_hops(palette, hops), v);
}

/* ---- the meaning of colours ---- */

static const double middle[3] = {0.5, 0.5, 0.5};

/* The meaning of a hue, in palettes that choose hues by name. */
static const char *word_of_hue(enum hue (*choose)(const struct name *), enum hue hue)
{
    static const struct {
        enum hue (*choose)(const struct name *);
        enum hue hue;
        const char *word;
    } words[] = {
        {hue_java, HUE_GREEN, "Java"},
        {hue_js, HUE_GREEN, "JavaScript"},
        {hue_js, HUE_AQUA, "of the engine"},
        {hue_perl, HUE_GREEN, "Perl"},
        {hue_rust, HUE_ORANGE, "Rust"},
        {hue_rust, HUE_SAND, "Rust's own library"},
        {hue_python, HUE_YELLOW, "Python"},
        {hue_python, HUE_AQUA, "installed packages"},
        {hue_python, HUE_BLUE, "Python's own library"},
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (words[i].choose == choose && words[i].hue == hue)
            return words[i].word;
    return hue == HUE_YELLOW ? "C++" : "other native code";
}

const char *palette_kind(int palette, const char *name, size_t len, struct rgb *typical)
{
    struct name n = {name, palette_strip_mark(name, len), mark_of(name, len)};
    enum hue hue = hue_of(palette, &n);

    if (separator(name, len, typical))
        return "boundary";
    *typical = shade(hue, middle);
    switch (n.mark) {
    case 'k':
        return "kernel";
    case 'j':
        return "made at run time (JIT)";
    case 'w':
        return "who woke it";
    case 'o':
        return "off CPU";
    case 'i':
        if (!palettes[palette].choose)
            *typical = (struct rgb){pale(typical->r), pale(typical->g), pale(typical->b)};
        return "inlined";
    default:
        return palettes[palette].choose ? word_of_hue(palettes[palette].choose, hue) : NULL;
    }
}

struct rgb palette_swatch(int palette)
{
    return shade(palettes[palette].hue, middle);
}

struct rgb palette_hop_swatch(int palette, unsigned hops)
{
    return shade(hue_of_hops(palette, hops), middle);
}

struct rgb palette_thread(const char *name, size_t len)
{
    /* Colours of about equal lightness; neighbours in the list are far apart in hue. */
    static const struct rgb bands[] = {{52, 74, 122}, {122, 62, 42}, {40, 94, 74},  {104, 54, 104},
                                       {86, 82, 30},  {30, 90, 104}, {128, 46, 78}, {70, 66, 130},
                                       {52, 92, 40},  {110, 74, 26}};
    struct name n = {name, len, 0};
    double v[3];

    draw_random(&n, 0, v);
    return bands[(size_t)(v[0] * ARRAY_LEN(bands))];
}
