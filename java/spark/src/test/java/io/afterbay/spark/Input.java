package io.afterbay.spark;

/** What queries read, with the steps of a {@link StatefulQuery}. */
interface Input {
    /** So many steps more, in their order. */
    void add(int count) throws Exception;

    int steps();
}
