/* Check of a trace's header, and the messages about a refused trace. */
#include "common/trace/trace_reader_impl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/strbuf.h"
#include "common/trace/trace_reader.h"

int trace_refuse(const struct trace_source *src, const char *fmt, ...)
{
    struct strbuf sb = STRBUF_INIT;
    char text[256];
    va_list ap;

    if (src->quiet)
        return FLAME_USAGE;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (src->why) {
        strbuf_add(src->why, text, strcspn(text, ";"));
        return FLAME_USAGE;
    }
    strbuf_addf(&sb, "%s: %s", src->name, text);
    flame_error(FLAME_USAGE, "%s", sb.buf);
    strbuf_release(&sb);
    return FLAME_USAGE;
}

int trace_damaged(const struct trace_source *src, uint64_t at, const char *fmt, ...)
{
    char text[200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return trace_refuse(src, "damaged at byte %" PRIu64 ": %s; record it again", at, text);
}

static bool columns_sane(const struct trace_header *h)
{
    if (h->columns_used > TRACE_MAX_COLUMNS)
        return false;
    for (uint32_t i = 0; i < h->columns_used; i++) {
        const struct trace_column *c = &h->columns[i];

        if ((c->width != 4 && c->width != 8) || c->offset < 8 || c->offset % c->width != 0 ||
            c->offset + c->width > (int)sizeof(struct trace_row) ||
            !memchr(c->name, '\0', sizeof c->name))
            return false;
    }
    return true;
}

int trace_check_header(const struct trace_source *src, struct trace *t)
{
    struct trace_header *h = &t->header;
    uint64_t said;

    if (src->len == 0)
        return trace_refuse(src, "empty; the recording never began, or its disk was full");
    if (!trace_magic_matches(src->data, src->len))
        return trace_refuse(src, "not a trace; name a file that 'flame mem', 'flame off' or "
                                 "libflamemem.so has written");
    if (src->len < sizeof *h)
        return trace_refuse(src,
                            "cut: a trace's header has %zu bytes, the file has %zu; copy it again",
                            sizeof *h, src->len);
    memcpy(h, src->data, sizeof *h);
    if (h->byte_order == __builtin_bswap32(TRACE_BYTE_ORDER))
        return trace_refuse(src, "recorded on a machine of the other byte order; read it on such "
                                 "a machine");
    if (h->byte_order != TRACE_BYTE_ORDER)
        return trace_damaged(src, offsetof(struct trace_header, byte_order),
                             "no byte order is 0x%08" PRIx32, h->byte_order);
    if (h->version != TRACE_VERSION)
        return trace_refuse(src,
                            "trace version %" PRIu32 ", this flame reads version %u; use the flame "
                            "that recorded it",
                            h->version, TRACE_VERSION);
    if (h->features & ~TRACE_FEATURES_KNOWN)
        return trace_refuse(src,
                            "uses features that this flame does not know (0x%" PRIx32
                            "); use the flame that recorded it",
                            (uint32_t)(h->features & ~TRACE_FEATURES_KNOWN));
    if (h->recorder != TRACE_RECORDER_MEM && h->recorder != TRACE_RECORDER_OFF)
        return trace_refuse(src,
                            "made by a recorder that this flame does not know (%" PRIu32
                            "); use the flame that recorded it",
                            h->recorder);
    if (h->header_size < sizeof *h || h->header_size > src->len || h->header_size % TRACE_UNIT)
        return trace_damaged(src, offsetof(struct trace_header, header_size),
                             "a header of %" PRIu32 " bytes", h->header_size);
    if (h->unit != TRACE_UNIT)
        return trace_damaged(src, offsetof(struct trace_header, unit), "units of %" PRIu32 " bytes",
                             h->unit);
    if (h->units == 0)
        return trace_damaged(src, offsetof(struct trace_header, units), "no segments");
    said = (uint64_t)h->units * TRACE_UNIT;
    if (said > src->len)
        return trace_refuse(
            src, "cut: its header says %" PRIu64 " bytes, the file has %zu; copy it again", said,
            src->len);
    if (!columns_sane(h))
        return trace_damaged(src, offsetof(struct trace_header, columns),
                             "a column outside the rows");
    return 0;
}
