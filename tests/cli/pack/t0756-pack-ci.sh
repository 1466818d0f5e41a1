#!/bin/bash
# The shell of the recipes for CI does what it says: gates, a picture, the difference to main's.
. "${0%/*}/../lib.sh"

compile_victim keeper
mkdir bin
ln -s "$FLAME" bin/flame
export PATH=$SCRATCH/bin:$PATH
printf '#!/bin/sh\nexec ./keeper keep:%s\n' 1000 >app
chmod +x app

# steps FILE: its shell, as the service would run it.
steps() {
    python3 "$ROOT/tests/cli/yaml_json.py" "$1" | python3 -c '
import json, sys
doc = json.load(sys.stdin)
job = doc["jobs"]["flame"] if "jobs" in doc else doc["flame"]
print("set -e")
for name, value in (job.get("env") or job.get("variables")).items():
    print(": \"${%s:=%s}\"; export %s" % (name, value, name))
for step in job.get("steps") or job["script"]:
    text = step if isinstance(step, str) else step.get("run", "")
    print(text)'
}

for service in github gitlab; do
    steps "$ROOT/packaging/ci/$service.yml" >"$service.sh"
    rm -f ./*.svg ./*.folded ./*.flame
    run_expect_status 0 "$service: a push" bash "$service.sh"
    ok 'has a picture' test -s memory.svg
    not_ok 'and no difference, as main has none' test -e difference.svg
    file_has out '^peak: [0-9]+ bytes of 200000000$' 'says its peak'
    file_has out '^waits: [0-9]+ us of 60000000$' 'and how long it waited'
    cp alloc.folded main.folded
    run_expect_status 0 "$service: the next" bash "$service.sh"
    ok 'has the difference to that' test -s difference.svg
    run_expect_status 1 "$service: the memory gate" env PEAK_LIMIT=1 bash "$service.sh"
    run_expect_status 1 "$service: the wait gate" env WAIT_LIMIT=-1 bash "$service.sh"
done
compile_victim leakers
cp app app.good
printf '#!/bin/sh\nexec ./leakers\n' >app
for service in github gitlab; do
    run "$FLAME" leak -q -- ./app
    leaks=$status
    run bash "$service.sh"
    is_int "$status" "$leaks" "$service: the leak gate has the status of flame leak"
    ok 'which is not 0' test "$leaks" -ne 0
done
done_testing
