package io.afterbay.cli.sql;

/** A statement that cannot be run; the message names script, statement, line and reason. */
public final class ScriptException extends Exception {
    private static final long serialVersionUID = 1;

    ScriptException(String script, Statement statement, String reason, Throwable cause) {
        super(
                "%s, statement %d, line %d: %s"
                        .formatted(script, statement.number(), statement.line(), reason),
                cause);
    }
}
