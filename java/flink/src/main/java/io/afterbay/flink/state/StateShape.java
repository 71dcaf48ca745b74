package io.afterbay.flink.state;

import org.apache.flink.api.common.state.StateDescriptor;

/**
 * How a registered state lies in the store. The codes are part of {@code spec/flink-snapshot.md}.
 */
public enum StateShape {
    VALUE(1),
    LIST(2),
    MAP(3),
    /** Timers, in a trigger schedule. */
    TRIGGERS(4),
    /**
     * Elements of a queue whose serializer is not Flink's timer serializer; they live on the heap.
     */
    ELEMENTS(5);

    private final int code;

    StateShape(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    public static StateShape of(StateDescriptor.Type type) {
        return switch (type) {
            case VALUE, REDUCING, AGGREGATING, FOLDING -> VALUE;
            case LIST -> LIST;
            case MAP -> MAP;
            default ->
                    throw new UnsupportedOperationException(
                            "states of type "
                                    + type
                                    + " are not supported by the Afterbay backend");
        };
    }
}
