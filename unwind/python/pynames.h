/*
 * pynames.h: names of Python's functions in the trace, by their code objects.
 *
 * A name is written when the function is first seen, because its code object may be freed
 * afterwards. It has the form of CPython's own map for perf, py::QUALIFIED.NAME:FILE. A code object
 * is recognised by its address and its names, because another one may get the address.
 *
 * The guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_UNWIND_PYTHON_PYNAMES_H
#define FLAME_UNWIND_PYTHON_PYNAMES_H

#include "common/hash.h"
#include "unwind/python/pyframes.h"

/* PyASCIIObject */
#define PYTEXT_LENGTH 16
#define PYTEXT_HASH 24
#define PYTEXT_STATE 32
#define PYTEXT_SIZE 40

/* A text as it was when it was read. */
struct kept_text {
    uintptr_t at;
    uint64_t stamp; /* of its contents; PYNAMES_UNREADABLE */
    uintptr_t characters;
    uint32_t size; /* bytes of them that the stamp is of; 0: it is of the interpreter's hash */
};

/* A code object, as it was when its name was read. */
struct pycode {
    uintptr_t code; /* 0: it cannot be read */
    uint64_t pc; /* of the name, as in truncate.h; 0: it is no function of the program, or there is
                  * no room for its name */
    uint32_t line;
    uint32_t version; /* pylayout.h; 0: not known */
    struct kept_text qualname, filename;
};

#define PYNAMES_UNREADABLE 1u

/* Code objects that a thread has seen. All zero at first. */
#define PYCODES 512u
struct pycodes {
    uint32_t trace;            /* number of the trace that contains the names */
    struct kept_text filename; /* of the last function, in the same stack; at 0: none */
    struct pycode known[PYCODES];
};

/* To be called before each stack: texts that were read before may have changed. */
static inline void pynames_next_stack(struct pycodes *codes)
{
    codes->filename.at = 0;
}

/* Reads the code object, with `?` for parts of its name that cannot be read. */
void pynames_of(struct pycodes *codes, const struct python *py, struct pypages *pages,
                uintptr_t code, struct pycode *out);

static inline uint64_t pynames_word_at(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* Hash of all the bytes, 32 at a time, whose products do not wait for each other. The last 8 may
 * overlap with those before them. */
static inline uint64_t pynames_hash_bytes(const uint8_t *bytes, size_t size)
{
    static const uint64_t odd[] = {0xd6e8feb86659fd93u, 0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu,
                                   0x8ebc6af09c88c6e3u};
    const uint8_t *end = bytes + size;
    uint64_t hash = size;

    if (size < sizeof hash)
        return fnv_bytes(hash, bytes, size);
    for (; bytes + 32 < end; bytes += 32)
        hash = (hash ^ hash >> 29) * HASH_GOLDEN + pynames_word_at(bytes) * odd[0] +
               pynames_word_at(bytes + 8) * odd[1] + pynames_word_at(bytes + 16) * odd[2] +
               pynames_word_at(bytes + 24) * odd[3];
    for (int i = 0; bytes + sizeof hash < end; bytes += sizeof hash)
        hash += pynames_word_at(bytes) * odd[i++];
    return hash + pynames_word_at(end - sizeof hash) * odd[3];
}

/* A value that is equal for texts with equal contents. */
static inline uint64_t pynames_stamp(uint64_t hash, uint64_t length)
{
    return hash ^ (length << 40 | length >> 24);
}

/* Two texts that are the same as when they were read, the latest one first. */
struct same_texts {
    struct {
        uintptr_t at;
        uint64_t stamp;
    } text[2];
};

/* Whether the text is the one that was read, at the same address. */
FLAME_INLINE bool pynames_same_text(const struct kept_text *t)
{
    uint64_t hash = py_word(t->at, PYTEXT_HASH);

    if (hash == UINT64_MAX && t->size)
        hash = pynames_hash_bytes((const uint8_t *)t->characters, t->size) | 1; /* NOLINT */
    return pynames_stamp(hash, py_word(t->at, PYTEXT_LENGTH)) == t->stamp;
}

/*
 * Whether the code object is the one that was read. It is at the same address, and since it was
 * read no memory was unmapped. `files`: texts that are known to be the same by now; they are
 * updated.
 */
FLAME_INLINE bool pynames_hold(const struct pylayout *l, const struct pycode *c,
                               struct same_texts *files)
{
    if (unlikely(!c->code))
        return false;
    if (l->code_version && likely(c->version))
        return *(const uint32_t *)(c->code + l->code_version) == c->version; /* NOLINT */
    if (unlikely(c->qualname.stamp == PYNAMES_UNREADABLE ||
                 c->filename.stamp == PYNAMES_UNREADABLE))
        return false;
    if (py_word(c->code, l->code_qualname) != c->qualname.at ||
        py_word(c->code, l->code_filename) != c->filename.at ||
        *(const uint32_t *)(c->code + l->code_first_line) != c->line || /* NOLINT */
        !pynames_same_text(&c->qualname))
        return false;
    for (int i = 0; i < 2; i++)
        if (files->text[i].at == c->filename.at && files->text[i].stamp == c->filename.stamp)
            return true;
    if (!pynames_same_text(&c->filename))
        return false;
    files->text[1] = files->text[0];
    files->text[0].at = c->filename.at;
    files->text[0].stamp = c->filename.stamp;
    return true;
}

/* The number of the trace that names are in. */
uint32_t pynames_trace(void);

/* To be called in a forked child, whose trace has no names yet. */
void pynames_after_fork(void);

#endif
