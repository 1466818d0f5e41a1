/*
 * The addresses of a trace, and what files and maps say of each.
 *
 * A fold asks for the call before a return address, and for an address itself where a thread was
 * interrupted: a node's kind tells which, or its place below the code to which a signal handler
 * returns. Here each of these is asked for once, and all results are kept with their lines and
 * inlined frames: a reader of the trace decides what to leave out.
 *
 * Files are read as for a fold (fold/fold_in_child.c): in a child, which debug information may
 * kill.
 */
#include "fold/pack/packing.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "fold/fold_in_child.h"
#include "fold/symbols/perfmap.h"

enum question_kind { ASK_CALL, ASK_EXACT, ASK_OBJECT };

/* An address as it occurs. */
struct question {
    const struct trace_module_view *module; /* NULL: in no file, but in the memory of process
                                               `pid` */
    uint32_t pid;
    uint32_t kind; /* enum question_kind */
    uint64_t addr;
};

struct packing {
    const struct trace *t;
    struct symbols *syms;
    struct namepack *to;
    struct question *questions;
    size_t n, room;
    uint32_t *root_of;              /* by node; 0: not known yet */
    struct symbol_module **modules; /* in the order of t->modules */
};

/* ---- the addresses of a trace ---- */

static const struct trace_node *root_of(struct packing *p, uint32_t node)
{
    uint32_t root = node;

    while (!p->root_of[root] && p->t->nodes[root].kind != TRACE_NODE_ROOT)
        root = p->t->nodes[root].parent;
    if (p->root_of[root])
        root = p->root_of[root];
    for (uint32_t at = node; at != root && !p->root_of[at]; at = p->t->nodes[at].parent)
        p->root_of[at] = root;
    return &p->t->nodes[root];
}

static struct symbol_module *module_of(struct packing *p, const struct trace_module_view *m)
{
    struct symbol_module **known = &p->modules[m - p->t->modules];

    if (!*known)
        *known = symbols_module(p->syms, m->path, m->m.build_id, m->m.build_id_size, m->m.layout);
    return *known;
}

static void ask(struct packing *p, uint32_t node, enum question_kind kind)
{
    const struct trace_node *root = root_of(p, node);
    uint64_t addr = p->t->nodes[node].addr;
    const struct trace_module_view *m = trace_module_at(p->t, addr, (uint32_t)(root->addr >> 32));

    if (m)
        symbols_mapped_by(module_of(p, m), trace_root_pid(p->t, root));
    GROW(p->questions, p->n, p->room);
    p->questions[p->n++] = (struct question){.module = m,
                                             .pid = m ? 0 : trace_root_pid(p->t, root),
                                             .kind = kind,
                                             .addr = m ? addr : trace_code_address(p->t, addr)};
}

static bool is_address(const struct trace_node *n)
{
    return n->kind == TRACE_NODE_PC || n->kind == TRACE_NODE_PC_EXACT;
}

/* Whether a signal handler returns to this address. */
static bool is_sigreturn(struct packing *p, uint32_t node)
{
    const struct trace_node *n = &p->t->nodes[node], *root = root_of(p, node);
    const struct trace_module_view *m =
        trace_module_at(p->t, n->addr, (uint32_t)(root->addr >> 32));

    return m && symbols_is_sigreturn(p->syms, module_of(p, m), n->addr - m->m.bias);
}

static void ask_all(struct packing *p)
{
    for (uint32_t id = 0; id < p->t->node_limit; id++) {
        const struct trace_node *n = &p->t->nodes[id];

        if (n->kind == TRACE_NODE_FUTEX)
            ask(p, id, ASK_OBJECT);
        if (!is_address(n))
            continue;
        ask(p, id, n->kind == TRACE_NODE_PC ? ASK_CALL : ASK_EXACT);
        if (!is_sigreturn(p, id))
            continue;
        ask(p, id, ASK_EXACT);
        if (is_address(&p->t->nodes[n->parent]))
            ask(p, n->parent, ASK_EXACT);
    }
}

