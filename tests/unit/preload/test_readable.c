/*
 * Readable memory: of a mapping that other code fills through userfaultfd, the pages that are
 * present; and the next written page of a mapping far larger than the machine.
 */
#include "preload/leak/readable.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/shadow/shadow_leaves.h"
#include "tests/tap.h"

#ifndef UFFD_USER_MODE_ONLY /* Linux 5.11 */
#define UFFD_USER_MODE_ONLY 1
#endif

#define PAGE ((uintptr_t)4096)
#define PAGES 1200

static char *map(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                0);
}

static bool fill_by_others(char *p, size_t size)
{
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register all = {.range = {(uintptr_t)p, size},
                                  .mode = UFFDIO_REGISTER_MODE_MISSING};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

    return fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &all) == 0;
}

static bool agrees(const struct readable *r, const char *p, const bool *there)
{
    for (size_t i = 0; i < PAGES; i++)
        if ((readable_at(r, (uintptr_t)p + i * PAGE) != NULL) != there[i])
            return false;
    return true;
}

static size_t clipped;

static void add_size(uintptr_t lo, uintptr_t hi, void *arg)
{
    (void)arg;
    clipped += hi - lo;
}

static void test_filled(void)
{
    static bool there[PAGES], all[PAGES];
    char *p = map(PAGES * PAGE);
    struct readable r;
    size_t n = 0;

    memset(all, 1, sizeof all);
    madvise(p, PAGES * PAGE, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        if ((i * 7919 >> 3) % 5 < 2 || i == 511 || i == 512 || i == PAGES - 1) {
            p[i * PAGE] = 1;
            there[i] = true;
            n++;
        }
    ok(readable_look(&r) && agrees(&r, p, all) && !r.sparse,
       "all pages of an ordinary mapping are readable");
    readable_free(&r);
    if (!fill_by_others(p, PAGES * PAGE)) {
        ok(errno == EPERM || errno == ENOSYS || errno == EINVAL,
           "userfaultfd is not permitted here, so it fills no page");
        return;
    }
    ok(readable_look(&r) && agrees(&r, p, there) && r.sparse,
       "of a mapping with userfaultfd the present pages are readable");
    readable_clip(&r, (uintptr_t)p, (uintptr_t)p + PAGES * PAGE, add_size, NULL);
    ok(clipped == n * PAGE, "readable_clip returns the present pages only");
    ok(readable_at(&r, (uintptr_t)&r) && readable_at(&r, (uintptr_t)&r)->write,
       "the stack is readable and writable");
    readable_free(&r);
}

static void test_next(void)
{
    static const uintptr_t at[] = {0, 1, 511, 512, (uintptr_t)1 << 20, ((uintptr_t)1 << 26) - 1};
    const size_t size = (size_t)1 << 38;
    struct shadow_pages pages;
    char *p = map(size);
    bool good = p != MAP_FAILED;
    uintptr_t next;

    shadow_pages_open(&pages);
    next = good ? shadow_pages_next(&pages, (uintptr_t)p, (uintptr_t)p + size) : 0;
    if (pages.no_scan) { /* older than 6.7 */
        ok(next == (uintptr_t)p, "shadow_pages_next without a kernel scan returns its start");
        shadow_pages_close(&pages);
        return;
    }
    ok(next == (uintptr_t)p + size, "shadow_pages_next finds no page in 256 GiB without writes");
    madvise(p, size, MADV_NOHUGEPAGE);
    for (size_t i = 0; good && i < sizeof at / sizeof *at; i++)
        p[at[i] * PAGE] = 1;
    next = (uintptr_t)p;
    for (size_t i = 0; good && i < sizeof at / sizeof *at; i++) {
        next = shadow_pages_next(&pages, next, (uintptr_t)p + size);
        good = next == (uintptr_t)p + at[i] * PAGE;
        next += PAGE;
    }
    ok(good, "shadow_pages_next finds each written page in turn");
    ok(shadow_pages_next(&pages, (uintptr_t)p + 5, (uintptr_t)p + size) == (uintptr_t)p + 5,
       "shadow_pages_next finds the page around an address within it");
    ok(shadow_pages_next(&pages, (uintptr_t)p + 2 * PAGE, (uintptr_t)p + 3 * PAGE) ==
           (uintptr_t)p + 3 * PAGE,
       "shadow_pages_next finds no page beyond its end");
    shadow_pages_close(&pages);
}

int main(void)
{
    test_filled();
    test_next();
    return done_testing();
}
