/*
 * Ids of chains of Python frames: equal chains have equal ids, different ones different ids, and
 * none is given twice, also when the table begins again.
 */
#include "common/compiler.h"
#include "unwind/python/chain_ids.h"
#include "tests/tap.h"

static void same_and_different(void)
{
    struct chain_ids t = {0};
    uint32_t a = chain_ids_add(&t, 0, 100), b = chain_ids_add(&t, 0, 200);
    uint32_t ab = chain_ids_add(&t, a, 200), ba = chain_ids_add(&t, b, 100);

    ok(a && b && ab && ba, "chains have ids");
    ok(a != b && ab != ba && ab != a && ab != b && ba != a && ba != b,
       "different chains have different ids");
    is_int(chain_ids_add(&t, 0, 100), a, "an equal chain has an equal id");
    is_int(chain_ids_add(&t, chain_ids_add(&t, 0, 100), 200), ab,
           "an equal chain of two parts has an equal id");
    is_int(chain_ids_add(&t, CHAIN_IDS_NONE, 1), CHAIN_IDS_NONE,
           "a chain on one that is not known is not known");
}

static void begins_again(void)
{
    enum { MANY = 3 * CHAIN_IDS_KNOWN };
    struct chain_ids t = {0};
    uint32_t first = chain_ids_add(&t, 0, 1), id = first, rising = 1;

    for (uint32_t i = 2; i <= MANY; i++) {
        uint32_t next = chain_ids_add(&t, 0, i);

        rising += next > id;
        id = next;
    }
    is_int(rising, MANY, "each new chain has a new id");
    ok(t.n <= CHAIN_IDS_KNOWN, "no more than the limit are known");
    is_int(chain_ids_add(&t, 0, MANY), id, "the last one is still known");
    ok(chain_ids_add(&t, 0, 1) > id, "one that was forgotten gets a new id");
    t.last = CHAIN_IDS_MOST;
    is_int(chain_ids_add(&t, 0, MANY + 1), CHAIN_IDS_NONE, "after the last id there is none");
}

int main(void)
{
    same_and_different();
    begins_again();
    return done_testing();
}
