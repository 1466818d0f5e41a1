#include "render/value.h"

#include <inttypes.h>
#include <math.h>

void value_add_exact(struct strbuf *sb, struct folded_count c)
{
    char digits[24], part[16];
    int n;

    snprintf(part, sizeof part, "%.6f", c.part);
    if (part[0] == '1' && c.whole < UINT64_MAX) /* .9999999 rounds up */
        c.whole++;
    n = snprintf(digits, sizeof digits, "%" PRIu64, c.whole);
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            strbuf_addch(sb, ',');
        strbuf_addch(sb, digits[i]);
    }
    n = (int)strlen(part);
    while (part[n - 1] == '0')
        n--;
    if (part[n - 1] != '.')
        strbuf_add(sb, part + 1, (size_t)n - 1);
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

/* 0 to 3 for nano, micro, milli and whole seconds; -1 for what is no time. */
static int time_unit(const char *unit)
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
    if (time_unit(unit) >= 0)
        return add_time(sb, v, time_unit(unit));
    return false;
}

void value_add_both(struct strbuf *sb, struct folded_count c, const char *unit)
{
    if (value_add_human(sb, c, unit))
        strbuf_addstr(sb, ", ");
    value_add_exact(sb, c);
    if (*unit) {
        strbuf_addch(sb, ' ');
        strbuf_addstr(sb, unit);
    }
}

void value_add_percent(struct strbuf *sb, double part, double whole)
{
    strbuf_addf(sb, "%.2f%%", whole > 0 ? 100 * part / whole : 0.0);
}
