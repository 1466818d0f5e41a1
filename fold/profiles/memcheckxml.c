/*
 * Leak reports of valgrind's memcheck with --xml=yes, protocol 4 (docs/internals/xml-output.txt
 * and xml-output-protocol4.txt in valgrind's sources): an <error> for each leak,
 *
 *    <error> <kind>Leak_DefinitelyLost</kind>
 *      <xwhat><text>280 (56 direct, 224 indirect) bytes in 1 blocks are definitely lost ...</text>
 *        <leakedbytes>280</leakedbytes> <leakedblocks>1</leakedblocks></xwhat>
 *      <stack> <frame> <ip>0x10916E</ip> <obj>/usr/bin/app</obj> <fn>make_node</fn>
 *        <file>x.c</file> <line>8</line> </frame> ... </stack> </error>
 *
 * Only the text has the direct bytes. The plain form of the report has the same text, so that
 * both give the same stacks.
 */
#include "fold/collapse/located.h"
#include "fold/collapse/readers.h"
#include "fold/profiles/foundleaks.h"
#include "fold/decode/xmlread.h"

enum part { FN, OBJ, FILE_NAME, LINE, WHAT, PARTS };

struct report {
    struct collapse *c;
    struct xml x;
    struct strbuf part[PARTS];
    struct leak leak;
    bool objects;
    bool stacked; /* the first stack of this error has been read; further ones are of other
                     threads */
};

/* The part that an element's text is; PARTS: not wanted. */
static enum part part_of(struct span name)
{
    static const char *const names[PARTS] = {"fn", "obj", "file", "line", "text"};
    enum part p = FN;

    while (p < PARTS && !span_is(name, names[p]))
        p++;
    return p;
}

static struct span part_text(const struct report *r, enum part p)
{
    return (struct span){r->part[p].buf, r->part[p].len};
}

static void end_frame(struct report *r)
{
    struct located l = {.name = part_text(r, FN), .module = part_text(r, OBJ)};
    struct span line = span_trim(part_text(r, LINE));
    struct stackset_count n = {0, 0};

    l.file = part_text(r, FILE_NAME);
    if (stackset_count_parse(line.s, line.len, &n))
        l.line = n.whole;
    if (r->leak.kind && !r->stacked)
        collapse_push_id(r->c, collapse_located(r->c, &l));
}

static void opened(struct report *r)
{
    enum part p = part_of(r->x.name);

    if (span_is(r->x.name, "frame"))
        for (p = FN; p <= LINE; p++)
            strbuf_clear(&r->part[p]);
    else if (p < PARTS)
        strbuf_clear(&r->part[p]);
    else if (span_is(r->x.name, "error"))
        r->stacked = false;
}

static void closed(struct report *r)
{
    if (span_is(r->x.name, "frame"))
        end_frame(r);
    else if (span_is(r->x.name, "stack"))
        r->stacked = true;
    else if (span_is(r->x.name, "text"))
        leak_of_memcheck(span_trim(part_text(r, WHAT)), &r->leak);
    else if (span_is(r->x.name, "error"))
        leak_end(r->c, &r->leak, r->objects);
}

static void read_all(struct report *r)
{
    enum xml_event event;
    enum part p;

    while (!r->c->in.error && (event = xml_next(&r->x)) != XML_END) {
        if (event == XML_OPEN) {
            opened(r);
        } else if (event == XML_CLOSE) {
            closed(r);
        } else if (r->x.depth > 0) {
            p = part_of(r->x.open[r->x.depth - 1]);
            if (p < PARTS)
                strbuf_add(&r->part[p], r->x.value.buf, r->x.value.len);
        }
    }
}

void collapse_memcheck_xml_run(struct collapse *c)
{
    struct report r = {.c = c, .objects = leaks_count_objects(c)};
    struct strbuf text = STRBUF_INIT;

    for (enum part p = FN; p < PARTS; p++)
        r.part[p] = (struct strbuf)STRBUF_INIT;
    if (!c->in.error && textinput_all(&c->in, &text) && text.len > 0) {
        xml_init(&r.x, text.buf, text.len);
        read_all(&r);
        if (r.x.wrong)
            collapse_damaged_text(c, text.buf, r.x.s, "%s", r.x.wrong);
        xml_release(&r.x);
    }
    collapse_drop(c);
    for (enum part p = FN; p < PARTS; p++)
        strbuf_release(&r.part[p]);
    strbuf_release(&text);
}

int collapse_memcheck_xml_probe(const char *text, size_t len)
{
    struct span all = {text, len};

    return span_find(all, "<valgrindoutput>") && span_find(all, "<tool>memcheck</tool>") ? 97 : 0;
}
