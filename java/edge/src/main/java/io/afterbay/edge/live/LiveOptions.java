package io.afterbay.edge.live;

import io.afterbay.edge.link.LinkShape;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a job is run live.
 *
 * @param link between each site and the cloud
 * @param play how long what the sites see is played, from its first line to its last one
 * @param outage for so long no link carries anything, from a quarter of the play on; zero for none
 * @param kill which program is killed at half of the play; null for none
 */
public record LiveOptions(LinkShape link, Duration play, Duration outage, @Nullable Victim kill) {
    /** A program of the job in halves. */
    public enum Victim {
        /** That of the first site. */
        AGENT,
        GATEWAY
    }
}
