// flamemem.h in C++: what an object begins, its destructor ends, however the block is left.
//
//     c++ -g -I PREFIX/include -o scopes scopes.cc
//     mkdir snapshots; flame mem --snapshots snapshots --view live -o scopes.svg -- ./scopes
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

#include "flamemem.hpp"

// Never destroyed, so that it is live at the end.
static auto &kept = *new std::vector<std::unique_ptr<char[]>>;

static void serve(int request)
{
    flamemem::tag tag(request % 2 ? "odd" : "even");

    kept.emplace_back(new char[1000]);
    if (request == 3)
        throw std::runtime_error("no such row"); // the tag ends here, too
    flamemem::pause quiet;
    kept.emplace_back(new char[50]);
}

int main()
{
    kept.reserve(100);
    for (int i = 0; i < 10; i++)
        try {
            serve(i);
        } catch (const std::runtime_error &) {
        }
    kept.emplace_back(new char[7]);
    static char memory[100];
    flamemem::pool pool; // an allocator of its own, which ends with the block
    pool.add(memory, sizeof memory);
    pool.alloc(memory, 40);
    pool.realloc(memory, memory + 40, 60);
    pool.free(memory + 40);
    bool copied = flamemem::snapshot("served");
    flamemem::mark("served");
    flamemem::leak_region region("tidy");
    delete new int;
    std::printf("%zu blocks, snapshot %d, left %d\n", kept.size(), copied,
                static_cast<int>(region.end().blocks));
}
