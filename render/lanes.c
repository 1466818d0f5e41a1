#define _GNU_SOURCE
#include "render/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/trace/varint_base64.h"

#define BEGINS "# lanes: "
#define ROWS_MAX 100000000u      /* a comment with more makes no sense */
#define SUMS(kind) ((kind) >= 2) /* TRACE_INTERVAL_SHARE and _SUM: two more numbers */
#define NUMBER_MAX ((uint64_t)1 << 62)

void lanes_init(struct lanes *l)
{
    *l = (struct lanes){.text = STRBUF_INIT};
}

void lanes_release(struct lanes *l)
{
    for (size_t i = 0; i < l->nthreads; i++) {
        strbuf_release(&l->threads[i].name);
        strbuf_release(&l->threads[i].title);
    }
    free(l->threads);
    free(l->stacks);
    free(l->rows);
    free(l->paths);
    for (size_t i = 0; i < l->nregions; i++)
        strbuf_release(&l->regions[i].name);
    free(l->regions);
    free(l->waits);
    strbuf_release(&l->text);
    *l = (struct lanes){.text = STRBUF_INIT};
}

/* ---- words of a comment ---- */

/* The value of `key`, " us=", up to the next blank. */
static bool find_word(const char *s, size_t len, const char *key, const char **value, size_t *n)
{
    const char *at = memmem(s, len, key, strlen(key)), *end;

    if (!at)
        return false;
    *value = at + strlen(key);
    end = memchr(*value, ' ', (size_t)(s + len - *value));
    *n = (size_t)((end ? end : s + len) - *value);
    return true;
}

static bool find_number(const char *s, size_t len, const char *key, uint64_t *out)
{
    const char *value;
    size_t n;

    *out = 0;
    if (!find_word(s, len, key, &value, &n) || !n || n > 20)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (value[i] < '0' || value[i] > '9' || *out > UINT64_MAX / 10 - 1)
            return false;
        *out = *out * 10 + (uint64_t)(value[i] - '0');
    }
    return true;
}

static bool find_bytes(const char *s, size_t len, const char *key, struct strbuf *out)
{
    struct varint_reader r;
    const char *value;
    uint64_t c = 0;
    size_t n;

    if (!find_word(s, len, key, &value, &n))
        return false;
    varint_read(&r, value, n);
    while (varint_take(&r, &c) && c < 256)
        strbuf_addch(out, (char)c);
    return !r.wrong && c < 256;
}

static struct lanes_span keep(struct lanes *l, const char *s, size_t len)
{
    struct lanes_span span = {l->text.len, len};

    strbuf_add(&l->text, s, len);
    return span;
}

/* ---- kinds of comments ---- */

static bool take_begin(struct lanes *l, const char *s, size_t len)
{
    uint64_t threads;

    if (l->begun) {
        l->over = true;
        l->others++;
        return true;
    }
    if (!find_number(s, len, " rows=", &l->nrows) || l->nrows > ROWS_MAX ||
        !find_number(s, len, " threads=", &threads) || threads > ROWS_MAX ||
        !find_number(s, len, " short=", &l->short_ns) ||
        !find_number(s, len, " window=", &l->window_ns) ||
        !find_number(s, len, " lost=", &l->lost_ns)) {
        l->nrows = 0;
        return false;
    }
    if (!find_number(s, len, " zero=", &l->zero_ns) || l->zero_ns > NUMBER_MAX)
        l->zero_ns = 0; /* older text has none */
    l->threads_said = (size_t)threads;
    l->begun = true;
    return true;
}

