package io.afterbay.edge.link;

import java.time.Duration;

/**
 * What a link is like.
 *
 * @param bitsPerSecond in each direction
 * @param roundTrip there and back, beside the time that the bits take
 */
public record LinkShape(long bitsPerSecond, Duration roundTrip) {
    public LinkShape {
        if (bitsPerSecond <= 0 || roundTrip.isNegative()) {
            throw new IllegalArgumentException(
                    "a link of %d bit/s with %s".formatted(bitsPerSecond, roundTrip));
        }
    }
}
