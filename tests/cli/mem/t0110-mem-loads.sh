#!/usr/bin/env bash
# dlopen and dlclose: each address belongs to the module that was there then.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

# Without optimization the two stacks have the same words throughout.
compile_victim loads -ldl -O0
for one in "alpha 111" "beta_ 222"; do
    read -r name size <<<"$one"
    compile_victim plugin -shared -fPIC -O0 -DNAME="$name" -DSIZE="$size"
    mv plugin "$name.so"
done
record referee=1 ./loads ./alpha.so alpha ./beta_.so beta_
is_int "$status" 0 'a program that opens and closes modules ends with status 0'
is_str "$(cat err)" "" "a program that opens and closes modules: each stack equals libunwind's"
is_str "$(cat out)" same 'the loader maps both modules at one address'
is_int "$(fview alloc | grep -E ';alpha ' | awk '{ n += $NF } END { print n }')" 111 \
    'bytes of the first module have its function'
is_int "$(fview alloc | grep -E ';beta_ ' | awk '{ n += $NF } END { print n }')" 44622 \
    'bytes of the second module have its function, 201 times'
# A module that returns to its address begins no new epoch: stacks merge and the file stays.
ok 'reloading the same file does not grow the trace' test "$(on_disk t.flame)" -le 524288
done_testing
