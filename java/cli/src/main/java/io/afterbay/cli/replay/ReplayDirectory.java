package io.afterbay.cli.replay;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.RestorePoint;
import io.afterbay.cli.job.Outcome;
import io.afterbay.cli.process.JsonHandover;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.command.CommandFailure;
import io.afterbay.handover.Handover;
import io.afterbay.replay.ReplayControl;
import io.afterbay.replay.ReplayProgress;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of one replay, so that another process finds it, tells it something, or starts it
 * again:
 *
 * <pre>
 *   plan.json, settings.json   what it does, and how its engine is
 *   checkpoints/               of the job, as Flink makes them
 *   control/                   its rate, and how far it is (ReplayControl)
 *   rate.json                  the rate that was asked for, also while it is paused
 *   session.json               when its process began, and how far it was then
 *   lock                       locked as long as its process lives
 *   cancel                     it is to end
 *   outcome.json               how it has ended
 * </pre>
 */
final class ReplayDirectory {
    private static final int LOCK_ATTEMPTS = 40;
    private static final int LOCK_PAUSE_MS = 50;
    private static final String OUTCOME = "outcome.json";
    private static final String RATE = "rate.json";
    private static final String SESSION = "session.json";

    private final Path directory;
    private final Handover handover;
    private @Nullable FileChannel ownLock;

    /**
     * @param paused whether no records come now, whatever the rate
     */
    record WantedRate(@Nullable Double perSecond, boolean paused) {
        /** Records per second; JSON has no infinity. */
        @JsonIgnore
        double rate() {
            return perSecond == null ? Rate.MAX : perSecond;
        }

        static WantedRate of(double rate, boolean paused) {
            return new WantedRate(rate == Rate.MAX ? null : rate, paused);
        }
    }

    /**
     * @param share that was done then, from 0 to 1
     */
    record Session(long startedMs, double share) {}

    /** How it has ended. */
    record Ended(ReplayState state, @Nullable String problem) {}

    private ReplayDirectory(Path directory) {
        this.directory = directory;
        this.handover = JsonHandover.in(directory);
    }

    /** Of a replay that begins. */
    static ReplayDirectory create(Path root, ReplayPlan plan, EngineSettings engine)
            throws CommandFailure {
        Path directory = root.resolve(plan.id());
        try {
            Files.createDirectories(root);
            Files.createDirectory(directory);
            ReplayDirectory created = new ReplayDirectory(directory);
            created.handover.plan(plan);
            created.handover.settings(
                    engine.keepingCheckpoints(created.checkpoints().toUri().toString()));
            return created;
        } catch (FileAlreadyExistsException e) {
            throw new CommandFailure(
                    "--id %s: there is a replay of that name; choose another, or go on with it: ./afterbay replay resume %s"
                            .formatted(plan.id(), plan.id()),
                    e);
        } catch (IOException e) {
            throw new CommandFailure(
                    "%s: %s; name another with --dir DIR"
                            .formatted(directory, CommandFailure.reason(e)),
                    e);
        }
    }

    static ReplayDirectory of(Path directory) {
        return new ReplayDirectory(directory);
    }

    /** Of a replay that was begun. */
    static ReplayDirectory find(Path root, String id) throws CommandFailure {
        Path directory = root.resolve(id);
        if (!Files.exists(directory.resolve("plan.json"))) {
            throw new CommandFailure(
                    "there is no replay %s in %s; './afterbay replay status' lists them"
                            .formatted(id, root));
        }
        return new ReplayDirectory(directory);
    }

    /** Of all that were begun. */
    static List<ReplayDirectory> all(Path root) throws CommandFailure {
        try (Stream<Path> found = Files.list(root)) {
            return found.filter(path -> Files.exists(path.resolve("plan.json")))
                    .sorted()
                    .map(ReplayDirectory::new)
                    .toList();
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            throw new CommandFailure(root + ": " + CommandFailure.reason(e), e);
        }
    }

    Path path() {
        return directory;
    }

    ReplayPlan plan() throws CommandFailure {
        return read("plan.json", () -> handover.plan(ReplayPlan.class));
    }

    EngineSettings engine() throws CommandFailure {
        return read("settings.json", () -> handover.settings(EngineSettings.class));
    }

    URI controlUri() {
        return directory.resolve("control").toUri();
    }

    private ReplayControl control() {
        return new ReplayControl(controlUri());
    }

    private Path checkpoints() {
        return directory.resolve("checkpoints");
    }

