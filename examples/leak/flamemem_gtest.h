/*
 * A GoogleTest listener: a test that leaks fails, when the program runs under `flame leak`.
 * Copy it, and put one line into main, behind InitGoogleTest:
 *
 *     testing::UnitTest::GetInstance()->listeners().Append(new FlamememListener);
 *
 * What counts is what the test case and its fixture allocated in the test's thread and what
 * nothing leads to when both are done.
 */
#ifndef FLAMEMEM_GTEST_H
#define FLAMEMEM_GTEST_H

#include <string>

#include <gtest/gtest.h>

#include "flamemem.h"

class FlamememListener : public testing::EmptyTestEventListener
{
    void OnTestStart(const testing::TestInfo &test) override
    {
        flamemem_leak_begin((std::string(test.test_case_name()) + "." + test.name()).c_str());
    }

    void OnTestEnd(const testing::TestInfo &) override
    {
        flamemem_left left = flamemem_leak_end();

        if (left.blocks)
            ADD_FAILURE() << "leaks " << left.bytes << " bytes in " << left.blocks << " blocks";
    }
};

#endif
