/*
 * Functions of preload/flamemem.h, by which a program describes itself: tags are regions of the
 * thread, and marks are ends of passes.
 *
 * libflamemem.so has functions of the same names. Where both are preloaded (flame run) these are
 * found first, and pass the calls on.
 */
#include "inproc/lib/call_log.h"

#define EXPORT __attribute__((visibility("default")))
/* A second name. */
#define ALSO(of, as) extern __typeof(of)(as) __attribute__((alias(#of), visibility("default")))

/* Address of a function that libflamemem.so exports for this, if it is loaded; else 0. As in the
 * header: C would let the linker resolve a weak symbol to 0. */
#define FIND(function, name)                                                                       \
    __asm__(".weak " name "\n\tmovq " name "@GOTPCREL(%%rip), %0" : "=r"(function))

EXPORT int flamemem_tag_push(const char *name);
EXPORT int flamemem_tag_pop(void);
EXPORT int flamemem_mark(const char *name);

static const char *name_or(const char *name)
{
    return name && *name ? name : "unnamed";
}

EXPORT int flamemem_tag_push(const char *name)
{
    int (*also)(const char *);
    bool reported = call_log_region(RING_REGION_OPEN, name_or(name));

    FIND(also, "flamemem_own_tag_push");
    return also ? also(name) : reported;
}

EXPORT int flamemem_tag_pop(void)
{
    int (*also)(void);
    bool reported = call_log_region(RING_REGION_CLOSE, NULL);

    FIND(also, "flamemem_own_tag_pop");
    return also ? also() : reported;
}

EXPORT int flamemem_mark(const char *name)
{
    int (*also)(const char *);
    bool reported = call_log_region(RING_REGION_PASS, name_or(name));

    FIND(also, "flamemem_own_mark");
    return also ? also(name) : reported;
}

ALSO(flamemem_tag_push, flamemem_ask_tag_push);
ALSO(flamemem_tag_pop, flamemem_ask_tag_pop);
ALSO(flamemem_mark, flamemem_pass_mark);
