package io.afterbay.kafka.workloads;

/** Something that the user can mend; the message says what and how. */
final class WordCountException extends Exception {
    private static final long serialVersionUID = 1;

    WordCountException(String message) {
        super(message);
    }

    WordCountException(String message, Throwable cause) {
        super(message, cause);
    }
}
