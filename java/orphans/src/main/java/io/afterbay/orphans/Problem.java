package io.afterbay.orphans;

import org.apache.flink.core.fs.Path;

/**
 * Why it is not known which files checkpoints refer to; nothing is deleted then.
 *
 * @param reason with the way out
 */
public record Problem(Path path, String reason) {
    static String reason(Throwable failure) {
        String message = failure.getMessage();
        String name = failure.getClass().getSimpleName();
        return message == null ? name : name + ": " + message;
    }
}
