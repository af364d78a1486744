#!/bin/sh
# The hash-pinned locks: --upgrade takes the newest versions, --check fails when pyproject.toml and a lock disagree.
# An existing lock steers the resolver, so --check changes nothing while the lock still satisfies pyproject.toml.
set -eu
cd "$(dirname "$0")/.."
mode=${1:---check}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp requirements/*.txt "$work/"
upgrade=""
[ "$mode" = --upgrade ] && upgrade=--upgrade

compile() { # output, sources and extras
  out=$1
  shift
  .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
    $upgrade --output-file "$work/$out" "$@"
}
compile bootstrap.txt requirements/bootstrap.in
compile run.txt pyproject.toml --extra server --extra embedder --extra embedded
compile dev.txt pyproject.toml --extra server --extra embedder --extra embedded --extra operator --extra dev \
  --constraint "$work/run.txt"
compile cluster.txt requirements/cluster.in --no-deps

for lock in bootstrap.txt run.txt dev.txt cluster.txt; do
  if [ "$mode" = --upgrade ]; then
    cp "$work/$lock" requirements/
  elif ! cmp -s "$work/$lock" "requirements/$lock"; then
    echo "requirements/$lock is stale: run 'make lock' and commit the result" >&2
    exit 1
  fi
done
