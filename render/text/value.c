/*
 * Numbers as text. The two that every frame of a picture needs are written out
 * by hand, as printf took half the time of drawing a large one.
 */
#include "render/text/value.h"

#include <math.h>

/* At most six decimals, none of them a trailing zero. */
static void add_micros(struct strbuf *sb, unsigned micros)
{
    char part[7];
    size_t n = sizeof part;

    if (!micros)
        return;
    for (size_t i = n; i-- > 1; micros /= 10)
        part[i] = (char)('0' + micros % 10);
    part[0] = '.';
    while (part[n - 1] == '0')
        n--;
    strbuf_add(sb, part, n);
}

void value_add_number(struct strbuf *sb, struct folded_count c, bool grouped)
{
    unsigned micros = (unsigned)(c.part * 1e6 + 0.5);
    char digits[27];
    size_t at = sizeof digits;
    int n = 0;

    if (micros >= 1000000) { /* .9999999 rounds up */
        micros = 0;
        c.whole += c.whole < UINT64_MAX;
    }
    do {
        if (grouped && n && n % 3 == 0)
            digits[--at] = ',';
        digits[--at] = (char)('0' + c.whole % 10);
        n++;
    } while (c.whole /= 10);
    strbuf_add(sb, digits + at, sizeof digits - at);
    add_micros(sb, micros);
}

void value_add_fixed2(struct strbuf *sb, double v)
{
    uint64_t cents = (uint64_t)(fabs(v) * 100 + 0.5);

    if (v < 0 && cents)
        strbuf_addch(sb, '-');
    value_add_number(sb, (struct folded_count){cents / 100, 0}, false);
    if (cents % 100) {
        strbuf_addch(sb, '.');
        strbuf_addch(sb, (char)('0' + cents / 10 % 10));
        if (cents % 10)
            strbuf_addch(sb, (char)('0' + cents % 10));
    }
}

/* Three significant digits or more, whatever the size. */
static void add_scaled(struct strbuf *sb, double v, const char *unit)
{
    strbuf_addf(sb, "%.*f %s", v < 100 ? 2 : v < 1000 ? 1 : 0, v, unit);
}

static bool add_bytes(struct strbuf *sb, double v)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t i = 0;

    if (v < 1024)
        return false;
    /* 1023.96 KiB would print as 1024.0: call it 1.00 MiB. */
    for (v /= 1024; v >= 1023.95 && i + 1 < ARRAY_LEN(units); i++)
        v /= 1024;
    add_scaled(sb, v, units[i]);
    return true;
}

static bool add_time(struct strbuf *sb, double v, int unit)
{
    static const char *const units[] = {"ns", "\xc2\xb5s", "ms", "s"};
    int i = unit;

    for (; i < 3 && v >= 999.95; i++)
        v /= 1000;
    if (i == unit)
        return false;
    add_scaled(sb, v, units[i]);
    return true;
}

int value_time_unit(const char *unit)
{
    static const char *const names[][3] = {
        {"nanoseconds", "ns", "nsec"},
        {"microseconds", "us", "usec"},
        {"milliseconds", "ms", "msec"},
        {"seconds", "s", "sec"},
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (size_t j = 0; j < ARRAY_LEN(names[i]); j++)
            if (strcmp(unit, names[i][j]) == 0)
                return (int)i;
    return -1;
}

bool value_add_human(struct strbuf *sb, struct folded_count c, const char *unit)
{
    double v = folded_count_double(c);

    if (strcmp(unit, "bytes") == 0)
        return add_bytes(sb, v);
    if (value_time_unit(unit) >= 0)
        return add_time(sb, v, value_time_unit(unit));
    return false;
}

/* One of something is "1 sample"; "us" is written as everywhere else. */
static void add_unit(struct strbuf *sb, struct folded_count c, const char *unit)
{
    static const char *const several[] = {"bytes", "samples", "calls", "faults"};

    if (strcmp(unit, "us") == 0)
        unit = "\xc2\xb5s";
    strbuf_addstr(sb, unit);
    for (size_t i = 0; c.whole == 1 && c.part == 0 && i < ARRAY_LEN(several); i++)
        if (strcmp(unit, several[i]) == 0)
            strbuf_setlen(sb, sb->len - 1);
}

void value_add_both(struct strbuf *sb, struct folded_count c, const char *unit)
{
    if (value_add_human(sb, c, unit))
        strbuf_addstr(sb, ", ");
    value_add_number(sb, c, true);
    if (*unit) {
        strbuf_addch(sb, ' ');
        add_unit(sb, c, unit);
    }
}

void value_add_counted(struct strbuf *sb, uint64_t n, const char *one, const char *many)
{
    value_add_number(sb, (struct folded_count){.whole = n}, true);
    strbuf_addf(sb, " %s", n == 1 ? one : many);
}

void value_add_blocks(struct strbuf *sb, uint64_t bytes, uint64_t blocks)
{
    value_add_both(sb, (struct folded_count){.whole = bytes}, "bytes");
    strbuf_addstr(sb, " in ");
    value_add_counted(sb, blocks, "block", "blocks");
}

void value_add_percent(struct strbuf *sb, double part, double whole)
{
    double v = whole > 0 ? 100 * part / whole : 0;
    unsigned cents = (unsigned)(v * 100 + 0.5);

    value_add_number(sb, (struct folded_count){cents / 100, 0}, false);
    strbuf_addch(sb, '.');
    strbuf_addch(sb, (char)('0' + cents / 10 % 10));
    strbuf_addch(sb, (char)('0' + cents % 10));
    strbuf_addch(sb, '%');
}
