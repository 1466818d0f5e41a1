/* Cases (kinds.h) of blocks that lead to blocks, and of ways to store a pointer. */
#define _GNU_SOURCE
#include "tests/victims/leak/kinds.h"

#include <obstack.h>
#include <search.h>
#include <stddef.h>
#include <sys/mman.h>

struct node {
    struct node *next, *other;
    long payload[5];
};

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

/* ---- chains, circles, trees ---- */

CASE(overwritten, BLOCK(definite_overwritten) BLOCK(reachable_overwriting))
{
    static void *kept;

    kept = definite_overwritten(101);
    kept = reachable_overwriting(102);
    (void)kept;
}

CASE(local, BLOCK(definite_local))
{
    void *volatile p = definite_local(103);

    (void)p;
}

CASE(list, BLOCK(reachable_list))
{
    static struct node *list;

    for (int i = 0; i < 20; i++) {
        struct node *n = reachable_list(sizeof *n);

        *n = (struct node){.next = list};
        list = n;
    }
}

CASE(list_lost, BLOCK(definite_list_head) BLOCK(indirect_list_tail))
{
    struct node *head = definite_list_head(sizeof *head), *n = head;

    for (int i = 0; i < 20; i++, n = n->next) {
        *n = (struct node){.next = indirect_list_tail(sizeof *n)};
        *n->next = (struct node){.next = NULL};
    }
}

CASE(list_deep, BLOCK(reachable_list_deep))
{
    static struct node *deep;

    for (int i = 0; i < 50000; i++) {
        struct node *n = reachable_list_deep(sizeof *n);

        *n = (struct node){.next = deep};
        deep = n;
    }
}

CASE(list_cut, BLOCK(reachable_list_cut) BLOCK(definite_list_cut) BLOCK(indirect_list_cut))
{
    static struct node *cut;

    cut = reachable_list_cut(sizeof *cut);
    *cut = (struct node){.next = definite_list_cut(sizeof *cut)};
    *cut->next = (struct node){.next = indirect_list_cut(sizeof *cut)};
    *cut->next->next = (struct node){.next = NULL};
    cut->next = NULL;
}

CASE(self, BLOCK(definite_self))
{
    struct node *self = definite_self(sizeof *self);

    *self = (struct node){.next = self};
}

/* Circles: the leader is the block that comes first in memory. Blocks of one size, allocated one
 * after the other, ascend or not. So one function allocates all of them: one block is definite, and
 * the others are indirect. */
NOINLINE static void *definite_circle(void)
{
    return calloc(1, 400);
}

CASE(circle_of_one_parent, NAMED(definite_circle) BLOCK(indirect_under_circle))
{
    struct node *leader = definite_circle();

    leader->next = leader;
    leader->other = indirect_under_circle(sizeof *leader);
    *leader->other = (struct node){.next = leader->other};
}

CASE(circle_kept, BLOCK(reachable_circle))
{
    static struct node *kept;
    struct node *other;

    kept = reachable_circle(sizeof *kept);
    other = reachable_circle(sizeof *kept);
    *kept = (struct node){.next = other, .other = other};
    *other = (struct node){.next = kept, .other = kept};
}

CASE(tree, BLOCK(reachable_tree))
{
    static struct node *root;
    struct node *level[64];
    size_t n = 1;

    root = level[0] = reachable_tree(sizeof *root);
    *root = (struct node){.next = NULL};
    for (size_t i = 0; n < 60; i++) {
        level[i]->next = level[n++] = reachable_tree(sizeof *root);
        level[i]->other = level[n++] = reachable_tree(sizeof *root);
        *level[n - 1] = *level[n - 2] = (struct node){.next = NULL};
    }
    memset(level, 0, sizeof level);
}

CASE(tree_lost, BLOCK(definite_tree_root) BLOCK(indirect_tree_leaf))
{
    struct node *root = definite_tree_root(sizeof *root);

    *root = (struct node){.next = indirect_tree_leaf(sizeof *root),
                          .other = indirect_tree_leaf(sizeof *root)};
    memset(root->next, 0, sizeof *root);
    memset(root->other, 0, sizeof *root);
}

CASE(shared_leaf, BLOCK(definite_sharer) BLOCK(indirect_shared))
{
    struct node *a = definite_sharer(sizeof *a), *b = definite_sharer(sizeof *a);

    *a = (struct node){.next = indirect_shared(100)};
    *b = (struct node){.next = a->next};
}

CASE(lost_leads_to_kept, BLOCK(definite_leads_to_kept) BLOCK(reachable_led_to))
{
    static void *kept;
    struct node *lost = definite_leads_to_kept(sizeof *lost);

    kept = reachable_led_to(104);
    *lost = (struct node){.next = kept};
}

/* A freed block leads to nothing, whatever its bytes are. This case runs alone: a later block that
 * gets the same memory, and does not write to it, would have those bytes. */
CASE_ALONE(freed_parent, BLOCK(definite_child_of_freed))
{
    struct node *parent = malloc(sizeof *parent);

    *parent = (struct node){.payload = {(long)(uintptr_t)definite_child_of_freed(105)}};
    free(parent);
}

