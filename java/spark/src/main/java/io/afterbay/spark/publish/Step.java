package io.afterbay.spark.publish;

/** What a thread does for a file. */
enum Step {
    /** Writes it before its turn: nobody sees it yet. */
    STAGE,

    /** It has its turn, and is there in full: others see it. */
    REVEAL,

    /** It has its turn, and is written from its local copy, and seen, at once. */
    WRITE
}
