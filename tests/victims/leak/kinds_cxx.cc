// Cases (kinds.h) of the C++ library's objects, whichever library it is. Blocks are identified by
// the function that the object is made or filled in. What is kept is kept by references, so that
// nothing is destroyed at the end.
#include "tests/victims/leak/kinds.h"

#include <any>
#include <array>
#include <deque>
#include <exception>
#include <forward_list>
#include <fstream>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <queue>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace
{

const char long_text[] = "a text that is too long to be kept within the string itself, certainly";

// A case whose blocks are all of one class: a function that has it in its name.
#define ONE(name)                                                                                  \
    NOINLINE void name();                                                                          \
    CASE(of_##name, NAMED(name))                                                                   \
    {                                                                                              \
        name();                                                                                    \
    }                                                                                              \
    NOINLINE void name()

// ---- kept ----

ONE(reachable_vector)
{
    static auto *kept = new std::vector<long>(100, 1);
    kept->resize(1000);
}

ONE(reachable_vector_of_vectors)
{
    static auto &kept = *new std::vector<std::vector<int>>(10, std::vector<int>(20, 1));
    kept.emplace_back(30, 2);
}

ONE(reachable_vector_of_bools)
{
    static auto &kept = *new std::vector<bool>(5000, true);
    kept.push_back(false);
}

ONE(reachable_deque)
{
    static auto &kept = *new std::deque<std::array<long, 9>>();
    for (int i = 0; i < 500; i++)
        kept.push_front({});
    for (int i = 0; i < 200; i++)
        kept.pop_back();
}

ONE(reachable_list)
{
    static auto &kept = *new std::list<long>(20, 7);
    kept.push_front(3);
}

ONE(reachable_forward_list)
{
    static auto &kept = *new std::forward_list<long>(20, 7);
    kept.push_front(3);
}

ONE(reachable_map)
{
    static auto &kept = *new std::map<int, long>();
    for (int i = 0; i < 50; i++)
        kept[i * 7 % 50] = i;
}

ONE(reachable_set)
{
    static auto &kept = *new std::multiset<int>();
    for (int i = 0; i < 50; i++)
        kept.insert(i * 7 % 10);
}

ONE(reachable_unordered_map)
{
    static auto &kept = *new std::unordered_map<int, std::unique_ptr<long>>();
    for (int i = 0; i < 50; i++)
        kept[i] = std::make_unique<long>(i);
}

ONE(reachable_unordered_set)
{
    static auto &kept = *new std::unordered_multiset<int>();
    for (int i = 0; i < 50; i++)
        kept.insert(i % 9);
}

ONE(reachable_queues)
{
    static auto &first = *new std::priority_queue<int>();
    static auto &second = *new std::queue<std::string>();
    for (int i = 0; i < 20; i++) {
        first.push(i);
        second.push(long_text);
    }
}

ONE(reachable_string)
{
    static auto &kept = *new std::string(long_text);
    static auto &wide = *new std::wstring(100, L'x');
    kept += long_text;
}

// The text lies within the object, which points to it.
ONE(reachable_short_string)
{
    static auto *kept = new std::string("short");
    kept->push_back('!');
}

ONE(reachable_unique)
{
    static auto &kept = *new auto(std::make_unique<std::array<long, 20>>());
    kept->fill(1);
}

// The object lies behind its counters, in one block with them.
ONE(reachable_made_shared)
{
    static auto &kept = *new auto(std::make_shared<std::array<long, 20>>());
    kept->fill(1);
}

ONE(reachable_shared)
{
    static auto &kept = *new std::shared_ptr<std::array<long, 20>>(new std::array<long, 20>());
    kept->fill(1);
}

// The object is over, its memory is not.
ONE(reachable_weak)
{
    static auto &kept =
        *new std::weak_ptr<std::array<long, 20>>(std::make_shared<std::array<long, 20>>());
}

ONE(reachable_function)
{
    static auto &kept = *new std::function<long()>();
    std::array<long, 20> captured{};
    kept = [captured] { return captured[3]; };
}

ONE(reachable_any)
{
    static auto &kept = *new std::any();
    kept = std::array<long, 20>();
}

ONE(reachable_optional)
{
    static auto &kept = *new std::optional<std::vector<int>>();
    kept.emplace(100);
}

ONE(reachable_variant)
{
    static auto &kept = *new std::variant<int, std::string, std::vector<int>>();
    kept = std::string(long_text);
}

ONE(reachable_tuple)
{
    static auto &kept = *new std::tuple<int, std::string>(1, long_text);
    static auto &pair = *new std::pair<std::unique_ptr<int>, int>(std::make_unique<int>(1), 2);
}

ONE(reachable_promise)
{
    static auto &promise = *new std::promise<std::string>();
    static auto &future = *new auto(promise.get_future());
    promise.set_value(long_text);
}

ONE(reachable_packaged_task)
{
    static auto &task =
        *new std::packaged_task<std::string()>([] { return std::string(long_text); });
    static auto &future = *new auto(task.get_future());
    task();
}

ONE(reachable_stream)
{
    static auto &kept = *new std::ostringstream();
    for (int i = 0; i < 100; i++)
        kept << long_text;
}

ONE(reachable_file_stream)
{
    static auto &kept = *new std::ifstream("/proc/self/stat");
    kept.get();
}

// The block, if any, that the library allocates for a thread that throws for the first time.
NOINLINE void reachable_by_first_throw()
{
    try {
        throw 1;
    } catch (int) {
    }
}

// A pointer to the object, which lies behind what the unwinder needs of it.
ONE(inner_exception)
{
    reachable_by_first_throw();
    alignas(std::exception_ptr) static char place[sizeof(std::exception_ptr)];
    auto &kept = *new (place) std::exception_ptr();
    try {
        throw std::runtime_error(long_text);
    } catch (...) {
        kept = std::current_exception();
    }
}

ONE(reachable_thread_local)
{
    static thread_local auto &kept = *new std::vector<int>();
    kept.resize(100);
}

ONE(reachable_nothrow)
{
    static int *kept, *aligned;
    kept = new (std::nothrow) int[30];
    aligned = static_cast<int *>(operator new(300, std::align_val_t(256)));
    (void)kept;
    (void)aligned;
}

struct plain {
    long words[10];
};

ONE(reachable_array_of_plain)
{
    static plain *kept;
    kept = new plain[10]();
    (void)kept;
}

// ---- kept by pointers to insides ----

struct with_destructor {
    ~with_destructor()
    {
        words[0] = 0;
    }
    long words[10];
};

// The number of objects lies before the first.
ONE(inner_array_with_count)
{
    static with_destructor *kept;
    kept = new with_destructor[10]();
    (void)kept;
}

struct base_a {
    virtual ~base_a() = default;
    long a = 1;
};

struct base_b {
    virtual ~base_b() = default;
    long b = 2;
};

struct derived : base_a, base_b {
    long c = 3;
};

ONE(inner_second_base)
{
    static base_b *kept;
    kept = new derived();
    (void)kept;
}

ONE(reachable_first_base)
{
    static base_a *kept;
    kept = new derived();
    (void)kept;
}

struct virtual_base {
    virtual ~virtual_base() = default;
    long v = 4;
};

struct diamond_left : virtual virtual_base {
    long l = 5;
};

ONE(inner_virtual_base)
{
    static virtual_base *kept;
    kept = new diamond_left();
    (void)kept;
}

ONE(inner_member)
{
    static long *kept;
    kept = &(new plain())->words[3];
    (void)kept;
}

// ---- lost ----

ONE(definite_object)
{
    new plain();
}

ONE(definite_array_with_count)
{
    new with_destructor[10]();
}

ONE(definite_released)
{
    std::make_unique<plain>().release();
}

NOINLINE void indirect_in_vector(std::vector<long> *v)
{
    v->assign(100, 3);
}

NOINLINE std::vector<long> *definite_vector()
{
    return new std::vector<long>();
}

CASE(vector_lost, NAMED(definite_vector) NAMED(indirect_in_vector))
{
    indirect_in_vector(definite_vector());
}

NOINLINE std::string *definite_string()
{
    return new std::string();
}

NOINLINE void indirect_in_string(std::string *s)
{
    *s = long_text;
}

CASE(string_lost, NAMED(definite_string) NAMED(indirect_in_string))
{
    indirect_in_string(definite_string());
}

ONE(definite_short_string)
{
    new std::string("short");
}

struct peer {
    std::shared_ptr<peer> other;
    std::unique_ptr<long> own;
};

NOINLINE void indirect_of_circle(peer *p)
{
    p->own = std::make_unique<long>(3);
}

// Each has the other, and nobody has them: here one has itself.
NOINLINE std::shared_ptr<peer> definite_made_shared()
{
    return std::make_shared<peer>();
}

CASE(shared_circle, NAMED(definite_made_shared) NAMED(indirect_of_circle))
{
    auto p = definite_made_shared();
    p->other = p;
    indirect_of_circle(p.get());
}

class not_virtual
{
  public:
    NOINLINE not_virtual() : own(new long[5])
    {
    }
    // It has no destructor, so what it has is lost with it.
    long *own;
};

ONE(definite_own)
{
    not_virtual n;
    n.own[0] = 1;
}

ONE(definite_by_exception)
{
    try {
        auto *p = new plain();
        p->words[0] = 1;
        throw 1;
    } catch (int) {
    }
}

ONE(reachable_placed)
{
    static void *kept;
    kept = operator new(sizeof(derived));
    new (kept) derived();
}

struct pooled {
    static void *operator new(size_t size)
    {
        return malloc(size);
    }
    static void operator delete(void *p)
    {
        free(p);
    }
    long words[5];
};

ONE(definite_pooled)
{
    new pooled();
}

// ---- threads ----

ONE(reachable_async)
{
    static auto &future =
        *new auto(std::async(std::launch::async, [] { return std::string(long_text); }));
    future.wait();
}

ONE(reachable_deferred)
{
    static auto &future =
        *new auto(std::async(std::launch::deferred, [] { return std::string(long_text); }));
}

ONE(reachable_thread)
{
    pthread_barrier_init(&kinds_arrival, nullptr, 2);
    static auto &t = *new std::thread([text = std::string(long_text)] {
        stay();
        (void)text.size();
    });
    pthread_barrier_wait(&kinds_arrival);
    t.detach();
}

} // namespace
