package io.afterbay.spark.model;

import io.afterbay.spark.model.Effect.Rename;
import io.afterbay.spark.model.Effect.Stage;
import io.afterbay.spark.model.Effect.Write;
import io.afterbay.spark.model.Model.Step;
import io.afterbay.spark.model.Protocol.Gate;
import io.afterbay.spark.model.Protocol.Rule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Publisher and storage: which file has its turn, and what may become of a write.
 *
 * <p>Most end, and their publisher hears of it. One that is silent is begun a second time: either
 * the second ends and the first is still on its way, or the first has had its effect and the second
 * finds that. What is on its way when a process dies may arrive later, too.
 */
record Publishing(Model model) {

    void steps(World world, List<Step> steps) {
        for (Entry entry : publishable(world)) {
            publish(entry, world, steps);
        }
        for (Entry entry : world.outbox().entries()) {
            if (mayStage(entry, world)) {
                World next = world.with(world.outbox().staged(entry));
                steps.add(new Step("publisher stages ", entry, staged(next, entry)));
            }
        }
    }

    private void publish(Entry entry, World world, List<Step> steps) {
        if (!mayPublish(entry, world)) {
            steps.add(
                    new Step(
                            "query fails, since the publisher finds another ",
                            entry,
                            model.restarted(world, 0)));
            return;
        }
        steps.add(new Step("publisher publishes ", entry, published(entry, world)));
        if (world.accidents().silences() > 0) {
            beSilent(entry, world.silent(), steps);
        }
    }

    private World published(Entry entry, World world) {
        if (!isStaged(entry, world)) {
            return stored(world, entry).dequeued(entry);
        }
        Rename rename = rename(entry, world);
        return world.dfs().hidden().containsKey(rename.hidden())
                ? renamed(world, rename).dequeued(entry)
                : world.with(world.outbox().unstaged(entry)); // another has renamed it: once more
    }

    private void beSilent(Entry entry, World world, List<Step> steps) {
        Effect first = isStaged(entry, world) ? rename(entry, world) : new Write(entry);
        steps.add(
                new Step(
                        "publisher publishes by a second write, beside the silent ",
                        first,
                        stored(world, entry).dequeued(entry).withLate(first)));
        if (!world.dfs().has(entry)) {
            World again = world.with(world.outbox().unstaged(entry));
            steps.add(
                    new Step(
                            "without a word to the publisher, the storage has done the ",
                            first,
                            done(again, first)));
        }
    }

    /** An executor publishes a state file of its own. */
    void ofExecutor(Entry.State state, World world, List<Step> steps) {
        World published = stored(world.with(world.executors().published(state)), state);
        steps.add(new Step("executor publishes ", state, published));
        if (world.accidents().silences() > 0) {
            Effect first = new Write(state);
            steps.add(
                    new Step(
                            "executor publishes by a second write, beside the silent ",
                            first,
                            published.silent().withLate(first)));
            if (!world.dfs().has(state)) {
                steps.add(
                        new Step(
                                "without a word to its executor, the storage has done the ",
                                first,
                                stored(world.silent(), state)));
            }
        }
    }

    /** The storage creates log files only if there are none: a late one changes nothing then. */
    void arriveLate(World world, List<Step> steps) {
        for (Effect effect : world.late()) {
            World next = world.withoutLate(effect);
            steps.add(new Step("late comes the ", effect, done(next, effect)));
        }
    }

    private World done(World world, Effect effect) {
        if (effect instanceof Rename rename) {
            return renamed(world, rename);
        }
        if (effect instanceof Stage stage) {
            return world.with(world.dfs().hiding(stage.hidden(), stage.entry()));
        }
        Entry entry = ((Write) effect).entry();
        return accepts(entry, world) ? stored(world, entry) : world;
    }

