package io.afterbay.spark.model;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Visits every world that a {@link Model} can reach, nearest first: traces are shortest. */
final class Explorer {
    private record Origin(@Nullable World parent, String action, Object subject) {}

    /**
     * @param worlds visited
     * @param finished among them, those in which all batches are committed
     * @param trace to the first violation, which is its last line; empty if there is none
     */
    record Result(int worlds, int finished, List<String> trace) {}

    private final Model model;
    private final Set<Invariant> invariants;
    private final Map<World, Origin> origins = new HashMap<>();
    private final Deque<World> open = new ArrayDeque<>();
    private int finished;

    Explorer(Model model, Set<Invariant> invariants) {
        this.model = model;
        this.invariants = invariants;
    }

    Result explore() {
        reach(model.first(), new Origin(null, "", ""));
        World world;
        while ((world = open.poll()) != null) {
            String violation = violation(world);
            if (!violation.isEmpty()) {
                return new Result(origins.size(), finished, trace(world, violation));
            }
            finished += world.dfs().commits().size() == model.batches() ? 1 : 0;
            for (Model.Step step : model.steps(world)) {
                reach(step.world(), new Origin(world, step.action(), step.subject()));
            }
        }
        return new Result(origins.size(), finished, List.of());
    }

    private void reach(World world, Origin origin) {
        if (origins.putIfAbsent(world, origin) == null) {
            open.add(world);
        }
    }

    private String violation(World world) {
        for (Invariant invariant : invariants) {
            String violation = invariant.violation(world, model);
            if (!violation.isEmpty()) {
                return invariant + ": " + violation;
            }
        }
        return "";
    }

    private List<String> trace(World last, String violation) {
        LinkedList<String> result = new LinkedList<>(List.of(violation));
        World world = last;
        while (world != null) {
            Origin origin = origins.get(world);
            if (origin.parent() != null) {
                result.addFirst(origin.action() + origin.subject());
            }
            world = origin.parent();
        }
        return new ArrayList<>(result);
    }
}
