/*
 * flamemem.hpp: C++ objects for the functions of flamemem.h. A constructor begins a tag, a pause, a
 * pool or a region, and the destructor ends it, also when an exception leaves the block.
 *
 *     flamemem::tag request("get");
 *     flamemem::pause quiet;
 *
 * An object belongs to the block and the thread that it is made in, and cannot be copied.
 * flamemem.h says what each function costs, and which threads may call it.
 */
#ifndef FLAME_PRELOAD_FLAMEMEM_HPP
#define FLAME_PRELOAD_FLAMEMEM_HPP

#include <cstddef>
#include <string>

#include "flamemem.h"

namespace flamemem
{

/* A tag: allocations of the thread have the frame "[tag: NAME]" at the bottom of their stacks. */
class tag
{
  public:
    explicit tag(const char *name) { flamemem_tag_push(name); }
    explicit tag(const std::string &name) { flamemem_tag_push(name.c_str()); }
    ~tag() { flamemem_tag_pop(); }
    tag(const tag &) = delete;
    tag &operator=(const tag &) = delete;
};

/* A pause: allocations of the thread are not counted. */
class pause
{
  public:
    pause() { flamemem_pause(); }
    ~pause() { flamemem_resume(); }
    pause(const pause &) = delete;
    pause &operator=(const pause &) = delete;
};

/* A pool: an allocator of the program's own, identified by the address of this object. */
class pool
{
  public:
    pool() { flamemem_pool_create(this); }
    ~pool() { flamemem_pool_destroy(this); }
    void add(const void *memory, std::size_t size) { flamemem_pool_add(this, memory, size); }
    void alloc(const void *p, std::size_t size) { flamemem_pool_alloc(this, p, size); }
    void free(const void *p) { flamemem_pool_free(this, p); }
    void realloc(const void *old, const void *p, std::size_t size)
    {
        flamemem_pool_realloc(this, old, p, size);
    }
    pool(const pool &) = delete;
    pool &operator=(const pool &) = delete;
};

/* A region for `flame leak`. end() returns the blocks that it left behind. Without end() the
 * destructor ends it, and only `flame leak` reports those blocks. */
class leak_region
{
  public:
    explicit leak_region(const char *name, unsigned flags = 0)
    {
        flamemem_leak_begin_with(name, flags);
    }
    explicit leak_region(const std::string &name, unsigned flags = 0)
        : leak_region(name.c_str(), flags)
    {
    }
    flamemem_left end()
    {
        ended = true;
        return flamemem_leak_end();
    }
    ~leak_region()
    {
        if (!ended)
            flamemem_leak_end();
    }
    leak_region(const leak_region &) = delete;
    leak_region &operator=(const leak_region &) = delete;

  private:
    bool ended = false;
};

/* Copies the trace as it is now. False: no copy is made. */
inline bool snapshot(const std::string &name = {})
{
    return flamemem_snapshot(name.c_str()) != 0;
}

/* Marks the end of a pass, for `flame leak --growth`. False: the mark is not recorded. */
inline bool mark(const std::string &name)
{
    return flamemem_mark(name.c_str()) != 0;
}

} // namespace flamemem

#endif
