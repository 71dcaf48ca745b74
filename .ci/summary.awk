# The summary of a run of tests, from .ci/optional and the results (.ci/test.sh). Its exit code says whether the run passed.
# Variables: status (0 if no command failed), is_ci, form, load, logs.
function minutes(seconds) { return sprintf("%d:%02d", seconds / 60, seconds % 60) }

# Whether .ci/optional has the name, or a beginning of it that ends with a star.
function is_optional(name,    pattern) {
    if (name in optional) return 1
    for (pattern in optional)
        if (pattern ~ /\*$/ && index(name, substr(pattern, 1, length(pattern) - 1)) == 1) return 1
    return 0
}

FNR == NR {
    if ($1 != "" && $1 !~ /^#/) { name = $1; $1 = ""; optional[name] = $0 }
    next
}
$1 == "ran" {
    if (!($2 in tests)) parts[++part_count] = $2
    tests[$2] += $4 + $5
    seconds[$2] += $7
    passed += $4; failed += $5
    failures[$2] += $5
    if ($5 > 0) broken[++broken_count] = $2 " " $3
    slowest[++class_count] = $2 " " $3
    class_seconds[class_count] = $7
}
# out PART NAME REASON: a single test; out NAME REASON: a step.
$1 == "out" {
    skipped++
    text = $0
    sub(/^out /, "", text)
    if (text ~ /long form only/) { long_only++; next }
    name = $2 ~ /\// ? $3 : $2
    absent[++absent_count] = text
    is_excused[absent_count] = is_optional(name)
    if (is_ci && !is_excused[absent_count]) missing++
}
$1 == "took" { took[++took_count] = $2; stage_seconds[$2] = $3 }
$1 == "failed" { broken[++broken_count] = $2 }

END {
    print ""
    printf "%-28s %7s %9s\n", "part", "tests", "minutes"
    for (i = 1; i <= part_count; i++) {
        name = parts[i]
        printf "%-28s %7d %9s%s\n", name, tests[name], minutes(seconds[name]), failures[name] ? "  " failures[name] " failed" : ""
    }
    print ""
    print "The ten slowest:"
    for (n = 1; n <= 10 && n <= class_count; n++) {
        best = 0
        for (i = 1; i <= class_count; i++) if (!(i in is_shown) && (!best || class_seconds[i] > class_seconds[best])) best = i
        is_shown[best] = 1
        printf "%7.1f s  %s\n", class_seconds[best], slowest[best]
    }
    print ""
    for (i = 1; i <= took_count; i++) if (took[i] != "all") printf "%9s  %s\n", minutes(stage_seconds[took[i]]), took[i]
    print ""
    if (absent_count + long_only == 0) print "Everything ran."
    if (absent_count) print "Did not run:"
    for (i = 1; i <= absent_count; i++)
        print "  " absent[i] (is_ci ? (is_excused[i] ? " [.ci/optional]" : " [FAILURE: not in .ci/optional]") : "")
    if (long_only) print "Only in the long form ('./afterbay test --long'): " long_only " tests"
    if (broken_count) { print ""; print "FAILED:" }
    for (i = 1; i <= broken_count; i++) print "  " broken[i]
    if (status != 0 || missing) print "Logs: " logs
    print ""
    printf "The %s form took %s; load %s.\n", form, minutes(stage_seconds["all"]), load
    # A command that failed without a failed test counts as one, and so does what must run and did not.
    failed += missing
    if (status != 0 && failed == 0) failed = 1
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
    exit (failed > 0)
}
