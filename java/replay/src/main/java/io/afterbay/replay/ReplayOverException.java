package io.afterbay.replay;

import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;
import org.apache.flink.util.FlinkRuntimeException;

/**
 * Nobody waits for this job any more: its replay was cancelled, or another job does it. It fails
 * the job, whatever the restart strategy.
 */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
final class ReplayOverException extends FlinkRuntimeException {
    private static final long serialVersionUID = 1;

    ReplayOverException(String message) {
        super(message);
    }
}