/* ---- allocation functions ---- */

NOINLINE static void *reachable_calloc(void)
{
    return calloc(7, 31);
}

NOINLINE static void *reachable_realloc(void)
{
    return realloc(malloc(50), 60000);
}

NOINLINE static void *reachable_memalign(void)
{
    void *p = NULL;

    return posix_memalign(&p, 4096, 300) ? NULL : p;
}

NOINLINE static void *reachable_aligned(void)
{
    return aligned_alloc(256, 512);
}

NOINLINE static void *definite_strdup(void)
{
    return strdup("lost");
}

CASE(functions, NAMED(reachable_calloc) NAMED(reachable_realloc) NAMED(reachable_memalign)
                    NAMED(reachable_aligned) NAMED(definite_strdup))
{
    static void *kept[4];

    kept[0] = reachable_calloc();
    kept[1] = reachable_realloc();
    kept[2] = reachable_memalign();
    kept[3] = reachable_aligned();
    definite_strdup();
    (void)kept;
}

NOINLINE static void *definite_realloc_lost(void)
{
    return realloc(malloc(40), 80000);
}

CASE(realloc_lost, NAMED(definite_realloc_lost))
{
    definite_realloc_lost();
}

/* The only pointer is in the part that realloc cuts off. */
NOINLINE static void *reachable_shrunk(void *p, size_t size)
{
    return realloc(p, size);
}

CASE(realloc_shrunk, NAMED(reachable_shrunk) BLOCK(definite_behind_shrunk))
{
    static void **kept;

    kept = reachable_shrunk(NULL, 4000);
    memset(kept, 0, 4000);
    kept[400] = definite_behind_shrunk(106);
    kept = reachable_shrunk(kept, 800);
}

CASE(large, BLOCK(reachable_large) BLOCK(reachable_by_large))
{
    static void **large;

    /* Pages that were never written to lie before the pointer, and behind it. */
    large = reachable_large(64 << 20);
    large[5 << 20] = reachable_by_large(107);
}

CASE(large_lost, BLOCK(definite_large) BLOCK(indirect_by_large))
{
    void **large = definite_large(32 << 20);

    large[1 << 20] = indirect_by_large(108);
}

/* ---- pointers to insides ---- */

CASE(inside, BLOCK(inner_inside))
{
    static char *kept;

    kept = (char *)inner_inside(109) + 16;
}

CASE(inside_last_byte, BLOCK(inner_last_byte))
{
    static char *kept;

    kept = (char *)inner_last_byte(200) + 199;
}

/* The end of a block is not part of it. */
CASE(one_past, BLOCK(definite_one_past))
{
    static char *kept;

    kept = (char *)definite_one_past(24) + 24;
}

CASE(inside_leads_on, BLOCK(inner_first) BLOCK(inner_next))
{
    static char *kept;

    kept = inner_first(400);
    *(void **)(kept + 40) = inner_next(110);
    kept += 300;
}

CASE(inside_and_beginning, BLOCK(reachable_both))
{
    static char *inside, *beginning;

    beginning = reachable_both(300);
    inside = beginning + 100;
    (void)inside;
}

CASE(inside_of_huge, BLOCK(inner_huge) BLOCK(inner_by_huge))
{
    static char *into;

    into = inner_huge(48 << 20);
    into += 40 << 20;
    ((void **)into)[1] = inner_by_huge(111);
}

/* A wrapper that aligns by itself, and keeps the real beginning before the block. */
CASE(aligned_by_hand, BLOCK(inner_aligned_by_hand))
{
    static void **kept;
    char *raw = inner_aligned_by_hand(1000);

    kept = (void **)(((uintptr_t)raw + 256) & -(uintptr_t)128);
    kept[-1] = raw;
}

struct embedded {
    long header[4];
    struct node link;
};

/* A list as in the Linux kernel: links lie within the objects that they link. */
CASE(links_within, BLOCK(inner_linked))
{
    static struct node *first;

    for (int i = 0; i < 5; i++) {
        struct embedded *e = inner_linked(sizeof *e);

        *e = (struct embedded){.link = {.next = first}};
        first = &e->link;
    }
}

CASE(links_within_lost, BLOCK(definite_holder) BLOCK(indirect_linked))
{
    struct node *head = definite_holder(sizeof *head);
    struct embedded *e = indirect_linked(sizeof *e);

    *e = (struct embedded){.header = {0}};
    *head = (struct node){.next = &e->link};
}

CASE(tagged_low, BLOCK(inner_tagged_low))
{
    static uintptr_t kept;

    kept = (uintptr_t)inner_tagged_low(112) | 1;
}

/* ---- pointers that no scan can recognize: documented as leaks ---- */

CASE(tagged_high, BLOCK(definite_tagged_high))
{
    static uintptr_t kept;

    kept = (uintptr_t)definite_tagged_high(113) | (uintptr_t)0xabcd << 48;
    (void)kept;
}

CASE(packed, BLOCK(definite_packed))
{
    static struct __attribute__((packed)) {
        char byte;
        void *kept;
    } record;

    record.kept = definite_packed(114);
}

