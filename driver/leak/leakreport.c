#include "driver/leak/leakreport.h"

#include <inttypes.h>
#include <time.h>

#include "common/utf8.h"
#include "render/text/value.h"
#include "render/text/xml.h"

const struct leak_format leak_formats[LEAK_FORMATS] = {
    [LEAK_JSON] = {"json", ".leak.json", report_json},
    [LEAK_TAP] = {"tap", ".tap", report_tap},
    [LEAK_JUNIT] = {"junit", ".junit.xml", report_junit},
    [LEAK_SARIF] = {"sarif", ".sarif", report_sarif},
    [LEAK_GITHUB] = {"github", ".github.txt", report_github},
    [LEAK_GITLAB] = {"gitlab", ".codequality.json", report_gitlab},
};

void leak_report_sum(const struct leak_report *r, enum leak_class class, uint64_t *bytes,
                     uint64_t *blocks)
{
    *bytes = *blocks = 0;
    for (size_t i = 0; i < r->leaks->n; i++)
        if (r->leaks->leaks[i].class == class) {
            *bytes += r->leaks->leaks[i].bytes;
            *blocks += r->leaks->leaks[i].blocks;
        }
}

void leak_report_add_allowed(struct strbuf *sb, const struct leak_report *r)
{
    if (r->max_bytes != UINT64_MAX)
        value_add_counted(sb, r->max_bytes, "byte ", "bytes ");
    if (r->max_blocks != UINT64_MAX)
        value_add_counted(sb, r->max_blocks, "block ", "blocks ");
    if (r->max_bytes == UINT64_MAX && r->max_blocks == UINT64_MAX)
        strbuf_addstr(sb, "0 ");
    strbuf_addstr(sb, "allowed");
}

void leak_report_add_verdict(struct strbuf *sb, const struct leak_report *r)
{
    uint64_t bytes, blocks;

    value_add_counted(sb, leak_list_bytes(r->leaks, false), "byte", "bytes");
    strbuf_addstr(sb, " in ");
    value_add_counted(sb, leak_list_blocks(r->leaks, false), "block", "blocks");
    strbuf_addstr(sb, r->look     ? " leaked, "
                      : r->growth ? " more with each pass, "
                                  : " live at the end, ");
    leak_report_sum(r, LEAK_REGION, &bytes, &blocks);
    if (blocks) {
        value_add_counted(sb, bytes, "byte", "bytes");
        strbuf_addstr(sb, " in ");
        value_add_counted(sb, blocks, "block", "blocks");
        strbuf_addstr(sb, " left behind by regions, ");
    }
    leak_report_add_allowed(sb, r);
}

bool leak_report_is_unchecked(const struct leak_report *r)
{
    return r->unchecked_fails && !r->over && !*r->doubts;
}

void leak_report_add_end(struct strbuf *sb, const struct leak_report *r)
{
    if (r->signal)
        strbuf_addf(sb, "signal %d", r->signal);
    else
        strbuf_addf(sb, "status %d", r->status);
}

void leak_add_text(struct strbuf *sb, const char *s, const char *special,
                   void (*escape)(struct strbuf *sb, char c))
{
    size_t len = strlen(s), n;
    uint32_t cp;

    for (; len > 0; s += n, len -= n) {
        n = utf8_decode(s, len, &cp);
        if (n == 1 && special && strchr(special, *s)) {
            escape(sb, *s);
        } else if (n && !utf8_is_control(cp) && xml_allows(cp)) {
            strbuf_add(sb, s, n);
        } else {
            strbuf_addstr(sb, UTF8_REPLACEMENT);
            n = n ? n : 1;
        }
    }
}

void leak_add_time(struct strbuf *sb, uint64_t seconds, const char *format)
{
    time_t t = (time_t)seconds;
    char text[64];
    struct tm tm;

    if (gmtime_r(&t, &tm) && strftime(text, sizeof text, format, &tm))
        strbuf_addstr(sb, text);
}
