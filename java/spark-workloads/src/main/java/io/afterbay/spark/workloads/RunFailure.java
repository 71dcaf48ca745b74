package io.afterbay.spark.workloads;

/** Why a run came to nothing, in one line. */
final class RunFailure extends Exception {
    private static final long serialVersionUID = 1;

    RunFailure(Throwable cause) {
        super(reason(cause), cause);
    }

    /** Of the innermost cause, the first line: Spark repeats its own in each one around it. */
    private static String reason(Throwable failure) {
        Throwable innermost = failure;
        while (innermost.getCause() != null) {
            innermost = innermost.getCause();
        }
        String message = String.valueOf(innermost.getMessage());
        return innermost.getClass().getSimpleName() + ": " + message.lines().findFirst().orElse("");
    }
}
