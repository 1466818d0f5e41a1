/*
 * site.h: the places where a module makes system calls, and which of them can be patched.
 *
 * A site is one instruction that enters the kernel (`syscall` on x86-64) with the window of bytes
 * around it that a branch to a stub takes. The finder (patch/find/find.h) makes a list of them from
 * the module's file, the cache (patch/find/sitecache.h) keeps it, the patcher (patch/patcher.h)
 * works by it. They all share this struct, which has no pointers and no holes, so that a list in a
 * file is the same as in memory.
 *
 * Addresses are those of the file (p_vaddr's terms): add the module's bias for memory.
 */
#ifndef FLAME_PATCH_SITE_H
#define FLAME_PATCH_SITE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

/* The longest window: a call and the instructions beside it that have to give way. */
#define SITE_WINDOW 22
#define SITE_RELATIVES 2

/* The call's number is not known before it is made. */
#define SITE_ANY_NUMBER (-1)

/* Part of the code that is replaced. */
enum site_kind {
    /* Nothing: site_reason says why. The window is the call itself. */
    SITE_NONE,
    /* `mov $number,%eax` right before the call, which stays: a return to just behind the call, or
     * a jump straight to it, is as good as before. */
    SITE_NUMBER,
    /* Other instructions right before the call, which are moved into the stub. The call stays. */
    SITE_BEFORE,
    /* The call, and the instructions behind it as far as needed. No thread may be in the call when
     * the site is patched: it would return to just behind it. */
    SITE_AFTER,
    /* The `call` of glibc's __syscall_cancel_arch, which makes the call of a cancellation point
     * with the number and arguments it is given. It still does; only the way there is another. */
    SITE_CALL,
    SITE_KINDS,
};

/* Reason why a site is not patched. */
enum site_reason {
    SITE_FINE,
    SITE_RETURNS_TWICE, /* fork, vfork, clone: a child returns here too, perhaps on another stack */
    SITE_SIGRETURN,     /* unwinders and the kernel know a signal handler's return by its bytes */
    SITE_NO_STACK,      /* a thread's end: its stack may be gone */
    SITE_CANCELLATION,  /* glibc 2.41's cancellation asks whether a thread is at this very place */
    SITE_JUMPED_INTO,   /* something jumps into every window there is */
    SITE_SWITCH,        /* the function has a computed jump, which may lead into the window */
    SITE_IMMOVABLE,     /* beside it are only instructions that work nowhere else */
    SITE_DOUBTFUL,      /* it may be data: there is some beside it, or no function is known there */
    SITE_REASONS,
};

struct patch_site {
    uint32_t at;       /* the window's first byte */
    uint32_t call;     /* the instruction that enters the kernel, or the `call` of SITE_CALL */
    int32_t number;    /* of the call, or SITE_ANY_NUMBER */
    uint8_t kind;      /* enum site_kind */
    uint8_t reason;    /* enum site_reason; SITE_FINE unless kind is SITE_NONE */
    uint8_t length;    /* of the window, the call included: 2 to SITE_WINDOW */
    uint8_t call_size; /* of the instruction: 2 on x86-64, or 5 for SITE_CALL */
    /* Bytes that the window must hold for the site to be patched; zero behind `length`. */
    uint8_t bytes[SITE_WINDOW];
    /* Offsets in the window of 32-bit distances that change when the window's instructions are
     * moved, in order; 0: no more. */
    uint8_t relative[SITE_RELATIVES];
};

_Static_assert(sizeof(struct patch_site) == 40, "site lists are kept in files");

/* "number", "returns-twice" and so on; "?" for what is none. Static strings. */
const char *site_kind_name(unsigned kind);
const char *site_reason_name(unsigned reason);

/* Whether the fields of a site fit each other: known kinds and reasons, a window that holds the
 * call where its kind wants it. Says nothing of the module's bytes. Pure; safe in signal
 * handlers. */
bool site_is_sound(const struct patch_site *s);

/* Whether each site of a list is sound, and their windows lie one behind the other. */
bool sites_are_sound(const struct patch_site *sites, size_t n);

#endif
