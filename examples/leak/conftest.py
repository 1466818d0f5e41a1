"""pytest: a test that leaks memory of C fails, when pytest runs under `flame leak`.

Copy it beside the tests. What counts is what the test's thread allocated while the test ran,
fixtures excluded, and what nothing leads to at its end.
"""

import ctypes

import pytest


class Left(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("blocks", "bytes", "looked")]


def find():
    """The functions of flamemem.h; None where the library is not there."""
    here = ctypes.CDLL(None)
    if not hasattr(here, "flamemem_leak_begin"):
        return None
    here.flamemem_leak_begin.argtypes = [ctypes.c_char_p]
    here.flamemem_leak_end.restype = Left
    return here


FLAMEMEM = find()


# The outermost: what other plugins do around the test has been done when this one fails it.
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    if FLAMEMEM:
        FLAMEMEM.flamemem_leak_begin(item.name.encode())
    outcome = yield
    left = FLAMEMEM.flamemem_leak_end() if FLAMEMEM else Left()
    if not left.blocks or outcome.excinfo:
        return
    try:
        pytest.fail(f"leaks {left.bytes} bytes in {left.blocks} blocks", pytrace=False)
    except pytest.fail.Exception as failure:
        # Before pluggy 1.1 a wrapper that raises is how a call is made to fail.
        if not hasattr(outcome, "force_exception"):
            raise
        outcome.force_exception(failure)
