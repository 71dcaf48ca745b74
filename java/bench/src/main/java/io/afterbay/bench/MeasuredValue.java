package io.afterbay.bench;

import org.jspecify.annotations.Nullable;

/**
 * A figure of a trial, or of a kind of them.
 *
 * <p>No {@code Function}: in JDK 17, other modules do not see that what it gives may be null.
 */
@FunctionalInterface
public interface MeasuredValue<T> {
    /** Null if it was not measured. */
    @Nullable Double of(T trial);
}
