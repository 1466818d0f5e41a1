/*
 * V8's profiles, as Chrome and node write them (--cpu-prof, --heap-prof): JSON, described at
 * https://chromedevtools.github.io/devtools-protocol/v8/Profiler/ (type Profile) and
 * .../v8/HeapProfiler/ (type SamplingHeapProfile).
 *
 * A .cpuprofile has a list of nodes that name their children by id, which node was running at
 * each sample, and the microseconds between samples; a sample lasts until the next. A
 * .heapprofile has nodes in one another, each with the bytes allocated there that are live.
 * Nodes within nodes are read without recursion: where to go on is the node's parent.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "fold/decode/idindex.h"
#include "fold/decode/jsonread.h"
#include "fold/collapse/located.h"
#include "fold/collapse/readers.h"

#define NONE UINT32_MAX

struct v8 {
    struct collapse *c;
    struct strbuf text, key, name, url;
    struct json j;
    struct node {
        const char *at;
        uint32_t frame, parent; /* NONE: of the root, which is no frame; no node */
        uint32_t seen;          /* the last node whose walk met this one, plus one; 0: none */
        uint64_t hits, bytes;
        int64_t time; /* ns */
    } * nodes;
    size_t nnodes, nodes_alloc;
    struct link {
        const char *at;
        uint32_t parent;
        uint64_t child; /* its id */
    } * links;
    size_t nlinks, links_alloc;
    struct sample {
        const char *at;
        uint64_t id;
        int64_t time;
    } * samples;
    size_t nsamples, samples_alloc;
    int64_t *deltas; /* ns */
    size_t ndeltas, deltas_alloc;
    int64_t start, end;
    bool has_end, heap;
    struct idindex ids;
};

static bool damaged(struct v8 *v, const char *at, const char *what)
{
    collapse_damaged_text(v->c, v->text.buf, at, "%s", what);
    return false;
}

/* A number times 1000, so that fractions of microseconds stay; text that is not a number is
 * damage. */
static int64_t thousandths(struct v8 *v)
{
    struct stackset_count count;
    struct span s, digits;
    int64_t value;
    bool minus;

    if (!json_number(&v->j, &s))
        return 0;
    minus = span_begins(s, "-");
    digits = span_from(s, minus);
    if (!stackset_count_parse(digits.s, digits.len, &count) || count.whole > INT64_MAX / 4000) {
        damaged(v, s.s, "a number that is out of all bounds, or none");
        return 0;
    }
    value = (int64_t)count.whole * 1000 + (int64_t)(count.part / (STACKSET_PART / 1000));
    return minus ? -value : value;
}

static uint64_t whole(struct v8 *v)
{
    int64_t value = thousandths(v);

    return value > 0 ? (uint64_t)value / 1000 : 0;
}

/* The id of a frame, from its members. */
static uint32_t name_frame(struct v8 *v, int64_t line)
{
    struct strbuf *anonymous = &v->c->scratch;
    struct located l = {.name = {v->name.buf, v->name.len}, .file = {v->url.buf, v->url.len}};
    size_t slash;

    if (span_is(l.name, "(root)"))
        return NONE;
    if (span_begins(l.file, "file://"))
        l.file = span_from(l.file, strlen("file://"));
    l.module = l.file;
    l.line = line >= 0 ? (uint64_t)line + 1 : 0;
    if (l.name.len == 0) {
        /* Their places tell functions without a name apart. */
        strbuf_clear(anonymous);
        strbuf_addstr(anonymous, "(anonymous)");
        slash = span_rchr(l.file, '/');
        if (l.file.len && !v->c->opt->srcline) {
            strbuf_addch(anonymous, ' ');
            strbuf_add(anonymous, l.file.s + (slash == SIZE_MAX ? 0 : slash + 1),
                       l.file.len - (slash == SIZE_MAX ? 0 : slash + 1));
            strbuf_addf(anonymous, ":%" PRIu64, l.line);
        }
        l.name = (struct span){anonymous->buf, anonymous->len};
    }
    return collapse_located(v->c, &l);
}

static uint32_t read_frame(struct v8 *v)
{
    int64_t line = -1;

    strbuf_clear(&v->name);
    strbuf_clear(&v->url);
    json_enter(&v->j, '{');
    while (json_key(&v->j, &v->key)) {
        if (strcmp(v->key.buf, "functionName") == 0)
            json_string(&v->j, &v->name);
        else if (strcmp(v->key.buf, "url") == 0)
            json_string(&v->j, &v->url);
        else if (strcmp(v->key.buf, "lineNumber") == 0)
            line = thousandths(v) / 1000;
        else
            json_skip(&v->j);
    }
    return name_frame(v, line);
}

