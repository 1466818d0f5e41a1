/*
 * A slot, near the module:
 *
 *     0   jmp *hook(%rip)       hooks may lie anywhere
 *     6   the function's first instructions, with adjusted distances
 *         jmp to the instruction after them
 *     56  the hook's address
 *
 * The function's beginning becomes a branch to the slot, after the mark for indirect branches
 * (endbr64) if there is one. A function that is nothing but a jump to another is patched, too: its
 * jump does the same in the slot.
 *
 * Slots have no call frame information. That matters only to a signal handler that interrupts one
 * of the few instructions there: a walk from it ends.
 */
#include "patch/entry/entry.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "patch/find/isa.h"
#include "patch/code_pages.h"

enum { MARK = 4, BRANCH = 5, TO_HOOK = 6, HOOK = 56, LONGEST = 15 };

/* A branch of two bytes becomes one of six. */
_Static_assert(TO_HOOK + 2 * 6 + LONGEST + BRANCH <= HOOK, "all code fits");
_Static_assert(HOOK + sizeof(uintptr_t) == ENTRY_SLOT, "a slot is code and an address");

/* The place of the branch, and the number of bytes of whole instructions that it replaces. */
struct window {
    size_t at, size;
};

static bool marked(const struct patch_entry *e)
{
    static const uint8_t mark[MARK] = {0xf3, 0x0f, 0x1e, 0xfa};

    return e->size >= MARK && memcmp((const void *)e->function, mark, MARK) == 0;
}

/* A jump, with one of the sixteen conditions or none, whose distance is one byte. */
static bool is_short(const uint8_t *p, const struct insn *i)
{
    return i->size == 2 && ((i->flow == INSN_BRANCH && (p[0] & 0xf0) == 0x70) ||
                            (i->flow == INSN_JUMP && p[0] == 0xeb));
}

static size_t decode(const struct patch_entry *e, size_t at, struct insn *i)
{
    return isa_of(EM_X86_64)->decode((const uint8_t *)e->function + at, e->size - at, i);
}

/* Whether the code at `at` is padding as assemblers write it to align functions: a nop, of one byte
 * or more, or int3. */
static bool is_filling(uintptr_t at, uintptr_t until)
{
    const uint8_t *p = (const uint8_t *)at;

    if ((at & ~(uintptr_t)15) != ((until - 1) & ~(uintptr_t)15))
        return false;
    while (*p == 0x66 || *p == 0x2e)
        p++;
    return *p == 0x90 || *p == 0xcc || (p[0] == 0x0f && p[1] == 0x1f);
}

/* A function that is shorter than a branch has room for one if only padding follows it. */
static bool find_window(const struct patch_entry *e, struct window *w)
{
    struct insn i = {.flow = INSN_ON};

    *w = (struct window){.at = marked(e) ? MARK : 0};
    while (w->size < BRANCH && w->at + w->size < e->size) {
        if ((i.flow != INSN_ON && i.flow != INSN_BRANCH) || !decode(e, w->at + w->size, &i) ||
            (!i.placeless && !is_short((const uint8_t *)e->function + w->at + w->size, &i)))
            return false;
        w->size += i.size;
    }
    return w->size >= BRANCH ||
           (w->size && i.flow != INSN_ON && i.flow != INSN_BRANCH &&
            is_filling(e->function + w->at + w->size, e->function + w->at + BRANCH));
}

/* Whether an instruction of the function jumps into the window, after its first byte. */
static bool is_led_into(const struct patch_entry *e, const struct window *w)
{
    struct insn i;

    for (size_t at = 0; at < e->size; at += i.size) {
        int64_t to;

        if (!decode(e, at, &i))
            return true;
        if (i.flow != INSN_BRANCH && i.flow != INSN_JUMP && i.flow != INSN_CALL && !i.refers)
            continue;
        to = (int64_t)at + i.target;
        if (to > (int64_t)w->at && to < (int64_t)(w->at + w->size))
            return true;
    }
    return false;
}

static bool put_distance(uint8_t *to, uintptr_t from, uintptr_t target)
{
    int64_t away = (int64_t)(target - from);
    int32_t narrow = (int32_t)away;

    memcpy(to, &narrow, sizeof narrow);
    return away == narrow;
}

static void put_branch(uint8_t *to, uintptr_t at, uintptr_t target)
{
    to[0] = 0xe9;
    put_distance(to + 1, at + BRANCH, target);
}

/* Copies one instruction of the function to `to`, where it must have the same effect. Returns its
 * size there, or 0 if a distance does not reach from there. Branches with one-byte distances become
 * branches with four-byte distances. */
