package io.afterbay.cli.replay;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.command.CommandFailure;
import io.afterbay.replay.ReplayControl;
import io.afterbay.replay.ReplayOrders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Flow;

/**
 * A cluster with a live job, as Flink's REST interface shows it, whose time goes on by one with
 * each request. Whoever asks dies at a request that is chosen: before it has left, when it is on
 * its way and comes late, or when it was done.
 */
final class SimulatedCluster implements ClusterRest.Wire, BlockedLive.Starter {
    static final String LIVE = "0123456789abcdef0123456789abcdef";

    private static final int TICKS_OF_SAVEPOINT = 2;
    private static final int TICKS_TO_END = 4;
    private static final int TICKS_TO_RESTART = 7;
    private static final int TICKS_OF_REPLAY = 3;
    private static final int TICKS_TO_CANCEL = 2;

    final Map<String, Job> jobs = new LinkedHashMap<>();
    private final Map<String, Stop> stops = new LinkedHashMap<>();
    private final List<Late> late = new ArrayList<>();
    private final ObjectMapper json = new ObjectMapper();
    private int now;
    private int killAt = Integer.MAX_VALUE;
    private When when = When.BEFORE;
    private int lateBy;
    private int requests;
    private final Path checkpoints;
    private Ending ending = Ending.GOOD;

    /** Where whoever asks dies. */
    enum When {
        BEFORE,
        LATE,
        AFTER
    }

    /** What becomes of a live job that is to be stopped. */
    enum Ending {
        GOOD,
        /** There is no savepoint, and it runs on. */
        NO_SAVEPOINT,
        /** Nobody is told about the savepoint. */
        SILENCE,
        /** It fails when its savepoint is complete, once and for all. */
        FAILURE,
        /** It fails when its savepoint is complete, restarts, and goes on. */
        RESTART,
        /** It does so, and fails later, further on. */
        RESTART_AND_FAILURE
    }

    /** The process is gone. */
    static final class Killed extends Error {
        private static final long serialVersionUID = 1;
    }

    /** Of a replay if it is from nowhere. */
    static final class Job {
        final boolean isLive;
        final String from;
        String state = "RUNNING";
        private int snapshots = 1;
        private String savepoint;
        private int savepointId;
        private String checkpoint;
        private int checkpointId;
        private int endsAt = Integer.MAX_VALUE;

        Job(boolean isLive, String from) {
            this.isLive = isLive;
            this.from = from;
        }
    }

    private record Stop(String job, Path place, int at) {}

    private record Late(int at, Effect effect) {}

    private interface Effect {
        void happen() throws CommandFailure;
    }

    /**
     * @param checkpoints where they are
     */
    SimulatedCluster(Path checkpoints) {
        this.checkpoints = checkpoints;
        Job live = new Job(true, "");
        live.savepoint = "file:/old/sp-1"; // Somebody made it long ago.
        live.savepointId = live.snapshots;
        jobs.put(LIVE, live);
    }

    SimulatedCluster ending(Ending ofLiveJob) {
        ending = ofLiveJob;
        return this;
    }

    /** Makes one of that job. */
    void checkpoint(String id) {
        Job job = Objects.requireNonNull(jobs.get(id));
        job.checkpointId = ++job.snapshots;
        Path place = checkpoints.resolve(id).resolve("chk-" + job.checkpointId);
        write(place);
        job.checkpoint = uri(place);
    }

    /** From the next request on. */
    void killAt(int request, When point, int comesLateBy) {
        requests = 0;
        killAt = request;
        when = point;
        lateBy = comesLateBy;
    }

    /** Whether the last one who was to die has not come so far. */
    boolean hasSpared() {
        return requests < killAt;
    }

    List<Job> live() {
        return jobs.values().stream().filter(job -> job.isLive).toList();
    }

    List<Job> liveAtWork() {
        return live().stream().filter(SimulatedCluster::isAtWork).toList();
    }

    private static boolean isAtWork(Job job) {
        return List.of("RUNNING", "RESTARTING", "CANCELLING").contains(job.state);
    }

    List<Job> replays() {
        return jobs.values().stream().filter(job -> !job.isLive).toList();
    }

    /** The replay's job ends before the request after so many. */
    void endReplayIn(int ticks) {
        replays().forEach(job -> job.endsAt = now + ticks);
    }

