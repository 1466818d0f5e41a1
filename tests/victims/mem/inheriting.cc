// Like owning.c. After "work" each of these members of C++ objects keeps a block of that size:
//
//   space::object    .root 2001         of a base class's base class
//                    .name._M_dataplus._M_p (of libstdc++) 2002
//                    .own 2003
//   space::object    has a virtual base, too
//   shape::shared    .left 2004         a static member of a class
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

namespace space
{
struct root_base {
    long n;
    void *root;
};
struct base : root_base {
    std::string name;
};
struct virtual_base {
    void *shared;
};
struct derived : base, virtual virtual_base {
    static void *not_here;
    void *own;
    virtual ~derived()
    {
    }
};
derived object;
} // namespace space

struct shape {
    struct both {
        void *right, *left;
    };
    static both shared;
};
shape::both shape::shared;

static void *get(size_t size)
{
    void *p = calloc(1, size);

    if (!p)
        _exit(3);
    return p;
}

__attribute__((noinline)) static void work()
{
    space::object.root = get(2001);
    space::object.name = std::string(2001, 'x');
    space::object.own = get(2003);
    shape::shared.left = get(2004);
}

__attribute__((noinline)) static void overwrite()
{
    char room[16384];

    memset(room, 0, sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
}

int main()
{
    char word[16];

    while (scanf("%15s", word) == 1 && strcmp(word, "work") == 0) {
        work();
        overwrite();
        puts("done");
        fflush(stdout);
    }
    return 0;
}
