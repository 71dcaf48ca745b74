package io.afterbay.flink.it.job;

/** One input event: a plain Java object to Flink's serializers. */
public final class Posting {
    /** Each account has many postings. */
    public int account;

    /** Each customer has few postings, so that sessions are short. */
    public int customer;

    /** Event time in milliseconds. */
    public long time;

    public long amount;

    /** For Flink. */
    public Posting() {}

    Posting(int account, int customer, long time, long amount) {
        this.account = account;
        this.customer = customer;
        this.time = time;
        this.amount = amount;
    }
}
