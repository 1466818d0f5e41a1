/*
 * site.h: places where a module makes system calls, and which of them can be patched.
 *
 * A site is one instruction that enters the kernel (`syscall` on x86-64), with the window of bytes
 * around it that a branch to a stub replaces. The finder (patch/find/find.h) makes a list of sites
 * from the module's file, the cache (patch/find/sitecache.h) stores it, and the patcher
 * (patch/patcher.h) uses it. They all share this struct, which has no pointers and no padding, so
 * that a list in a file has the same layout as in memory.
 *
 * Addresses are those of the file (p_vaddr); add the module's bias for memory.
 */
#ifndef FLAME_PATCH_SITE_H
#define FLAME_PATCH_SITE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

/* Size of the longest window: a call and the instructions beside it that are replaced. */
#define SITE_WINDOW 22
#define SITE_RELATIVES 2

/* The call's number is not known before the call is made. */
#define SITE_ANY_NUMBER (-1)

/* The part of the code that is replaced. */
enum site_kind {
    /* None: site_reason says why. The window is the call itself. */
    SITE_NONE,
    /* `mov $number,%eax` right before the call, which stays. So a return to the address after the
     * call, or a jump straight to the call, works as before. */
    SITE_NUMBER,
    /* Other instructions right before the call, which are moved into the stub. The call stays. */
    SITE_BEFORE,
    /* The call, and as many instructions after it as needed. No thread may be in the call when the
     * site is patched, because it would return to the address after the call. */
    SITE_AFTER,
    /* The `call` of glibc's __syscall_cancel_arch, which makes the system call of a cancellation
     * point from its arguments. That function still makes the call, but is called from the stub. */
    SITE_CALL,
    SITE_KINDS,
};

/* Reason why a site is not patched. */
enum site_reason {
    SITE_FINE,
    SITE_RETURNS_TWICE, /* fork, vfork, clone: a child returns here too, perhaps on another stack */
    SITE_SIGRETURN, /* unwinders and the kernel recognise a signal handler's return by its bytes */
    SITE_NO_STACK,  /* the end of a thread: its stack may be unmapped */
    SITE_CANCELLATION, /* glibc 2.41 tests whether a thread is at this very address */
    SITE_JUMPED_INTO,  /* code jumps into every possible window */
    SITE_SWITCH,       /* the function has a computed jump, which may lead into the window */
    SITE_IMMOVABLE,    /* the instructions beside it work only at their own address */
    SITE_DOUBTFUL,     /* it may be data: there is data beside it, or no function is known there */
    SITE_REASONS,
};

struct patch_site {
    uint32_t at; /* address of the window's first byte */
    uint32_t
        call; /* address of the instruction that enters the kernel, or of the `call` of SITE_CALL */
    int32_t number;    /* of the call, or SITE_ANY_NUMBER */
    uint8_t kind;      /* enum site_kind */
    uint8_t reason;    /* enum site_reason; SITE_FINE unless kind is SITE_NONE */
    uint8_t length;    /* of the window, the call included: 2 to SITE_WINDOW */
    uint8_t call_size; /* of the instruction: 2 on x86-64, or 5 for SITE_CALL */
    /* Bytes that the window must have for the site to be patched; zero after `length`. */
    uint8_t bytes[SITE_WINDOW];
    /* Offsets in the window of 32-bit distances that change when the window's instructions are
     * moved, in order; 0: no more. */
    uint8_t relative[SITE_RELATIVES];
};

_Static_assert(sizeof(struct patch_site) == 40, "site lists are kept in files");

/* "number", "returns-twice" and so on; "?" for other values. Static strings. */
const char *site_kind_name(unsigned kind);
const char *site_reason_name(unsigned reason);

/* Whether the fields of a site are consistent: known kinds and reasons, a window that contains the
 * call where its kind requires it. Does not check the module's bytes. Pure; safe in signal
 * handlers. */
bool site_is_sound(const struct patch_site *s);

/* Whether each site of a list is sound, and their windows are in order and do not overlap. */
bool sites_are_sound(const struct patch_site *sites, size_t n);

#endif
