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
        head->modules_at % 8 || head->files_at % _Alignof(struct files) ||
        !lies_in(head->files_at, head->files, sizeof(struct files), size) ||
        !lies_in(head->rings_at, head->rings, sizeof(struct ring), size) ||
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

static void note_used(uint32_t *most, uint32_t used)
{
    uint32_t was = __atomic_load_n(most, __ATOMIC_RELAXED);

    while (was < used &&
           !__atomic_compare_exchange_n(most, &was, used, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        ;
}

static bool take(uint32_t *owner, uint32_t who)
{
    uint32_t nobody = 0;

    return !__atomic_load_n(owner, __ATOMIC_RELAXED) &&
           __atomic_compare_exchange_n(owner, &nobody, who, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

/*
 * The ring that the thread took when a handler interrupted its first call and was left by a jump,
 * so that nobody remembers it; NULL: there is none. Its last record is `begin`. Without this each
 * such jump takes one more of the run's rings, until none is left.
 */
static struct ring *find_begun(struct session_head *head, const uint64_t begin[RING_BEGIN_WORDS],
                               uint32_t tid)
{
    uint32_t used = __atomic_load_n(&head->used, __ATOMIC_ACQUIRE);

    for (uint32_t i = 0; i < used && i < head->rings; i++) {
        struct ring *r = session_ring(head, i);
        bool same = __atomic_load_n(&r->owner, __ATOMIC_RELAXED) == tid &&
                    r->head >= RING_BEGIN_WORDS && !__atomic_load_n(&r->closed, __ATOMIC_RELAXED);

        for (unsigned w = 0; same && w < RING_BEGIN_WORDS; w++)
            same = r->words[(r->head - RING_BEGIN_WORDS + w) % RING_WORDS] == begin[w];
        if (same)
            return r;
    }
    return NULL;
}

struct ring *session_take_ring(struct session_head *head, uint32_t pid, uint32_t tid)
{
    uint64_t begin[RING_BEGIN_WORDS] = {ring_word(RING_BEGIN, RING_BEGIN_WORDS, pid), tid};
    struct ring *begun = find_begun(head, begin, tid);

    if (begun)
        return begun;
    for (uint32_t i = 0; i < head->rings; i++) {
        struct ring *r = session_ring(head, i);

        if (!take(&r->owner, tid))
            continue;
        note_used(&head->used, i + 1);
        ring_put(r, begin, RING_BEGIN_WORDS);
        return r;
    }
    return NULL;
}

struct files *session_take_files(struct session_head *head, uint32_t pid)
{
    for (uint32_t i = 0; i < head->files; i++) {
        struct files *f = session_files(head, i);

        if (!take(&f->owner, pid))
            continue;
        note_used(&head->files_used, i + 1);
        return f;
    }
    return NULL;
}
