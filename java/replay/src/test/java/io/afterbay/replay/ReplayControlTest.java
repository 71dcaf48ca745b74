package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.replay.merge.MergeFigures;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplayControlTest {
    @TempDir private Path directory;
    private URI uri;
    private ReplayControl control;

    @BeforeEach
    void create() {
        uri = directory.resolve("a/control").toUri();
        control = new ReplayControl(uri);
    }

    @Test
    void aRateThatWasNeverSetIsNoneAtAll() throws IOException {
        assertThatThrownBy(() -> control.rate())
                .isInstanceOf(ReplayImpossibleException.class)
                .hasMessageContaining("a/control")
                .hasMessageContaining("--checkpoint-dir");
        assertThat(control.progress()).isEmpty();
        assertThat(control.merged()).isEmpty();
    }

    /** The merge before the first of two sinks has told nothing yet. */
    @Test
    void allMergesThatHaveToldSomethingAreAddedUp() throws IOException {
        control.tell(1, new MergeFigures(3, 2, 1));
        assertThat(control.merged()).contains(new MergeFigures(3, 2, 1));
        control.tell(0, new MergeFigures(10, 20, 30));
        control.tell(10, new MergeFigures(100, 0, 0));
        assertThat(control.merged()).contains(new MergeFigures(113, 22, 31));
    }

    @Test
    void whatBeginsAgainHasDoneNothing() throws IOException {
        control.setRate(7);
        control.tell(1, 2, 100, new ReplayProgress(10, 1, 500, true));
        control.tell(0, 2, 100, new ReplayProgress(10, 1, 500, true));
        control.tell(0, new MergeFigures(10, 20, 30));
        control.forgetProgress();
        assertThat(control.progress()).isEmpty();
        assertThat(control.merged()).isEmpty();
        assertThat(control.othersThatHaveEnded(0, 2)).isZero();
        assertThat(control.rate()).isEqualTo(7);
    }

    @Test
    void ratesAreKept() throws IOException {
        for (double rate : new double[] {0, 0.25, 2_000, 1e9, Double.POSITIVE_INFINITY}) {
            control.setRate(rate);
            assertThat(new ReplayControl(uri).rate()).isEqualTo(rate);
        }
    }

    /** Whoever reads a rate alone sees that of a cancelled replay as a pause. */
    @Test
    void ordersAreKept() throws IOException {
        for (ReplayOrders orders :
                List.of(
                        new ReplayOrders(5, null, false),
                        new ReplayOrders(0, "0a", false),
                        new ReplayOrders(Double.POSITIVE_INFINITY, "0b", true),
                        ReplayOrders.cancelled())) {
            control.give(orders);
            assertThat(new ReplayControl(uri).orders()).isEqualTo(orders);
            assertThat(control.rate()).isEqualTo(orders.recordsPerSecond());
        }
        assertThat(control.rate()).isZero();
        control.setRate(3);
        assertThat(control.orders()).isEqualTo(new ReplayOrders(3, null, false));
    }

    @Test
    void whatIsNoRateIsRefused() throws IOException {
        control.setRate(7);
        for (double rate : new double[] {-1, Double.NaN, Double.NEGATIVE_INFINITY}) {
            assertThatThrownBy(() -> control.setRate(rate))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("0 or more");
        }
        assertThat(control.rate()).isEqualTo(7);
    }

    @Test
    void progressIsKept() throws IOException {
        ReplayProgress told = new ReplayProgress(12, 3.5, 1_000, false);
        control.tell(told);
        assertThat(new ReplayControl(uri).progress()).contains(told);
        ReplayProgress last = new ReplayProgress(40, 0, 9_000, true);
        control.tell(last);
        assertThat(control.progress()).contains(last);
    }

    @Test
    void severalSourcesAreMerged() throws IOException {
        control.tell(1, 3, 100, new ReplayProgress(10, 1, 500, true));
        control.tell(0, 3, 100, new ReplayProgress(20, 2, 300, false));
        assertThat(control.progress()).contains(new ReplayProgress(30, 3, 100, false));
        assertThat(control.othersThatHaveEnded(0, 3)).isEqualTo(1);
        assertThat(control.othersThatHaveEnded(1, 3)).isZero();
        control.tell(2, 3, 100, new ReplayProgress(30, 4, 400, true));
        assertThat(control.progress()).contains(new ReplayProgress(60, 7, 300, false));
        control.tell(0, 3, 100, new ReplayProgress(21, 0, 600, true));
        assertThat(control.progress()).contains(new ReplayProgress(61, 5, 400, true));
    }

    /** One source of two has ended: the job has not. */
    @Test
    void theEndIsThatOfTheLastSource() throws IOException {
        control.tell(0, 2, 100, new ReplayProgress(20, 2, 600, true));
        assertThat(control.progress()).contains(new ReplayProgress(20, 2, 100, false));
    }

    @Test
    void readersNeverMeetHalfOfAFile() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        Thread writer =
                new Thread(
                        () -> {
                            try {
                                for (int i = 0; !stop.get(); i++) {
                                    control.setRate(i);
                                    control.tell(new ReplayProgress(i, i, i, false));
                                }
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        });
        control.setRate(0);
        control.tell(new ReplayProgress(0, 0, 0, false));
        writer.start();
        double last = 0;
        try {
            for (int i = 0; i < 2_000 || last == 0; i++) {
                double rate = control.rate();
                assertThat(rate).isFinite().isGreaterThanOrEqualTo(last);
                last = rate;
                assertThat(control.progress()).isPresent();
            }
        } finally {
            stop.set(true);
            writer.join();
        }
        try (Stream<Path> files = Files.list(directory.resolve("a/control"))) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("rate", "progress-0");
        }
    }

    @Test
    void aDamagedFileIsNamed() throws IOException {
        control.setRate(7);
        Files.writeString(directory.resolve("a/control/rate"), "records_per_second=7");
        assertThatThrownBy(() -> control.rate())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("control/rate is not complete");
    }
}
