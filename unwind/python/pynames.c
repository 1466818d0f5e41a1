/*
 * Names of Python's functions. The texts are read in the trace, as in user_names.c. Two texts of
 * Python's at one address are distinguished by length and hash. The interpreter stores the hash in
 * the text; if there is none yet, one is computed.
 */
#include "unwind/python/pynames.h"

#include "common/hash.h"
#include "common/pages.h"
#include "unwind/python/pyhost.h"

#define FIRST_SIZE 256u
#define QUALNAME_MOST 400u
#define NAME_MOST 1000u

/* ---- known names ---- */

static struct {
    uint32_t n, size; /* of `names`, a hash table; a power of two, or 0 */
    struct pyname {
        const char *text; /* NULL: the slot is free */
        uint64_t pc;
        uint32_t len, hash;
    } * names;
} g;

static uint32_t traces;

static struct pyname *place_of(const char *text, uint32_t len, uint32_t hash)
{
    uint32_t at = hash & (g.size - 1);

    for (; g.names[at].text; at = (at + 1) & (g.size - 1))
        if (g.names[at].hash == hash && g.names[at].len == len &&
            memcmp(g.names[at].text, text, len) == 0)
            break;
    return &g.names[at];
}

static bool make_room(void)
{
    uint32_t size = g.size;
    struct pyname *old = g.names;

    if (g.n < size / 2)
        return true;
    g.size = size ? 2 * size : FIRST_SIZE;
    g.names = pages_alloc(g.size * sizeof *g.names);
    if (!g.names) {
        g.names = old;
        g.size = size;
        return false;
    }
    for (uint32_t i = 0; i < size; i++)
        if (old[i].text)
            *place_of(old[i].text, old[i].len, old[i].hash) = old[i];
    if (old)
        pages_free(old, size * sizeof *old);
    return true;
}

static uint64_t find_or_add(const char *text, uint32_t len)
{
    uint64_t mixed = fnv_bytes(FNV_BASIS, text, len);
    uint32_t hash = (uint32_t)(mixed ^ mixed >> 32);
    struct pyname *name;
    uint64_t pc;
    const char *there;

    if (!make_room())
        return 0;
    name = place_of(text, len, hash);
    if (name->text)
        return name->pc;
    there = pyhost_store(text, len, &pc);
    if (!there)
        return 0;
    *name = (struct pyname){there, pc, len, hash};
    g.n++;
    return name->pc;
}

/* A thread that the child does not have may have been changing the names, also the first one, so
 * nothing is freed. */
void pynames_after_fork(void)
{
    traces++;
    pyhost_after_fork();
    memset(&g, 0, sizeof g);
}

/* ---- Python's texts ---- */

/* A PyUnicode whose characters follow it. */
struct pytext {
    uintptr_t characters;
    uintptr_t length; /* in characters */
    uint32_t width;   /* bytes of one: 1, 2 or 4 */
    bool ascii;
    bool hashed; /* by the interpreter */
    uint64_t stamp;
};

/* Bytes of a text that are hashed if the interpreter has not hashed it yet. */
#define HASHED_MOST ((size_t)4096)

static size_t hashed_size(const struct pytext *text)
{
    size_t size = text->length * text->width;

    return size < HASHED_MOST ? size : HASHED_MOST;
}

/* Reads what comes before the characters: length, hash, and bits: how it is interned (2), the width
 * (3), whether the characters follow it (1), and whether they are ASCII (1). */
static inline bool read_head(const struct pylayout *l, uintptr_t at, struct pytext *text)
{
    uintptr_t state = py_word(at, PYTEXT_STATE);

    text->length = py_word(at, PYTEXT_LENGTH);
    text->width = state >> 2 & 7;
    text->ascii = state >> 6 & 1;
    text->characters = at + (text->ascii ? l->text_bytes : l->text_others);
    return (state >> 5 & 1) && (text->width == 1 || text->width == 2 || text->width == 4) &&
           text->length <= UINT32_MAX;
}

/* Hash of the characters; 0: they cannot be read. */
static inline uint64_t hash_characters(struct pypages *pages, const struct pytext *text)
{
    size_t size = hashed_size(text);

    if (!pypages_have(pages, text->characters, size ? size : 1))
        return 0;
    return pynames_hash_bytes((const uint8_t *)text->characters, size) | 1; /* NOLINT */
}

static bool read_text(const struct python *py, struct pypages *pages, uintptr_t at,
                      struct pytext *text)
{
    uint64_t hash;

    if (unlikely(at % sizeof at || !pypages_have(pages, at, PYTEXT_SIZE) ||
                 py_word(at, 8) != py->text_type || !read_head(py->layout, at, text)))
        return false;
    hash = py_word(at, PYTEXT_HASH);
    text->hashed = hash != UINT64_MAX;
    if (unlikely(!text->hashed) && !(hash = hash_characters(pages, text)))
        return false;
    text->stamp = pynames_stamp(hash, text->length);
    return true;
}

static struct kept_text kept_text_of(uintptr_t at, const struct pytext *text)
{
    uint32_t size = text->hashed ? 0 : (uint32_t)hashed_size(text);

    return (struct kept_text){at, text->stamp, text->characters, size};
}

