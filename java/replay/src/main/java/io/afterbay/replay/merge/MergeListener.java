package io.afterbay.replay.merge;

import java.io.IOException;
import java.io.Serializable;

/** Is told on the JobManager how far a merge is. */
public interface MergeListener extends Serializable {
    /** In a thread that may wait. */
    void tell(MergeFigures figures) throws IOException;
}
