package io.afterbay.experiments.storm;

import io.afterbay.stragglers.ReplayBudget;
import java.util.Comparator;
import java.util.Locale;

/** What variants have in common that are compared. */
record StormPlace(
        String cell,
        int stages,
        int tasks,
        int utilisationPercent,
        String service,
        double slowdown,
        int busyPercent) {
    static final Comparator<StormPlace> COMPARATOR =
            Comparator.comparing(StormPlace::cell)
                    .thenComparing(StormPlace::stages)
                    .thenComparing(StormPlace::tasks)
                    .thenComparing(StormPlace::utilisationPercent)
                    .thenComparing(StormPlace::service)
                    .thenComparing(StormPlace::slowdown)
                    .thenComparing(StormPlace::busyPercent);

    private static final int LIMIT_UTILISATION_PERCENT = 95;
    private static final long QUEUES_PERCENT = percent(ReplayBudget.QUEUE_UTILISATION_MAX);
    private static final long PROCESSORS_PERCENT = percent(ReplayBudget.CPU_UTILISATION_MAX);

    private static long percent(double share) {
        return Math.round(100 * share);
    }

    static StormPlace of(StormTrial.Setting of) {
        return new StormPlace(
                of.cell(),
                of.stages(),
                of.tasks(),
                of.utilisationPercent(),
                of.service(),
                of.slowdown(),
                of.busyPercent());
    }

    /** With what the cell has if no option says otherwise. */
    static StormPlace usual(StormCell cell, int tasks, int utilisationPercent, int busyPercent) {
        return new StormPlace(
                cell.label(),
                cell.shape().stages(),
                tasks,
                utilisationPercent,
                cell.load().service().label(),
                cell.load().slowdown(),
                busyPercent);
    }

    boolean hasSlowTask() {
        return slowdown > 1;
    }

    /**
     * So busy that a queue shared by tasks helps, and replays do not (the paper, section 5.1.4).
     */
    boolean hasBusyQueues() {
        return utilisationPercent >= QUEUES_PERCENT;
    }

    /** So busy that replays do not help (section 5.1.4). */
    boolean hasBusyProcessors() {
        return busyPercent >= PROCESSORS_PERCENT;
    }

    /** Whether a variant could do less than what comes, and not only do it later. */
    boolean isAtTheLimit() {
        return cell.equals(StormCell.OVERLOAD.label())
                || utilisationPercent >= LIMIT_UTILISATION_PERCENT;
    }

    private String serviceText() {
        return service.equals("pauses") ? "with pauses" : service + " service";
    }

    String text() {
        return String.format(
                Locale.ROOT,
                "%s, %s%d tasks, %d %% load%s%s",
                cell,
                stages == 1 ? "" : stages + " bolts of ",
                tasks,
                utilisationPercent,
                service.equals("exponential") ? "" : ", " + serviceText(),
                busyPercent == 0 ? "" : ", processors %d %% busy beside".formatted(busyPercent));
    }
}
