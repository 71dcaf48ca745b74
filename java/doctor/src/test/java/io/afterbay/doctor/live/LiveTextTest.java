package io.afterbay.doctor.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LiveTextTest {
    private final Map<String, Object> values =
            new HashMap<>(Map.of("instances", 16, "bursts", 20L, "mostCompactionsOfBurst", 4));

    private String text() {
        StringWriter out = new StringWriter();
        LiveText.print(new PrintWriter(out), List.of(new LiveCounters("bean", values)));
        return out.toString();
    }

    @Test
    void instancesThatAreApartNeedNothing() {
        assertThat(text())
                .startsWith(
                        "Apart: up to 4 compactions began after the same flushes, of 16 instances")
                .doesNotContain("Set ", "raise");
    }

    @Test
    void instancesThatCompactTogetherShouldBeSpread() {
        values.put("mostCompactionsOfBurst", 16);
        assertThat(text()).startsWith("Together: up to 16").contains("trigger-spread: true");
        values.put("bursts", 7L);
        assertThat(text()).startsWith("Too little").doesNotContain("trigger-spread");
    }

    @Test
    void whatGoesWrongIsSaid() {
        values.putAll(
                Map.of(
                        "compactionsQueued",
                        17,
                        "holds",
                        3,
                        "holdsEndedByGuard",
                        2,
                        "hasFailed",
                        true));
        assertThat(text())
                .contains("thread.num", "gate.deadline", "has ended by an error, which is in");
    }
}
