/*
 * patcher.h: patches a module's system calls in memory, so that a handler sees them.
 *
 * Runs inside a traced program. A user sets patch_handler, then has modules patched by their site
 * lists (patch/site.h), which the finder made outside. From then on each of those calls comes to
 * the handler with its number and arguments. The handler makes it, or not, and returns its result:
 *
 *     static long see(const struct patch_call *call)
 *     {
 *         long result = patch_make(call);
 *         count(call->number, result);
 *         return result;
 *     }
 *
 * For the code at the site nothing is different: registers, flags, the red zone below the stack
 * pointer and vector registers are as the kernel would leave them (rcx and r11 are its to change).
 * About 260 bytes of stack below the red zone are taken, and what the handler takes.
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
 * Not for the module that this code is part of: its own calls would come to the handler.
 *
 * A site is patched as all others of its module or not at all. Nothing here calls malloc or libc;
 * all calls go through common/kernel.h. Patching and undoing are for one thread, while no other
 * runs and no signal handler of the program can: at its start, or with all threads stopped. The
 * handler may be exchanged at any time.
 *
 * Under shadow stacks (CET) all is well: no return address is changed, and stubs are left by a
 * jump. That jump is `notrack`, for indirect branch tracking; Linux does not have it for programs.
 */
#ifndef FLAME_PATCH_PATCHER_H
#define FLAME_PATCH_PATCHER_H

#include "patch/site.h"

/* A call as the program makes it. The handler's to read only. */
struct patch_call {
    long number;
    unsigned long args[6];
    uintptr_t pc; /* just behind the call: where it returns to in the program's code */
    uintptr_t sp; /* there */
    uintptr_t bp; /* rbp or x29 there; the other registers that functions keep are unchanged */
    /* For a cancellation point of glibc 2.41 and later: what makes it; for patch_make alone. */
    const void *point;
    unsigned long point_arg;
};

/* Handler of calls. Returns the result as the kernel does: -errno on failure. */
typedef long patch_see(const struct patch_call *call);

#if defined(__x86_64__) && !defined(__clang__) && __GNUC__ < 11
/* gcc 10, of Debian 11, knows general-regs-only as an option of a whole file only. */
#define PATCH_HANDLER __attribute__((target("no-sse,no-mmx")))
#elif defined(__x86_64__)
#define PATCH_HANDLER __attribute__((target("general-regs-only")))
#else
#define PATCH_HANDLER
#endif

/* Handler in use. NULL, as at first: calls are made at their own places. Read and written
 * atomically. */
extern patch_see *patch_handler;

/*
 * Calls that come to the handler: a bit for each number below PATCH_NUMBERS, in words of 64. NULL,
 * as at first: all. Other calls are made at their own places, as if their sites were not patched:
 * these are calls of sites whose number was not known before. To be set, with the words, before
 * patching.
 */
#define PATCH_NUMBERS 512
extern const uint64_t *patch_numbers;

/*
 * Makes the call: as often as a handler likes, in any thread. By patch_raw, but for cancellation
 * points, which the C library makes itself. Does not return if the thread is cancelled in it.
 */
long patch_make(const struct patch_call *call);

/* The one instruction by which handlers enter the kernel; another library may set its own. */
typedef long patch_enter_kernel(const struct patch_call *call);
extern patch_enter_kernel *patch_raw;

/*
 * Such a function's text for the assembler: long NAME(const struct patch_call *). The kernel
 * returns to PATCH_RAW_RETURN bytes behind its beginning.
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

/* A module's patches. All zero at first; the caller keeps it as long as the module is patched. */
struct patch_module {
    const struct patch_site *sites; /* borrowed */
    size_t n;
    uintptr_t bias;
    uint8_t *stubs; /* one for each site that is patched, in order; never given back */
    size_t patched; /* sites that are */
    bool (*wants)(int32_t number);
    int error;    /* -errno of PATCH_REFUSED and PATCH_NO_ROOM, or 0 */
    uintptr_t at; /* the site of PATCH_CHANGED and PATCH_UNMAPPED */
};

enum patch_result {
    PATCH_DONE,
    PATCH_NOTHING,  /* no site of the list can be patched and is wanted */
    PATCH_UNSOUND,  /* the list is not sound */
    PATCH_UNMAPPED, /* a site is not in code that is mapped */
    PATCH_CHANGED,  /* a site's bytes are not what they should be: another build, or patched */
    PATCH_NO_ROOM,  /* no memory that a branch from the module reaches */
    PATCH_REFUSED,  /* the kernel does not let code be written (SELinux, a filter) */
    PATCH_AGAIN,    /* the module is patched already */
};

/*
 * Patches the sites of a module whose file's addresses lie `bias` further in memory: those that
 * `wants` says true of, by their number or SITE_ANY_NUMBER; NULL: all. After any result but
 * PATCH_DONE the module is as it was.
 */
enum patch_result patch_apply(struct patch_module *m, const struct patch_site *sites, size_t n,
                              uintptr_t bias, bool (*wants)(int32_t number));

/*
 * Puts the bytes back. A thread that is in a stub, asleep in a call say, continues there, so stubs
 * stay. PATCH_DONE, after which the struct is all zero; PATCH_REFUSED; PATCH_CHANGED: other code
 * has written to a site since; then nothing is put back.
 */
enum patch_result patch_undo(struct patch_module *m);

/* "done", "no-room" and so on. */
const char *patch_result_name(enum patch_result r);

#endif