/* Begins a node at its '{'. */
static uint32_t new_node(struct v8 *v, uint32_t parent)
{
    GROW(v->nodes, v->nnodes, v->nodes_alloc);
    v->nodes[v->nnodes] = (struct node){.at = v->j.s, .frame = NONE, .parent = parent};
    if (v->nnodes == NONE - 1)
        damaged(v, v->j.s, "more nodes than a profile may have");
    json_enter(&v->j, '{');
    return (uint32_t)v->nnodes++;
}

/* A member of a node, whose key was read. */
static void read_member(struct v8 *v, uint32_t node)
{
    if (strcmp(v->key.buf, "callFrame") == 0)
        v->nodes[node].frame = read_frame(v);
    else if (strcmp(v->key.buf, "hitCount") == 0)
        v->nodes[node].hits = whole(v);
    else if (strcmp(v->key.buf, "selfSize") == 0)
        v->nodes[node].bytes = whole(v);
    else
        json_skip(&v->j);
}

/* A node of a list, whose children are ids. */
static void read_listed(struct v8 *v)
{
    uint32_t node = new_node(v, NONE);
    uint64_t id = 0;

    while (json_key(&v->j, &v->key)) {
        if (strcmp(v->key.buf, "id") == 0) {
            id = whole(v);
        } else if (strcmp(v->key.buf, "children") == 0 && json_peek(&v->j) == '[') {
            json_enter(&v->j, '[');
            while (json_item(&v->j)) {
                struct link link = {v->j.s, node, whole(v)};

                GROW(v->links, v->nlinks, v->links_alloc);
                v->links[v->nlinks++] = link;
            }
        } else {
            read_member(v, node);
        }
    }
    idindex_add(&v->ids, id);
}

/* A node with its children in it, and theirs in them. */
static void read_nested(struct v8 *v)
{
    uint32_t at = new_node(v, NONE);
    bool in_list = false; /* of the children of `at`, or else among its members */

    while (!v->j.bad && !v->c->in.error) {
        if (in_list && json_item(&v->j)) {
            at = new_node(v, at);
            in_list = false;
        } else if (in_list) {
            in_list = false;
        } else if (json_key(&v->j, &v->key)) {
            if (strcmp(v->key.buf, "children") == 0)
                in_list = json_enter(&v->j, '[');
            else
                read_member(v, at);
        } else if (v->nodes[at].parent == NONE) {
            return;
        } else {
            at = v->nodes[at].parent;
            in_list = true;
        }
    }
}

static void read_samples(struct v8 *v)
{
    json_enter(&v->j, '[');
    while (json_item(&v->j)) {
        struct sample sample = {.at = v->j.s};

        if (json_peek(&v->j) == '0')
            sample.id = whole(v);
        else
            json_skip(&v->j); /* of a .heapprofile, which has its sums in its nodes */
        GROW(v->samples, v->nsamples, v->samples_alloc);
        v->samples[v->nsamples++] = sample;
    }
}

static void read_deltas(struct v8 *v)
{
    json_enter(&v->j, '[');
    while (json_item(&v->j)) {
        GROW(v->deltas, v->ndeltas, v->deltas_alloc);
        v->deltas[v->ndeltas++] = thousandths(v);
    }
}

static bool read_profile(struct v8 *v)
{
    struct json *j = &v->j;

    json_enter(j, '{');
    while (json_key(j, &v->key) && !v->c->in.error) {
        if (strcmp(v->key.buf, "nodes") == 0) {
            json_enter(j, '[');
            while (json_item(j) && !v->c->in.error)
                read_listed(v);
        } else if (strcmp(v->key.buf, "head") == 0) {
            v->heap = true;
            read_nested(v);
        } else if (strcmp(v->key.buf, "samples") == 0) {
            read_samples(v);
        } else if (strcmp(v->key.buf, "timeDeltas") == 0) {
            read_deltas(v);
        } else if (strcmp(v->key.buf, "startTime") == 0) {
            v->start = thousandths(v);
        } else if (strcmp(v->key.buf, "endTime") == 0) {
            v->end = thousandths(v);
            v->has_end = true;
        } else {
            json_skip(j);
        }
    }
    if (j->bad)
        return damaged(v, j->s, j->s == j->end ? "the JSON ends too early" : "is no JSON of V8's");
    return !v->c->in.error;
}

/* Gives the nodes of a list their parents; no node may be its own ancestor. */
static bool join(struct v8 *v)
{
    size_t twice, child;

    if (v->heap)
        return true;
    if (!idindex_finish(&v->ids, &twice))
        return damaged(v, v->nodes[twice].at, "a second node of the same id");
    for (size_t i = 0; i < v->nlinks; i++) {
        child = idindex_find(&v->ids, v->links[i].child);
        if (child == SIZE_MAX)
            return damaged(v, v->links[i].at, "a child that is no node of the profile");
        if (v->nodes[child].parent != NONE)
            return damaged(v, v->links[i].at, "a node that is the child of two");
        v->nodes[child].parent = v->links[i].parent;
    }
    for (uint32_t i = 0; i < v->nnodes; i++)
        for (uint32_t at = i; at != NONE; at = v->nodes[at].parent) {
            if (v->nodes[at].seen == i + 1)
                return damaged(v, v->nodes[at].at, "a node that is its own ancestor");
            if (v->nodes[at].seen)
                break;
            v->nodes[at].seen = i + 1;
        }
    return true;
}

