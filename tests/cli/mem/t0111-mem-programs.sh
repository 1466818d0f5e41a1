#!/usr/bin/env bash
# Real programs: their output does not change, and every stack is the one that libunwind
# finds without caches.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

twice() { # NAME COMMAND...
    local name=$1
    shift
    run "$@"
    cp out plain.out
    local plain=$status
    record referee=1 "$@"
    is_int "$status" "$plain" "$name ends with its status as unrecorded"
    ok "$name has its output as unrecorded" cmp plain.out out
    is_str "$(cat err)" "" "$name: each stack equals libunwind's"
    ok "$name: its trace has calls" test "$(total count)" -gt 50
}

python3 - >small.json <<'EOF'
import json
print(json.dumps([{"id": i, "name": "n%d" % i, "tags": [i % 7, i % 5]} for i in range(2000)]))
EOF
twice jq jq 'map(.id) | add' small.json
twice sqlite3 sqlite3 :memory: "create table t(a, b);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
    insert into t select i, hex(i * 7919) from n; create index x on t(b);
    select count(*), max(b) from t where b like '%A%';"
export PYTHONMALLOC=malloc PYTHONHASHSEED=1
python=$(command -v /usr/bin/python3 || command -v python3)
twice python "$python" -c 'import json; print(len(json.dumps([str(i) for i in range(2000)])))'
# shellcheck disable=SC2016 # perl's variables
twice perl perl -e 'my %h; $h{$_} = "x" x $_ for 1..500; print scalar(keys %h), "\n"'
twice git git --no-pager help -a
gcc -E -o ends.i "$ROOT/tests/victims/mem/ends.c"
twice gcc "$(gcc -print-prog-name=cc1)" -quiet -O1 -o - ends.i
done_testing