    /** The newest complete checkpoint, if there is one. */
    Optional<String> newestCheckpoint() {
        try {
            return Optional.of(RestorePoint.find(checkpoints().toString()).path().toString());
        } catch (CommandFailure e) {
            return Optional.empty();
        }
    }

    Optional<ReplayProgress> progress() throws CommandFailure {
        return read("control", () -> control().progress());
    }

    WantedRate rate() throws CommandFailure {
        if (!Files.exists(directory.resolve(RATE))) {
            return WantedRate.of(Rate.MAX, false);
        }
        return read(RATE, () -> JsonHandover.read(directory.resolve(RATE), WantedRate.class));
    }

    void rate(WantedRate rate) throws CommandFailure {
        write(RATE, rate);
        try {
            control().setRate(rate.paused() ? 0 : rate.rate());
        } catch (IOException e) {
            throw failure("control", e);
        }
    }

    Optional<Session> session() throws CommandFailure {
        return Files.exists(directory.resolve(SESSION))
                ? Optional.of(
                        read(
                                SESSION,
                                () -> JsonHandover.read(directory.resolve(SESSION), Session.class)))
                : Optional.empty();
    }

    void session(Session session) throws CommandFailure {
        write(SESSION, session);
    }

    Optional<Ended> ended() throws CommandFailure {
        return Files.exists(directory.resolve(OUTCOME))
                ? Optional.of(
                        read(
                                OUTCOME,
                                () -> JsonHandover.read(directory.resolve(OUTCOME), Ended.class)))
                : Optional.empty();
    }

    void ended(Outcome outcome) throws CommandFailure {
        if (outcome.isFinished()) {
            write(OUTCOME, new Ended(ReplayState.FINISHED, null));
        } else if (isCancelWanted()) {
            write(OUTCOME, new Ended(ReplayState.CANCELLED, null));
        } else if (outcome.problem() != null) {
            write(OUTCOME, new Ended(ReplayState.FAILED, outcome.problem()));
        }
    }

    /** It ends for good: nothing is left to start it again from. */
    void cancelled() throws CommandFailure {
        write(OUTCOME, new Ended(ReplayState.CANCELLED, null));
        WorkDirectory.remove(checkpoints());
    }

    /** It is started again. */
    void forgetEnd() throws CommandFailure {
        try {
            Files.deleteIfExists(directory.resolve(OUTCOME));
        } catch (IOException e) {
            throw failure(OUTCOME, e);
        }
    }

    boolean isCancelWanted() {
        return Files.exists(cancelFile());
    }

    void wantCancel() throws CommandFailure {
        try {
            Files.write(cancelFile(), new byte[0]);
        } catch (IOException e) {
            throw failure("cancel", e);
        }
    }

    private Path cancelFile() {
        return directory.resolve("cancel");
    }

    /** Locks it for this process until that ends; false if another has it. */
    boolean lock() throws CommandFailure, InterruptedException {
        try {
            FileChannel channel = openLock();
            for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
                if (channel.tryLock() != null) {
                    ownLock = channel;
                    return true;
                }
                Thread.sleep(LOCK_PAUSE_MS); // whoever asks for the state has it for a moment
            }
            channel.close();
            return false;
        } catch (IOException e) {
            throw failure("lock", e);
        }
    }

    /** Whether its process lives. */
    boolean isLocked() throws CommandFailure {
        if (ownLock != null) {
            return true; // another channel to the file, once closed, would release it
        }
        try (FileChannel channel = openLock();
                FileLock lock = channel.tryLock()) {
            return lock == null;
        } catch (IOException e) {
            throw failure("lock", e);
        }
    }

    private FileChannel openLock() throws IOException {
        return FileChannel.open(
                directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }

    ReplayState state() throws CommandFailure {
        if (isLocked()) {
            return rate().paused() ? ReplayState.PAUSED : ReplayState.RUNNING;
        }
        return ended().map(Ended::state).orElse(ReplayState.INTERRUPTED);
    }

    private interface Reading<T> {
        T read() throws IOException;
    }

    private <T> T read(String file, Reading<T> reading) throws CommandFailure {
        try {
            return reading.read();
        } catch (IOException e) {
            throw failure(file, e);
        }
    }

    private void write(String file, Object content) throws CommandFailure {
        try {
            JsonHandover.write(directory.resolve(file), content);
        } catch (IOException e) {
            throw failure(file, e);
        }
    }

    private CommandFailure failure(String file, IOException cause) {
        return new CommandFailure(
                directory.resolve(file) + ": " + CommandFailure.reason(cause), cause);
    }
}
