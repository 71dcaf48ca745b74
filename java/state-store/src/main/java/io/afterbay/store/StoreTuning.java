package io.afterbay.store;

import java.io.Serializable;

/**
 * Sizes within a store that are not for users: the defaults are right for all, or wrong for all.
 * They can be changed so that experiments can tell.
 *
 * @param regroupBatchBytes elements of an aligned window's log that are brought into the order of
 *     their keys at a time, when the window is first read; on the heap. Logs of up to 16 times that
 *     are read from memory instead, on the heap too
 * @param hotTierPart the hot tier of recently used entries has the budget divided by this, and at
 *     most twice as much of the store's share
 */
public record StoreTuning(int regroupBatchBytes, int hotTierPart) implements Serializable {
    private static final int BATCH_MIN = 4 << 10;
    private static final int BATCH_MAX = 16 << 20;
    private static final int PART_MIN = 2;
    private static final int PART_MAX = 1024;

    /** What stores have. */
    public static final StoreTuning DEFAULT = new StoreTuning(256 << 10, 16);

    public StoreTuning {
        if (!isRegroupBatch(regroupBatchBytes)) {
            throw new IllegalArgumentException(
                    "a regroup batch has 4 KiB to 16 MiB, not " + regroupBatchBytes + " bytes");
        }
        if (!isHotTierPart(hotTierPart)) {
            throw new IllegalArgumentException(
                    "the hot tier has 1 part of 2 to 1024 parts, not of " + hotTierPart);
        }
    }

    /** Whether a batch may have so many bytes: 4 KiB to 16 MiB. */
    public static boolean isRegroupBatch(long bytes) {
        return bytes >= BATCH_MIN && bytes <= BATCH_MAX;
    }

    /** Whether the hot tier may have one of so many parts: 2 to 1024. */
    public static boolean isHotTierPart(int parts) {
        return parts >= PART_MIN && parts <= PART_MAX;
    }
}
