#!/bin/bash
# flame leak --check misuse: correct programs have no misuse, whatever they use:
# interpreters, threads, children, plugins, their own allocators.
. "${0%/*}/../lib.sh"

seq 1 5000 >numbers
printf '#include <map>\n#include <string>\nint main() { return (int)std::map<int, std::string>().size(); }\n' >a.cc

# clean NAME COMMAND...: no misuse is found in it, or in what it starts.
clean() {
    local name=$1
    shift
    if ! type "$1" >/dev/null 2>&1; then
        skip "$1" "no $1"
        return
    fi
    # Leaks do not matter here.
    "$FLAME" leak --live --max-bytes 16g --max-blocks 1g --check misuse "$@" >out 2>err </dev/null
    file_has err '^flame: leak: 0 misuses of the allocator$' "$name: no misuse is reported"
}

# shellcheck disable=SC2016 # what is run expands them
clean bash bash -c 'for i in 1 2 3; do x=$(echo $i); a[i]=$x; done; declare -A h; h[a]=b; ls | sort -R'
clean python3 python3 -c 'import json, re, ssl, sqlite3, threading, ctypes, subprocess
t = threading.Thread(target=json.dumps, args=([1] * 1000,)); t.start(); t.join()
subprocess.run(["true"]); sqlite3.connect(":memory:").execute("create table t(a)")'
# shellcheck disable=SC2016
clean perl perl -e 'my %h = map { $_ => [1 .. 10] } 1 .. 1000; my $x = `echo hi`; fork'
clean git bash -c 'git init -q r && cd r && git -c user.name=n -c user.email=e commit -q --allow-empty -m m &&
    git log --stat && git gc -q'
clean sqlite3 sqlite3 :memory: 'create table t(a); insert into t values (1); select count(*) from t'
clean jq jq -n '[range(500) | {a: ., b: "x\(.)"}] | group_by(.a % 7) | map(length)'
clean sort sort -R --parallel=2 numbers
clean tar tar czf numbers.tgz numbers
clean c++ "${CXX:-g++}" -O1 -g -o a.exe a.cc
clean redis-server bash -c 'redis-server --port 0 --unixsocket "$PWD/s" --save "" & p=$!
    until redis-cli -s s ping; do :; done; redis-cli -s s set a b; redis-cli -s s shutdown nosave; wait $p'

for library in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
    LD_PRELOAD=$library clean "python3 with $library" python3 -c 'import json; json.dumps([1] * 1000)'
done

done_testing
