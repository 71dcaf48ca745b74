package io.afterbay.workloads.nexmark;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * A row of a result.
 *
 * @param timeMillis the watermark at which the row could be known; not part of the result
 * @param values the columns of {@link Query#columns}
 */
public record Answer(long timeMillis, long... values) {

    /** The row as it stands in the output file. */
    public String csv() {
        return Arrays.stream(values).mapToObj(Long::toString).collect(Collectors.joining(","));
    }

    /** Rows with the same columns are equal, whenever they could be known. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Answer answer && Arrays.equals(values, answer.values);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(values);
    }

    @Override
    public String toString() {
        return csv();
    }
}
