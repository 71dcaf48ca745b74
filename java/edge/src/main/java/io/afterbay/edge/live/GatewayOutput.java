package io.afterbay.edge.live;

import io.afterbay.edge.plan.PlanJson;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Where a gateway writes what sites send, and Flink reads it. For one thread. */
interface GatewayOutput {
    /** What the gateway is told of it. */
    List<String> arguments();

    /** The upper half that reads it, with the sinks of the script. */
    PlanJson upper();

    /** Whether it has an end only when the gateway has. */
    boolean isReadAtEnd();

    /** Nothing more comes: the gateway has ended. */
    void end() throws IOException;

    /** What the gateway has written, partition by partition; none if these are no files. */
    List<Path> files();
}
