#!/bin/sh
# Runs with and without faults and a short campaign, all against the reference broker; then their lake, marts and
# pages. Usage: .ci/pipeline.sh BIN OUT. OUT is deleted and created again; OUT/log has their output.
set -eu

bin=$1
out=$2
targets=$(dirname "$0")/pipeline-targets.yaml

rm -rf "$out"
mkdir -p "$out"

fail() {
  tail -n 20 "$out/log" >&2
  echo "make pipeline: $1 failed; all output: $out/log" >&2
  exit 1
}

# Exit code 1 means that there are deviations or findings, which the faults cause.
step() {
  echo "  $1"
  what=$1
  shift
  code=0
  "$bin/amqpspec" "$@" >> "$out/log" 2>&1 || code=$?
  [ "$code" -le "${most:-0}" ] || fail "$what"
}

meet() {
  name=$1
  number=$2
  shift 2
  step "run $number of $name" run --targets "$targets" --target "$name" --quiet --out "$out/runs/$name-$number" \
    channel exchange queue basic tx "$@"
}

fuzz() {
  step "campaign against $1" fuzz campaign --targets "$targets" --target "$1" --quiet --budget 20s --workers 1 \
    --cells 'C04/method.*/channel' --out "$out/campaigns/$1"
}

most=1
meet careful 1
meet careful 2
# One fault that stays, so that the two targets differ, and others that come and go, so that cases are flaky.
meet hasty 1 --fault unacked-lost-with-channel --fault not-refused:channel/open/state --fault topic-star-is-hash
meet hasty 2 --fault unacked-lost-with-channel --fault not-refused:channel/open/state
meet hasty 3 --fault unacked-lost-with-channel --fault wrong-code:channel/open/state --fault topic-star-is-hash
fuzz careful
most=0
step "lake" pipeline ingest "$out"/runs/* "$out"/campaigns/* --lake "$out/lake"
step "marts" pipeline build --lake "$out/lake" --out "$out/marts"
step "pages" site --marts "$out/marts" --out "$out/site"
echo "open $out/site/index.html"
