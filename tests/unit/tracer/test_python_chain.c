/*
 * Interpreters made by hand, in this process's own memory, for each known layout: functions, their
 * marks and their names; and the same broken.
 */
#define _GNU_SOURCE
#include "tracer/stacks/python_chain.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/pages.h"
#include "tests/tap.h"

enum {
    AT_STATE = 0,
    AT_CFRAMES = 1024,
    AT_FRAMES = 2048,
    AT_CODES = 8192,
    AT_TEXTS = 16384,
    SIZE = 65536
};
enum { FRAME = 128, CODE = 512, TEXT = 1024 };

static struct {
    const struct pylayout *l;
    uint8_t *memory; /* on pages of its own */
    uint8_t runtime[1024], interp[8192];
    uint8_t code_type[64], text_type[64];
    unsigned long version;
    struct python_chains *c;
    struct python_process p;
} g;

static void put(void *at, size_t offset, uintptr_t word)
{
    memcpy((uint8_t *)at + offset, &word, sizeof word);
}

static uint8_t *at(unsigned place, unsigned i, unsigned size)
{
    return g.memory + place + (size_t)i * size;
}

static uintptr_t text(unsigned i, const char *ascii, uint64_t hash)
{
    uint8_t *t = at(AT_TEXTS, i, TEXT);

    put(t, 0, 1);
    put(t, 8, (uintptr_t)g.text_type);
    put(t, 16, strlen(ascii));
    put(t, 24, hash);
    put(t, 32, 1u << 2 | 1u << 5 | 1u << 6);
    memcpy(t + g.l->text_bytes, ascii, strlen(ascii));
    return (uintptr_t)t;
}

/* Code object `i`, of a function with that name. */
static uintptr_t code(unsigned i, const char *name, uint32_t version)
{
    uint8_t *o = at(AT_CODES, i, CODE);

    memset(o, 0, CODE);
    put(o, 0, 1);
    put(o, 8, (uintptr_t)g.code_type);
    put(o, g.l->code_filename, text(0, "a.py", 77));
    put(o, g.l->code_qualname, text(1 + i, name, UINT64_MAX));
    if (g.l->code_version)
        memcpy(o + g.l->code_version, &version, sizeof version);
    return (uintptr_t)o;
}

static uintptr_t frame(unsigned i, uintptr_t of, uintptr_t previous, bool entry)
{
    uint8_t *f = at(AT_FRAMES, i, FRAME);

    put(f, g.l->frame_code, of);
    put(f, g.l->frame_previous, previous);
    f[g.l->frame_entry] = entry ? g.l->entry_is : 0;
    return (uintptr_t)f;
}

/* The _PyCFrame number i. */
static uintptr_t cframe(unsigned i, uintptr_t current, uintptr_t previous)
{
    uint8_t *c = at(AT_CFRAMES, i, FRAME);

    put(c, g.l->cframe_current, current);
    put(c, g.l->cframe_previous, previous);
    return (uintptr_t)c;
}

/*
 * <module> and outer in one native frame, inner in another. marks[0] is of inner, marks[1] of the
 * other two.
 */
static void make_interpreter(uintptr_t marks[2])
{
    uintptr_t module = code(0, "<module>", 1), outer = code(1, "outer", 2),
              inner = code(2, "C.inner", 3);
    uintptr_t root, first;

    if (g.l->entry_is_a_frame) {
        frame(0, module, 0, true);
        first = frame(1, outer, (uintptr_t)at(AT_FRAMES, 0, FRAME), false);
        root = cframe(0, 0, 0);
        marks[1] = cframe(1, first, root);
        marks[0] = cframe(2, frame(2, inner, first, true), marks[1]);
        put(at(AT_STATE, 0, 1), g.l->state_frames, marks[0]);
        return;
    }
    marks[1] = frame(0, 0, 0, true);
    frame(1, module, marks[1], false);
    first = frame(2, outer, (uintptr_t)at(AT_FRAMES, 1, FRAME), false);
    marks[0] = frame(3, 0, first, true);
    first = frame(4, inner, marks[0], false);
    put(at(AT_STATE, 0, 1), g.l->state_frames, g.l->has_cframes ? cframe(0, first, 0) : first);
}

static void begin(uint32_t version)
{
    static const char *const names[] = {"code", "str"};

    g.l = pylayout_of(version);
    g.version = (unsigned long)version << 16 | 0xf0;
    g.memory = pages_alloc(SIZE);
    memset(g.interp, 0, sizeof g.interp);
    memset(g.runtime, 0, sizeof g.runtime);
    put(g.code_type, 24, (uintptr_t)names[0]);
    put(g.text_type, 24, (uintptr_t)names[1]);
    put(g.runtime, g.l->runtime_interpreters, (uintptr_t)g.interp);
    put(g.interp, g.l->interp_threads, (uintptr_t)at(AT_STATE, 0, 1));
    put(g.interp, g.l->interp_threads - 8u, 1);
    put(at(AT_STATE, 0, 1), g.l->state_thread + 8u, (uintptr_t)gettid());
    g.p = (struct python_process){
        .pid = getpid(), .at = {.runtime = (uintptr_t)g.runtime, .version = (uintptr_t)&g.version}};
    g.c = python_chains_new();
}

static void end(void)
{
    python_chains_free(g.c);
    pages_free(g.memory, SIZE);
}

static size_t read_chain(const struct python_function **f)
{
    return python_chain_read(g.c, &g.p, gettid(), 1, f);
}

static bool is_named(const struct python_function *f, const char *name)
{
    return f->name && f->name->len == strlen(name) &&
           memcmp(f->name->text, name, f->name->len) == 0;
}

