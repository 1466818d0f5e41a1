/*
 * trace_nodes.c: nodes for the stacks of recorded threads, and the frames on top of them.
 */
#define _GNU_SOURCE
#include "tracer/trace_nodes.h"

#include <string.h>

#include "tracer/offcpu/calls.h"
#include "tracer/objects/objname.h"
#include "tracer/objects/proctask.h"

void recorder_name_process(struct recorder *r, struct tracee_process *p)
{
    if (tracee_process_retitled(p))
        offtrace_title(r->trace, p->pid, p->title.buf, p->title.len);
}

uint16_t recorder_thread(struct recorder *r, struct tracee *t)
{
    if (!t->record) {
        if (!t->process->asked)
            recorder_name_process(r, t->process);
        tracee_renamed(t);
        t->record = offtrace_thread(r->trace, t->process->pid, t->tid, t->comm);
    }
    return t->record;
}

uint32_t recorder_node_root(struct recorder *r, struct tracee *t)
{
    uint32_t epoch = space_prepare(t->process->space, t->tid) ? space_epoch(t->process->space) : 0;

    return offtrace_root(r->trace, recorder_thread(r, t), epoch);
}

bool recorder_is_logged(const struct recorder *r, const struct tracee *t)
{
    return r->at_hand.is_logged && r->at_hand.event && r->at_hand.event->tid == t->tid;
}

uint32_t recorder_node_logged(struct recorder *r, struct tracee *t, uint32_t stack)
{
    return inproc_stacks_node(r->given, stack, t->process->space, t->tid, recorder_thread(r, t));
}

uint32_t recorder_node_stopped(struct recorder *r, struct tracee *t)
{
    struct user_regs_struct regs;

    if (!source_regs(r->stops, t->tid, &regs))
        return 0;
    return stacks_capture(r->stacks, t->process->space, t->tid, recorder_thread(r, t), &regs,
                          source_asleep(r->stops, t->tid));
}

struct objects_call recorder_node_call(const struct recorder *r, const struct tracee *t, int nr,
                                       const uint64_t args[6])
{
    static const struct arg_copy nothing;
    struct objects_call call = {t->process->pid, t->tid, nr, args, NULL};

    if (arg_copy_is_of(&t->memory, nr, args))
        call.memory = &t->memory.is;
    else if (call_flags(nr, args) & CALL_OPENS)
        call.memory = NULL; /* it is still waiting: at its end the path is logged */
    else if (recorder_is_logged(r, t))
        call.memory = r->at_hand.event->memory ? r->at_hand.event->memory : &nothing;
    else if (t->noted)
        call.memory = &nothing;
    return call;
}

/* The cached frame of with_lasting_call for a call on this descriptor on top of this stack. */
static struct recorder_frame *frame_of(struct recorder *r, uint32_t below, int nr, int fd)
{
    uint32_t at = (below * 31 + (uint32_t)nr) * 31 + (uint32_t)fd;

    return &r->frames[at % RECORDER_FRAMES];
}

/* The frame of a call on top of a stack whose text lasts as long as its object is the same. */
static uint32_t with_lasting_call(struct recorder *r, struct objects_call *call, uint32_t below,
                                  int fd, const struct off_object *object)
{
    struct recorder_frame *f = frame_of(r, below, call->nr, fd);

    if (f->below == below && f->nr == call->nr && f->fd == fd && f->pid == call->pid &&
        off_same(&f->object, object) && f->object.side == object->side)
        return f->node;
    objname_call(r->objects, call, object, 0, r->keep_numbers, &r->text);
    *f = (struct recorder_frame){
        .below = below, .nr = call->nr, .fd = fd, .pid = call->pid, .object = *object};
    f->node = offtrace_name(r->trace, below, TRACE_NODE_NAME, r->text.buf, r->text.len);
    if (!f->node || !objname_is_whole(call->nr, &r->text)) /* the descriptor is closed by now */
        f->below = 0;
    return f->node;
}

uint32_t recorder_node_with_call(struct recorder *r, struct tracee *t, uint32_t node, int nr,
                                 const uint64_t args[6], const struct off_object *object,
                                 size_t set_size)
{
    struct objects_call call = recorder_node_call(r, t, nr, args);
    int fd = objname_cacheable_fd(nr, args, object);

    if (fd >= 0 && node)
        return with_lasting_call(r, &call, node, fd, object);
    if (objname_call(r->objects, &call, object, set_size, r->keep_numbers, &r->text))
        node = offtrace_name(r->trace, node, TRACE_NODE_NAME, r->text.buf, r->text.len);
    else
        node = offtrace_node(r->trace, node, TRACE_NODE_FUTEX,
                             objects_futex_address(t->tid, nr, args));
    return node;
}

void recorder_object_of_call(struct recorder *r, struct tracee *t, int nr, const uint64_t args[6],
                             struct off_object *out, struct off_set *set)
{
    struct objects_call call = recorder_node_call(r, t, nr, args);

    objects_of_call(r->objects, &call, out, set);
    r->at_hand.answer.tid = t->tid;
    r->at_hand.answer.nr = nr;
    r->at_hand.answer.object = *out;
    r->at_hand.answer.set_size = set->n;
}

uint32_t recorder_node_waking_call(struct recorder *r, struct tracee *t, uint32_t node)
{
    const struct off_event *e = r->at_hand.event;
    struct off_object object = {.kind = OFF_ON_NOTHING};
    struct off_set set = {NULL, 0};

    if (!e || e->tid != t->tid || !node)
        return node;
    if (e->kind == OFF_EXITING && !t->in_call)
        return offtrace_name(r->trace, node, TRACE_NODE_NAME, "exit", 4);
    if (e->kind != OFF_ENTRY)
        return node;
    if (r->at_hand.answer.tid != e->tid || r->at_hand.answer.nr != e->nr)
        recorder_object_of_call(r, t, e->nr, e->args, &object, &set);
    return recorder_node_with_call(r, t, node, e->nr, e->args, &r->at_hand.answer.object,
                                   r->at_hand.answer.set_size);
}

/* "[<0>] name+0x1/0x2 [module]", innermost first; becomes names, outermost first. */
static void kernel_names(char *text, struct strbuf *out)
{
    char *line;

    while ((line = strrchr(text, '\n')) || *text) {
        char *from = line ? line + 1 : text, *name = strchr(from, ' ');
        size_t len = name ? strcspn(name + 1, "+\n") : 0;

        if (len && strncmp(name + 1, "0x", 2) != 0) {
            strbuf_add(out, name + 1, len);
            strbuf_addch(out, '\n');
        }
        if (!line)
            break;
        *line = '\0';
    }
}

void recorder_read_kernel_stack(struct recorder *r, struct tracee *t)
{
    char text[4096];

    strbuf_clear(&t->kernel);
    if (task_read(t->tid, "stack", text, sizeof text) > 0)
        kernel_names(text, &t->kernel);
    else
        r->kernel = false; /* not permitted */
}

uint32_t recorder_node_with_kernel(struct recorder *r, const struct tracee *t, uint32_t node)
{
    const char *at = t->kernel.buf, *end = at + t->kernel.len;

    while (at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at));

        node = offtrace_name(r->trace, node, TRACE_NODE_KERNEL, at, (size_t)(line - at));
        at = line + 1;
    }
    return node;
}

uint32_t recorder_node_unknown(struct recorder *r, struct tracee *t)
{
    return offtrace_name(r->trace, recorder_node_root(r, t), TRACE_NODE_NAME,
                         TRACE_STACK_INCOMPLETE, sizeof TRACE_STACK_INCOMPLETE - 1);
}
