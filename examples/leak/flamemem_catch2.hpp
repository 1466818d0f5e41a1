/*
 * A listener of Catch2, version 2 or 3: a test case that leaks fails, when the program runs
 * under `flame leak`. Copy it and include it in one source file of the tests, in place of
 * Catch2's own header there.
 *
 * Each run of a test case is scanned: one with sections runs once for each of them.
 */
#ifndef FLAMEMEM_CATCH2_HPP
#define FLAMEMEM_CATCH2_HPP

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using FlamememListenerBase = Catch::EventListenerBase;
#else
#include <catch2/catch.hpp>
using FlamememListenerBase = Catch::TestEventListenerBase;
#endif

#include "flamemem.h"

class FlamememListener : public FlamememListenerBase
{
    unsigned sections_ = 0; /* how deep: the outermost is the test case */

  public:
    using FlamememListenerBase::FlamememListenerBase;

    void sectionStarting(const Catch::SectionInfo &section) override
    {
        if (sections_++ == 0)
            flamemem_leak_begin(std::string(section.name).c_str());
    }

    void sectionEnded(const Catch::SectionStats &) override
    {
        if (--sections_ != 0)
            return;
        flamemem_left left = flamemem_leak_end();
        if (left.blocks)
            FAIL_CHECK("leaks " << left.bytes << " bytes in " << left.blocks << " blocks");
    }
};

CATCH_REGISTER_LISTENER(FlamememListener)

#endif
