#include "render/dump/recordtext.h"

#include <inttypes.h>

#include "render/text/json.h"

void recordtext_begin(struct recordtext *w, FILE *to, bool json)
{
    *w = (struct recordtext){.to = to, .json = json, .line = STRBUF_INIT};
    if (json)
        fputs("{", to);
}

static void end_section(struct recordtext *w)
{
    if (w->json && w->section)
        fputs(w->any_record ? "\n]" : "]", w->to);
}

void recordtext_end(struct recordtext *w)
{
    end_section(w);
    if (w->json)
        fputs("\n}\n", w->to);
    strbuf_release(&w->line);
}

void recordtext_section(struct recordtext *w, const char *name)
{
    end_section(w);
    w->section = name;
    if (w->json)
        fprintf(w->to, "%s\n\"%s\": [", w->any_section ? "," : "", name);
    w->any_section = true;
    w->any_record = false;
}

void recordtext_record(struct recordtext *w)
{
    if (w->json)
        strbuf_addf(&w->line, "%s\n{", w->any_record ? "," : "");
    else
        strbuf_addstr(&w->line, w->section);
    w->any_record = true;
    w->any_field = false;
}

static void name_field(struct recordtext *w, const char *name)
{
    if (w->json)
        strbuf_addf(&w->line, "%s\"%s\": ", w->any_field ? ", " : "", name);
    else
        strbuf_addf(&w->line, " %s=", name);
    w->any_field = true;
}

void recordtext_number(struct recordtext *w, const char *name, uint64_t value)
{
    name_field(w, name);
    strbuf_addf(&w->line, "%" PRIu64, value);
}

void recordtext_signed(struct recordtext *w, const char *name, int64_t value)
{
    name_field(w, name);
    strbuf_addf(&w->line, "%" PRId64, value);
}

void recordtext_address(struct recordtext *w, const char *name, uint64_t value)
{
    name_field(w, name);
    strbuf_addf(&w->line, w->json ? "\"0x%" PRIx64 "\"" : "0x%" PRIx64, value);
}

/* One word on a terminal, whatever it holds. */
static void add_word(struct strbuf *sb, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];

        if (c <= ' ' || c >= 0x7f || c == '\\' || c == '"')
            strbuf_addf(sb, "\\x%02x", c);
        else
            strbuf_addch(sb, (char)c);
    }
}

void recordtext_bytes(struct recordtext *w, const char *name, const char *s, size_t len)
{
    name_field(w, name);
    if (w->json)
        json_add_string(&w->line, s, len, 0);
    else
        add_word(&w->line, s, len);
}

void recordtext_string(struct recordtext *w, const char *name, const char *s)
{
    recordtext_bytes(w, name, s, strlen(s));
}

void recordtext_record_end(struct recordtext *w)
{
    strbuf_addstr(&w->line, w->json ? "}" : "\n");
    fwrite(w->line.buf, 1, w->line.len, w->to);
    strbuf_clear(&w->line);
}