    /** Savepoints are asked for in vain, and jobs that have ended are unknown. */
    void forget() {
        settle();
        stops.clear();
        jobs.values().removeIf(job -> !job.state.equals("RUNNING"));
    }

    /** It has no high availability. */
    void restart() {
        settle();
        stops.clear();
        jobs.clear();
    }

    /** What is on its way arrives, and what was begun ends. */
    void settle() {
        for (int tick = 0; tick < TICKS_TO_RESTART + lateBy; tick++) {
            passTime();
        }
    }

    private void passTime() {
        now++;
        for (Late one : List.copyOf(late)) {
            if (one.at <= now) {
                late.remove(one);
                try {
                    one.effect.happen();
                } catch (CommandFailure e) {
                    // Nobody hears it any more.
                }
            }
        }
        stops.values().forEach(this::goOn);
        for (Job job : jobs.values()) {
            if (now >= job.endsAt && isAtWork(job)) {
                job.state = job.state.equals("RUNNING") ? "FINISHED" : "CANCELED";
            }
        }
    }

    private void goOn(Stop stop) {
        Job job = jobs.get(stop.job);
        if (job == null || ending == Ending.NO_SAVEPOINT || ending == Ending.SILENCE) {
            return;
        }
        boolean isRunning = job.state.equals("RUNNING");
        switch (now - stop.at) {
            case TICKS_OF_SAVEPOINT -> {
                if (isRunning) {
                    write(stop.place);
                    job.savepoint = uri(stop.place);
                    job.savepointId = ++job.snapshots;
                }
            }
            case TICKS_TO_END -> {
                if (isRunning) {
                    job.state =
                            switch (ending) {
                                case GOOD -> "FINISHED";
                                case FAILURE -> "FAILED";
                                default -> "RESTARTING";
                            };
                }
            }
            case TICKS_TO_RESTART -> {
                if (job.state.equals("RESTARTING")) {
                    checkpoint(stop.job);
                    job.state = ending == Ending.RESTART ? "RUNNING" : "FAILED";
                }
            }
            default -> {
                // It takes its time.
            }
        }
    }

    private static String uri(Path place) {
        return "file:" + place.toAbsolutePath();
    }

