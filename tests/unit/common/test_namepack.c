/* Names that a trace carries: they are read as they were written, also as bytes and added up. */
#include "common/trace/namepack.h"
#include "tests/tap.h"

static const uint8_t id[] = {0xab, 0xcd, 0xef, 0x01};

static struct namepack_frame frame(struct namepack *p, const char *name, const char *path,
                                   uint32_t line)
{
    return (struct namepack_frame){
        .name = namepack_add_string(p, name, strlen(name)),
        .path = path ? namepack_add_string(p, path, strlen(path)) : 0,
        .line = line,
    };
}

/* "a:/x.c:3 b" */
static const char *reported(const struct namepack *p, const struct namepack_module *m,
                            uint64_t vaddr)
{
    static char text[300];
    const struct namepack_place *place = m ? namepack_place(m, vaddr) : NULL;
    size_t len = 0;

    text[0] = '\0';
    if (!place)
        return "nobody asked";
    for (uint32_t i = 0; i < place->n; i++) {
        const struct namepack_frame *f = &namepack_frames(p, place)[i];

        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", i ? " " : "",
                                namepack_string(p, f->name).s);
        if (f->path)
            len += (size_t)snprintf(text + len, sizeof text - len, ":%s:%u",
                                    namepack_string(p, f->path).s, f->line);
    }
    return text;
}

static struct namepack *sample(void)
{
    struct namepack *p = namepack_new();
    struct namepack_module *m = namepack_module(p, "/usr/bin/app", id, sizeof id, 0);
    struct namepack_module *other = namepack_module(p, "/lib/x.so", NULL, 0, 77);
    struct namepack_frame frames[2];

    frames[0] = frame(p, "outer", "/src/a.c", 10);
    frames[1] = frame(p, "inner", "/src/a.h", 4294967295u);
    namepack_add_place(p, m, 0x2000, NAMEPACK_ASKED, frames, 2);
    namepack_add_place(p, m, 0x1000, NAMEPACK_ASKED, frames, 1);
    namepack_add_place(p, m, UINT64_MAX, NAMEPACK_ASKED, NULL, 0);
    namepack_add_place(p, other, 0, NAMEPACK_SIGRETURN, NULL, 0);
    namepack_add_object(
        other,
        &(struct namepack_object){
            .vaddr = 0x500, .offset = 8, .size = 40, .name = namepack_add_string(p, "lock", 4)});
    namepack_set_state(other, NAMEPACK_CHANGED);
    namepack_add_made(p, 42, 0x7f00, namepack_add_string(p, "LFoo;::bar\0baz", 14));
    namepack_finish(p);
    return p;
}

static void is_sample(const struct namepack *p, const char *what)
{
    const struct namepack_module *m = namepack_find_module(p, "/usr/bin/app", id, sizeof id, 0);
    const struct namepack_module *other = namepack_find_module(p, "/lib/x.so", NULL, 0, 77);
    const struct namepack_object *o = other ? namepack_object(other, 0x500) : NULL;
    struct namepack_counts c = namepack_count(p);

    is_str(reported(p, m, 0x1000), "outer:/src/a.c:10", "%s: an address has its function", what);
    is_str(reported(p, m, 0x2000), "outer:/src/a.c:10 inner:/src/a.h:4294967295",
           "%s: an address has its inlined functions", what);
    is_str(reported(p, m, UINT64_MAX), "", "%s: an address without a name has none", what);
    is_str(reported(p, m, 0x1001), "nobody asked",
           "%s: an address that was not looked up is unknown", what);
    ok(other && namepack_place(other, 0)->flags == NAMEPACK_SIGRETURN,
       "%s: a signal return keeps its flag", what);
    ok(o && o->offset == 8 && o->size == 40 && strcmp(namepack_string(p, o->name).s, "lock") == 0,
       "%s: an object has its name, offset and size", what);
    ok(other && !namepack_object(other, 0x501), "%s: an address beside an object finds none", what);
    ok(m && namepack_state(m) == NAMEPACK_THERE && namepack_state(other) == NAMEPACK_CHANGED,
       "%s: modules have the state of their files", what);
    is_int((intmax_t)namepack_string(p, namepack_made(p, 42, 0x7f00)).len, 14,
           "%s: JIT code has its name", what);
    ok(!namepack_made(p, 42, 0x7f01) && !namepack_made(p, 43, 0x7f00),
       "%s: another address or process has no JIT name", what);
    ok(namepack_has_made(p, 42) && !namepack_has_made(p, 43),
       "%s: only the process with JIT code has some", what);
    ok(c.modules == 2 && c.places == 3 && c.named == 2,
       "%s: modules, places and named places are counted", what);
    ok(!namepack_find_module(p, "/usr/bin/app", id, sizeof id - 1, 0) &&
           !namepack_find_module(p, "/lib/x.so", NULL, 0, 78),
       "%s: another build id is another module", what);
}

