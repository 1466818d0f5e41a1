/* The shadow map compared with a plain table, over random operations. */
#include "preload/shadow/shadow.h"

#include "common/processor/processor.h"
#include "tests/tap.h"

#define N 4096

static struct {
    uintptr_t addr;
    struct block b;
    bool live;
} model[N];

static uint64_t seed = 42;

static uint64_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

struct walk_state {
    size_t seen, wrong;
};

static void check_block(uintptr_t addr, const struct block *b, void *arg)
{
    struct walk_state *w = arg;

    w->seen++;
    for (size_t i = 0; i < N; i++)
        if (model[i].live && model[i].addr == addr) {
            w->wrong += WRONG(model[i].b.row != b->row || model[i].b.size != b->size, i);
            return;
        }
    w->wrong++;
}

/* Every eighth block is large and shares no address with others, as required. */
static bool large(size_t i)
{
    return i % 8 == 0;
}

/* Distinct addresses, 8-byte aligned, close together and far apart; large blocks as
 * close as they can be. */
static void make_addresses(void)
{
    for (size_t i = 0; i < N; i++) {
        uintptr_t base = (uintptr_t)(i % 7) << 44 | (uintptr_t)(i % 5) << 33;

        model[i].addr = base + 0x7f0000 + i * 32 + (i % 3 == 0 ? 8 : 0);
        if (large(i)) /* 8 TiB apart, or next to each other and of one size */
            model[i].addr =
                i % 16 ? (uintptr_t)i / 16 << 39 | 0x11008
                       : ((uintptr_t)3 << 45) - ((uintptr_t)1 << 30) + i / 16 * 32768 + 0x5010;
    }
}

static void random_operations(void)
{
    size_t wrong = 0, lost = 0, puts_made = 0;

    for (size_t op = 0; op < 400000; op++) {
        size_t i = next() % N;
        struct block got;

        if (model[i].live) {
            if (!shadow_take(model[i].addr, &got) || got.row != model[i].b.row ||
                got.size != model[i].b.size)
                wrong++;
            wrong += WRONG(shadow_take(model[i].addr, &got), op);
            model[i].live = false;
        } else {
            uint64_t size =
                large(i) ? i % 16 ? 32768 + (next() >> (next() % 39 + 25)) : 32768 : next() % 32768;

            wrong += WRONG(shadow_take(model[i].addr, &got), op);
            model[i].b =
                (struct block){.row = (uint32_t)(next() % (SHADOW_ROW_MAX - 2)) + 2, .size = size};
            model[i].live = shadow_put(model[i].addr, model[i].b);
            lost += !model[i].live;
            puts_made++;
        }
    }
    is_int((long long)wrong, 0, "every take finds what the last put left");
    ok(lost * 1000 < puts_made,
       "puts are refused only for giants in a leaf's last slot (%zu of %zu)", lost, puts_made);
}

struct dense {
    size_t seen;
    uint64_t bytes;
};

static void sum_dense(uintptr_t addr, const struct block *b, void *arg)
{
    struct dense *d = arg;

    if (addr < 0x5000000 || addr >= 0x6000000)
        return;
    d->seen++;
    d->bytes += b->size;
}

/* Blocks without a byte between them, each size up to 64, across the end of a leaf, freed first to
 * last, twice: none disturbs another. */
static void dense_blocks(void)
{
    enum { BLOCKS = 300000 };
    size_t wrong = 0;
    struct dense d = {0, 0};
    uint64_t bytes = 0;

    for (int pass = 0; pass < 2; pass++) {
        uintptr_t addr = 0x5000000;

        for (uint32_t i = 0; i < BLOCKS; i++) {
            uint64_t size = i * 7 % 65;
            struct block got;

            wrong += WRONG(!shadow_put(addr, (struct block){.row = i + 1, .size = size}), i);
            bytes += size;
            addr += size ? (size + 15) & ~(uint64_t)15 : 16;
            if (i % 3 == 2) { /* the one before, and again */
                uint64_t before = (i - 1) * 7 % 65, back = i * 7 % 65;
                uintptr_t at = addr - (back ? (back + 15) & ~(uint64_t)15 : 16) -
                               (before ? (before + 15) & ~(uint64_t)15 : 16);

                wrong += WRONG(!shadow_take(at, &got) || got.row != i || got.size != before, i);
                wrong += WRONG(!shadow_put(at, got), i);
            }
        }
        if (pass == 0) {
            shadow_walk(sum_dense, &d);
            wrong += WRONG(d.seen != BLOCKS || d.bytes != bytes, pass);
        }
        addr = 0x5000000;
        for (uint32_t i = 0; i < BLOCKS; i++) {
            uint64_t size = i * 7 % 65;
            struct block got;

            wrong += WRONG(!shadow_take(addr, &got) || got.row != i + 1 || got.size != size, i);
            addr += size ? (size + 15) & ~(uint64_t)15 : 16;
        }
    }
    is_int((long long)wrong, 0, "adjacent blocks do not disturb each other");
}

