/* SystemTap and ktap: stacks with their counts. */
#include "fold/collapse/countline.h"
#include "fold/collapse/dtrace.h"
#include "fold/collapse/readers.h"
#include "fold/decode/funcname.h"
#include "fold/stacks/span.h"

static bool is_no_header(struct span line FLAME_UNUSED)
{
    return false;
}

static void stap_frame(struct collapse *c, struct span frame)
{
    frame = c->opt->perl ? span_to(frame, span_rchr(frame, '+')) : funcname_before_offset(frame);
    for (size_t i = frame.len; i >= 3; i--)
        if (memcmp(frame.s + i - 3, " : ", 3) == 0) {
            frame = span_from(frame, i);
            break;
        }
    if (frame.len)
        collapse_push(c, frame.s, frame.len);
    else
        collapse_push_str(c, "-");
}

void collapse_stap_run(struct collapse *c)
{
    countline_run(c, is_no_header, stap_frame);
}

int collapse_stap_probe(const char *text, size_t len)
{
    size_t dtrace, stap;

    return dtrace_count_shapes(text, len, &dtrace, &stap) && stap ? 75 : 0;
}
