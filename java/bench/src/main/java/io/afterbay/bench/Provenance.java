package io.afterbay.bench;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where the figures of a round come from.
 *
 * @param experiment name of the file, without {@code .jsonl}
 * @param revision of the source, {@code -dirty} behind it if that was not all
 * @param versions of afterbay, flink, java
 * @param command that ran it, to be typed again
 * @param date when the round began, ISO 8601 in UTC
 * @param loadBefore load average of the machine over one minute, before the round
 * @param loadAfter the same after it
 * @param otherCores processors that other work used meanwhile, on average; null if nobody can tell
 */
@JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
public record Provenance(
        String experiment,
        String revision,
        Map<String, String> versions,
        String command,
        String date,
        @Nullable Double loadBefore,
        @Nullable Double loadAfter,
        @Nullable Double otherCores) {}
