package io.afterbay.workloads.updates;

import io.afterbay.workloads.updates.UpdateJournal.Part;
import io.afterbay.workloads.updates.UpdateJournal.Sample;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the counts must be, computed without an engine. */
public final class UpdateReference {
    private final long keys;
    private final int[] counts;
    private long next;

    private UpdateReference(long keys) {
        this.keys = keys;
        this.counts = new int[Math.toIntExact(keys)];
    }

    /**
     * What is wrong with the samples of some parts, in a line; null if nothing is. A lost or
     * doubled event shows in all later counts of its key.
     */
    public static @Nullable String problem(UpdateOptions options, List<Part> parts) {
        UpdateReference reference = new UpdateReference(options.keys());
        List<Sample> samples =
                parts.stream()
                        .flatMap(part -> part.samples().stream())
                        .sorted(Comparator.comparingLong(Sample::number))
                        .toList();
        if (samples.isEmpty()) {
            return "there are no counts to verify";
        }
        return samples.stream()
                .map(reference::problem)
                .filter(problem -> !problem.isEmpty())
                .findFirst()
                .orElse(null);
    }

    private String problem(Sample sample) {
        while (next <= sample.number()) {
            counts[(int) UpdateKeys.index(next, keys)]++;
            next++;
        }
        int expected = counts[(int) UpdateKeys.index(sample.number(), keys)];
        if (sample.count() != expected) {
            return "event %d made the count %d instead of %d"
                    .formatted(sample.number(), sample.count(), expected);
        }
        return sample.whole()
                ? ""
                : "the value that event %d found has other bytes than were written"
                        .formatted(sample.number());
    }
}
