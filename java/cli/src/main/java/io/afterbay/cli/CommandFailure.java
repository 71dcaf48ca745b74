package io.afterbay.cli;

/** Something that the user can mend; the message says what and how, and no stack trace follows. */
final class CommandFailure extends Exception {
    private static final long serialVersionUID = 1;

    CommandFailure(String message) {
        super(message);
    }

    CommandFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
