package io.afterbay.maintenance;

/**
 * Phases in [0, 1) that keep instances apart (ShadowSync, section 4.1, takes random ones).
 *
 * <table>
 * <caption>Three ways to a phase</caption>
 * <tr><th>phase of</th><th>the same after a restart</th><th>even over few instances</th></tr>
 * <tr><td>a name</td><td>if the name is</td><td>as random numbers: gaps and clusters</td></tr>
 * <tr><td>a place in an order</td><td>only if the order is</td><td>yes</td></tr>
 * <tr><td>a group and a place in it</td><td>if both are</td><td>yes, within the group</td></tr>
 * </table>
 *
 * <p>Places are spread by the golden ratio: however many there are, they cut the circle into gaps
 * of at most three lengths (Steinhaus), and no two of n are closer than 0.38 / n. That holds for
 * consecutive places; a process that holds every 8th, 13th or 21st place of a group (Fibonacci
 * numbers) has them closer together.
 */
public final class Spread {
    private static final double GOLDEN_RATIO_FRACTION = (Math.sqrt(5) - 1) / 2;
    private static final long FNV_OFFSET_BASIS = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;
    private static final double TWO_TO_MINUS_53 = 0x1.0p-53;

    private Spread() {}

    /** The phase of a name: the same on every machine and in every version. */
    public static double ofName(String name) {
        return (hash(name) >>> 11) * TWO_TO_MINUS_53;
    }

    /** The phase of the nth place in an order, from 0; for example of registration. */
    public static double ofPlace(int place) {
        if (place < 0) {
            throw new IllegalArgumentException("a place is 0 or more, not " + place);
        }
        return fraction(place * GOLDEN_RATIO_FRACTION);
    }

    /**
     * The phase of one of the instances of a group, for example of a subtask of an operator. Groups
     * start at the phases of their names, so that their first instances differ.
     */
    public static double of(String group, int place) {
        return fraction(ofName(group) + ofPlace(place));
    }

    /**
     * What to add to a trigger that counts, α in {0 .. range - 1}: a compaction trigger of 4 files
     * and a range of 4 make 4 to 7 files. The same phase gives the same offset.
     *
     * @param phase in [0, 1)
     * @param range how many offsets there are, at least 1
     */
    public static int triggerOffset(double phase, int range) {
        if (!(phase >= 0 && phase < 1) || range < 1) {
            throw new IllegalArgumentException(
                    "a phase is in [0, 1) and a range at least 1, not " + phase + " and " + range);
        }
        return (int) (phase * range);
    }

    private static double fraction(double value) {
        return value - Math.floor(value);
    }

    /** FNV-1a over the characters; MurmurHash3's finalizer spreads it to the upper bits. */
    private static long hash(String name) {
        long hash = FNV_OFFSET_BASIS;
        for (int i = 0; i < name.length(); i++) {
            hash = (hash ^ name.charAt(i)) * FNV_PRIME;
        }
        hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
        hash = (hash ^ (hash >>> 33)) * 0xc4ceb9fe1a85ec53L;
        return hash ^ (hash >>> 33);
    }
}
