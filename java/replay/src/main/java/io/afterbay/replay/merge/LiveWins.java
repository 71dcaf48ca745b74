package io.afterbay.replay.merge;

/**
 * Whatever the live job wrote since the beginning of the merge is newer than what is replayed. For
 * rows that do not say how new they are.
 */
public final class LiveWins implements Resolver {
    private static final long serialVersionUID = 1;

    @Override
    public long version(OutputRow row) {
        return 0;
    }
}
