/*
 * An entry is two words, the rule as rules.h packs it and a check: the key of the address, xored
 * with a hash of the rule. A key is a 64-bit hash of module and offset. So if one of the words
 * changes without the other, the entry fits no address that is searched for. Two writers of one
 * entry leave one of the two rules, or a pair that fits nothing.
 *
 * A key may be in any of the four entries of one cache line, and is not stored if these are taken.
 * No entry ever changes.
 *
 * Rejected: a lock or a sequence number, because a killed process does not release it; a table for
 * each module, which has to be found first.
 */
#include "unwind/sharedrules.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "common/hash.h"
#include "common/kernel.h"
#include "unwind/rules.h"

#define SHORTEST_ID 8u /* bytes; build-ids that are made by hand may be shorter */
#define AT_ONCE 4u     /* entries of a cache line */
#define LINES (SHAREDRULES_SIZE / sizeof(struct line))

struct entry {
    uint64_t check;
    packed_rule rule;
};

struct line {
    struct entry entries[AT_ONCE];
};

static struct line *lines;

/* Every bit of the result depends on every bit of `x`. */
static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 32) * HASH_GOLDEN;
    x = (x ^ x >> 29) * HASH_GOLDEN;
    return x ^ x >> 32;
}

uint64_t sharedrules_module(const void *build_id, size_t size, uint32_t layout)
{
    uint64_t hash = fnv_bytes(fnv_bytes(FNV_BASIS, build_id, size), &layout, sizeof layout);

    if (size < SHORTEST_ID)
        return 0;
    return hash ? hash : 1;
}

static uint64_t key_of(uint64_t module, uintptr_t offset)
{
    return mixed(module + mixed(offset + 1));
}

static bool fits(uint64_t check, packed_rule rule, uint64_t key)
{
    return (check ^ mixed(rule)) == key;
}

/* Whether rules of this kind are shared: steps to the caller by words of the stack. Rules of other
 * kinds may depend on more than the module's own bytes. */
static bool is_step(enum rule_kind kind)
{
    return kind == RULE_CFA_SP || kind == RULE_CFA_BP || kind == RULE_CFA_MEM;
}

void sharedrules_use(void *memory)
{
    __atomic_store_n(&lines, (struct line *)memory, __ATOMIC_RELEASE);
}

bool sharedrules_find(uint64_t module, uintptr_t offset, struct rule *out)
{
    const struct line *all = __atomic_load_n(&lines, __ATOMIC_ACQUIRE), *line;
    uint64_t key;

    if (!all || !module)
        return false;
    key = key_of(module, offset);
    line = &all[key % LINES];
    for (const struct entry *e = line->entries; e < line->entries + AT_ONCE; e++) {
        packed_rule rule = __atomic_load_n(&e->rule, __ATOMIC_RELAXED);

        if (fits(__atomic_load_n(&e->check, __ATOMIC_RELAXED), rule, key) &&
            is_step(rule_kind_of(rule))) {
            *out = rule_unpack(rule);
            return true;
        }
    }
    return false;
}

void sharedrules_add(uint64_t module, uintptr_t offset, struct rule rule)
{
    struct line *all = __atomic_load_n(&lines, __ATOMIC_ACQUIRE), *line;
    packed_rule packed = rule_pack(rule);
    uint64_t key;

    if (!all || !module || !is_step((enum rule_kind)rule.kind))
        return;
    key = key_of(module, offset);
    line = &all[key % LINES];
    for (struct entry *e = line->entries; e < line->entries + AT_ONCE; e++) {
        packed_rule there = __atomic_load_n(&e->rule, __ATOMIC_RELAXED);
        uint64_t check = __atomic_load_n(&e->check, __ATOMIC_RELAXED);

        if (fits(check, there, key))
            return;
        if (there || check)
            continue;
        __atomic_store_n(&e->rule, packed, __ATOMIC_RELAXED);
        __atomic_store_n(&e->check, key ^ mixed(packed), __ATOMIC_RELAXED);
        return;
    }
}

bool sharedrules_drop(const void *at)
{
    struct line *all = __atomic_load_n(&lines, __ATOMIC_ACQUIRE);

    if (!all || (at && (uintptr_t)at - (uintptr_t)all >= SHAREDRULES_SIZE))
        return false;
    __atomic_store_n(&lines, NULL, __ATOMIC_RELEASE);
    return !kernel_failed(kernel_call(SYS_mmap, all, SHAREDRULES_SIZE, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
                                      0L));
}
