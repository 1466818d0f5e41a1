/*
 * pylayout.h: offsets in CPython's structures of the fields that identify frames, for each version.
 *
 * They describe the interpreter's memory and not an interface. They hold for all releases of a
 * minor version, built without Py_TRACE_REFS and Py_GIL_DISABLED, on 64-bit processors. Pure.
 */
#ifndef FLAME_UNWIND_PYTHON_PYLAYOUT_H
#define FLAME_UNWIND_PYTHON_PYLAYOUT_H

#include <stdint.h>

/* Offsets in bytes. */
struct pylayout {
    uint32_t version;     /* major << 8 | minor */
    uint32_t runtime_key; /* _PyRuntime: Py_tss_t of the calling thread's state; 0: there is
                             none, and PyGILState_GetThisThreadState returns the state */
    uint16_t runtime_interpreters; /* _PyRuntime: interpreters.head */
    uint16_t interp_next;          /* PyInterpreterState: next */
    uint16_t interp_threads; /* PyInterpreterState: threads.head; the word before it counts all
                                threads so far. Their `next` is at PYLAYOUT_STATE_NEXT */
    uint16_t state_frames;   /* PyThreadState: cframe, or current_frame */
    uint16_t state_thread;   /* PyThreadState: thread_id, the value of pthread_self; the word after
                                it is the thread's number in the kernel */
    uint16_t frame_code;     /* _PyInterpreterFrame: f_code, or f_executable */
    uint16_t frame_previous; /* _PyInterpreterFrame: previous */
    uint16_t frame_entry;    /* a byte that is at least `entry_is` in the outermost Python frame of
                                a native frame */
    uint8_t entry_is;
    uint8_t code_tags;        /* bits of frame_code that do not belong to the address */
    uint8_t has_cframes;      /* whether state_frames leads to a _PyCFrame */
    uint8_t cframe_current;   /* _PyCFrame: current_frame */
    uint8_t cframe_previous;  /* _PyCFrame: previous; NULL in the outermost one */
    uint8_t entry_is_a_frame; /* whether entries are functions. If not, they lie on the native stack
                                 and represent no function, and cframes need not be followed */
    uint8_t text_bytes;       /* PyUnicode: offset of the characters of an ASCII text */
    uint8_t text_others;      /* offset of other characters, if they follow the object */
    uint16_t code_first_line; /* PyCodeObject: co_firstlineno */
    uint16_t code_filename, code_qualname;
    uint16_t code_version; /* co_version, a number that no other code object has had, or 0 where the
                              numbers are used up; 0: there is none */
};

#define PYLAYOUT_STATE_NEXT 8u

/*
 * The known versions. Offsets come from the headers that CPython installs, by offsetof with gcc for
 * x86-64. Include/cpython has thread states, code and texts; Include/internal has the runtime and
 * frames. Those of 3.11.2 and 3.11.7 are equal; the others are of 3.12.1, 3.13.0, 3.14.8
 * and 3.15.0.
 *
 * entry_is: from 3.12 on FRAME_OWNED_BY_CSTACK, from 3.14 on FRAME_OWNED_BY_INTERPRETER; both
 * are 3.
 */
#define PYLAYOUT_3_11                                                                              \
    {                                                                                              \
        .version = 0x30b, .runtime_key = 592, .runtime_interpreters = 40, .interp_next = 0,        \
        .interp_threads = 16, .state_frames = 56, .state_thread = 152, .frame_code = 32,           \
        .frame_previous = 48, .frame_entry = 68, .entry_is = 1, .has_cframes = 1,                  \
        .cframe_current = 8, .cframe_previous = 16, .entry_is_a_frame = 1, .text_bytes = 48,       \
        .text_others = 72, .code_first_line = 72, .code_filename = 112, .code_qualname = 128       \
    }
#define PYLAYOUT_3_12                                                                              \
    {                                                                                              \
        .version = 0x30c, .runtime_key = 1544, .runtime_interpreters = 40, .interp_next = 0,       \
        .interp_threads = 72, .state_frames = 56, .state_thread = 136, .frame_code = 0,            \
        .frame_previous = 8, .frame_entry = 70, .entry_is = 3, .has_cframes = 1,                   \
        .cframe_current = 0, .cframe_previous = 8, .text_bytes = 40, .text_others = 56,            \
        .code_first_line = 68, .code_filename = 112, .code_qualname = 128, .code_version = 92      \
    }
#define PYLAYOUT_3_13                                                                              \
    {                                                                                              \
        .version = 0x30d, .runtime_key = 2160, .runtime_interpreters = 632, .interp_next = 7264,   \
        .interp_threads = 7344, .state_frames = 72, .state_thread = 152, .frame_code = 0,          \
        .frame_previous = 8, .frame_entry = 70, .entry_is = 3, .text_bytes = 40,                   \
        .text_others = 56, .code_first_line = 68, .code_filename = 112, .code_qualname = 128,      \
        .code_version = 92                                                                         \
    }
#define PYLAYOUT_3_14                                                                              \
    {                                                                                              \
        .version = 0x30e, .runtime_key = 2336, .runtime_interpreters = 808, .interp_next = 7272,   \
        .interp_threads = 7344, .state_frames = 72, .state_thread = 152, .frame_code = 0,          \
        .frame_previous = 8, .frame_entry = 74, .entry_is = 3, .code_tags = 3, .text_bytes = 40,   \
        .text_others = 56, .code_first_line = 68, .code_filename = 112, .code_qualname = 128,      \
        .code_version = 92                                                                         \
    }
#define PYLAYOUT_3_15                                                                              \
    {                                                                                              \
        .version = 0x30f, .runtime_key = 0, .runtime_interpreters = 936, .interp_next = 7264,      \
        .interp_threads = 7336, .state_frames = 72, .state_thread = 176, .frame_code = 0,          \
        .frame_previous = 8, .frame_entry = 74, .entry_is = 3, .code_tags = 3, .text_bytes = 40,   \
        .text_others = 56, .code_first_line = 68, .code_filename = 112, .code_qualname = 128,      \
        .code_version = 92                                                                         \
    }

/* A version that every supported processor has a row for. */
#define PYLAYOUT_ANY 0x30bu

/* NULL: the version is not known. */
const struct pylayout *pylayout_of(uint32_t version);

#endif
