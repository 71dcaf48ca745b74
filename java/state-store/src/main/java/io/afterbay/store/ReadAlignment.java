package io.afterbay.store;

/** How the lists of a state are expected to be read (FlowKV, section 3.2). */
public enum ReadAlignment {
    /** All keys of a namespace (a window) at about the same time. */
    ALIGNED,
    /** Each key at a time of its own, as session windows and lists without a window are. */
    UNALIGNED
}
