/*
 * shadowed.h: SHADOWED is defined, and IS_SHADOWED is true, in a build with the address sanitizer,
 * which has terabytes of address space of its own, and its own allocator.
 */
#ifndef FLAME_TESTS_UNIT_SHADOWED_H
#define FLAME_TESTS_UNIT_SHADOWED_H

#if defined(__SANITIZE_ADDRESS__)
#define SHADOWED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHADOWED 1
#endif
#endif

#ifdef SHADOWED
#define IS_SHADOWED true
#else
#define IS_SHADOWED false
#endif

#endif
