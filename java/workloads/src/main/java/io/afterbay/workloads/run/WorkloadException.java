package io.afterbay.workloads.run;

import java.io.IOException;
import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/**
 * A file that cannot be read or written. The message is for the user and says what to do; a restart
 * would meet the same file again, so the job ends.
 */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
public final class WorkloadException extends IOException {
    private static final long serialVersionUID = 1;

    public WorkloadException(String message) {
        super(message);
    }

    public WorkloadException(String message, Throwable cause) {
        super(message, cause);
    }

    /** What the operating system said, without the Java around it. */
    public static String reason(IOException e) {
        String message = e.getMessage();
        return message == null ? e.getClass().getSimpleName() : message;
    }
}