static void bytes(void)
{
    struct namepack *p = sample(), *q = namepack_new();
    struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;
    size_t refused = 0;

    is_sample(p, "as made");
    namepack_encode(p, &a);
    ok(namepack_decode(q, (const uint8_t *)a.buf, a.len),
       "namepack_decode reads the bytes of namepack_encode");
    namepack_finish(q);
    is_sample(q, "from bytes");
    namepack_free(q);
    for (size_t len = 0; len < a.len; len++) {
        q = namepack_new();
        refused += !namepack_decode(q, (const uint8_t *)a.buf, len);
        namepack_free(q);
    }
    is_int((intmax_t)refused, (intmax_t)a.len, "namepack_decode refuses truncated bytes");
    strbuf_addch(&a, '\0');
    q = namepack_new();
    ok(!namepack_decode(q, (const uint8_t *)a.buf, a.len),
       "namepack_decode refuses an excess byte");
    namepack_free(q);
    namepack_encode(p, &b);
    b.buf[0] = 2;
    q = namepack_new();
    ok(!namepack_decode(q, (const uint8_t *)b.buf, b.len),
       "namepack_decode refuses another version");
    namepack_free(q);
    namepack_free(p);
    strbuf_release(&a);
    strbuf_release(&b);
}

/* Each module has a copy of its path, so a few bytes could ask for gigabytes. */
static void greedy(void)
{
    struct strbuf a = STRBUF_INIT;
    struct namepack *p = namepack_new();
    uint8_t number[10];

    strbuf_add(&a, "\1\1", 2);
    strbuf_add(&a, number, (size_t)(trace_put_number(number, 60000) - number));
    for (size_t i = 0; i < 60000; i++)
        strbuf_addch(&a, '/');
    strbuf_add(&a, number, (size_t)(trace_put_number(number, 2000) - number));
    for (size_t i = 0; i < 2000; i++) {
        strbuf_add(&a, "\1\0", 2); /* the path, no build-id, a layout of its own */
        strbuf_add(&a, number, (size_t)(trace_put_number(number, i + 1) - number));
        strbuf_add(&a, "\0\0\0", 3);
    }
    strbuf_addch(&a, '\0');
    ok(!namepack_decode(p, (const uint8_t *)a.buf, a.len),
       "namepack_decode refuses 2,000 modules with one long path");
    ok(namepack_count(p).modules < 100,
       "namepack_decode of 2,000 modules with one long path makes few of them");
    namepack_free(p);
    strbuf_release(&a);
}

/* Many traces with nearly the same names. */
static void added(void)
{
    struct namepack *sum = namepack_new(), *one = sample();
    struct namepack_frame f[2];
    struct namepack_module *m;
    size_t wrong = 0;

    namepack_add(sum, one);
    namepack_add(sum, one);
    namepack_finish(sum);
    is_sample(sum, "twice");
    for (uint64_t trace = 0; trace < 50; trace++) {
        struct namepack *p = namepack_new();

        m = namepack_module(p, "/usr/bin/app", id, sizeof id, 0);
        for (uint64_t at = 0; at < 1000; at++) {
            char name[32];

            snprintf(name, sizeof name, "f%d", (int)(at + trace));
            f[0] = frame(p, name, NULL, 0);
            namepack_add_place(p, m, 0x10000 + 8 * (at + trace), NAMEPACK_ASKED, f, 1);
        }
        namepack_finish(p);
        namepack_add(sum, p);
        namepack_free(p);
    }
    namepack_finish(sum);
    m = namepack_module(sum, "/usr/bin/app", id, sizeof id, 0);
    for (uint64_t at = 0; at < 1049; at++) {
        char name[32];

        snprintf(name, sizeof name, "f%d", (int)at);
        wrong += WRONG(strcmp(reported(sum, m, 0x10000 + 8 * at), name) != 0, at);
    }
    is_int((intmax_t)wrong, 0, "merged names of 50 traces: each address has its name");
    is_int((intmax_t)namepack_count(sum).places, 3 + 1049,
           "merged names of 50 traces: each address is stored once");
    is_str(reported(sum, m, 0x2000), "outer:/src/a.c:10 inner:/src/a.h:4294967295",
           "merged names of 50 traces: the first trace's names remain");

    /* The entry with more frames wins, the old one or the new one. */
    f[0] = frame(sum, "outer", NULL, 0);
    f[1] = frame(sum, "better", NULL, 0);
    namepack_add_place(sum, m, 0x2000, NAMEPACK_SIGRETURN, f, 1);
    namepack_add_place(sum, m, 0x1000, NAMEPACK_ASKED, f, 2);
    namepack_finish(sum);
    is_str(reported(sum, m, 0x2000), "outer:/src/a.c:10 inner:/src/a.h:4294967295",
           "a place with more frames is not replaced by one with fewer");
    is_str(reported(sum, m, 0x1000), "outer better",
           "a place with fewer frames is replaced by one with more");
    is_int(namepack_place(m, 0x2000)->flags, NAMEPACK_ASKED | NAMEPACK_SIGRETURN,
           "the flags of a place are combined");
    namepack_free(one);
    namepack_free(sum);
}

int main(void)
{
    bytes();
    greedy();
    added();
    return done_testing();
}
