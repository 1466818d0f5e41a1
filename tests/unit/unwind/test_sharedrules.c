/*
 * Rules in memory that any process may write to: a stored rule is found again, by this process and
 * another. Bytes that were written over it are never taken for a rule.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unwind/rules.h"
#include "unwind/sharedrules.h"
#include "tests/tap.h"

#define MODULE 0x1234567890abcdefu
#define WORDS (SHAREDRULES_SIZE / sizeof(uint64_t))

static const struct rule step = {
    .kind = RULE_CFA_SP, .bp_saved = true, .cfa_offset = 48, .bp_offset = -16};
static uint64_t *memory;

static bool same(struct rule a, struct rule b)
{
    return rule_pack(a) == rule_pack(b);
}

static bool found(uint64_t module, uintptr_t offset, struct rule rule)
{
    struct rule got;

    return sharedrules_find(module, offset, &got) && same(got, rule);
}

static bool nothing(uint64_t module, uintptr_t offset)
{
    struct rule got;

    return !sharedrules_find(module, offset, &got);
}

static struct rule some_rule(uint32_t i)
{
    return (struct rule){.kind = (uint8_t)(RULE_CFA_SP + i % 3),
                         .bp_saved = i % 2,
                         .bp_at_bp = i % 5 == 0,
                         .cfa_offset = (int32_t)(i % 4096) - 2048,
                         .bp_offset = -(int32_t)(i % 512)};
}

/* The only entry in use. */
static uint64_t *only_entry(void)
{
    for (size_t i = 0; i < WORDS; i++)
        if (memory[i])
            return &memory[i - i % 2];
    return NULL;
}

static void clear(void)
{
    memset(memory, 0, SHAREDRULES_SIZE);
}

static void test_names(void)
{
    uint8_t id[20] = {1, 2, 3}, other[20] = {1, 2, 4};
    uint64_t name = sharedrules_module(id, sizeof id, 7);

    ok(name && name == sharedrules_module(id, sizeof id, 7), "a module has one name");
    ok(name != sharedrules_module(other, sizeof other, 7) &&
           name != sharedrules_module(id, sizeof id, 8) && name != sharedrules_module(id, 19, 7),
       "another build or layout of a module has another name");
    ok(!sharedrules_module(id, 0, 7) && !sharedrules_module(id, 4, 7),
       "a module without a build id, or with a short one, has no name");
}

static void test_find(void)
{
    uint32_t there = 0;

    ok(nothing(MODULE, 0), "an empty table finds no rule");
    sharedrules_add(MODULE, 0x40, step);
    ok(found(MODULE, 0x40, step), "a stored rule is found");
    ok(nothing(MODULE, 0x41) && nothing(MODULE + 1, 0x40) && nothing(0, 0x40),
       "a rule is not found for another address or module, or without a name");
    clear();
    for (uint32_t i = 0; i < 10000; i++)
        sharedrules_add(MODULE, i, some_rule(i));
    for (uint32_t i = 0; i < 10000; i++) {
        there += found(MODULE, i, some_rule(i));
        if (!found(MODULE, i, some_rule(i)) && !nothing(MODULE, i))
            there -= 10000;
    }
    ok(there > 9700 && there <= 10000, "of 10,000 rules nearly all find room: %u", there);
    for (uint32_t i = 0; i < 200000; i++)
        sharedrules_add(MODULE + 1, i, some_rule(i));
    there = 0;
    for (uint32_t i = 0; i < 10000; i++)
        there += found(MODULE, i, some_rule(i));
    ok(there > 9700, "a full table keeps its first rules");
    clear();
}

static void test_kinds(void)
{
    int left = 0;

    for (uint8_t kind = RULE_UNSET; kind <= 15; kind++) {
        struct rule rule = step;

        rule.kind = kind;
        sharedrules_add(MODULE, kind, rule);
        left += !nothing(MODULE, kind);
    }
    ok(left == 3, "only rules of steps by stack words are stored");
    clear();
}

/* Two words that do not belong to the check. */
static void test_damage(void)
{
    static const uint64_t patterns[] = {0, ~(uint64_t)0, 0x0101010101010101u, 0xdeadbeef, 1};
    uint64_t *entry, check, rule;
    int believed = 0;

    sharedrules_add(MODULE, 0x40, step);
    entry = only_entry();
    if (!entry)
        return;
    check = entry[0];
    rule = entry[1];
    for (int word = 0; word < 2; word++)
        for (int bit = 0; bit < 64; bit++) {
            entry[word] ^= (uint64_t)1 << bit;
            believed += !nothing(MODULE, 0x40);
            entry[word] ^= (uint64_t)1 << bit;
        }
    ok(believed == 0 && found(MODULE, 0x40, step), "an entry with a changed bit is not found");
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        entry[0] = entry[1] = patterns[i];
        believed += !nothing(MODULE, 0x40);
        entry[0] = check ^ patterns[i];
        entry[1] = rule ^ patterns[i];
        believed += patterns[i] && !nothing(MODULE, 0x40);
        entry[0] = patterns[i];
        entry[1] = rule;
        believed += !nothing(MODULE, 0x40);
    }
    ok(believed == 0, "an entry with overwritten words is not found");
    clear();
}

/* An entry written by two writers: the words of either, in all combinations. */
static void test_race(void)
{
    struct rule rules[] = {step, {.kind = RULE_CFA_BP, .cfa_offset = 16}};
    uint64_t words[2][2];
    int wrong = 0;

    for (int i = 0; i < 2; i++) {
        uint64_t *entry;

        sharedrules_add(MODULE, 0x40 + (uintptr_t)i, rules[i]);
        entry = only_entry();
        memcpy(words[i], entry, sizeof words[i]);
        clear();
    }
    for (int i = 0; i < 2; i++) {
        uint64_t *entry;

        sharedrules_add(MODULE, 0x40, rules[0]);
        entry = only_entry();
        entry[0] = words[i][0];
        entry[1] = words[!i][1];
        wrong += !nothing(MODULE, 0x40) || !nothing(MODULE, 0x41);
        entry[1] = words[i][1];
        wrong += i == 0 && !found(MODULE, 0x40, rules[0]);
        clear();
    }
    ok(wrong == 0, "an entry mixed from two is not found");
}

static void test_processes(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        sharedrules_add(MODULE, 0x80, step);
        _exit(0);
    }
    ok(waitpid(pid, &status, 0) == pid && found(MODULE, 0x80, step),
       "a rule that another process stored is found");
}

static void test_drop(void)
{
    ok(!sharedrules_drop(memory + WORDS) && !sharedrules_drop(memory - 1) &&
           found(MODULE, 0x80, step),
       "sharedrules_drop ignores an address outside of the table");
    ok(sharedrules_drop(memory + 1) && nothing(MODULE, 0x80) && !only_entry(),
       "sharedrules_drop leaves an empty table");
    sharedrules_add(MODULE, 0x80, step);
    ok(!only_entry() && !sharedrules_drop(NULL), "a dropped table stores no rule");
}

int main(void)
{
    ok(nothing(MODULE, 0) && !sharedrules_drop(NULL), "without a table no rule is found");
    sharedrules_add(MODULE, 0, step);
    memory =
        mmap(NULL, SHAREDRULES_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    test_names();
    sharedrules_use(memory);
    test_find();
    test_kinds();
    test_damage();
    test_race();
    test_processes();
    test_drop();
    return done_testing();
}
