/*
 * Problem: the program's code is changed while it is in use, and an error in the middle would leave
 * it half patched.
 *
 * Algorithm: everything that can fail comes before the first byte of the module changes. The list
 * is checked, then the module's bytes; stubs get room, are written and made executable; then the
 * module's code is made writable. It stays executable meanwhile, so a refusal (SELinux's execmod, a
 * filter) comes now, before any change has to be undone. Branches are written, and the code gets
 * the protection it had.
 *
 * Rejected: code that is writable but not executable while it is written. A policy that forbids
 * making modified code executable would refuse when it is too late.
 */
#define _GNU_SOURCE
#include "patch/patcher.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "patch/stub.h"
#include "patch/code_pages.h"

/* Number of used slots of stub_home. It never shrinks, because a thread may be blocked in a
 * slot. */
static size_t home_used;

static bool is_taken(const struct patch_module *m, const struct patch_site *s)
{
    return s->kind != SITE_NONE && (!m->wants || m->wants(s->number));
}

/* The next site at or after *i that is to be patched; NULL: there is none. */
static const struct patch_site *next_site(const struct patch_module *m, size_t *i)
{
    for (; *i < m->n; ++*i)
        if (is_taken(m, &m->sites[*i]))
            return &m->sites[(*i)++];
    return NULL;
}

