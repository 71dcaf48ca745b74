package io.afterbay.flink.contract;

import org.apache.flink.runtime.state.AbstractStateBackend;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;

/** The one place that says which backend the suites run on. */
public final class BackendUnderTest {
    /** Its class. */
    public static final Class<? extends AbstractStateBackend> TYPE = HashMapStateBackend.class;

    /** What {@code state.backend.type} is set to. */
    public static final String CONFIG_NAME = "hashmap";

    /** HashMap holds objects, so restoring it needs each serializer at once. */
    public static final boolean SERIALIZERS_NEEDED_ON_RESTORE = true;

    public static final boolean READS_RETURN_COPIES = false;

    private BackendUnderTest() {}

    public static AbstractStateBackend create() {
        return new HashMapStateBackend();
    }

    public static ConfigurableStateBackend createConfigurable() {
        return (ConfigurableStateBackend) create();
    }
}
