/*
 * Imitation of a Python interpreter: CPython 3.13's memory as unwind/python/pylayout.c describes
 * it, made by hand, so that it can also be broken as no interpreter's would be.
 *
 * Built twice. The library (-DLIBRARY; with -DFREE_THREADED as one without a GIL) has the symbols.
 * Into the data of the program (-fno-pie) the linker copies PyUnicode_Type, as in a program that
 * uses a text's type.
 *
 *   pseudopython names    functions of several kinds allocate: 100,000 bytes and more
 *   pseudopython reused   each allocation below another function, in memory of the one before
 *   pseudopython deep     100,000 bytes below 200,000 calls
 *   pseudopython rubbish  an allocation with each of many broken chains, and `survived` at the end
 *   pseudopython rubbish sleep  sleeps in place of allocations, of as many us as they would have
 * had bytes, but of 1 us with broken chains
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef LIBRARY
const unsigned long Py_Version = 0x030d00f0;
#ifdef FREE_THREADED
/* The beginning of _Py_DebugOffsets: version, and 1. */
char _PyRuntime[4096] __attribute__((aligned(64))) = "xdebugpy\0\0\0\0\x0d\x03\0\0\1";
#else
char _PyRuntime[4096] __attribute__((aligned(64)));
#endif
char PyCode_Type[64] __attribute__((aligned(64)));
char PyUnicode_Type[64] __attribute__((aligned(64)));

void *text_type(void)
{
    return PyUnicode_Type;
}

void *runtime(void)
{
    return _PyRuntime;
}

/* A frame of the interpreter's file is in each stack that runs Python. */
void rest(useconds_t us)
{
    usleep(us);
    __asm__ volatile("" : : : "memory");
}
#else

extern char PyCode_Type[64], PyUnicode_Type[64];
void *text_type(void), *runtime(void), rest(useconds_t us);

enum {
    PAGE = 4096,
    KEY = 2160,
    FRAMES = 72,
    THREAD = 152,
    FILENAME = 112,
    QUALNAME = 128,
    VERSION = 92
};
enum { OF_THREAD = 0, OF_C = 3 };
/* Offsets in _PyRuntime, PyInterpreterState and PyThreadState, by which a tracer finds the thread's
 * state.
 */
enum { INTERPRETERS = 632, THREADS = 7344, NATIVE = THREAD + 8, TYPE_NAME = 24 };

static int sleeps;

static inline __attribute__((always_inline)) void *memory(size_t size)
{
    if (!sleeps)
        return malloc(size);
    rest(sleeps == 1 ? (useconds_t)size : 1);
    return NULL;
}

struct frame {
    const void *code;
    const struct frame *previous;
    char other[54];
    char owner;
};
_Static_assert(offsetof(struct frame, owner) == 70, "as 3.13 has it");

struct text {
    uintptr_t references;
    const void *type;
    uintptr_t length, hash;
    uintptr_t state;
    char characters[500];
};
_Static_assert(offsetof(struct text, characters) == 40, "as 3.13 has it");

struct code {
    uintptr_t references;
    const void *type;
    char other[VERSION - 16];
    unsigned version;
    char more[FILENAME - VERSION - 4];
    const void *filename, *name, *qualname;
};
_Static_assert(offsetof(struct code, qualname) == QUALNAME, "as 3.13 has it");

static void *state; /* the thread's, at an address that the kernel chooses: in no page of a known
                     * number */

/* Stores a value that malloc's hook reads, which compilers do not expect. */
static void set(void *base, size_t offset, uintptr_t value)
{
    memcpy((char *)base + offset, &value, sizeof value);
    __asm__ volatile("" : : : "memory");
}

static const void *text(const char *characters)
{
    struct text *t = calloc(1, sizeof *t);

    *t = (struct text){.references = 1,
                       .type = text_type(),
                       .length = strlen(characters),
                       .hash = (uintptr_t)t,
                       .state = 1 << 2 | 1 << 5 | 1 << 6};
    memcpy(t->characters, characters, strlen(characters));
    return t;
}

static struct code *code(const void *qualname, const void *filename)
{
    struct code *c = calloc(1, sizeof *c);

    *c = (struct code){
        .references = 1, .type = PyCode_Type, .qualname = qualname, .filename = filename};
    return c;
}

/* The loop of the interpreter: runs frames up to `outermost`, the last. */
__attribute__((noinline)) static void *loop(struct frame *innermost, struct frame *outermost,
                                            size_t size)
{
    struct frame mark = {.owner = OF_C};
    void *block;

    outermost->previous = &mark;
    set(state, FRAMES, (uintptr_t)innermost);
    block = memory(size);
    set(state, FRAMES, 0);
    __asm__ volatile("" : : "r"(&mark) : "memory");
    return block;
}

static void names(void)
{
    const void *file = text("made.py"), *init = text("__init__");
    struct text *derived = calloc(1, sizeof *derived);
    struct frame outer = {.code = code(text("outer"), file)};
    struct frame own = {.code = code(init, init), .previous = &outer};
    struct frame inner = {.code = code(text("Class.__init__"), file), .previous = &own};
    struct frame odd = {.code = code(derived, file), .previous = &outer};

    derived->type = state;
    free(loop(&inner, &outer, 100000));
    free(loop(&odd, &outer, 110000));
}

/* Gives a text other contents of the same length. */
static void rewrite(struct text *t, const char *characters, uintptr_t hash)
{
    memcpy(t->characters, characters, strlen(characters));
    set(t, offsetof(struct text, hash), hash);
}

