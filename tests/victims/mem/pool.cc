// An allocator with operators of its own, as jemalloc, tcmalloc and mimalloc are. What it did
// not give out, or gave out by another function than it is given back by, is the program's
// end: "pool: foreign block". Memory is never used again.
//
//   SHAPE 1   the operators allocate by themselves
//         2   they call malloc and free, which are the library's, too
//         3   the same, with words of their own before each block
//         4   the same as 2, but there is no malloc in the library
//         5   the same as 1, and to get its first block the library allocates another one
//
// The library refuses more than 1 GiB. Operators then call the new_handler, and throw.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace
{

const size_t most = size_t(1) << 30, arena_size = size_t(256) << 20;

struct head {
    size_t magic, size, kind;
    void *start;
};

[[noreturn, maybe_unused]] void complain()
{
    static const char text[] = "pool: foreign block\n";

    (void)!write(2, text, sizeof text - 1);
    _exit(99);
}

[[maybe_unused]] void *take(size_t kind, size_t size, size_t align)
{
    static char *arena;
    static size_t used;
    size_t room = size + align + sizeof(head) + 16;

    if (size > most)
        return nullptr;
    if (!__atomic_load_n(&arena, __ATOMIC_ACQUIRE)) {
        void *fresh = mmap(nullptr, arena_size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        char *none = nullptr;

        if (!__atomic_compare_exchange_n(&arena, &none, static_cast<char *>(fresh), false,
                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            munmap(fresh, arena_size);
    }
    size_t at = __atomic_fetch_add(&used, room, __ATOMIC_RELAXED);
    if (at + room > arena_size)
        return nullptr;
    size_t p = reinterpret_cast<size_t>(arena) + at + sizeof(head);
    p = (p + align - 1) / align * align;
    head *h = reinterpret_cast<head *>(p) - 1;
    *h = {0x600d600d600dull, size, kind, nullptr};
    return h + 1;
}

[[maybe_unused]] head *check(size_t kind, void *p)
{
    head *h = static_cast<head *>(p) - 1;

    if (h->magic != 0x600d600d600dull || (kind && h->kind != kind))
        complain();
    return h;
}

[[maybe_unused]] void drop(size_t kind, void *p)
{
    if (p)
        check(kind, p)->magic = 0;
}

enum { BY_MALLOC = 1, BY_NEW = 2 };

size_t at_least(size_t align)
{
    return align < 16 ? 16 : align;
}

void *obtain(size_t size, size_t align)
{
#if SHAPE == 1
    return take(BY_NEW, size, align);
#elif SHAPE == 5
    static void *first = malloc(33);

    return first ? take(BY_NEW, size, align) : nullptr;
#elif SHAPE == 3
    char *start = size > most ? nullptr : static_cast<char *>(malloc(size + align + sizeof(head)));
    size_t p = reinterpret_cast<size_t>(start) + sizeof(head);

    if (!start)
        return nullptr;
    p = (p + align - 1) / align * align;
    head *h = reinterpret_cast<head *>(p) - 1;
    *h = {0x600d600d600dull, size, BY_NEW, start};
    return h + 1;
#else
    void *p = nullptr;

    if (align <= 16)
        return malloc(size);
    return size <= most && posix_memalign(&p, align, size) == 0 ? p : nullptr;
#endif
}

void give_back(void *p)
{
#if SHAPE == 1 || SHAPE == 5
    drop(BY_NEW, p);
#elif SHAPE == 3
    if (p)
        free(check(BY_NEW, p)->start);
#else
    free(p);
#endif
}

void *get(size_t size, size_t align)
{
    for (;;) {
        void *p = obtain(size, at_least(align));
        std::new_handler handler = std::get_new_handler();

        if (p)
            return p;
        if (!handler)
            throw std::bad_alloc();
        handler();
    }
}

void *get_or_null(size_t size, size_t align) noexcept
{
    try {
        return get(size, align);
    } catch (...) {
        return nullptr;
    }
}

} // namespace

#if SHAPE != 4
EXPORT void *malloc(size_t size)
{
    void *p = take(BY_MALLOC, size, 16);

    if (!p)
        errno = ENOMEM;
    return p;
}
EXPORT void free(void *p)
{
    drop(BY_MALLOC, p);
}
EXPORT void *calloc(size_t n, size_t size)
{
    return malloc(n * size); // memory is never used again, so it is zero
}
EXPORT void *realloc(void *p, size_t size)
{
    void *fresh = malloc(size);

    if (p && fresh)
        memcpy(fresh, p, check(BY_MALLOC, p)->size < size ? check(BY_MALLOC, p)->size : size);
    if (fresh)
        free(p);
    return fresh;
}
EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    *out = take(BY_MALLOC, size, align);
    return *out ? 0 : ENOMEM;
}
EXPORT void *aligned_alloc(size_t align, size_t size)
{
    return take(BY_MALLOC, size, at_least(align));
}
EXPORT void *memalign(size_t align, size_t size)
{
    return take(BY_MALLOC, size, at_least(align));
}
EXPORT size_t malloc_usable_size(void *p)
{
    return p ? check(0, p)->size : 0;
}
#endif

#pragma GCC visibility push(default)
using std::align_val_t;
using std::nothrow_t;
// clang-format off
void *operator new(size_t n) { return get(n, 16); }
void *operator new[](size_t n) { return get(n, 16); }
void *operator new(size_t n, const nothrow_t &) noexcept { return get_or_null(n, 16); }
void *operator new[](size_t n, const nothrow_t &) noexcept { return get_or_null(n, 16); }
void *operator new(size_t n, align_val_t a) { return get(n, size_t(a)); }
void *operator new[](size_t n, align_val_t a) { return get(n, size_t(a)); }
void *operator new(size_t n, align_val_t a, const nothrow_t &) noexcept { return get_or_null(n, size_t(a)); }
void *operator new[](size_t n, align_val_t a, const nothrow_t &) noexcept { return get_or_null(n, size_t(a)); }
void operator delete(void *p) noexcept { give_back(p); }
void operator delete[](void *p) noexcept { give_back(p); }
void operator delete(void *p, const nothrow_t &) noexcept { give_back(p); }
void operator delete[](void *p, const nothrow_t &) noexcept { give_back(p); }
void operator delete(void *p, size_t) noexcept { give_back(p); }
void operator delete[](void *p, size_t) noexcept { give_back(p); }
void operator delete(void *p, align_val_t) noexcept { give_back(p); }
void operator delete[](void *p, align_val_t) noexcept { give_back(p); }
void operator delete(void *p, align_val_t, const nothrow_t &) noexcept { give_back(p); }
void operator delete[](void *p, align_val_t, const nothrow_t &) noexcept { give_back(p); }
void operator delete(void *p, size_t, align_val_t) noexcept { give_back(p); }
void operator delete[](void *p, size_t, align_val_t) noexcept { give_back(p); }
// clang-format on
#pragma GCC visibility pop
