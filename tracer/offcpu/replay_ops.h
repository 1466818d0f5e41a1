/*
 * replay_ops.h: a struct offcpu_ops that logs the state machine's input: queries, their answers,
 * options and events.
 *
 * It wraps the real ops: each query is passed on to them, and is emitted as a line (replaylog.h)
 * with the answer. Its user calls replay_event before each offcpu_event, and replay_finish before
 * offcpu_finish.
 *
 * Not thread-safe. `emit` is called for each line, without its newline; the line is valid until it
 * returns.
 */
#ifndef FLAME_TRACER_OFFCPU_REPLAY_OPS_H
#define FLAME_TRACER_OFFCPU_REPLAY_OPS_H

#include "tracer/offcpu/replaylog.h"

struct replay_writer;

/* Emits the options first. The caller frees the result with replay_writer_free. */
struct replay_writer *replay_writer_new(const struct offcpu_options *options,
                                        void (*emit)(void *arg, const char *line, size_t len),
                                        void *arg);
/* NULL: does nothing. */
void replay_writer_free(struct replay_writer *w);

/* Ops that answer as `world` does; they are valid as long as the writer. A query that is NULL in
 * `world` is NULL here too. */
struct offcpu_ops replay_ops(struct replay_writer *w, const struct offcpu_ops *world);

void replay_event(struct replay_writer *w, const struct off_event *e);
void replay_finish(struct replay_writer *w, uint64_t now);

#endif
