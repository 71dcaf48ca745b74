package io.afterbay.kafka.workloads;

/** Word count at work, in this process or in another. */
interface Application {
    /** Does nothing while all is well. */
    void throwIfFailed() throws WordCountException;
}
