package io.afterbay.command.flink.sql;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ExecutionException;

/** Says in one line why a statement failed: the planner's exceptions tell it from top to bottom. */
public final class Reasons {
    private Reasons() {}

    public static String of(Throwable failure) {
        if (failure instanceof ExecutionException) {
            return "its job failed: " + describe(root(failure));
        }
        Set<String> reasons = new LinkedHashSet<>();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String message = cause.getMessage();
            if (message != null) {
                String reason = firstParagraph(message);
                if (reasons.stream().noneMatch(known -> known.contains(reason))) {
                    reasons.add(reason);
                }
            }
        }
        return reasons.isEmpty() ? failure.toString() : String.join(" ", reasons);
    }

    private static Throwable root(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }

    private static String describe(Throwable root) {
        return root.getClass().getSimpleName() + ": " + root.getMessage();
    }

    /** Behind an empty line the planner prints the plan; the parser lists what it could parse. */
    private static String firstParagraph(String message) {
        String before = before("\nWas expecting", before("\n\n", message));
        return before.replace('\n', ' ').strip();
    }

    private static String before(String mark, String message) {
        int end = message.indexOf(mark);
        return end < 0 ? message : message.substring(0, end);
    }
}
