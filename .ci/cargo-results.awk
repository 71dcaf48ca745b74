# What cargo test printed, as lines of results (.ci/test.sh): a line for each binary of tests.
$1 == "Running" {
    binary = $NF
    gsub(/.*\/|-[0-9a-f]+\)$/, "", binary)
    # A package begins with the binaries of its unit tests, which are named after it.
    if ($2 == "unittests") {
        name = binary
        sub(/^afterbay_/, "", name)
        gsub(/_/, "-", name)
        # A program of the same package has a shorter name.
        if (package == "" || index(package, name) != 1) package = name
        binary = "unit-tests"
    }
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
