package io.afterbay.cli.replay;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.Engine;
import io.afterbay.cli.engine.Submissions;
import org.apache.flink.configuration.Configuration;

/** No job comes so far that it is needed. */
final class UnreachableEngine implements Engine {
    private final Submissions<String> submissions =
            new Submissions<>(
                    () -> {
                        throw new IllegalStateException("nothing is to be sent");
                    });

    @Override
    public Submissions<?> submissions() {
        return submissions;
    }

    @Override
    public Configuration jobSettings(boolean openLoop) {
        return new Configuration();
    }

    @Override
    public Backend backend() {
        return Backend.AFTERBAY;
    }

    @Override
    public int slots() {
        return 1;
    }

    @Override
    public boolean isRemote() {
        return true;
    }
}
