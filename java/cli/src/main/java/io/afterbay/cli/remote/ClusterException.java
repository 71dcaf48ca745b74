package io.afterbay.cli.remote;

/** A cluster that cannot be reached or used; the message says why and what to do. */
public final class ClusterException extends Exception {
    private static final long serialVersionUID = 1;

    ClusterException(String message) {
        super(message);
    }

    ClusterException(String message, Throwable cause) {
        super(message, cause);
    }
}
