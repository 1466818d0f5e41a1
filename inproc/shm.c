#define _GNU_SOURCE
#include "inproc/shm.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "common/kernel.h"

static bool lies_in(uint64_t at, uint64_t n, uint64_t each, uint64_t size)
{
    return at <= size && n <= (size - at) / each;
}

/* Whether each module, and its sites, lie in the file. */
static bool modules_are_sound(const struct shm_head *head, const void *mapped, uint64_t size)
{
    const struct shm_module *m =
        (const struct shm_module *)((const char *)mapped + head->modules_at);

    for (uint32_t i = 0; i < head->modules; i++, m++)
        if (m->build_id_len > SHM_BUILD_ID_MAX || m->at % 8 ||
            !lies_in(m->at, m->n, sizeof(struct patch_site), size))
            return false;
    return true;
}

static bool shared_is_sound(const struct shm_head *head)
{
    uint64_t size = head->shared_size;

    return head->rings <= SHM_RINGS_MOST && head->files <= PLAIN_FDS_TABLES &&
           size >= sizeof(struct shm_shared) && head->files_at % _Alignof(struct plain_fds) == 0 &&
           head->rings_at % _Alignof(struct ring) == 0 &&
           lies_in(head->files_at, head->files, sizeof(struct plain_fds), size) &&
           lies_in(head->rings_at, head->rings, sizeof(struct ring), size) &&
           !head->shared_name[SHM_NAME_MAX - 1];
}

bool shm_is_sound(const struct shm_head *head, const void *mapped, uint64_t size)
{
    static const char magic[8] = SHM_MAGIC;

    if (size < sizeof *head || head->size != size || head->version != SHM_VERSION ||
        head->head_size != sizeof *head || head->ring_size != sizeof(struct ring) ||
        !shared_is_sound(head) || head->modules_at % 8 ||
        head->controls_at % _Alignof(struct ring_control) ||
        !lies_in(head->controls_at, head->rings, sizeof(struct ring_control), size) ||
        !lies_in(head->modules_at, head->modules, sizeof(struct shm_module), size))
        return false;
    for (unsigned i = 0; i < sizeof magic; i++)
        if (head->magic[i] != magic[i])
            return false;
    return modules_are_sound(head, mapped, size);
}

void shm_view_init(struct shm_view *v, const struct shm_head *head, const void *mapped,
                   void *shared)
{
    v->head = mapped;
    v->controls = (const struct ring_control *)((const char *)mapped + head->controls_at);
    v->shared = shared;
    v->files = (struct plain_fds *)((char *)shared + head->files_at);
    v->rings = (struct ring *)((char *)shared + head->rings_at);
    v->shared_size = head->shared_size;
    v->nrings = head->rings;
    v->nfiles = head->files;
    v->user = head->user;
}

void shm_refuse(const struct shm_view *v, enum shm_refusal why, uint32_t pid, uint32_t detail)
{
    struct shm_refused *r = &v->shared->refused[why];

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
 * The ring that the thread took when a handler interrupted its first call and left it by a jump, so
 * that the thread's memory does not have the ring; NULL: none. Its last record is `begin`. Without
 * this, each such jump would take one more of the run's rings, until none is left.
 */
static struct ring *find_begun(const struct shm_view *v, const uint64_t begin[RING_BEGIN_WORDS],
                               uint32_t tid, shm_may_have *may_have)
{
    uint32_t used = __atomic_load_n(&v->shared->used, __ATOMIC_ACQUIRE);

    for (uint32_t i = 0; i < used && i < v->nrings; i++) {
        struct ring *r = &v->rings[i];
        uint64_t head = __atomic_load_n(&r->head, __ATOMIC_RELAXED);
        bool same =
            __atomic_load_n(&r->owner, __ATOMIC_RELAXED) == tid && head >= RING_BEGIN_WORDS &&
            !__atomic_load_n(&v->controls[i].closed, __ATOMIC_RELAXED) && may_have(i, tid, true);

        for (unsigned w = 0; same && w < RING_BEGIN_WORDS; w++)
            same = r->words[(head - RING_BEGIN_WORDS + w) % RING_WORDS] == begin[w];
        if (same)
            return r;
    }
    return NULL;
}

struct ring *shm_take_ring(const struct shm_view *v, uint32_t pid, uint32_t tid,
                           shm_may_have *may_have)
{
    uint64_t begin[RING_BEGIN_WORDS] = {ring_word(RING_BEGIN, RING_BEGIN_WORDS, pid), tid};
    struct ring *begun = find_begun(v, begin, tid, may_have);

    if (begun)
        return begun;
    for (uint32_t i = 0; i < v->nrings; i++) {
        struct ring *r = &v->rings[i];

        if (!may_have(i, tid, false) || !take(&r->owner, tid))
            continue;
        note_used(&v->shared->used, i + 1);
        ring_put(r, begin, RING_BEGIN_WORDS);
        return r;
    }
    return NULL;
}

struct plain_fds *shm_take_files(const struct shm_view *v, uint32_t pid)
{
    for (uint32_t i = 0; i < v->nfiles; i++) {
        struct plain_fds *f = &v->files[i];

        if (!take(&f->owner, pid))
            continue;
        note_used(&v->shared->files_used, i + 1);
        return f;
    }
    return NULL;
}

/* Rings that a starting thread may take. */
#define RINGS_MORE 8u

/*
 * Maps own memory in place of the file, and of the rings only those that may have been taken: a
 * program may have all its mappings filled (mlockall). It is shared, because private memory counts
 * against the limit of a process's data.
 */
bool shm_leave(const struct shm_view *v)
{
    uint32_t used = __atomic_load_n(&v->shared->used, __ATOMIC_RELAXED), kept;
    char *start = (char *)v->shared, *end = start + v->shared_size, *from;
    long at;

    kept = used < v->nrings - RINGS_MORE ? used + RINGS_MORE : v->nrings;
    from = v->nrings > RINGS_MORE ? (char *)&v->rings[kept] : end;
    at = kernel_call(SYS_mmap, start, from - start, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (kernel_failed(at))
        return false;
    kernel_call(SYS_madvise, start, from - start, MADV_DONTDUMP);
    if (from < end)
        kernel_call(SYS_munmap, from, end - from);
    return true;
}
