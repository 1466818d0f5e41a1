#include "driver/leak/leakunchecked.h"

#include <inttypes.h>

#define NAMED 20

static bool has_pid(const struct run_totals_process *const *list, size_t n, uint32_t pid)
{
    for (size_t i = 0; i < n; i++)
        if (list[i]->pid == pid)
            return true;
    return false;
}

static bool is_noted(const struct unrecorded *others, uint32_t pid)
{
    for (size_t i = 0; i < others->nprocesses; i++)
        if (others->process[i].pid == pid)
            return true;
    return false;
}

/* Whether an unrecorded process is checked nevertheless: it later executed a program that was
 * recorded and has scanned. */
static bool is_judged(const struct unrecorded *others, const struct leak_coverage *looks, bool look,
                      uint32_t pid)
{
    if (look)
        return has_pid(looks->seen, looks->nseen, pid);
    return !is_noted(others, pid) &&
           (has_pid(looks->seen, looks->nseen, pid) || has_pid(looks->unseen, looks->nunseen, pid));
}

/* Entries without a pid are of processes that cannot be distinguished. */
static bool miss_others(const struct unrecorded *others, const struct leak_coverage *looks,
                        bool look, uint32_t pid)
{
    size_t doubts = 0, with_pid = 0;

    for (size_t i = 0; i < others->nprograms; i++)
        if (unrecorded_is_doubt(others->programs[i].why))
            doubts += others->programs[i].times;
    for (size_t i = 0; i < others->nprocesses; i++) {
        const struct unrecorded_process *p = &others->process[i];

        if (!unrecorded_is_doubt(p->why))
            continue;
        with_pid++;
        if (p->pid != pid && !is_judged(others, looks, look, p->pid))
            return true;
    }
    if (doubts > with_pid || others->unnamed)
        return true;
    for (size_t i = 0; look && i < looks->nunseen; i++)
        if (looks->unseen[i]->pid != pid)
            return true;
    return false;
}

static void add_unseen(struct strbuf *sb, const struct leak_coverage *looks)
{
    size_t n = looks->nunseen < NAMED ? looks->nunseen : NAMED;

    for (size_t i = 0; i < n; i++) {
        const char *why = leak_coverage_why(looks->unseen[i]);

        strbuf_addf(sb, "%s%s %" PRIu32, sb->len ? ", " : "", looks->unseen[i]->comm,
                    looks->unseen[i]->pid);
        if (i + 1 == n || leak_coverage_why(looks->unseen[i + 1]) != why)
            strbuf_addf(sb, " (%s)", why);
    }
    if (looks->nunseen > n)
        strbuf_addf(sb, " and %zu more", looks->nunseen - n);
}

void leak_unchecked_find(struct leak_unchecked *u, const struct unrecorded *others,
                         const struct leak_coverage *looks, bool look, uint32_t pid)
{
    *u = (struct leak_unchecked){.who = STRBUF_INIT};
    u->command = !is_judged(others, looks, look, pid);
    u->others = miss_others(others, looks, look, pid);
    if (!u->command && !u->others)
        return;
    unrecorded_add(&u->who, others, NAMED);
    if (look)
        add_unseen(&u->who, looks);
    if (!u->who.len)
        strbuf_addstr(&u->who, "the recorder did not start in it");
}

void leak_unchecked_release(struct leak_unchecked *u)
{
    strbuf_release(&u->who);
}
