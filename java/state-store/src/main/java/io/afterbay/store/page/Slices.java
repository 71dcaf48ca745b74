package io.afterbay.store.page;

/**
 * Ranges of key groups, by which pages are kept apart: those of a slice leave memory one behind the
 * other, and images copy them so; so whoever needs a part of the key groups finds their pages
 * together in files. A page of several slices counts as one of its first. What is known of a page
 * is a hint: it may have entries of other key groups.
 *
 * <pre>
 *   key groups:  first ................................. last
 *   slices:      |  1  |  2  |  3  |       ...       | n |       n is 255 at most; 0 is unknown
 * </pre>
 */
final class Slices {
    /** Of a page whose key groups are not known. */
    static final int UNKNOWN = 0;

    /** Numbers are less than this. */
    static final int LIMIT = 1 << Byte.SIZE;

    private final int firstKeyGroup;
    private final int lastKeyGroup;
    private final int keyGroupsPerSlice;

    Slices(int firstKeyGroup, int lastKeyGroup) {
        this.firstKeyGroup = firstKeyGroup;
        this.lastKeyGroup = lastKeyGroup;
        int keyGroups = lastKeyGroup - firstKeyGroup + 1;
        keyGroupsPerSlice = (keyGroups + LIMIT - 2) / (LIMIT - 1);
    }

    /** The slice of a key group; {@link #UNKNOWN} of one that the store has not. */
    int of(int keyGroup) {
        return keyGroup < firstKeyGroup || keyGroup > lastKeyGroup
                ? UNKNOWN
                : 1 + (keyGroup - firstKeyGroup) / keyGroupsPerSlice;
    }

    /** Whether a page of that slice may have entries of these key groups. */
    boolean isOf(int slice, int firstNeeded, int lastNeeded) {
        return slice == UNKNOWN
                || (of(Math.max(firstNeeded, firstKeyGroup)) <= slice
                        && slice <= of(Math.min(lastNeeded, lastKeyGroup)));
    }
}