static bool take_thread(struct lanes *l, const char *s, size_t len)
{
    struct lanes_thread t = {.name = STRBUF_INIT, .title = STRBUF_INIT};

    if (l->nthreads == l->threads_said || !find_number(s, len, " pid=", &t.pid) ||
        !find_number(s, len, " tid=", &t.tid) || !find_number(s, len, " uses=", &t.uses) ||
        !find_number(s, len, " wall=", &t.wall_ns) || !find_number(s, len, " cpu=", &t.cpu_ns) ||
        !find_number(s, len, " runq=", &t.runq_ns) || !find_bytes(s, len, " name=", &t.name) ||
        !find_bytes(s, len, " title=", &t.title)) {
        strbuf_release(&t.name);
        strbuf_release(&t.title);
        return false;
    }
    if (!find_number(s, len, " parent=", &t.parent)) /* older text has none */
        t.parent = 0;
    GROW(l->threads, l->nthreads, l->threads_room);
    l->threads[l->nthreads++] = t;
    return true;
}

/* Reads a list of as many numbers as there are rows, each below `limit`. */
static bool take_by_row(struct lanes *l, const char *s, size_t len, const char *key, uint64_t limit,
                        struct lanes_span *out)
{
    struct varint_reader r;
    const char *value;
    uint64_t v, found = 0;
    size_t n;

    if (!find_word(s, len, key, &value, &n))
        return false;
    for (varint_read(&r, value, n); varint_take(&r, &v); found++)
        if (v >= limit)
            return false;
    if (r.wrong || found != l->nrows)
        return false;
    *out = keep(l, value, n);
    return true;
}

static bool take_rows(struct lanes *l, const char *s, size_t len)
{
    return l->nthreads == l->threads_said &&
           take_by_row(l, s, len, " thread=", l->nthreads, &l->thread) &&
           take_by_row(l, s, len, " kind=", 256, &l->kind) &&
           take_by_row(l, s, len, " waker=", l->nthreads + 1, &l->waker);
}

static bool take_numbers(struct lanes *l, const char *s, size_t len, uint64_t limit)
{
    struct varint_reader r;
    int64_t at = 0, step;

    for (varint_read(&r, s, len); varint_take_signed(&r, &step);) {
        if (step < -(int64_t)ROWS_MAX || step > (int64_t)ROWS_MAX)
            return false;
        at += step;
        if (at < 0 || (uint64_t)at >= limit)
            return false;
        GROW(l->rows, l->nof, l->rows_room);
        l->rows[l->nof++] = (uint32_t)at;
    }
    return !r.wrong;
}

/* Reads "VIEW STACK rows=NUMBERS". */
static bool take_stack(struct lanes *l, const char **s, size_t len, size_t *stack_len)
{
    static const char word[] = " rows=";
    struct lanes_stack stack = {.node = LANES_NOWHERE, .first = l->nof};
    const char *blank = memchr(*s, ' ', len);
    size_t end = len, view = blank ? (size_t)(blank - *s) : len;
    uint64_t limit = l->nrows;

    while (end && (*s)[end - 1] != ' ')
        end--;
    end -= end > 0; /* now it is the last blank */
    if (!blank || view >= sizeof stack.view || end <= view || len - end < sizeof word - 1 ||
        memcmp(*s + end, word, sizeof word - 1) != 0)
        return false;
    memcpy(stack.view, *s, view);
    if (lanes_view_has_links(l, stack.view))
        limit += l->nlinks;
    if (!take_numbers(l, *s + end + sizeof word - 1, len - end - (sizeof word - 1), limit)) {
        l->nof = stack.first;
        return false;
    }
    stack.n = l->nof - stack.first;
    *s += view + 1;
    *stack_len = end - view - 1;
    GROW(l->stacks, l->nstacks, l->stacks_room);
    l->stacks[l->nstacks++] = stack;
    return true;
}

/* ---- links of chains ---- */

enum { LINK_ROOT, LINK_CREATOR = 3, LINK_LAST = 7 }; /* enum chainsplit_kind */

