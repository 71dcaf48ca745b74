package io.afterbay.flink.snapshot;

import io.afterbay.flink.state.TtlFilter;
import io.afterbay.store.Slice;

/**
 * Which values of a state had expired when the snapshot was taken; they are left out. The time is
 * that of the synchronous part, so that a snapshot does not depend on how long writing it takes.
 */
record Expiry(TtlFilter filter, long nowMillis) {
    boolean expired(Slice value) {
        return filter.expired(value.array(), value.length(), nowMillis);
    }
}
