package io.afterbay.replay;

import java.io.IOException;

/** Versions of what replays keep in checkpoints, told apart from those of any other source. */
final class Versions {
    /** "rpl" in ASCII, and a version: others count from 0. */
    private static final int MARK = 0x72706c00;

    static final int NEWEST = MARK | 2;

    private Versions() {}

    /** Whether a savepoint of the job, not of a replay of it, is read. */
    static boolean isOfAnotherSource(int version) {
        return (version & 0xffffff00) != MARK;
    }

    static void requireKnown(int version) throws IOException {
        if (version != NEWEST) {
            throw new IOException(
                    "checkpoint of a replay in version %d, but this is version %d: resume it with the Afterbay that began it"
                            .formatted(version & 0xff, NEWEST & 0xff));
        }
    }
}
