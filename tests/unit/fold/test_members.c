/* Members of this very program's variables, by its own debug information. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include "common/strbuf.h"
#include "fold/members/members.h"
#include "tests/tap.h"

struct link {
    struct link *next;
    long key;
};

typedef const struct link fixed_link;

struct sample {
    long n;
    struct link *first;
    struct {
        struct {
            void *head, *tail;
        } lru;
    } cache;
    union {
        char tag;
        int number;
        void *pointer;
        void *other;
    };
    struct link table[2][3];
    fixed_link fixed;
    char text[24];
    char small;
    _Alignas(16) long wide;
    long double longer;
    unsigned bits : 4;
};

struct sample sample_of_members = {.n = 1};
struct link *array_of_members[4] = {NULL};
long number_of_members = 5;

static struct members *members;
static struct symbol_module *module;
static uint64_t bias;

static void has(void *variable, size_t offset, const char *want)
{
    struct strbuf sb = STRBUF_INIT;
    bool found;

    strbuf_addstr(&sb, "x");
    found = members_name(members, module, (uint64_t)(uintptr_t)variable - bias, offset, &sb);
    is_str(sb.buf + 1, want, "the member at 0x%zx is '%s'", offset, want);
    ok(found == (sb.len > 1), "members_name returns whether it appended a name");
    strbuf_release(&sb);
}

#define HAS(member, want) has(&sample_of_members, offsetof(struct sample, member), want)

static void test_names(void)
{
    static struct {
        long n;
        struct link *in_function;
    } local = {1, NULL};

    HAS(n, ".n");
    HAS(first, ".first");
    HAS(cache.lru.tail, ".cache.lru.tail");
    HAS(pointer, ".pointer");
    HAS(table[1][2].key, ".table[1][2].key");
    HAS(fixed.key, ".fixed.key");
    HAS(text[16], ".text[16]");
    has(&sample_of_members, offsetof(struct sample, longer) + 8, ".longer+0x8");
    has(&sample_of_members, offsetof(struct sample, small) + 1, "");
    has(&sample_of_members, sizeof sample_of_members, "");
    has(&sample_of_members, SIZE_MAX, "");
    has(array_of_members, 3 * sizeof *array_of_members, "[3]");
    has(array_of_members, sizeof array_of_members, "");
    has(&number_of_members, 0, "");
    has(&local, 8, ".in_function");
    has((char *)&sample_of_members + 8, 0, "");
    has(NULL, 0, "");
}

static void test_none(struct symbols *s)
{
    struct strbuf sb = STRBUF_INIT;

    ok(!members_name(members, symbols_module(s, "/nonexistent", NULL, 0, 0), 16, 0, &sb),
       "a missing module has no members");
    ok(!members_name(members, symbols_module(s, "[heap]", NULL, 0, 0), 16, 0, &sb),
       "the heap has no members");
    strbuf_release(&sb);
}

int main(void)
{
    struct symbol_options opt = {.no_inline = true};
    struct symbols *s = symbols_new(&opt);
    const struct link_map *map = NULL;
    Dl_info info;

    dladdr1((void *)(uintptr_t)main, &info, (void **)&map, RTLD_DL_LINKMAP);
    bias = map->l_addr;
    module = symbols_module(s, "/proc/self/exe", NULL, 0, 0);
    members = members_new(s);
    test_names();
    test_none(s);
    members_free(members);
    symbols_free(s);
    return done_testing();
}
