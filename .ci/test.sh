# The verb `test`; the launcher reads this file, and its functions find the tools. POSIX sh.
#
# Two streams run side by side, rust/ and java/, each into a log of its own. What they say of tests becomes lines
# of one file, $results, from which .ci/summary.awk makes the summary:
#   ran PART CLASS PASSED FAILED SKIPPED SECONDS
#   out PART NAME REASON...      something that did not run
#   took STAGE SECONDS           wall-clock time

deny_version=0.20.2
# The modules of java/ whose tests start programs of rust/, as grep -E reads them.
program_starters='bench-it|blob-it|edge-it'

test_usage() {
    cat <<'TEXT'
Usage: ./afterbay test [--long [--resume]] [--module MODULE [--repeat N]] [--changed [BASE]]

Checks the launcher and the format of the sources, compiles them with Error Prone and NullAway
(java/) and Clippy (rust/), runs the tests, prints a summary, and exits 0 if everything passed.

The normal form takes 30 to 60 minutes on two cores (the aim is 20 minutes), and 5 minutes more
the first time, for downloads. It has every unit test, the engines' contract suites, models with few
tries, each verb, each kind of kill and each negative control once, and one of the experiments
(bench).
docs/testing.md says what is where and what each form proves.

  --long            the long form: more kills, tries, sizes and versions, all experiments in their
                    quick forms, random cases that are new in each run, a minute for each fuzz
                    target; takes hours
  --resume          with --long: leaves out what passed in the long form at this commit, also in a
                    run that was ended; leaves out nothing while there are changes that are not
                    committed
  --module MODULE   only the tests of this folder of java/ or rust/, and those of it that are
                    elsewhere: flink has some in flink-suites, storm in storm-it and
                    storm-workloads, edge in edge-it, net-core in net, net-agent and net-preload
  --repeat N        with --module: runs them N times, and says how many runs passed
  --changed [BASE]  only the modules that differ from BASE, and those built on them; without BASE,
                    what is not committed yet

What a test needs and the machine lacks (a browser, python3) leaves that test out; the summary names
it. On a build server (CI in the environment) that is a failure, unless .ci/optional lists it.
TEXT
}

run_tests() {
    is_long=false resume=false module='' repeat='' changed=false base=HEAD
    while [ $# -gt 0 ]; do
        case $1 in
        --long) is_long=true ;;
        --resume) resume=true ;;
        --module | --repeat)
            [ $# -ge 2 ] || wrong_usage "test: $1 needs a value; './afterbay test --help' says which"
            if [ "$1" = --module ]; then module=$2; else repeat=$2; fi
            shift
            ;;
        --module=*) module=${1#--module=} ;;
        --repeat=*) repeat=${1#--repeat=} ;;
        --changed)
            changed=true
            case ${2:-} in '' | -*) ;; *) base=$2 && shift ;; esac
            ;;
        --changed=*) changed=true base=${1#--changed=} ;;
        -h | --help)
            test_usage
            exit 0
            ;;
        *) wrong_usage "test: unknown option $1; './afterbay test --help' lists them" ;;
        esac
        shift
    done
    check_test_options
    select_modules
    # What is missing is said before anything takes time.
    if [ -n "$java_modules" ]; then use_jdk; fi
    unset AFTERBAY_RUST_PROGRAMS
    if [ -n "$rust_modules" ] || starts_programs; then
        find_cargo
        use_clippy
        # A build server compiles once: what incremental compilation keeps for the next time only costs it time.
        [ -z "${CI:-}" ] || export CARGO_INCREMENTAL="${CARGO_INCREMENTAL:-0}"
    fi
    if [ -n "$repeat" ]; then run_repeatedly; else run_once; fi
}

check_test_options() {
    [ "$resume" = false ] || [ "$is_long" = true ] || wrong_usage 'test: --resume is for --long'
    [ -z "$module" ] || [ "$changed" = false ] || wrong_usage 'test: --module and --changed exclude each other'
    case $repeat in
    '') ;;
    *[!0-9]* | 0*) wrong_usage "test: --repeat needs a whole number from 1, and not '$repeat'" ;;
    *) [ -n "$module" ] || wrong_usage 'test: --repeat needs --module' ;;
    esac
}

