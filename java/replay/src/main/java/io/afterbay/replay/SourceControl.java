package io.afterbay.replay;

import java.io.IOException;
import java.io.Serializable;
import java.net.URI;

/**
 * The control of a replay, for one of the sources of its job: its part of the rate, and its own
 * progress. The rate is divided equally among the sources that have not ended. Thread safe.
 *
 * @param source its number, from 0
 * @param sources how many the job has
 * @param name of the source's operator
 */
record SourceControl(URI directory, int source, int sources, long fromMs, String name)
        implements Serializable {
    double rate() throws IOException {
        ReplayControl control = new ReplayControl(directory);
        double rate = control.rate();
        return sources == 1
                ? rate
                : rate / (sources - control.othersThatHaveEnded(source, sources));
    }

    void tell(ReplayProgress progress) throws IOException {
        new ReplayControl(directory).tell(source, sources, fromMs, progress);
    }

    @Override
    public String toString() {
        return "source '" + name + "' of a replay (" + directory + ")";
    }
}
