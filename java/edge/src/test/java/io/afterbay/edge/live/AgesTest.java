package io.afterbay.edge.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.edge.lines.ResultsDirectory.Complete;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class AgesTest {
    private static final Offset<Double> ONE_MOMENT = Offset.offset(1.0);

    /** Results every 100 ms of a second that begins at 5,000, each 20 ms behind. */
    @Test
    void resultsGetOlderUntilTheNextOnesAreThere() {
        List<Complete> complete =
                List.of(
                        new Complete(100, 5_120),
                        new Complete(200, 5_220),
                        new Complete(300, 5_320),
                        new Complete(400, 5_420));
        Ages ages = Ages.of(complete, 0, 400, watermark -> 5_000 + watermark);
        assertThat(ages).isNotNull();
        assertThat(ages.maxMs()).isEqualTo(120, ONE_MOMENT);
        assertThat(ages.p99Ms()).isEqualTo(119, ONE_MOMENT);
        assertThat(ages.p50Ms()).isEqualTo(70, ONE_MOMENT);
    }

    /** What waits for a link is as old as the outage, whatever is behind it. */
    @Test
    void anOutageMakesTheResultsOfItsTimeOld() {
        List<Complete> complete =
                List.of(new Complete(100, 100), new Complete(400, 900), new Complete(1_000, 1_000));
        Ages ages = Ages.of(complete, 0, 1_000, watermark -> watermark);
        assertThat(ages).isNotNull();
        assertThat(ages.maxMs()).isEqualTo(800, ONE_MOMENT);
    }

    @Test
    void resultsThatNeverCameHaveNoAge() {
        assertThat(Ages.of(List.of(new Complete(100, 100)), 0, 1_000, watermark -> watermark))
                .isNull();
    }
}
