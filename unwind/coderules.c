#define _GNU_SOURCE
#include "unwind/coderules.h"

#include <sys/syscall.h>
#include <sys/uio.h>

#include "common/kernel.h"
#include "common/procmaps.h"
#include "unwind/epilogue.h"

/*
 * Mappings for whose code rules were given; hi 0: the slot is free. A slot is claimed by its hi,
 * and lo is set afterwards. Until then lo is 0, so too many rules may be dropped, which is
 * harmless.
 */
#define PLACES 16
static struct place {
    uintptr_t lo, hi;
} places[PLACES];

/* Limit of drops. Each one costs a table, so a program that makes and unmaps code without end gets
 * no more rules at some point. */
#define GONE_MOST 64
static unsigned gone_times;

/* Adds the mapping to the list, so that its rules can be dropped later. False: there is no room. */
static bool note(uintptr_t lo, uintptr_t hi)
{
    if (__atomic_load_n(&gone_times, __ATOMIC_RELAXED) >= GONE_MOST)
        return false;
    for (struct place *p = places; p < places + PLACES; p++) {
        uintptr_t none = 0, there = __atomic_load_n(&p->hi, __ATOMIC_ACQUIRE);

        if (there == hi && __atomic_load_n(&p->lo, __ATOMIC_RELAXED) <= lo)
            return true;
        if (!there && __atomic_compare_exchange_n(&p->hi, &none, hi, false, __ATOMIC_ACQ_REL,
                                                  __ATOMIC_ACQUIRE)) {
            __atomic_store_n(&p->lo, lo, __ATOMIC_RELEASE);
            return true;
        }
    }
    return false;
}

bool coderules_gone(uintptr_t lo, uintptr_t hi)
{
    bool some = false;

    for (struct place *p = places; p < places + PLACES; p++) {
        uintptr_t end = __atomic_load_n(&p->hi, __ATOMIC_ACQUIRE);

        if (end <= lo || __atomic_load_n(&p->lo, __ATOMIC_RELAXED) >= hi)
            continue;
        if (!__atomic_compare_exchange_n(&p->hi, &end, UINTPTR_MAX, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            continue;
        __atomic_store_n(&p->lo, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&p->hi, 0, __ATOMIC_RELEASE);
        some = true;
    }
    if (some)
        __atomic_fetch_add(&gone_times, 1, __ATOMIC_RELAXED);
    return some;
}

struct rule coderules_find(uintptr_t pc)
{
    uint8_t code[EPILOGUE_CALL_BYTES + EPILOGUE_BYTES];
    struct iovec ours = {code, sizeof code};
    struct iovec there = {(void *)(pc + 1 - EPILOGUE_CALL_BYTES), sizeof code}; /* NOLINT */
    struct procmap map;
    struct rule rule;
    long got;

    if (!procmaps_find(0, pc, &map) || !map.exec)
        return (struct rule){.kind = RULE_BOGUS};
    rule = (struct rule){.kind = RULE_NONE};
    if (map.write || map.shared || map.inode || pc + 1 - EPILOGUE_CALL_BYTES < map.start ||
        map.end <= pc + 1)
        return rule;
    if (there.iov_len > map.end - (pc + 1 - EPILOGUE_CALL_BYTES))
        there.iov_len = map.end - (pc + 1 - EPILOGUE_CALL_BYTES);
    /* Read by the kernel, because another thread may be unmapping the code. */
    got = kernel_call(SYS_process_vm_readv, kernel_call(SYS_getpid), &ours, 1, &there, 1, 0);
    if (got <= EPILOGUE_CALL_BYTES || !epilogue_follows_call(code))
        return rule;
    rule = epilogue_rule(code + EPILOGUE_CALL_BYTES, (size_t)got - EPILOGUE_CALL_BYTES);
    if (rule.kind != RULE_NONE && !note(map.start, map.end))
        rule = (struct rule){.kind = RULE_NONE};
    return rule;
}
