/* acting ACT: plays one of the acts of tests/unit/acts.h. */
#include "tests/unit/acts.h"

int main(int argc, char **argv)
{
    return argc > 1 ? act(argv[1]) : 2;
}
