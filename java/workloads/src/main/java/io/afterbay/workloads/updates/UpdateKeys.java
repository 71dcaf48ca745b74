package io.afterbay.workloads.updates;

/** Which key an event is about: a function of its number. */
final class UpdateKeys {
    /** Odd, so that different indexes have different keys; they come in no order. */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private UpdateKeys() {}

    static long key(long number, long keys) {
        return index(number, keys) * SPREAD;
    }

    /** From 0 to below {@code keys}: in order at first, then at random. */
    static long index(long number, long keys) {
        return number < keys ? number : Long.remainderUnsigned(mix(number), keys);
    }

    /** SplitMix64: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators. */
    static long mix(long seed) {
        long z = seed * SPREAD;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }
}