/* The functions of the chain: up to three names, innermost first, those of the interpreter's left
 * out. */
static bool has(const char *inner, const char *middle, const char *outer)
{
    const char *const want[] = {inner, middle, outer};
    const struct python_function *f;
    size_t n = read_chain(&f), k = 0;

    for (size_t i = 0; i < n; i++)
        if (f[i].name && (k == 3 || !want[k] || !is_named(&f[i], want[k++])))
            return false;
    return k == 3 || !want[k];
}

#define INNER "py::C.inner:a.py"
#define OUTER "py::outer:a.py"
#define MODULE "py::<module>:a.py"

static void test_chain(uint32_t version)
{
    const struct python_function *f;
    uintptr_t marks[2];
    unsigned minor = version & 0xff;

    begin(version);
    make_interpreter(marks);
    ok(read_chain(&f) == 3 && is_named(&f[0], INNER) && is_named(&f[1], OUTER) &&
           is_named(&f[2], MODULE),
       "3.%u: a chain has its functions", minor);
    ok(f[0].mark == marks[0] && f[1].mark == marks[1] && f[2].mark == marks[1],
       "3.%u: each function has the mark of its native frame", minor);
    ok(has(INNER, OUTER, MODULE), "3.%u: a second reading, by the plan, has the same", minor);
    code(2, "D.other", 4);
    ok(has("py::D.other:a.py", OUTER, MODULE),
       "3.%u: another code object at the same address has its own name", minor);
    code(2, "__init__", 5);
    put(at(AT_CODES, 2, CODE), g.l->code_filename, (uintptr_t)at(AT_TEXTS, 3, TEXT));
    ok(version >= 0x30d ? has(OUTER, MODULE, NULL) : has("py::__init__:__init__", OUTER, MODULE),
       "3.%u: a function of the interpreter's own is %s", minor,
       version >= 0x30d ? "left out" : "a function");
    put(at(AT_CODES, 2, CODE), 0, 0);
    ok(has(OUTER, MODULE, NULL), "3.%u: a code object without references has no name", minor);
    end();
}

static void test_states(uint32_t version)
{
    const struct python_function *f;
    unsigned minor = version & 0xff;
    uint8_t other[512] = {0};
    uintptr_t marks[2];

    begin(version);
    make_interpreter(marks);
    put(at(AT_STATE, 0, 1), g.l->state_thread + 8u, 1);
    ok(!read_chain(&f), "3.%u: a thread without a state runs no Python", minor);
    put(at(AT_STATE, 0, 1), g.l->state_thread + 8u, (uintptr_t)gettid());
    ok(!read_chain(&f) || !read_chain(&f) || read_chain(&f),
       "3.%u: its number in a known state is seen", minor);
    put(at(AT_STATE, 0, 1), g.l->state_thread + 8u, 1);
    put(g.interp, g.l->interp_threads, (uintptr_t)other);
    put(g.interp, g.l->interp_threads - 8u, 2);
    put(other, PYLAYOUT_STATE_NEXT, (uintptr_t)at(AT_STATE, 0, 1));
    ok(!read_chain(&f), "3.%u: the state of another thread is not taken", minor);
    put(at(AT_STATE, 0, 1), g.l->state_thread + 8u, (uintptr_t)gettid());
    put(g.interp, g.l->interp_threads - 8u, 3);
    ok(read_chain(&f) == 3, "3.%u: a new thread's state is found", minor);
    end();
}

/* Nothing may end the process, or run for ever. */
static void test_broken(uint32_t version)
{
    const struct python_function *f;
    unsigned minor = version & 0xff;
    uintptr_t marks[2], first;

    begin(version);
    make_interpreter(marks);
    first = (uintptr_t)at(AT_FRAMES, 2, FRAME);
    frame(2, (uintptr_t)at(AT_CODES, 0, CODE), first, false);
    if (g.l->entry_is_a_frame)
        cframe(2, first, marks[1]);
    ok(read_chain(&f) <= PYTHON_FUNCTIONS_MOST, "3.%u: a frame that leads to itself ends", minor);
    make_interpreter(marks);
    code(2, "C.inner", 9);
    put(at(AT_CODES, 2, CODE), g.l->code_qualname, 1);
    ok(has("py::?:a.py", OUTER, MODULE), "3.%u: a name that cannot be read is a question mark",
       minor);
    put(at(AT_STATE, 0, 1), g.l->state_frames, 8);
    ok(!read_chain(&f), "3.%u: an address that is not mapped yields nothing", minor);
    put(at(AT_STATE, 0, 1), g.l->state_thread + 8u, 1);
    put(at(AT_STATE, 0, 1), PYLAYOUT_STATE_NEXT, (uintptr_t)at(AT_STATE, 0, 1));
    put(g.interp, g.l->interp_next, (uintptr_t)g.interp);
    ok(!read_chain(&f), "3.%u: lists that lead to themselves end", minor);
    end();
}

static void test_unknown(void)
{
    const struct python_function *f;
    uintptr_t marks[2];

    begin(PYLAYOUT_ANY);
    make_interpreter(marks);
    g.version = 0x030a00f0;
    ok(!read_chain(&f), "an unknown version yields nothing");
    g.p.at.version = 0;
    ok(!read_chain(&f), "an interpreter without a version yields nothing");
    end();
}

int main(void)
{
    static const uint32_t versions[] = {0x30b, 0x30c, 0x30d, 0x30e, 0x30f};

    if (!pylayout_of(PYLAYOUT_ANY)) {
        ok(true, "no version is known for this processor");
        return done_testing();
    }
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        test_chain(versions[i]);
        test_states(versions[i]);
        test_broken(versions[i]);
    }
    test_unknown();
    return done_testing();
}
