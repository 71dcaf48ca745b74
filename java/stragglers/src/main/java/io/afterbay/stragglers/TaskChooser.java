package io.afterbay.stragglers;

/**
 * To which task of an operator a sender gives its next tuple, where any may have it. One sender has
 * one chooser, and tells it what becomes of its tuples:
 *
 * <pre>
 *   choose() --&gt; task --&gt; sent(task) --&gt; completed(task, latency)   or   failed(task)
 * </pre>
 *
 * <p>Tasks are named by ids, 0 or more, as the engine has them. Feedback about tasks that are not
 * (or no longer) among them is ignored.
 *
 * <p>All methods are safe for use by any thread. Those but {@link #setTasks} allocate nothing, save
 * once in a period that an implementation may have.
 */
public interface TaskChooser {
    /** What there is to choose from no tasks. */
    int NO_TASK = -1;

    /**
     * From now on chooses among these. What is known of those that were there before stays known.
     *
     * @throws IllegalArgumentException if an id is negative or there twice
     */
    void setTasks(int... tasks);

    /** The task for the next tuple, or {@link #NO_TASK} if there are none. */
    int choose();

    /**
     * As {@link #choose}, but another one than this, if there is one: for the second incarnation of
     * a tuple, whose first is late there. One that is not among the tasks changes nothing.
     */
    int chooseOther(int avoided);

    /** A tuple went to that task; whoever says so also says how it ended. */
    void sent(int task);

    /**
     * A tuple that was {@link #sent} has been processed.
     *
     * @param latencyNanos since it was sent, or for which the task was at work on it, where that is
     *     known; negative ones count as 0
     */
    void completed(int task, long latencyNanos);

    /** A tuple that was {@link #sent} will not be completed: it failed, or nobody waits for it. */
    void failed(int task);
}
