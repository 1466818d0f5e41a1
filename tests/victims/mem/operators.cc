// Calls operator new and delete in all their forms; as a program, or as a library whose run()
// somebody calls (PLUGIN). What must be recorded, by function:
//
//   allocates   8,000 calls, 416,000 bytes, of which half is live in the end
//   refused     4 calls, 5,231 bytes, of which 231 bytes in 3 calls are live; more is asked for,
//               and bad_alloc thrown and caught, or null returned, as C++ has it
//   strings     what libstdc++ itself allocates for them (not with NO_STRINGS); nothing is live
//
// Prints "well" when C++ did what it must. With an argument it asks for nothing that it cannot
// get: mimalloc, which is written in C, ends a program then.
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <unistd.h>

#define CALLS 1000
#define NOINLINE __attribute__((noinline))

static const std::align_val_t wide{64};
static void *volatile kept;
static char *reserve;
static int handled;

static void *keep(void *p)
{
    if (p)
        memset(p, 1, 30);
    kept = p;
    return p;
}

NOINLINE static void allocates()
{
    for (int i = 0; i < CALLS; i++) {
        bool live = i % 2;
        void *p[8] = {
            keep(operator new(40)),
            keep(operator new[](40)),
            keep(operator new(40, std::nothrow)),
            keep(operator new[](40, std::nothrow)),
            keep(operator new(64, wide)),
            keep(operator new[](64, wide)),
            keep(operator new(64, wide, std::nothrow)),
            keep(operator new[](64, wide, std::nothrow)),
        };

        for (int k = 4; k < 8; k++)
            if (reinterpret_cast<size_t>(p[k]) % 64)
                _exit(3);
        if (live)
            continue;
        operator delete(p[0]);
        operator delete[](p[1], size_t(40));
        operator delete(p[2], std::nothrow);
        operator delete[](p[3], std::nothrow);
        operator delete(p[4], size_t(64), wide);
        operator delete[](p[5], wide);
        operator delete(p[6], wide, std::nothrow);
        operator delete[](p[7], size_t(64), wide);
    }
    operator delete(nullptr);
}

static void gives_reserve_back()
{
    handled++;
    delete[] reserve;
    reserve = nullptr;
    std::set_new_handler(nullptr);
}

static void throws()
{
    handled++;
    throw std::bad_alloc();
}

static size_t too_much()
{
    return size_t(1) << (getpid() ? 62 : 0);
}

static bool is_refused()
{
    try {
        keep(operator new(too_much()));
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

NOINLINE static bool refused()
{
    bool well;

    handled = 0;
    reserve = new char[5000];
    kept = reserve;
    std::set_new_handler(gives_reserve_back);
    well = is_refused() && handled == 1 && !reserve;
    keep(operator new(77));
    std::set_new_handler(throws);
    well = well && is_refused() && handled == 2;
    keep(operator new[](77));
    well = well && !keep(operator new(too_much(), std::nothrow)) && handled == 3;
    std::set_new_handler(nullptr);
    well = well && !keep(operator new[](too_much(), wide, std::nothrow));
    keep(operator new(77, std::nothrow));
    return well;
}

NOINLINE static bool strings()
{
    size_t sum = 0;

#ifndef NO_STRINGS
    for (int i = 0; i < CALLS; i++) {
        std::string s(200, 's');

        s.append(5000, 't'); // in libstdc++; what it had is deleted there as well
        std::string t = s;
        t.insert(100, s);
        sum += t.size();
    }
    return sum == size_t(CALLS) * 10400;
#endif
    return sum == 0;
}

/* The first exception of a thread takes memory for good. */
NOINLINE static void warms_up()
{
    try {
        throw 1;
    } catch (int) {
    }
}

extern "C" __attribute__((visibility("default"))) int run()
{
    bool well;

    warms_up();
    allocates();
    well = refused();
    well = strings() && well;
    return !well || write(1, "well\n", 5) != 5;
}

#ifndef PLUGIN
int main(int argc, char **)
{
    if (argc == 1)
        return run();
    allocates();
    return !strings() || write(1, "well\n", 5) != 5;
}
#endif
