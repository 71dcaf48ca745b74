package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.spark.publish.WriterReport;
import io.afterbay.spark.publish.WrittenStates;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class ReporterTest {
    private static final int MOMENT_MS = 100;

    private final List<Boolean> areLast = new CopyOnWriteArrayList<>();
    private final WrittenStates states = new WrittenStates("executor 1");

    private Object heard(Object report) {
        areLast.add(((WriterReport) report).isLast());
        return 0L;
    }

    /**
     * The driver would take the executor for a new one, and wait for it. Here its thread has news,
     * and goes on when the last report is made.
     */
    @Test
    void nothingFollowsTheLastReport() throws Exception {
        Reporter reporter = new Reporter(states, Set::of, this::heard);
        reporter.start();
        Thread.sleep(MOMENT_MS); // its thread waits for news
        synchronized (states) {
            publish("1_a");
            reporter.close();
            publish("1_b");
        }
        Thread.sleep(MOMENT_MS); // time to go wrong
        assertThat(areLast).startsWith(false).containsOnlyOnce(true).endsWith(true);
    }

    private void publish(String name) {
        states.created("ckpt", name);
        states.published(name);
    }
}