static int by_address(const void *a, const void *b)
{
    const struct question *x = a, *y = b;

    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* ---- the answers ---- */

static void add_place(struct packing *p, struct namepack_module *to, struct symbol_module *m,
                      uint64_t vaddr)
{
    struct symbol_frames found = symbols_find(p->syms, m, vaddr);
    struct namepack_frame *frames = xcalloc(found.n + 1, sizeof *frames);

    for (size_t i = 0; i < found.n; i++) {
        const struct symbol_frame *from = &found.frame[i];

        frames[i].name = namepack_add_string(p->to, from->raw, from->raw_len);
        if (from->path)
            frames[i].path = namepack_add_string(p->to, from->path, strlen(from->path));
        frames[i].line = from->line;
    }
    namepack_add_place(p->to, to, vaddr, NAMEPACK_ASKED, frames, found.n);
    free(frames);
}

static void add_object(struct packing *p, struct namepack_module *to, struct symbol_module *m,
                       uint64_t vaddr)
{
    struct symbol_object found = symbols_object(p->syms, m, vaddr);

    if (found.name)
        namepack_add_object(to, &(struct namepack_object){
                                    .vaddr = vaddr,
                                    .offset = found.offset,
                                    .size = found.size,
                                    .name = namepack_add_string(p->to, found.raw, found.raw_len)});
}

static void answer(struct packing *p, const struct question *q)
{
    const struct trace_module *file = &q->module->m;
    struct symbol_module *m = module_of(p, q->module);
    struct namepack_module *to =
        namepack_module(p->to, q->module->path, file->build_id, file->build_id_size, file->layout);
    uint64_t vaddr = q->addr - file->bias;

    if (q->kind == ASK_OBJECT) {
        add_object(p, to, m, vaddr);
    } else {
        add_place(p, to, m, vaddr - (q->kind == ASK_CALL));
        /* Every fold needs this for each address. */
        namepack_add_place(p->to, to, vaddr,
                           symbols_is_sigreturn(p->syms, m, vaddr) ? NAMEPACK_SIGRETURN : 0, NULL,
                           0);
    }
    namepack_set_state(to, symbols_state(m));
}

/* Names code that was generated at run time, one process after the other. */
static void answer_made(struct packing *p, const struct question *q, size_t n)
{
    struct perfmap *map = p->t->names ? NULL : perfmap_open(q->pid, trace_process_since(p->t));
    const char *name;
    size_t len;

    for (size_t i = 0; i < n; i++) {
        uint64_t addr = q[i].addr - (q[i].kind == ASK_CALL);
        struct namepack_text old = {"", 0};

        if (p->t->names)
            old = namepack_string(p->t->names, namepack_made(p->t->names, q[i].pid, addr));
        name = map ? perfmap_find(map, addr, &len) : NULL;
        if (name)
            namepack_add_made(p->to, q[i].pid, addr, namepack_add_string(p->to, name, len));
        else if (old.len)
            namepack_add_made(p->to, q[i].pid, addr, namepack_add_string(p->to, old.s, old.len));
    }
    perfmap_free(map);
}

static void answer_all(struct packing *p)
{
    if (p->n)
        qsort(p->questions, p->n, sizeof *p->questions, by_address);
    for (size_t i = 0, end; i < p->n; i = end) {
        const struct question *q = &p->questions[i];

        end = i + 1;
        if (q->module) {
            while (end < p->n && by_address(q, &p->questions[end]) == 0)
                end++;
            answer(p, q);
            continue;
        }
        while (end < p->n && !p->questions[end].module && p->questions[end].pid == q->pid)
            end++;
        answer_made(p, q, end - i);
    }
}

static void pack_one(const struct trace *t, struct symbols *syms, struct strbuf *names)
{
    struct packing p = {.t = t, .syms = syms, .to = namepack_new()};

    symbols_use_names(syms, t->names);
    p.root_of = xcalloc((size_t)t->node_limit + 1, sizeof *p.root_of);
    p.modules = xcalloc(t->nmodules, sizeof(struct symbol_module *));
    ask_all(&p);
    answer_all(&p);
    namepack_finish(p.to);
    namepack_encode(p.to, names);
    free(p.questions);
    free(p.root_of);
    free(p.modules);
    namepack_free(p.to);
}

/* A guarded_work: emits for each trace the size of its names in bytes, and the names. */
static int pack_all(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                    aggregate_sink sink, void *opaque)
{
    struct symbols *syms = symbols_new(&opt->symbols);
    struct strbuf all = STRBUF_INIT, names = STRBUF_INIT;

    for (size_t i = 0; i < ntraces; i++) {
        strbuf_clear(&names);
        pack_one(traces[i], syms, &names);
        strbuf_add(&all, &names.len, sizeof names.len);
        strbuf_add(&all, names.buf, names.len);
    }
    symbols_free(syms);
    sink(opaque, all.buf, all.len);
    strbuf_release(&names);
    strbuf_release(&all);
    return 0;
}

/* ---- here ---- */

int packing_names(const struct symbol_options *opt, struct trace *const *traces, size_t n,
                  struct strbuf *names)
{
    struct fold_options fold = {.symbols = *opt};
    struct strbuf all = STRBUF_INIT;
    size_t at = 0, len;
    int status;

    fold.symbols.no_demangle = fold.symbols.lines = fold.symbols.files_first = true;
    fold.symbols.no_inline = false;
    status = fold_in_child(&fold, traces, n, aggregate_to_strbuf, &all, pack_all);
    for (size_t i = 0; i < n && !status; i++) {
        memcpy(&len, all.buf + at, sizeof len);
        strbuf_add(&names[i], all.buf + at + sizeof len, len);
        at += sizeof len + len;
    }
    strbuf_release(&all);
    return status;
}

void packing_segment(struct strbuf *out, const struct strbuf *names, uint32_t metas)
{
    static const char zeros[TRACE_UNIT];
    struct trace_meta meta = {.type = TRACE_META_NAMES, .size = (uint32_t)names->len};
    struct trace_segment s = {.magic = TRACE_SEGMENT_MAGIC, .type = TRACE_SEG_META, .index = metas};
    size_t size = sizeof s + sizeof meta + names->len;

    s.units = (uint32_t)((size + TRACE_UNIT - 1) / TRACE_UNIT);
    strbuf_add(out, &s, sizeof s);
    strbuf_add(out, &meta, sizeof meta);
    strbuf_add(out, names->buf, names->len);
    strbuf_add(out, zeros, (size_t)s.units * TRACE_UNIT - size);
}
