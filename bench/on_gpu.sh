#!/bin/bash
# What only a GPU can answer, in one command: are the numbers right on it, are they bit for bit those
# of the simulated device, and how near to the copy bandwidth does each kernel come.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

usage() {
  cat <<'TEXT'
usage: bench/on_gpu.sh [--dry-run] [--device cuda:0] [--against sim:h200] [--binary PATH]
                       [--cases FILE] [--speed FILE] [--out DIR]

Writes DIR/DATE-DEVICE.tsv (DIR: bench/results). Rows: 'check' (against the float64 reference), 'bits'
(against the simulated device) and 'speed'. Ends with exit code 1 if a check failed or a bit differs.

  --dry-run   simulated devices in both places and predicted times, to prove the plumbing
  --binary    carry this program along instead of building build-static/onepass here
TEXT
}

die() { printf 'on_gpu: %s\n' "$*" >&2; exit 1; }

device=cuda:0
against=sim:h200
binary=
cases=bench/gpu_cases.txt
speed=bench/gpu_speed.txt
out=bench/results
dry=
failures=0

parse_words() {
  while [[ $# -gt 0 ]]; do
    case $1 in
      --dry-run) dry=yes ;;
      --device | --against | --binary | --cases | --speed | --out)
        [[ $# -ge 2 ]] || die "$1 needs a value"
        printf -v "${1#--}" '%s' "$2"
        shift
        ;;
      -h | --help) usage; exit 0 ;;
      *) usage >&2; exit 2 ;;
    esac
    shift
  done
  if [[ -n $dry ]]; then
    device=$against
    out=build/on-gpu-dry-run
  fi
}

# A program that asks only for glibc, so that it can be carried to the machine with the GPU.
need_binary() {
  if [[ -z $binary ]]; then
    cmake -S . -B build-static -G Ninja -DCMAKE_BUILD_TYPE=Release -DONEPASS_STATIC=ON \
      -DONEPASS_BUILD_TESTS=OFF -DONEPASS_BUILD_BENCH=OFF >&2
    cmake --build build-static -j "$(nproc)" --target onepass >&2
    binary=build-static/onepass
  fi
  [[ -x $binary ]] || die "no program at $binary"
}

problems() { sed -E 's/[[:space:]]*#.*//; /^[[:space:]]*$/d' "$1"; }

# field NAME JSON: the last value of that name; none of the names asked for holds an object.
field() {
  sed -nE "s/.*\"$1\": ?(\"(([^\"\\\\]|\\\\.)*)\"|[^],}]*).*/\1/p" <<<"$2" | sed -E 's/^null$//; s/^"(.*)"$/\1/; s/\\"/"/g'
}

row() {
  local IFS=$'\t'
  printf '%s\n' "$*" | tee -a "$table"
}

fail() { failures=$((failures + 1)); }

# verdict_of JSON: ok, or what went wrong; an operator that is still to come is no failure.
verdict_of() {
  case $(field exit "$1") in
    0) echo ok ;;
    3) echo "not supported" ;;
    *) echo "exit $(field exit "$1"): $(field error "$1")" ;;
  esac
}

check_numbers() {
  local line verdict
  while IFS= read -r line; do
    if [[ $line == *'"summary"'* ]]; then continue; fi
    verdict=$(verdict_of "$line")
    case $verdict in exit*) fail ;; esac
    row check "$(field problem "$line")" "$(field strategy "$line")" "" "" "" "" "$verdict"
  done < <(problems "$cases" | "$binary" batch - --device "$device" --json || true)
}

# Prints the roles whose files differ, or are missing on one side.
differing_roles() {
  local file
  for file in "$1"/*.npy "$2"/*.npy; do basename "$file" .npy; done | sort -u | while IFS= read -r file; do
    cmp -s "$1/$file.npy" "$2/$file.npy" || printf '%s ' "$file"
  done
}

# The .approx instructions are the one place where a chip may differ from the simulated one.
is_approximate() { "$binary" emit "$1" --as ptx | grep -q '\.approx'; }

# bits_verdict PROBLEM: what of the files in here/ and there/ is not the same.
bits_verdict() {
  local roles
  roles=$(differing_roles "$scratch/here" "$scratch/there")
  if [[ -z $roles ]]; then
    echo same
  elif is_approximate "$1"; then
    echo "approximate: $roles"
  else
    echo "differ: $roles"
  fi
}

compare_bits() {
  local problem verdict here there
  while IFS= read -r problem; do
    rm -rf "$scratch/here" "$scratch/there"
    here=$("$binary" run "$problem" --device "$device" --out "$scratch/here" --no-check --json) || true
    there=$("$binary" run "$problem" --device "$against" --out "$scratch/there" --no-check --json) || true
    verdict=$(verdict_of "$here")
    if [[ $verdict == ok ]]; then verdict=$(verdict_of "$there"); fi
    if [[ $verdict == ok ]]; then verdict=$(bits_verdict "$problem"); fi
    case $verdict in differ:* | exit*) fail ;; esac
    row bits "$problem" "$(field strategy "$here")" "" "" "" "" "$verdict"
  done < <(problems "$cases")
}

# launch_of JSON: the measured time, or in a dry run the predicted one.
launch_of() {
  if [[ -n $dry ]]; then field predicted_us "$1"; else field launch_us "$1"; fi
}

gigabytes_per_second() { awk -v bytes="$1" -v us="$2" 'BEGIN { if (us > 0) printf "%.0f", bytes / us / 1e3 }'; }

share() { awk -v part="$1" -v whole="$2" 'BEGIN { if (part > 0 && whole > 0) printf "%.2f", part / whole }'; }

# The traffic of a launch is counted on the simulated device only, so the bytes come from there.
measure_speed() {
  local copy json problem us bytes rate verdict
  local copied=$((2 * 4 * 268435456))
  json=$("$binary" run "identity.fwd f32 268435456" --device "$device" --no-check --json) || true
  copy=$(gigabytes_per_second "$copied" "$(launch_of "$json")")
  row speed "identity.fwd f32 268435456" "$(field strategy "$json")" "$(launch_of "$json")" "$copied" "$copy" 1.00 copy
  while IFS= read -r problem; do
    json=$("$binary" run "$problem" --device "$device" --no-check --json) || true
    verdict=$(verdict_of "$json")
    us='' bytes='' rate=''
    if [[ $verdict == ok ]]; then
      us=$(launch_of "$json")
      json=$("$binary" run "$problem" --device "$against" --no-check --json) || true
      bytes=$(field minimum_bytes "$json")
      rate=$(gigabytes_per_second "$bytes" "$us")
    fi
    case $verdict in exit*) fail ;; esac
    row speed "$problem" "$(field strategy "$json")" "$us" "$bytes" "$rate" "$(share "$rate" "$copy")" "$verdict"
  done < <(problems "$speed")
}

main() {
  parse_words "$@"
  need_binary
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  export ONEPASS_CACHE_DIR=$scratch/cache
  local probe
  probe=$("$binary" run "identity.fwd f32 1024" --device "$device" --json) ||
    die "$device does not run"
  mkdir -p "$out"
  table=$out/$(date +%F)-$(field name "$probe" | tr -c 'A-Za-z0-9\n' '-').tsv
  : >"$table"
  row what problem strategy launch_us minimum_bytes GB/s of_copy verdict
  check_numbers
  compare_bits
  measure_speed
  echo "$table: $failures failed" >&2
  [[ $failures -eq 0 ]]
}

main "$@"