# Sets java_modules and rust_modules: the folders whose tests run.
select_modules() {
    all_java=$(folders_with java pom.xml)
    all_rust=$(folders_with rust Cargo.toml)
    java_modules=$all_java
    rust_modules=$all_rust
    if [ -n "$module" ]; then
        java_modules='' rust_modules=''
        [ ! -f "$home/java/$module/pom.xml" ] || java_modules=$(with_tests_elsewhere java pom.xml "<tested.with>$module</tested.with>")
        [ ! -f "$home/rust/$module/Cargo.toml" ] || rust_modules=$(with_tests_elsewhere rust Cargo.toml "tested-with = \"$module\"")
        [ -n "$java_modules$rust_modules" ] || wrong_usage "test: there is no module '$module'; there are:" $all_java $all_rust
    elif [ "$changed" = true ]; then
        select_changed
    fi
}

# The module of java/ or rust/, and those whose build says that they have tests of it.
with_tests_elsewhere() (
    cd "$home/$1" || exit
    echo "$module"
    grep -lF -e "$3" -- */"$2" | sed 's,/.*,,'
)

folders_with() (
    cd "$home/$1" 2>/dev/null || exit 0
    for file in */"$2"; do
        [ ! -e "$file" ] || printf '%s\n' "${file%/*}"
    done
)

# ---- What a change touches ----

select_changed() {
    files=$(cd "$home" && git diff --name-only "$base" -- && git ls-files --others --exclude-standard) ||
        wrong_usage "test: --changed: git knows no '$base'"
    java_modules=$(touched java | dependents_java)
    rust_modules=$(touched rust | dependents_rust)
    # These start the programs of rust/.
    if [ -n "$rust_modules" ]; then
        java_modules=$({ printf '%s\n' $java_modules; printf '%s\n' "$all_java" | grep -xE "$program_starters"; } | sort -u)
    fi
    say "changed, or built on what changed:" ${java_modules:-nothing of java/,} ${rust_modules:-nothing of rust/}
}

# The folders of java/ or rust/ with a changed file, or with tests that read one elsewhere; all of them for the build's own files.
touched() {
    printf '%s\n' "$files" | while IFS= read -r file; do
        case $file in
        '') ;;
        "$1"/*/*)
            folder=${file#"$1"/}
            folder=${folder%%/*}
            if [ -d "$home/$1/$folder" ] && [ "$folder" != .mvn ]; then printf '%s\n' "$folder"; else folders_with "$1" .; fi
            ;;
        "$1"/* | afterbay | .ci/test.sh) (cd "$home/$1" && printf '%s\n' */) | sed 's,/$,,' ;;
        java/* | rust/* | .ci/*) ;;
        *) readers_of "$1" "${file%%/*}" ;;
        esac
    done | sort -u
}

readers_of() (
    cd "$home/$1"
    grep -rlF -e "$2" -- */src/test */tests 2>/dev/null | sed 's,/.*,,' | sort -u
)

# From standard input, a name a line: these and all that are built on them.
dependents_java() {
    closure java pom.xml 's,.*<artifactId>afterbay-\([a-z0-9-]*\)</artifactId>.*,\1,p'
}

dependents_rust() {
    closure rust Cargo.toml 's,^afterbay-\([a-z0-9-]*\).*,\1,p'
}

closure() (
    known=$(cat)
    cd "$home/$1"
    while [ -n "$known" ]; do
        more=$(for file in */"$2"; do
            if sed -n "$3" "$file" | grep -qxF -e "$known"; then printf '%s\n' "${file%/*}"; fi
        done)
        next=$(printf '%s\n' "$known" "$more" | sed '/^$/d' | sort -u)
        [ "$next" != "$known" ] || break
        known=$next
    done
    # Folders that have no build of their own are no modules.
    for folder in $known; do
        if [ -f "$folder/$2" ]; then printf '%s\n' "$folder"; fi
    done
)

# ---- Runs ----

run_repeatedly() {
    passed=0 run=0
    while [ "$run" -lt "$repeat" ]; do
        run=$((run + 1))
        say "run $run of $repeat"
        if (run_once); then passed=$((passed + 1)); fi
    done
    say "$module: $passed of $repeat runs passed"
    [ "$passed" -eq "$repeat" ]
}