static int by_time(const void *pa, const void *pb)
{
    const struct sample *a = pa, *b = pb;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* Counts each sample's time: it lasts until the next. V8's threads may write samples a little
 * out of order. */
static bool spread_time(struct v8 *v)
{
    int64_t now = v->start;

    if (v->ndeltas != v->nsamples)
        return damaged(v, v->j.s, "has not as many timeDeltas as samples");
    for (size_t i = 0; i < v->nsamples; i++) {
        if (__builtin_add_overflow(now, v->deltas[i], &now))
            return damaged(v, v->samples[i].at, "times that are out of all bounds");
        v->samples[i].time = now;
    }
    if (v->nsamples)
        qsort(v->samples, v->nsamples, sizeof *v->samples, by_time);
    for (size_t i = 0; i < v->nsamples; i++) {
        const struct sample *s = &v->samples[i];
        size_t at = idindex_find(&v->ids, s->id);
        int64_t until = i + 1 < v->nsamples ? s[1].time : v->has_end ? v->end : s->time, lasted;

        if (at == SIZE_MAX)
            return damaged(v, s->at, "a sample of a node that is not in the profile");
        if (until > s->time &&
            (__builtin_sub_overflow(until, s->time, &lasted) ||
             __builtin_add_overflow(v->nodes[at].time, lasted, &v->nodes[at].time)))
            return damaged(v, s->at, "times that are out of all bounds");
    }
    return true;
}

static struct stackset_count count_of(const struct v8 *v, const struct node *n, size_t type)
{
    if (v->heap)
        return (struct stackset_count){n->bytes, 0};
    if (type == 1)
        return (struct stackset_count){n->hits, 0};
    return (struct stackset_count){(uint64_t)n->time / 1000,
                                   (uint64_t)n->time % 1000 * (STACKSET_PART / 1000)};
}

static void add_stacks(struct v8 *v, size_t type)
{
    uint64_t left = collapse_frames_most(v->text.len);

    for (size_t i = 0; i < v->nnodes && !v->c->in.error; i++) {
        struct stackset_count count = count_of(v, &v->nodes[i], type);

        if (count.whole == 0 && count.part == 0)
            continue;
        for (uint32_t at = (uint32_t)i; at != NONE && !v->c->in.error; at = v->nodes[at].parent)
            if (left-- == 0)
                damaged(v, v->nodes[i].at, COLLAPSE_FRAMES_TOO_MANY);
            else if (v->nodes[at].frame != NONE)
                collapse_push_id(v->c, v->nodes[at].frame);
        if (v->c->n > 0 && !v->c->in.error)
            collapse_flush(v->c, LEAF_FIRST, &count);
        collapse_drop(v->c);
    }
}

static void count_stacks(struct v8 *v)
{
    static const char *const cpu[] = {"time", "samples"};
    struct span types[2];
    size_t n = 0, type;

    /* Profiles without samples have hits alone. */
    for (size_t i = v->nsamples ? 0 : 1; i < 2; i++)
        types[n++] = span_of(cpu[i]);
    if (v->heap) {
        types[0] = span_of("bytes");
        n = 1;
    }
    if (!v->c->opt->type)
        n = 1; /* hits are the number of the same samples: no warning is needed */
    type = collapse_pick_type(v->c, types, n, 0);
    if (v->c->in.error)
        return;
    type += !v->heap && !v->nsamples;
    if (v->heap || type == 1 || spread_time(v))
        add_stacks(v, type);
}

void collapse_v8profile_run(struct collapse *c)
{
    struct v8 v = {
        .c = c, .text = STRBUF_INIT, .key = STRBUF_INIT, .name = STRBUF_INIT, .url = STRBUF_INIT};

    if (textinput_all(&c->in, &v.text) && v.text.len > 0) {
        v.j = (struct json){v.text.buf, v.text.buf + v.text.len, false};
        if (read_profile(&v) && join(&v))
            count_stacks(&v);
    }
    collapse_drop(c);
    idindex_release(&v.ids);
    free(v.nodes);
    free(v.links);
    free(v.samples);
    free(v.deltas);
    strbuf_release(&v.text);
    strbuf_release(&v.key);
    strbuf_release(&v.name);
    strbuf_release(&v.url);
}

int collapse_v8profile_probe(const char *text, size_t len)
{
    struct span all = span_ltrim((struct span){text, len});

    if (!span_begins(all, "{") || !span_find(all, "\"callFrame\"") ||
        !span_find(all, "\"functionName\""))
        return 0;
    return span_find(all, "\"nodes\"") || span_find(all, "\"head\"") ? 93 : 0;
}
