/*
 * The links of a trace: node to parent, row to node, row to thread.
 *
 * Parents: each chain must end at a root. A node's state is unknown, good or missing. From each
 * unknown node the check climbs until a node with a state, flagging the nodes on the way, and
 * climbs a second time to store the result. A flagged node met on the first climb is a circle.
 * Every node is passed twice at most, in constant memory but for one byte a node, however deep or
 * hostile the tree.
 *
 * A waker's node has a second link, to the stack of the waker. It leads from a node whose ancestors
 * may be wakers to one whose ancestors may not, so there can be no circle. The check climbs from
 * all other nodes first. Then it climbs from the wakers' nodes, and only checks whether the stack
 * that they name is good.
 *
 * A link to a missing record is no error, because a file that a running program writes is copied
 * from front to back. So the copy may hold a row and yet lack its node, which was written in a part
 * already copied. Such nodes and rows are removed and the rows counted. A link to a place where no
 * record can be, or to a record of the wrong kind, is damage.
 *
 * Rejected: demanding that parents have smaller ids. Threads fill segments of their own, so a
 * parent made by one may well have the greater id.
 */
#include "common/trace/trace_reader_impl.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/trace/lifeclass.h"
#include "common/trace/sleepclass.h"
#include "common/strbuf.h"

enum state {
    UNKNOWN = 0,
    ON_THE_WAY,
    GOOD,
    MISSING,
};

static uint64_t node_offset(const struct trace_source *src, uint32_t id)
{
    return trace_offset_of(src, TRACE_SEG_NODES, id >> TRACE_NODE_SHIFT,
                           (id & ((1u << TRACE_NODE_SHIFT) - 1)) * sizeof(struct trace_node));
}

static uint64_t row_offset(const struct trace_source *src, uint32_t id)
{
    return trace_offset_of(src, TRACE_SEG_ROWS, id >> TRACE_ROW_SHIFT,
                           (id & ((1u << TRACE_ROW_SHIFT) - 1)) * sizeof(struct trace_row));
}

/* Whether a record with this id can exist in a file of so many segments. */
static bool id_possible(uint32_t id, uint32_t shift, uint32_t first_slot, size_t segments)
{
    return (id & ((1u << shift) - 1)) >= first_slot && id >> shift < segments;
}

/* Whether a trace of this recorder may have nodes of this kind. No view of its traces can show
 * other kinds. */
static bool kind_fits(uint32_t kind, bool off)
{
    return kind < TRACE_NODE_KERNEL || kind == TRACE_NODE_CLASS ||
           (kind == TRACE_NODE_INHERITED || kind == TRACE_NODE_REGION ||
            (kind >= TRACE_NODE_MAPPING && kind < TRACE_NODE_CLASS)) != off;
}

/* Whether a node that is no call, of `kind`, may have a parent of kind `parent`. In a copy of a
 * growing file the parent may be missing. */
static bool may_stand_on(uint32_t kind, uint32_t parent)
{
    bool on_part = parent == TRACE_NODE_PART || parent == TRACE_NODE_NAMED;

    if (parent == TRACE_NODE_NONE)
        return true;
    if (parent == TRACE_NODE_REGION || parent == TRACE_NODE_RESIDENT || parent == TRACE_NODE_CLASS)
        return false;
    if (parent == TRACE_NODE_MAPPING || on_part)
        return kind == TRACE_NODE_RESIDENT ||
               (kind == TRACE_NODE_NAMED && parent == TRACE_NODE_PART);
    if (kind == TRACE_NODE_PART)
        return parent == TRACE_NODE_ROOT;
    return kind != TRACE_NODE_NAMED;
}

/* Whether a tag may have this parent. In a copy of a growing file the parent may be missing. */
static bool may_bear_tag(const struct trace_node *parent)
{
    return parent->kind == TRACE_NODE_ROOT || parent->kind == TRACE_NODE_TAG ||
           parent->kind == TRACE_NODE_NONE;
}

