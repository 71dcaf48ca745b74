package io.afterbay.store.testkit;

/** A trigger as a value. */
record TriggerAt(long timestamp, Place place) {
    @Override
    public String toString() {
        return timestamp + "/" + place;
    }
}
