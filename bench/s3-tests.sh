#!/bin/sh
# Runs Ceph's s3-tests against `serve --public-acls` on a directory of its own, from a checkout of the pinned commit, with the list of cases in
# rust/blob-s3/s3-tests/. Called by `./afterbay bench blob --s3-tests DIR`.
#
# Exit codes: 0 every case of core.txt passed but those of known-failures.txt; 1 another one failed, or one of
# known-failures.txt passes; 2 wrong usage. A case that was not run counts as failed.
set -eu
home=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
lists=$home/rust/blob-s3/s3-tests
target=${CARGO_TARGET_DIR:-$home/rust/target}
commit=$(cat "$lists/commit.txt")

usage() {
    cat <<TEXT
Usage: ./afterbay bench blob --s3-tests DIR [--case NAME] [--report FILE]

DIR is a checkout of Ceph's s3-tests at commit
  $commit:
  git clone https://github.com/ceph/s3-tests DIR && git -C DIR checkout $commit

  --case NAME    only the cases whose names contain NAME; no verdict about the others
  --report FILE  writes each case and its result there, as Markdown, with the reasons of those that do not pass
TEXT
}

wrong() {
    echo "afterbay: bench blob: $*" >&2
    exit 2
}

checkout='' case_name='' report=''
while [ $# -gt 0 ]; do
    case $1 in
    --s3-tests) [ $# -ge 2 ] || wrong '--s3-tests needs a directory'; checkout=$2; shift ;;
    --case) [ $# -ge 2 ] || wrong '--case needs a name'; case_name=$2; shift ;;
    --report) [ $# -ge 2 ] || wrong '--report needs a file'; report=$2; shift ;;
    -h | --help) usage; exit 0 ;;
    *) wrong "unknown option $1; --help lists them" ;;
    esac
    shift
done
if ! grep -v '^#' "$lists/core.txt" | grep -qF -- "$case_name"; then
    wrong "--case $case_name: no case of $lists/core.txt has a name that contains it"
fi
[ -n "$checkout" ] || wrong '--s3-tests DIR is missing; --help says where DIR comes from'
if [ ! -f "$checkout/s3tests/functional/test_s3.py" ]; then
    echo "s3-tests: not run: $checkout is no checkout of Ceph's s3-tests" >&2
    exit 2
fi
found=$(git -C "$checkout" rev-parse HEAD 2>/dev/null || echo unknown)
if [ "$found" != "$commit" ]; then
    echo "s3-tests: not run: $checkout is at commit $found; the list of cases is for $commit" >&2
    exit 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
venv=$target/s3-tests
if ! cmp -s "$lists/requirements.txt" "$venv/requirements.txt"; then
    echo "s3-tests: installing into $venv" >&2
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$lists/requirements.txt"
    cp "$lists/requirements.txt" "$venv/requirements.txt"
fi
(cd "$home/rust" && "${CARGO:-cargo}" build --locked --quiet -p afterbay-blob-server --bin afterbay-blob --example certificate)
exec "$venv/bin/python" "$lists/run.py" --program "$target/debug/afterbay-blob" \
    --checkout "$checkout" --work "$work" --case "$case_name" --report "$report"
