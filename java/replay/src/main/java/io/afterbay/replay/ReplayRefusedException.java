package io.afterbay.replay;

import org.jspecify.annotations.Nullable;

/**
 * A job cannot be replayed. The message names the source by its operator and class, and says what
 * would make it replayable.
 */
public final class ReplayRefusedException extends Exception {
    private static final long serialVersionUID = 1;

    ReplayRefusedException(String message) {
        super(message);
    }

    ReplayRefusedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