static void reused(void)
{
    struct text *name = (struct text *)text("first"), *file = (struct text *)text("here.py");
    struct code *c = code(name, file), *other = code(text("other"), file);
    struct frame outer = {.code = code(text("outer"), text("made.py"))};
    struct frame f = {.code = c, .previous = &outer}, between = {.code = other, .previous = &outer};

    free(loop(&f, &outer, 1000));
    rewrite(name, "again", 5); /* another function at the same address */
    free(loop(&f, &outer, 2000));
    rewrite(name, "third", UINTPTR_MAX); /* has no hash yet */
    free(loop(&f, &outer, 3000));
    rewrite(name, "forth", UINTPTR_MAX);
    free(loop(&f, &outer, 4000));
    rewrite(file, "away.py", 6);
    free(loop(&f, &outer, 5000));
    rewrite(name, "fifth", 7);
    c->version = 7;
    free(loop(&f, &outer, 6000));
    rewrite(name, "sixth", 8);
    set(c, offsetof(struct code, references), 9); /* the compiler must not merge what follows */
    c->version = 8;
    __asm__ volatile("" : : : "memory");
    free(loop(&f, &outer, 7000));
    f.previous = &between; /* the same innermost frame, called from elsewhere */
    free(loop(&f, &outer, 8000));
    f.previous = &outer;
    free(loop(&f, &outer, 9000));
    f.code = other;
    free(loop(&f, &outer, 10000));
    outer.code = other; /* only the outermost one differs */
    free(loop(&f, &outer, 11000));
}

static void deep(void)
{
    enum { DEPTH = 200000 };
    struct frame *frames = calloc(DEPTH + 1, sizeof *frames);
    const struct code *c = code(text("deeper"), text("made.py"));

    for (size_t i = 0; i < DEPTH; i++)
        frames[i] = (struct frame){.code = c, .previous = &frames[i + 1]};
    frames[DEPTH].code = code(text("outermost"), text("made.py"));
    free(loop(frames, &frames[DEPTH], 100000));
    free(frames);
}

static void chain_is(uintptr_t chain)
{
    void *volatile block; /* or compilers leave out both calls */

    set(state, FRAMES, chain);
    block = memory(1000);
    set(state, FRAMES, 0);
    free(block);
}

static void code_is(const void *broken)
{
    struct frame f = {.code = broken};

    free(loop(&f, &f, 2000));
}

static void rubbish(void)
{
    char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct frame circle = {.previous = &circle}, f = {.previous = NULL};
    struct code *c = code(text("fine"), text("made.py")), *last;
    struct text *t = (struct text *)text("fine");

    mprotect(pages + PAGE, PAGE, PROT_NONE);
    munmap(pages + 2 * PAGE, PAGE);
    for (uintptr_t low = 1; low < 2 * PAGE; low++)
        chain_is(low);
    for (uintptr_t bit = 0; bit < 64; bit++) {
        chain_is((uintptr_t)1 << bit);
        chain_is(-((uintptr_t)1 << bit));
    }
    for (uintptr_t i = 0; i <= 3 * PAGE; i += 4)
        chain_is((uintptr_t)pages + i);
    chain_is((uintptr_t)&circle);
    for (uintptr_t low = 0; low < PAGE; low += 8) {
        f.previous = (void *)low;
        chain_is((uintptr_t)&f);
        code_is((void *)low);
        c->qualname = (void *)low;
        code_is(c);
    }
    /* A code object, a text and its characters at the very end of readable memory. */
    for (size_t left = 8; left < 256; left += 8) {
        last = (struct code *)(pages + PAGE - left);
        memcpy(last, c, left < sizeof *c ? left : sizeof *c);
        code_is(last);
        t = (struct text *)last;
        if (left >= 40)
            t->state = 1 << 2 | 1 << 5 | 1 << 6;
        if (left >= 16)
            t->type = text_type();
        for (uintptr_t length = 1; left >= 40 && length; length <<= 1) {
            t->length = length;
            c->qualname = c->filename = t;
            t->hash = length;
            code_is(c);
            t->hash = UINTPTR_MAX; /* none yet */
            code_is(c);
        }
    }
    /* A chain in memory that was readable, and is unmapped then. */
    chain_is((uintptr_t)pages);
    munmap(pages, PAGE);
    chain_is((uintptr_t)pages);
    puts("survived");
}

int main(int argc, char **argv)
{
    pthread_key_t key;
    const char *what = argc > 1 ? argv[1] : "";
    static char interpreter[8192];

    state = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_key_create(&key, NULL);
    pthread_setspecific(key, state);
    set(state, THREAD, (uintptr_t)pthread_self());
    set((void *)PyCode_Type, TYPE_NAME, (uintptr_t) "code");
    set(text_type(), TYPE_NAME, (uintptr_t) "str");
    set(state, NATIVE, (uintptr_t)syscall(SYS_gettid));
    set(interpreter, THREADS, (uintptr_t)state);
    set(runtime(), INTERPRETERS, (uintptr_t)interpreter);
    sleeps = argc > 2 ? 1 + (strcmp(what, "rubbish") == 0) : 0;
    set(runtime(), KEY, (uintptr_t)key << 32 | 1);
    if ((void *)PyUnicode_Type != text_type())
        return 3; /* not linked as expected */
    if (strcmp(what, "names") == 0)
        names();
    else if (strcmp(what, "reused") == 0)
        reused();
    else if (strcmp(what, "deep") == 0)
        deep();
    else
        rubbish();
    return 0;
}
#endif
