#!/bin/sh
# Programs that tests run and no wheel brings: from Debian, installed here where root may. Elsewhere their tests are
# skipped with a line that says so; under CI=true that is a failure.
set -eu

# program:package
wanted="pgbouncer:pgbouncer"

PATH="$PATH:/usr/sbin:/sbin"
missing=""
for one in $wanted; do
  command -v "${one%%:*}" > /dev/null || missing="$missing ${one##*:}"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "Installing$missing from Debian ..."
  # No service of theirs starts: the tests start what they need.
  log=$(mktemp)
  export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
  # shellcheck disable=SC2086
  if { apt-get update && apt-get install -y --no-install-recommends $missing; } > "$log" 2>&1; then
    rm -f "$log"
    exit 0
  fi
  tail -n 5 "$log" >&2
  rm -f "$log"
fi
echo "NEEDED BY TESTS AND NOT HERE:$missing. Their tests are left out; install with: sudo apt-get install$missing" >&2
[ "${CI:-}" != true ]
