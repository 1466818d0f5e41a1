#!/bin/bash
# flame mem with a fake interpreter: kinds of functions and of programs that the
# installed Pythons do not have, and chains of frames that no interpreter makes.
. "${0%/*}/../lib.sh"

library() { compile_victim pseudopython -DLIBRARY -shared -fPIC -o libpseudo.so "$@"; }
cd "$SCRATCH" || exit 1
library
compile_victim pseudopython -fno-pie -no-pie -L. -lpseudo -Wl,-rpath,"$SCRATCH"

# record WHAT: its messages are in err.
record() {
    rm -f made*.flame
    run_expect_status 0 "flame mem of pseudopython $1 succeeds" \
        "$FLAME" mem --no-names -o made.flame -- ./pseudopython "$1"
}

if [ "$(uname -m)" != x86_64 ]; then
    record names
    file_has "$SCRATCH/err" 'functions of Python on this processor have no names' \
        'the summary says that Python has no names on this processor'
    done_testing
fi

record names
"$FLAME" fold --view alloc made.flame >out
file_has out ';py::outer:made.py;py::Class.__init__:made.py 100000$' \
    "a program with copies of Python's types has names"
file_has out ';py::outer:made.py;py::[?]:made.py 110000$' 'a Python function whose name cannot be read is [?]'

record reused
"$FLAME" fold --view alloc made.flame >out
while read -r size stack; do
    file_has out ";$stack $size\$" "memory of a function that another one reuses: $size bytes are below $stack"
done <<'E1'
1000 py::outer:made.py;py::first:here.py
2000 py::outer:made.py;py::again:here.py
3000 py::outer:made.py;py::third:here.py
4000 py::outer:made.py;py::forth:here.py
5000 py::outer:made.py;py::forth:away.py
6000 py::outer:made.py;py::fifth:away.py
16000 py::outer:made.py;py::sixth:away.py
8000 py::outer:made.py;py::other:away.py;py::sixth:away.py
10000 py::outer:made.py;py::other:away.py
11000 py::other:away.py;py::other:away.py
E1

record deep
"$FLAME" fold --view alloc made.flame >out
file_has out ';py::outermost:made.py;py::deeper:made.py;.*;py::deeper:made.py;.* 100000$' \
    'outermost and innermost of 200,000 Python functions have names'

record rubbish
file_has "$SCRATCH/out" survived 'no damaged chain of Python frames harms the program'
"$FLAME" fold --view alloc made.flame >out
"$FLAME" mem -q --no-python --no-names -o bare.flame -- ./pseudopython rubbish >/dev/null
is_str "$(awk '{ sum += $NF } END { printf "%.0f", sum }' out)" \
    "$("$FLAME" fold --view alloc bare.flame | awk '{ sum += $NF } END { printf "%.0f", sum }')" \
    'damaged chains of Python frames: the same bytes with and without --no-python'

library -DFREE_THREADED
record names
file_has "$SCRATCH/err" 'built without a GIL have no names' 'the summary names a Python without a GIL'
done_testing