/* Whether links are on earlier ones, and of rows and threads that exist. */
static bool are_links(const struct lanes *l, const char *s, size_t len, uint64_t n)
{
    uint64_t v, subject, at = 0;
    struct varint_reader r;

    for (varint_read(&r, s, len); varint_take(&r, &v); at++) {
        uint64_t kind = v & 7, below = v >> 3;

        if (at == n || !varint_take(&r, &subject) || kind > LINK_LAST || below > at ||
            (below == 0) != (kind == LINK_ROOT) ||
            subject > (kind == LINK_CREATOR ? l->nthreads : l->nrows) ||
            (kind == LINK_ROOT && !subject))
            return false;
    }
    return !r.wrong && at == n;
}

/* Whether there are three numbers a thread: begin, length, and the creator, which is a thread. */
static bool are_lives(const struct lanes *l, const char *s, size_t len)
{
    uint64_t begin, length, parent, n = 0;
    struct varint_reader r;

    for (varint_read(&r, s, len); varint_take(&r, &begin); n++)
        if (!varint_take(&r, &length) || !varint_take(&r, &parent) || begin > NUMBER_MAX ||
            length > NUMBER_MAX || parent > l->nthreads)
            return false;
    return !r.wrong && n == l->nthreads;
}

static bool take_links(struct lanes *l, const char *s, size_t len)
{
    uint64_t n, whole_ns;
    const char *data, *lives;
    size_t size, lives_size;

    if (!l->thread.len || l->nlinks || !find_number(s, len, " n=", &n) || !n || n > ROWS_MAX ||
        !find_number(s, len, " whole=", &whole_ns) || whole_ns > NUMBER_MAX ||
        !find_word(s, len, " lives=", &lives, &lives_size) || !are_lives(l, lives, lives_size) ||
        !find_word(s, len, " data=", &data, &size) || !are_links(l, data, size, n) ||
        !take_by_row(l, s, len, " woke=", l->nrows + 1, &l->woke) ||
        !take_by_row(l, s, len, " same=", l->nrows + 1, &l->same) ||
        !take_by_row(l, s, len, " first=", l->nrows + 1, &l->first))
        return false;
    l->lives = keep(l, lives, lives_size);
    l->links = keep(l, data, size);
    l->whole_ns = whole_ns;
    l->nlinks = n;
    return true;
}

/* Whether a page can use the numbers: existing rows, and times below 2^62. */
static bool are_waits(const struct lanes *l, const char *s, size_t len, uint64_t n)
{
    uint64_t row, later, length, rest, runq, more, now = 0;
    struct varint_reader r;

    varint_read(&r, s, len);
    while (varint_take(&r, &row)) {
        if (n-- == 0 || row >> 2 >= l->nrows || !varint_take(&r, &later) ||
            !varint_take(&r, &length) || !varint_take(&r, &rest) || !varint_take(&r, &runq) ||
            later > NUMBER_MAX || length > NUMBER_MAX || rest > NUMBER_MAX || runq > NUMBER_MAX ||
            now + later > NUMBER_MAX)
            return false;
        now += later;
        if (SUMS(row & 3) && (!varint_take(&r, &more) || !varint_take(&r, &more)))
            return false;
    }
    return !r.wrong && n == 0;
}

static bool take_waits(struct lanes *l, const char *s, size_t len)
{
    uint64_t thread, n;
    const char *data;
    size_t size;

    if (!find_number(s, len, " thread=", &thread) || thread >= l->nthreads ||
        !find_number(s, len, " n=", &n) || !find_word(s, len, " data=", &data, &size) ||
        !l->thread.len || !are_waits(l, data, size, n))
        return false;
    GROW(l->waits, l->nwaits, l->waits_room);
    l->waits[l->nwaits++] = (struct lanes_waits){thread, keep(l, data, size)};
    return true;
}

