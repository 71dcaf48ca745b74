package io.afterbay.cli.replay;

import com.fasterxml.jackson.annotation.JsonIgnore;
import org.jspecify.annotations.Nullable;

/**
 * The rate that a replay is to have.
 *
 * @param perSecond null for no bound
 * @param paused whether no records come now, whatever the rate
 * @param adaptive whether the live job decides from here on
 */
record WantedRate(@Nullable Double perSecond, boolean paused, boolean adaptive) {
    static final WantedRate NO_BOUND = new WantedRate(null, false, false);

    /** Records per second; JSON has no infinity. */
    @JsonIgnore
    double rate() {
        return perSecond == null ? Rate.MAX : perSecond;
    }

    WantedRate paused(boolean isPaused) {
        return new WantedRate(perSecond, isPaused, adaptive);
    }
}
