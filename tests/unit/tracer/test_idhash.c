/* Spread of the tracer's kinds of keys over the buckets of a table. */
#include "tracer/offcpu/idhash.h"
#include "tests/tap.h"

enum { KEYS = 4096, BUCKETS = 1024, FAIR = KEYS / BUCKETS };

static unsigned in_bucket[BUCKETS];

static void count(const void *key, size_t len)
{
    in_bucket[id_hash(key, len) & (BUCKETS - 1)]++;
}

/* With random numbers the fullest bucket has about 12 keys. */
static void spread(const char *what)
{
    unsigned most = 0;

    for (int i = 0; i < BUCKETS; i++)
        most = in_bucket[i] > most ? in_bucket[i] : most;
    ok(most <= FAIR * 5, "%s: %u of %d keys in the fullest of %d buckets", what, most, KEYS,
       BUCKETS);
    memset(in_bucket, 0, sizeof in_bucket);
}

int main(void)
{
    static const uint64_t strides[] = {1, 4, 16, 64, 4096, 1 << 20, 1ull << 32, 0x1000000010ull};
    int a = 77, b = 77;

    is_int(id_hash(&a, sizeof a), id_hash(&b, sizeof b),
           "id_hash depends on a key's bytes, not on its address");
    for (int tid = 0; tid < KEYS; tid++)
        count(&tid, sizeof tid);
    spread("consecutive thread ids");
    for (int tid = 0; tid < KEYS; tid++) {
        int far = tid * 256;

        count(&far, sizeof far);
    }
    spread("thread ids 256 apart");
    for (size_t s = 0; s < sizeof strides / sizeof *strides; s++) {
        char what[64];

        snprintf(what, sizeof what, "things %#llx apart", (unsigned long long)strides[s]);
        for (uint64_t i = 0; i < KEYS; i++) {
            uint64_t object[3] = {1, 1234, 0x7f0000001000 + i * strides[s]};
            uint64_t other[3] = {1, 0x7f0000001000 + i * strides[s], 0};

            count(i % 2 ? object : other, sizeof object);
        }
        spread(what);
    }
    return done_testing();
}
