/*
 * replaylog.h: log of the state machine's input, as lines of text, so that it can be run again.
 *
 * The machine (offcpu.h) gets its options, then events, and the answers to the queries that it
 * makes while it handles an event. A log has each of these as one line, in that order, and ends
 * with the time of offcpu_finish. The log is what FLAME_DEBUG=replay prints (replay_ops.h), less
 * "flame: replay: " before each line.
 *
 * A line is a word and fields, with one blank between. An empty line, and one that begins with '#',
 * has no meaning. The words are:
 *
 *   options  of offcpu_new: min max depth unstopped
 *   begin end exiting exec entry exit signal stopped continued sample unsampled
 *            an event (event.h) of that kind
 *   stack    a query of offcpu_ops.h: tid; the answer: id
 *   likeness                        id;               like
 *   sched                           tid;              cpu runq turns, or unknown
 *   faults                          tid;              faults, or unknown
 *   object                          tid call args;    is set
 *   held                            tid by-exec;      set
 *   peer                            tid call args is; name, or unknown
 *   sender                          pid;              name, or unknown
 *   finish   of offcpu_finish: t
 *
 * A field is KEY=VALUE, or the KEY alone if it is true. A field that is absent is 0, false or
 * empty. Numbers are decimal, but for arguments, memory, and a and b of objects, which are
 * hexadecimal without 0x. Times are nanoseconds.
 *
 *   t=N            the event's time          pid=N tid=N parent=N sender=N code=N result=N
 *   call=NAME      the number of this call (calls.h), which depends on the processor
 *   nr=N           the number of another call, or of a signal
 *   args=N,...     the arguments of the call, less zeros at the end
 *   stopped=NS,LONGEST,TIMES                 more=NS (stopped_uncertain_ns)
 *   room=NS,LONGEST,TIMES
 *   too-short= too-late= faulted=NS,LONGEST,TIMES  the spans of an `unsampled`
 *   memory=N,...   the words of struct arg_copy
 *   is=KIND,SIDE,WANTS,A,B                   an object; KIND is a word of replaylog.c
 *   set=OBJECT;... the members of a set, each like `is`
 *   name=TEXT      up to the end of the line
 *   attached-in-call sampled newborn cannot-block stayed-on-cpu restarted caught by-exec unknown
 *   unstopped
 *
 * A call that this processor does not have makes replay_read return -ENOSYS. All other lines that
 * are not of this form are -EINVAL. Not thread-safe.
 */
#ifndef FLAME_TRACER_OFFCPU_REPLAYLOG_H
#define FLAME_TRACER_OFFCPU_REPLAYLOG_H

#include "common/strbuf.h"
#include "tracer/offcpu/arg_copy.h"
#include "tracer/offcpu/offcpu.h"

enum replay_kind {
    REPLAY_NOTHING, /* an empty line, or a comment */
    REPLAY_OPTIONS,
    REPLAY_EVENT, /* `event` */
    REPLAY_STACK, /* this and the next are queries with their answers */
    REPLAY_LIKENESS,
    REPLAY_SCHED,
    REPLAY_FAULTS,
    REPLAY_OBJECT,
    REPLAY_HELD,
    REPLAY_PEER,
    REPLAY_SENDER,
    REPLAY_FINISH,
};

/* One line. All zero: nothing. */
struct replay_record {
    enum replay_kind kind;
    struct offcpu_options options;
    /* An event: all fields; `event.memory` is NULL or &memory, `event.unsampled` NULL or
     * &unsampled. A query: its tid, pid, nr and args. The end: its time. */
    struct off_event event;
    struct off_unsampled unsampled;
    struct arg_copy memory;
    off_stack stack;
    uint32_t like;
    struct off_sched sched;
    uint64_t faults;
    bool by_exec;
    bool unknown; /* the answer is unknown */
    struct off_object object;
    struct off_set set;
    const char *name; /* NULL: none */
};

/* Appends the record as a line, without its newline. A name's control characters are written as
 * '?'. */
void replay_add(struct strbuf *sb, const struct replay_record *r);

/* Memory for records that were read. All zero: none. A record is valid until the next one is read
 * with the same memory. */
struct replay_memory {
    uint64_t *words;
    struct off_object *members;
    char *name;
    size_t words_room, members_room, name_room;
};

/* Reads a line of `len` bytes, which need not end with a NUL. 0, -EINVAL or -ENOSYS; then *r must
 * not be used. The caller owns `m` and frees it with replay_memory_release. */
int replay_read(struct replay_record *r, struct replay_memory *m, const char *line, size_t len);
void replay_memory_release(struct replay_memory *m);

#endif
