/*
 * A pattern of m bytes that are no '*' is an automaton of m + 1 states, a bit each: state i is "the
 * first i bytes have been found". A byte of the text moves every state on whose next byte it is,
 * and states before a '*' remain. So all ways to fill the stars are tried at once, without
 * backtracking.
 *
 * Rejected: searching for the pieces between the stars one after the other, because pieces with '?'
 * need this automaton anyway, and a second way to match would be one too many.
 */
#include "driver/suppress/wildcard.h"

#include <stdint.h>
#include <stdlib.h>

#include "common/alloc.h"

#define BITS 64u

struct wildcard {
    size_t states, words;
    uint16_t set_of[256]; /* index of a byte's set in `sets`; 0: bytes that only '?' matches */
    uint64_t *sets;       /* words each: the states that such a byte moves on */
    uint64_t *stays;      /* the states before a '*' */
};

static void set_bit(uint64_t *words, size_t i)
{
    words[i / BITS] |= (uint64_t)1 << i % BITS;
}

static bool has_bit(const uint64_t *words, size_t i)
{
    return words[i / BITS] >> i % BITS & 1;
}

static size_t number_bytes(struct wildcard *w, const char *pattern, size_t len)
{
    size_t sets = 1;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)pattern[i];

        w->states += c != '*';
        if (c != '*' && !w->set_of[c])
            w->set_of[c] = (uint16_t)sets++;
    }
    return sets;
}

struct wildcard *wildcard_new(const char *pattern, size_t len, bool one)
{
    struct wildcard *w = xcalloc(1, sizeof *w);
    size_t sets, state = 0;

    w->states = 1;
    sets = number_bytes(w, pattern, len);
    w->words = (w->states + BITS - 1) / BITS;
    w->sets = xcalloc(sets * w->words, sizeof *w->sets);
    w->stays = xcalloc(w->words, sizeof *w->stays);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)pattern[i];

        if (c == '*') {
            set_bit(w->stays, state);
            continue;
        }
        for (size_t set = 0; set < sets; set++)
            if ((one && c == '?') || set == w->set_of[c])
                set_bit(w->sets + set * w->words, state);
        state++;
    }
    return w;
}

void wildcard_free(struct wildcard *w)
{
    if (!w)
        return;
    free(w->sets);
    free(w->stays);
    free(w);
}

/* True when states remain. */
static bool step(const struct wildcard *w, uint64_t *states, unsigned char c)
{
    const uint64_t *set = w->sets + w->set_of[c] * w->words;
    uint64_t carry = 0, any = 0;

    for (size_t i = 0; i < w->words; i++) {
        uint64_t moved = states[i] & set[i], stay = states[i] & w->stays[i];

        states[i] = moved << 1 | carry | stay;
        carry = moved >> (BITS - 1);
        any |= states[i];
    }
    return any != 0;
}

bool wildcard_matches(const struct wildcard *w, const char *s, size_t len)
{
    uint64_t few[4] = {1}, *states = few;
    bool matches = true, ends_open = has_bit(w->stays, w->states - 1);

    if (w->words > ARRAY_LEN(few)) {
        states = xcalloc(w->words, sizeof *states);
        states[0] = 1;
    }
    for (size_t i = 0; i < len && matches; i++) {
        if (ends_open && has_bit(states, w->states - 1))
            break;
        matches = step(w, states, (unsigned char)s[i]);
    }
    matches = matches && has_bit(states, w->states - 1);
    if (states != few)
        free(states);
    return matches;
}
