# What pytest printed, as lines of results (.ci/test.sh); `part` is its module.
# SKIPPED [1] test_files.py:12: no such program
/^SKIPPED / {
    reason = $0
    sub(/^SKIPPED \[[0-9]+\] [^ ]* /, "", reason)
    name = $3
    sub(/:$/, "", name)
    print "out", part, name, reason
}
# 1 failed, 36 passed, 1 skipped in 12.34s (0:01:23)
/ in [0-9.]+s/ {
    passed = failed = skipped = seconds = 0
    for (i = 1; i < NF; i++) {
        if ($(i + 1) ~ /^passed/) passed = $i
        if ($(i + 1) ~ /^(failed|error)/) failed += $i
        if ($(i + 1) ~ /^skipped/) skipped = $i
        if ($i == "in") seconds = $(i + 1)
    }
    sub(/s$/, "", seconds)
    print "ran", part, "clients", passed, failed, skipped, seconds
}
