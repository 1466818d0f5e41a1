#!/bin/bash
# Leaks of programs that use musl: musl's own memory for the program leads to blocks
# as in programs of the GNU C library, and the scan comes before atexit's handlers.
. "${0%/*}/../lib.sh"

type musl-gcc >/dev/null 2>&1 || skip_all musl 'there is no musl-gcc'

cat >own.c <<'C'
#include <stdlib.h>
static __thread void *volatile late[100];
void keep(void *p)
{
    late[50] = p;
}
C
cat >late.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int __cxa_atexit(void (*)(void *), void *, void *);
static pthread_barrier_t both;
static void (*keep)(void *);
static void *volatile owner;
__attribute__((noinline)) static void *make(size_t n)
{
    void *p = malloc(n);
    __asm__ volatile("" : : "r"(p) : "memory");
    return p;
}
__attribute__((noinline)) static void clear(void)
{
    char junk[8192];
    memset(junk, 0, sizeof junk);
    __asm__ volatile("" : : "r"(junk) : "memory");
}
static void handler(void *p)
{
    (void)p;
}
static void disown(void)
{
    owner = NULL;
}
/* 22: a thread that was there before the library, 44: one that came later. */
static void *run(void *arg)
{
    if (!arg)
        pthread_barrier_wait(&both), pthread_barrier_wait(&both);
    keep(make(arg ? 44 : 22));
    clear();
    pthread_barrier_wait(&both);
    pause();
    return arg;
}
__attribute__((noinline)) static void all(void)
{
    pthread_t t;
    void *h;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&t, NULL, run, NULL);
    pthread_barrier_wait(&both);
    h = dlopen("./libown.so", RTLD_NOW);
    if (!h)
        exit(9);
    keep = (void (*)(void *))dlsym(h, "keep");
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    pthread_create(&t, NULL, run, h);
    pthread_barrier_wait(&both);
    keep(make(33));
    for (int i = 0; i < 100; i++)
        __cxa_atexit(handler, make(10), NULL);
    owner = make(55);
    atexit(disown);
    make(99);
}
int main(int argc, char **argv)
{
    all();
    clear();
    if (argc > 1)
        exit(0);
    return argv[0] ? 0 : 1;
}
C
for cc in musl-gcc "${CC:-gcc}"; do
    "$cc" -shared -fPIC -o libown.so own.c
    "$cc" -g -O1 -pthread -fno-optimize-sibling-calls -o late late.c -ldl
    for end in '' exit; do
        # shellcheck disable=SC2086 # one word or none
        run_expect_status 23 "flame leak of a program of $cc, ${end:-return}, ends with status 23" \
            "$FLAME" leak -o x.svg -- ./late $end
        file_has err '^flame: leak: 99 bytes in 1 block leaked, 0 allowed' \
            "$cc, ${end:-return}: only the lost block is a leak, none of thread-local data or handlers"
    done
done
done_testing
