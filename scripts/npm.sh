#!/bin/sh
# npm.sh: the node modules of the browser tests, as package-lock.json has them, and Grafana's panel.
# Uses the registry only when a module is missing or the lock file or this script changed.
#
# The panel is unpacked without its dependencies. The tests load the module of it that lays a
# profile out, which needs no more than @grafana/data and lodash; the rest would be the whole of
# Grafana's user interface, a part of it from outside the registry. Rejected: overrides in
# package.json that put empty packages in the place of those dependencies. The npm of Debian 12 and
# 13 (9.2) refuses to read a package.json that overrides a package by another one ("npm:", "file:").
set -eu

panel=@grafana/flamegraph
version=13.0.1
sha512=26056ebebf2ae4ca49bc2ef4b87de2f2b240f6a3b2e16f12da203343d359f23ccade4059a1b5b46acf98b79c5a7eb3f2d1053d677c6484e8a6ea3146ed390787

cd "$(dirname "$0")/.."
stamp=node_modules/.flame-tests
if [ -e "$stamp" ] && [ -z "$(find package-lock.json scripts/npm.sh -newer "$stamp")" ]; then
    exit 0
fi

npm ci --loglevel=error --no-audit --no-fund </dev/null >/dev/null

packed=$(mktemp -d)
trap 'rm -rf "$packed"' EXIT
top=$PWD
cd "$packed"
npm pack --loglevel=error "$panel@$version" </dev/null >/dev/null
mv ./*.tgz panel.tgz
if ! echo "$sha512  panel.tgz" | sha512sum -c --status; then
    echo "flame: the registry's $panel@$version is not the one the tests were written for" >&2
    exit 1
fi
tar xzf panel.tgz
mkdir -p "$top/node_modules/$panel"
cp -R package/. "$top/node_modules/$panel"

touch "$top/$stamp"