/* The block around an address inside it. */
static void insides(void)
{
    uintptr_t at = (uintptr_t)9 << 40, start;
    struct block b;

    shadow_put(at + 0x100, (struct block){.row = 5, .size = 40});
    shadow_put(at + 0x148, (struct block){.row = 6, .size = 8});
    shadow_put(at + 0x200, (struct block){.row = 7, .size = 32767});
    shadow_put(at + 0x10010, (struct block){.row = 8, .size = (uint64_t)3 << 30});
    ok(shadow_find_around(at + 0x101, &start, &b) && start == at + 0x100 && b.row == 5,
       "the second byte of a block is in it");
    ok(shadow_find_around(at + 0x127, &start, &b) && start == at + 0x100 && b.size == 40,
       "the last byte of a block is in it");
    ok(!shadow_find_around(at + 0x128, &start, &b), "the first byte behind a block is not in it");
    ok(shadow_find_around(at + 0x14f, &start, &b) && b.row == 6 &&
           !shadow_find_around(at + 0x150, &start, &b),
       "a block at an odd multiple of 8 ends at its last byte");
    ok(shadow_find_around(at + 0x200 + 32766, &start, &b) && b.row == 7 && start == at + 0x200 &&
           !shadow_find_around(at + 0x200 + 32767, &start, &b),
       "a block of 32767 bytes ends at its last byte");
    ok(shadow_find_around(at + 0x10010, &start, &b) && b.row == 8 &&
           shadow_find_around(at + 0x1000f + ((uintptr_t)3 << 30), &start, &b) && b.row == 8 &&
           start == at + 0x10010 &&
           !shadow_find_around(at + 0x10010 + ((uintptr_t)3 << 30), &start, &b),
       "a block of 3 GiB has its first and its last byte");
    ok(!shadow_find_around(8, &start, &b) && !shadow_find_around(~(uintptr_t)0, &start, &b),
       "impossible addresses are in no block");
    shadow_put(at + 0x20000000000, (struct block){.row = 9, .size = 0});
    ok(shadow_find_around(at + 0x20000000000, &start, &b) && b.row == 9 &&
           !shadow_find_around(at + 0x20000000001, &start, &b),
       "a block of 0 bytes has its own address");
    ok(!shadow_find_from(at + 0x128, 0, &start, &b) && start == at + 0x100,
       "behind a block the search reports that block as near");
    ok(!shadow_find_from(at + 0x10000000000, 0, &start, &b) && start == 0,
       "far behind a block the search reports no near block");
    ok(!shadow_find_from(at + 0x110, at + 0x108, &start, &b) && start == 0,
       "a block that begins below the search's limit is not found");
    shadow_put(at + 0x30000000000, (struct block){.row = 10, .size = (uint64_t)40 << 30});
    ok(shadow_find_from(at + 0x30000000000 + ((uintptr_t)40 << 30) - 1, at, &start, &b) &&
           start == at + 0x30000000000 && b.row == 10 &&
           !shadow_find_from(at + 0x30000000000 + ((uintptr_t)40 << 30), at, &start, &b),
       "a block of 40 GiB is found across unmapped leaves");
    shadow_put(at + 0x40000000000 + 100000, (struct block){.row = 11, .size = 50000});
    shadow_put(at + 0x40000000000 + 196608 + 4096, (struct block){.row = 12, .size = 40000});
    ok(shadow_find_from(at + 0x40000000000 + 149999, at, &start, &b) && b.row == 11 &&
           !shadow_find_from(at + 0x40000000000 + 150000, at, &start, &b) &&
           !shadow_find_from(at + 0x40000000000 + 196608, at, &start, &b) &&
           shadow_find_from(at + 0x40000000000 + 196608 + 4096, at, &start, &b) && b.row == 12,
       "of two large blocks in neighbouring slots each ends at its last byte");
}

