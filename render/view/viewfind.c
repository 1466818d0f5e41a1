/* Searching: names that match, and the next frame or row with such a name. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "fold/stacks/pattern.h"
#include "render/view/viewmodel.h"

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
}

/* Whether s holds `what`, which is in small letters, and not empty. */
static bool holds(const char *s, size_t len, const char *what, size_t n)
{
    for (size_t i = 0; i + n <= len; i++) {
        size_t k = 0;

        while (k < n && lower(s[i + k]) == what[k])
            k++;
        if (k == n)
            return true;
    }
    return false;
}

static void match_text(struct viewmodel *m)
{
    const struct frametree *t = m->source->tree;
    char *what = xmemdup0(m->query.buf, m->query.len);

    for (size_t i = 0; i < m->query.len; i++)
        what[i] = lower(what[i]);
    for (uint32_t i = 1; i < t->nnames; i++)
        m->match[i] = holds(t->names[i].s, t->names[i].len, what, m->query.len);
    free(what);
}

/* The expression between the slashes, or NULL: the query is a plain text. The caller frees it. */
static char *expression_of(const struct strbuf *query)
{
    struct strbuf sb = STRBUF_INIT;

    if (query->len < 3 || query->buf[0] != '/' || query->buf[query->len - 1] != '/')
        return NULL;
    strbuf_addstr(&sb, "(?i)");
    strbuf_add(&sb, query->buf + 1, query->len - 2);
    return strbuf_detach(&sb, NULL);
}

/* Finds the names that match an expression. False after a message. */
static bool match_expression(struct viewmodel *m, const char *text)
{
    const struct frametree *t = m->source->tree;
    struct strbuf why = STRBUF_INIT;
    struct pattern *p = pattern_new(text, &why);
    bool good = p != NULL;

    if (!good)
        strbuf_addf(&m->message, "no regular expression: %s", why.buf);
    for (uint32_t i = 1; good && i < t->nnames; i++) {
        int found = pattern_matches(p, t->names[i].s, t->names[i].len);

        m->match[i] = found > 0;
        good = found >= 0;
    }
    if (p && !good)
        strbuf_addstr(&m->message, "this expression would try for ever; make it simpler");
    pattern_free(p);
    strbuf_release(&why);
    return good;
}

/* The sum of all stacks with a match, each counted once. */
static double part_of_matches(const struct viewmodel *m)
{
    const struct sumtree *s = &m->all.tree;
    double sum = 0;

    for (uint32_t i = s->nodes[0].first; i != FRAMETREE_NONE;) {
        bool is_match = m->match[s->nodes[i].name];

        sum += is_match ? s->width[i] : 0;
        i = sumtree_next(s, i, !is_match);
    }
    return s->width[0] > 0 ? sum / s->width[0] : 0;
}

void viewmodel_count_matches(struct viewmodel *m)
{
    m->matched = m->match ? part_of_matches(m) : 0;
}

bool viewmodel_search(struct viewmodel *m)
{
    char *expression = expression_of(&m->query);
    bool good = true;

    free(m->match);
    m->match = NULL;
    m->matches = 0;
    m->matched = 0;
    if (!m->query.len) {
        free(expression);
        return true;
    }
    m->match = xcalloc(m->source->tree->nnames, sizeof *m->match);
    if (expression)
        good = match_expression(m, expression);
    else
        match_text(m);
    free(expression);
    if (!good) {
        free(m->match);
        m->match = NULL;
        strbuf_clear(&m->query);
        return false;
    }
    for (uint32_t i = 0; i < m->source->tree->nnames; i++)
        m->matches += m->match[i];
    viewmodel_count_matches(m);
    return true;
}

static bool next_row(struct viewmodel *m, int step)
{
    size_t n = m->nrows, at = m->row;

    for (size_t i = 0; i < n; i++) {
        at = step > 0 ? (at + 1) % n : (at + n - 1) % n;
        if (m->match[m->rows[at].name]) {
            m->row = at;
            return true;
        }
    }
    return false;
}

static bool is_match(const struct viewmodel *m, const struct sumtree *s, uint32_t node)
{
    return node != 0 && m->match[s->nodes[node].name] && s->width[node] > 0;
}

/* The next match in pre-order, round and round. Frames without width are not visible, and are
 * skipped. */
static uint32_t frame_behind(const struct viewmodel *m, const struct view_pane *pane)
{
    const struct sumtree *s = &pane->tree;
    uint32_t i = pane->chosen;

    do {
        i = sumtree_next(s, i, true);
        if (i == FRAMETREE_NONE)
            i = 0;
        if (is_match(m, s, i))
            return i;
    } while (i != pane->chosen);
    return FRAMETREE_NONE;
}

/* The match before. A tree has no links backwards, so all of it is walked. */
static uint32_t frame_before(const struct viewmodel *m, const struct view_pane *pane)
{
    const struct sumtree *s = &pane->tree;
    uint32_t before = FRAMETREE_NONE, last = FRAMETREE_NONE;

    for (uint32_t i = 0; i != FRAMETREE_NONE; i = sumtree_next(s, i, true)) {
        if (i == pane->chosen)
            before = last;
        if (is_match(m, s, i))
            last = i;
    }
    return before != FRAMETREE_NONE ? before : last;
}

static bool next_frame(struct viewmodel *m, int step)
{
    struct view_pane *pane = viewmodel_pane(m);
    uint32_t found = step > 0 ? frame_behind(m, pane) : frame_before(m, pane);

    if (found != FRAMETREE_NONE)
        pane->chosen = found;
    return found != FRAMETREE_NONE;
}

bool viewmodel_next_match(struct viewmodel *m, int step)
{
    if (!m->match)
        return false;
    return m->mode == VIEW_MODE_TABLE ? next_row(m, step) : next_frame(m, step);
}
