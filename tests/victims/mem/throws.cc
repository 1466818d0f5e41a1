// Throws through ten frames that own memory, catches, and allocates again; the
// exceptions must work as without the shim. Prints "caught 1000".
#include <cstdio>
#include <string>
#include <vector>

__attribute__((noinline)) static void down(int n, std::vector<std::string> &v)
{
    std::string own(static_cast<size_t>(n) * 100 + 50, 'x');
    v.push_back(own);
    if (n == 0)
        throw std::string("bottom of the stack, long enough to be allocated");
    down(n - 1, v);
    v.pop_back();
}

int main()
{
    int caught = 0;
    for (int i = 0; i < 1000; i++) {
        std::vector<std::string> v;
        try {
            down(10, v);
        } catch (const std::string &s) {
            caught += s.size() > 10;
        }
    }
    std::printf("caught %d\n", caught);
    return caught == 1000 ? 0 : 1;
}
