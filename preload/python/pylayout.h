/*
 * pylayout.h: where CPython keeps what its frames are known by, version by version.
 *
 * These are facts of the interpreter's memory, not of an interface: they hold for all releases of a
 * minor version, as built without Py_TRACE_REFS and Py_GIL_DISABLED, on processors of 64 bits.
 * Pure.
 */
#ifndef FLAME_PRELOAD_PYTHON_PYLAYOUT_H
#define FLAME_PRELOAD_PYTHON_PYLAYOUT_H

#include <stdint.h>

/* Offsets in bytes. */
struct pylayout {
    uint32_t version;         /* major << 8 | minor */
    uint32_t runtime_key;     /* _PyRuntime: Py_tss_t of the calling thread's state */
    uint16_t state_frames;    /* PyThreadState: cframe, or current_frame */
    uint16_t state_thread;    /* thread_id, as pthread_self says it */
    uint16_t frame_code;      /* _PyInterpreterFrame: f_code, or f_executable */
    uint16_t frame_previous;  /* previous */
    uint16_t frame_entry;     /* a byte that is `entry_is` in the outermost frame of a native one */
    uint8_t entry_is;         /* and */
    uint8_t has_cframes;      /* state_frames leads to a _PyCFrame: */
    uint8_t cframe_current;   /* current_frame */
    uint8_t cframe_previous;  /* previous; of the outermost it is NULL */
    uint8_t entry_is_a_frame; /* entries are functions. If not, they lie on the native stack and
                                 stand for nothing, and cframes need not be followed */
    uint8_t text_bytes;       /* PyUnicode: characters of ASCII begin here, */
    uint8_t text_others;      /* and others here, if they are behind it */
    uint16_t code_first_line; /* PyCodeObject: co_firstlineno */
    uint16_t code_filename, code_qualname;
};

/* A version that is known wherever one is. */
#define PYLAYOUT_ANY 0x30bu

/* NULL: that version is not known. */
const struct pylayout *pylayout_of(uint32_t version);

#endif
