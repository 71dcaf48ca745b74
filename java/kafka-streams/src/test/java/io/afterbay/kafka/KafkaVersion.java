package io.afterbay.kafka;

import org.apache.kafka.common.utils.AppInfoParser;

/**
 * The Kafka Streams that is on the class path. The build runs these tests on two, and its long form
 * on five.
 */
final class KafkaVersion {
    private KafkaVersion() {}

    static String text() {
        return AppInfoParser.getVersion();
    }

    /** Whether a commit that writes a checkpoint flushes the stores, which ended with KIP-1035. */
    static boolean flushesAtCommits() {
        return !text().startsWith("4.3.");
    }
}
