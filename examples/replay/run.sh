#!/bin/sh
# A dictionary is replaced while its job runs: the live job goes on with the new one, and a replay beside it brings everything of
# the last minutes there. It is paused, killed with -9 and resumed; then the table is compared with an answer in plain Java.
# Exit codes: 0 equal, 1 not, or something else failed.
# Usage, in the root of the project: examples/replay/run.sh [--sql] [--short] [--without-merge] DIRECTORY (a new one)
#   --sql            the job is a script of SQL, in place of a jar
#   --short          the last seconds, in place of minutes
#   --without-merge  what the replay writes is not merged with the live job's rows: the table is wrong, and so the exit code is 1
set -eu
usage() { sed -n 's/^# Usage[^:]*: /Usage: /p' "$0" >&2; exit 2; }
sql=false merge='--mode beside' past_s=120 members=50000 rate=300 replay_rate=2500 live_rows=2000
while [ $# -gt 1 ]; do
    case $1 in
    --sql) sql=true ;;
    --short) past_s=3 members=5000 rate=100 replay_rate=700 live_rows=200 ;;
    --without-merge) merge=--own-output ;;
    *) usage ;;
    esac
    shift
done
[ $# -eq 1 ] && [ ! -e "$1" ] || usage
mkdir "$1"
dir=$(cd "$1" && pwd)
started=''
# Engines end with their commands, and the broker with its standard input.
trap 'kill $started 2>/dev/null || true; wait' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf '\n== %s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }
# await SECONDS COMMAND...: until it succeeds.
await() {
    seconds=$1
    shift
    for _ in $(seq $((seconds * 2))); do
        if "$@"; then return; fi
        sleep 0.5
    done
    fail "not in $seconds s: $*"
}
# has_said PID TEXT FILE LOG: whether a process has written that; fails if it has ended.
has_said() {
    grep -q "$2" "$3" 2>/dev/null && return
    kill -0 "$1" 2>/dev/null || fail "a process of the example has ended: $(tail -n 3 "$4")"
    return 1
}
java=java
[ -z "${JAVA_HOME:-}" ] || java=$JAVA_HOME/bin/java
command -v "$java" >/dev/null || fail "there is no $java: set JAVA_HOME to a JDK 17 or newer"
# What the build of a module has noted.
class_path() { printf '%s:%s' "java/$1/target/classes" "$(cat "java/$1/target/classpath.txt")"; }
# In place of the shell that calls it.
kafka_program() {
    program=$1
    shift
    exec "$java" -Xmx256m -XX:TieredStopAtLevel=1 -cp "$(class_path flink-kafka-workloads)" "io.afterbay.flink.kafka.workloads.$program" "$@" 2>>"$dir/programs.log"
}
now() { date -u +%Y-%m-%dT%H:%M:%SZ; }

# What users call; tests have a launcher of their own.
afterbay=${AFTERBAY:-./afterbay}

say 'Build, and a Kafka broker'
"$afterbay" --version
mkfifo "$dir/broker.in"
"$java" -Xmx400m -Dorg.slf4j.simpleLogger.defaultLogLevel=error -cp "$(class_path kafka-workloads)" \
    io.afterbay.kafka.workloads.BrokerProcess "$dir/broker" <"$dir/broker.in" >"$dir/broker.out" 2>"$dir/broker.log" &
broker_process=$!
started="$started $broker_process"
exec 9>"$dir/broker.in"
await 240 has_said "$broker_process" : "$dir/broker.out" "$dir/broker.log"
broker=$(cat "$dir/broker.out")
echo "$broker"

say 'The job, with the connector in its jar'
jar=$dir/profiles.jar
(kafka_program JobJar "$jar")
ls -l "$jar"
# Prints what is behind 'run' and 'replay', for a version of the dictionary.
job_file() { if [ "$sql" = true ]; then echo "$dir/titles-$1.sql"; else echo "$jar"; fi; }
job_arguments() { if [ "$sql" = false ]; then echo "-- --bootstrap $broker --dictionary $1"; fi; }
for version in 1 2; do
    sed "s,@JAR@,$jar,; s,@BROKER@,$broker,; s,@DICTIONARY@,$version,g" examples/replay/titles.sql >"$dir/titles-$version.sql"
done
# live VERSION: the live job; sets $live.
live() {
    # shellcheck disable=SC2046 # several words
    "$afterbay" run "$(job_file "$1")" --checkpoint-interval 1s --memory 1g $(job_arguments "$1") >"$dir/live-$1.out" 2>"$dir/live-$1.log" 9>&- &
    live=$!
    started="$started $live"
}
has_rows() {
    kill -0 "$live" 2>/dev/null || fail "the live job has ended: $(tail -n 3 "$dir"/live-*.log)"
    (kafka_program TitlesCheck --bootstrap "$broker" --dictionary "$1" --rows "$2") >>"$dir/rows.log"
}

say "$members members, of whom $rate a second change their profiles from now on"
from=$(now)
kafka_program ProfileFeed --bootstrap "$broker" --members "$members" --changes 1000000 --rate "$rate" >"$dir/feed.out" 9>&- &
feed=$!
started="$started $feed"
await 240 has_said "$feed" snapshot "$dir/feed.out" "$dir/programs.log"

say 'The live job brings titles into words of dictionary 1'
live 1
await 480 has_rows 1 "$members"
sleep "$past_s"

say 'It is stopped, and goes on with dictionary 2'
kill "$live"
wait "$live" || true
sleep 1
to=$(now)
live 2
await 480 has_rows 2 "$live_rows"

say "The replay brings there what is from $from to $to"
# shellcheck disable=SC2046,SC2086 # several words
"$afterbay" replay "$(job_file 2)" --dir "$dir/replays" --from "$from" --to "$to" --rate "$replay_rate" $merge --id titles \
    --checkpoint-interval 1s --memory 1g $(job_arguments 2) 9>&- &
replay=$!
started="$started $replay"
control() { verb=$1; shift; "$afterbay" replay "$verb" "$@" --dir "$dir/replays"; }
# Whether a thousand records have passed, or more.
is_at_work() {
    kill -0 "$replay" 2>/dev/null || fail 'the replay has ended already'
    control status titles --json 2>/dev/null | grep -q '"records" *: *[1-9][0-9][0-9][0-9]'
}
await 480 is_at_work

say 'It is paused'
control pause titles
# is STATE: whether it is in that state; what it says is in $dir/status.
is() { control status titles >"$dir/status" && grep -q "$1" "$dir/status"; }
await 240 is paused
cat "$dir/status"

say 'Its process is killed with -9'
kill -9 "$replay"
wait "$replay" || true
await 240 is interrupted
cat "$dir/status"

say 'It is resumed, and goes on from its newest checkpoint'
control resume titles

say 'The table has what is right: of each member the newest profile, by dictionary 2'
kill "$feed"
wait "$feed" || true
(kafka_program TitlesCheck --bootstrap "$broker" --dictionary 2)
