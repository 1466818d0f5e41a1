/* The portable path of texthash_until compared with a loop over single bytes, and with SSE2. */
#include "fold/stacks/texthash.h"
#include "fold/stacks/texthash_portable.h"
#include "tests/tap.h"

static unsigned one_by_one(const char *s, char stop)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < 16; i++)
        bits |= (unsigned)(s[i] == stop) << i;
    return bits;
}

int main(void)
{
    static const char stops[] = {0, 1, ';', '\n', 0x7f, (char)0x80, (char)0xff};
    unsigned marks = 0, halves = 0, same = 0;
    uint64_t seed = 88172645463325252u;
    char s[16];

    for (unsigned round = 0; round < 20000; round++) {
        char stop = stops[round % sizeof stops];
        struct texthash_words v;
        uint64_t got[2], want[2] = {0, 0};
        unsigned n = round % 16;

        for (unsigned i = 0; i < sizeof s; i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            /* Near the stop, where carries and borrows would show. */
            s[i] = (char)((unsigned char)stop + (seed >> 20) % 3 - 1);
            if (seed >> 40 & 1)
                s[i] = (char)(seed >> 48);
        }
        v = texthash_words_at(s);
        marks += texthash_words_stops(v, stop) == one_by_one(s, stop);
        same += texthash_stops(texthash_piece_at(s), stop) == one_by_one(s, stop);
        memcpy(want, s, n);
        texthash_words_first(v, n, got);
        halves += got[0] == want[0] && got[1] == want[1];
        texthash_first(texthash_piece_at(s), n, got);
        same += got[0] == want[0] && got[1] == want[1];
    }
    ok(marks == 20000, "texthash_words_stops finds each stop (%u)", marks);
    ok(halves == 20000, "texthash_words_first keeps the first bytes and no others (%u)", halves);
    ok(same == 40000, "the processor's path gives the values of the portable one (%u)", same);
    return done_testing();
}