static bool are_same(const struct kept_text *a, const struct kept_text *b)
{
    return a->at == b->at && a->stamp == b->stamp;
}

/* Reads a code object's text. A text of a class that is derived from str is stored in another
 * way and read as "?"; its function is in stacks all the same. */
static void read_text_of_code(const struct python *py, struct pypages *pages, uintptr_t at,
                              struct pytext *text)
{
    static const char none[] = "?";

    if (unlikely(!read_text(py, pages, at, text)))
        *text = (struct pytext){.characters = (uintptr_t)none,
                                .length = 1,
                                .width = 1,
                                .ascii = true,
                                .stamp = PYNAMES_UNREADABLE};
}

/* Whether the function is the interpreter's own. From 3.13 on such a function may come between a
 * class and its __init__. Its code has one text for all its names; tracebacks skip it, too. */
static bool is_interpreters_own(const struct python *py, struct pypages *pages,
                                const struct pycode *code, const struct pytext *qualname)
{
    static const char init[] = "__init__";
    enum { LENGTH = sizeof init - 1 };

    return py->layout->version >= 0x30d && code->qualname.at == code->filename.at &&
           qualname->ascii && qualname->length == LENGTH &&
           pypages_have(pages, qualname->characters, LENGTH) &&
           memcmp((const void *)qualname->characters, init, LENGTH) == 0; /* NOLINT */
}

struct room {
    char *at, *end;
};

static uint32_t character(const struct pytext *text, uintptr_t i)
{
    uintptr_t at = text->characters + i * text->width;

    if (text->width == 1)
        return *(const uint8_t *)at;                                         /* NOLINT */
    return text->width == 2 ? *(const uint16_t *)at : *(const uint32_t *)at; /* NOLINT */
}

/* Appends a character as UTF-8. False: there is no room, and the text is truncated. */
static bool put(struct room *r, uint32_t c)
{
    unsigned n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};

    if ((size_t)(r->end - r->at) < n)
        return false;
    for (unsigned i = n; i-- > 1; c >>= 6)
        r->at[i] = (char)(0x80 | (c & 0x3f));
    r->at[0] = (char)(first[n] | c);
    r->at += n;
    return true;
}

/* Appends at most `most` bytes of the text. */
static bool put_text(struct room *r, struct pypages *pages, const struct pytext *text, size_t most)
{
    struct room part = {r->at, r->end};

    if ((size_t)(r->end - r->at) > most)
        part.end = r->at + most;
    for (uintptr_t i = 0; i < text->length; i++)
        if (!pypages_have(pages, text->characters + i * text->width, text->width) ||
            !put(&part, character(text, i)))
            break;
    r->at = part.at;
    return true;
}

/* Sets *pc to the name; 0: there is no room for it. False: it cannot be added now. */
static bool make_name(struct pypages *pages, const struct pytext *qualname,
                      const struct pytext *filename, uint64_t *pc)
{
    char text[NAME_MOST];
    struct room r = {text, text + sizeof text};

    *pc = 0;
    memcpy(r.at, "py::", 4);
    r.at += 4;
    put_text(&r, pages, qualname, QUALNAME_MOST);
    *r.at++ = ':';
    put_text(&r, pages, filename, sizeof text);
    if (!pyhost_begin_names())
        return false;
    *pc = find_or_add(text, (uint32_t)(r.at - text));
    pyhost_end_names();
    return true;
}

uint32_t pynames_trace(void)
{
    return traces;
}

void pynames_of(struct pycodes *codes, const struct python *py, struct pypages *pages,
                uintptr_t code, struct pycode *out)
{
    struct pycode *known = &codes->known[(code * HASH_GOLDEN >> 32) % PYCODES];
    const struct pylayout *l = py->layout;
    struct pytext qualname, filename;
    uintptr_t at;

    *out = (struct pycode){.code = 0};
    if (unlikely(codes->trace != traces))
        *codes = (struct pycodes){.trace = traces};
    /* A code object without a reference is being destroyed. */
    if (unlikely(code % sizeof code || !pypages_have(pages, code, l->code_qualname + sizeof code) ||
                 !py_word(code, 0) || py_word(code, 8) != py->code_type))
        return;
    out->code = code;
    out->line = *(const uint32_t *)(code + l->code_first_line); /* NOLINT */
    if (l->code_version)
        out->version = *(const uint32_t *)(code + l->code_version); /* NOLINT */
    at = py_word(code, l->code_qualname);
    read_text_of_code(py, pages, at, &qualname);
    out->qualname = kept_text_of(at, &qualname);
    at = py_word(code, l->code_filename);
    if (codes->filename.at != at) {
        read_text_of_code(py, pages, at, &filename);
        codes->filename = kept_text_of(at, &filename);
    }
    out->filename = codes->filename;
    if (likely(known->code == code && known->line == out->line &&
               are_same(&known->qualname, &out->qualname) &&
               are_same(&known->filename, &out->filename))) {
        out->pc = known->pc;
        return;
    }
    if (unlikely(is_interpreters_own(py, pages, out, &qualname)))
        return;
    read_text_of_code(py, pages, at, &filename);
    if (!make_name(pages, &qualname, &filename, &out->pc))
        out->code = 0; /* it will be read again */
    if (out->pc)
        *known = *out;
}