/* Checks one node on its own; ON_THE_WAY: its parent decides. */
static int check_node(const struct trace_source *src, const struct trace *t, const uint8_t *states,
                      uint32_t id, enum state *state)
{
    const struct trace_node *n = &t->nodes[id];
    bool off = t->header.recorder == TRACE_RECORDER_OFF;
    struct trace_string s;
    int found;

    *state = ON_THE_WAY;
    switch (kind_fits(n->kind, off) ? n->kind : UINT32_MAX) {
    case TRACE_NODE_NONE:
        *state = MISSING;
        return 0;
    case TRACE_NODE_ROOT:
        if (n->parent != 0)
            return trace_damaged(src, node_offset(src, id), "a root with a parent");
        *state = GOOD;
        return 0;
    case TRACE_NODE_PC:
    case TRACE_NODE_PC_EXACT:
    case TRACE_NODE_TRUNCATED:
    case TRACE_NODE_FUTEX:
        break;
    case TRACE_NODE_INHERITED:
        if (n->addr >> 32 >= t->norigins)
            *state = MISSING;
        break;
    case TRACE_NODE_REGION:
    case TRACE_NODE_TAG:
    case TRACE_NODE_NAMED:
        if (n->addr >= t->nregions)
            *state = MISSING;
        break;
    case TRACE_NODE_RESIDENT:
    case TRACE_NODE_PART:
        if (!n->addr ||
            n->addr >= (n->kind == TRACE_NODE_PART ? TRACE_PARTS : TRACE_RESIDENT_KINDS))
            return trace_damaged(src, node_offset(src, id), "no part of memory has kind %" PRIu64,
                                 n->addr);
        break;
    case TRACE_NODE_MAPPING:
        if (!n->addr || n->addr >= TRACE_MAPPINGS)
            return trace_damaged(src, node_offset(src, id), "no mapping has kind %" PRIu64,
                                 n->addr);
        break;
    case TRACE_NODE_CLASS:
        if (off ? !sleepclass_is(n->addr) : !lifeclass_is(n->addr))
            return trace_damaged(src, node_offset(src, id), "no class of %s is 0x%" PRIx64,
                                 off ? "sleeps" : "blocks", n->addr);
        break;
    case TRACE_NODE_WAKER:
        if (n->addr > UINT32_MAX ||
            !id_possible((uint32_t)n->addr, TRACE_NODE_SHIFT, TRACE_NODE_FIRST_SLOT, src->nparts))
            return trace_damaged(src, node_offset(src, id), "no waker's stack can have id %" PRIu64,
                                 n->addr);
        if (n->addr >= t->node_limit || states[n->addr] == MISSING ||
            t->nodes[n->addr].kind == TRACE_NODE_NONE)
            *state = MISSING;
        else if (t->nodes[n->addr].kind == TRACE_NODE_WAKER)
            return trace_damaged(src, node_offset(src, id), "a waker's stack is a waker");
        break;
    case TRACE_NODE_NAME:
    case TRACE_NODE_KERNEL:
        found = trace_string_at(src, n->addr, &s);
        if (found < 0)
            return trace_damaged(src, node_offset(src, id), "no string is at offset 0x%" PRIx64,
                                 n->addr);
        if (found == 0)
            *state = MISSING;
        break;
    default:
        return trace_damaged(src, node_offset(src, id), "no node has kind %" PRIu32, n->kind);
    }
    if (!id_possible(n->parent, TRACE_NODE_SHIFT, TRACE_NODE_FIRST_SLOT, src->nparts))
        return trace_damaged(src, node_offset(src, id), "no parent can have id %" PRIu32,
                             n->parent);
    if (n->kind != TRACE_NODE_WAKER && n->parent < t->node_limit &&
        t->nodes[n->parent].kind == TRACE_NODE_WAKER)
        return trace_damaged(src, node_offset(src, id), "a frame above a waker");
    if (n->parent < t->node_limit && !may_stand_on(n->kind, t->nodes[n->parent].kind))
        return trace_damaged(src, node_offset(src, id),
                             "a frame above a region, a mapping, a class or a part of memory");
    if (n->kind == TRACE_NODE_TAG && n->parent < t->node_limit &&
        !may_bear_tag(&t->nodes[n->parent]))
        return trace_damaged(src, node_offset(src, id), "a tag above a frame");
    return 0;
}

