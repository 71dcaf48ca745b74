package io.afterbay.flink.it.job;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.BitSet;

/**
 * What {@link Archive} keeps of each customer. A posting is added to one page, all over it, and the
 * order of additions does not matter: two archives are equal if and only if (in practice) they were
 * given the same postings equally often.
 *
 * @param perCustomer number of pages; 0 for no archive
 * @param meanBytes size of a page; they differ by up to a half of it
 */
public record Pages(int perCustomer, int meanBytes) implements Serializable {
    public static final Pages NONE = new Pages(0, 0);

    int page(Posting posting) {
        return (int) Long.remainderUnsigned(Journal.mix(seed(posting)), perCustomer);
    }

    byte[] empty(int customer, int page) {
        return new byte[bytes(customer, page)];
    }

    private int bytes(int customer, int page) {
        long random = Journal.mix(((long) customer << 32) + page);
        int words = (int) Long.remainderUnsigned(random, meanBytes / Long.BYTES);
        return meanBytes / 2 + words * Long.BYTES;
    }

    /** The size of all pages when all postings were added, without keys and overhead. */
    public long bytes(Journal journal) {
        BitSet present = new BitSet(Journal.CUSTOMERS * perCustomer);
        for (int partition = 0; partition < journal.partitions(); partition++) {
            for (int n = 0; n < journal.postings(); n++) {
                Posting posting = journal.posting(partition, n);
                present.set(posting.customer * perCustomer + page(posting));
            }
        }
        return present.stream().mapToLong(i -> bytes(i / perCustomer, i % perCustomer)).sum();
    }

    static void add(Posting posting, byte[] content) {
        long seed = seed(posting);
        ByteBuffer words = ByteBuffer.wrap(content);
        for (int at = 0; at + Long.BYTES <= content.length; at += Long.BYTES) {
            words.putLong(at, words.getLong(at) + Journal.mix(seed + at));
        }
    }

    private static long seed(Posting posting) {
        return Journal.mix(posting.time * 1_000_003 + posting.account) + posting.amount;
    }

    /** To be summed up over all pages of a customer. */
    static long digest(int page, byte[] content) {
        long digest = page;
        ByteBuffer words = ByteBuffer.wrap(content);
        while (words.remaining() >= Long.BYTES) {
            digest = digest * 1_000_003 + words.getLong();
        }
        return Journal.mix(digest);
    }

    static String line(int customer, int pages, long digest) {
        return "archive,%d,%d,%x".formatted(customer, pages, digest);
    }
}
