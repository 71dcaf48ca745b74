package io.afterbay.spark;

import io.afterbay.spark.publish.Publisher;
import org.apache.hadoop.fs.Path;

/**
 * One checkpoint that queries of this process write, and what is published to it.
 *
 * @param location with scheme and authority: checkpoints in two file systems may have one path
 * @param root without them
 * @param locals directory of local copies
 * @param peers other processes that write it
 */
record Checkpoint(
        String location, String root, Publisher publisher, java.nio.file.Path locals, Peers peers) {

    CheckpointFiles.Role role(Path file) {
        return CheckpointFiles.role(root, file);
    }
}
