package io.afterbay.cli.run;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.Failures;
import io.afterbay.cli.process.Versions;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.command.CommandFailure;

/** What went wrong on a cluster, and what to do there. */
final class RemoteFailures {
    /** Of Flink, from the JobManager when it makes the job's state backend. */
    private static final String NO_BACKEND = "Cannot find configured state backend factory class";

    private RemoteFailures() {}

    static String explain(Throwable failure, ClusterAddress address, Backend backend) {
        if (isBackendMissing(failure, backend)) {
            return missingJar(address);
        }
        Throwable root = Failures.root(failure);
        String reason =
                root instanceof CommandFailure
                        ? CommandFailure.reason(root)
                        : root.getClass().getSimpleName() + ": " + CommandFailure.reason(root);
        return reason + " (cluster at " + address + ", whose machines must see all files)";
    }

    private static boolean isBackendMissing(Throwable failure, Backend backend) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String message = String.valueOf(cause.getMessage());
            if (message.contains(NO_BACKEND) && message.contains(backend.type())) {
                return true;
            }
        }
        return false;
    }

    private static String missingJar(ClusterAddress address) {
        return ("the cluster at %s has no Afterbay: build its jar (in java/: ./mvnw -q -DskipTests -pl flink -am package),"
                        + " copy flink/target/afterbay-flink-%s.jar to lib/ of the JobManager and every"
                        + " TaskManager and restart them; or choose --backend rocksdb")
                .formatted(address, Versions.afterbay());
    }
}
