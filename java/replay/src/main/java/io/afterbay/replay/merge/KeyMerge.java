package io.afterbay.replay.merge;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * What a merge knows of one key: which row is to be the last one in the log, and whether it is.
 *
 * <pre>
 *   replayed row --&gt; replayed() --&gt; is it newer than what the live job wrote? --&gt; written, pending
 *                                                                                     |
 *   log, in order --&gt; read() &lt;---------------------------------------------------- the log
 *          |
 *          +-- rows of the live job: may win, from now on
 *          +-- our own: what was pending is in its place
 *
 *   last row read is not the winner, and nothing is pending  --&gt;  isDue(): written once more
 * </pre>
 *
 * <p>The log is the one order that both jobs share. Nobody can look at it and write to it in one
 * step, so a row of the live job may come between the look and the write, and be hidden by what was
 * written. But the writer reads its own rows back, in order, and so meets first what it has hidden:
 * then it writes the winner again.
 *
 * <p>Invariants: when the key is settled, the winner's value is that of the last row read, and no
 * row of ours is behind that one. The winner is a function of the rows of the live job, in their
 * order, and of the set of replayed rows; not of how they came to be interleaved.
 */
final class KeyMerge {
    static final int NO_PARTITION = -1;

    /** Of the newest row of the live job, and the newest version of all of them. */
    private long liveOffset = Provenance.NOT_LIVE;

    private long liveVersion;

    /** Of the newest row of the live job, as in {@link Provenance}. */
    private long liveMs;

    private @Nullable OutputRow winner;
    private boolean isWinnerLive;

    /** What was written last and was not read back yet. */
    private @Nullable String pending;

    private boolean isInPlace;
    private int partition = NO_PARTITION;

    /** What becomes of a row of the replay. */
    enum Verdict {
        /** It must be written now. */
        WRITE,
        /** The live job has a row that wins. */
        LIVE_WINS,
        /** The replay itself had a newer one. */
        OUTDATED
    }

    /** Takes a row of the replay. */
    Verdict replayed(OutputRow row, Resolver resolver) {
        checkKey(row, resolver);
        long version = resolver.version(row);
        if (hasLive() && !resolver.replayedWins(version, liveVersion)) {
            return Verdict.LIVE_WINS;
        }
        OutputRow known = winner;
        if (known != null && !isWinnerLive && version < resolver.version(known)) {
            return Verdict.OUTDATED;
        }
        winner = row;
        isWinnerLive = false;
        isInPlace = false;
        return Verdict.WRITE;
    }

    private boolean hasLive() {
        return liveOffset != Provenance.NOT_LIVE;
    }

    /**
     * Takes the next row of the log.
     *
     * @param replayId of this replay and sink
     * @param sinceMs rows of the live job from then on count; older ones are not in the log that is
     *     read, but copies of them may be
     * @return whether it is one of the live job that wins over a row of the replay
     */
    boolean read(LogRow read, String replayId, long sinceMs, Resolver resolver) {
        checkPartition(read.row());
        checkKey(read.row(), resolver);
        Provenance provenance = read.provenance();
        if (provenance != null && provenance.emission().equals(pending)) {
            pending = null;
        }
        boolean hasOverruled = false;
        long liveAt = provenance == null ? read.offset() : provenance.liveOffset();
        long since = provenance == null ? msOf(read.row(), sinceMs) : provenance.liveMs();
        if (liveAt > liveOffset && since >= sinceMs) {
            liveMs = since;
            hasOverruled = live(read.row(), liveAt, resolver);
        }
        isInPlace = isInPlace(read.row(), provenance, replayId);
        return hasOverruled;
    }

    /** What stands behind the first row since then is not older, whatever its timestamp says. */
    private static long msOf(OutputRow row, long sinceMs) {
        Long timestampMs = row.timestampMs();
        return timestampMs == null ? sinceMs : Math.max(sinceMs, timestampMs);
    }

