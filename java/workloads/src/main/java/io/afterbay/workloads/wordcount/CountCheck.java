package io.afterbay.workloads.wordcount;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whether results are those of exactly-once: each count of a word is one more than the one before,
 * so that none is missing and none comes twice, and the last ones are the right answer. Not safe
 * for use by several threads.
 */
public final class CountCheck {
    private final Map<String, Long> counts = new HashMap<>();
    private long results;
    private @Nullable String problem;

    /** The next result of a word, in the order of its partition. */
    public void result(String word, long count) {
        results++;
        Long before = counts.put(word, count);
        long expected = before == null ? 1 : before + 1;
        if (count != expected && problem == null) {
            problem =
                    "result %d: the count of %s is %d instead of %d"
                            .formatted(results, word, count, expected);
        }
    }

    public long results() {
        return results;
    }

    /** The last count of each word. */
    public Map<String, Long> counts() {
        return counts;
    }

    /**
     * What is wrong first, or null.
     *
     * @param answer how often each word came
     */
    public @Nullable String problem(Map<String, Long> answer) {
        if (problem != null || counts.equals(answer)) {
            return problem;
        }
        return answer.entrySet().stream()
                .filter(entry -> !entry.getValue().equals(counts.get(entry.getKey())))
                .findFirst()
                .map(
                        entry ->
                                "at the end, the count of %s is %s instead of %d"
                                        .formatted(
                                                entry.getKey(),
                                                counts.get(entry.getKey()),
                                                entry.getValue()))
                .orElse("there are words that never came in");
    }
}
