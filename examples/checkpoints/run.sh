#!/bin/sh
# A Flink job with its checkpoints in the blob store: both are killed with -9, and nothing is lost. The commands are those of
# docs/blob.md, "Checkpoints of a Flink job". Needs a JDK 17, cargo and Amazon's client 'aws'.
# Usage, in the root of the project: examples/checkpoints/run.sh DIRECTORY (a new one, for the store and the result)
set -eu
[ $# -eq 1 ] && [ ! -e "$1" ] || { echo 'Usage: examples/checkpoints/run.sh NEW-DIRECTORY' >&2; exit 2; }
mkdir "$1"
dir=$(cd "$1" && pwd)
export dir
started=''
trap 'kill $started 2>/dev/null || true' EXIT

say() { printf '\n== %s\n' "$*"; }
# The newest complete checkpoint: the file _metadata is written last.
newest() { aws s3 ls --recursive s3://flink/checkpoints/ | grep '/_metadata$' | sort | tail -n 1 | awk '{ print $4 }'; }
await_checkpoint() {
    before=${1:-}
    for _ in $(seq 60); do
        now=$(newest || true)
        if [ -n "$now" ] && [ "$now" != "$before" ]; then echo "$now is complete"; return; fi
        sleep 1
    done
    echo "no checkpoint in a minute" >&2
    exit 1
}
await_store() { for _ in $(seq 600); do [ "$(tail -n 1 "$dir/store.log")" != ready ] || return 0; sleep 0.5; done; exit 1; }

say 'The store'
./afterbay blob serve --data "$dir/store" >"$dir/store.log" &
started="$started $!"
await_store

say 'Its key, for all clients of S3'
export AWS_ACCESS_KEY_ID=$(sed -n 's/^access-key = //p' "$dir/store/root-key")
export AWS_SECRET_ACCESS_KEY=$(sed -n 's/^secret-key = //p' "$dir/store/root-key")
export AWS_ENDPOINT_URL=http://127.0.0.1:7482 AWS_DEFAULT_REGION=us-east-1

say 'A bucket, and a file in it'
aws s3 mb s3://flink
aws s3 cp examples/traffic-jam/city-traffic.md s3://flink/about/
aws s3 ls --recursive s3://flink

say 'The job'
./afterbay run traffic-jam --rate 10000 --output "$dir/ranking.csv" \
    --checkpoint-interval 1s --checkpoint-dir s3://flink/checkpoints &
job=$!
started="$started $job"
await_checkpoint

say 'The store is killed, and the job goes on'
kill -9 "$(cat "$dir/store/LOCK")"
sleep 3

say 'The store is there again, and so are all objects'
./afterbay blob serve --data "$dir/store" >"$dir/store.log" &
started="$started $!"
sleep 1
await_store
aws s3 cp s3://flink/about/city-traffic.md - | cmp - examples/traffic-jam/city-traffic.md
await_checkpoint "$(newest)"

say 'The job is killed'
kill -9 "$job"
sleep 3

say 'It is started again from its last checkpoint'
./afterbay run traffic-jam --output "$dir/ranking.csv" \
    --checkpoint-dir s3://flink/checkpoints --from s3://flink/checkpoints

say 'The result is that of a run without failures'
cmp "$dir/ranking.csv" examples/traffic-jam/expected.csv
echo 'nothing was lost'