    private boolean live(OutputRow row, long offset, Resolver resolver) {
        long version = resolver.version(row);
        liveVersion = hasLive() ? Math.max(liveVersion, version) : version;
        liveOffset = offset;
        OutputRow known = winner;
        boolean wasReplayed = known != null && !isWinnerLive;
        if (known != null
                && wasReplayed
                && resolver.replayedWins(resolver.version(known), liveVersion)) {
            return false;
        }
        winner = row;
        isWinnerLive = true;
        return wasReplayed;
    }

    private boolean isInPlace(OutputRow last, @Nullable Provenance provenance, String replayId) {
        OutputRow known = winner;
        if (known == null || last.hasValueOf(known)) {
            return true;
        }
        // Two replays, or sinks, that both insisted on their own rows would never end.
        return provenance != null && !provenance.replay().equals(replayId) && !isWinnerLive;
    }

    /** Written last, a row hides only those of its own key in the log. */
    private void checkKey(OutputRow row, Resolver resolver) {
        OutputRow known = winner;
        if (known != null && !Arrays.equals(known.key(), row.key())) {
            throw new MergeImpossibleException(
                    "%s has one key for two rows of topic '%s' whose keys in Kafka differ (%s and %s), so that none of them would hide the other: its key must tell as much apart as Kafka's"
                            .formatted(
                                    resolver.getClass().getName(),
                                    row.topic(),
                                    text(known.key()),
                                    text(row.key())));
        }
    }

    private static String text(byte @Nullable [] key) {
        return key == null ? "none" : HexFormat.of().formatHex(key);
    }

    private void checkPartition(OutputRow row) {
        Integer read = row.partition();
        if (read == null) {
            return;
        }
        if (partition != NO_PARTITION && partition != read) {
            throw new MergeImpossibleException(
                    "topic '%s' has rows of one key in partitions %d and %d, so none of them is the last one: the live job and the replay, or the topic before it got more partitions, choose them differently"
                            .formatted(row.topic(), partition, read));
        }
        partition = read;
    }

    /** Where its rows are, or {@link #NO_PARTITION} as long as none was read. */
    int partition() {
        return partition;
    }

    boolean hasWinner() {
        return winner != null;
    }

    /** Whether the winner must be written once more. */
    boolean isDue() {
        return winner != null && !isInPlace && pending == null;
    }

    /** Whether nothing is left to do until another row comes. */
    boolean isSettled() {
        return pending == null && !isDue();
    }

    /** What is to be written now. */
    OutputRow write(String replayId, String emission) {
        OutputRow row = winner;
        if (row == null) {
            throw new IllegalStateException("nothing to write");
        }
        pending = emission;
        return row.with(
                (isWinnerLive
                                ? new Provenance(replayId, emission, liveOffset, liveMs)
                                : Provenance.ofReplayed(replayId, emission))
                        .header());
    }

    void write(DataOutput out) throws IOException {
        out.writeLong(liveOffset);
        out.writeLong(liveVersion);
        out.writeLong(liveMs);
        out.writeInt(partition);
        out.writeBoolean(isInPlace);
        out.writeBoolean(isWinnerLive);
        out.writeUTF(pending == null ? "" : pending);
        out.writeBoolean(winner != null);
        if (winner != null) {
            winner.write(out);
        }
    }

    static KeyMerge read(DataInput in) throws IOException {
        KeyMerge merge = new KeyMerge();
        merge.liveOffset = in.readLong();
        merge.liveVersion = in.readLong();
        merge.liveMs = in.readLong();
        merge.partition = in.readInt();
        merge.isInPlace = in.readBoolean();
        merge.isWinnerLive = in.readBoolean();
        String emission = in.readUTF();
        merge.pending = emission.isEmpty() ? null : emission;
        merge.winner = in.readBoolean() ? OutputRow.read(in) : null;
        return merge;
    }
}
