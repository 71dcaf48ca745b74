package io.afterbay.command.flink.sql;

/** A statement that cannot be run; the message names script, statement, line and reason. */
public final class ScriptException extends Exception {
    private static final long serialVersionUID = 1;

    private final transient Statement statement;
    private final String reason;

    public ScriptException(String script, Statement statement, Throwable cause) {
        this(script, statement, Reasons.of(cause));
        initCause(cause);
    }

    public ScriptException(String script, Statement statement, String reason) {
        super(
                "%s, statement %d, line %d: %s"
                        .formatted(script, statement.number(), statement.line(), reason));
        this.statement = statement;
        this.reason = reason;
    }

    /** The one that is wrong. */
    public Statement statement() {
        return statement;
    }

    /** What is wrong with it. */
    public String reason() {
        return reason;
    }
}
