package io.afterbay.store;

import org.jspecify.annotations.Nullable;

/**
 * A local file of a store could not be read or written, or memory is short. Names the place and the
 * way out.
 */
public class StateStoreException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StateStoreException(String message) {
        super(message);
    }

    public StateStoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
