package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What metrics of streams are called. */
class BalanceMetricsTest {
    private static final List<String> NAMES =
            List.of("a", "b", "a-b", "b-a", "a:b", "b:", ":a", ":", "%3A", "a%3Ab", "%", "%25");

    @Test
    void usualNamesAreAsTheyAre() {
        assertThat(BalanceMetrics.name("filter-1", "default")).isEqualTo("filter-1:default");
    }

    @Test
    void noTwoStreamsHaveTheSame() {
        Set<String> all = new HashSet<>();
        for (String component : NAMES) {
            for (String stream : NAMES) {
                all.add(BalanceMetrics.name(component, stream));
            }
        }
        assertThat(all).hasSize(NAMES.size() * NAMES.size());
    }
}
