package io.afterbay.experiments.recovery;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the log of a TaskManager says about the copies of its state that a task was restored from.
 * Flink tries a local copy first if there is one, and the checkpoint storage last.
 */
final class RestoreLog {
    /** The instance, and which of how many copies of its state is tried. */
    private static final Pattern ATTEMPT =
            Pattern.compile(
                    "Creating (keyed state backend for .*) and restoring with state from"
                            + " alternative \\((\\d+)/(\\d+)\\)");

    private RestoreLog() {}

    /** Instances whose last attempt was from a local copy. */
    static int localInstances(String log) {
        Map<String, Boolean> local = new HashMap<>();
        Matcher attempt = ATTEMPT.matcher(log);
        while (attempt.find()) {
            local.put(
                    attempt.group(1),
                    Integer.parseInt(attempt.group(2)) < Integer.parseInt(attempt.group(3)));
        }
        return (int) local.values().stream().filter(one -> one).count();
    }
}
