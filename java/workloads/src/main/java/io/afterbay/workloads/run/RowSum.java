package io.afterbay.workloads.run;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Identifies a multiset of rows in constant memory: their number, and the sum of 128 bits of the
 * SHA-256 of each. The order does not matter, and how often a row is there does. Not thread safe.
 */
public final class RowSum {
    private final MessageDigest digest = sha256();
    private long rows;
    private long high;
    private long low;

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    public void add(String row) {
        add(row, 1);
    }

    /** Undoes one {@link #add} of the same row, before or after it. */
    public void remove(String row) {
        add(row, -1);
    }

    private void add(String row, int times) {
        ByteBuffer hash = ByteBuffer.wrap(digest.digest(row.getBytes(StandardCharsets.UTF_8)));
        rows += times;
        high += times * hash.getLong();
        low += times * hash.getLong();
    }

    /** Adds all rows of a part of the multiset, which was summed elsewhere: see {@link #parts}. */
    public void addAll(long[] parts) {
        rows += parts[0];
        high += parts[1];
        low += parts[2];
    }

    /** The sum as numbers, for {@link #addAll}. */
    public long[] parts() {
        return new long[] {rows, high, low};
    }

    public long rows() {
        return rows;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RowSum sum
                && rows == sum.rows
                && high == sum.high
                && low == sum.low;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(high ^ low);
    }

    /** The same for equal sums only. */
    @Override
    public String toString() {
        return "%d rows, sum %016x%016x".formatted(rows, high, low);
    }
}