static bool same_bytes(const uint8_t *a, const uint8_t *b, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* Finds the mappings that the sites lie in, and counts them. */
static enum patch_result find_texts(struct patch_module *m, struct code_pages *texts)
{
    const struct patch_site *s;
    size_t count = 0;

    *texts = (struct code_pages){.lo = UINTPTR_MAX};
    for (size_t i = 0; (s = next_site(m, &i)); count++) {
        if (texts->lo == UINTPTR_MAX)
            texts->lo = m->bias + s->at;
        texts->hi = m->bias + s->at + s->length;
    }
    if (!count)
        return PATCH_NOTHING;
    code_pages_find(texts);
    for (size_t i = 0; (s = next_site(m, &i));)
        if (!code_pages_hold(texts, m->bias + s->at, s->length)) {
            m->at = m->bias + s->at;
            return PATCH_UNMAPPED;
        }
    m->patched = count;
    return PATCH_DONE;
}

/* Whether each site has the expected bytes: its own, or the branch to its stub. */
static enum patch_result check_bytes(struct patch_module *m, bool patched)
{
    const struct patch_site *s;
    size_t at = 0; /* the stub's address; before the sites are patched there are no stubs */

    for (size_t i = 0; (s = next_site(m, &i)); at += STUB_SLOT) {
        const uint8_t *window = (const uint8_t *)(m->bias + s->at), *want = s->bytes;
        uint8_t branch[SITE_WINDOW];

        if (patched) {
            stub_branch(branch, s, (uintptr_t)window, m->stubs + at);
            want = branch;
        }
        if (!same_bytes(window, want, s->length)) {
            m->at = (uintptr_t)window;
            return PATCH_CHANGED;
        }
    }
    return PATCH_DONE;
}

/* Finds writable room for the stubs. */
static enum patch_result find_room(struct patch_module *m, const struct code_pages *texts)
{
    uintptr_t home = (uintptr_t)stub_home;
    int err;

    if (m->patched <= STUB_HOME_SLOTS - home_used &&
        code_pages_reach(texts, home, sizeof stub_home)) {
        err = code_pages_protect(home, home + sizeof stub_home, PROT_READ | PROT_WRITE | PROT_EXEC);
        if (!err) {
            m->stubs = stub_home + home_used * STUB_SLOT;
            return PATCH_DONE;
        }
        m->error = err;
        return PATCH_REFUSED;
    }
    m->stubs = (uint8_t *)code_pages_map_near(texts, m->patched * STUB_SLOT);
    return m->stubs ? PATCH_DONE : PATCH_NO_ROOM;
}

static bool is_home(const struct patch_module *m)
{
    return m->stubs >= stub_home && m->stubs < stub_home + sizeof stub_home;
}

/* Completes find_room: makes the stubs executable, or frees them. */
static enum patch_result close_room(struct patch_module *m, enum patch_result so_far)
{
    uintptr_t start = (uintptr_t)m->stubs, end = start + m->patched * STUB_SLOT;
    int err;

    if (is_home(m)) {
        start = (uintptr_t)stub_home;
        end = start + sizeof stub_home;
    }
    end = (end + CODE_PAGES_PAGE - 1) & ~(CODE_PAGES_PAGE - 1);
    err = code_pages_protect(start, end, PROT_READ | PROT_EXEC);
    if (err && so_far == PATCH_DONE) {
        m->error = err;
        so_far = PATCH_REFUSED;
    }
    if (so_far != PATCH_DONE && !is_home(m))
        kernel_call(SYS_munmap, start, end - start);
    return so_far;
}

static enum patch_result write_stubs(struct patch_module *m)
{
    const struct patch_site *s;
    uint8_t *slot = m->stubs;

    for (size_t i = 0; (s = next_site(m, &i)); slot += STUB_SLOT)
        if (!stub_write(slot, s, m->bias + s->at)) {
            m->at = m->bias + s->at;
            return PATCH_NO_ROOM;
        }
    return PATCH_DONE;
}

static void write_windows(struct patch_module *m, bool patched)
{
    const uint8_t *slot = m->stubs;
    const struct patch_site *s;

    for (size_t i = 0; (s = next_site(m, &i)); slot += STUB_SLOT) {
        volatile uint8_t *window = (volatile uint8_t *)(m->bias + s->at);
        uint8_t branch[SITE_WINDOW];

        stub_branch(branch, s, (uintptr_t)window, slot);
        for (unsigned k = 0; k < s->length; k++)
            window[k] = patched ? branch[k] : s->bytes[k];
    }
}

static enum patch_result apply(struct patch_module *m)
{
    struct code_pages texts;
    enum patch_result r = find_texts(m, &texts);

    if (r == PATCH_DONE)
        r = check_bytes(m, false);
    if (r == PATCH_DONE)
        r = find_room(m, &texts);
    if (r != PATCH_DONE)
        return r;
    r = close_room(m, write_stubs(m));
    if (r != PATCH_DONE)
        return r;
    m->error = code_pages_unlock(&texts);
    if (m->error)
        return close_room(m, PATCH_REFUSED);
    if (is_home(m))
        home_used += m->patched;
    write_windows(m, true);
    code_pages_lock(&texts);
    return PATCH_DONE;
}

enum patch_result patch_apply(struct patch_module *m, const struct patch_site *sites, size_t n,
                              uintptr_t bias, bool (*wants)(int32_t number))
{
    enum patch_result r;

    if (m->patched)
        return PATCH_AGAIN;
    *m = (struct patch_module){.sites = sites, .n = n, .bias = bias, .wants = wants};
    r = sites_are_sound(sites, n) ? apply(m) : PATCH_UNSOUND;
    if (r != PATCH_DONE) {
        m->patched = 0;
        m->stubs = NULL;
    }
    return r;
}

enum patch_result patch_undo(struct patch_module *m)
{
    size_t patched = m->patched;
    struct code_pages texts;
    enum patch_result r;

    if (!patched)
        return PATCH_NOTHING;
    r = find_texts(m, &texts);
    m->patched = patched;
    if (r == PATCH_DONE)
        r = check_bytes(m, true);
    if (r == PATCH_DONE && (m->error = code_pages_unlock(&texts)))
        r = PATCH_REFUSED;
    if (r != PATCH_DONE)
        return r;
    write_windows(m, false);
    code_pages_lock(&texts);
    *m = (struct patch_module){0};
    return PATCH_DONE;
}
