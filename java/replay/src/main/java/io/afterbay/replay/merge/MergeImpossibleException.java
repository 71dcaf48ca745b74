package io.afterbay.replay.merge;

import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;
import org.apache.flink.util.FlinkRuntimeException;

/** What a merge found out about its rows that no restart will change. It fails the job. */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
final class MergeImpossibleException extends FlinkRuntimeException {
    private static final long serialVersionUID = 1;

    MergeImpossibleException(String message) {
        super(message);
    }
}
