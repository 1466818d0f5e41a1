#include "flamemem_gtest.h"

static char *volatile kept;

TEST(Names, Good)
{
    delete[] new char[100];
}

TEST(Names, Leaky)
{
    kept = new char[101];
    kept = nullptr;
}

TEST(Names, GoodAgain)
{
    delete[] new char[102];
}

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    testing::UnitTest::GetInstance()->listeners().Append(new FlamememListener);
    return RUN_ALL_TESTS();
}
