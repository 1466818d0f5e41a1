/*
 * pylayout.h: offsets in CPython's structures of the fields that identify frames, for each version.
 *
 * They describe the interpreter's memory and not an interface. They hold for all releases of a
 * minor version, built without Py_TRACE_REFS and Py_GIL_DISABLED, on 64-bit processors. Pure.
 */
#ifndef FLAME_PRELOAD_PYTHON_PYLAYOUT_H
#define FLAME_PRELOAD_PYTHON_PYLAYOUT_H

#include <stdint.h>

/* Offsets in bytes. */
struct pylayout {
    uint32_t version;        /* major << 8 | minor */
    uint32_t runtime_key;    /* _PyRuntime: Py_tss_t of the calling thread's state */
    uint16_t state_frames;   /* PyThreadState: cframe, or current_frame */
    uint16_t state_thread;   /* PyThreadState: thread_id, the value of pthread_self */
    uint16_t frame_code;     /* _PyInterpreterFrame: f_code, or f_executable */
    uint16_t frame_previous; /* _PyInterpreterFrame: previous */
    uint16_t
        frame_entry; /* a byte that is `entry_is` in the outermost Python frame of a native frame */
    uint8_t entry_is;         /* the value of that byte */
    uint8_t has_cframes;      /* whether state_frames leads to a _PyCFrame */
    uint8_t cframe_current;   /* _PyCFrame: current_frame */
    uint8_t cframe_previous;  /* _PyCFrame: previous; NULL in the outermost one */
    uint8_t entry_is_a_frame; /* whether entries are functions. If not, they lie on the native stack
                                 and represent no function, and cframes need not be followed */
    uint8_t text_bytes;       /* PyUnicode: offset of the characters of an ASCII text */
    uint8_t text_others;      /* offset of other characters, if they follow the object */
    uint16_t code_first_line; /* PyCodeObject: co_firstlineno */
    uint16_t code_filename, code_qualname;
};

/* A version that every supported processor has a row for. */
#define PYLAYOUT_ANY 0x30bu

/* NULL: the version is not known. */
const struct pylayout *pylayout_of(uint32_t version);

#endif