    private static void write(Path place) {
        try {
            Files.createDirectories(place);
            Files.write(place.resolve("_metadata"), new byte[0]);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void request(Effect effect) throws CommandFailure {
        passTime();
        requests++;
        if (requests != killAt) {
            effect.happen();
            return;
        }
        if (when == When.LATE) {
            late.add(new Late(now + lateBy, effect));
        } else if (when == When.AFTER) {
            effect.happen();
        }
        throw new Killed();
    }

    /** The cluster takes a job of an identifier once. */
    private void take(String id, Job job) throws CommandFailure {
        if (jobs.containsKey(id)) {
            throw new CommandFailure("Job has already been submitted.");
        }
        if (!liveAtWork().isEmpty()) {
            throw new IllegalStateException("a job is started while the live job runs");
        }
        if (replays().stream().anyMatch(SimulatedCluster::isAtWork)) {
            throw new IllegalStateException("a job is started while the replay's job runs");
        }
        jobs.put(id, job);
    }

    @Override
    public void start(LiveStop known) throws CommandFailure {
        String id = Objects.requireNonNull(known.newJobId());
        request(() -> take(id, new Job(true, Objects.requireNonNull(known.savepoint()))));
    }

    /**
     * Sends the replay's job, which asks whether it is wanted when it has come, and ends if not.
     *
     * @param control of the replay
     */
    void startReplay(String id, URI control) throws CommandFailure {
        request(
                () -> {
                    Job job = new Job(false, "");
                    if (isWanted(id, control)) {
                        job.endsAt = now + TICKS_OF_REPLAY;
                        take(id, job);
                    } else if (jobs.putIfAbsent(id, job) == null) {
                        job.state = "FAILED";
                    }
                });
    }

    private static boolean isWanted(String id, URI control) {
        try {
            ReplayOrders orders = new ReplayControl(control).orders();
            return orders.areFor(id) && !orders.isCancelled();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public ClusterRest.Answer send(HttpRequest request) {
        String content = content(request);
        List<ClusterRest.Answer> answer = new ArrayList<>();
        try {
            request(() -> answer.add(answer(request.method(), request.uri(), content)));
        } catch (CommandFailure e) {
            throw new IllegalStateException(e);
        }
        return answer.get(0);
    }

    private static String content(HttpRequest request) {
        StringBuilder text = new StringBuilder();
        Optional<HttpRequest.BodyPublisher> body = request.bodyPublisher();
        body.ifPresent(
                publisher ->
                        publisher.subscribe(
                                new Flow.Subscriber<>() {
                                    @Override
                                    public void onSubscribe(Flow.Subscription all) {
                                        all.request(Long.MAX_VALUE);
                                    }

                                    @Override
                                    public void onNext(ByteBuffer part) {
                                        text.append(StandardCharsets.UTF_8.decode(part));
                                    }

                                    @Override
                                    public void onError(Throwable failure) {
                                        throw new IllegalStateException(failure);
                                    }

                                    @Override
                                    public void onComplete() {
                                        // The text is whole.
                                    }
                                }));
        return text.toString();
    }

    private ClusterRest.Answer answer(String method, URI uri, String content) {
        if (uri.getPath().equals("/jobmanager/config")) {
            return new ClusterRest.Answer(200, configuration());
        }
        String[] path = uri.getPath().split("/");
        Job job = jobs.get(path[2]);
        String what = path.length > 3 ? path[3] : "";
        ObjectNode answer = json.createObjectNode();
        if (what.equals("savepoints")) {
            Stop stop = stops.get(path[4]);
            return stop == null ? none() : new ClusterRest.Answer(200, savepoint(stop, answer));
        }
        if (job == null) {
            return none();
        }
        if (method.equals("PATCH") && !isAtWork(job)) {
            return new ClusterRest.Answer(409, "{}");
        }
        switch (what) {
            case "" -> job(method, job, answer);
            case "config" -> answer.putObject("execution-config").put("job-parallelism", 2);
            case "checkpoints" -> checkpoints(job, path.length > 4, answer);
            case "stop" -> stop(method, path[2], content);
            case "exceptions" -> answer.putObject("exceptionHistory");
            default -> throw new IllegalStateException(uri.toString());
        }
        return new ClusterRest.Answer(200, answer.toString());
    }

    private void job(String method, Job job, ObjectNode answer) {
        if (method.equals("PATCH") && job.state.equals("RUNNING")) {
            job.state = "CANCELLING";
            job.endsAt = now + TICKS_TO_CANCEL;
        }
        answer.put("state", job.state);
    }

    private static ClusterRest.Answer none() {
        return new ClusterRest.Answer(404, "{}");
    }

    private String configuration() {
        ArrayNode entries = json.createArrayNode();
        entries.addObject()
                .put("key", "execution.checkpointing.dir")
                .put("value", checkpoints.toUri().toString());
        return entries.toString();
    }

    private void checkpoints(Job job, boolean isConfig, ObjectNode answer) {
        if (isConfig) {
            answer.put("interval", 1000)
                    .put("timeout", 1)
                    .put("state_backend", "HashMapStateBackend");
            return;
        }
        ObjectNode latest = answer.putObject("latest");
        latest.set("savepoint", snapshot(job.savepointId, job.savepoint));
        latest.set("completed", snapshot(job.checkpointId, job.checkpoint));
    }

    private JsonNode snapshot(int id, String place) {
        return place == null
                ? json.nullNode()
                : json.createObjectNode().put("id", id).put("external_path", place);
    }

    private String savepoint(Stop stop, ObjectNode answer) {
        ObjectNode operation = answer.putObject("operation");
        String problem = problem(now - stop.at);
        if (problem != null) {
            operation.putObject("failure-cause").put("stack-trace", "Caused by: " + problem);
        } else if (ending == Ending.GOOD && Files.exists(stop.place.resolve("_metadata"))) {
            operation.put("location", stop.place.toString());
        }
        return answer.toString();
    }

    private String problem(int ticks) {
        return switch (ending) {
            case GOOD, SILENCE -> null;
            case NO_SAVEPOINT -> ticks >= TICKS_OF_SAVEPOINT ? "no room" : null;
            default -> ticks >= TICKS_TO_END ? "a sink did not commit" : null;
        };
    }

    private void stop(String method, String job, String content) {
        if (!method.equals("POST")) {
            throw new IllegalStateException(method);
        }
        try {
            var asked = json.readTree(content);
            String place = asked.path("targetDirectory").asText();
            stops.putIfAbsent(
                    asked.path("triggerId").asText(),
                    new Stop(job, Path.of(URI.create(place)).resolve("savepoint-1"), now));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
