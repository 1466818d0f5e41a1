#include "tracer/stacks/python_names.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "common/alloc.h"
#include "common/hash.h"
#include "common/strbuf.h"
#include "common/utf8.h"

/* Limits of bytes of a name, and of its first part. */
#define QUALNAME_MOST 400u
#define NAME_MOST 1000u

/* PyASCIIObject, and the name of a type. */
#define TEXT_LENGTH 16
#define TEXT_HASH 24
#define TEXT_STATE 32
#define TEXT_SIZE 40
#define TYPE_NAME 24

struct entry {
    UT_hash_handle hh;
    struct python_name name; /* last: its text follows */
};

struct python_names {
    struct entry *known;
    struct entry **all; /* by number, less 1 */
    size_t n, room;
};

struct python_names *python_names_new(void)
{
    return xcalloc(1, sizeof(struct python_names));
}

void python_names_free(struct python_names *n)
{
    struct entry *e, *next;

    if (!n)
        return;
    HASH_ITER (hh, n->known, e, next) {
        HASH_DEL(n->known, e);
        free(e);
    }
    free(n->all);
    free(n);
}

const struct python_name *python_names_intern(struct python_names *n, const char *text, size_t len)
{
    struct entry *e;

    HASH_FIND(hh, n->known, text, len, e);
    if (e)
        return &e->name;
    e = xmalloc(sizeof *e + len);
    GROW(n->all, n->n, n->room);
    n->all[n->n++] = e;
    e->name.len = len;
    e->name.number = (uint32_t)n->n;
    memcpy(e->name.text, text, len);
    HASH_ADD_KEYPTR(hh, n->known, e->name.text, len, e);
    return &e->name;
}

const struct python_name *python_names_at(const struct python_names *n, uint32_t number)
{
    return number && number <= n->n ? &n->all[number - 1]->name : NULL;
}

/* ---- memory ---- */

/* Whether the type at `type` is the one that the interpreter calls `name`. A program that uses the
 * type may have a copy of it in its own data, so its address is not compared. */
static bool is_type(struct memory_pieces *p, uintptr_t type, const char *name)
{
    char text[8] = {0};
    uintptr_t at;

    return type % sizeof type == 0 && memory_pieces_read(p, type + TYPE_NAME, &at, sizeof at) &&
           memory_pieces_read(p, at, text, strlen(name) + 1) && strcmp(text, name) == 0;
}

static uintptr_t word_in(const uint8_t *bytes, size_t at)
{
    uintptr_t word;

    memcpy(&word, bytes + at, sizeof word);
    return word;
}

static uint32_t half_in(const uint8_t *bytes, size_t at)
{
    uint32_t half;

    memcpy(&half, bytes + at, sizeof half);
    return half;
}

/* ---- texts ---- */

/* A str object. Its bits say how it is interned (2), the bytes of a character (3), whether the
 * characters follow it (1) and whether they are ASCII (1). A text of a class that is derived from
 * str is stored in another way. */
struct text {
    uint32_t width;
    size_t n; /* characters in `chars` */
    uint8_t chars[PIECE_MOST];
};

/* Reads the characters of the str object at `at`, whose head has been read, up to a limit. */
static bool read_chars(struct text *t, struct memory_pieces *p, const struct pylayout *l,
                       uintptr_t at, const uint8_t head[TEXT_SIZE])
{
    uint32_t state = half_in(head, TEXT_STATE);
    uintptr_t length = word_in(head, TEXT_LENGTH);

    t->width = state >> 2 & 7;
    t->n = length < NAME_MOST ? length : NAME_MOST;
    return (state >> 5 & 1) && (t->width == 1 || t->width == 2 || t->width == 4) &&
           (!t->n || memory_pieces_read(p, at + (state >> 6 & 1 ? l->text_bytes : l->text_others),
                                        t->chars, t->n * t->width));
}

static void read_text_identity(struct memory_pieces *p, const struct pylayout *l,
                               struct text_identity *id)
{
    uint8_t head[TEXT_SIZE];
    struct text t;

