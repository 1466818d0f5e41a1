/*
 * patcher.h: patches a module's system calls in memory, so that a handler sees them.
 *
 * Runs inside a traced program. A user sets patch_handler, then patches modules by their site lists
 * (patch/site.h), which the finder made outside of the program. From then on each of those calls
 * reaches the handler with its number and arguments. The handler makes the call, or not, and
 * returns its result:
 *
 *     static long see(const struct patch_call *call)
 *     {
 *         long result = patch_make(call);
 *         count(call->number, result);
 *         return result;
 *     }
 *
 * The code at the site sees no difference: registers, flags, the red zone below the stack pointer
 * and vector registers are as the kernel would leave them (the kernel may change rcx and r11).
 * About 260 bytes of stack below the red zone are used, plus those that the handler uses.
 *
 * Rules for a handler:
 *
 * - It is called wherever the program makes calls: in signal handlers, between vfork and exec (on
 *   the parent's memory), with all signals blocked, on the smallest of stacks, in a thread that has
 *   no TLS of its own yet. It may be interrupted by itself. It takes no lock and calls nothing of
 *   libc.
 *
 * - It may not come back: the call may be left by siglongjmp, or by a thread's cancellation, which
 *   unwinds through it (compile it with unwind tables, and not as C++ without exceptions).
 *
 * - It leaves vector and x87 registers alone: PATCH_HANDLER compiles one function so; functions
 *   that it calls must be compiled with -mgeneral-regs-only, too.
 *
 * The handler never sees calls that return twice, sigreturn, and a thread's exit.
 *
 * The module that contains this code must not be patched: its own calls would reach the handler.
 *
 * All sites of a module are patched or none. Nothing here calls malloc or libc; all calls go
 * through common/kernel.h. Patching and undoing are for one thread, while no other thread and no
 * signal handler of the program can run: at its start, or with all threads stopped. The handler may
 * be exchanged at any time.
 *
 * Shadow stacks (CET) are supported: no return address is changed, and stubs end with a jump. That
 * jump is `notrack`, for indirect branch tracking, which Linux does not offer to programs.
 */
#ifndef FLAME_PATCH_PATCHER_H
#define FLAME_PATCH_PATCHER_H

#include "patch/site.h"

/* A call as the program makes it. The handler must not change it. */
struct patch_call {
    long number;
    unsigned long args[6];
    uintptr_t pc; /* address in the program's code that the call returns to */
    uintptr_t sp; /* stack pointer there */
    uintptr_t bp; /* rbp or x29 there; the other callee-saved registers are unchanged */
    /* For a cancellation point of glibc 2.41 and later: the function that makes the call; used only
     * by patch_make. */
    const void *point;
    unsigned long point_arg;
};

/* Handler of calls. Returns the result as the kernel does: -errno on failure. */
typedef long patch_see(const struct patch_call *call);

#if defined(__x86_64__) && !defined(__clang__) && __GNUC__ < 11
/* gcc 10, of Debian 11, accepts general-regs-only only as an option for a whole file. */
#define PATCH_HANDLER __attribute__((target("no-sse,no-mmx")))
#elif defined(__x86_64__)
#define PATCH_HANDLER __attribute__((target("general-regs-only")))
#else
#define PATCH_HANDLER
#endif

/* Handler in use. NULL, the initial value: calls are made at their own places. Read and written
 * atomically. */
extern patch_see *patch_handler;

/*
 * Calls that reach the handler: a bit for each number below PATCH_NUMBERS, in words of 64. NULL,
 * the initial value: all calls. Other calls are made at their own places, as if their sites were
 * not patched: these are calls of sites whose number was not known when they were patched. To be
 * set, with the words, before patching.
 */
#define PATCH_NUMBERS 512
extern const uint64_t *patch_numbers;

/*
 * Makes the call, as often as a handler likes, in any thread. It uses patch_raw, except for
 * cancellation points, where the C library makes the call. Does not return if the thread is
 * cancelled in it.
 */
long patch_make(const struct patch_call *call);

/* Contains the only instruction by which handlers enter the kernel. Another library may set its own
 * function. */
typedef long patch_enter_kernel(const struct patch_call *call);
extern patch_enter_kernel *patch_raw;

/*
 * Assembler text of such a function: long NAME(const struct patch_call *). The kernel returns to
 * the address PATCH_RAW_RETURN bytes after its beginning.
 */
#if defined(__x86_64__)
#define PATCH_RAW_RETURN 33
#define PATCH_RAW_CODE(name, visibility)                                                           \
    ".p2align 4\n"                                                                                 \
    ".globl " name "\n"                                                                            \
    "." visibility " " name "\n"                                                                   \
    ".type " name ",@function\n" name ":\n"                                                        \
    ".cfi_startproc\n"                                                                             \
    "endbr64\n"                                                                                    \
    "mov (%rdi),%rax\n"                                                                            \
    "mov 16(%rdi),%rsi\n"                                                                          \
    "mov 24(%rdi),%rdx\n"                                                                          \
    "mov 32(%rdi),%r10\n"                                                                          \
    "mov 40(%rdi),%r8\n"                                                                           \
    "mov 48(%rdi),%r9\n"                                                                           \
    "mov 8(%rdi),%rdi\n"                                                                           \
    "syscall\n"                                                                                    \
    "ret\n"                                                                                        \
    ".cfi_endproc\n"                                                                               \
    ".size " name ", .-" name "\n"
#endif

/* A module's patches. All zero at first; must exist as long as the module is patched. */
struct patch_module {
    const struct patch_site *sites; /* borrowed */
    size_t n;
    uintptr_t bias;
    uint8_t *stubs; /* one for each patched site, in order; never freed */
    size_t patched; /* number of patched sites */
    bool (*wants)(int32_t number);
    int error;    /* -errno for PATCH_REFUSED and PATCH_NO_ROOM, otherwise 0 */
    uintptr_t at; /* address of the site for PATCH_CHANGED and PATCH_UNMAPPED */
};

enum patch_result {
    PATCH_DONE,
    PATCH_NOTHING,  /* no site of the list is both wanted and patchable */
    PATCH_UNSOUND,  /* the list is not valid */
    PATCH_UNMAPPED, /* a site does not lie in mapped code */
    PATCH_CHANGED, /* a site's bytes are not the expected ones: another build, or already patched */
    PATCH_NO_ROOM, /* no memory within reach of a branch from the module */
    PATCH_REFUSED, /* the kernel refuses to make code writable (SELinux, a filter) */
    PATCH_AGAIN,   /* the module is already patched */
};

/*
 * Patches the sites of a module. `bias`: address in memory minus address in the file. `wants`:
 * selects sites by their number or SITE_ANY_NUMBER; NULL: all. After any result but PATCH_DONE the
 * module is unchanged.
 */
enum patch_result patch_apply(struct patch_module *m, const struct patch_site *sites, size_t n,
                              uintptr_t bias, bool (*wants)(int32_t number));

/*
 * Restores the original bytes. A thread that is in a stub, for example blocked in a call, continues
 * there, so stubs stay. PATCH_DONE: the struct is all zero afterwards. PATCH_REFUSED.
 * PATCH_CHANGED: other code has written to a site since, and no site is restored.
 */
enum patch_result patch_undo(struct patch_module *m);

/* "done", "no-room" and so on. */
const char *patch_result_name(enum patch_result r);

#endif
