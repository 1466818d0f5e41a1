#include "common/trace/trace_identity.h"

#include "common/hash.h"

uint64_t trace_stack_identity(const struct trace *t, uint32_t node)
{
    const struct trace_node *root = trace_node_root(t, node), *n = &t->nodes[node];
    const char *program = trace_program(t);
    uint64_t hash = fnv_text(FNV_BASIS, program);

    for (; n->kind != TRACE_NODE_ROOT; n = &t->nodes[n->parent]) {
        bool is_pc = n->kind == TRACE_NODE_PC || n->kind == TRACE_NODE_PC_EXACT;
        const struct trace_module_view *m =
            is_pc ? trace_module_at(t, n->addr, (uint32_t)(root->addr >> 32)) : NULL;
        uint64_t at = m ? n->addr - m->m.bias : is_pc ? n->addr : 0;

        hash = fnv_bytes(hash, &n->kind, sizeof n->kind);
        hash = fnv_bytes(hash, &at, sizeof at);
        if (n->kind == TRACE_NODE_REGION || n->kind == TRACE_NODE_TAG ||
            n->kind == TRACE_NODE_NAMED)
            hash = fnv_text(hash, t->regions[n->addr]);
        if (n->kind == TRACE_NODE_NAME || n->kind == TRACE_NODE_KERNEL) {
            struct trace_string name = trace_node_name(t, n);

            hash = fnv_bytes(hash, name.s, name.len);
        }
        if (n->kind == TRACE_NODE_MAPPING || n->kind == TRACE_NODE_RESIDENT ||
            n->kind == TRACE_NODE_PART || n->kind == TRACE_NODE_CLASS)
            hash = fnv_bytes(hash, &n->addr, sizeof n->addr);
        if (m)
            hash = fnv_text(hash, m->path);
    }
    return hash;
}