    if (id->at % sizeof id->at || !memory_pieces_read(p, id->at, head, sizeof head))
        return;
    id->length = word_in(head, TEXT_LENGTH);
    id->hash = word_in(head, TEXT_HASH);
    if (id->hash == UINT64_MAX && read_chars(&t, p, l, id->at, head))
        id->hash = fnv_bytes(FNV_BASIS, t.chars, t.n * t.width);
}

/* Appends a character. False: there would be more than `most` bytes. */
static bool put(struct strbuf *sb, uint32_t cp, size_t most)
{
    char bytes[4];
    size_t n = cp <= 0x10ffff ? utf8_encode(bytes, cp) : utf8_encode(bytes, '?');

    if (sb->len + n > most)
        return false;
    strbuf_add(sb, bytes, n);
    return true;
}

/* Appends the str object at `at`, until there are `most` bytes. */
static void put_text(struct strbuf *sb, struct memory_pieces *p, const struct pylayout *l,
                     uintptr_t at, size_t most)
{
    uint8_t head[TEXT_SIZE];
    struct text t;

    if (at % sizeof at || !memory_pieces_read(p, at, head, sizeof head) ||
        !is_type(p, word_in(head, 8), "str") || !read_chars(&t, p, l, at, head)) {
        put(sb, '?', most);
        return;
    }
    for (size_t i = 0; i < t.n; i++) {
        uint32_t cp = t.chars[i * t.width];

        for (uint32_t b = 1; b < t.width; b++)
            cp |= (uint32_t)t.chars[i * t.width + b] << 8 * b;
        if (!put(sb, cp, most))
            return;
    }
}

/* ---- code objects ---- */

bool code_identity_read(struct code_identity *id, struct memory_pieces *p, const struct pylayout *l,
                        uintptr_t code)
{
    uint8_t bytes[PIECE_MOST];
    size_t size = (size_t)l->code_qualname + sizeof(uintptr_t);

    *id = (struct code_identity){.code = code};
    /* A code object without a reference is being destroyed. */
    if (!code || code % sizeof code || size > sizeof bytes ||
        !memory_pieces_read(p, code, bytes, size) || !word_in(bytes, 0) ||
        !is_type(p, word_in(bytes, 8), "code"))
        return false;
    id->line = half_in(bytes, l->code_first_line);
    id->version = l->code_version ? half_in(bytes, l->code_version) : 0;
    id->qualname.at = word_in(bytes, l->code_qualname);
    id->filename.at = word_in(bytes, l->code_filename);
    if (!id->version) {
        read_text_identity(p, l, &id->qualname);
        read_text_identity(p, l, &id->filename);
    }
    return true;
}

static bool same_text(const struct text_identity *a, const struct text_identity *b)
{
    return a->at == b->at && a->length == b->length && a->hash == b->hash;
}

bool code_identity_same(const struct code_identity *a, const struct code_identity *b)
{
    if (a->code != b->code || a->version != b->version || a->line != b->line)
        return false;
    return a->version ||
           (same_text(&a->qualname, &b->qualname) && same_text(&a->filename, &b->filename));
}

/* ---- names ---- */

/* From 3.13 on a function of the interpreter's own may come between a class and its __init__. Its
 * code has one text for all its names; tracebacks skip it, too. */
static bool is_interpreters_own(const struct pylayout *l, const struct code_identity *id,
                                const struct strbuf *name)
{
    return l->version >= 0x30d && id->qualname.at == id->filename.at &&
           strncmp(name->buf, "py::__init__:", 13) == 0;
}

const struct python_name *python_names_make(struct python_names *n, struct memory_pieces *p,
                                            const struct pylayout *l,
                                            const struct code_identity *id)
{
    const struct python_name *name = NULL;
    struct strbuf text = STRBUF_INIT;

    strbuf_addstr(&text, "py::");
    put_text(&text, p, l, id->qualname.at, QUALNAME_MOST);
    strbuf_addch(&text, ':');
    put_text(&text, p, l, id->filename.at, NAME_MOST);
    if (!is_interpreters_own(l, id, &text))
        name = python_names_intern(n, text.buf, text.len);
    strbuf_release(&text);
    return name;
}
