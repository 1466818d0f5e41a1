#!/bin/sh
# npm.sh: the node modules of the browser tests, as package-lock.json has them.
# Asks the registry only when they are not there yet or the lock file changed.
set -eu

cd "$(dirname "$0")/.."
stamp=node_modules/.package-lock.json
if [ ! -e "$stamp" ] || [ -n "$(find package-lock.json -newer "$stamp")" ]; then
    npm ci --loglevel=error --no-audit --no-fund </dev/null >/dev/null
    touch "$stamp"
fi
