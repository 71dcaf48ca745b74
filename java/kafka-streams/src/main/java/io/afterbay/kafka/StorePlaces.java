package io.afterbay.kafka;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * Numbers the open stores of each name, from 0; who opens next gets the lowest number that is free.
 * So however tasks come and go, the n stores of a name hold nearly the places 0 to n - 1, which
 * {@link io.afterbay.maintenance.Spread} spreads evenly. Safe for use by any thread.
 */
final class StorePlaces {
    private final Map<String, BitSet> taken = new HashMap<>();

    synchronized int take(String store) {
        BitSet places = taken.computeIfAbsent(store, name -> new BitSet());
        int place = places.nextClearBit(0);
        places.set(place);
        return place;
    }

    /** Windows have a store for each segment of time: names do not stay for ever. */
    synchronized void free(String store, int place) {
        BitSet places = taken.get(store);
        if (places != null) {
            places.clear(place);
            if (places.isEmpty()) {
                taken.remove(store);
            }
        }
    }
}
