package io.afterbay.spark;

/** When in a batch a process is killed, as the published files and the sink say. */
enum Moment {
    /** All of the batch before is published; of the next there is input, and no offsets. */
    BEFORE_OFFSETS,

    /** The offsets are published, and the sink has not got the batch. */
    TASKS,

    /** The sink has it, so all tasks have committed their state: nothing of it is published. */
    STATE_WAITS,

    /** Some state is published, and the commit is not. */
    PUBLISHING,

    /** The commit has just been published, and the next offsets are not. */
    COMMITTED
}
