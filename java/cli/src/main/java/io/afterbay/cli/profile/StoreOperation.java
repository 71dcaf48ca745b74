package io.afterbay.cli.profile;

/** What a task does in its state backend. */
public enum StoreOperation {
    /** It changes state or a timer. Choosing the key is part of it: each event writes something. */
    WRITE,
    /** It looks state up or iterates over it, or takes a timer that is due. */
    READ
}
