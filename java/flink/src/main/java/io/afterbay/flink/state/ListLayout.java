package io.afterbay.flink.state;

import io.afterbay.store.ReadAlignment;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * Infers how the lists of a state will be read, from what any backend is handed. All keys of a time
 * window fire together unless windows merge; then each key has windows of its own. A wrong
 * inference costs speed only.
 *
 * <p>Asked at the first write: {@code WindowOperator} registers its merging-window set after the
 * state of the windows.
 */
final class ListLayout {
    /** Registered by the DataStream API's window operator if windows merge. */
    static final String MERGING_WINDOWS = "merging-window-set";

    /** The same of SQL's group windows. */
    private static final String SQL_MERGING_WINDOWS = "session-window-mapping";

    /** Simple class name of the serializers of time windows, of the DataStream API and of SQL. */
    private static final String TIME_WINDOW_SERIALIZER = "TimeWindow$Serializer";

    private ListLayout() {}

    static ReadAlignment choose(TypeSerializer<?> namespaceSerializer, StateRegistry registry) {
        boolean merging =
                registry.hasState(MERGING_WINDOWS) || registry.hasState(SQL_MERGING_WINDOWS);
        boolean windows = namespaceSerializer.getClass().getName().endsWith(TIME_WINDOW_SERIALIZER);
        return windows && !merging ? ReadAlignment.ALIGNED : ReadAlignment.UNALIGNED;
    }
}
