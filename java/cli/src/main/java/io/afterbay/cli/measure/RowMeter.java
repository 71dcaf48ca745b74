package io.afterbay.cli.measure;

import io.afterbay.workloads.run.RowSum;
import io.afterbay.workloads.run.RunObserver;
import java.util.function.Supplier;

/** Identifies the rows of a job, so that they can be compared with those of another run. */
public class RowMeter implements RunObserver {
    private final RowSum sum = new RowSum();
    private volatile long count;

    @Override
    public final void row(Supplier<String> csv) {
        sum.add(csv.get());
        count = sum.rows();
    }

    /** So far, for any thread. */
    final long count() {
        return count;
    }

    /** The same for the same multiset of rows only; after the end of the job. */
    public final String rows() {
        return sum.toString();
    }
}
