package io.afterbay.spark.publish;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A file could not be published, or not in time. What was published before is complete and in
 * order, so a restart from there is safe.
 */
public final class PublishException extends IOException {
    private static final long serialVersionUID = 1;

    PublishException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
