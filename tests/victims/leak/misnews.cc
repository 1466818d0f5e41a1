/*
 * Misuses of operators new and delete by a C++ program, one for each word on the command line. The
 * C library detects none of them: each ends with 0.
 *
 *   malloc-delete   new-free   new-delete[]   new[]-delete   aligned-delete   sized
 *   new-realloc     array-free  own (class operators, right)  clean
 */
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define APART __attribute__((noinline, noclone))

static void *volatile held;

struct point {
    double x, y, z;
};

struct wide {
    alignas(64) char bytes[128];
};

APART static void *by_malloc(size_t n)
{
    held = malloc(n);
    return held;
}

APART static point *by_new()
{
    point *p = new point();

    held = p;
    return p;
}

APART static int *by_new_array(size_t n)
{
    int *p = new int[n];

    held = p;
    return p;
}

APART static wide *by_new_aligned()
{
    wide *p = new wide();

    held = p;
    return p;
}

APART static void by_free(void *p)
{
    held = p;
    free(held);
}

APART static void by_delete(void *p)
{
    held = p;
    ::operator delete(held);
}

APART static void by_delete_array(void *p)
{
    held = p;
    ::operator delete[](held);
}

APART static void by_delete_sized(void *p, size_t size)
{
    held = p;
    ::operator delete(held, size);
}

/* ---- nothing wrong ---- */

struct with_own {
    char room[40];
    static void *operator new(size_t n)
    {
        return malloc(n);
    }
    static void operator delete(void *p)
    {
        free(p);
    }
};

struct in_pool {
    char room[40];
    static void *operator new(size_t n)
    {
        char *p = static_cast<char *>(malloc(n + 16));

        return p + 16;
    }
    static void operator delete(void *p)
    {
        free(static_cast<char *>(p) - 16);
    }
};

static void use_own()
{
    delete new with_own;
    delete new in_pool;
}

static void no_more()
{
    std::set_new_handler(nullptr);
    free(malloc(33));
    delete new int;
}

static void use_library()
{
    std::map<std::string, std::vector<int>> m;
    std::ostringstream text;
    std::unique_ptr<wide[]> wides(new wide[3]);
    std::shared_ptr<point> shared = std::make_shared<point>();
    std::allocator<int> none;

    for (int i = 0; i < 500; i++) {
        text << "a longer text than fits " << i;
        m[text.str()].assign(100, i);
        text.str("");
    }
    try {
        throw std::runtime_error("an exception with a text of its own that is long");
    } catch (const std::exception &) {
    }
    std::set_new_handler(no_more);
    volatile size_t much = SIZE_MAX / 2;
    try {
        held = ::operator new(much);
    } catch (const std::bad_alloc &) {
    }
    held = new (std::nothrow) char[much];
    free(malloc(34));
    none.deallocate(none.allocate(0), 0);
    delete[] new char[0];
    delete[] new (std::nothrow) std::string[3];
    ::operator delete(::operator new(10), 10);
    delete by_new();
    delete[] by_new_array(7);
    delete by_new_aligned();
    by_free(by_malloc(9));
}

static void clean()
{
    use_library();
    std::thread(use_library).join();
    use_own();
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];

        if (!strcmp(word, "malloc-delete"))
            by_delete(by_malloc(40));
        else if (!strcmp(word, "new-free"))
            by_free(by_new());
        else if (!strcmp(word, "new-delete[]"))
            by_delete_array(by_new());
        else if (!strcmp(word, "new[]-delete"))
            by_delete(by_new_array(10));
        else if (!strcmp(word, "aligned-delete"))
            by_delete(by_new_aligned());
        else if (!strcmp(word, "sized"))
            by_delete_sized(by_new(), 20);
        else if (!strcmp(word, "new-realloc"))
            held = realloc(by_new(), 100);
        else if (!strcmp(word, "array-free"))
            by_free(by_new_array(10));
        else if (!strcmp(word, "own"))
            use_own();
        else if (!strcmp(word, "clean"))
            clean();
    }
    return 0;
}
