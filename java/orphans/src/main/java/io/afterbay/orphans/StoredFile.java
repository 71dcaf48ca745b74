package io.afterbay.orphans;

import org.apache.flink.core.fs.Path;

/**
 * A file in checkpoint storage.
 *
 * @param modifiedMs when it was written; 0 if the file system does not say
 */
public record StoredFile(Path path, long bytes, long modifiedMs) {}
