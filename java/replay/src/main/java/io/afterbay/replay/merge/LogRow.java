package io.afterbay.replay.merge;

import org.jspecify.annotations.Nullable;

/**
 * A row as it was read from the log.
 *
 * @param offset its place in its partition
 */
public record LogRow(OutputRow row, long offset) {
    @Nullable Provenance provenance() {
        return Provenance.of(row);
    }
}