run_once() {
    begin=$(date +%s)
    out=$home/java/target/test
    [ -n "$java_modules" ] || out=$home/rust/target/test
    mkdir -p "$out"
    results=$out/results
    : >"$results"
    : >"$out/packages"
    # What tests have to say in numbers; test-form in rust/ writes it.
    AFTERBAY_COUNTED=$out/counted
    export AFTERBAY_COUNTED
    : >"$AFTERBAY_COUNTED"
    load_before=$(load_average)
    status=0
    launcher_tests || status=1
    if starts_programs; then rust_programs || status=1; fi
    streams=''
    # Ctrl-C does not reach what runs in the background by itself.
    trap 'trap - INT TERM; for stream in $streams; do end_tree "$stream"; done; exit 130' INT TERM
    for language in rust java; do
        if has_modules "$language"; then
            stream "$language" &
            streams="$streams $!"
        fi
    done
    for stream in $streams; do wait "$stream" || status=1; done
    trap - INT TERM
    # Of the whole log, which ends when its stream does.
    if has_modules rust; then awk -f "$home/.ci/cargo-results.awk" "$out/packages" "$out/rust.log" >>"$results"; fi
    printf 'took all %s\n' "$(($(date +%s) - begin))" >>"$results"
    [ "$status" = 0 ] || show_failures
    summary || status=1
    return "$status"
}

has_modules() {
    case $1 in rust) [ -n "$rust_modules" ] ;; java) [ -n "$java_modules" ] ;; esac
}

# A process and all that it started, from the leaves.
end_tree() (
    for child in $(ps -e -o pid= -o ppid= | awk -v parent="$1" '$2 == parent { print $1 }'); do end_tree "$child"; done
    kill "$1" 2>/dev/null || true
)

load_average() {
    uptime 2>/dev/null | sed -n 's/.*load averages\{0,1\}: *\([0-9.]*\).*/\1/p' | grep . || echo unknown
}

# Everything goes to the log, and to the reader what happens to tests. The exit code is that of the tests.
stream() {
    log=$out/$1.log
    : >"$log"
    rm -f "$out/$1.code"
    {
        if "$1"_tests; then code=0; else code=1; fi
        echo "$code" >"$out/$1.code"
    } 2>&1 | while IFS= read -r line; do
        printf '%s\n' "$line" >>"$log"
        case $line in
        *'Tests run:'*' -- in '*) printf '%-5s%s\n' "$1" "${line#*] }" ;;
        '[ERROR]'* | error* | *'... FAILED' | FAILED* | 'test result:'* | *'     Running '* | 'afterbay: '* | *' passed'*' in '*)
            printf '%-5s%s\n' "$1" "$line"
            ;;
        esac
    done
    [ "$(cat "$out/$1.code")" = 0 ]
}

# timed_once STAGE COMMAND...: timed, unless a run that is resumed saw this command pass at this commit.
timed_once() {
    if resumes && grep -qxF -e "$*" "$(passed stages)" 2>/dev/null; then
        say "$1 passed at this commit already"
        return 0
    fi
    timed "$@" || return 1
    if [ "$is_long" = true ] && is_committed; then printf '%s\n' "$*" >>"$(passed stages)"; fi
}

# What passed in the long form of this commit: its file of stages, or of classes.
passed() {
    printf '%s/passed-%s-%s\n' "$out" "$1" "$(head_commit)"
}

# Changes that are not committed belong to no commit: nothing is known to pass with them.
resumes() {
    [ "$resume" = true ] && is_committed
}

head_commit() (
    cd "$home" && git rev-parse HEAD
)

is_committed() (
    cd "$home" && changes=$(git status --porcelain 2>&1) && [ -z "$changes" ]
)

# timed STAGE COMMAND...: notes how long it took, and whether it failed.
timed() {
    stage=$1 stage_begin=$(date +%s)
    shift
    if "$@"; then stage_code=0; else stage_code=1; fi
    printf 'took %s %s\n' "$stage" "$(($(date +%s) - stage_begin))" >>"$results"
    [ "$stage_code" = 0 ] || printf 'failed %s\n' "$stage" >>"$results"
    return "$stage_code"
}