/* Reads a path: pieces of existing threads, one behind the other. */
static bool take_path(struct lanes *l, const char *s, size_t len)
{
    struct varint_reader r;
    uint64_t short_ns, n, thread, later, length, now = 0;
    const char *data;
    size_t size;

    if (!find_number(s, len, " n=", &n) || !find_number(s, len, " short=", &short_ns) ||
        !find_word(s, len, " data=", &data, &size) || !l->thread.len)
        return false;
    for (varint_read(&r, data, size); varint_take(&r, &thread);) {
        if (n-- == 0 || thread >= l->nthreads || !varint_take(&r, &later) ||
            !varint_take(&r, &length) || later > NUMBER_MAX || length > NUMBER_MAX ||
            now + later + length > NUMBER_MAX)
            return false;
        now += later + length;
    }
    if (r.wrong || n)
        return false;
    GROW(l->paths, l->npaths, l->paths_room);
    l->paths[l->npaths++] = (struct lanes_path){short_ns, keep(l, data, size)};
    return true;
}

/* Whether regions are of existing threads, in the order in which they begin. */
static bool are_regions(const struct lanes *l, const char *s, size_t len, uint64_t n)
{
    uint64_t thread, later, length, now = 0;
    struct varint_reader r;

    for (varint_read(&r, s, len); varint_take(&r, &thread);) {
        if (n-- == 0 || thread >= l->nthreads || !varint_take(&r, &later) ||
            !varint_take(&r, &length) || later > NUMBER_MAX || length > NUMBER_MAX ||
            now + later > NUMBER_MAX)
            return false;
        now += later;
    }
    return !r.wrong && n == 0;
}

static bool take_region(struct lanes *l, const char *s, size_t len)
{
    struct lanes_region region = {.name = STRBUF_INIT};
    const char *data;
    uint64_t n;
    size_t size;

    if (!find_number(s, len, " n=", &n) || !find_word(s, len, " data=", &data, &size) ||
        !l->thread.len || !are_regions(l, data, size, n) ||
        !find_bytes(s, len, " name=", &region.name)) {
        strbuf_release(&region.name);
        return false;
    }
    region.data = keep(l, data, size);
    GROW(l->regions, l->nregions, l->regions_room);
    l->regions[l->nregions++] = region;
    return true;
}

static bool starts_with(const char **s, size_t *len, const char *with)
{
    size_t n = strlen(with);

    if (*len < n || memcmp(*s, with, n) != 0)
        return false;
    *s += n;
    *len -= n;
    return true;
}

bool lanes_comment(struct lanes *l, const char *s, size_t len, uint64_t line, const char **stack,
                   size_t *stack_len, size_t *nth)
{
    bool known = true, is_stack = false;

    while (len && (s[len - 1] == '\r' || s[len - 1] == ' '))
        len--;
    if (!starts_with(&s, &len, BEGINS))
        return false;
    if (starts_with(&s, &len, "begin"))
        known = take_begin(l, s, len);
    else if (l->over)
        return false;
    else if (!l->begun)
        known = false;
    else if (starts_with(&s, &len, "thread"))
        known = take_thread(l, s, len);
    else if (starts_with(&s, &len, "rows"))
        known = take_rows(l, s, len);
    else if (starts_with(&s, &len, "links"))
        known = take_links(l, s, len);
    else if (starts_with(&s, &len, "in "))
        known = is_stack = take_stack(l, &s, len, stack_len);
    else if (starts_with(&s, &len, "waits"))
        known = take_waits(l, s, len);
    else if (starts_with(&s, &len, "path"))
        known = take_path(l, s, len);
    else if (starts_with(&s, &len, "region"))
        known = take_region(l, s, len);
    else
        known = false;
    if (!known && l->wrong++ == 0)
        l->first_wrong = line;
    *stack = s;
    *nth = l->nstacks - 1;
    return is_stack;
}

void lanes_placed(struct lanes *l, size_t nth, uint32_t node)
{
    l->stacks[nth].node = node;
}

static int by_node(const void *pa, const void *pb)
{
    const struct lanes_stack *a = pa, *b = pb;
    int view = strcmp(a->view, b->view);

    if (view)
        return view;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

void lanes_finish(struct lanes *l)
{
    if (l->nstacks)
        qsort(l->stacks, l->nstacks, sizeof *l->stacks, by_node);
}
