package io.afterbay.command.flink.sql;

/** A statement that cannot be run; the message names script, statement, line and reason. */
public final class ScriptException extends Exception {
    private static final long serialVersionUID = 1;

    public ScriptException(String script, Statement statement, Throwable cause) {
        super(message(script, statement, Reasons.of(cause)), cause);
    }

    public ScriptException(String script, Statement statement, String reason) {
        super(message(script, statement, reason));
    }

    private static String message(String script, Statement statement, String reason) {
        return "%s, statement %d, line %d: %s"
                .formatted(script, statement.number(), statement.line(), reason);
    }
}