# did_not_run NAME REASON
did_not_run() {
    say "not run: $1: $2"
    printf 'out %s %s\n' "$1" "$2" >>"$results"
}

# What somebody who sees only this output needs: the messages and the first lines of the traces.
show_failures() {
    echo
    if grep '^failed rust' "$results" | grep -qvx 'failed rust:programs'; then
        sed -n '/^failures:$/,/^test result/p' "$out/rust.log" | head -n 300
        if ! grep -q '^failures:$' "$out/rust.log"; then tail -n 40 "$out/rust.log"; fi
    fi
    if grep -q '^failed java' "$results"; then
        if grep -q '^fail java' "$results"; then
            find "$home/java" -path '*/target/*-reports/*.txt' | while IFS= read -r report; do
                if grep -q '<<< \(FAILURE\|ERROR\)' "$report"; then head -n 60 "$report"; fi
            done
        else
            grep '^\[ERROR\]' "$out/java.log" | head -n 60
        fi
    fi
}

summary() {
    if [ "$is_long" = true ]; then form=long; else form=normal; fi
    if [ -s "$AFTERBAY_COUNTED" ]; then
        printf '\nCounted:\n'
        sort "$AFTERBAY_COUNTED" | sed 's/^/  /'
    fi
    awk -v is_ci="${CI:+1}" -v status="$status" -v form="$form" -v load="$load_before before, $(load_average) after" -v logs="$out" \
        -f "$home/.ci/summary.awk" "$home/.ci/optional" "$results"
}

launcher_tests() {
    timed launcher "$home/.ci/test-launcher" >"$out/launcher.log" 2>&1 || {
        cat "$out/launcher.log" >&2
        return 1
    }
    cat "$out/launcher.log"
    sed -n 's/^launcher: \([0-9]*\) checks passed$/ran launcher test-launcher \1 0 0 0/p' "$out/launcher.log" >>"$results"
}

# ---- rust/ ----

starts_programs() {
    printf '%s\n' $java_modules | grep -qxE "$program_starters"
}

# Compiled before any test: one that calls cargo waits for as long as cargo compiles the tests of rust/, and its limit of
# time goes on meanwhile. RustPrograms finds them by the variable.
rust_programs() {
    say 'compiling the programs of rust/ that tests of java/ start'
    if timed 'rust:programs' compile_programs >"$out/programs.log" 2>&1; then
        AFTERBAY_RUST_PROGRAMS=${CARGO_TARGET_DIR:-$home/rust/target}/debug
        export AFTERBAY_RUST_PROGRAMS
    else
        tail -n 40 "$out/programs.log" >&2
        return 1
    fi
}

compile_programs() (
    cd "$home/rust" && "$cargo" build --locked --workspace --lib --bins --examples
)

# Clippy looks at what the tests compile anyway; 'cargo clippy' would compile everything once more. It hands its options over as
# here, which nothing documents: 'refuses_lints' is the control.
use_clippy() {
    for RUSTC_WORKSPACE_WRAPPER in "${cargo%/*}/clippy-driver" "$(command -v clippy-driver || true)"; do
        [ ! -x "$RUSTC_WORKSPACE_WRAPPER" ] || break
    done
    if [ ! -x "$RUSTC_WORKSPACE_WRAPPER" ]; then
        say "there is no clippy-driver beside $cargo and in PATH (rustup component add clippy)"
        exit 1
    fi
    CLIPPY_ARGS='-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__'
    export RUSTC_WORKSPACE_WRAPPER CLIPPY_ARGS
}

refuses_lints() {
    printf 'pub fn has_nothing(text: &str) -> bool { text.len() == 0 }\n' >"$out/lint.rs"
    if "$RUSTC_WORKSPACE_WRAPPER" rustc --crate-type lib --emit metadata --out-dir "$out" "$out/lint.rs" >"$out/lint.log" 2>&1 ||
        ! grep -q 'clippy::len_zero' "$out/lint.log"; then
        say "Clippy did not refuse what is wrong; $out/lint.log is what it said"
        return 1
    fi
}

