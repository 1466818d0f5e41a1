#include "inside/session.h"

static bool lies_in(uint64_t at, uint64_t n, uint64_t each, uint64_t size)
{
    return at <= size && n <= (size - at) / each;
}

bool session_is_sound(const struct session_head *head, uint64_t size)
{
    static const char magic[8] = SESSION_MAGIC;

    if (size < sizeof *head || head->size != size || head->version != SESSION_VERSION ||
        head->head_size != sizeof *head || head->ring_size != sizeof(struct ring) ||
        head->rings > SESSION_RINGS_MOST || head->rings_at % _Alignof(struct ring) ||
        head->modules_at % 8 || !lies_in(head->rings_at, head->rings, sizeof(struct ring), size) ||
        !lies_in(head->modules_at, head->modules, sizeof(struct session_module), size))
        return false;
    for (unsigned i = 0; i < sizeof magic; i++)
        if (head->magic[i] != magic[i])
            return false;
    for (uint32_t i = 0; i < head->modules; i++) {
        const struct session_module *m =
            (const struct session_module *)((const char *)head + head->modules_at) + i;

        if (m->build_id_len > SESSION_BUILD_ID_MAX || m->at % 8 ||
            !lies_in(m->at, m->n, sizeof(struct patch_site), size))
            return false;
    }
    return true;
}

void session_refuse(struct session_head *head, enum session_refusal why, uint32_t pid,
                    uint32_t detail)
{
    struct session_refused *r = &head->refused[why];

    if (__atomic_fetch_add(&r->n, 1, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&r->pid, pid, __ATOMIC_RELAXED);
    __atomic_store_n(&r->detail, detail, __ATOMIC_RELAXED);
}

static void note_used(struct session_head *head, uint32_t used)
{
    uint32_t was = __atomic_load_n(&head->used, __ATOMIC_RELAXED);

    while (was < used && !__atomic_compare_exchange_n(&head->used, &was, used, true,
                                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        ;
}

struct ring *session_take_ring(struct session_head *head, uint32_t pid, uint32_t tid)
{
    uint64_t begin[RING_BEGIN_WORDS] = {ring_word(RING_BEGIN, RING_BEGIN_WORDS, pid), tid};

    for (uint32_t i = 0; i < head->rings; i++) {
        struct ring *r = session_ring(head, i);
        uint32_t nobody = 0;

        if (__atomic_load_n(&r->owner, __ATOMIC_RELAXED) ||
            !__atomic_compare_exchange_n(&r->owner, &nobody, tid, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        note_used(head, i + 1);
        ring_put(r, begin, RING_BEGIN_WORDS);
        return r;
    }
    return NULL;
}
