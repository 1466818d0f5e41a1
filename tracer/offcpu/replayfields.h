/*
 * replayfields.h: the words and the fields of replaylog.h as tables, for the writer and the reader.
 */
#ifndef FLAME_TRACER_OFFCPU_REPLAYFIELDS_H
#define FLAME_TRACER_OFFCPU_REPLAYFIELDS_H

#include "tracer/offcpu/replaylog.h"

enum replay_type {
    REPLAY_FLAG, /* bool */
    REPLAY_U64,
    REPLAY_U32,
    REPLAY_I64,
    REPLAY_INT,   /* also pid_t */
    REPLAY_CALL,  /* int, by the name of the call if there is one */
    REPLAY_ARGS,  /* uint64_t[6] */
    REPLAY_SPAN,  /* struct off_span */
    REPLAY_IS,    /* struct off_object */
    REPLAY_SET,   /* struct off_set */
    REPLAY_WORDS, /* struct arg_copy */
    REPLAY_TEXT,  /* const char *: the rest of the line */
};

struct replay_field {
    const char *key;
    enum replay_type type;
    size_t at; /* in struct replay_record */
};

/* In the order in which they are written. */
extern const struct replay_field replay_fields[];
extern const size_t replay_nfields;

/* Words by enum off_event_kind, and by enum replay_kind (NULL: an event, or nothing). */
#define REPLAY_EVENT_KINDS 11
extern const char *const replay_events[REPLAY_EVENT_KINDS];
#define REPLAY_KINDS 12
extern const char *const replay_words[REPLAY_KINDS];
/* Words by enum off_object_kind. */
extern const char *const replay_objects[OFF_ON_KINDS];

#endif
