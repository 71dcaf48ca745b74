package io.afterbay.replay;

import io.afterbay.replay.merge.MergeFigures;
import io.afterbay.replay.merge.MergeListener;
import java.io.IOException;
import java.net.URI;

/**
 * The control of a replay, for the merge before one of its sinks.
 *
 * @param sink its number, from 0
 */
record MergeControl(URI directory, int sink) implements MergeListener {
    @Override
    public void tell(MergeFigures figures) throws IOException {
        new ReplayControl(directory).tell(sink, figures);
    }
}
