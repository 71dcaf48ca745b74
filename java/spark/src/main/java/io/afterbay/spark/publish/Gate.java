package io.afterbay.spark.publish;

import java.io.IOException;

/**
 * What a log file waits for beside those before it in its queue. Asked with the publisher's lock
 * held: answers at once, and does not call the publisher.
 */
public interface Gate {
    /** Nothing. */
    Gate OPEN = () -> true;

    /**
     * Whether the file may be published; once it may, it is not asked again.
     *
     * @throws IOException with the reason, if that will never be
     */
    boolean isOpen() throws IOException;

    /** What it waits for, for messages. */
    default String waitsFor() {
        return "nothing";
    }
}
