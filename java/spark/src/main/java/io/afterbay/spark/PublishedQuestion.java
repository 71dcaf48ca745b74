package io.afterbay.spark;

import java.io.Serializable;

/**
 * What a task asks the driver: whether a file of the log is in the storage.
 *
 * @param root of the checkpoint
 * @param target as the driver's publisher has it
 */
record PublishedQuestion(String root, String target) implements Serializable {
    private static final long serialVersionUID = 1;
}
