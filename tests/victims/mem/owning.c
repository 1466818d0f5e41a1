/*
 * Waits for words on its standard input and answers each with a line, as attached.c does. After
 * "work" each of these members keeps a block of that size, by get:
 *
 *   server   .db 1001         .other[1][2] 1002    .pairs[3].dict 1003   .cache.lru.head 1004
 *            .either 1005     .plain 1006          .first 1007           .buffer[16] 1008
 *            .ends 1009
 *   slots    [3].next 1010
 *   kept     .last 1011       a static variable of a function
 *   padded   +0x8 1012        between members
 *   whole    1013             a pointer
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline, noclone))

typedef void *handle;
typedef const volatile handle fixed_handle;

struct pair {
    long key;
    void *dict;
};

struct {
    long n;
    struct pair *db;
    handle other[2][3];
    struct pair pairs[4];
    struct {
        long hits;
        struct {
            void *head, *tail;
        } lru;
    } cache;
    union {
        char tag;
        void *either;
        long number;
    };
    struct {
        fixed_handle plain;
    };
    union {
        void *first;
        char bytes[8];
    };
    _Alignas(8) char buffer[32];
    void *ends;
    unsigned bits : 3;
} server;

struct slot {
    long key;
    struct slot *next;
};
struct slot slots[5];

struct {
    char c;
    _Alignas(16) long l;
} padded;

void *whole;

static void *get(size_t size)
{
    void *p = calloc(1, size);

    if (!p)
        _exit(3);
    return p;
}

PLAIN static void fill_kept(void)
{
    static struct {
        long n[3];
        void *last;
    } kept;

    kept.last = get(1011);
    __asm__ volatile("" : : "r"(&kept) : "memory");
}

static void place(void *to, size_t size)
{
    void *p = get(size);

    memcpy(to, &p, sizeof p);
}

PLAIN static void work(void)
{
    server.db = get(1001);
    server.other[1][2] = get(1002);
    server.pairs[3].dict = get(1003);
    server.cache.lru.head = get(1004);
    server.either = get(1005);
    place((void *)&server.plain, 1006);
    server.first = get(1007);
    place(server.buffer + 16, 1008);
    server.ends = get(1009);
    slots[3].next = get(1010);
    fill_kept();
    place((char *)&padded + 8, 1012);
    whole = get(1013);
}

PLAIN static void overwrite(void)
{
    char room[16384];

    memset(room, 0, sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
}

int main(void)
{
    char word[16];

    while (scanf("%15s", word) == 1 && strcmp(word, "work") == 0) {
        work();
        overwrite();
        puts("done");
        fflush(stdout);
    }
    return 0;
}