rust_tests() {
    cd "$home/rust" || return 1
    timed 'rust:format' "$cargo" fmt --all --check || return 1
    timed 'rust:lints' refuses_lints || return 1
    set -- --workspace
    [ "$rust_modules" = "$all_rust" ] || set -- $(printf -- '-p afterbay-%s ' $rust_modules)
    # The same cases in each run, so that a failure is of the change that is tested; the long form looks for new ones.
    if [ "$is_long" = false ]; then
        PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1}
        export PROPTEST_RNG_SEED
    fi
    AFTERBAY_LONG=$is_long
    export AFTERBAY_LONG
    timed 'rust:compile' "$cargo" test --locked --no-run "$@" || return 1
    # Where each binary comes from, which it does not say when it runs.
    "$cargo" test --locked --no-run --quiet --message-format=json "$@" |
        sed -n 's,.*"package_id":"[^"#]*/\([^"/#]*\)#.*"executable":"[^"]*/\([^"/]*\)".*,\2 \1,p' >"$out/packages"
    rust_code=0
    case " $(echo $rust_modules) " in *' net '*) net_programs ;; esac
    case " $(echo $rust_modules) " in *' edge '*) edge_programs ;; esac
    timed_once 'rust:tests' "$cargo" test --locked --no-fail-fast "$@" || rust_code=1
    [ -n "$module" ] || timed 'rust:licenses' licenses || rust_code=1
    [ "$is_long" = false ] || timed_once 'rust:miri' miri || rust_code=1
    for folder in blob-s3 blob-server; do
        case " $(echo $rust_modules) " in *" $folder "*) timed_once "rust:$folder-clients" s3_clients "$folder" || rust_code=1 ;; esac
    done
    return "$rust_code"
}

# What may be linked (rust/deny.toml): licenses, bans, sources, and known vulnerabilities, whose list comes from the network.
licenses() {
    deny=$home/rust/target/tools/bin/cargo-deny
    [ -x "$deny" ] || deny=$(command -v cargo-deny) || deny=''
    if [ -z "$deny" ] && [ "$is_long" = true ]; then
        say "installing cargo-deny $deny_version into rust/target/tools (takes some minutes)"
        "$cargo" install --locked --quiet --debug --root "$home/rust/target/tools" --version "$deny_version" cargo-deny || return 1
        deny=$home/rust/target/tools/bin/cargo-deny
    fi
    if [ -z "$deny" ]; then
        did_not_run licenses "there is no cargo-deny (cargo install --locked cargo-deny)"
        return 0
    fi
    "$deny" --log-level error --workspace check licenses bans sources || return 1
    if "$deny" fetch db; then
        "$deny" --log-level error --workspace --offline check advisories
    else
        did_not_run advisories 'the list of known vulnerabilities could not be fetched'
    fi
}

# Programs that tests of shared-memory sockets start, where they are: redis, and CPython's own tests. The long form gets them.
net_programs() {
    fetched=$home/rust/target/net-programs
    if [ "$is_long" = true ] && [ ! -d "$fetched/suite" ]; then
        "$home/rust/net/tests/programs/fetch" "$fetched" || say 'redis and the tests of CPython could not be fetched'
    fi
    get="(rust/net/tests/programs/fetch rust/target/net-programs)"
    command -v redis-server >/dev/null || [ -x "$fetched/root/usr/bin/redis-server" ] ||
        did_not_run net-redis "there is no redis-server $get"
    [ -e "$fetched/suite/test/test_socket.py" ] || did_not_run net-cpython "the tests of CPython are not here $get"
}

# The broker that most sites have. The long form gets it.
edge_programs() {
    fetched=$home/rust/target/edge-programs
    if [ "$is_long" = true ] && [ ! -x "$fetched/mosquitto" ]; then
        "$home/rust/edge/tests/programs/fetch" "$fetched" || say 'mosquitto could not be fetched'
    fi
    command -v mosquitto >/dev/null || [ -x /usr/sbin/mosquitto ] || [ -x "$fetched/mosquitto" ] ||
        did_not_run edge-mosquitto 'there is no mosquitto (rust/edge/tests/programs/fetch rust/target/edge-programs)'
}

