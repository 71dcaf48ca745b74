package io.afterbay.stragglers;

import static io.afterbay.stragglers.VirtualTime.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.afterbay.testing.TestForm;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tuples that wait in a {@link SharedQueue} for c servers, in simulated time, against what Erlang's
 * formula says. Arrivals and service are random, at 450 tuples a second and server, as in the paper
 * (section 5.1.2).
 */
class QueueSimulationTest {
    private static final double SERVICES_PER_SECOND = 450;
    private static final int BATCHES = 20;

    /**
     * A mean, and how far it is from the true one for chance: the standard deviation of the means
     * of parts, each much longer than the queue remembers.
     */
    private record Estimate(double mean, double error) {
        static Estimate of(List<Double> batches) {
            double mean = batches.stream().mapToDouble(b -> b).average().getAsDouble();
            double squares = batches.stream().mapToDouble(b -> (b - mean) * (b - mean)).sum();
            int n = batches.size();
            return new Estimate(mean, Math.sqrt(squares / (n - 1) / n));
        }
    }

    private static final class Servers {
        private final VirtualTime time = new VirtualTime();
        private final SplittableRandom random;
        private final boolean isShared;
        private final SharedQueue<Long> queue = new SharedQueue<>(SharedQueue.CAPACITY_MAX);
        private final List<SharedQueue<Long>.Lane> lanes = new ArrayList<>();
        private final Deque<Integer> idle = new ArrayDeque<>();
        private double waited;
        private int served;

        Servers(int count, double utilisation, boolean isShared, long seed) {
            this.random = new SplittableRandom(seed);
            this.isShared = isShared;
            for (int server = 0; server < count; server++) {
                lanes.add(queue.join(isShared ? 1 : 1 << 16));
                idle.add(server);
            }
            double arrivalsPerSecond = count * SERVICES_PER_SECOND * utilisation;
            time.repeat(random.split(), arrivalsPerSecond, this::arrive);
        }

        private void arrive() {
            int server = random.nextInt(lanes.size());
            assertThat(isShared ? queue.offer(time.now()) : lanes.get(server).offer(time.now()))
                    .isTrue();
            if (isShared && !idle.isEmpty()) {
                serve(idle.remove());
            } else if (!isShared && idle.remove(server)) {
                serve(server);
            }
        }

        private void serve(int server) {
            Long arrival = lanes.get(server).poll();
            if (arrival == null) {
                idle.add(server);
                return;
            }
            waited += time.now() - arrival;
            served++;
            time.after(
                    VirtualTime.exponential(random, SECONDS / SERVICES_PER_SECOND),
                    () -> serve(server));
        }

        /** The mean wait in seconds; the first part, in which the queue fills, does not count. */
        Estimate meanWait(int tuples) {
            List<Double> batches = new ArrayList<>();
            for (int batch = 0; batch <= BATCHES; batch++) {
                waited = 0;
                served = 0;
                while (served < tuples / BATCHES) {
                    time.runUntil(time.now() + SECONDS / 10);
                }
                batches.add(waited / served / SECONDS);
            }
            return Estimate.of(batches.subList(1, batches.size()));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "2, 0.3", "4, 0.3", "8, 0.3",
        "2, 0.5", "4, 0.5", "8, 0.5",
        "2, 0.7778", "4, 0.7778", "8, 0.7778",
        "2, 0.9", "4, 0.9", "8, 0.9",
        "2, 0.95", "4, 0.95", "8, 0.95",
    })
    void waitsAreThoseOfErlang(int servers, double utilisation) {
        double expected = expectedWait(servers, utilisation);
        Servers shared = new Servers(servers, utilisation, true, 10L * servers);
        Estimate wait = shared.meanWait(TestForm.QUEUE_TUPLES);
        assertThat(wait.mean).isCloseTo(expected, within(3 * wait.error));
        assertThat(wait.error).as("error of %s", expected).isLessThan(0.1 * expected);
    }

    /** Negative control: a queue for each server waits as long as one server alone does. */
    @ParameterizedTest
    @CsvSource({"2, 0.5", "4, 0.7778", "8, 0.9"})
    void queuesOfTheirOwnWaitLonger(int servers, double utilisation) {
        Servers apart = new Servers(servers, utilisation, false, 10L * servers);
        Estimate wait = apart.meanWait(TestForm.QUEUE_TUPLES);
        assertThat(wait.mean)
                .isCloseTo(expectedWait(1, utilisation), within(3 * wait.error))
                .isGreaterThan(2 * expectedWait(servers, utilisation) + 10 * wait.error);
    }

    private static double expectedWait(int servers, double utilisation) {
        double arrivalsPerSecond = servers * SERVICES_PER_SECOND * utilisation;
        return ErlangC.meanWaitSeconds(servers, arrivalsPerSecond, SERVICES_PER_SECOND);
    }
}
