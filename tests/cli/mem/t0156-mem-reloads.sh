#!/usr/bin/env bash
# Libraries that come and go at one address keep their own names.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim reloads -ldl
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    compile_victim reloaded -shared -fPIC -DMAKER="maker$i" -DSIZE="$((100 + i))"
    mv reloaded "lib$i.so"
done

record '' ./reloads turns 6000 ./lib1.so ./lib2.so ./lib3.so
is_int "$status" 0 'three libraries reloaded six thousand times: the program ends with status 0'
for i in 1 2 3; do
    is_int "$(fview count | grep ";maker$i " | awk '{ n += $NF } END { print n }')" \
        2000 "reloaded library $i has its name each time"
done
is_int "$(fview alloc | grep -c ';made;maker')" 3 'each reloaded library has one stack'
ok 'reloads do not grow the recorder' test "$(cat out)" -lt 256
ok 'reloads do not grow the trace' test "$(on_disk t.flame)" -le 524288
is_str "$(cat err)" '' 'reloads print no error'

# shellcheck disable=SC2046 # twelve words
record modules=8 ./reloads turns 48 $(printf './lib%d.so ' 1 2 3 4 5 6 7 8 9 10 11 12)
is_int "$(fview count | awk '/;made;maker[0-9]+ / { n++; calls += $NF } END { print 100 * n + calls }')" \
    1248 'more libraries in turn than modules=8 have their names'
file_lacks err . 'more libraries in turn than modules=8 print no error'

# shellcheck disable=SC2046
record modules=8 ./reloads keep $(printf './lib%d.so ' 1 2 3 4 5 6 7 8 9 10 11 12)
is_int "$status" 0 'more libraries at once than modules=8: the program ends with status 0'
is_str "$(cat err)" 'libflamemem: more than 8 modules are loaded at once; frames of the others are [unknown module]' \
    'more libraries at once than modules=8 are reported once'
fview alloc >all
file_has all ';main(_\[i\])?;call(_\[i\])?;\[unknown module\];\[unknown module\] ' \
    'frames of libraries beyond modules=8 are [unknown module]'
bytes=$(awk '{ n += $NF } END { print n }' all)
# shellcheck disable=SC2046
record '' ./reloads keep $(printf './lib%d.so ' 1 2 3 4 5 6 7 8 9 10 11 12)
is_int "$bytes" "$(total alloc)" 'more libraries at once than modules=8: all bytes count'

if [ "$(uname -m)" = x86_64 ]; then
    record '' ./reloads code ./lib1.so
    read -r could pid <out
    is_str "$could" ran 'the program generates code where a library was'
    fview alloc >all
    file_has all ';call(_\[i\])?;made;maker1 101$' 'blocks of an unloaded library have its name'
    file_has all ';main(_\[i\])?(;run_code(_\[i\])?)?;made_here_\[j\] 77$' \
        'generated code does not have the name of an unloaded library'
    rm -f "/tmp/perf-$pid.map"
fi
done_testing