    /** What is on its way when the run dies. */
    Set<Effect> onTheirWay(World world) {
        Set<Effect> result = new HashSet<>();
        for (Entry entry : publishable(world)) {
            result.add(isStaged(entry, world) ? rename(entry, world) : new Write(entry));
        }
        for (Entry entry : world.outbox().entries()) {
            if (mayStage(entry, world) && !has(Rule.HAS_UNIQUE_HIDDEN_NAMES)) {
                result.add(stage(entry, world)); // with a name of its own, nobody would ever see it
            }
        }
        world.executors().waiting().forEach(state -> result.add(new Write(state)));
        return result;
    }

    /** Hidden files of dead runs that nothing can bring back are as good as gone. */
    World withoutGarbage(World dead) {
        if (!has(Rule.HAS_UNIQUE_HIDDEN_NAMES)) {
            return dead;
        }
        Map<String, Entry> hidden = new HashMap<>(dead.dfs().hidden());
        hidden.keySet().removeIf(name -> dead.late().stream().noneMatch(e -> renames(e, name)));
        return dead.with(dead.dfs().with(hidden));
    }

    private static boolean renames(Effect effect, String hidden) {
        return effect instanceof Rename rename && rename.hidden().equals(hidden);
    }

    private boolean has(Rule rule) {
        return model.protocol().has(rule);
    }

    private boolean isStaged(Entry entry, World world) {
        return world.outbox().staged().contains(entry);
    }

    private boolean mayStage(Entry entry, World world) {
        return has(Rule.STAGES) && !(entry instanceof Entry.State) && !isStaged(entry, world);
    }

    private String hidden(Entry entry, World world) {
        return has(Rule.HAS_UNIQUE_HIDDEN_NAMES)
                ? entry.target() + " of run " + world.run().id()
                : entry.target();
    }

    private Stage stage(Entry entry, World world) {
        return new Stage(hidden(entry, world), entry);
    }

    private Rename rename(Entry entry, World world) {
        return new Rename(hidden(entry, world), entry.target());
    }

    private World staged(World world, Entry entry) {
        return has(Rule.HIDES_STAGED)
                ? done(world, stage(entry, world))
                : done(world, new Write(entry));
    }

    /** The content is what the file has now, whoever wrote it. */
    private World renamed(World world, Rename rename) {
        Entry content = world.dfs().hidden().get(rename.hidden());
        if (content == null || !accepts(content, world)) {
            return world;
        }
        Map<String, Entry> left = new HashMap<>(world.dfs().hidden());
        left.remove(rename.hidden());
        return stored(world.with(world.dfs().with(left)), content);
    }

    private World stored(World world, Entry entry) {
        return world.with(world.dfs().with(entry, has(Rule.HAS_UNIQUE_NAMES)));
    }

    private boolean accepts(Entry entry, World world) {
        return !has(Rule.CREATES_ONLY) || world.dfs().accepts(entry);
    }

    /** A log file that is there is another's, or what an attempt has written that was silent. */
    private boolean mayPublish(Entry entry, World world) {
        boolean isThere = !(entry instanceof Entry.State) && world.dfs().has(entry);
        return accepts(entry, world) && (has(Rule.KNOWS_ITS_OWN) || !isThere);
    }

    private List<Entry> publishable(World world) {
        List<Entry> queue = world.outbox().entries();
        List<Entry> result = new ArrayList<>();
        for (int i = 0; i < queue.size(); i++) {
            Entry entry = queue.get(i);
            if (model.protocol().mayPublish(entry, queue.subList(0, i))
                    && isGateOpen(entry, world)) {
                result.add(entry);
            }
        }
        return result;
    }

    /** What the driver has heard of its executors; in one process, the queue's order says it. */
    private boolean isGateOpen(Entry entry, World world) {
        if (!model.protocol().hasExecutors()
                || model.protocol().gate() == Gate.NONE
                || !(entry instanceof Entry.Commit commit)) {
            return true;
        }
        for (int p = 0; p < model.partitions(); p++) {
            if (!world.executors().known().contains(commit.state(p))) {
                return false;
            }
        }
        return true;
    }
}
