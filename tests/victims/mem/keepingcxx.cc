/*
 * Containers of the C++ library in one static object, with a block of known size for each element:
 *
 *   widgets   1,000 objects of 88 bytes in a vector of pointers
 *   parts     200 objects of 144 bytes that the vector leads into
 *   names     500 values of 200 characters in a map, with keys of 44
 *   log       300 texts of 100 characters in a list
 *
 * Prints "truth N": the bytes of all of them, with the containers' own blocks.
 */
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <unistd.h>
#include <vector>

static size_t held; // bytes of blocks that are live

static size_t *counted(size_t size)
{
    size_t *p = static_cast<size_t *>(malloc(size + 16));

    if (!p)
        _exit(3);
    held += size + 16;
    *p = size + 16;
    return p + 2;
}

static void discount(void *p)
{
    if (p) {
        held -= static_cast<size_t *>(p)[-2];
        free(static_cast<size_t *>(p) - 2);
    }
}

void *operator new(size_t size)
{
    return counted(size);
}
void operator delete(void *p) noexcept
{
    discount(p);
}
void operator delete(void *p, size_t) noexcept
{
    discount(p);
}

struct widget {
    virtual ~widget() = default;
    long a[10] = {};
};
struct base {
    virtual ~base() = default;
    long y = 0;
};
struct multi : widget, base {
    long z[5] = {};
};

struct registry {
    std::vector<std::unique_ptr<widget>> widgets;
    std::vector<base *> parts;
    std::map<std::string, std::string> names;
    std::list<std::string> log;
};

static registry &all()
{
    static registry r;
    return r;
}

int main()
{
    size_t before = held;

    for (int i = 0; i < 1000; i++)
        all().widgets.push_back(std::make_unique<widget>());
    for (int i = 0; i < 200; i++)
        all().parts.push_back(new multi);
    for (int i = 0; i < 500; i++)
        all().names["a key that is long enough for a block " + std::to_string(100000 + i)] =
            std::string(200, 'x');
    for (int i = 0; i < 300; i++)
        all().log.push_back(std::string(100, 'y'));
    printf("truth %zu\n", held - before);
    fflush(stdout);
    _exit(0);
}
