/* Interning of stacks against a plain list of all stacks seen. */
#include "preload/store/stacks.h"
#include "tests/tap.h"
#include "tests/unit/scratch_store.h"

#define MAX_STACKS 6000
#define MAX_DEPTH 40

static struct {
    uintptr_t pcs[MAX_DEPTH];
    uint32_t n, node;
} seen[MAX_STACKS];
static size_t nseen, reported;

static uint64_t seed = 7;

static uint64_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static void count_added(uintptr_t pc FLAME_UNUSED)
{
    reported++;
}

/* The chain of parents must spell the stack again. */
static bool spells(uint32_t node, const uintptr_t *pcs, uint32_t n, uint32_t root)
{
    while (n--) {
        const struct trace_node *t = store_node(node);

        if (t->addr != pcs[n] || t->kind != TRACE_NODE_PC)
            return false;
        node = t->parent;
    }
    return node == root;
}

static void against_model(struct stack_table *t)
{
    uintptr_t pcs[MAX_DEPTH] = {0};
    size_t wrong = 0, misspelt = 0;
    uint32_t n = 0;

    for (int round = 0; round < 60000; round++) {
        struct stack_entry *e;
        size_t i;

        uint32_t same = 0;

        /* Mostly small changes at the inner end, as a program makes them. */
        if (next() % 4 == 0 || n == 0) {
            n = 1 + (uint32_t)(next() % MAX_DEPTH);
            for (uint32_t k = 0; k < n; k++)
                pcs[k] = 0x1000 + next() % 3;
        } else {
            same = n - 1 - (uint32_t)(next() % (n < 3 ? n : 3));
            pcs[same] = 0x1000 + next() % 3;
            same -= same && next() % 2; /* claiming less than is true is allowed */
        }
        e = stacks_intern(t, pcs, n, same, 0, count_added);
        if (!e) {
            wrong++;
            break;
        }
        misspelt += !spells(e->node, pcs, n, t->last_place[0].node);
        for (i = 0; i < nseen; i++)
            if (seen[i].n == n && memcmp(seen[i].pcs, pcs, n * sizeof *pcs) == 0)
                break;
        if (i < nseen) {
            wrong += seen[i].node != e->node;
        } else if (nseen < MAX_STACKS) {
            for (size_t k = 0; k < nseen; k++)
                wrong += seen[k].node == e->node;
            memcpy(seen[nseen].pcs, pcs, sizeof pcs);
            seen[nseen].n = n;
            seen[nseen++].node = e->node;
        }
    }
    is_int((long long)wrong, 0, "one node for a stack and one stack for a node (%zu stacks)",
           nseen);
    is_int((long long)misspelt, 0, "the parents of every node spell its stack");
}

int main(void)
{
    static struct stack_table t;
    static struct stack_small small;
    uintptr_t a[3] = {1000, 2000, 3000}, deep[3] = {1000, STACK_TRUNCATED, 3000};
    struct stack_entry *e;
    uint32_t node;

    if (!ok(scratch_store_open(), "a scratch trace is opened"))
        return done_testing();
    stacks_init(&t, &small);
    ok(stacks_set_root(&t, 77), "stacks_set_root accepts a first root");
    against_model(&t);
    is_int((long long)reported, (long long)t.used, "every new address is reported once");

    e = stacks_intern(&t, a, 3, 0, 0, NULL);
    node = e->node;
    ok(stacks_intern(&t, a, 2, 2, 0, NULL)->node == store_node(node)->parent,
       "the callers of a stack are a stack themselves");
    e = stacks_intern(&t, deep, 3, 0, 9, NULL);
    e = stacks_intern(&t, deep, 2, 2, 9, NULL);
    is_int(store_node(e->node)->kind, TRACE_NODE_TRUNCATED,
           "omitted frames have a node of their own");
    is_int((long long)store_node(e->node)->addr, 9, "the node of omitted frames has their number");
    ok(stacks_set_root(&t, 78), "stacks_set_root accepts the root of a new epoch");
    ok(stacks_intern(&t, a, 3, 0, 0, NULL)->node != node,
       "a new epoch has new nodes for its stacks");
    scratch_store_close();
    return done_testing();
}
