/*
 * replay_ops.h: a world that logs what is asked of it, and what the machine is given besides.
 *
 * It stands between the state machine and its world: each question goes on to the world, and comes
 * out as a line (replaylog.h) with the answer. Whoever has it calls replay_event before each
 * offcpu_event, and replay_finish before offcpu_finish.
 *
 * Not thread-safe. `emit` is called for each line, without its end; the line lasts until it
 * returns.
 */
#ifndef FLAME_TRACER_OFFCPU_REPLAY_OPS_H
#define FLAME_TRACER_OFFCPU_REPLAY_OPS_H

#include "tracer/offcpu/replaylog.h"

struct replay_writer;

/* Tells the options first. What it returns is freed by replay_writer_free. */
struct replay_writer *replay_writer_new(const struct offcpu_options *options,
                                        void (*emit)(void *arg, const char *line, size_t len),
                                        void *arg);
/* NULL: nothing is done. */
void replay_writer_free(struct replay_writer *w);

/* A world that answers as this one does; it lasts as long as the writer. A question that the world
 * does not have, it does not have either. */
struct offcpu_ops replay_ops(struct replay_writer *w, const struct offcpu_ops *world);

void replay_event(struct replay_writer *w, const struct off_event *e);
void replay_finish(struct replay_writer *w, uint64_t now);

#endif
