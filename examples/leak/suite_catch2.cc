/* Catch2 3 brings a main in a library, Catch2 2 in its header. */
#define CATCH_CONFIG_MAIN
#include "flamemem_catch2.hpp"

static char *volatile kept;

TEST_CASE("good")
{
    char *block = new char[200];

    REQUIRE(block != nullptr);
    delete[] block;
}

TEST_CASE("leaky")
{
    SECTION("keeps its block")
    {
        char *block = new char[201];

        REQUIRE(block != nullptr);
        delete[] block;
    }
    SECTION("loses its block")
    {
        kept = new char[202];
        REQUIRE(kept != nullptr);
        kept = nullptr;
    }
}

TEST_CASE("good again")
{
    char *block = new char[203];

    REQUIRE(block != nullptr);
    delete[] block;
}
