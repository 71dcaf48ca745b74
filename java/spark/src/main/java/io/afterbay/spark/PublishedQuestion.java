package io.afterbay.spark;

import java.io.Serializable;

/**
 * What a task asks the driver: whether a file of the log is in the storage.
 *
 * @param location of the checkpoint
 * @param target as the driver's publisher has it
 */
record PublishedQuestion(String location, String target) implements Serializable {
    private static final long serialVersionUID = 1;
}
