#include "inproc/lib/open_fds.h"

#include <sys/stat.h>

#include "common/kernel.h"

static const struct shm_view *session;
static struct plain_fds *table; /* of this process, or of one that it was forked from */

void open_fds_init(const struct shm_view *s)
{
    session = s;
}

static struct plain_fds *own_table(uint32_t process)
{
    struct plain_fds *f = __atomic_load_n(&table, __ATOMIC_ACQUIRE);

    return f && process && __atomic_load_n(&f->owner, __ATOMIC_RELAXED) == process ? f : NULL;
}

static bool is_off(const struct plain_fds *f)
{
    return __atomic_load_n(&f->off, __ATOMIC_SEQ_CST) ||
           __atomic_load_n(&session->head->files_off, __ATOMIC_SEQ_CST);
}

static FLAME_COLD struct plain_fds *take_table(uint32_t process)
{
    struct plain_fds *was = __atomic_load_n(&table, __ATOMIC_ACQUIRE), *f;

    if (__atomic_load_n(&session->head->files_off, __ATOMIC_RELAXED))
        return NULL;
    f = shm_take_files(session, process);
    if (!f)
        return NULL;
    if (__atomic_compare_exchange_n(&table, &was, f, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return f;
    /* Another thread was quicker, and no thread has used this table. */
    __atomic_store_n(&f->owner, 0, __ATOMIC_RELEASE);
    return own_table(process);
}

struct open_fds_opening open_fds_begin(uint32_t process)
{
    struct open_fds_opening o = {.table = own_table(process), .closes = 0};

    if (unlikely(!o.table))
        o.table = take_table(process);
    if (o.table)
        o.closes = __atomic_load_n(&o.table->closes, __ATOMIC_SEQ_CST);
    return o;
}

void open_fds_end(const struct open_fds_opening *o, unsigned fd)
{
    struct plain_fds *f = o->table;
    uint16_t was;

    if (!f || fd >= PLAIN_FDS_NUMBERS || is_off(f))
        return;
    was = __atomic_fetch_or(&f->numbers[fd], PLAIN_FDS_OPENED, __ATOMIC_SEQ_CST);
    /* The descriptor was closed, and neither the library nor the tracer has seen it. */
    if (unlikely(was & PLAIN_FDS_OPENED)) {
        open_fds_distrust(f->owner);
        return;
    }
    /* If another thread closes this number, the tracer gets that stop before; it need not have
     * found the mark there. */
    if (unlikely(__atomic_load_n(&f->closes, __ATOMIC_SEQ_CST) != o->closes || is_off(f)))
        plain_fds_forget(f, fd);
}

static bool is_plain(unsigned mode)
{
    return S_ISREG(mode) || S_ISDIR(mode);
}

/* Queries the kernel for the type of the descriptor, whose known state is `seen`. False: it is no
 * plain file, or it has changed meanwhile; its state is unknown again. */
static bool ask(struct plain_fds *f, unsigned fd, uint16_t seen)
{
    uint16_t known = (uint16_t)(seen | PLAIN_FDS_PLAIN);
    struct stat st;

    if (kernel_fstat((int)fd, &st) == 0 && is_plain(st.st_mode) &&
        __atomic_compare_exchange_n(&f->numbers[fd], &seen, known, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_RELAXED))
        return true;
    plain_fds_forget(f, fd);
    return false;
}

uint16_t *open_fds_use(uint32_t process, unsigned fd)
{
    struct plain_fds *f = own_table(process);
    uint16_t *at, now;

    if (!f || fd >= PLAIN_FDS_NUMBERS)
        return NULL;
    at = &f->numbers[fd];
    if (!(__atomic_load_n(at, __ATOMIC_RELAXED) & PLAIN_FDS_OPENED))
        return NULL;
    now = __atomic_add_fetch(at, 1, __ATOMIC_SEQ_CST);
    if (now & PLAIN_FDS_OPENED && (now & PLAIN_FDS_PLAIN || ask(f, fd, now)))
        return at;
    __atomic_sub_fetch(at, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

void open_fds_left(uint16_t *used, bool slept)
{
    if (slept)
        __atomic_fetch_and(used, PLAIN_FDS_USERS, __ATOMIC_SEQ_CST);
    __atomic_sub_fetch(used, 1, __ATOMIC_SEQ_CST);
}

void open_fds_seen(uint32_t process, unsigned fd, unsigned mode)
{
    struct plain_fds *f = own_table(process);
    uint16_t known = PLAIN_FDS_OPENED;

    /* Only while no thread is in a call on it: such a thread has queried the kernel, or does so. */
    if (f && fd < PLAIN_FDS_NUMBERS && is_plain(mode))
        __atomic_compare_exchange_n(&f->numbers[fd], &known, PLAIN_FDS_OPENED | PLAIN_FDS_PLAIN,
                                    false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

bool open_fds_is(uint32_t process, unsigned fd)
{
    const struct plain_fds *f = own_table(process);

    return f && fd < PLAIN_FDS_NUMBERS &&
           __atomic_load_n(&f->numbers[fd], __ATOMIC_RELAXED) & PLAIN_FDS_OPENED;
}

bool open_fds_close(uint32_t process, unsigned fd)
{
    struct plain_fds *f = own_table(process);
    uint16_t known;

    if (!f || fd >= PLAIN_FDS_NUMBERS)
        return false;
    known = __atomic_load_n(&f->numbers[fd], __ATOMIC_SEQ_CST);
    if (!(known & PLAIN_FDS_OPENED) || (!(known & PLAIN_FDS_PLAIN) && !ask(f, fd, known)))
        return false;
    known = PLAIN_FDS_OPENED | PLAIN_FDS_PLAIN;
    if (__atomic_compare_exchange_n(&f->numbers[fd], &known, 0, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_RELAXED))
        return true;
    plain_fds_forget(f, fd);
    return false;
}

void open_fds_forget(uint32_t process, unsigned fd)
{
    struct plain_fds *f = own_table(process);

    if (f)
        plain_fds_forget(f, fd);
}

void open_fds_distrust(uint32_t process)
{
    struct plain_fds *f = own_table(process);

    if (!f)
        return;
    __atomic_store_n(&f->off, 1, __ATOMIC_SEQ_CST);
    plain_fds_forget_all(f);
}
