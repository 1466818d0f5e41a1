import ctypes
import os

library = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "suite_pytest.so"))


def test_good():
    library.good()


def test_leaky():
    library.leaky()


def test_good_again():
    library.good()
