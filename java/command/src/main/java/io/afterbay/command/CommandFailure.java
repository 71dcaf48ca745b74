package io.afterbay.command;

/** Something that the user can mend; the message says what and how, and no stack trace follows. */
public final class CommandFailure extends Exception {
    private static final long serialVersionUID = 1;

    public CommandFailure(String message) {
        super(message);
    }

    public CommandFailure(String message, Throwable cause) {
        super(message, cause);
    }

    /** What an exception says, for a message: its own, or its name where it has none. */
    public static String reason(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.getClass().getSimpleName() : message;
    }
}
