package io.afterbay.replay.merge;

import org.apache.flink.api.connector.source.SourceEvent;

/** The merge needs no more rows of the log. */
record EndEvent() implements SourceEvent {}