int main(void)
{
    struct walk_state w = {0, 0};
    struct block b;
    size_t live = 0;

    make_addresses();
    random_operations();
    for (size_t i = 0; i < N; i++)
        live += model[i].live;
    shadow_walk(check_block, &w);
    is_int((long long)w.seen, (long long)live, "walk visits every live block once");
    is_int((long long)w.wrong, 0, "walk shows each block's row and size");

    ok(shadow_put(0x10008, (struct block){.row = 5, .size = 8}) &&
           shadow_put(0x10000, (struct block){.row = 6, .size = 8}),
       "blocks of 8 bytes at adjacent addresses are stored");
    ok(shadow_take(0x10008, &b) && b.row == 5 && shadow_take(0x10000, &b) && b.row == 6,
       "blocks of 8 bytes at adjacent addresses do not share a slot");
    dense_blocks();
    ok(shadow_put(0x3fffff0, (struct block){.row = 5, .size = 100}) &&
           shadow_put(0x3ffffe0, (struct block){.row = 6, .size = 16}) &&
           shadow_put(0x4000060, (struct block){.row = 7, .size = 30}) &&
           shadow_take(0x3fffff0, &b) && b.row == 5 && b.size == 100 && !shadow_take(0x3fffff0, &b),
       "a block across the end of a leaf is stored and taken");
    ok(shadow_take(0x3ffffe0, &b) && b.row == 6 && shadow_take(0x4000060, &b) && b.row == 7,
       "the neighbours of a block across the end of a leaf are kept");
    ok(shadow_put(0x31000, (struct block){.row = 5, .size = 100}) &&
           shadow_put(0x31010, (struct block){.row = 6, .size = 3}) && !shadow_take(0x31000, &b) &&
           shadow_take(0x31010, &b) && b.row == 6 && b.size == 3,
       "a block overwritten by an inner one is not read back from mixed slots");
    ok(shadow_put(0x20000, (struct block){.row = 7, .size = (uint64_t)5 << 30}) &&
           shadow_take(0x20000, &b) && b.size == (uint64_t)5 << 30,
       "a block of 5 GiB keeps its size");
    ok(shadow_put(0x20000, (struct block){.row = 7, .size = (uint64_t)3 << 40}) &&
           shadow_take(0x20000, &b) && b.size == (uint64_t)3 << 40,
       "a block larger than a slot's 38 bits keeps its size");
    ok(!shadow_take(0x28000, &b) && !shadow_take(0x28001, &b) && !shadow_take(0x20001, &b),
       "the size word of a large block is not taken for a block");
    ok(shadow_put(0x27000, (struct block){.row = 8, .size = 40000}) &&
           shadow_put(0x26ff0, (struct block){.row = 9, .size = 100}),
       "a small block beside a large one is stored");
    ok(shadow_take(0x26ff0, &b) && b.row == 9 && !shadow_take(0x26ff0, &b) &&
           shadow_take(0x27000, &b) && b.row == 8 && b.size == 40000,
       "a small block and a large one beside it do not disturb each other");
    ok(shadow_put(0x20000, (struct block){.row = 7, .size = 0}) && shadow_take(0x20000, &b) &&
           b.size == 0,
       "a block of 0 bytes keeps its size");
    ok(!shadow_put(0x20004, (struct block){.row = 7, .size = 1}),
       "an address aligned to 4 is refused");
    ok(!shadow_put((uintptr_t)1 << PROCESSOR_ADDRESS_BITS, (struct block){.row = 7, .size = 1}),
       "addresses over 2^%d are refused", PROCESSOR_ADDRESS_BITS);
    ok(shadow_put(((uintptr_t)1 << PROCESSOR_ADDRESS_BITS) - 64,
                  (struct block){.row = 7, .size = 1}) &&
           shadow_take(((uintptr_t)1 << PROCESSOR_ADDRESS_BITS) - 64, &b) && b.row == 7,
       "an address just below the limit is accepted");
    insides();
    return done_testing();
}
