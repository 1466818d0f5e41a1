#!/bin/bash
# The shell of the recipes for CI: gates, a picture, the difference to that of main.
. "${0%/*}/../lib.sh"

compile_victim keeper
mkdir bin
ln -s "$FLAME" bin/flame
export PATH=$SCRATCH/bin:$PATH
printf '#!/bin/sh\nexec ./keeper keep:%s\n' 1000 >app
chmod +x app

# steps FILE: its shell, as the service runs it.
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
    run_expect_status 0 "$service: the first run succeeds" bash "$service.sh"
    ok "$service: the first run has a picture" test -s memory.svg
    not_ok "$service: the first run has no difference" test -e difference.svg
    file_has out '^peak: [0-9]+ bytes of 200000000$' "$service: the first run prints its peak"
    file_has out '^waits: [0-9]+ us of 60000000$' "$service: the first run prints its waits"
    cp alloc.folded main.folded
    run_expect_status 0 "$service: the second run succeeds" bash "$service.sh"
    ok "$service: the second run has the difference" test -s difference.svg
    run_expect_status 1 "$service: the memory gate fails" env PEAK_LIMIT=1 bash "$service.sh"
    run_expect_status 1 "$service: the wait gate fails" env WAIT_LIMIT=-1 bash "$service.sh"
done
compile_victim leakers
cp app app.good
printf '#!/bin/sh\nexec ./leakers\n' >app
for service in github gitlab; do
    run "$FLAME" leak -q -- ./app
    leaks=$status
    run bash "$service.sh"
    is_int "$status" "$leaks" "$service: the leak gate has the status of flame leak"
    ok "$service: the status of flame leak is not 0" test "$leaks" -ne 0
done
done_testing
