package io.afterbay.stragglers;

/** The shuffle: any task, whatever it does. What policies are compared with. */
final class RandomTask implements TaskChooser {
    private final SharedRandom random;
    private int[] tasks = {};

    RandomTask(long seed) {
        random = new SharedRandom(seed);
    }

    @Override
    public void setTasks(int... tasks) {
        this.tasks = tasks;
    }

    @Override
    public int choose() {
        return tasks[SharedRandom.upper(random.nextLong(), tasks.length)];
    }

    @Override
    public int chooseOther(int avoided) {
        int task = choose();
        return task == avoided && tasks.length > 1 ? chooseOther(avoided) : task;
    }

    @Override
    public void sent(int task) {}

    @Override
    public void completed(int task, long latencyNanos) {}

    @Override
    public void failed(int task) {}
}