# What shares memory, in Miri: without what maps files or starts processes, which it cannot run.
miri() (
    case " $(echo $rust_modules) " in *' net-ring '* | *' net-shm '*) ;; *) return 0 ;; esac
    if ! "$cargo" +nightly miri --version >/dev/null 2>&1; then
        did_not_run miri 'there is no Miri (rustup toolchain install nightly --component miri --component rust-src)'
        return 0
    fi
    set -- "$cargo" +nightly miri test --locked --target-dir "$home/rust/target/miri"
    unset RUSTC_WORKSPACE_WRAPPER
    MIRIFLAGS=-Zmiri-disable-isolation "$@" -p afterbay-net-ring --test all -- threads vectors what_is_wrong cannot_be &&
        MIRIFLAGS=-Zmiri-disable-isolation "$@" -p afterbay-net-shm --lib
)

# The S3 endpoint, by itself or of the server, with clients as users have them; they come from the Python package index, once.
s3_clients() {
    if ! command -v python3 >/dev/null; then
        did_not_run "$1-clients" 'there is no python3 (apt-get install python3-venv)'
        return 0
    fi
    clients_log=$out/$1-clients.log
    if CARGO=$cargo "$home/rust/$1/tests/clients/run" >"$clients_log" 2>&1; then clients_code=0; else clients_code=1; fi
    cat "$clients_log"
    awk -v part="rust/$1" -f "$home/.ci/pytest-results.awk" "$clients_log" >>"$results"
    return "$clients_code"
}

# ---- java/ ----

# Three modules at a time: most tests keep one processor busy at most, and wait now and then.
java_tests() {
    cd "$home/java" || return 1
    find_maven
    # Of a run that was ended, the reports are still there.
    if resumes; then remember_classes; fi
    rm -f "$out/long-at"
    find . -path '*/target/*-reports/*' -type f -exec rm -f {} +
    if [ "$is_long" = true ] && is_committed; then head_commit >"$out/long-at"; fi
    leave_out_classes
    timed 'java:format' maven -B -ntp -q -T 2 -Dformat.phase=validate validate || return 1
    set -- -B -ntp -T 3 -Dspotless.check.skip=true --fail-at-end "-Dafterbay.long=$is_long" "-Dsurefire.excludesFile=$out/left-out" "-Dfailsafe.excludesFile=$out/left-out" verify
    [ "$java_modules" = "$all_java" ] || set -- "$@" -am -pl "$(printf '%s,' $java_modules | sed 's/,$//')"
    java_code=0
    timed 'java:all' maven "$@" || java_code=1
    java_results >>"$results"
    remember_classes
    return "$java_code"
}

java_results() {
    find . -path '*/target/*-reports/TEST-*.xml' | sort >"$out/reports"
    awk -f "$home/.ci/surefire-results.awk" "$out/reports"
}

# Maven runs the tests of all modules that it builds, also of those that the selected ones are only built from, and of those
# that passed in a run that is resumed: it gets a list of classes to leave out.
leave_out_classes() {
    {
        for folder in $all_java; do
            case " $(echo $java_modules) " in
            *" $folder "*) ;;
            *) test_classes "$folder" ;;
            esac
        done
        if resumes && [ -f "$(passed classes)" ]; then cat "$(passed classes)"; fi
    } >"$out/left-out"
}

test_classes() (
    cd "$home/java/$1/src/test/java" 2>/dev/null || return 0
    find . -name '*.java' | sed 's,^\./,,'
)

# Notes which classes passed, with those inside them, if the reports are of a long form of this very commit.
remember_classes() {
    if [ ! -e "$out/long-at" ] || [ "$(cat "$out/long-at")" != "$(head_commit)" ] || ! is_committed; then return 0; fi
    java_results | awk '
        $1 != "ran" { next }
        { class = $3; sub(/\$.*/, "", class); failed[class] += $5 }
        $3 == class { is_whole[class] = 1 }
        END { for (class in is_whole) if (!failed[class]) { gsub(/\./, "/", class); print class ".java" } }
    ' >>"$(passed classes)"
    rm "$out/long-at"
}
