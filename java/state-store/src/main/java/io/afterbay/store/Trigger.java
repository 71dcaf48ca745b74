package io.afterbay.store;

/** A trigger that the store fills in; reused by the caller. */
public final class Trigger {
    private long timestamp;
    private final StateKey key = new StateKey();

    /** A trigger of its own. */
    public static Trigger copyOf(long timestamp, StateKey key) {
        Trigger copy = new Trigger();
        copy.set(timestamp, key);
        return copy;
    }

    /** In the unit of the caller, milliseconds as a rule. */
    public long timestamp() {
        return timestamp;
    }

    /** Key group, key and namespace. */
    public StateKey key() {
        return key;
    }

    /** Copies a trigger in; for implementations of {@link TriggerSchedule}. */
    public void set(long timestamp, StateKey source) {
        this.timestamp = timestamp;
        key.set(source);
    }
}
