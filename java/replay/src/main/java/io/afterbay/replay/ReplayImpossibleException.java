package io.afterbay.replay;

import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;
import org.apache.flink.util.FlinkRuntimeException;

/**
 * What a running replay found out about its sources that no restart will change. It fails the job,
 * whatever the restart strategy.
 */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
final class ReplayImpossibleException extends FlinkRuntimeException {
    private static final long serialVersionUID = 1;

    ReplayImpossibleException(String message) {
        super(message);
    }
}
