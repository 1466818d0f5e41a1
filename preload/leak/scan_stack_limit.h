/*
 * scan_stack_limit.h: address from which on the scanning thread's own stack counts (heap_scan.h).
 */
#ifndef FLAME_PRELOAD_LEAK_SCAN_STACK_LIMIT_H
#define FLAME_PRELOAD_LEAK_SCAN_STACK_LIMIT_H

/* Number of bytes below a frame's address in which a function saves its caller's registers. These
 * are all callee-saved registers except the frame pointer, which lies at that address. */
#define LOOKFROM_SAVED 40

/*
 * Lowest address of the caller's registers that the calling function has saved in its frame; that
 * function must not be inlined. Everything below belongs to the recorder.
 */
#define LOOKFROM_HERE()                                                                            \
    (__builtin_unwind_init(), (const char *)__builtin_frame_address(0) - LOOKFROM_SAVED)

#endif
