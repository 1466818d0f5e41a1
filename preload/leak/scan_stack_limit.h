/*
 * scan_stack_limit.h: where a look begins on the stack of the thread that looks (heap_scan.h).
 */
#ifndef FLAME_PRELOAD_LEAK_SCAN_STACK_LIMIT_H
#define FLAME_PRELOAD_LEAK_SCAN_STACK_LIMIT_H

/* Bytes below a frame's address where a function saves its caller's registers: all that a call
 * leaves as they are, but the frame pointer, which lies at that address. */
#define LOOKFROM_SAVED 40

/*
 * In a function that must not be inlined: its caller's registers are saved in its frame, and this
 * is the lowest address where they lie. What is below is the recorder's own.
 */
#define LOOKFROM_HERE()                                                                            \
    (__builtin_unwind_init(), (const char *)__builtin_frame_address(0) - LOOKFROM_SAVED)

#endif
