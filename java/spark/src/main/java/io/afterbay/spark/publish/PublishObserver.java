package io.afterbay.spark.publish;

/**
 * Hears of a publisher's files. Called with the publisher's lock held: returns at once, and does
 * not call the publisher.
 */
public interface PublishObserver {
    /** Hears nothing. */
    PublishObserver NONE =
            new PublishObserver() {
                @Override
                public void published(String target) {}

                @Override
                public void failed(String reason) {}
            };

    /** The file is in the storage. */
    void published(String target);

    /** Nothing more will be published. */
    void failed(String reason);
}