static size_t move(uint8_t *to, const uint8_t *from, const struct insn *i)
{
    size_t size = i->size, distance = i->distance;
    int32_t away;

    if (is_short(from, i)) {
        size = 0;
        if (i->flow == INSN_BRANCH)
            to[size++] = 0x0f;
        to[size++] = i->flow == INSN_BRANCH ? (uint8_t)(from[0] + 0x10) : 0xe9;
        return put_distance(to + size, (uintptr_t)(to + size + 4), (uintptr_t)(from + i->target))
                   ? size + 4
                   : 0;
    }
    memcpy(to, from, size);
    if (!distance)
        return size;
    memcpy(&away, from + distance, sizeof away);
    return put_distance(to + distance, (uintptr_t)(to + size),
                        (uintptr_t)(from + size) + (uintptr_t)(intptr_t)away)
               ? size
               : 0;
}

/* Writes a slot. False: a distance does not reach from there. */
static bool write_slot(uint8_t *slot, const struct patch_entry *e, const struct window *w)
{
    const uint8_t *from = (const uint8_t *)e->function + w->at;
    uint8_t *to = slot + TO_HOOK;
    int32_t away = HOOK - TO_HOOK;
    struct insn i;

    slot[0] = 0xff;
    slot[1] = 0x25;
    memcpy(slot + 2, &away, sizeof away);
    memcpy(slot + HOOK, &e->hook, sizeof e->hook);
    for (size_t at = 0; at < w->size; at += i.size) {
        size_t size = decode(e, w->at + at, &i) ? move(to, from + at, &i) : 0;

        if (!size)
            return false;
        to += size;
    }
    put_branch(to, (uintptr_t)to, (uintptr_t)(from + w->size));
    return true;
}

static void give_up(struct patch_entry *entries, size_t n)
{
    for (size_t i = 0; i < n; i++)
        entries[i].original = NULL;
}

/* Writes the slots of the functions that can be patched, and sets `original` in these. Returns
 * their number; 0 if a needed function cannot be patched. */
static size_t write_slots(struct patch_entry *entries, size_t n, uint8_t *slots,
                          const struct code_pages *texts)
{
    size_t done = 0;

    for (size_t i = 0; i < n; i++) {
        struct patch_entry *e = &entries[i];
        struct window w;

        if (!code_pages_hold(texts, e->function, e->size + MARK + BRANCH) || !find_window(e, &w) ||
            is_led_into(e, &w) || !write_slot(slots + i * ENTRY_SLOT, e, &w)) {
            if (e->needed)
                return 0;
            continue;
        }
        e->original = slots + i * ENTRY_SLOT + TO_HOOK;
        done++;
    }
    return done;
}

static void write_branches(const struct patch_entry *entries, size_t n, const uint8_t *slots)
{
    for (size_t i = 0; i < n; i++) {
        uintptr_t at = entries[i].function + (marked(&entries[i]) ? MARK : 0);
        uint8_t branch[BRANCH];

        if (!entries[i].original)
            continue;
        put_branch(branch, at, (uintptr_t)(slots + i * ENTRY_SLOT));
        for (size_t k = 0; k < BRANCH; k++)
            ((volatile uint8_t *)at)[k] = branch[k];
    }
}

enum patch_result entries_apply(struct patch_entry *entries, size_t n, void (*ready)(void *arg),
                                void *arg)
{
    struct code_pages texts = {.lo = UINTPTR_MAX};
    size_t size = (n * ENTRY_SLOT + CODE_PAGES_PAGE - 1) & ~(CODE_PAGES_PAGE - 1);
    enum patch_result r = PATCH_DONE;
    uintptr_t slots;

    give_up(entries, n);
    for (size_t i = 0; i < n; i++) {
        texts.lo = entries[i].function < texts.lo ? entries[i].function : texts.lo;
        texts.hi = entries[i].function + entries[i].size > texts.hi
                       ? entries[i].function + entries[i].size
                       : texts.hi;
    }
    if (!n)
        return PATCH_NOTHING;
    code_pages_find(&texts);
    if (!texts.n)
        return PATCH_UNMAPPED;
    slots = code_pages_map_near(&texts, size);
    if (!slots)
        return PATCH_NO_ROOM;
    if (!write_slots(entries, n, (uint8_t *)slots, &texts))
        r = PATCH_NOTHING;
    else if (code_pages_protect(slots, slots + size, PROT_READ | PROT_EXEC) ||
             code_pages_unlock(&texts))
        r = PATCH_REFUSED;
    if (r != PATCH_DONE) {
        give_up(entries, n);
        kernel_call(SYS_munmap, slots, size);
        return r;
    }
    if (ready)
        ready(arg);
    write_branches(entries, n, (const uint8_t *)slots);
    code_pages_lock(&texts);
    return PATCH_DONE;
}
