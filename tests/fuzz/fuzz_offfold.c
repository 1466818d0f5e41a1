/*
 * A trace of waiting, changed in places, through all views and filters: what the reader
 * lets pass must fold, and no line may hold what folded text cannot.
 *
 * The bytes are changes to the sample trace: records of 12 bytes, where (4) and what (8).
 */
#include <stdlib.h>

#include "common/folded.h"
#include "common/trace/trace_intervals.h"
#include "common/trace/trace_reader.h"
#include "fold/analysis/whatif.h"
#include "fold/fold.h"
#include "tests/unit/off_build.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct strbuf *text)
{
    for (const char *s = text->buf, *nl; (nl = strchr(s, '\n')); s = nl + 1) {
        struct folded_line line;
        int kind = folded_parse_line(s, (size_t)(nl - s), &line);

        if (kind < 0 || (kind == 1 && line.differential))
            __builtin_trap();
    }
    if (strlen(text->buf) != text->len)
        __builtin_trap();
}

/* Rules for shorter waits on the critical path: half of some, nothing of all. */
static const struct whatif_rules *rules(void)
{
    static struct whatif_rules made;

    for (size_t i = 0; made.n < 2 && i < 2; i++)
        whatif_take(&made, NULL,
                    &(struct opts_given){.command = "fuzz",
                                         .name = "--what-if",
                                         .value = i ? ".=0" : "futex|^main$=0.5"});
    return &made;
}

static void fold(struct trace *t, bool filtered)
{
    struct fold_when when = {.what_if = rules()};
    static const char *const comm[] = {"app"}, *const regex[] = {"load$"};
    struct fold_options opt = {
        .all_views = true, .pid = true, .tid = filtered, .quiet = true, .symbols.no_inline = true};
    struct strbuf out = STRBUF_INIT;

    opt.when = &when;
    if (filtered) {
        opt.idle = true;
        opt.comms = comm;
        opt.excludes = regex;
        opt.ncomms = opt.nexcludes = 1;
    }
    if (fold_loaded(&opt, &t, 1, &out))
        __builtin_trap();
    check(&out);
    strbuf_release(&out);
}

/* When each row of the sample was, and from when to when its threads were there: for the critical
 * path (and for lanes, which a fold without moments has not). */
static void add_times(struct trace_build *b)
{
    struct {
        struct trace_intervals head;
        uint8_t entries[1024];
    } log = {.head = {.base_ns = 1000, .state = TRACE_INTERVALS_USED}};
    uint32_t rows = b->arrays[TRACE_SEG_ROWS].next;
    uint64_t before = 1000;
    uint8_t *at = log.entries;

    for (uint32_t row = 1; row < rows && at < log.entries + 900; row++) {
        const struct trace_interval i = {.begin_ns = 1000 * row,
                                         .end_ns = 1000 * row + 1500,
                                         .ns = 1000,
                                         .runq_ns = 300,
                                         .longest_ns = 1000,
                                         .times = 1,
                                         .row = row,
                                         .kind = row % 4};

        at = trace_interval_put(at, &i, &before);
    }
    log.head.bytes = (uint32_t)(at - log.entries);
    tb_meta(b, TRACE_META_INTERVALS, &log, sizeof log);
    for (uint16_t thread = 1; thread < 3; thread++) {
        const struct trace_life life = {
            .begin_ns = 900, .end_ns = 90000, .thread = thread, .parent = thread - 1};

        tb_meta(b, TRACE_META_LIFE, &life, sizeof life);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct off_sample sample = {"/bin/app", 0x1000, 0x1ff0};
    struct trace_build b;
    struct trace *t;

    ob_sample(&b, &sample);
    add_times(&b);
    for (; size >= 12; data += 12, size -= 12) {
        uint32_t at;

        memcpy(&at, data, 4);
        memcpy(b.data + at % (b.len - 8), data + 4, 8);
    }
    if (trace_load_bytes("fuzz", b.data, b.len, true, &t) == 0 &&
        t->header.recorder == TRACE_RECORDER_OFF) {
        fold(t, false);
        fold(t, true);
    }
    trace_free(t);
    tb_release(&b);
    return 0;
}
