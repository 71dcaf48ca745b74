package io.afterbay.replay.merge;

import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/**
 * A subtask of the merge tells its coordinator how far it is.
 *
 * @param hasFinished whether it will write nothing more
 */
record MergeEvent(MergeFigures figures, boolean hasFinished) implements OperatorEvent {}
