# What cargo test printed, as lines of results (.ci/test.sh): a line for each binary of tests. The first file says of which
# package a binary is, which cargo does not print.
FILENAME == ARGV[1] {
    package_of[$1] = $2
    next
}
$1 == "Running" {
    binary = $NF
    gsub(/.*\/|\)$/, "", binary)
    package = package_of[binary]
    if ($2 == "unittests") binary = "unit-tests"
    else sub(/-[0-9a-f]+$/, "", binary)
}
$1 == "Doc-tests" {
    package = $2
    sub(/^afterbay_/, "", package)
    gsub(/_/, "-", package)
    binary = "doc-tests"
}
# test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.02s
/^test result: / {
    seconds = $NF
    sub(/s$/, "", seconds)
    if ($4 + $6 + $8 > 0) print "ran", "rust/" package, binary, $4, $6, $8, seconds
}
/^test .* \.\.\. ignored/ { print "out", "rust/" package, $2, "ignored" }
