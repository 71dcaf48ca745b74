package io.afterbay.spark;

import io.afterbay.spark.publish.Publisher;
import org.apache.hadoop.fs.Path;

/**
 * One checkpoint that queries of this process write, and what is published to it.
 *
 * @param root without scheme
 * @param locals directory of local copies
 * @param peers other processes that write it
 */
record Checkpoint(String root, Publisher publisher, java.nio.file.Path locals, Peers peers) {

    CheckpointFiles.Role role(Path file) {
        return CheckpointFiles.role(root, file);
    }
}