CASE(inverted, BLOCK(definite_inverted))
{
    static uintptr_t kept;

    kept = ~(uintptr_t)definite_inverted(115);
    (void)kept;
}

CASE(xored, BLOCK(reachable_xor_first) BLOCK(definite_xor_second) BLOCK(definite_xor_third))
{
    static uintptr_t *first;
    uintptr_t *second, *third;

    first = reachable_xor_first(64);
    second = definite_xor_second(64);
    third = definite_xor_third(64);
    memset(first, 0, 64);
    memset(second, 0, 64);
    memset(third, 0, 64);
    first[1] = (uintptr_t)second ^ 0x5a5a5a5a00000000u;
    second[1] = (uintptr_t)first ^ (uintptr_t)third ^ 0x5a5a5a5a00000000u;
}

CASE(compressed, BLOCK(definite_compressed))
{
    static uint32_t kept[2];

    kept[1] = (uint32_t)((uintptr_t)definite_compressed(116) >> 4);
}

CASE(relative, BLOCK(definite_relative))
{
    static ptrdiff_t kept;

    kept = (char *)definite_relative(117) - (char *)&kept;
    (void)kept;
}

CASE(in_halves, BLOCK(definite_in_halves))
{
    static struct {
        uint32_t low, between, high;
    } kept;
    uintptr_t p = (uintptr_t)definite_in_halves(118);

    kept.low = (uint32_t)p;
    kept.high = (uint32_t)(p >> 32);
    p = 0;
}

CASE(hashed_xored, BLOCK(reachable_table) BLOCK(definite_hashed))
{
    static uintptr_t *table;

    table = reachable_table(64 * sizeof *table);
    memset(table, 0, 64 * sizeof *table);
    for (size_t i = 0; i < 10; i++) {
        uintptr_t p = (uintptr_t)definite_hashed(119);

        table[p / 16 % 64] = p ^ 0x9e3779b97f4a7c15u;
        p = 0;
    }
}

/* ---- arenas, pools, tables ---- */

CASE(pool, BLOCK(reachable_pool) BLOCK(reachable_by_pool))
{
    static struct {
        char *at, *end;
        void *chunk;
    } pool;
    void **item;

    pool.chunk = reachable_pool(65536);
    memset(pool.chunk, 0, 65536);
    pool.at = (char *)pool.chunk + 1000;
    item = (void **)(pool.at - 200);
    item[3] = reachable_by_pool(120);
}

/* The pool keeps only the place of the next item. */
CASE(pool_by_its_end, BLOCK(inner_pool))
{
    static char *at;

    at = (char *)inner_pool(65536) + 4096;
}

CASE(pool_item_dropped, BLOCK(reachable_pool_of_slots) BLOCK(definite_dropped_slot))
{
    static void **slots;

    slots = reachable_pool_of_slots(800);
    memset(slots, 0, 800);
    slots[50] = definite_dropped_slot(121);
    slots[50] = NULL;
}

#define obstack_chunk_alloc reachable_obstack
#define obstack_chunk_free free
NOINLINE static void *reachable_obstack(size_t size)
{
    return malloc(size);
}

CASE(obstack, NAMED(reachable_obstack) BLOCK(reachable_by_obstack))
{
    static struct obstack stack;
    void *item;

    obstack_init(&stack);
    for (int i = 0; i < 100; i++)
        obstack_alloc(&stack, 500);
    item = reachable_by_obstack(122);
    obstack_copy(&stack, &item, sizeof item);
    item = NULL;
}

static int compare(const void *a, const void *b)
{
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

NOINLINE static void reachable_tsearch(void **root, void *key)
{
    tsearch(key, root, compare);
}

CASE(search_tree, NAMED(reachable_tsearch) BLOCK(reachable_key))
{
    static void *root;

    /* One, as the pointers below a node carry its colour. */
    reachable_tsearch(&root, reachable_key(123));
}

NOINLINE static void *reachable_hcreate(size_t n)
{
    hcreate(n);
    return NULL;
}

CASE(hash_of_libc, NAMED(reachable_hcreate) BLOCK(reachable_hash_data))
{
    static char name[] = "name";

    reachable_hcreate(50);
    hsearch((ENTRY){.key = name, .data = reachable_hash_data(124)}, ENTER);
}

/* An object after a header of the program's own; its users point to the object. */
CASE(hidden_header, BLOCK(inner_hidden_header))
{
    static char *object;

    object = (char *)inner_hidden_header(300) + sizeof(long[2]);
}

/* Memory with a page that cannot be accessed. Alone, as LeakSanitizer ends with an error. */
CASE_ALONE(guarded, BLOCK(reachable_guarded) BLOCK(reachable_by_guarded))
{
    static char *stack;

    stack = reachable_guarded(16 * PAGE);
    mprotect((char *)(((uintptr_t)stack + PAGE - 1) & -PAGE), PAGE, PROT_NONE);
    ((void **)(stack + 8 * PAGE))[0] = reachable_by_guarded(125);
}