/* Climbs from all wakers' nodes, or from all other nodes. */
static int climb(const struct trace_source *src, const struct trace *t, uint8_t *states,
                 bool wakers)
{
    for (uint32_t start = 0; start < t->node_limit; start++) {
        enum state found = UNKNOWN;
        uint32_t id;

        if (states[start] != UNKNOWN || t->nodes[start].kind == TRACE_NODE_NONE ||
            (t->nodes[start].kind == TRACE_NODE_WAKER) != wakers)
            continue;
        for (id = start;; id = t->nodes[id].parent) {
            if (id >= t->node_limit) {
                found = MISSING;
                break;
            }
            int err;

            found = states[id];
            if (found == ON_THE_WAY)
                return trace_damaged(src, node_offset(src, id),
                                     "node %" PRIu32 " is its own ancestor", id);
            if (found != UNKNOWN)
                break;
            err = check_node(src, t, states, id, &found);
            if (err)
                return err;
            states[id] = found;
            if (found != ON_THE_WAY)
                break;
        }
        for (uint32_t on = start; on != id; on = t->nodes[on].parent)
            states[on] = found;
    }
    return 0;
}

int trace_check_nodes(const struct trace_source *src, struct trace *t)
{
    struct trace_private *priv = t->priv;
    uint8_t *states = calloc((size_t)t->node_limit + 1, 1);
    int err;

    if (!states)
        return flame_error(FLAME_FAILED, "%s: out of memory; use a machine with more", src->name);
    err = climb(src, t, states, false);
    if (!err)
        err = climb(src, t, states, true);
    for (uint32_t id = 0; !err && id < t->node_limit; id++)
        if (states[id] == MISSING)
            priv->nodes[id].kind = TRACE_NODE_NONE;
    free(states);
    return err;
}

static void check_link(const struct trace *t, uint32_t *node)
{
    if (*node >= t->node_limit || t->nodes[*node].kind == TRACE_NODE_NONE)
        *node = 0;
}

/* Nodes are written before the misuse that names them; in a copy of a growing file they may be
 * missing. */
static void check_misuses(struct trace *t)
{
    for (size_t i = 0; i < t->nmisuses; i++) {
        struct trace_misuse *m = &t->misuses[i];

        check_link(t, &m->node);
        check_link(t, &m->alloc_node);
        check_link(t, &m->free_node);
        if (!trace_thread_at(t, m->thread))
            m->thread = 0;
        if (!trace_thread_at(t, m->freed_in))
            m->freed_in = 0;
    }
}

int trace_check_rows(const struct trace_source *src, struct trace *t)
{
    bool off = t->header.recorder == TRACE_RECORDER_OFF;
    struct trace_private *priv = t->priv;
    uint64_t live = 0;

    check_misuses(t);
    for (size_t i = 0; i < t->ninherited; i++)
        live += t->inherited[i].bytes;
    for (uint32_t id = 0; id < t->row_limit; id++) {
        struct trace_row *r = &priv->rows[id];

        if (!trace_row_used(r))
            continue;
        if (!id_possible(r->node, TRACE_NODE_SHIFT, TRACE_NODE_FIRST_SLOT, src->nparts))
            return trace_damaged(src, row_offset(src, id), "no node can have id %" PRIu32, r->node);
        if (r->thread != 0 &&
            !id_possible(r->thread, TRACE_THREAD_SHIFT, TRACE_THREAD_FIRST_SLOT, src->nparts))
            return trace_damaged(src, row_offset(src, id), "no thread can have id %u", r->thread);
        if (r->node >= t->node_limit || t->nodes[r->node].kind == TRACE_NODE_NONE) {
            r->node = 0;
            t->missing_rows++;
        } else if (!trace_thread_at(t, r->thread)) {
            r->thread = 0;
        }
        if (off) {
            struct trace_off_row *o = (struct trace_off_row *)r;

            if ((o->kind > TRACE_OFF_IPC && o->kind < TRACE_OFF_ONCPU) || o->kind > TRACE_OFF_ROOM)
                o->kind = TRACE_OFF_OTHER;
            if (o->node &&
                (o->kind == TRACE_OFF_CLASS) != (t->nodes[o->node].kind == TRACE_NODE_CLASS))
                return trace_damaged(src, row_offset(src, id), "a row of kind %u on a node of %s",
                                     o->kind, o->kind == TRACE_OFF_CLASS ? "no class" : "a class");
        } else if (trace_row_counts(r)) {
            live += r->alloc_bytes - r->free_bytes;
        }
    }
    t->peak_is_end = (int64_t)live > (int64_t)t->header.peak_bytes;
    return 0;
}
