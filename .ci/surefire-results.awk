# Surefire's reports, as lines of results (.ci/test.sh): a line for each class. The input lists their files.
function attribute(text, name,    value) {
    if (!match(text, " " name "=\"[^\"]*\"")) return ""
    value = substr(text, RSTART + length(name) + 3, RLENGTH - length(name) - 4)
    gsub(/&quot;/, "\"", value); gsub(/&lt;/, "<", value); gsub(/&gt;/, ">", value); gsub(/&apos;/, "'", value)
    gsub(/&#10;/, " ", value); gsub(/&amp;/, "\\&", value)
    return value
}
{
    file = $0
    part = file
    sub(/^\.\//, "", part)
    sub(/\/target\/.*/, "", part)
    broken = 0
    while ((getline line < file) > 0) {
        if (line ~ /<testsuite /) {
            # Its attributes may be on several lines.
            while (line !~ />/ && (getline more < file) > 0) line = line more
            class = attribute(line, "name")
            failed = attribute(line, "errors") + attribute(line, "failures")
            skipped = attribute(line, "skipped") + 0
            passed = attribute(line, "tests") - failed - skipped
            seconds = attribute(line, "time")
            gsub(/,/, "", seconds)
            print "ran", "java/" part, class, passed, failed, skipped, seconds
        }
        if (line ~ /<testcase /) test = attribute(line, "name")
        if (line ~ /<skipped/) {
            reason = attribute(line, "message")
            # An assumption that does not hold has its reason in the text.
            if (reason == "") {
                reason = line
                sub(/.*TestAbortedException: /, "", reason)
                sub(/\]\]>.*/, "", reason)
            }
            gsub(/[ \t]+/, " ", reason)
            gsub(/[ \t(].*/, "", test)
            print "out", "java/" part, class "." test, reason
        }
        if (line ~ /<(failure|error)/) {
            gsub(/[ \t].*/, "", test)
            print "fail", "java/" part, class "." test
        }
    }
    close(file)
}
