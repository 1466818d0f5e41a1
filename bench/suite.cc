// suite [--tiny] [--list | CASE]: a test suite of the shape many have: forty cases in C++, each of
// some tens of milliseconds of work on containers, strings and numbers, all in one process or each
// in one of its own. Nothing is leaked. Ends with 1 if a case does not find what it should.
// --tiny: four cases.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{

struct Random {
    uint64_t state;
    uint32_t operator()(uint32_t below)
    {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<uint32_t>((state >> 33) % below);
    }
};

std::string word(Random &r)
{
    std::string s;

    for (uint32_t n = 3 + r(20); n > 0; n--)
        s += static_cast<char>('a' + r(26));
    return s;
}

bool counts_words(Random &r)
{
    std::map<std::string, int> counts;
    int sum = 0;

    for (int i = 0; i < 15000; i++)
        counts[word(r).substr(0, 4)]++;
    for (const auto &c : counts)
        sum += c.second;
    return sum == 15000;
}

struct Node {
    char op;
    long value;
    std::unique_ptr<Node> left, right;
};

std::unique_ptr<Node> grow(Random &r, int depth)
{
    auto n = std::make_unique<Node>();

    n->op = depth > 0 ? "+-*"[r(3)] : '#';
    n->value = r(10);
    if (depth > 0) {
        n->left = grow(r, depth - 1);
        n->right = grow(r, depth - 1);
    }
    return n;
}

long value_of(const Node &n)
{
    if (n.op == '#')
        return n.value;
    long a = value_of(*n.left) % 1000, b = value_of(*n.right) % 1000;

    return n.op == '+' ? a + b : n.op == '-' ? a - b : a * b;
}

bool evaluates_trees(Random &r)
{
    auto tree = grow(r, 12);
    long first = value_of(*tree);

    for (int i = 0; i < 40; i++)
        if (value_of(*tree) != first)
            return false;
    return true;
}

bool sorts_strings(Random &r)
{
    std::vector<std::string> words;

    for (int i = 0; i < 12000; i++)
        words.push_back(word(r));
    std::sort(words.begin(), words.end());
    return std::is_sorted(words.begin(), words.end());
}

bool matches_patterns(Random &r)
{
    static const std::regex pattern("([a-z]+)-([0-9]{2,4})");
    std::smatch found;
    int hits = 0;

    for (int i = 0; i < 1200; i++) {
        std::string line = word(r) + "-" + std::to_string(10 + r(9000));

        hits += std::regex_match(line, found, pattern);
    }
    return hits == 1200;
}

bool formats_numbers(Random &r)
{
    for (int i = 0; i < 12000; i++) {
        std::ostringstream out;
        uint32_t n = r(1000000), back = 0;

        out << n << ' ' << 0.5;
        std::istringstream(out.str()) >> back;
        if (back != n)
            return false;
    }
    return true;
}

bool keeps_a_cache(Random &r)
{
    std::list<std::pair<uint32_t, std::string>> order;
    std::unordered_map<uint32_t, decltype(order)::iterator> index;

    for (int i = 0; i < 60000; i++) {
        uint32_t key = r(3000);
        auto found = index.find(key);

        if (found != index.end()) {
            order.splice(order.begin(), order, found->second);
            continue;
        }
        order.emplace_front(key, word(r));
        index[key] = order.begin();
        if (order.size() > 1000) {
            index.erase(order.back().first);
            order.pop_back();
        }
    }
    return order.size() == index.size();
}

bool multiplies(Random &r)
{
    const size_t n = 180;
    std::vector<double> a(n * n), b(n * n), c(n * n);

    for (size_t i = 0; i < n * n; i++) {
        a[i] = r(100);
        b[i] = i % n == i / n;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    return a == c;
}

bool shares_a_graph(Random &r)
{
    struct Vertex {
        std::vector<std::weak_ptr<Vertex>> edges;
    };
    std::vector<std::shared_ptr<Vertex>> all(8000);
    size_t seen = 0;

    for (auto &v : all)
        v = std::make_shared<Vertex>();
    for (auto &v : all)
        for (int i = 0; i < 4; i++)
            v->edges.push_back(all[r(8000)]);
    for (auto &v : all)
        for (auto &e : v->edges)
            seen += e.lock() != nullptr;
    return seen == 4 * all.size();
}

bool checks_sums(Random &r)
{
    std::vector<uint32_t> data(4000);
    uint32_t first = 0;

    for (auto &d : data)
        d = r(UINT32_MAX);
    for (int round = 0; round < 1500; round++) {
        uint32_t h = 2166136261u;

        for (uint32_t d : data)
            h = (h ^ d) * 16777619u;
        if (round > 0 && h != first)
            return false;
        first = h;
    }
    return true;
}

bool calls_back(Random &r)
{
    std::vector<std::function<long(long)>> steps;
    long sum = 0, twice = 0;

    for (int i = 0; i < 4000; i++) {
        long a = r(7), b = r(7), c = r(7);

        steps.push_back([a, b, c](long x) { return (x + a * b + c) % 1000; });
    }
    for (int i = 0; i < 200; i++)
        for (const auto &s : steps)
            sum = s(sum);
    for (int i = 0; i < 200; i++)
        for (const auto &s : steps)
            twice = s(twice);
    return sum == twice;
}

const struct {
    const char *name;
    bool (*check)(Random &r);
} kinds[] = {
    {"counts_words", counts_words},       {"evaluates_trees", evaluates_trees},
    {"sorts_strings", sorts_strings},     {"matches_patterns", matches_patterns},
    {"formats_numbers", formats_numbers}, {"keeps_a_cache", keeps_a_cache},
    {"multiplies", multiplies},           {"shares_a_graph", shares_a_graph},
    {"checks_sums", checks_sums},         {"calls_back", calls_back},
};

} // namespace

int main(int argc, char **argv)
{
    bool tiny = argc > 1 && strcmp(argv[1], "--tiny") == 0;
    const char *wanted = argc > 1 + tiny ? argv[1 + tiny] : "";
    int failed = 0;

    for (uint64_t seed = 1; seed <= 4; seed++)
        for (const auto &kind : kinds) {
            std::string name = std::string(kind.name) + "_" + std::to_string(seed);
            Random r{seed};

            if (tiny && &kind != kinds)
                continue;
            if (strcmp(wanted, "--list") == 0)
                puts(name.c_str());
            else if (!*wanted || name == wanted)
                for (int i = 0; i < 3; i++)
                    failed += !kind.check(r);
        }
    return failed != 0;
}
