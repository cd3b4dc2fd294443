#!/bin/sh
# The reports of docs/examples: a matrix for each dialect, one of the named tests, a summary of each run, a campaign.
# They contain the reference broker and the known brokers that are installed. Usage: .ci/examples.sh BIN OUT.
# OUT is deleted and created again; OUT/log has the output of the steps.
set -eu

bin=$1
out=$2

rm -rf "$out"
mkdir -p "$out/runs"

fail() {
  tail -n 20 "$out/log" >&2
  echo "make examples: $1 failed; all output: $out/log" >&2
  exit 1
}

# Exit codes 1 and 5 mean that there are deviations, or that a baseline is for another version: both belong in a report.
step() {
  echo "  $1"
  what=$1
  shift
  code=0
  "$bin/amqpspec" "$@" >> "$out/log" 2>&1 || code=$?
  case $code in 0 | 1 | 5) ;; *) fail "$what" ;; esac
}

# meet PAGE NAME TARGET: a run for a column of PAGE, its summary, and the named tests if the dialect has them.
meet() {
  page=$1
  name=$2
  target=$3
  step "run of $name" run --target "$target" --quiet --out "$out/runs/$name"
  cp "$out/runs/$name/summary.md" "$out/$name.md"
  echo "$out/runs/$name" >> "$out/$page.columns"
  case $page in amqp-1-0 | amqp-0-10) return ;; esac
  step "named tests of $name" run --target "$target" --quiet --out "$out/runs/named-$name" 'amq_wlp_*'
  echo "$out/runs/named-$name" >> "$out/named-tests.columns"
}

# with BROKER NAME…: the targets of a known broker; a name that ends in -0-8, -0-10 or -1-0 is of another dialect.
with() {
  broker=$1
  shift
  if "$bin/amqpspec" brokers list | grep -q "^$broker  *not installed"; then
    echo "  $broker is skipped; to install it: amqpspec brokers install $broker"
    return
  fi
  step "start of $broker" brokers start "$broker"
  for name in "$@"; do
    case $name in
      *-0-8) meet wire-9-1 "$name" "$name" ;;
      *-0-10) meet amqp-0-10 "$name" "$name" ;;
      *-1-0 | artemis | activemq | qpid-proton) meet amqp-1-0 "$name" "$name" ;;
      *) meet matrix "$name" "$name" ;;
    esac
  done
  step "stop of $broker" brokers stop "$broker"
}

meet matrix reference reference
meet wire-9-1 reference-9-1 reference:amqp-wire-9-1
meet amqp-1-0 reference-1-0 reference:amqp-1-0
meet amqp-0-10 reference-0-10 reference:amqp-0-10
with rabbitmq rabbitmq rabbitmq-0-8 rabbitmq-1-0
with qpid-broker-j qpid-broker-j qpid-broker-j-0-8 qpid-broker-j-0-10 qpid-broker-j-1-0
with garagemq garagemq
with artemis artemis
with activemq activemq
with qpid-proton qpid-proton
for page in matrix wire-9-1 amqp-0-10 amqp-1-0 named-tests; do
  # shellcheck disable=SC2046 # one word a line, none with spaces
  step "$page.html" report $(cat "$out/$page.columns") --evidence deviations --out "$out/$page.html"
  rm "$out/$page.columns"
done
step "campaign" fuzz campaign reference --quiet --budget 20s --cells 'C04/method.*/channel' --out "$out/runs/campaign"
cp "$out/runs/campaign/campaign.html" "$out/campaign.html"
echo "open $out/matrix.html"
