// refused.cc: asks tcmalloc by its own names for more than there is, five times. The new_handler
// allocates each time it is called, 33 bytes, and throws at the third. After that works() keeps
// blocks of 50 and of 70 bytes, by tc_new and by malloc, and gives one of 60 back.
#include <cstdint>
#include <cstdlib>
#include <new>

extern "C" void *tc_new(size_t size);
extern "C" void tc_delete(void *p);

static volatile size_t huge = SIZE_MAX / 2;
static int called;
static void *volatile last;

static void handler()
{
    last = malloc(33);
    free(last);
    if (++called % 3 == 0)
        throw std::bad_alloc();
}

__attribute__((noinline)) static void works()
{
    std::set_new_handler(handler);
    for (int i = 0; i < 5; i++)
        try {
            last = tc_new(huge);
            abort();
        } catch (const std::bad_alloc &) {
        }
    last = tc_new(60);
    tc_delete(last);
    last = tc_new(50);
    last = malloc(70);
}

int main()
{
    works();
}
